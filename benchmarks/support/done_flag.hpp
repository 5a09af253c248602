// SPDX-License-Identifier: Apache-2.0
//
// How the main thread of a benchmark learns that the actors are done, and what is sent in it.
#pragma once

#include <atomic>
#include <cstdint>

namespace bench {

/// Tells the main thread that the work is done.
class done_flag {
public:
    void set() { flag_.store(1, std::memory_order_release), flag_.notify_one(); }
    void wait() {
        flag_.wait(0, std::memory_order_acquire);
        flag_.store(0, std::memory_order_relaxed);
    }

private:
    std::atomic<int> flag_{0};
};
inline done_flag done;

struct number {
    std::uint64_t value;
};
struct go {
    std::uint64_t count;
};

}  // namespace bench
