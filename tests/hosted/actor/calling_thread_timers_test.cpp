// SPDX-License-Identifier: Apache-2.0
//
// Goal: what a timer makes ready where the sender runs the receiver does not run inside firing,
// whoever fires: other timers go on meanwhile (SC-1, SC-10, SC-22).
// Method: idle workers, which are the first to see a deadline; what comes due on the calling thread
// waits there for a fixed rate of somebody else's to go on. Inside firing it waited in vain.
#include <tactus/runtime/actor_system.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "pool_rig.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using namespace std::chrono_literals;
using tactus_test::until;

namespace {

constexpr duration ms(std::int64_t n) {
    return duration::from_ms(n);
}

/// A fixed rate, and who waits for it to go on.
struct account {
    std::atomic<int> beats{0};
    std::atomic<bool> is_over{false};
    bool goes_on = false;  // when it is over

    /// More beats than a backlog may have. True: they came while this waited.
    void wait_for_beats() {
        const int before = beats.load();
        const auto limit = std::chrono::steady_clock::now() + 5s;
        while (beats.load() < before + 12 && std::chrono::steady_clock::now() < limit)
            std::this_thread::sleep_for(1ms);
        goes_on = beats.load() >= before + 12;
        is_over = true;
    }
};

struct beat {};
class counts_beats : public actor<beat> {
public:
    explicit counts_beats(account* a) : a_(a) {}
    void on(beat) { ++a_->beats; }

private:
    account* a_;
};

struct wait_now {};
struct begin_timer {};
class waits : public actor<wait_now, begin_timer> {
public:
    explicit waits(account* a) : a_(a) {}
    void on(wait_now) { a_->wait_for_beats(); }
    void on(begin_timer) { (void)context().start_single_timer("wait", wait_now{}, ms(20)); }

private:
    account* a_;
};

enum class way { message, function, keyed_timer };

class calling_thread_timers : public testing::TestWithParam<way> {};

}  // namespace

// SC-10, SC-1, SC-22
TEST_P(calling_thread_timers, SC_10_a_worker_that_fires_runs_no_functions_and_no_handlers) {
    account a;
    actor_system system("here", {.dispatcher = {.workers = 2, .max_workers = 2}});
    const auto here = system.dispatchers().add(
        {.id = "here", .config = {.executor = executor_kind::calling_thread}});
    ASSERT_TRUE(here);
    const auto who = system.try_spawn<waits>("waits", {.dispatcher = here->number()}, &a);
    ASSERT_TRUE(who);
    // A noisy machine may be late by more than eight periods: that is not what is looked at.
    const auto rate = system.timers().schedule_at_fixed_rate(
        ms(10), ms(10), system.spawn<counts_beats>("beats", &a), beat{},
        fixed_rate_options{.backlog_limit = 400});
    ASSERT_TRUE(rate);
    switch (GetParam()) {
    case way::message:
        ASSERT_TRUE(system.timers().schedule_once(ms(20), *who, wait_now{}));
        break;
    case way::function:
        ASSERT_TRUE(system.scheduler().schedule_once_fn(
            ms(20), [&](const execution_batch&) { a.wait_for_beats(); },
            static_cast<std::uint16_t>(here->number())));
        break;
    case way::keyed_timer:
        who->tell(begin_timer{});
        break;
    }
    ASSERT_TRUE(until([&] { return a.is_over.load(); }));
    EXPECT_TRUE(a.goes_on);
    EXPECT_FALSE(rate->is_cancelled());
}

INSTANTIATE_TEST_SUITE_P(all, calling_thread_timers,
                         testing::Values(way::message, way::function, way::keyed_timer));

// SC-10: a receiver of another system, too: who fires is none of its threads.
TEST(calling_thread_of_another, SC_10_of_another_system_they_do_not_run_there_either) {
    account a;
    actor_system there("there", {.dispatcher = {.workers = 1, .max_workers = 1}});
    actor_system here("here", {.dispatcher = {.workers = 2, .max_workers = 2}});
    const auto caller = there.dispatchers().add(
        {.id = "caller", .config = {.executor = executor_kind::calling_thread}});
    ASSERT_TRUE(caller);
    const auto who = there.try_spawn<waits>("waits", {.dispatcher = caller->number()}, &a);
    ASSERT_TRUE(who);
    const auto rate =
        here.timers().schedule_at_fixed_rate(ms(10), ms(10), here.spawn<counts_beats>("beats", &a),
                                             beat{}, fixed_rate_options{.backlog_limit = 400});
    ASSERT_TRUE(rate);
    ASSERT_TRUE(here.timers().schedule_once(ms(20), *who, wait_now{}));
    ASSERT_TRUE(until([&] { return a.is_over.load(); }));
    EXPECT_TRUE(a.goes_on);
}
