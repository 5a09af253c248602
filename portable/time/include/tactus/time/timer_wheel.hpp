// SPDX-License-Identifier: Apache-2.0
//
// Hierarchical timer wheel: insert, cancel and reschedule in O(1), exact order, exact next
// deadline, no allocation.
//
// Four levels of 256 slots, and a heap for what is farther away. An entry sits at the level of the
// highest digit (base 256) in which its deadline tick differs from the wheel's position. A slot of
// level 0 therefore holds one tick only, and all of a level-l slot is moved down before anything
// can be inserted below it directly: first-in-first-out survives cascading without sorting.
// Choosing the level by delay would not keep W3. The last level comes round: its slots before the
// position's own belong to the next turn.
//
// The wheel does not tick. advance(now) jumps from one occupied slot to the next, so an empty hour
// costs as much as an empty millisecond, and next_deadline() says when to call it again.
//
// Invariants
//   W1  every entry of a slot has a deadline later than position_, except in the slot being fired
//   W2  the level of an entry follows from its deadline and position_ alone: that of the highest
//       of the lower four digits in which they differ. In overflow is what is beyond horizon_: as
//       far as slots reach, or max_wheel_duration after position_ or today_
//   W3  entries fire ordered by (effective deadline tick, sequence); the sequence is the order of
//       registration
//   W4  position_ <= now_, and they are equal except during an advance
//   W5  an entry registered or moved when it is already due gets the current tick as its effective
//       deadline and waits in a due list for the next advance
//
// Thread safety: none. One owner; the scheduler serialises access.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <utility>

#include <tactus/base/memory_region.hpp>
#include <tactus/base/slab.hpp>
#include <tactus/time/detail/overflow_heap.hpp>
#include <tactus/time/detail/timer_node.hpp>
#include <tactus/time/detail/wheel_lists.hpp>
#include <tactus/time/instant.hpp>
#include <tactus/time/tick_scale.hpp>
#include <tactus/time/timer_error.hpp>

namespace tactus::inline v0 {

/// Names one registration: {index, generation} in one word. A value: copying it is free, a stale
/// one is harmless. Default-constructed it names nothing.
class timer_handle {
public:
    constexpr timer_handle() = default;
    constexpr timer_handle(std::uint32_t index, std::uint32_t generation) noexcept
        : bits_(std::uint64_t{generation} << 32 | index) {}

    [[nodiscard]] constexpr std::uint32_t index() const noexcept {
        return static_cast<std::uint32_t>(bits_);
    }
    [[nodiscard]] constexpr std::uint32_t generation() const noexcept {
        return static_cast<std::uint32_t>(bits_ >> 32);
    }

    friend constexpr bool operator==(const timer_handle&, const timer_handle&) = default;

private:
    // One word, written and read as one: a handle is passed on right after it was made.
    std::uint64_t bits_ = 0;
};

/// What the sink of an advance gets. The registration is over: the handle is stale already.
struct expired_timer {
    std::uint64_t payload;
    tick deadline;  // effective: the tick it was due at, or the tick of registration if that was
                    // later
    timer_handle handle;
};

/// Entries due within `window` of the earliest fire together with the latest of them, if there are
/// `group_min`.
struct timer_coalescing {
    duration window = {};  // zero: off; at most 2^31 - 1 ticks, a longer one is cut to that
    std::uint32_t group_min = 2;
};

struct timer_wheel_options {
    duration resolution = duration::from_ms(1);    // one tick
    instant start = instant::epoch();              // where time begins for this wheel
    std::size_t timers_max = 0;                    // capacity; required
    std::optional<std::size_t> overflow_max = {};  // how many may wait in overflow; {}: all
    memory_region* nodes = nullptr;                // required; outlives the wheel
    memory_region* overflow = nullptr;  // required unless overflow_max is 0; outlives the wheel
    duration max_wheel_duration = duration::from_s(24 * 3600);
    duration max_timer_duration = duration::from_s(7 * 24 * 3600);
    timer_coalescing coalescing = {};
    std::size_t retained = 4096;  // nodes kept when the wheel is empty and gives memory back

    // Where counters start; tests start them near their ends. The tag lets handles of two wheels
    // tell apart; without one the wheel takes the next of the process.
    std::uint64_t first_sequence = 0;
    std::optional<std::uint32_t> tag = {};
    std::uint32_t generation_count = 0;  // see slab; rounded down to an even number
};

/// `Index` is the width of the links: 32 bits, or 16 for devices (up to 65,535 timers, a quarter of
/// the slot memory).
template <class Index>
class basic_timer_wheel {
    using node = detail::timer_node<Index>;
    using node_slab = slab<node, Index>;
    using lists = detail::wheel_lists<Index>;
    using heap = detail::overflow_heap<Index>;

public:
    using options = timer_wheel_options;

