// SPDX-License-Identifier: Apache-2.0
//
// Threads inherit the mask: while this lives, new ones block every signal (UP-7) but those that an
// instruction of theirs raises. The system ends the process at once when one of these is blocked,
// without the handler that the program, or log_flush, has for it.
#pragma once

#include <csignal>

#include <pthread.h>

namespace tactus::inline v0::runtime {

class signals_blocked {
public:
    signals_blocked() {
        sigset_t all;
        sigfillset(&all);
        for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS})
            sigdelset(&all, number);
        pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    ~signals_blocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    signals_blocked(const signals_blocked&) = delete;
    signals_blocked& operator=(const signals_blocked&) = delete;

private:
    sigset_t before_;
};

}  // namespace tactus::inline v0::runtime
