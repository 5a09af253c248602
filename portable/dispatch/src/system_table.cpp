// SPDX-License-Identifier: Apache-2.0
//
// The one table of systems in a process, and its visitors.
#include <tactus/dispatch/system_table.hpp>

#include <utility>

namespace tactus::inline v0 {
namespace {

struct entry {
    // "visit": a visitor counts itself, then looks for the system; a system that ends takes itself
    // out, then looks for visitors. Both change the count: who comes second knows what the first
    // did before. What visitors did happens before the system's end.
    port::atomic<actor_scheduler*> system{nullptr};
    port::atomic<std::uint32_t> visitors{0};
    // Under the lock.
    port::plain<std::uint32_t> next_generation{1};  // 0: used up
    port::plain<bool> claimed{false};
};
constexpr port::edge visiting{"system-visit"};
constexpr std::uint32_t awaited = 1U << 31;  // of visitors: somebody waits until there is none

/// The visits of a thread, one within the other.
struct inside {
    system_table::visit* innermost = nullptr;
};

// The braces are for g++ 12, which forgets the initial values of an array of cells without them.
constinit entry table[system_table::number_count]{};
constinit port::atomic<std::uint32_t> refused{0};
constinit port::atomic<std::uint32_t> left{0};  // relaxed: its process had one thread then
constinit port::mutex table_mutex;
constinit port::plain<std::uint32_t> last_claimed{0};

}  // namespace

std::uint32_t system_table::claim(std::uint32_t& first_generation) noexcept {
    const port::lock_guard held(table_mutex);
    for (std::uint32_t n = 1; n < number_count; ++n) {
        // In turn, so that a number rests as long as it can.
        const std::uint32_t number = (last_claimed.read() + n - 1) % (number_count - 1) + 1;
        entry& e = table[number];
        if (e.claimed.read() || e.next_generation.read() == 0)
            continue;
        e.claimed.write(true);
        last_claimed.write(number);
        first_generation = e.next_generation.read();
        return number;
    }
    return 0;
}

void system_table::publish(std::uint32_t number, actor_scheduler& system) noexcept {
    table[number].system.store(&system, visiting.release());
}

void system_table::withdraw(std::uint32_t number) noexcept {
    for (const visit* v = port::thread_instance<inside>().innermost; v != nullptr; v = v->outer_)
        TACTUS_CHECK(1, v->number_ != number);
    entry& e = table[number];
    e.system.store(nullptr, std::memory_order_relaxed);  // published by the count
    // The last visitor to leave wakes who waits here.
    std::uint32_t seen = e.visitors.fetch_or(awaited, visiting.acq_rel()) | awaited;
    while (seen != awaited) {
        (void)port::wait_on(e.visitors, seen, -1);
        seen = e.visitors.load(visiting.acquire());
    }
    e.visitors.fetch_and(~awaited, std::memory_order_relaxed);  // visitors may come again
}

void system_table::release(std::uint32_t number, std::uint32_t last_generation) noexcept {
    const port::lock_guard held(table_mutex);
    table[number].claimed.write(false);
    // Half of the range for one system: a number that is beyond is not used again.
    table[number].next_generation.write(
        last_generation == 0 || last_generation >= (1U << 31) ? 0 : last_generation + 1);
}

void system_table::leave_all() noexcept {
    left.store(1, std::memory_order_relaxed);
    for (entry& e : table)
        e.system.store(nullptr, std::memory_order_relaxed);  // the process has one thread
}

bool system_table::has_left() noexcept {
    return left.load(std::memory_order_relaxed) != 0;
}

std::uint32_t system_table::refused_count() noexcept {
    return refused.load(std::memory_order_relaxed);
}

system_table::visit::visit(std::uint32_t number) noexcept
    : number_(number), outer_(std::exchange(port::thread_instance<inside>().innermost, this)) {
    if (number_ >= number_count)
        number_ = 0;
    entry& e = table[number_];
    e.visitors.fetch_add(1, visiting.acquire());
    system_ = e.system.load(visiting.acquire());
    if (system_ == nullptr)
        refused.fetch_add(1, std::memory_order_relaxed);
}

system_table::visit::~visit() {
    // Release: what was done inside happens before the system's end.
    entry& e = table[number_];
    if (e.visitors.fetch_sub(1, visiting.release()) == (awaited | 1)) [[unlikely]]
        port::wake_one(e.visitors);
    port::thread_instance<inside>().innermost = outer_;
}

}  // namespace tactus::inline v0
