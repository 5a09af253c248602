// SPDX-License-Identifier: Apache-2.0
//
// Task queue: each task once, in order of its sender, with what was done before (MC-3).
//
// Bounds: two threads without a bound, three with three preemptions.
#include <tactus/dispatch/worker_task.hpp>

#include <array>
#include <optional>

#include "scenario.hpp"

namespace port = tactus::port;
namespace model = tactus::port::model;

namespace {

struct numbered final : tactus::worker_task {
    port::plain<unsigned> payload{0};
    unsigned runs = 0;
    [[nodiscard]] tactus::handled run() noexcept override {
        ++runs;
        model::require(payload.read() == 1);
        return tactus::handled::ok();
    }
};

void pushed_and_popped(unsigned poppers) {
    tactus::worker_task_queue queue;
    std::array<numbered, 2> tasks;
    const auto pop = [&] {
        if (tactus::worker_task* t = queue.pop())
            (void)t->run();
    };
    {
        model::thread a(pop);
        std::optional<model::thread> b;
        if (poppers == 2)
            b.emplace(pop);
        for (numbered& t : tasks) {
            t.payload.write(1);
            model::require(queue.push(t));
        }
        pop();
    }
    while (!queue.empty())
        pop();
    model::require(tasks[0].runs == 1 && tasks[1].runs == 1);
}

}  // namespace

// CO-5: a task that races the close is refused, or is there when it was closed.
TACTUS_MODEL_TEST(worker_task_queue, CO5_nothing_is_left_behind_by_a_close,
                  scenario::every_interleaving()) {
    tactus::worker_task_queue queue;
    std::array<numbered, 2> tasks;
    std::array<bool, 2> taken{};
    {
        model::thread submitter([&] {
            for (std::size_t i = 0; i < tasks.size(); ++i) {
                tasks[i].payload.write(1);
                taken[i] = queue.push(tasks[i]);
            }
        });
        queue.close();
        while (tactus::worker_task* t = queue.pop())
            (void)t->run();
    }
    model::require(queue.empty(), "nobody would look again");
    for (std::size_t i = 0; i < tasks.size(); ++i)
        model::require(tasks[i].runs == (taken[i] ? 1U : 0U));
}

TACTUS_MODEL_TEST(worker_task_queue, MC3_each_task_once, scenario::every_interleaving()) {
    pushed_and_popped(1);
}
TACTUS_MODEL_TEST(worker_task_queue, MC3_each_task_once_two_workers, scenario::preempted(3)) {
    pushed_and_popped(2);
}
