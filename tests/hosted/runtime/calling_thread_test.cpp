// SPDX-License-Identifier: Apache-2.0
//
// Goal: actors that run on the thread that sends: nested sends are queued, failures end nothing
// (EX-3, TC-M40).
#include <tactus/runtime/calling_thread.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <thread>
#include <vector>

#include "dispatchers_rig.hpp"
#include "kernel_account.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using namespace std::chrono_literals;
using tactus_test::dispatchers_rig;

namespace {

constexpr dispatcher_config on_caller{.executor = executor_kind::calling_thread};

}  // namespace

// TC-M40, EX-3
TEST(calling_thread, TC_M40_a_task_submitted_by_a_task_runs_after_it) {
    runtime::calling_thread here;
    std::vector<int> order;
    worker_task_of inner([&] { order.push_back(2); });
    worker_task_of outer([&] {
        EXPECT_TRUE(here.submit(inner, {}));
        order.push_back(1);
    });
    EXPECT_TRUE(here.submit(outer, {}));
    EXPECT_EQ(order, (std::vector<int>{1, 2}));
}

// TC-M40, EX-3: a task that fails releases the guard.
TEST(calling_thread, TC_M40_a_task_that_fails_holds_nobody_up) {
    runtime::calling_thread here;
    int ran = 0;
    worker_task_of next([&] { ++ran; });
    worker_task_of fails([&] {
        EXPECT_TRUE(here.submit(next, {}));
        throw std::runtime_error("fails");
    });
    EXPECT_TRUE(here.submit(fails, {}));
    EXPECT_EQ(ran, 1);
    EXPECT_EQ(here.failed_count(), 1u);
    EXPECT_TRUE(here.submit(next, {}));
    EXPECT_EQ(ran, 2);
}

// EX-2: handled when tell returns, on this thread.
TEST(calling_thread, EX_2_a_message_is_handled_within_the_send) {
    static std::thread::id on;
    struct looks {
        void receive(turn&, envelope&) { on = std::this_thread::get_id(); }
    };
    dispatchers_rig rig;
    const auto d = rig.all->add({.id = "c", .config = on_caller});
    const mailbox_index a = *rig.system.spawn<looks>({.dispatcher = d->number()});
    actor_scheduler::tell(a, 1);
    EXPECT_EQ(on, std::this_thread::get_id());
    EXPECT_EQ(worker::current(), nullptr);
    EXPECT_TRUE(rig.system.stop(a));
    EXPECT_EQ(rig.system.live_count(), 0u);
}

// EX-3: what a handler sends is handled after it; from a worker of another dispatcher, too.
TEST(calling_thread, EX_3_nested_sends_are_queued) {
    static std::vector<int> log;
    static std::atomic<int> logged{0};
    static mailbox_index to;
    struct outer {
        void receive(turn& t, envelope&) {
            t.send(to, 1);
            t.send(to, 1);
            log.push_back(1);
            ++logged;
        }
    };
    struct inner {
        void receive(turn&, envelope&) { log.push_back(2); }
    };
    dispatchers_rig rig;
    const auto d = rig.all->add({.id = "c", .config = on_caller});
    to = *rig.system.spawn<inner>({.dispatcher = d->number()});
    actor_scheduler::tell(*rig.system.spawn<outer>({.dispatcher = d->number()}), 1);
    EXPECT_EQ(log, (std::vector<int>{1, 2, 2}));
    log.clear();
    actor_scheduler::tell(*rig.system.spawn<outer>({}), 1);  // a thread of the first dispatcher
    EXPECT_TRUE(tactus_test::until([&] { return logged.load() == 2; }));
    EXPECT_EQ(log, (std::vector<int>{2, 2, 1}));  // each send ran it
}

// Many threads: one of them runs the worker at a time, and nothing is lost.
TEST(calling_thread, EX_2_many_senders_are_one_after_the_other) {
    tactus_test::account book;
    const std::uint64_t each = tactus_test::sized(100'000, 10);
    dispatchers_rig rig;
    const auto d = rig.all->add({.id = "c", .config = on_caller});
    const mailbox_index a =
        *rig.system.spawn<tactus_test::accountant>({.dispatcher = d->number()}, &book);
    tactus_test::in_threads(4, [&](unsigned t) {
        for (std::uint64_t i = 0; i < each; ++i)
            actor_scheduler::tell(a, tactus_test::item{t, i});
    });
    EXPECT_TRUE(tactus_test::until([&] { return book.handled_count.load() == 4 * each; }));
    EXPECT_EQ(book.overlaps.load(), 0u);
    EXPECT_EQ(book.order_errors, 0u);
}

// DF-47: a thread that finds nothing to run has given the worker away; another one may be running a
// handler that sends. ThreadSanitizer sees whether the first still reads what the second writes.
TEST(calling_thread, DF_47_many_threads_run_a_handler_that_sends) {
    struct relay {
        mailbox_index to;
        void receive(turn& t, envelope& e) { t.send(to, *e.get_if<tactus_test::item>()); }
    };
    tactus_test::account book;
    const std::uint64_t each = tactus_test::sized(100'000, 10);
    dispatchers_rig rig;
    const auto d = rig.all->add({.id = "c", .config = on_caller});
    const mailbox_index end =
        *rig.system.spawn<tactus_test::accountant>({.dispatcher = d->number()}, &book);
    const mailbox_index a = *rig.system.spawn<relay>({.dispatcher = d->number()}, end);
    tactus_test::in_threads(4, [&](unsigned t) {
        for (std::uint64_t i = 0; i < each; ++i)
            actor_scheduler::tell(a, tactus_test::item{t, i});
    });
    EXPECT_TRUE(tactus_test::until([&] { return book.handled_count.load() == 4 * each; }));
    EXPECT_EQ(book.overlaps.load(), 0u);
    EXPECT_EQ(book.order_errors, 0u);
}
