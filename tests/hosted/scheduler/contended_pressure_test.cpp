// SPDX-License-Identifier: Apache-2.0
//
// Goal: under pressure everybody is looked at, those who find the lock taken too (BP-3, SC-6).
// Method: who notes a cancel holds the lock, and asks a clock that takes its time. Another thread
// registers meanwhile: it must not get in past the gate by leaving its timer for the holder.
#include <tactus/scheduler/scheduler.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>
#include <vector>

#include "scheduler_rig.hpp"

using namespace std::chrono_literals;
using tactus::backpressure_state;
using tactus::scheduler_errc;
using tactus_test::ms;
using tactus_test::number;
using tactus_test::served_rig;

namespace {

/// The rig's clock, which can be made to answer late, once, to the thread that wants it so.
class slow_clock final : public tactus::clock {
public:
    [[nodiscard]] tactus::instant now() const noexcept override {
        if (slow_ == std::this_thread::get_id()) {
            slow_ = std::thread::id();
            wait();
        }
        return of->now();
    }
    [[nodiscard]] tactus::clock_kind kind() const noexcept override { return of->kind(); }
    void be_slow() noexcept { slow_ = std::this_thread::get_id(); }

    const tactus::clock* of = nullptr;
    std::function<void()> wait;

private:
    mutable std::atomic<std::thread::id> slow_{};
};
struct with_clock {
    slow_clock slow;
};

struct contended_rig : with_clock, served_rig {
    contended_rig() noexcept
        : served_rig([this](tactus::scheduler_options& o) {
              o.config.profile = tactus::scheduler_profile::unbounded;
              o.config.catch_up = ms(5);
              slow.of = o.time;
              o.time = &slow;
          }) {
        for (int i = 0; i < 3; ++i)
            to_cancel.push_back(*(*this)->schedule_once(ms(100'000), who, number{0}));
        // The first who finds the lock taken waits for it: cells are set aside when somebody has.
        const auto comes_and_goes = [this] {
            auto made = (*this)->schedule_once(ms(1'000), who, number{9});
            EXPECT_TRUE(made.has_value() && made->cancel());
        };
        (void)while_locked(50ms, comes_and_goes);
        EXPECT_TRUE(while_locked(1min, comes_and_goes));
        EXPECT_EQ((*this)->active_count(), 1u);
    }
    void fall_behind(std::uint32_t ticks) noexcept {
        ASSERT_TRUE((*this)
                        ->add({.first = ms(1), .to = who, .priority = tactus::timer_priority::high},
                              number{1})
                        .has_value());
        jump(ticks + 1);
    }
    /// Calls f on another thread while the lock is held, for at most so long. True: f was done
    /// before it was let go. Three times at most.
    template <class F>
    bool while_locked(std::chrono::milliseconds at_most, F f) {
        std::atomic<bool> is_done{false};
        bool was_done = false;
        std::thread other;
        slow.wait = [&] {
            other = std::thread([&] {
                f();
                is_done = true;
            });
            const auto until = std::chrono::steady_clock::now() + at_most;
            while (!is_done && std::chrono::steady_clock::now() < until)
                std::this_thread::yield();
            was_done = is_done;
        };
        tactus::cancellable last = to_cancel.back();
        to_cancel.pop_back();
        slow.be_slow();
        EXPECT_TRUE(last.cancel());
        EXPECT_TRUE(other.joinable());
        if (other.joinable())
            other.join();
        return was_done;
    }
    tactus::mailbox_index who = spawn();
    tactus::diagnostics::subscription watched =
        *(*this)->subscribe(tactus::diagnostic_kind::cancel);
    std::vector<tactus::cancellable> to_cancel;
};

// BP-3: rejecting refuses a keyed timer of an actor, and what goes on is not refused.
TEST(contended_pressure, BP_3_a_timer_that_finds_the_lock_taken_is_refused) {
    contended_rig rig;
    rig.fall_behind(11);
    rig.fall_behind(11);
    ASSERT_EQ(rig->pressure_now().state, backpressure_state::rejecting);
    tactus::timer_target to{.who = rig.who};
    EXPECT_FALSE(rig->arm(to, ms(1'000)).has_value());  // has looked, so the next one does not
    bool is_armed = true;
    (void)rig.while_locked(50ms, [&] { is_armed = rig->arm(to, ms(1'000)).has_value(); });
    EXPECT_FALSE(is_armed);
    EXPECT_EQ(rig->active_count(), 0u);
}

// BP-3: in backpressure a request of normal priority, too.
TEST(contended_pressure, BP_3_a_request_that_finds_the_lock_taken_is_refused) {
    contended_rig rig;
    rig.fall_behind(6);
    ASSERT_EQ(rig->pressure_now().state, backpressure_state::backpressure);
    EXPECT_FALSE(rig->schedule_once(ms(1'000), rig.who, number{2}).has_value());  // has looked
    tactus::scheduler_error why{.code = scheduler_errc::closed};
    (void)rig.while_locked(50ms, [&] {
        const auto made = rig->schedule_once(ms(1'000), rig.who, number{2});
        if (!made)
            why = made.error();
    });
    EXPECT_EQ(why.code, scheduler_errc::backpressured);
    EXPECT_EQ(rig->active_count(), 0u);
}

}  // namespace
