// SPDX-License-Identifier: Apache-2.0
//
// The one table of systems in a process, and its visitors.
#include <tactus/dispatch/system_table.hpp>

#include <type_traits>
#include <utility>

namespace tactus::inline v0 {
namespace {

/// A way to a system, and how many are inside by it.
struct way {
    // "visit": a visitor counts itself, then looks for the system; a system that ends takes itself
    // out, then looks for visitors. Both change the count: who comes second knows what the first
    // did before. What visitors did happens before the system's end.
    port::atomic<actor_scheduler*> system{nullptr};
    port::atomic<std::uint32_t> visitors{0};
};
struct no_way {};
struct entry {
    way any;
    [[no_unique_address]] std::conditional_t<port::has_interrupts, no_way, way> senders;
    // Under the lock.
    port::plain<std::uint32_t> next_generation{1};  // 0: used up
    port::plain<bool> claimed{false};
};
constexpr port::edge visiting{"system-visit"};
constexpr std::uint32_t awaited = 1U << 31;  // of visitors: somebody waits until there is none

/// The visits of a thread, one within the other.
struct inside {
    system_table::insider* innermost = nullptr;
};

/// Null on devices, where senders have no way of their own. A template: what is not there is not
/// compiled.
template <class Entry>
way* senders_of(Entry& e) noexcept {
    if constexpr (port::has_interrupts)
        return nullptr;
    else
        return &e.senders;
}
template <system_table::door By>
way& way_by(entry& e) noexcept {
    way* const senders = By == system_table::door::senders ? senders_of(e) : nullptr;
    return senders != nullptr ? *senders : e.any;
}

// The braces are for g++ 12, which forgets the initial values of an array of cells without them.
constinit entry table[system_table::number_count]{};
constinit port::atomic<std::uint32_t> refused{0};
constinit port::atomic<std::uint32_t> left{0};  // relaxed: its process had one thread then
constinit port::mutex table_mutex;
constinit port::plain<std::uint32_t> last_claimed{0};

/// Shuts a way, and waits until nobody is inside by it. False: the limit came first.
bool shut(way& w, std::int64_t limit_ns) noexcept {
    w.system.store(nullptr, std::memory_order_relaxed);  // published by the count
    // The last visitor to leave wakes who waits here.
    std::uint32_t seen = w.visitors.fetch_or(awaited, visiting.acq_rel()) | awaited;
    // Senders that are refused change the count, too, so a limit ends after so many looks as well.
    constexpr int looks_max = 64;
    bool in_time = true;
    for (int looks = 0; seen != awaited && in_time && (limit_ns < 0 || looks < looks_max);
         ++looks) {
        in_time = port::wait_on(w.visitors, seen, limit_ns);
        seen = w.visitors.load(visiting.acquire());
    }
    w.visitors.fetch_and(~awaited, std::memory_order_relaxed);  // visitors may come again
    return seen == awaited;
}

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
    table[number].any.system.store(&system, visiting.release());
    if (way* const senders = senders_of(table[number]))
        senders->system.store(&system, visiting.release());
}

void system_table::withdraw(std::uint32_t number) noexcept {
    TACTUS_CHECK(1, !is_inside(number));
    if (way* const senders = senders_of(table[number]))
        (void)shut(*senders, -1);
    (void)shut(table[number].any, -1);
}

bool system_table::shut_door(std::uint32_t number, std::int64_t limit_ns) noexcept {
    way* const senders = senders_of(table[number]);
    return senders == nullptr || shut(*senders, limit_ns);
}

bool system_table::is_door_shut(std::uint32_t number) noexcept {
    // Relaxed, twice: a look. What is done then does not depend on what the other thread did.
    if (number >= number_count)
        return false;
    const way* const senders = senders_of(table[number]);
    return senders != nullptr && senders->system.load(std::memory_order_relaxed) == nullptr &&
           table[number].any.system.load(std::memory_order_relaxed) != nullptr;
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
    for (entry& e : table) {
        e.any.system.store(nullptr, std::memory_order_relaxed);  // the process has one thread
        if (way* const senders = senders_of(e))
            senders->system.store(nullptr, std::memory_order_relaxed);  // the same
    }
}

bool system_table::has_left() noexcept {
    return left.load(std::memory_order_relaxed) != 0;
}

std::uint32_t system_table::refused_count() noexcept {
    return refused.load(std::memory_order_relaxed);
}

system_table::insider::insider(std::uint32_t number) noexcept
    : number_(number < number_count ? number : 0),
      outer_(std::exchange(port::thread_instance<inside>().innermost, this)) {}
system_table::insider::~insider() {
    port::thread_instance<inside>().innermost = outer_;
}

bool system_table::is_inside(std::uint32_t number) noexcept {
    for (const insider* i = port::thread_instance<inside>().innermost; i != nullptr;
         i = i->outer_) {
        if (i->number_ == number)
            return true;
    }
    return false;
}

template <system_table::door By>
system_table::basic_visit<By>::basic_visit(std::uint32_t number) noexcept : insider(number) {
    way& w = way_by<By>(table[number_]);
    w.visitors.fetch_add(1, visiting.acquire());
    system_ = w.system.load(visiting.acquire());
    // A sender that finds nothing looks again by the other way.
    if (By == door::any && system_ == nullptr)
        refused.fetch_add(1, std::memory_order_relaxed);
}

template <system_table::door By>
system_table::basic_visit<By>::~basic_visit() {
    // Release: what was done inside happens before the system's end.
    way& w = way_by<By>(table[number_]);
    if (w.visitors.fetch_sub(1, visiting.release()) == (awaited | 1)) [[unlikely]]
        port::wake_one(w.visitors);
}

template class system_table::basic_visit<system_table::door::any>;
template class system_table::basic_visit<system_table::door::senders>;

}  // namespace tactus::inline v0
