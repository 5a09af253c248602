// SPDX-License-Identifier: Apache-2.0
//
// Goal: threads that come and go: starvation, handlers that block, settings, states, and no cost
// when idle (EX-4, EX-5, EX-6, EX-9).
#include <tactus/runtime/blocking_section.hpp>
#include <tactus/runtime/dispatcher_threads.hpp>

#include <tactus/dispatch/dump.hpp>

#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <thread>

#include "dispatchers_rig.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using namespace std::chrono_literals;
using runtime::worker_state;
using tactus_test::counting_actor;
using tactus_test::dispatchers_rig;
using tactus_test::until;

namespace {

/// Holds its worker up until told otherwise.
struct gate {
    std::atomic<bool> entered{false};
    std::atomic<bool> open{false};
    void pass() {
        entered = true;
        while (!open.load())
            std::this_thread::sleep_for(1ms);
    }
};
struct blocker {
    gate* at;
    void receive(turn&, envelope&) { at->pass(); }
};
struct polite_blocker {
    gate* at;
    void receive(turn&, envelope&) {
        const runtime::blocking_section outer;
        const runtime::blocking_section inner;  // nests
        at->pass();
    }
};

double processor_seconds() {
    rusage use{};
    getrusage(RUSAGE_SELF, &use);
    const auto seconds = [](const timeval& t) {
        return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
    };
    return seconds(use.ru_utime) + seconds(use.ru_stime);
}

}  // namespace

// EX-5: work that waits while all workers are held up is told, and gets an extra worker, which ends
// after an idle second.
TEST(dispatcher_threads, EX_5_a_starving_dispatcher_gets_an_extra_worker) {
    gate held;
    std::atomic<std::uint64_t> count{0};
    dispatchers_rig rig({.workers = 1, .starvation_deadline = duration::from_ms(100)});
    const auto d = rig.all->first();
    const mailbox_index b = *rig.system.spawn<blocker>({}, &held);
    const mailbox_index a = *rig.system.spawn<counting_actor>({}, &count);
    actor_scheduler::tell(b, 1);
    ASSERT_TRUE(until([&] { return held.entered.load(); }));
    std::this_thread::sleep_for(300ms);
    EXPECT_EQ(rig.events.starved.load(), 0u);  // nothing waits
    const auto begin = std::chrono::steady_clock::now();
    actor_scheduler::tell(a, 1);
    EXPECT_TRUE(until([&] { return count.load() == 1; }));
    EXPECT_GE(std::chrono::steady_clock::now() - begin, 50ms);
    EXPECT_EQ(rig.events.starved.load(), 1u);
    EXPECT_EQ(rig.events.last_starvation.waiting, 1u);
    EXPECT_EQ(rig.events.last_starvation.workers_busy, 1u);
    EXPECT_EQ(rig.events.dispatcher_number, 0u);
    EXPECT_EQ(d.report().extra_threads, 1u);
    EXPECT_FALSE(held.open.load());
    std::this_thread::sleep_for(500ms);
    EXPECT_EQ(d.report().extra_threads, 1u);
    EXPECT_TRUE(until([&] { return d.report().extra_threads == 0; }));
    EXPECT_GE(std::chrono::steady_clock::now() - begin, 1s);
    held.open = true;
}

// EX-5: a queue that moves too slowly starves what is at its end, although each handler is shorter
// than the deadline.
TEST(dispatcher_threads, EX_5_a_queue_that_moves_too_slowly_gets_an_extra_worker) {
    static std::atomic<int> done{0};
    done = 0;
    struct naps {
        void receive(turn&, envelope&) {
            std::this_thread::sleep_for(40ms);
            ++done;
        }
    };
    dispatchers_rig rig(
        {.workers = 1, .max_workers = 2, .starvation_deadline = duration::from_ms(60)});
    constexpr int actors = 16;
    for (int i = 0; i < actors; ++i)
        actor_scheduler::tell(*rig.system.spawn<naps>({}), 1);
    EXPECT_TRUE(until([&] { return rig.events.starved.load() != 0 || done == actors; }));
    EXPECT_LT(done.load(), actors);
    EXPECT_GT(rig.events.last_starvation.waiting, 4u);
    EXPECT_TRUE(until([&] { return rig.all->first().report().extra_threads == 1; }));
    EXPECT_TRUE(until([&] { return done == actors; }));
}