    /// The most timers that links of this width can name.
    static constexpr std::size_t timers_limit = node_slab::capacity_limit;

    /// Bytes the node region must be able to hold for so many timers, and the overflow region for
    /// so many entries.
    [[nodiscard]] static constexpr std::size_t node_bytes(std::size_t timers) noexcept {
        return saturating_mul(timers, sizeof(node));
    }
    [[nodiscard]] static constexpr std::size_t overflow_bytes(std::size_t entries) noexcept {
        return saturating_mul(entries, sizeof(typename heap::entry));
    }

    /// Builds a wheel, or says what is wrong with the options: invalid_resolution,
    /// invalid_capacity, capacity_too_large, node_memory_too_small, overflow_memory_too_small.
    /// Nothing is taken from the regions then.
    [[nodiscard]] static std::expected<basic_timer_wheel, timer_error> create(
        const options& o) noexcept;

    /// Use create(). Requires: validate(o) is empty (check timer_wheel:1).
    explicit basic_timer_wheel(const options& o) noexcept;
    [[nodiscard]] static std::optional<timer_error> validate(const options& o) noexcept;

    basic_timer_wheel(const basic_timer_wheel&) = delete;
    basic_timer_wheel& operator=(const basic_timer_wheel&) = delete;

    /// Registers a timer: it fires at the first advance at or after `now + delay`, rounded up to a
    /// whole tick. With a delay of zero or less it fires at the first advance to the tick of `now`
    /// or later, also to one that has begun.
    ///
    /// `now` is the caller's clock at registration: the wheel may not have been advanced for a long
    /// time. If nothing is pending, the wheel's own time moves on to `now`, so that an idle time
    /// does not make the deadline a far one; an advance to an earlier tick is time_went_back then.
    /// Errors: duration_exceeded, deadline_overflow, capacity_exceeded, overflow_exceeded,
    /// memory_exhausted. Nothing has changed then.
    [[nodiscard]] std::expected<timer_handle, timer_error> insert(instant now, duration delay,
                                                                  std::uint64_t payload) noexcept;

    /// Takes a pending timer out; its node is free at once. False: it has fired, was cancelled, or
    /// never existed, as a default-constructed handle. Any other handle that this wheel cannot have
    /// given out is a bug of the caller: check timer_wheel:2 in debug builds.
    bool cancel(timer_handle handle) noexcept;

    /// Asks the cache for what a cancel is going to need: the node and, when that has arrived, the
    /// nodes beside it.
    void fetch(timer_handle handle) noexcept { port::prefetch(&nodes_.data()[handle.index()]); }
    void fetch_neighbours(timer_handle handle) noexcept {
        if (const Index index = nodes_.find(to_slab(handle)); index != none)
            lists_.fetch_neighbours(index);
    }
    /// There is memory that it gives back when it is empty.
    [[nodiscard]] bool holds_more_than_retained() const noexcept {
        return usable_count() > retained_;
    }

    /// Moves a pending timer to `now + delay`, ordered as if registered now. The handle stays
    /// valid. Errors: those of insert, and unknown_timer. The timer is as it was then.
    [[nodiscard]] std::expected<void, timer_error> reschedule(timer_handle handle, instant now,
                                                              duration delay) noexcept;

    /// Moves time to `now` and calls `sink(const expired_timer&)` for every timer due, in order;
    /// returns how many.
    ///
    /// The sink may insert, cancel and reschedule on this wheel, not advance it (check
    /// timer_wheel:3). What it adds that is due already fires at the next advance; what it cancels
    /// does not fire. Error: time_went_back, when `now` lies in an earlier tick than before.
    /// Nothing has changed then.
    template <class Sink>
    std::expected<std::size_t, timer_error> advance(instant now, Sink&& sink);

    /// The tick at which the next advance will fire something: exact, the current tick if something
    /// is due already, also while a sink is being called and more is to fire.
    [[nodiscard]] std::optional<tick> next_deadline() const noexcept {
        if (next_ == next_unknown) [[unlikely]]
            return find_next_deadline();
        return next_;
    }

