// SPDX-License-Identifier: Apache-2.0
//
// Goal: who finds the lock taken leaves its command for the holder and goes on (SC-6), and what is
// left is done as what is not.
// Method: memory for jobs that tells when it grows, which it does under the lock. The test stays
// there until the threads it wants to be left have come back.
#include <tactus/scheduler/scheduler.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

#include "large_scheduler_rig.hpp"
#include "scheduler_rig.hpp"

using tactus::cancellable;
using tactus::duration;
using tactus::job_end;
using tactus::job_request;
using tactus::job_state;
using tactus::scheduler_errc;
using tactus::scheduler_warning_kind;
using tactus::timer_priority;
using tactus_test::large_memory;
using tactus_test::large_scheduler_rig;
using tactus_test::noted_warnings;
using tactus_test::number;

namespace {

constexpr duration ms(std::int64_t n) {
    return duration::from_ms(n);
}
constexpr duration far = duration::from_s(2 * 24 * 3'600);

/// Grows cell by cell, and tells once when it does.
class telling_memory final : public tactus::memory_region {
public:
    explicit telling_memory(std::size_t bytes) : all_(bytes) {
        data_ = all_.data();
        size_max_ = bytes;
    }
    [[nodiscard]] bool resize(std::size_t bytes) noexcept override {
        if (bytes > size_max_)
            return false;
        size_ = bytes;
        if (const auto tell = std::exchange(on_growth, nullptr))
            tell();
        return true;
    }
    std::function<void()> on_growth;

private:
    large_memory all_;
};

/// Says when it is copied.
struct told_of {
    explicit told_of(std::function<void()>& f) : on_copy(&f) {}
    told_of(const told_of& other) : on_copy(other.on_copy) { (*on_copy)(); }
    told_of& operator=(const told_of&) = delete;
    std::function<void()>* on_copy;
};

struct silent_actor {
    void receive(tactus::turn&, tactus::envelope&) { ++handled; }
    static inline unsigned handled = 0;
};

void await(const std::atomic<unsigned>& what, unsigned value) {
    while (what < value)
        std::this_thread::yield();
}

struct left_rig {
    template <class Change>
    left_rig(std::uint32_t timers, Change change)
        : jobs(tactus::job_store::bytes(tactus::scheduler::cells_for(timers))),
          rig(timers, [&](tactus::scheduler_options& o) {
              o.jobs = &jobs;
              o.listener = &warnings;
              change(o);
          }) {
        silent_actor::handled = 0;
        (void)rig.timers.active_count();  // there are spares from now on
    }
    /// Calls f under the lock.
    void while_locked(std::function<void()> f) {
        jobs.on_growth = std::move(f);
        const auto holder = rig.timers.schedule_once(ms(60'000), who, number{1});
        ASSERT_TRUE(holder.has_value());
        ASSERT_FALSE(jobs.on_growth);
    }
    /// Calls f on another thread while the lock is held: it must not wait for that.
    void left(std::function<void()> f) {
        while_locked([&] { std::thread(f).join(); });
    }

    telling_memory jobs;
    noted_warnings warnings;
    large_scheduler_rig rig;
    tactus::mailbox_index who = rig.kernel.spawn<silent_actor>();
};

// BP-7, SC-6: two gave way before the lock was free again, each is told of.
TEST(left_commands, BP_7_each_that_gave_way_in_one_hold_is_told_of) {
    left_rig all(16, [](tactus::scheduler_options& o) {
        o.config.profile = tactus::scheduler_profile::custom;
        o.config.custom = {16, 2, 1};
    });
    std::vector<tactus::timer_handle> victims;  // of an actor: they carry nothing
    for (unsigned i = 0; i < 2; ++i) {
        const auto made =
            all.rig.timers.arm({.first = far, .to = all.who, .priority = timer_priority::low});
        ASSERT_TRUE(made.has_value());
        victims.push_back(*made);
    }
    // Their places are reserved before their messages are made.
    std::atomic<unsigned> ready{0};
    std::atomic<unsigned> locked{0};
    std::atomic<unsigned> done{0};
    std::function<void()> on_copy = [&] {
        ++ready;
        await(locked, 1);
    };
    std::vector<std::thread> newcomers;
    for (unsigned i = 0; i < 2; ++i)
        newcomers.emplace_back([&] {
            const told_of message(on_copy);
            const auto made = all.rig.timers.add(
                job_request::once(far, timer_priority::high).send(all.who, {}), message);
            EXPECT_TRUE(made.has_value());
            ++done;
        });
    await(ready, 2);
    all.warnings.count = 0;
    all.while_locked([&] {
        locked = 1;
        await(done, 2);
    });
    for (std::thread& t : newcomers)
        t.join();
    ASSERT_EQ(all.warnings.of(scheduler_warning_kind::dropped_low_priority), 2u);
    for (const tactus::timer_handle v : victims) {
        unsigned told = 0;
        for (unsigned i = 0; i < all.warnings.count; ++i)
            told += all.warnings.all[i].job == tactus::job_of(v) ? 1U : 0U;
        EXPECT_EQ(told, 1u);
    }
    EXPECT_EQ(all.rig.timers.metrics().dropped, 2u);
    EXPECT_EQ(all.rig.timers.active_count(), 3u);
}

}  // namespace