// EX-5: there is always something that waits, and nothing waits long: nobody starves.
TEST(dispatcher_threads, EX_5_a_queue_that_moves_does_not_starve) {
    struct goes_on {
        void receive(turn& t, envelope&) {
            std::this_thread::sleep_for(1ms);
            t.send(t.self(), 1);
        }
    };
    dispatchers_rig rig(
        {.workers = 1, .throughput = 1, .starvation_deadline = duration::from_ms(300)});
    for (int i = 0; i < 8; ++i)
        actor_scheduler::tell(*rig.system.spawn<goes_on>({}), 1);
    std::this_thread::sleep_for(1'200ms);
    EXPECT_EQ(rig.events.starved.load(), 0u);
    EXPECT_GT(rig.all->first().report().waiting, 4u);
}

// EX-5: tasks wait, too; a task that comes after a long sleep has not waited yet.
TEST(dispatcher_threads, EX_5_tasks_that_wait_are_told) {
    dispatchers_rig rig(
        {.workers = 1, .max_workers = 1, .starvation_deadline = duration::from_ms(200)});
    const auto d = rig.all->first();
    std::this_thread::sleep_for(500ms);
    gate held;
    worker_task_of first([&] { held.pass(); });
    worker_task_of second([] {});
    ASSERT_TRUE(d.execute(first));
    ASSERT_TRUE(until([&] { return held.entered.load(); }));
    const auto begin = std::chrono::steady_clock::now();
    ASSERT_TRUE(d.execute(second));
    EXPECT_EQ(d.report().waiting, 1u);
    EXPECT_TRUE(until([&] { return rig.events.starved.load() == 1; }));
    EXPECT_GE(std::chrono::steady_clock::now() - begin, 100ms);
    EXPECT_EQ(rig.events.last_starvation.waiting, 1u);
    held.open = true;
    EXPECT_TRUE(until([&] { return d.report().waiting == 0; }));
}

// EX-5: never more than max_workers.
TEST(dispatcher_threads, EX_5_extra_workers_are_limited) {
    gate held;
    std::atomic<std::uint64_t> count{0};
    dispatchers_rig rig(
        {.workers = 1, .max_workers = 2, .starvation_deadline = duration::from_ms(50)});
    for (int i = 0; i < 2; ++i)
        actor_scheduler::tell(*rig.system.spawn<blocker>({}, &held), 1);
    actor_scheduler::tell(*rig.system.spawn<counting_actor>({}, &count), 1);
    EXPECT_TRUE(until([&] { return rig.events.starved.load() >= 4; }));
    EXPECT_EQ(rig.all->first().report().threads, 2u);
    EXPECT_EQ(count.load(), 0u);
    held.open = true;
    EXPECT_TRUE(until([&] { return count.load() == 1; }));
}

// EX-5: a limit set while running counts from the next sample; max: nobody looks.
TEST(dispatcher_threads, EX_5_the_deadline_can_be_changed) {
    gate held;
    std::atomic<std::uint64_t> count{0};
    dispatchers_rig rig({.workers = 1, .starvation_deadline = duration::max()});
    actor_scheduler::tell(*rig.system.spawn<blocker>({}, &held), 1);
    ASSERT_TRUE(until([&] { return held.entered.load(); }));
    actor_scheduler::tell(*rig.system.spawn<counting_actor>({}, &count), 1);
    std::this_thread::sleep_for(100ms);
    EXPECT_EQ(rig.events.starved.load(), 0u);
    rig.all->first().set_starvation_deadline(duration::from_ms(20));
    EXPECT_TRUE(until([&] { return count.load() == 1; }));
    held.open = true;
}

// EX-5: a handler that says it blocks lends its place at once: before it blocks, and meanwhile.
TEST(dispatcher_threads, EX_5_a_blocking_section_lends_its_place) {
    gate held;
    std::atomic<std::uint64_t> count{0};
    dispatchers_rig rig({.workers = 1, .starvation_deadline = duration::from_s(100)});
    const auto d = rig.all->first();
    const mailbox_index b = *rig.system.spawn<polite_blocker>({}, &held);
    const mailbox_index a = *rig.system.spawn<counting_actor>({}, &count);
    actor_scheduler::tell(b, 1);
    ASSERT_TRUE(until([&] { return held.entered.load(); }));
    EXPECT_EQ(d.report().blocking, 1u);
    EXPECT_EQ(d.report().threads, 1u);  // nothing waits
    const auto begin = std::chrono::steady_clock::now();
    actor_scheduler::tell(a, 1);
    EXPECT_TRUE(until([&] { return count.load() == 1; }));
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 10s);
    EXPECT_EQ(d.report().extra_threads, 1u);
    held.open = true;
    EXPECT_TRUE(until([&] { return d.report().blocking == 0; }));
    EXPECT_EQ(rig.events.starved.load(), 0u);
    EXPECT_TRUE(rig.all->shut_down(10s));
}

