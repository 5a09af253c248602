// SPDX-License-Identifier: Apache-2.0
//
// Goal: a tree of actors that spawn, fail, stop, watch, stash, ask, become something else, set
// timers, get poison pills and are restarted at random, on all workers, while a thread dumps the
// system: every instance and message that was made is ended, and no actor is left at the end
// (AC-11, SV-2, UP-2, ST-1, TM-1, AS-1, EV-5).
//
// The seed is printed; TACTUS_STRESS_SEED sets it, TACTUS_STRESS_SECONDS how long it takes.
#include <tactus/runtime/actor_system.hpp>

#include <tactus/actor/ask.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <stdexcept>
#include <thread>

using namespace tactus;  // NOLINT: the whole vocabulary is used
using namespace std::chrono_literals;

namespace {

std::atomic<std::int64_t> instances{0};
std::atomic<std::int64_t> messages{0};
std::atomic<std::uint64_t> handled_count{0};
std::atomic<std::uint64_t> failures{0};
std::atomic<std::uint64_t> stashed{0};
std::atomic<std::uint64_t> timed{0};
std::atomic<std::uint64_t> answered{0};
std::atomic<std::uint64_t> handled_as_another{0};
std::uint64_t seed = 0;

struct counted {
    counted() { messages.fetch_add(1, std::memory_order_relaxed); }
    counted(const counted&) { messages.fetch_add(1, std::memory_order_relaxed); }
    counted& operator=(const counted&) = default;
    ~counted() { messages.fetch_sub(1, std::memory_order_relaxed); }
};
/// What to do, and how far to pass it on.
struct command {
    std::uint64_t random;
    int depth;
    counted tag = {};
};
struct tick {
    counted tag = {};
};
struct question {
    actor_ref<int> reply_to;
    counted tag = {};
};
struct answer {
    bool came;
    counted tag = {};
};

std::uint64_t mixed(std::uint64_t x) {
    x += seed;
    x ^= x >> 33U;
    x *= 0xff51'afd7'ed55'8ccdULL;
    x ^= x >> 33U;
    x *= 0xc4ce'b9fe'1a85'ec53ULL;
    return x ^ (x >> 33U);
}

class node : public actor<command, tick, question, answer>, public with_stash<8> {
public:
    explicit node(int depth) : depth_(depth) {
        instances.fetch_add(1, std::memory_order_relaxed);
        static std::atomic<std::uint64_t> attempts{0};
        if (mixed(attempts.fetch_add(1)) % 61 == 0) {
            instances.fetch_sub(1, std::memory_order_relaxed);
            throw std::runtime_error("cannot begin");
        }
    }
    node(const node&) = delete;
    node& operator=(const node&) = delete;
    ~node() { instances.fetch_sub(1, std::memory_order_relaxed); }

