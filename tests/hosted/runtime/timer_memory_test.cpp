// SPDX-License-Identifier: Apache-2.0
//
// Memory for timers: all of it at once for a bounded profile, and none of a bounded system's timers
// asks the machine for more (BP-1); as it is needed for the unbounded one, and given back (CN-3,
// TW-11).
#include <tactus/runtime/timer_memory.hpp>

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdint>
#include <fstream>
#include <vector>

#include <tactus/runtime/actor_system.hpp>

#include "pool_rig.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using tactus_test::under_sanitizer;

namespace {

struct number {
    int n;
};
class taker : public actor<number> {
public:
    void on(number) {}
};

/// Pages that this thread was the first to touch.
long first_touches() {
    rusage used{};
    getrusage(RUSAGE_THREAD, &used);
    return used.ru_minflt;
}

std::size_t resident_bytes() {
    std::size_t pages_of_all = 0;
    std::size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages_of_all >> pages;
    return pages * 4096;
}

/// What scheduling and cancelling `count` timers, twice, takes.
long touched_by(actor_system& system, std::size_t count) {
    const auto to = system.spawn<taker>("taker");
    std::vector<cancellable> all(count);  // written to: its pages are there
    const long before = first_touches();
    for (int round = 0; round < 2; ++round) {
        for (std::size_t i = 0; i < count; ++i) {
            // Some of them beyond the wheel.
            const duration d = duration::from_s(i % 8 == 0 ? 200'000 : 100);
            auto made = system.scheduler().schedule_once(d, to.index(), number{1});
            EXPECT_TRUE(made.has_value());
            if (made)
                all[i] = *made;
        }
        for (cancellable& c : all)
            EXPECT_TRUE(c.cancel());
    }
    return first_touches() - before;
}

}  // namespace

// BP-1
TEST(timer_memory, BP_1_of_a_bounded_profile_is_taken_at_once) {
    constexpr scheduler_capacity profile{10'240, 2'560, 512};
    runtime::timer_memory memory(profile);
    const scheduler_options o = memory.options(scheduler_options{});
    EXPECT_EQ(o.timers_max, profile.timers);
    for (const memory_region* region : {o.jobs, o.nodes, o.overflow}) {
        EXPECT_GT(region->size(), 0u);
        EXPECT_EQ(region->size(), region->size_max());
    }
    EXPECT_GE(o.jobs->size(), job_store::bytes(scheduler::cells_for(profile.timers)));
    EXPECT_GE(o.nodes->size(), timer_wheel::node_bytes(profile.timers));
    EXPECT_GE(o.overflow->size(), timer_wheel::overflow_bytes(profile.overflow));
}

// TW-11: of the unbounded one nothing is, until it is needed.
TEST(timer_memory, TW_11_of_the_unbounded_profile_is_taken_as_needed) {
    runtime::timer_memory memory(1'000'000);
    const scheduler_options o = memory.options(scheduler_options{});
    for (const memory_region* region : {o.jobs, o.nodes, o.overflow})
        EXPECT_EQ(region->size(), 0u);
}

// BP-1: bounded profiles allocate at construction and never after.
TEST(timer_memory, BP_1_timers_of_a_bounded_system_take_no_memory_afterwards) {
    if (under_sanitizer)
        GTEST_SKIP() << "their own memory comes with it";
    constexpr std::size_t count = 10'000;
    actor_system bounded("bounded", {.scheduler = {.profile = scheduler_profile::standard}});
    const long in_bounded = touched_by(bounded, count);
    actor_system unbounded("unbounded");
    const long in_unbounded = touched_by(unbounded, count);
    // 10,000 cells alone are hundreds of pages.
    EXPECT_GT(in_unbounded, 400);
    EXPECT_LT(in_bounded, 100);
}

// CN-3, TW-11: far timers, cancelled by hand: nobody is there who would look at that time.
TEST(timer_memory, CN_3_memory_is_back_to_its_start_after_a_million_timers) {
    if (under_sanitizer)
        GTEST_SKIP() << "their own memory comes with it";
    constexpr std::size_t count = 1'000'000;
    std::vector<cancellable> all(count);
    actor_system system("burst");
    const auto to = system.spawn<taker>("taker");
    const std::size_t before = resident_bytes();
    for (std::size_t i = 0; i < count; ++i) {
        const auto made = system.scheduler().schedule_once(
            duration::from_ms(3'600'000 + static_cast<int>(i % 3'000)), to.index(), number{1});
        ASSERT_TRUE(made.has_value());
        all[i] = *made;
    }
    const std::size_t with_all = resident_bytes();
    EXPECT_GT(with_all, before + count * 200);
    for (cancellable& c : all)
        ASSERT_TRUE(c.cancel());
    // What is kept: 4,096 cells and nodes, and the system's own.
    const std::size_t kept = job_store::bytes(job_store::retained) + (std::size_t{4} << 20U);
    EXPECT_TRUE(tactus_test::until([&] { return resident_bytes() < before + kept; }))
        << before << ", then " << with_all << ", now " << resident_bytes();
}
