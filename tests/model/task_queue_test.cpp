// SPDX-License-Identifier: Apache-2.0
//
// Task queue: each task once, in order of its sender, with what was done before (MC-3).
//
// Bounds: two threads without a bound, three with three preemptions.
#include <tactus/dispatch/task.hpp>

#include <array>
#include <optional>

#include "scenario.hpp"

namespace port = tactus::port;
namespace model = tactus::port::model;

namespace {

struct numbered final : tactus::task {
    port::plain<unsigned> payload{0};
    unsigned runs = 0;
    [[nodiscard]] tactus::handled run() noexcept override {
        ++runs;
        model::require(payload.read() == 1);
        return tactus::handled::ok();
    }
};

void pushed_and_popped(unsigned poppers) {
    tactus::task_queue queue;
    std::array<numbered, 2> tasks;
    const auto pop = [&] {
        if (tactus::task* t = queue.pop())
            (void)t->run();
    };
    {
        model::thread a(pop);
        std::optional<model::thread> b;
        if (poppers == 2)
            b.emplace(pop);
        for (numbered& t : tasks) {
            t.payload.write(1);
            queue.push(t);
        }
        pop();
    }
    while (!queue.empty())
        pop();
    model::require(tasks[0].runs == 1 && tasks[1].runs == 1);
}

}  // namespace

TACTUS_MODEL_TEST(task_queue, MC3_each_task_once, scenario::every_interleaving()) {
    pushed_and_popped(1);
}
TACTUS_MODEL_TEST(task_queue, MC3_each_task_once_two_workers, scenario::preempted(3)) {
    pushed_and_popped(2);
}
