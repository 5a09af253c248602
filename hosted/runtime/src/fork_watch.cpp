// SPDX-License-Identifier: Apache-2.0
//
// The one handler of forks, and what it counts.
#include "fork_watch.hpp"

#include "log_flush.hpp"
#include "signal_watch.hpp"

#include <tactus/dispatch/system_table.hpp>
#include <tactus/dispatch/worker.hpp>
#include <tactus/port/port.hpp>

#include <cerrno>
#include <system_error>

#include <pthread.h>

namespace tactus::inline v0::runtime {
namespace {

// Relaxed, all of them: a child has one thread when they change there, and a parent only counts.
constinit port::atomic<std::uint32_t> forks{0};   // between the first system's process and this
constinit port::atomic<std::uint32_t> living{0};  // systems of this process

/// The child's only thread, in fork(). Touches no lock.
void forked() noexcept {
    forks.fetch_add(1, std::memory_order_relaxed);
    leave_signals_of_parent();  // its pipe outlives its systems
    leave_logs_of_parent();
    if (living.load(std::memory_order_relaxed) == 0)
        return;
    living.store(0, std::memory_order_relaxed);
    system_table::leave_all();
    worker::leave_thread();
}

void watch_forks() {
    static const int failed = ::pthread_atfork(nullptr, nullptr, [] { forked(); });
    if (failed != 0)
        throw std::system_error(failed, std::generic_category(), "no memory to watch for forks");
}

}  // namespace

fork_watch::fork_watch() : forks_(forks.load(std::memory_order_relaxed)) {
    if (system_table::has_left())
        throw std::system_error(EPERM, std::generic_category(),
                                "cannot make an actor system in a forked child of a process that "
                                "had one: call exec first; see "
                                "docs/troubleshooting.md#a-system-does-not-start");
    watch_forks();
    living.fetch_add(1, std::memory_order_relaxed);
}

fork_watch::~fork_watch() {
    if (!in_child())
        living.fetch_sub(1, std::memory_order_relaxed);
}

bool fork_watch::in_child() const noexcept {
    return forks.load(std::memory_order_relaxed) != forks_;
}

}  // namespace tactus::inline v0::runtime
