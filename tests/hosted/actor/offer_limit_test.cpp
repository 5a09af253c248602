// SPDX-License-Identifier: Apache-2.0
//
// Goal: a coroutine that offers a message to a full mailbox waits no longer than the mailbox's
// push_timeout, or the limit that it gives (MB-2).
// Method: one reader with room for one message and a handler that suspends it, in virtual time; the
// race of room and limit on threads.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <thread>
#include <vector>

#include <tactus/runtime/actor_system.hpp>

#include "world_rig.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using tactus_test::ms;
using tactus_test::world_rig;

namespace {

struct held {
    duration until;
};
/// Handles nothing for a while.
class reader : public actor<int, held> {
public:
    void on(int) { ++handled; }
    void on(const held& h) {
        EXPECT_TRUE(
            context().suspend(suspend_reason::user_defined, resume_condition::after(h.until)));
    }
    static inline int handled = 0;
};

struct order {
    std::optional<duration> limit;
};
class writer : public actor<order> {
public:
    explicit writer(actor_ref<int, held> to) : to_(to) {}
    task<> on(const order& o) {
        // An awaiter in a conditional expression is copied by g++ 12.
        if (o.limit) {
            const sent said = co_await context().offer(to_, 1, *o.limit);
            results.push_back(said);
        } else {
            const sent said = co_await context().offer(to_, 1);
            results.push_back(said);
        }
    }
    static inline std::vector<sent> results;

private:
    actor_ref<int, held> to_;
};

/// A reader that is full and suspended for a second, and a writer that has offered.
struct fixture {
    explicit fixture(std::optional<duration> limit, duration push_timeout = ms(50)) {
        reader::handled = 0;
        writer::results.clear();
        mailbox_options one;
        one.capacity = 1;
        one.when_full = overflow::block;
        one.push_timeout = push_timeout;
        const auto to = *detail::spawn_by<reader>(
            rig.world, [&](const actor_world::spawn_request& r) { return rig.world.spawn_top(r); },
            "reader", {.mailbox = one});
        const auto from = rig.spawn<writer>("writer", to);
        to.tell(held{ms(1'000)});
        rig.run();
        to.tell(1);  // the mailbox is full
        from.tell(order{limit});
        rig.run();
    }
    world_rig rig;
};

}  // namespace

// DF-54, MB-2
TEST(offer_limit, DF_54_a_coroutine_waits_for_the_push_timeout) {
    fixture f({});
    f.rig.pass(49);
    EXPECT_TRUE(writer::results.empty());
    f.rig.pass(2);
    EXPECT_EQ(writer::results, std::vector{sent::timed_out});
    EXPECT_EQ(f.rig.said.dead_letters, 1u);
    f.rig.pass(1'000);
    EXPECT_EQ(reader::handled, 1);
    f.rig.end();
}

// DF-54: a limit of its own counts, shorter or longer.
TEST(offer_limit, DF_54_a_limit_of_its_own_counts) {
    for (const int limit : {5, 500}) {
        fixture f(ms(limit));
        f.rig.pass(limit - 1);
        EXPECT_TRUE(writer::results.empty());
        f.rig.pass(2);
        EXPECT_EQ(writer::results, std::vector{sent::timed_out});
        f.rig.end();
    }
}

// DF-54: zero does not wait; a negative limit waits without end.
TEST(offer_limit, DF_54_zero_and_no_limit) {
    {
        fixture f(duration::zero());
        EXPECT_EQ(writer::results, std::vector{sent::timed_out});
        f.rig.end();
    }
    fixture f(duration::from_ns(-1));
    f.rig.pass(999);
    EXPECT_TRUE(writer::results.empty());
    f.rig.pass(2);
    EXPECT_EQ(writer::results, std::vector{sent::accepted});
    EXPECT_EQ(reader::handled, 2);
    f.rig.end();
}

// DF-54: room comes before the limit: the timer is cancelled, and nothing waits any more.
TEST(offer_limit, DF_54_room_in_time) {
    fixture f(ms(2'000));
    f.rig.pass(1'001);
    EXPECT_EQ(writer::results, std::vector{sent::accepted});
    EXPECT_EQ(f.rig.timing.pending(), 0u);
    f.rig.end();
}

// DF-54: the writer ends while it waits: its message is a dead letter, its timer is cancelled.
TEST(offer_limit, DF_54_the_writer_ends) {
    fixture f(ms(500));
    EXPECT_TRUE(f.rig.world.stop(f.rig.world.find("/user/writer")));
    f.rig.run();
    EXPECT_EQ(f.rig.said.dead_letters, 1u);
    EXPECT_TRUE(writer::results.empty());
    f.rig.pass(600);
    f.rig.end();
}

namespace {

std::atomic<int> outcomes;
std::atomic<int> accepted;
std::atomic<int> taken;
class slow_reader : public actor<int> {
public:
    void on(int) { taken.fetch_add(1); }
};
struct go {};
class hasty_writer : public actor<go> {
public:
    explicit hasty_writer(actor_ref<int> to) : to_(to) {}
    task<> on(go) {
        for (int i = 0; i < 300; ++i) {
            const sent said = co_await context().offer(to_, i, duration::from_us(50 * (i % 40)));
            accepted.fetch_add(said == sent::accepted ? 1 : 0);
            EXPECT_TRUE(said == sent::accepted || said == sent::timed_out);
        }
        outcomes.fetch_add(1);
    }

private:
    actor_ref<int> to_;
};

}  // namespace

// DF-54: room and limit at the same moment: each offer has one outcome, and is delivered or not.
TEST(offer_limit, DF_54_room_and_limit_race) {
    outcomes = accepted = taken = 0;
    constexpr int writers = 8;
    {
        actor_system system("race", {.log_level = log_level::off});
        mailbox_options one;
        one.capacity = 1;
        one.when_full = overflow::block;
        const auto to = *system.try_spawn<slow_reader>("reader", {.mailbox = one});
        for (int i = 0; i < writers; ++i)
            system.spawn<hasty_writer>("", to).tell(go{});
        while (outcomes.load() != writers)
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    EXPECT_EQ(taken.load(), accepted.load());
}
