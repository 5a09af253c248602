// SPDX-License-Identifier: Apache-2.0
//
// Goal: a cancel waits for no other job: what is due together with a waker that takes its time is
// cancelled while that one is being called (CN-2, SC-13).
// Method: one thread runs what is due and is held up in the first waker; another cancels the rest,
// by handle and by the end of a delay. The first waker goes on when that has been done.
#include <tactus/scheduler/pending_delay.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <latch>
#include <optional>
#include <semaphore>
#include <thread>

#include "scheduler_rig.hpp"

using tactus::duration;
using tactus::timer_target;
using tactus_test::scheduler_rig;

namespace {

constexpr duration a_ms = duration::from_ms(1);

/// False when it does not come within a minute: another thread waits where it must not.
template <class Condition>
bool until(Condition&& condition) {
    const auto limit = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (!condition()) {
        if (std::chrono::steady_clock::now() > limit)
            return false;
        std::this_thread::yield();
    }
    return true;
}

/// Is held up when it is woken, until it may go on.
class slow_waker final : public tactus::waker {
public:
    void wake() noexcept override {
        in_.count_down();
        go_.acquire();
        has_ended_ = true;
    }
    void await_call() { in_.wait(); }
    void end() { go_.release(); }
    [[nodiscard]] bool has_ended() const { return has_ended_; }

private:
    std::latch in_{1};
    std::binary_semaphore go_{0};
    std::atomic<bool> has_ended_{false};
};

struct counting_waker final : tactus::waker {
    void wake() noexcept override { calls.fetch_add(1); }
    std::atomic<int> calls{0};
};

}  // namespace

TEST(slow_waker, DF_29_another_timer_is_cancelled_while_it_is_called) {
    scheduler_rig rig;
    slow_waker slow;
    counting_waker other;
    timer_target first{.wake = &slow};
    timer_target second{.wake = &other};
    ASSERT_TRUE(rig->arm(first, a_ms).has_value());
    const auto armed = rig->arm(second, a_ms);
    ASSERT_TRUE(armed.has_value());
    rig.time.advance(a_ms);
    std::thread firing([&] { rig->run_due(rig.time.now()); });
    slow.await_call();
    std::atomic<int> cancelled{-1};
    std::thread cancelling([&] { cancelled = rig->cancel(*armed) ? 1 : 0; });
    EXPECT_TRUE(until([&] { return cancelled != -1; })) << "it waits for another's waker";
    slow.end();
    firing.join();
    cancelling.join();
    EXPECT_EQ(cancelled, 1);
    EXPECT_EQ(other.calls, 0);
    EXPECT_EQ(rig->counted().cancelled, 1U);
    EXPECT_EQ(rig->counted().fired, 1U);
    EXPECT_EQ(rig->active_count(), 0U);
    EXPECT_EQ(rig->cell_count(), 0U);
}

TEST(slow_waker, DF_29_a_delay_ends_while_it_is_called) {
    scheduler_rig rig;
    slow_waker slow;
    counting_waker other;
    timer_target first{.wake = &slow};
    ASSERT_TRUE(rig->arm(first, a_ms).has_value());
    std::optional<tactus::pending_delay> rest(std::in_place, *rig, a_ms, &other);
    rig.time.advance(a_ms);
    std::thread firing([&] { rig->run_due(rig.time.now()); });
    slow.await_call();
    std::atomic<bool> has_ended{false};
    std::thread ending([&] {
        rest.reset();
        has_ended = true;
    });
    EXPECT_TRUE(until([&] { return has_ended.load(); })) << "it waits for another's waker";
    slow.end();
    firing.join();
    ending.join();
    EXPECT_EQ(other.calls, 0);
    EXPECT_EQ(rig->counted().cancelled, 1U);
    EXPECT_EQ(rig->cell_count(), 0U);
}

// D2: of its own waker it waits for the end, which is gone afterwards.
TEST(slow_waker, DF_29_its_own_waker_is_done_when_a_cancel_returns) {
    scheduler_rig rig;
    slow_waker slow;
    timer_target target{.wake = &slow};
    const auto armed = rig->arm(target, a_ms);
    ASSERT_TRUE(armed.has_value());
    rig.time.advance(a_ms);
    std::thread firing([&] { rig->run_due(rig.time.now()); });
    slow.await_call();
    std::latch cancels{1};
    std::thread cancelling([&] {
        cancels.count_down();
        EXPECT_FALSE(rig->cancel(*armed));
        EXPECT_TRUE(slow.has_ended());
    });
    cancels.wait();
    // One that does not wait would return now; the test passes however long this takes.
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    slow.end();
    firing.join();
    cancelling.join();
    EXPECT_EQ(rig->counted().fired, 1U);
    EXPECT_EQ(rig->cell_count(), 0U);
}
