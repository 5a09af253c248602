// SPDX-License-Identifier: Apache-2.0
//
// Goal: what ends a suspension does not cost more the more there are (CO-6).
// Method: nanoseconds of this thread's CPU for each of 1,000 and of 64,000, best of several rounds:
// what others do meanwhile is not counted. What grows with the number would take 64 times as long;
// caches alone explain a few times.
#include <tactus/dispatch/suspensions.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <ctime>

#include <tactus/dispatch/actor_scheduler.hpp>
#include <tactus/runtime/heap_memory.hpp>
#include <tactus/runtime/scheduler_memory.hpp>
#include <tactus/runtime/timer_memory.hpp>
#include <tactus/scheduler/scheduler.hpp>
#include <tactus/time/manual_clock.hpp>

using namespace tactus;  // NOLINT: the whole vocabulary is used

namespace {

constexpr std::uint32_t few = 1'000;
constexpr std::uint32_t many = 64'000;
constexpr double ratio_max = 12;

struct counting_resumer final : resumer {
    void resume_suspended(mailbox_index) noexcept override { ++resumed; }
    void suspension_limit(mailbox_index, suspend_limit_action) noexcept override {}
    std::uint32_t resumed = 0;
};

/// Suspensions with a scheduler of the finest ticks, and the kernel it tells of deadlines.
class rig {
public:
    rig() { timers_.attach(kernel_); }
    [[nodiscard]] suspensions& operator*() { return suspensions_; }
    [[nodiscard]] suspensions* operator->() { return &suspensions_; }
    void run_next() {
        (void)time_.advance_to(timers_.next_deadline());
        timers_.run_due(time_.now());
    }

private:
    [[nodiscard]] static scheduler_config config() {
        auto c = scheduler_config::for_clock(clock_kind::deterministic);
        c.profile = scheduler_profile::unbounded;
        c.resolution = duration::from_ns(1);
        return c;
    }
    runtime::heap_memory heap_;
    manual_clock time_{duration::from_ns(1)};
    runtime::timer_memory blocks_{2 * many};
    scheduler timers_{blocks_.options(scheduler_options{.time = &time_, .config = config()})};
    runtime::scheduler_memory memory_{{.actors_max = 16, .messages_max = 16}};
    actor_scheduler kernel_{memory_.fill({.time = &time_, .timers = &timers_})};
    counting_resumer to_;
    suspensions suspensions_{{.memory = &heap_, .time = &time_, .timers = &timers_, .to = &to_}};
};

/// What this thread has used of a CPU, in nanoseconds.
double cpu_ns() {
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
}

/// Nanoseconds for each: `prepare(s, i)` suspends number i, `end(s, i)` is timed.
template <class Prepare, class End>
double cost(std::uint32_t count, Prepare&& prepare, End&& end) {
    double best = 1e18;
    for (unsigned round = 0; round < 5; ++round) {
        rig s;
        for (std::uint32_t i = 0; i < count; ++i)
            prepare(s, i);
        const double from = cpu_ns();
        // Far from the order of suspension, and not in steps of one.
        for (std::uint32_t i = 0; i < count; ++i)
            end(s, (count - 1 - i) ^ 1);
        const double took = cpu_ns() - from;
        EXPECT_EQ(s->waiting_count(), 0u);
        best = std::min(best, took / count);
    }
    return best;
}

template <class Prepare, class End>
void expect_flat(const char* what, Prepare&& prepare, End&& end) {
    const double small = cost(few, prepare, end);
    const double large = cost(many, prepare, end);
    std::printf("%s: %.0f ns each of %u, %.0f ns each of %u\n", what, small, few, large, many);
    EXPECT_LT(large, ratio_max * small);
}

void keep(rig& s, std::uint32_t i, const resume_condition& until, const suspend_limit& limit = {}) {
    ASSERT_TRUE(s->add({i, 1}, suspend_reason::user_defined, until, limit));
}

}  // namespace

// CO-6: stop ends a suspension.
TEST(suspensions_cost, forgetting_one_of_many) {
    expect_flat(
        "forget, all wait for one key",
        [](rig& s, std::uint32_t i) { keep(s, i, resume_condition::signal(7)); },
        [](rig& s, std::uint32_t i) { EXPECT_TRUE(s->forget({i, 1})); });
    expect_flat(
        "forget, all have a limit",
        [](rig& s, std::uint32_t i) {
            keep(s, i, resume_condition::signal(i), {duration::from_ns(1 + i % 97)});
        },
        [](rig& s, std::uint32_t i) { EXPECT_TRUE(s->forget({i, 1})); });
}

// CO-6: a key of one's own among many others', also beside one that thousands wait for.
TEST(suspensions_cost, a_signal_to_one_of_many) {
    expect_flat(
        "signal, each its own key",
        [](rig& s, std::uint32_t i) {
            keep(s, i, resume_condition::signal(std::uint64_t{i} << 20));
        },
        [](rig& s, std::uint32_t i) { EXPECT_EQ(s->signal(std::uint64_t{i} << 20), 1u); });
}

// CO-4: due in another order than suspended.
TEST(suspensions_cost, deadlines_out_of_order) {
    expect_flat(
        "due one by one",
        [](rig& s, std::uint32_t i) {
            keep(s, i, resume_condition::after(duration::from_ns(1 + (i * 7'919LL) % 1'000'003)));
        },
        [](rig& s, std::uint32_t) { s.run_next(); });
}
