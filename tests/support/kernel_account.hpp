// SPDX-License-Identifier: Apache-2.0
//
// Books for stress tests: what was handled, in order and never twice at once, and what was not.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include <tactus/dispatch/turn.hpp>

namespace tactus_test {

struct item {
    std::uint32_t sender;
    std::uint64_t number;
};

/// What is not handled, counted.
class loss_counter final : public tactus::kernel_events {
public:
    void dead_letter(tactus::mailbox_index, tactus::envelope& e,
                     tactus::dead_letter_cause) noexcept override {
        ++letters;
        if (const item* i = e.get_if<item>())
            sum.fetch_add(i->number, std::memory_order_relaxed);
    }
    void message_lost(tactus::mailbox_index, const tactus::message_type&,
                      tactus::dead_letter_cause) noexcept override {
        ++lost;
    }
    void system_dead_letter(tactus::mailbox_index, tactus::system_message&) noexcept override {
        ++system;
    }
    void mailbox_closed(tactus::mailbox_index, std::size_t, std::size_t) noexcept override {
        ++closed;
    }
    void actor_failed(tactus::mailbox_index, const tactus::failure&) noexcept override { ++failed; }
    void deadline_missed(tactus::mailbox_index, std::int64_t) noexcept override {}

    std::atomic<std::uint64_t> letters{0};
    std::atomic<std::uint64_t> sum{0};
    std::atomic<std::uint64_t> lost{0};
    std::atomic<std::uint64_t> system{0};
    std::atomic<std::uint64_t> closed{0};
    std::atomic<std::uint64_t> failed{0};
};

/// Shared by the actors of a test; one actor writes its plain part at a time.
struct account {
    std::uint64_t next[16] = {};  // plain: the actor's own, handed from run to run
    std::uint64_t order_errors = 0;
    std::atomic<std::uint64_t> handled_count{0};
    std::atomic<std::uint64_t> sum{0};
    std::atomic<int> inside{0};
    std::atomic<std::uint64_t> overlaps{0};

    void take(const item& i) {
        if (inside.exchange(1) != 0)
            ++overlaps;
        // Per pair in order; what a close or another life took may be missing.
        if (i.number < next[i.sender])
            ++order_errors;
        next[i.sender] = i.number + 1;
        sum.fetch_add(i.number, std::memory_order_relaxed);
        inside.store(0);
        handled_count.fetch_add(1);
    }
};
struct accountant {
    account* to;
    void receive(tactus::turn&, tactus::envelope& e) { to->take(*e.get_if<item>()); }
};

inline std::uint64_t sum_below(std::uint64_t n) {
    return n * (n - 1) / 2;
}

template <class Body>
void in_threads(unsigned count, Body body) {
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < count; ++t)
        threads.emplace_back([&body, t] { body(t); });
    for (std::thread& t : threads)
        t.join();
}

}  // namespace tactus_test
