// SPDX-License-Identifier: Apache-2.0
//
// Each thread has one queue: whoever finds nobody at work there works until it is empty.
#include <tactus/runtime/calling_thread.hpp>

#include <tactus/scheduler/scheduler.hpp>

namespace tactus::inline v0::runtime {
namespace {

struct at_work {
    worker_task_queue queue;
    bool running = false;
};

/// While it lives, this thread works.
class working {
public:
    explicit working(at_work& here) : here_(here) { here_.running = true; }
    ~working() { here_.running = false; }
    working(const working&) = delete;
    working& operator=(const working&) = delete;

private:
    at_work& here_;
};

}  // namespace

bool calling_thread::submit(worker_task& t, const submit_hints&) noexcept {
    if (of_ != nullptr && scheduler::fires_here())
        return of_->execute(t);
    static thread_local at_work here;
    (void)here.queue.push(t);  // it is never closed
    if (here.running)
        return true;
    const working now(here);
    while (worker_task* next = here.queue.pop()) {
        if (!next->run().is_ok())
            failed_.fetch_add(1, std::memory_order_relaxed);  // a count
    }
    return true;
}

}  // namespace tactus::inline v0::runtime