    /// True while the handle names a pending timer.
    [[nodiscard]] bool pending(timer_handle handle) const noexcept {
        return nodes_.find(to_slab(handle)) != node_slab::none;
    }

    [[nodiscard]] tick now() const noexcept { return now_; }
    [[nodiscard]] const tick_scale& scale() const noexcept { return scale_; }
    [[nodiscard]] std::size_t size() const noexcept { return nodes_.live_count(); }
    [[nodiscard]] std::size_t capacity() const noexcept { return nodes_.capacity(); }
    [[nodiscard]] std::size_t overflow_size() const noexcept { return overflow_.size(); }
    /// True when a timer that is registered like this waits in overflow. What insert would refuse
    /// for its delay does not.
    [[nodiscard]] bool would_overflow(instant now, duration delay) const noexcept;
    /// Calls visit(payload) for every entry that waits in overflow, in no particular order.
    template <class Visit>
    void for_each_in_overflow(Visit&& visit) const noexcept {
        overflow_.for_each_until(~tick{0}, [&](const typename heap::entry& e) {
            visit(std::as_const(nodes_[e.node].payload));
        });
    }
    [[nodiscard]] std::size_t retired_count() const noexcept { return nodes_.retired_count(); }
    /// Nodes for which memory is held now.
    [[nodiscard]] std::size_t usable_count() const noexcept { return nodes_.usable_count(); }
    /// Which slots of a level (0 … 3) hold entries: for dumps and pictures.
    [[nodiscard]] const bitmap<detail::slots_per_level>& occupied(
        std::size_t level) const noexcept {
        return lists_.occupied(level);
    }
    /// How many timers are registered or moved so far, plus first_sequence.
    [[nodiscard]] std::uint64_t sequence() const noexcept { return sequence_; }

private:
    static constexpr Index none = node_slab::none;

    [[nodiscard]] static constexpr slab_handle to_slab(timer_handle h) noexcept {
        return {h.index(), h.generation()};
    }

    [[nodiscard]] static duration checked_resolution(const options& o) noexcept;
    // The deadline tick of a registration that is due already or refused.
    [[nodiscard]] std::expected<tick, timer_error> unusual_deadline(instant now,
                                                                    duration delay) const noexcept;
    [[nodiscard]] std::expected<tick, timer_error> deadline_tick(instant now,
                                                                 duration delay) const noexcept {
        const auto delay_ns = static_cast<std::uint64_t>(delay.ns());
        // One comparison each for 0 < delay <= max and for now + delay <= the last deadline.
        if (delay_ns - 1 >= max_timer_ns_ || now.ns() > last_deadline_ns_ - delay_ns) [[unlikely]]
            return unusual_deadline(now, delay);
        return scale_.ceil(instant::from_ns(now.ns() + delay_ns));
    }

    // True when an entry with this deadline belongs into the wheel now (W2).
    [[nodiscard]] bool fits_wheel(tick deadline) const noexcept { return deadline <= horizon_; }
    // True when it is not due yet either: now_ < deadline <= horizon_, in one comparison.
    [[nodiscard]] bool has_slot(tick deadline) const noexcept {
        return deadline - now_ - 1 < room_;
    }
    [[nodiscard]] bool goes_to_overflow(tick deadline) const noexcept {
        return deadline > now_ && !fits_wheel(deadline);
    }
    [[nodiscard]] std::expected<timer_handle, timer_error> insert_unusual(
        instant now, tick deadline, std::uint64_t payload) noexcept;
    [[nodiscard]] timer_error timer_refused() const noexcept;
    [[nodiscard]] timer_error overflow_refused() const noexcept;
    void pass_idle_time(instant now) noexcept;
    void set_idle_time(tick now) noexcept;
    void place(Index index, tick deadline) noexcept;
    void place_in_slot(Index index, tick deadline) noexcept;
    [[nodiscard]] unsigned slot_of(std::uint32_t deadline_low) const noexcept;
    void set_position(tick position) noexcept;
    [[nodiscard]] tick horizon_from(tick position, tick today) const noexcept;
    void see_ahead(instant now) noexcept;
    void displace(Index index) noexcept;
    void release_if_empty() noexcept;

    [[nodiscard]] unsigned other_due() const noexcept {
        return due_ == detail::due_list_a ? detail::due_list_b : detail::due_list_a;
    }
    [[nodiscard]] bool begin_advance(tick target) noexcept;
    [[nodiscard]] bool next_expired(expired_timer& out) noexcept;
    void end_advance() noexcept;
    void abandon_advance() noexcept;

