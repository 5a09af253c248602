// SPDX-License-Identifier: Apache-2.0
//
// Goal: actors and tasks run when the loop says so, one after the other (EX-2, EX-3).
// Method: TC-M40 and calls from within a run.
#include <tactus/dispatch/inline_tick.hpp>

#include <cstdint>

#include "kernel_rig.hpp"
#include "portable_test.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using tactus_test::journal;
using tactus_test::kernel_rig;
using tactus_test::number;

namespace {

kernel_rig* current = nullptr;

}  // namespace

// TC-M40
TEST(inline_tick, TC_M40_a_task_that_submits_a_task_is_not_recursed) {
    kernel_rig rig;
    current = &rig;
    worker_task_of inner([] { journal().add(2); });
    worker_task_of outer([&] {
        EXPECT_TRUE((*current)->execute(inner));
        journal().add(1);
    });
    EXPECT_TRUE(rig->execute(outer));
    EXPECT_TRUE(journal().is({}));  // nothing runs before the loop says so
    EXPECT_EQ(rig.run(), 2u);
    EXPECT_TRUE(journal().is({1, 2}));
}

// EX-3: a nested submit is queued; running from within a run does nothing, and says so.
TEST(inline_tick, running_from_within_a_run_does_nothing) {
    kernel_rig rig;
    current = &rig;
    const mailbox_index a = rig.spawn(+[](turn& t, std::uint32_t n) {
        if (n < 3)
            t.send(t.self(), number{n + 1});
        EXPECT_FALSE(current->ticks->run_once());
        EXPECT_EQ(current->ticks->run_until_idle(), 0u);
    });
    rig.tell(a, {1});
    EXPECT_GE(rig.run(), 1u);
    EXPECT_TRUE(journal().is({1, 2, 3}));
    EXPECT_EQ(rig.ticks->nested_count(), 6u);
}

TEST(inline_tick, runs_no_more_than_it_was_asked) {
    kernel_rig rig([](kernel_rig::options& o) { o.throughput = 1; });
    const mailbox_index a = rig.spawn();
    rig.tell(a, {1, 2, 3, 4});
    EXPECT_EQ(rig.run(0), 0u);
    EXPECT_EQ(rig.run(3), 3u);
    EXPECT_TRUE(journal().is({1, 2, 3}));
    EXPECT_EQ(rig.run(), 1u);
    EXPECT_EQ(rig.run(), 0u);
}

TEST(inline_tick, a_failed_task_is_counted_and_the_guard_released) {
    kernel_rig rig;
    worker_task_of failing([]() -> handled { return handled::failed({"no", nullptr}); });
    worker_task_of fine([] { journal().add(1); });
    EXPECT_TRUE(rig->execute(failing));
    EXPECT_TRUE(rig->execute(fine));
    EXPECT_EQ(rig.run(), 2u);
    EXPECT_EQ(rig->failed_task_count(), 1u);
    EXPECT_TRUE(journal().is({1}));
}

TEST(inline_tick, tasks_run_in_order) {
    kernel_rig rig;
    worker_task_of a([] { journal().add(1); });
    worker_task_of b([] { journal().add(2); });
    worker_task_of c([] { journal().add(3); });
    for (worker_task* t : {static_cast<worker_task*>(&a), static_cast<worker_task*>(&b),
                           static_cast<worker_task*>(&c)})
        EXPECT_TRUE(rig->execute(*t));
    EXPECT_FALSE(rig->drained());
    EXPECT_EQ(rig.run(), 3u);
    EXPECT_TRUE(rig->drained());
    EXPECT_TRUE(journal().is({1, 2, 3}));
}

namespace {

/// Says what became of it.
class fateful final : public worker_task {
public:
    [[nodiscard]] handled run() noexcept override {
        ++runs;
        return handled::ok();
    }
    void dropped() noexcept override { ++drops; }
    unsigned runs = 0;
    unsigned drops = 0;
};

}  // namespace

// EX-1, EX-7, CO-5: a system that is being stopped takes no task, and says so.
TEST(inline_tick, EX_7_a_task_for_a_stopped_system_is_rejected_and_dropped) {
    kernel_rig rig;
    fateful before;
    fateful after;
    EXPECT_TRUE(rig.ticks->submit(before, {}));
    rig->begin_stop();
    EXPECT_FALSE(rig.ticks->submit(after, {}));
    EXPECT_FALSE(rig->execute(after));
    EXPECT_EQ(rig.run(), 1u);  // what was there is processed
    EXPECT_EQ(before.runs, 1u);
    EXPECT_EQ(after.drops, 0u);  // still the caller's
    task_waker w(*rig.ticks, after);
    w.wake();
    EXPECT_EQ(after.drops, 1u);
    EXPECT_EQ(rig->dropped_task_count(), 1u);
    rig.ticks->shut_down();
    EXPECT_FALSE(rig.ticks->submit(after, {}));
    EXPECT_EQ(after.runs, 0u);
}

// CO-5: tasks left when the draining ends are told so, each once.
TEST(inline_tick, CO_5_tasks_left_at_a_stop_by_force_are_dropped_and_counted) {
    fateful t[3];
    {
        kernel_rig rig;
        for (fateful& one : t)
            EXPECT_TRUE(rig->execute(one));
        rig.ticks->shut_down(1);
        EXPECT_EQ(rig->dropped_task_count(), 2u);
    }
    EXPECT_EQ(t[0].runs, 1u);
    EXPECT_EQ(t[0].drops, 0u);
    for (const fateful* one : {&t[1], &t[2]}) {
        EXPECT_EQ(one->runs, 0u);
        EXPECT_EQ(one->drops, 1u);
    }
    // Nor are they forgotten by a system that nobody shut down.
    fateful forgotten;
    {
        kernel_rig rig;
        EXPECT_TRUE(rig->execute(forgotten));
    }
    EXPECT_EQ(forgotten.drops, 1u);
}

// Two actors that send to each other for ever do not keep a third from running.
TEST(inline_tick, a_pair_that_never_stops_leaves_room_for_others) {
    kernel_rig rig;
    const mailbox_index echo = rig.spawn(+[](turn& t, std::uint32_t n) { t.reply(number{n}); });
    static mailbox_index partner;
    partner = echo;
    const mailbox_index start =
        rig.spawn(+[](turn& t, std::uint32_t n) { t.send(partner, number{n}); });
    const mailbox_index third = rig.spawn(+[](turn&, std::uint32_t) { journal().clear(); });
    rig.tell(start, {1});
    EXPECT_EQ(rig.run(10), 10u);
    rig.tell(third, {5});
    EXPECT_EQ(rig.run(200), 200u);
    EXPECT_LT(journal().count(), 200u);  // it ran, and began the count anew
}
