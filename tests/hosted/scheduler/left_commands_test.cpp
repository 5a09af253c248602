// SPDX-License-Identifier: Apache-2.0
//
// Goal: who finds the lock taken leaves its command for the holder and goes on (SC-6), and what is
// left is done as what is not.
// Method: memory for jobs that tells when it grows, which it does under the lock. The test stays
// there until the threads it wants to be left have come back.
#include <tactus/scheduler/scheduler.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <expected>
#include <functional>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "large_scheduler_rig.hpp"
#include "scheduler_rig.hpp"
#include "telling_memory.hpp"

using tactus::cancellable;
using tactus::duration;
using tactus::job_request;
using tactus::job_state;
using tactus::scheduler_errc;
using tactus::scheduler_warning_kind;
using tactus::timer_priority;
using tactus_test::large_scheduler_rig;
using tactus_test::ms;
using tactus_test::noted_warnings;
using tactus_test::number;
using tactus_test::telling_memory;

namespace {

constexpr duration far = duration::from_s(2 * 24 * 3'600);

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

/// A profile of so many.
auto bounded(std::uint32_t timers) {
    return [timers](tactus::scheduler_options& o) {
        o.config.profile = tactus::scheduler_profile::custom;
        o.config.custom = {timers, 2, 1};
    };
}

// SC-6: it does not wait for the lock, be there a quota or not.
TEST(left_commands, SC_6_a_request_and_a_cancel_are_left_for_the_holder) {
    for (const bool has_quota : {false, true}) {
        left_rig all(64, [&](tactus::scheduler_options& o) {
            if (has_quota)
                bounded(64)(o);
        });
        std::expected<cancellable, tactus::scheduler_error> made[3];
        bool is_cancelled = false;
        std::uint64_t active = 0;
        all.left([&] {
            made[0] = all.rig.timers.schedule_once(ms(1), all.who, number{1});
            made[1] = all.rig.timers.schedule_at_fixed_rate(ms(1), ms(1), all.who, number{1});
            made[2] = all.rig.timers.schedule_once(ms(1), all.who, number{1});
            is_cancelled = made[2]->cancel();
        });
        EXPECT_TRUE(is_cancelled);
        active = all.rig.timers.active_count();
        EXPECT_EQ(active, 3u);  // one is the holder's
        EXPECT_GE(all.rig.timers.counted().commands_left, 3u);
        EXPECT_EQ(made[0]->state(), job_state::scheduled);
        EXPECT_EQ(made[1]->state(), job_state::scheduled);
        all.rig.pass(3);
        EXPECT_EQ(silent_actor::handled, 4u);
    }
}

// BP-8, SC-6: whoever has a handle was registered, also when its cancel came before the holder.
TEST(left_commands, BP_8_what_is_cancelled_on_its_way_in_was_registered) {
    left_rig all(64, [](tactus::scheduler_options&) {});
    all.left([&] {
        for (unsigned i = 0; i < 3; ++i) {
            auto once = all.rig.timers.schedule_once(ms(1), all.who, number{1});
            auto rate = all.rig.timers.schedule_at_fixed_rate(ms(1), ms(1), all.who, number{1});
            ASSERT_TRUE(once && rate);
            EXPECT_TRUE(once->cancel());
            EXPECT_TRUE(rate->cancel());
        }
        EXPECT_TRUE(all.rig.timers.schedule_once(ms(1), all.who, number{1}).has_value());
    });
    EXPECT_EQ(all.rig.timers.active_count(), 2u);
    EXPECT_EQ(all.rig.timers.counted().registered, 8u);  // one is the holder's
    EXPECT_EQ(all.rig.timers.counted().cancelled, 6u);
    EXPECT_EQ(all.rig.timers.metrics().periodic, 0u);
    EXPECT_EQ(all.rig.timers.cell_count(), 2u);
}

// BP-2, SC-6: the quota is exact, whoever finds the lock taken.
TEST(left_commands, BP_2_the_quota_is_exact) {
    constexpr std::uint32_t quota = 40;
    left_rig all(quota, bounded(quota));
    std::vector<cancellable> accepted;
    all.left([&] {
        for (unsigned i = 0; i < 10; ++i)
            accepted.push_back(*all.rig.timers.schedule_once(ms(60'000), all.who, number{1}));
    });
    while (accepted.size() < quota - 1) {
        const auto made = all.rig.timers.schedule_once(ms(60'000), all.who, number{1});
        ASSERT_TRUE(made.has_value()) << accepted.size();
        accepted.push_back(*made);
    }
    for (unsigned i = 0; i < 3; ++i) {
        const auto refused = all.rig.timers.schedule_once(ms(60'000), all.who, number{1});
        ASSERT_FALSE(refused.has_value());
        EXPECT_EQ(refused.error().code, scheduler_errc::quota_exceeded);
        EXPECT_EQ(refused.error().value, quota);
        EXPECT_TRUE(accepted.back().cancel());
        accepted.back() = *all.rig.timers.schedule_once(ms(60'000), all.who, number{1});
    }
    EXPECT_EQ(all.rig.timers.active_count(), quota);
    EXPECT_EQ(all.warnings.of(scheduler_warning_kind::quota_reached), 3u);
}

// SC-6: whoever is accepted has a place, and all places are given to somebody.
void fill_places(bool has_quota) {
    constexpr std::uint32_t places = 100;
    left_rig all(places, [&](tactus::scheduler_options& o) {
        if (has_quota)
            bounded(places)(o);
    });
    const scheduler_errc full =
        has_quota ? scheduler_errc::quota_exceeded : scheduler_errc::capacity_exceeded;
    std::vector<cancellable> accepted;
    unsigned refused = 0;
    const auto add = [&] {
        const auto made = all.rig.timers.schedule_once(ms(60'000), all.who, number{1});
        if (made)
            accepted.push_back(*made);
        else
            refused += made.error().code == full ? 1U : 100U;
    };
    while (refused < 30) {
        // Some are left, and when there are no spares any more they wait for the lock.
        std::thread other;
        std::atomic<unsigned> done{0};
        all.jobs.on_growth = [&] {
            other = std::thread([&] {
                for (unsigned i = 0; i < 20; ++i)
                    add();
                done = 1;
            });
            for (unsigned i = 0; i < 20 && done == 0; ++i)
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
        };
        const auto holder = all.rig.timers.schedule_once(ms(60'000), all.who, number{1});
        all.jobs.on_growth = nullptr;
        if (other.joinable())
            other.join();
        else
            add();
        if (holder)
            accepted.push_back(*holder);
    }
    EXPECT_LT(refused, 100u);
    EXPECT_EQ(accepted.size(), places);
    for (const cancellable& a : accepted)
        EXPECT_EQ(a.state(), job_state::scheduled);
    EXPECT_GT(all.rig.timers.counted().commands_left, 0u);
    EXPECT_EQ(all.rig.timers.active_count(), places);
    EXPECT_EQ(all.rig.timers.counted().dropped, 0u);
    EXPECT_EQ(all.warnings.of(scheduler_warning_kind::dropped_low_priority), 0u);
    // All places are free again afterwards.
    for (cancellable& a : accepted)
        EXPECT_TRUE(a.cancel());
    EXPECT_EQ(all.rig.timers.active_count(), 0u);
    accepted.clear();
    for (unsigned i = 0; i < places; ++i)
        add();
    EXPECT_EQ(accepted.size(), places);
}

TEST(left_commands, SC_6_as_many_are_accepted_as_there_are_places) {
    fill_places(false);
}

// SC-6, BP-2
TEST(left_commands, SC_6_as_many_are_accepted_as_the_quota_says) {
    fill_places(true);
}

struct counting_waker final : tactus::waker {
    void wake() noexcept override { ++woken; }
    std::atomic<unsigned> woken{0};
};

// SC-13: who waits is told when there is no memory for what was left, and that it is not its time.
TEST(left_commands, SC_13_who_waits_is_woken_when_there_is_no_memory) {
    telling_memory nodes(tactus::scheduler_wheel::node_bytes(64));
    left_rig all(64, [&](tactus::scheduler_options& o) { o.nodes = &nodes; });
    counting_waker waker;
    counting_waker cancelled;
    std::expected<cancellable, tactus::scheduler_error> made;
    std::expected<cancellable, tactus::scheduler_error> second;
    all.jobs.on_growth = [&] {
        std::thread([&] {
            made = all.rig.timers.schedule_wake(ms(5), waker);
            second = all.rig.timers.schedule_wake(ms(5), cancelled);
        }).join();
        nodes.refuses = true;
    };
    EXPECT_FALSE(all.rig.timers.schedule_once(ms(60'000), all.who, number{1}).has_value());
    ASSERT_TRUE(made.has_value());
    ASSERT_TRUE(second.has_value());
    EXPECT_TRUE(second->cancel());
    (void)all.rig.kernel.run();
    EXPECT_EQ(waker.woken, 1u);
    EXPECT_TRUE(all.rig.timers.was_closed(*made));
    EXPECT_EQ(cancelled.woken, 0u);
    EXPECT_EQ(all.rig.timers.counted().registered, 2u);  // BP-8
    EXPECT_EQ(all.rig.timers.counted().cancelled, 2u);
    EXPECT_EQ(all.rig.timers.active_count(), 0u);
    EXPECT_EQ(all.rig.timers.cell_count(), 0u);
    EXPECT_EQ(all.rig.timers.next_deadline(), tactus::instant::never());
}

// SD-6: who is told that there is no place for it was not due.
TEST(left_commands, SD_6_who_finds_no_place_is_not_the_last_batch) {
    telling_memory nodes(tactus::scheduler_wheel::node_bytes(256));
    counting_waker waker;
    left_rig all(256, [&](tactus::scheduler_options& o) { o.nodes = &nodes; });
    EXPECT_TRUE(all.rig.timers.schedule_once(ms(1), all.who, number{1}).has_value());
    EXPECT_TRUE(all.rig.kernel->stop(all.who));
    (void)all.rig.kernel.run();
    // As many as there are nodes for are due in the same look, and nobody gets them.
    nodes.refuses = true;
    const auto wait_too = [&] {
        std::thread([&] {
            EXPECT_TRUE(all.rig.timers.schedule_wake(ms(5), waker).has_value());
        }).join();
    };
    do {
        all.jobs.on_growth = wait_too;
    } while (all.rig.timers.schedule_once(ms(1), all.who, number{1}));
    all.rig.time.advance(ms(1));
    all.rig.timers.run_due(all.rig.time.now());
    EXPECT_GE(waker.woken, 1u);
    EXPECT_FALSE(all.rig.timers.last_batch().has_value());
}

struct counting_listener final : tactus::timer_listener {
    void expired(tactus::mailbox_index, tactus::timer_handle) noexcept override { ++told; }
    std::atomic<unsigned> told{0};
};

// CO-6: a listener is not told of what is lost, so nothing of its own is: it is refused instead.
TEST(left_commands, CO_6_a_listener_is_refused_when_there_is_no_memory) {
    telling_memory nodes(tactus::scheduler_wheel::node_bytes(64));
    left_rig all(64, [&](tactus::scheduler_options& o) {
        o.nodes = &nodes;
        o.listener = nullptr;  // two threads would be refused
    });
    counting_listener listener;
    std::optional<tactus::timer_handle> armed;
    std::atomic<unsigned> done{0};
    std::thread other;
    all.jobs.on_growth = [&] {
        other = std::thread([&] {
            tactus::timer_target target{.who = all.who, .listener = &listener};
            armed = all.rig.timers.arm(target, ms(5));
            done = 1;
        });
        for (unsigned i = 0; i < 20 && done == 0; ++i)
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        nodes.refuses = true;
    };
    EXPECT_FALSE(all.rig.timers.schedule_once(ms(60'000), all.who, number{1}).has_value());
    other.join();
    EXPECT_FALSE(armed.has_value());
    all.rig.pass(6);
    EXPECT_EQ(listener.told, 0u);
    EXPECT_EQ(all.rig.timers.cell_count(), 0u);
}

// SC-13, SH-1: or when it is closed just then.
TEST(left_commands, SC_13_who_waits_is_woken_when_it_closes) {
    constexpr unsigned rounds = tactus_test::is_sanitized ? 20 : 100;
    for (unsigned round = 0; round < rounds; ++round) {
        left_rig all(4'096, [](tactus::scheduler_options&) {});
        std::vector<counting_waker> wakers(2'000);
        std::atomic<unsigned> accepted{0};
        std::atomic<unsigned> next{0};
        const auto add_all = [&] {
            for (;;) {
                const unsigned mine = next++;
                if (mine >= wakers.size() ||
                    !all.rig.timers.schedule_wake(ms(60'000), wakers[mine]))
                    return;
                ++accepted;
            }
        };
        std::thread one(add_all);
        std::thread two(add_all);
        await(next, 200 + round);
        (void)all.rig.timers.close();
        one.join();
        two.join();
        (void)all.rig.kernel.run();
        unsigned woken = 0;
        for (const counting_waker& w : wakers)
            woken += w.woken;
        ASSERT_EQ(woken, accepted);
        ASSERT_EQ(all.rig.timers.counted().registered, accepted);  // BP-8
        ASSERT_EQ(all.rig.timers.counted().cancelled, accepted);
        ASSERT_EQ(all.rig.timers.cell_count(), 0u);
    }
}

}  // namespace
