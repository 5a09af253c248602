// SPDX-License-Identifier: Apache-2.0
//
// Goal: delays of coroutines and of threads outside (SC-13, SC-15): the batch or why there is none,
// never early, cancelled by their end.
// Method: coroutines in a world whose time the test moves; futures on a system, and their end
// against their time.
#include <tactus/runtime/delay_future.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <tactus/runtime/actor_system.hpp>

#include "pool_rig.hpp"
#include "puppet.hpp"
#include "telling_memory.hpp"
#include "world_rig.hpp"

using namespace tactus;
using namespace tactus_test;
using namespace std::chrono_literals;

namespace {

using outcome = delay_source::result;

struct rest_for {
    duration time;
};
class sleeper : public actor<rest_for> {
public:
    explicit sleeper(std::vector<outcome>* into) : into_(into) {}
    task<> on(rest_for m) {
        const auto over = co_await context().delay(m.time);
        into_->push_back(over);
    }

private:
    std::vector<outcome>* into_;
};

struct sleeping_rig {
    sleeping_rig() { who = rig.spawn<sleeper>("sleeper", &said); }
    void ask_for(duration d) {
        who.tell(rest_for{d});
        rig.run();
    }
    world_rig rig;
    std::vector<outcome> said;
    actor_ref<rest_for> who;
};

TEST(delay, SC_15_gives_the_batch_of_one_run_however_late) {
    sleeping_rig r;
    r.ask_for(ms(3));
    r.rig.pass(2);
    EXPECT_TRUE(r.said.empty());
    EXPECT_EQ(r.rig.world.timers()->active_count(), 1u);
    r.rig.time.advance(ms(50));
    r.rig.run();
    ASSERT_EQ(r.said.size(), 1u);
    ASSERT_TRUE(r.said[0].has_value());
    EXPECT_EQ(r.said[0]->runs, 1u);
    EXPECT_EQ(r.said[0]->missed_runs, 0u);
    EXPECT_EQ(r.said[0]->mode, job_mode::one_shot);
    EXPECT_NE(r.said[0]->job, 0u);
    r.rig.pass(10);
    EXPECT_EQ(r.said.size(), 1u);
    r.rig.end();
}

TEST(delay, SC_13_says_at_once_why_it_was_refused) {
    sleeping_rig r;
    r.ask_for(ms(0));
    r.ask_for(ms(-5));
    r.ask_for(r.rig.world.timers()->maximum_delay() + duration::from_ns(1));
    ASSERT_EQ(r.said.size(), 3u);
    for (const outcome& o : r.said) {
        ASSERT_FALSE(o.has_value());
        EXPECT_EQ(o.error().code, scheduler_errc::invalid_delay);
    }
    r.rig.end();
}

// SC-13: it was left for who had the lock, and there was no memory for it. Others have its cell
// when it is asked.
TEST(delay, SC_13_without_a_place_it_does_not_say_that_time_has_passed) {
    struct counting_waker final : waker {
        void wake() noexcept override { ++woken; }
        unsigned woken = 0;
    } waker;
    constexpr std::uint32_t timers = 64;
    telling_memory jobs(job_store::bytes(scheduler::cells_for(timers)));
    telling_memory nodes(scheduler_wheel::node_bytes(timers));
    large_scheduler_rig rig(timers, [&](scheduler_options& o) {
        o.jobs = &jobs;
        o.nodes = &nodes;
    });
    const mailbox_index who = rig.kernel.spawn();
    (void)rig.timers.active_count();  // there are spares from now on
    delay_source rest({&rig.timers, ms(5)}, waker, who);
    jobs.on_growth = [&] {
        std::thread([&] { EXPECT_TRUE(rest.start()); }).join();
        nodes.refuses = true;
    };
    EXPECT_FALSE(rig.timers.schedule_once(ms(60'000), who, number{1}).has_value());
    (void)rig.kernel.run();
    EXPECT_EQ(waker.woken, 1u);
    nodes.refuses = false;
    for (int round = 0; round < 30; ++round) {  // more than a cell remembers
        std::vector<cancellable> all;
        while (const auto made = rig.timers.schedule_once(ms(60'000), who, number{1}))
            all.push_back(*made);
        EXPECT_EQ(all.size(), timers);
        for (cancellable& c : all)
            EXPECT_TRUE(c.cancel());
    }
    const outcome said = rest.take();
    ASSERT_FALSE(said.has_value());
    EXPECT_EQ(said.error().code, scheduler_errc::capacity_exceeded);
}

TEST(delay, SC_13_is_cancelled_with_its_coroutine) {
    sleeping_rig r;
    r.ask_for(ms(10));
    EXPECT_EQ(r.rig.world.timers()->active_count(), 1u);
    (void)r.rig.world.stop(r.who.any().index());
    r.rig.run();
    EXPECT_EQ(r.rig.world.timers()->active_count(), 0u);
    r.rig.pass(20);
    EXPECT_TRUE(r.said.empty());
    r.rig.end();
}

// SC-13: a scheduler that has closed refuses; the coroutine goes on.
TEST(delay, SC_13_after_the_end_of_the_scheduler_is_refused) {
    sleeping_rig r;
    (void)r.rig.world.timers()->close();
    r.ask_for(ms(1));
    ASSERT_EQ(r.said.size(), 1u);
    ASSERT_FALSE(r.said[0].has_value());
    EXPECT_EQ(r.said[0].error().code, scheduler_errc::closed);
    r.rig.end();
}

// SC-13, SH-3: one that was waiting when it closed is told so, and leaves nothing behind.
TEST(delay, SC_13_a_scheduler_that_closes_says_so) {
    sleeping_rig r;
    r.ask_for(ms(5));
    (void)r.rig.world.timers()->close();
    r.rig.run();
    ASSERT_EQ(r.said.size(), 1u);
    ASSERT_FALSE(r.said[0].has_value());
    EXPECT_EQ(r.said[0].error().code, scheduler_errc::closed);
    r.rig.pass(10);
    EXPECT_EQ(r.said.size(), 1u);
    r.rig.end();  // counts blocks
}

// ---- threads outside

TEST(delay_future, SC_13_is_ready_after_its_time_and_not_before) {
    actor_system system("demo");
    const auto begun = std::chrono::steady_clock::now();
    delay_future rest(system.scheduler(), ms(20));
    const bool waited = rest.wait();
    const auto took = std::chrono::steady_clock::now() - begun;
    EXPECT_TRUE(waited);
    EXPECT_GE(took, 20ms);
    const auto over = rest.poll();
    ASSERT_TRUE(over.has_value() && over->has_value());
    EXPECT_EQ((*over)->runs, 1u);
    EXPECT_EQ(system.scheduler().active_count(), 0u);
}

TEST(delay_future, SC_13_waits_no_longer_than_asked) {
    actor_system system("demo");
    delay_future rest(system.scheduler(), duration::from_s(3'600));
    EXPECT_FALSE(rest.wait(1ms));
    EXPECT_FALSE(rest.poll().has_value());
    delay_future moved = std::move(rest);
    EXPECT_EQ(system.scheduler().active_count(), 1u);
    {
        const delay_future last = std::move(moved);
    }
    EXPECT_EQ(system.scheduler().active_count(), 0u);
}

TEST(delay_future, SC_13_reports_the_refusal) {
    actor_system system("demo");
    delay_future rest(system.scheduler(), ms(0));
    EXPECT_TRUE(rest.wait());
    EXPECT_EQ(rest.poll()->error().code, scheduler_errc::invalid_delay);
}

// Whoever waits when the system ends is told.
TEST(delay_future, SC_13_says_closed_when_the_system_ends_first) {
    std::optional<actor_system> system(std::in_place, "demo");
    delay_future rest(system->scheduler(), duration::from_s(3'600));
    std::vector<std::thread> waiting;
    for (int i = 0; i < 2; ++i)
        waiting.emplace_back([&rest] { EXPECT_TRUE(rest.wait()); });
    system.reset();
    for (std::thread& t : waiting)
        t.join();
    ASSERT_TRUE(rest.poll().has_value() && !rest.poll()->has_value());
    EXPECT_EQ(rest.poll()->error().code, scheduler_errc::closed);
}

// SC-13, CN-2: its end against its time, on another thread.
TEST(delay_future, SC_13_may_end_at_the_moment_it_is_due) {
    actor_system system("demo");
    std::thread threads[2];
    for (std::thread& t : threads) {
        t = std::thread([&system] {
            for (int i = 0; i < 300; ++i) {
                const delay_future rest(system.scheduler(), duration::from_us(100));
                std::this_thread::sleep_for(std::chrono::microseconds(900 + i % 100));
            }
        });
    }
    for (std::thread& t : threads)
        t.join();
    EXPECT_EQ(system.scheduler().active_count(), 0u);
    // Who tells gives the cell back when it has told.
    EXPECT_TRUE(until([&] { return system.scheduler().cell_count() == 0; }));
}

}  // namespace