// EX-5: what it made ready before it blocked, and kept to itself, runs elsewhere; also what waits
// already.
TEST(dispatcher_threads, EX_5_what_the_blocking_handler_sent_runs_elsewhere) {
    static mailbox_index to;
    static gate held;
    struct sends_then_blocks {
        void receive(turn& t, envelope&) {
            t.send(to, 1);  // its next place
            const runtime::blocking_section here;
            held.pass();
        }
    };
    std::atomic<std::uint64_t> count{0};
    dispatchers_rig rig({.workers = 1, .starvation_deadline = duration::from_s(100)});
    to = *rig.system.spawn<counting_actor>({}, &count);
    actor_scheduler::tell(to, 0);  // not fresh any more
    ASSERT_TRUE(until([&] { return count.load() == 1; }));
    actor_scheduler::tell(*rig.system.spawn<sends_then_blocks>({}), 1);
    EXPECT_TRUE(until([&] { return count.load() == 2; }));
    EXPECT_FALSE(held.open.load());
    held.open = true;
}

// EX-5: many sections at once, on more actors than threads: nobody waits for ever, nothing is lost.
TEST(dispatcher_threads, EX_5_blocking_sections_by_the_thousand) {
    static std::atomic<std::uint64_t> done{0};
    done = 0;
    struct naps {
        void receive(turn&, envelope&) {
            {
                const runtime::blocking_section here;
                std::this_thread::sleep_for(20us);
            }
            ++done;
        }
    };
    const std::uint64_t each = tactus_test::sized(5'000, 10);
    dispatchers_rig rig({.workers = 2, .max_workers = 6});
    std::vector<mailbox_index> actors;
    for (int i = 0; i < 8; ++i)
        actors.push_back(*rig.system.spawn<naps>({}));
    for (std::uint64_t i = 0; i < each; ++i) {
        for (const mailbox_index a : actors)
            actor_scheduler::tell(a, 1);
        if (i % 64 == 0)
            std::this_thread::sleep_for(1ms);
    }
    EXPECT_TRUE(until([&] { return done.load() == 8 * each; }));
    EXPECT_EQ(rig.all->first().report().blocking, 0u);
    EXPECT_LE(rig.all->first().report().threads, 6u);
    EXPECT_TRUE(rig.all->shut_down(10s));
}

TEST(dispatcher_threads, EX_5_a_blocking_section_outside_of_workers_does_nothing) {
    const runtime::blocking_section here;
    const runtime::blocking_section again;
    EXPECT_EQ(worker::current(), nullptr);
}

// EX-9: a worker is running, parked, draining or stopped.
TEST(dispatcher_threads, EX_9_states_are_visible) {
    gate held;
    dispatchers_rig rig({.workers = 1});
    const auto d = rig.all->first();
    EXPECT_TRUE(until([&] { return d.state_of(0) == worker_state::parked; }));
    EXPECT_EQ(d.state_of(1), worker_state::stopped);
    actor_scheduler::tell(*rig.system.spawn<blocker>({}, &held), 1);
    ASSERT_TRUE(until([&] { return held.entered.load(); }));
    EXPECT_EQ(d.state_of(0), worker_state::running);
    // And so in dumps.
    struct text final : text_sink {
        void write(std::string_view piece) noexcept override { all += piece; }
        std::string all;
    };
    text plain;
    dump_dispatchers(rig.system, plain);
    EXPECT_NE(plain.all.find("worker 0: running, runs "), std::string::npos) << plain.all;
    EXPECT_NE(plain.all.find("worker 1: stopped, runs none"), std::string::npos) << plain.all;
    text json;
    dump_dispatchers(rig.system, json, {.format = dump_format::json});
    EXPECT_NE(json.all.find("\"worker\":1,\"state\":\"stopped\",\"runs\":null"), std::string::npos)
        << json.all;
    std::thread ends([&] { rig.all->force_stop(); });
    EXPECT_TRUE(until([&] { return d.state_of(0) == worker_state::draining; }));
    held.open = true;
    ends.join();
    EXPECT_EQ(d.state_of(0), worker_state::stopped);
    EXPECT_STREQ(name_of(worker_state::spawned), "spawned");
    EXPECT_STREQ(name_of(worker_state::draining), "draining");
}

// EX-6: affinity and stack size are settings.
TEST(dispatcher_threads, EX_6_affinity_and_stack_size_are_kept) {
    static std::atomic<std::size_t> stack{0};
    static std::atomic<int> processors{0};
    static std::atomic<bool> on_the_first{false};
    struct looks {
        void receive(turn&, envelope&) {
            pthread_attr_t how;
            pthread_getattr_np(pthread_self(), &how);
            std::size_t size = 0;
            pthread_attr_getstacksize(&how, &size);
            pthread_attr_destroy(&how);
            cpu_set_t set;
            pthread_getaffinity_np(pthread_self(), sizeof set, &set);
            on_the_first = CPU_ISSET(0, &set);
            processors = CPU_COUNT(&set);
            stack = size;
        }
    };
    dispatchers_rig rig;
    const auto d = rig.all->add({.id = "d",
                                 .config = {.workers = 1},
                                 .threads = {.affinity = {0}, .stack_bytes = 256 * 1024}});
    ASSERT_TRUE(d);
    actor_scheduler::tell(*rig.system.spawn<looks>({.dispatcher = d->number()}), 1);
    ASSERT_TRUE(until([&] { return stack.load() != 0; }));
    // A sanitizer adds to it; the usual size is megabytes.
    EXPECT_GE(stack.load(), 256u * 1024u);
    EXPECT_LT(stack.load(), 2u * 1024u * 1024u);
    EXPECT_EQ(processors.load(), 1);
    EXPECT_TRUE(on_the_first.load());
}

// EX-4: nothing to do costs nothing, with a housekeeper and several dispatchers, one of which
// rests.
TEST(dispatcher_threads, EX_4_idle_dispatchers_use_no_processor_time) {
    const auto idle_for = tactus_test::long_run() ? 10s : 2s;
    std::atomic<std::uint64_t> count{0};
    dispatchers_rig rig({.workers = 4});
    ASSERT_TRUE(rig.all->add({.id = "a", .config = {.executor = executor_kind::thread_pool}}));
    ASSERT_TRUE(rig.all->add(
        {.id = "b", .config = {.workers = 2, .shutdown_timeout = duration::from_ms(50)}}));
    for (const std::uint32_t n : {0u, 1u})
        actor_scheduler::tell(*rig.system.spawn<counting_actor>({.dispatcher = n}, &count), 1);
    ASSERT_TRUE(until([&] { return count.load() == 2; }));
    ASSERT_TRUE(until([&] { return rig.all->find("b")->report().threads == 0; }));
    std::this_thread::sleep_for(1'200ms);  // two samples later everybody sleeps
    const double before = processor_seconds();
    std::this_thread::sleep_for(idle_for);
    EXPECT_LT(processor_seconds() - before, 0.010);
}