    [[nodiscard]] bool take_from(unsigned where, expired_timer& out) noexcept;
    [[nodiscard]] bool step(tick limit) noexcept;
    [[nodiscard]] std::size_t first_ahead(unsigned level) const noexcept;
    void enter(tick position) noexcept;
    void promote() noexcept;
    void cascade(unsigned where) noexcept;
    void move_list(unsigned from, unsigned to) noexcept;

    [[nodiscard]] tick whole_deadline(std::uint32_t low) const noexcept;
    [[nodiscard]] std::optional<tick> find_next_deadline() const noexcept;
    [[nodiscard]] std::optional<tick> earliest_in_wheel() const noexcept;
    [[nodiscard]] tick earliest_held() const noexcept;

    [[nodiscard]] bool coalesces() const noexcept { return window_ticks_ != 0; }
    [[nodiscard]] bool next_group() noexcept;
    [[nodiscard]] tick group_tick(tick earliest) const noexcept;

    // Ends an advance also when the sink throws (hosted sinks may): what was left fires at the next
    // one.
    struct advance_guard {
        basic_timer_wheel& wheel;
        ~advance_guard() { wheel.end_advance(); }
    };

    TACTUS_CHECK_MODULE("timer_wheel");

    // Constant after construction.
    tick_scale scale_;
    std::uint64_t last_deadline_ns_;  // where the last whole tick before the end of time begins
    std::uint64_t max_timer_ns_;      // at most that
    tick max_wheel_ticks_;
    tick window_ticks_;
    std::uint32_t group_min_;
    std::size_t retained_;

    tick now_;          // the tick of the last advance, or the one under way
    tick position_;     // up to where the slots have been emptied
    tick today_ = 0;    // the latest at which something was too far away to have a slot
    tick horizon_ = 0;  // the last tick that has a slot
    tick room_ = 0;     // how many ticks after now_ have one

    // What next_deadline() will say, if known. Lowered by insert, forgotten when that entry leaves;
    // while coalescing it is never remembered. 0 is "unknown", so nothing is ever lower than it.
    static constexpr tick next_unknown = 0;
    mutable tick next_ = next_unknown;

    std::uint64_t sequence_;
    unsigned due_ = detail::due_list_a;  // where entries that are already due go
    unsigned firing_ = detail::due_list_b;
    bool advancing_ = false;
    bool finished_ = false;  // of the advance under way: nothing is left to fire
    node_slab nodes_;
    lists lists_;
    heap overflow_;
};

/// The wheel for hosts, and the one for devices with few timers.
using timer_wheel = basic_timer_wheel<std::uint32_t>;
using small_timer_wheel = basic_timer_wheel<std::uint16_t>;

template <class Index>
inline bool basic_timer_wheel<Index>::take_from(unsigned where, expired_timer& out) noexcept {
    const Index index = lists_.pop_front(where);
    if (index == none)
        return false;
    const node& n = nodes_[index];
    out = {n.payload, whole_deadline(n.deadline_low), {index, n.generation}};
    nodes_.release(index);
    return true;
}

template <class Index>
inline bool basic_timer_wheel<Index>::next_expired(expired_timer& out) noexcept {
    do {
        if (take_from(firing_, out))
            return true;
    } while (coalesces() ? next_group() : step(now_));
    finished_ = true;
    return false;
}

template <class Index>
template <class Sink>
std::expected<std::size_t, timer_error> basic_timer_wheel<Index>::advance(instant now,
                                                                          Sink&& sink) {
    const tick target = scale_.floor(now);
    if (!begin_advance(target))
        return std::unexpected(timer_error{timer_errc::time_went_back,
                                           static_cast<std::int64_t>(target),
                                           static_cast<std::int64_t>(now_)});
    const advance_guard guard{*this};
    std::size_t fired = 0;
    expired_timer expired;
    while (next_expired(expired)) {
        ++fired;
        sink(std::as_const(expired));
    }
    return fired;
}

// Entries being fired are at position_ or, held for their group, less than half the range of 32
// bits before it.
template <class Index>
inline tick basic_timer_wheel<Index>::whole_deadline(std::uint32_t low) const noexcept {
    return position_ - static_cast<std::uint32_t>(static_cast<std::uint32_t>(position_) - low);
}

extern template class basic_timer_wheel<std::uint32_t>;
extern template class basic_timer_wheel<std::uint16_t>;

}  // namespace tactus::inline v0
