// SPDX-License-Identifier: Apache-2.0
//
// Goal: the times the specification names for suspensions (CO-6), and that a timer wakes one worker
// (LN-4, EX-4).
// Method: real threads and the real clock; medians, because others use the machine too, and beside
// them how late this machine is without us. What depends on time alone is tested with a manual
// clock in tests/portable/dispatch/suspensions_test.cpp.
#include <tactus/dispatch/suspensions.hpp>

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <semaphore>
#include <thread>
#include <vector>

#include "pool_rig.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using namespace std::chrono_literals;
using tactus_test::pool_rig;
using tactus_test::timed_pool_rig;
using tactus_test::under_sanitizer;
using tactus_test::until;

namespace {

using std_clock = std::chrono::steady_clock;
constexpr std::uint64_t key = 7;
constexpr int slower = under_sanitizer ? 20 : 1;

std_clock::duration median(std::vector<std_clock::duration> all) {
    const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
    std::nth_element(all.begin(), middle, all.end());
    return *middle;
}
double in_us(std_clock::duration d) {
    return std::chrono::duration<double, std::micro>(d).count();
}

struct go {};

/// Suspends itself with every message but the last, and asks for the signal that resumes it.
struct cycler {
    mailbox_index signaller;
    std::vector<std_clock::duration>* cycles;
    std::size_t count;
    std::binary_semaphore* done;
    std_clock::time_point since = {};

    void receive(turn& t, envelope&) {
        const auto now = std_clock::now();
        if (since != std_clock::time_point{})
            cycles->push_back(now - since);
        if (cycles->size() == count) {
            done->release();
            return;
        }
        since = now;
        EXPECT_TRUE(t.suspend(suspend_reason::await_external, resume_condition::signal(key)));
        t.send(signaller, go{});
    }
};
struct signaller {
    void receive(turn& t, envelope&) { EXPECT_EQ(t.system().signal(key), 1u); }
};

/// Suspends itself with the first message; says when the next came.
struct waiter {
    std::atomic<std_clock::time_point::rep>* came;
    std::binary_semaphore* done;
    bool waits = false;

    void receive(turn& t, envelope&) {
        waits = !waits;
        if (waits) {
            EXPECT_TRUE(t.suspend(suspend_reason::await_external, resume_condition::signal(key)));
            return;
        }
        *came = std_clock::now().time_since_epoch().count();
        done->release();
    }
};

/// Sleeps a millisecond after every message, and says how late it was woken.
struct sleepy {
    std::vector<std_clock::duration>* late;
    std::size_t count;
    std::binary_semaphore* done;
    std_clock::time_point due = {};

    void receive(turn& t, envelope&) {
        if (due != std_clock::time_point{})
            late->push_back(std_clock::now() - due);
        if (late->size() == count) {
            done->release();
            return;
        }
        due = std_clock::now() + 1ms;
        if (t.suspend(suspend_reason::rate_limit, resume_condition::after(duration::from_ms(1))))
            return;
        // Refused where this machine has stood still for long: then it is tried again.
        due = {};
        t.send(t.self(), go{});
    }
};

bool all_asleep(pool_rig& rig) {
    return rig.system.order().idle().sleeping_count() == rig.system.worker_count();
}

}  // namespace

// CO-6: a busy cycle takes less than 1 ms.
TEST(suspensions_time, a_busy_cycle_takes_less_than_a_millisecond) {
    constexpr std::size_t count = 2'000;
    for (const std::uint32_t workers : {1u, 2u}) {
        std::vector<std_clock::duration> cycles;
        cycles.reserve(count);
        std::binary_semaphore done(0);
        pool_rig rig(workers);
        const mailbox_index s = *rig.system.spawn<signaller>({});
        const mailbox_index c = *rig.system.spawn<cycler>({}, s, &cycles, count, &done);
        for (std::size_t i = 0; i <= count; ++i)
            actor_scheduler::tell(c, go{});
        ASSERT_TRUE(done.try_acquire_for(60s));
        std::printf("%u workers: a cycle takes %.1f us\n", workers, in_us(median(cycles)));
        EXPECT_LT(median(cycles), 1ms * slower);
    }
}

// CO-6: the first message after resume within 10 ms, though everybody sleeps.
TEST(suspensions_time, the_first_message_after_resume_comes_within_10_ms) {
    std::vector<std_clock::duration> took;
    std::atomic<std_clock::time_point::rep> came{0};
    std::binary_semaphore done(0);
    pool_rig rig(2);
    const mailbox_index w = *rig.system.spawn<waiter>({}, &came, &done);
    for (int i = 0; i < 30; ++i) {
        actor_scheduler::tell(w, go{});
        actor_scheduler::tell(w, go{});
        ASSERT_TRUE(
            until([&] { return rig.system.waiting().waiting_count() == 1 && all_asleep(rig); }));
        const auto from = std_clock::now();
        ASSERT_EQ(rig.system.signal(key), 1u);
        ASSERT_TRUE(done.try_acquire_for(60s));
        took.emplace_back(came.load() - from.time_since_epoch().count());
    }
    std::printf("the first message after resume: %.1f us\n", in_us(median(took)));
    EXPECT_LT(median(took), 10ms * slower);
}

// CO-6, LN-4: after a time too, as late as this machine makes anybody; and a timer wakes one
// worker, however many sleep, and that one another for the actor it made ready.
TEST(suspensions_time, a_time_that_has_come_does_not_wake_everybody_and_is_not_late) {
    constexpr std::size_t count = 200;
    std::vector<std_clock::duration> oversleep;
    for (std::size_t i = 0; i < 50; ++i) {
        const auto due = std_clock::now() + 1ms;
        std::this_thread::sleep_until(due);
        oversleep.push_back(std_clock::now() - due);
    }
    std::vector<std_clock::duration> late;
    late.reserve(count);
    std::binary_semaphore done(0);
    timed_pool_rig rig(4, {}, duration::from_us(100));
    ASSERT_TRUE(until([&] { return all_asleep(rig); }));
    const mailbox_index s = *rig.system.spawn<sleepy>({}, &late, count, &done);
    rusage before{};
    rusage after{};
    getrusage(RUSAGE_SELF, &before);
    for (std::size_t i = 0; i <= count; ++i)
        actor_scheduler::tell(s, go{});
    ASSERT_TRUE(done.try_acquire_for(60s));
    getrusage(RUSAGE_SELF, &after);
    // Each sleep of a worker is one; a lock that is held, and yielding, add some.
    const double switches = static_cast<double>(after.ru_nvcsw - before.ru_nvcsw) / count;
    std::printf("late by %.1f us (a thread alone: %.1f us), %.2f sleeps per timer\n",
                in_us(median(late)), in_us(median(oversleep)), switches);
    EXPECT_LT(median(late), median(oversleep) + 10ms * slower);
    EXPECT_LT(switches, 2.5);  // four workers that all wake sleep four times
}
