// SPDX-License-Identifier: Apache-2.0
//
// Threads for workers: names, signals, and an orderly end.
#include <tactus/runtime/work_stealing_pool.hpp>

#include <csignal>
#include <utility>

#include <pthread.h>

namespace tactus::inline v0::runtime {
namespace {

TACTUS_CHECK_MODULE("work_stealing_pool");

constexpr std::size_t name_max = 15;  // what Linux keeps

std::string thread_name(const std::string& prefix, std::uint32_t number) {
    std::string suffix = "-";
    suffix += std::to_string(number);
    std::string name = prefix.substr(0, name_max - suffix.size());
    name += suffix;
    return name;
}

/// Threads inherit the mask: while this lives, new ones block every signal.
class signals_blocked {
public:
    signals_blocked() {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    ~signals_blocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    signals_blocked(const signals_blocked&) = delete;
    signals_blocked& operator=(const signals_blocked&) = delete;

private:
    sigset_t before_;
};

}  // namespace

work_stealing_pool::work_stealing_pool(actor_scheduler& system, const options& o)
    : system_(system) {
    const signals_blocked blocked;
    threads_.reserve(system.worker_count());
    for (std::uint32_t i = 0; i < system.worker_count(); ++i) {
        threads_.emplace_back([this, i] { system_.run_until(system_.worker_at(i), stop_); });
        pthread_setname_np(threads_.back().native_handle(), thread_name(o.name, i).c_str());
    }
}

work_stealing_pool::~work_stealing_pool() {
    if (!threads_.empty())
        force_stop();
}

bool work_stealing_pool::drained() const {
    return system_.drained() && system_.order().idle().sleeping_count() == system_.worker_count();
}

void work_stealing_pool::join() {
    stop_.store(1, std::memory_order_relaxed);
    for (std::thread& t : threads_) {
        // Until it is seen: a worker may be between its look and its sleep.
        system_.wake_workers();
        t.join();
    }
    threads_.clear();
}

bool work_stealing_pool::shut_down(std::chrono::nanoseconds limit) {
    using steady = std::chrono::steady_clock;
    if (threads_.empty())
        return true;
    const worker* own = worker::current();
    TACTUS_CHECK(1, own == nullptr || &own->system() != &system_);
    system_.begin_stop();
    // For ever is a limit too.
    const steady::time_point now = steady::now();
    const steady::time_point until =
        limit < steady::time_point::max() - now ? now + limit : steady::time_point::max();
    bool in_time = drained();
    while (!in_time && steady::now() < until) {
        std::this_thread::sleep_for(std::chrono::microseconds(200));
        in_time = drained();
    }
    join();
    worker& w = system_.worker_at(0);
    const worker::binding bound(w);
    system_.finish_stop(w);
    return in_time;
}

}  // namespace tactus::inline v0::runtime
