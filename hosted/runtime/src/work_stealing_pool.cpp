// SPDX-License-Identifier: Apache-2.0
//
// The threads of one dispatcher, and the end of its system.
#include <tactus/runtime/work_stealing_pool.hpp>

#include "wait_until.hpp"

namespace tactus::inline v0::runtime {
namespace {

TACTUS_CHECK_MODULE("work_stealing_pool");

}  // namespace

work_stealing_pool::work_stealing_pool(actor_scheduler& system, const options& o)
    : system_(system),
      threads_(system, *system.dispatcher_at(0), {.system_name = o.name, .id = ""}) {
    (void)threads_.start();
}

work_stealing_pool::~work_stealing_pool() {
    if (!ended_)
        force_stop();
}

bool work_stealing_pool::shut_down(std::chrono::nanoseconds limit) {
    if (ended_)
        return true;
    const worker* own = worker::current();
    TACTUS_CHECK(1, own == nullptr || &own->system() != &system_);
    system_.begin_stop();
    const bool in_time = wait_until(limit, [this] { return threads_.idle(); });
    threads_.stop();
    worker& w = system_.worker_at(0);
    const worker::binding bound(w);
    system_.finish_stop(w);
    ended_ = true;
    return in_time;
}

}  // namespace tactus::inline v0::runtime