    std::expected<void, failure> on(const command& m) {
        handled_count.fetch_add(1, std::memory_order_relaxed);
        const std::uint64_t r = mixed(m.random);
        switch (r % 19) {
        case 0:
            failures.fetch_add(1, std::memory_order_relaxed);
            throw std::runtime_error("told to");
        case 1:
            if (depth_ > 0)
                context().stop();
            return {};
        case 2:
        case 3:
        case 4:
            if (depth_ < 4 && context().child_count() < 4) {
                auto child = context().try_spawn<node>("", {}, depth_ + 1);
                if (child) {
                    if (r % 3 == 0)
                        context().watch(*child);
                    last_[r % 4] = *child;
                }
            }
            break;
        case 5:
            (void)context().stop(last_[mixed(r) % 4].any());
            break;
        case 6:
            if (m.depth % 7 == 0)
                self().any().tell(tactus::kill{});
            break;
        case 7:
            stashed.fetch_add(1, std::memory_order_relaxed);
            return context().stash();  // a failure when it is full
        case 8:
            context().unstash_all();
            break;
        case 9:
            (void)context().start_single_timer(static_cast<int>(r % 3), tick{}, some_time(r));
            break;
        case 10:
            (void)context().start_timer_at_fixed_rate(3, tick{}, some_time(r));
            break;
        case 11:
            context().set_receive_timeout(some_time(r));
            break;
        case 12:
            context().ask<int>(
                last_[mixed(r) % 4], [](actor_ref<int> me) { return question{me}; }, some_time(r),
                [](const std::expected<int, ask_fault>& said) { return answer{said.has_value()}; });
            break;
        case 13:
        case 14:
            become_another(r % 2 == 0 ? become_mode::replace : become_mode::stack);
            break;
        case 15:
            // Behind what it has already, while it may be what it has become.
            last_[mixed(r) % 4].any().tell(poison_pill{});
            break;
        default:
            break;
        }
        if (m.depth > 0)
            last_[mixed(r + 1) % 4].tell(command{r, m.depth - 1});
        return {};
    }
    void on(const tick&) {
        if (mixed(timed.fetch_add(1, std::memory_order_relaxed)) % 50 == 0)
            throw std::runtime_error("late");
    }
    void on(const question& q) {
        q.reply_to.tell(1);
        if (mixed(answered.load(std::memory_order_relaxed)) % 40 == 0)
            q.reply_to.tell(2);
    }
    void on(const answer& a) {
        if (a.came)
            answered.fetch_add(1, std::memory_order_relaxed);
    }
    void on(const receive_timeout&) { context().cancel_receive_timeout(); }
    void on(const terminated& t) {
        if (mixed(t.who.index().slot) % 5 == 0)
            throw std::runtime_error("grief");
    }
    void post_stop() {
        if (mixed(static_cast<std::uint64_t>(depth_) + failures.load()) % 31 == 0)
            throw std::runtime_error("cannot end");
    }
    supervisor_strategy supervision() {
        static constexpr supervision_scope scopes[] = {supervision_scope::one_for_one,
                                                       supervision_scope::all_for_one,
                                                       supervision_scope::rest_for_one};
        supervisor_strategy s;
        s.scope = scopes[static_cast<std::size_t>(depth_) % 3];
        s.max_restarts = 20U;
        s.within = duration::from_ms(100);
        s.decider = [](const failure_cause& why) {
            static std::atomic<std::uint64_t> turn{0};
            const std::uint64_t r = mixed(turn.fetch_add(1) + why.text().size()) % 16;
            if (r == 0)
                throw std::logic_error("cannot decide");
            return r < 9    ? directive::restart
                   : r < 12 ? directive::resume
                   : r < 15 ? directive::stop
                            : directive::escalate;
        };
        return s;
    }

private:
    /// Until its own functions say unbecome, or it is restarted.
    void become_another(become_mode how) {
        context().become(
            behavior<command, tick, question, answer>(
                [held = counted()](auto& ctx, const command& m) {
                    handled_as_another.fetch_add(1, std::memory_order_relaxed);
                    const std::uint64_t r = mixed(m.random + handled_as_another.load());
                    if (r % 29 == 0)
                        throw std::runtime_error("not as this one");
                    if (r % 211 == 0)
                        ctx.stop();
                    if (r % 7 == 0)
                        ctx.unbecome();
                },
                [](auto&, const tick&) { timed.fetch_add(1, std::memory_order_relaxed); },
                [](auto&, const question& q) { q.reply_to.tell(2); }, [](auto&, const answer&) {}),
            how);
    }
    [[nodiscard]] static duration some_time(std::uint64_t r) {
        return duration::from_us(static_cast<std::int64_t>(mixed(r) % 3'000) + 1);
    }

    int depth_;
    reference last_[4];
};

}  // namespace

// SV-2, AC-11, UP-2, ST-1, TM-1, AS-1. DF-47: a dump reads cells while their next lives begin; seen
// by ThreadSanitizer.
TEST(actor_tree_stress, SV_2_DF_47_no_actor_is_left_after_random_lives_and_dumps) {
    const char* given = std::getenv("TACTUS_STRESS_SECONDS");
    const auto length =
        std::chrono::milliseconds(given != nullptr ? std::atoi(given) * 1'000 : 2'000);
    const char* given_seed = std::getenv("TACTUS_STRESS_SEED");
    seed = given_seed != nullptr ? std::strtoull(given_seed, nullptr, 0) : std::random_device{}();
    std::printf("TACTUS_STRESS_SEED=%llu\n", static_cast<unsigned long long>(seed));
    instances = 0;
    messages = 0;
    {
        actor_system system("stress", {.dispatcher = {.workers = 2}, .log_level = log_level::off});
        const auto end = std::chrono::steady_clock::now() + length;
        // As long as was asked for, and until each thing has happened: a slow machine takes longer.
        const auto goes_on = [end, last = end + 120s] {
            const auto now = std::chrono::steady_clock::now();
            const bool all_seen = handled_count.load() > 1'000 && failures.load() > 10 &&
                                  stashed.load() > 10 && timed.load() > 10 &&
                                  handled_as_another.load() > 10 && answered.load() > 0;
            return now < end || (!all_seen && now < last);
        };
        std::thread senders[2];
        for (int s = 0; s < 2; ++s)
            senders[s] = std::thread([&, s] {
                std::uint64_t n = static_cast<std::uint64_t>(s) << 40U;
                while (goes_on()) {
                    auto root = system.try_spawn<node>("", {}, 0);
                    if (!root)
                        break;
                    // Before it has anything else to do: those who ask each other are often late,
                    // on a machine that is busy always.
                    if (system.ask<int>(*root, [](actor_ref<int> me) { return question{me}; }, 1s))
                        answered.fetch_add(1, std::memory_order_relaxed);
                    for (int i = 0; i < 200; ++i)
                        root->tell(command{++n, 8});
                    if (n % 3 == 0)
                        (void)system.stop(*root);
                    std::this_thread::yield();
                }
            });
        std::uint64_t dumps = 0;
        std::thread looks([&] {
            while (goes_on()) {
                EXPECT_FALSE(
                    system.dump(dumps % 2 == 0 ? dump_format::text : dump_format::json).empty());
                ++dumps;
                std::this_thread::sleep_for(5ms);
            }
        });
        for (std::thread& s : senders)
            s.join();
        looks.join();
        EXPECT_GT(dumps, 0u);
        ASSERT_TRUE(system.terminate_and_wait(20s)) << "an actor does not end";
        EXPECT_EQ(instances.load(), 0);
    }
    EXPECT_EQ(instances.load(), 0);
    EXPECT_EQ(messages.load(), 0);
    EXPECT_GT(handled_count.load(), 1'000u);
    EXPECT_GT(failures.load(), 10u);
    EXPECT_GT(stashed.load(), 10u);
    EXPECT_GT(timed.load(), 10u);
    EXPECT_GT(handled_as_another.load(), 10u);
    EXPECT_GT(answered.load(), 0u);
}
