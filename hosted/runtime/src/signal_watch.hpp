// SPDX-License-Identifier: Apache-2.0
//
// Signal watch: SIGTERM and SIGINT become calls on a thread of its own (EV-3).
//
// The handler does what a handler may: it notes the first signal, and writes its number into a pipe
// that the thread reads. The first signal is told to all watches; the second ends the process at
// once with 128 + n. The same signal within 100 ms of the first is a repetition of it and ignored:
// timeout(1) and shells signal a process and its group. Without a watch the signals are as they
// were.
//
// A handler, and not a thread in sigwait(): that needs the signals blocked in every thread of the
// program, which is not ours to say.
//
// Thread safety: any thread. A call that goes on while its watch ends is waited for.
#pragma once

#include <functional>

namespace tactus::inline v0::runtime {

class signal_watch {
public:
    /// Throws std::system_error when there is no pipe or thread. `told` must not end any watch.
    explicit signal_watch(std::function<void(int number)> told);
    ~signal_watch();
    signal_watch(const signal_watch&) = delete;
    signal_watch& operator=(const signal_watch&) = delete;

    /// This thread is in a call of a watch, where none can be ended.
    [[nodiscard]] static bool calls_here() noexcept;

private:
    std::function<void(int)> told_;
    friend struct signal_watchers;
};

/// After fork(), in the child, which has no thread that reads the pipe, and whose pipe is the
/// parent's: the signals are what they were before the first watch, and a watch that is made here
/// opens a pipe of its own. Touches no lock.
void leave_signals_of_parent() noexcept;

}  // namespace tactus::inline v0::runtime
