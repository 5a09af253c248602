// SPDX-License-Identifier: Apache-2.0
//
// Goal: threads that wait for a system: never a worker (UP-3), and for as long as they say, be it
// for ever.
#include <tactus/runtime/actor_system.hpp>
#include <tactus/runtime/ask_future.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <semaphore>
#include <thread>

#include "pool_rig.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using namespace std::chrono_literals;
using tactus_test::until;

namespace {

constexpr std::chrono::nanoseconds for_ever = std::chrono::nanoseconds::max();

struct question {
    actor_ref<int> reply_to;
};
/// Answers after a while, so that who does not wait for it is seen.
class slow : public actor<question> {
public:
    void on(const question& q) {
        std::this_thread::sleep_for(20ms);
        q.reply_to.tell(7);
    }
    void post_stop() { std::this_thread::sleep_for(20ms); }
};
constexpr auto ask_it = [](auto me) { return question{me}; };

enum class call : std::uint8_t { wait, terminate_and_wait };
/// Waits for a system in its turn.
class impatient : public actor<call> {
public:
    impatient(actor_system* of, std::atomic<int>* refused) : of_(of), refused_(refused) {}
    void on(call which) {
        const bool ended =
            which == call::wait ? of_->wait(for_ever) : of_->terminate_and_wait(for_ever);
        *refused_ += ended ? 100 : 1;
    }

private:
    actor_system* of_;
    std::atomic<int>* refused_;
};

const actor_system::options quiet{.log_level = log_level::off};

}  // namespace

// UP-3: wait() within an actor, of its own system or another one, gives false at once: waiting for
// ever would never end, as the actor that waits is one that has to.
TEST(waiting, UP_3_a_worker_does_not_wait) {
    std::atomic<int> refused{0};
    actor_system other("other", quiet);
    actor_system system("demo", quiet);
    system.spawn<impatient>("own", &system, &refused).tell(call::wait);
    system.spawn<impatient>("others", &other, &refused).tell(call::wait);
    ASSERT_TRUE(until([&] { return refused == 2; }));
    // Terminating is no waiting.
    system.spawn<impatient>("ends", &other, &refused).tell(call::terminate_and_wait);
    ASSERT_TRUE(until([&] { return refused == 3; }));
    EXPECT_TRUE(other.wait(5s));
}

// AS-1, AC-8: the longest time there is has no end.
TEST(waiting, AS_1_for_ever) {
    actor_system system("demo", quiet);
    const auto a = system.spawn<slow>("a");
    EXPECT_EQ(system.ask<int>(a, ask_it, for_ever).value_or(0), 7);
    EXPECT_EQ(ask_future<int>(system, a, ask_it, for_ever).get().value_or(0), 7);
    EXPECT_TRUE(system.graceful_stop(a, for_ever));
    (void)system.spawn<slow>("b");
    std::jthread later([&] {
        std::this_thread::sleep_for(20ms);
        system.terminate();
    });
    EXPECT_TRUE(system.wait(for_ever));
}

// EV-3: the same of limits of a shutdown: no limit, and not none of the time.
TEST(waiting, EV_3_a_shutdown_without_limits) {
    std::atomic<bool> has_stopped{false};
    std::atomic<bool> done{false};
    class last_words : public actor<int> {
    public:
        explicit last_words(std::atomic<bool>* to) : to_(to) {}
        void on(int) {}
        void post_stop() {
            std::this_thread::sleep_for(20ms);
            *to_ = true;
        }

    private:
        std::atomic<bool>* to_;
    };
    {
        actor_system::options o = quiet;
        o.shutdown_limit = for_ever;
        o.shutdown.default_timeout = for_ever;
        o.shutdown.limit = for_ever;
        actor_system system("demo", o);
        (void)system.spawn<last_words>("a", &has_stopped);
        (void)system.shutdown().add_task("before-service-unbind", "slow",
                                         [&](const shutdown_done& over) {
                                             std::this_thread::sleep_for(20ms);
                                             done = true;
                                             over();
                                         });
    }
    EXPECT_TRUE(done);
    EXPECT_TRUE(has_stopped);
}
