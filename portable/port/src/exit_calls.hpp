// SPDX-License-Identifier: Apache-2.0
//
// What a thread calls when it ends: at_thread_exit of ports that have threads.
#pragma once

#include <vector>

namespace tactus::inline v0::port {

/// One per thread, thread_local. Last registered first; a call may register another.
class exit_calls {
public:
    exit_calls() = default;
    exit_calls(const exit_calls&) = delete;
    exit_calls& operator=(const exit_calls&) = delete;
    ~exit_calls() {
        while (!entries_.empty()) {
            const entry last = entries_.back();
            entries_.pop_back();
            last.call(last.with);
        }
    }

    void add(void (*call)(void*) noexcept, void* with) { entries_.push_back({call, with}); }

private:
    struct entry {
        void (*call)(void*) noexcept;
        void* with;
    };
    std::vector<entry> entries_;
};

}  // namespace tactus::inline v0::port
