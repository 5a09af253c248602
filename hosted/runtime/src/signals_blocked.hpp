// SPDX-License-Identifier: Apache-2.0
//
// Threads inherit the mask: while this lives, new ones block every signal (UP-7).
#pragma once

#include <csignal>

#include <pthread.h>

namespace tactus::inline v0::runtime {

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

}  // namespace tactus::inline v0::runtime
