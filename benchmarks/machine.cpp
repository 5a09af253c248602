// SPDX-License-Identifier: Apache-2.0
//
// Question: how fast is this machine just now?
//
// Shared machines are slow when their neighbours are busy. Prints what an addition that waits for
// the one before takes (one cycle of the core, whatever it shares), and what it costs to touch
// three random cache lines of which two depend on the first: the least that cancelling one of n
// timers can cost in random order, since it must reach a node and its two neighbours. The hand-over
// is one cache line going from one core to another: the unit of everything two workers share, and
// from one hour to the next it differs by a factor of five where the cores are virtual.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <span>
#include <thread>
#include <vector>

#include <tactus/base/det_rng.hpp>
#include <tactus/runtime/virtual_memory.hpp>

#include "measure.hpp"

namespace {

struct node {
    std::uint64_t payload;
    std::uint32_t next;
    std::uint32_t prev;
    std::uint64_t rest[2];
};
static_assert(sizeof(node) == 32);

double dependent_addition() {
    constexpr std::uint64_t count = 200'000'000;
    std::uint64_t x = 1;
    return bench::measure(count,
                          [&] {
                              for (std::uint64_t i = 0; i < count; ++i)
                                  asm volatile("add $1, %0" : "+r"(x));
                          })
        .cpu_ns;
}

double three_lines(std::uint32_t n) {
    tactus::runtime::virtual_memory memory(std::size_t{n} * sizeof(node));
    if (!memory.resize(std::size_t{n} * sizeof(node)))
        return 0;
    auto* nodes = reinterpret_cast<node*>(memory.data());
    tactus::det_rng rng(7);
    std::vector<std::uint32_t> order(n);
    for (std::uint32_t i = 0; i < n; ++i) {
        nodes[i].next = static_cast<std::uint32_t>(rng.below(n));
        nodes[i].prev = static_cast<std::uint32_t>(rng.below(n));
        order[i] = i;
    }
    rng.shuffle(std::span(order));
    return bench::measure(n,
                          [&] {
                              for (const std::uint32_t i : order) {
                                  const node& at = nodes[i];
                                  nodes[at.next].payload = at.prev;
                                  nodes[at.prev].rest[0] = at.next;
                              }
                          })
        .cpu_ns;
}

/// The median of some short exchanges between two threads; 0 where there is one core.
double hand_over() {
    if (std::thread::hardware_concurrency() < 2)
        return 0;
    constexpr std::uint32_t rounds = 21;
    constexpr std::uint32_t steps = 20'000;
    alignas(128) std::atomic<std::uint32_t> line{0};
    // One writes the odd numbers, the other the even ones, each when the one before is there.
    const auto pass = [&line](std::uint32_t from, std::uint32_t to) {
        for (std::uint32_t i = from; i < to; i += 2) {
            while (line.load(std::memory_order_acquire) != i) {
            }
            line.store(i + 1, std::memory_order_release);
        }
    };
    std::thread other(pass, 1, rounds * steps);
    std::vector<double> times;
    for (std::uint32_t r = 0; r < rounds; ++r) {
        const auto start = std::chrono::steady_clock::now();
        pass(r * steps, (r + 1) * steps);
        const std::chrono::duration<double, std::nano> took =
            std::chrono::steady_clock::now() - start;
        times.push_back(took.count() / steps);
    }
    other.join();
    std::ranges::nth_element(times, times.begin() + rounds / 2);
    return times[rounds / 2];
}

}  // namespace

int main() {
    std::printf(
        "machine: dependent addition %.2f ns; three random lines %.1f ns at 10^5, %.1f ns at "
        "10^6; line to the other core %.0f ns\n",
        dependent_addition(), three_lines(100'000), three_lines(1'000'000), hand_over());
}
