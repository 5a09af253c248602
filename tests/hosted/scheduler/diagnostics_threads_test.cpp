// SPDX-License-Identifier: Apache-2.0
//
// Goal: threads publish, poll, subscribe and leave at the same time (SD-2). Method: each publisher
// numbers its events; a subscriber sees those of one publisher in order, and what it saw and what
// it lost are together what was published. For ThreadSanitizer, too.
#include <tactus/scheduler/diagnostics.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <thread>
#include <vector>

namespace tactus {
namespace {

class heap final : public memory_source {
public:
    [[nodiscard]] void* allocate(std::size_t size, std::size_t alignment) noexcept override {
        return std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
    }
    void release(void* block, std::size_t, std::size_t) noexcept override { std::free(block); }
};

struct counted_warnings final : scheduler_listener {
    void warned(const scheduler_warning&) noexcept override {
        count.fetch_add(1, std::memory_order_relaxed);
    }
    std::atomic<unsigned> count{0};
};

constexpr std::uint64_t publishers = 2;
constexpr std::uint64_t events = 20'000;

struct seen {
    std::uint64_t last[publishers] = {};
    std::uint64_t count = 0;
    bool in_order = true;

    void take(const diagnostic& d) {
        if (d.kind == diagnostic_kind::diagnostics_overflow)
            return;
        in_order = in_order && d.job > last[d.executor];
        last[d.executor] = d.job;
        ++count;
    }
};

/// One thread at a time calls it: what it has is plain.
struct reading final : diagnostic_reader {
    void read(const diagnostic& what) noexcept override { by.take(what); }
    seen by;
};

TEST(diagnostics_threads, what_is_seen_and_what_is_lost_is_what_was_published) {
    heap memory;
    diagnostics hub(memory);
    counted_warnings warnings;
    auto quick = *hub.subscribe(diagnostic_kind::fire, 256);
    auto slow = *hub.subscribe(diagnostic_kind::fire, 8);
    reading reader;
    auto read = *hub.subscribe(diagnostic_kind::fire, 64, &reader);
    std::atomic<unsigned> running{publishers};
    const auto watch = [&](diagnostics::subscription& s, std::size_t at_once, seen& into) {
        std::array<diagnostic, 64> room;
        for (bool last = false; !last;) {
            last = running.load(std::memory_order_acquire) == 0;
            while (const std::size_t n = s.drain(std::span(room).first(at_once))) {
                for (std::size_t i = 0; i < n; ++i)
                    into.take(room[i]);
            }
        }
    };
    seen by_quick;
    seen by_slow;
    {
        std::vector<std::jthread> threads;
        for (std::uint16_t p = 0; p < publishers; ++p) {
            threads.emplace_back([&, p] {
                for (std::uint64_t i = 1; i <= events; ++i) {
                    if (hub.publish({.kind = diagnostic_kind::fire, .executor = p, .job = i}))
                        hub.tell(warnings, {});
                }
                running.fetch_sub(1, std::memory_order_release);
            });
        }
        threads.emplace_back([&] { watch(quick, 64, by_quick); });
        threads.emplace_back([&] { watch(slow, 1, by_slow); });
        // Somebody comes and goes, and another looks.
        threads.emplace_back([&] {
            while (running.load(std::memory_order_acquire) != 0) {
                auto guest = *hub.subscribe(diagnostic_kinds::all(), 4);
                (void)guest.poll();
                diagnostics::subscriber who[3];
                const auto counts = hub.look(who);
                EXPECT_EQ(counts.subscribers, 4u);
            }
        });
    }
    EXPECT_TRUE(by_quick.in_order);
    EXPECT_TRUE(by_slow.in_order);
    EXPECT_TRUE(reader.by.in_order);
    EXPECT_EQ(by_quick.count + quick.dropped(), publishers * events);
    EXPECT_EQ(by_slow.count + slow.dropped(), publishers * events);
    EXPECT_EQ(reader.by.count + read.dropped(), publishers * events);
    EXPECT_GE(hub.look().dropped, quick.dropped() + slow.dropped());
}

}  // namespace
}  // namespace tactus
