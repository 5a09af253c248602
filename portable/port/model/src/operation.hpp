// SPDX-License-Identifier: Apache-2.0
//
// Operations: what a thread is about to do, how two of them depend on each other, and the record of
// those that were done.
//
// Two operations depend on each other when they touch the same object in ways of which the tables
// below say so; all others commute, and the reduction does not try them in both orders. "Race" is
// meant as in partial-order reduction: dependent, and both possible at the same moment.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <tactus/port/model.hpp>

namespace tactus::inline v0::port::model::detail {

enum class op : std::uint8_t {
    start,
    load,
    store,
    modify,
    exchanged,  // a compare-exchange that succeeded
    not_exchanged,
    compare,  // one that is still to come
    lock,
    try_lock,
    unlock,
    wait,
    relock,
    notify,
    look,        // wait_on: the look at the word
    sleep_over,  // wait_on: woken, timed out or for no reason
    wake,
    give_way,
    create,
    join,
    finish,
    // These are no scheduling points: they are judged and shown only.
    plain_read,
    plain_write,
    allocated,
    freed,
    chosen,
    noted,
};

/// The ways of touching an object. A try_lock reads and writes; woken only orders. A peek is a load
/// that could have returned every store that C++ allows: done before a store it is the same as done
/// after it with the old value. So it need not be tried before one, and no store is ordered after.
enum touches : std::uint8_t {
    touch_none = 0,
    touch_read = 1,
    touch_write = 2,  // also: taking a mutex
    touch_unlock = 4,
    touch_queue = 8,  // who sleeps on an object
    touch_peek = 16,
    touch_woken = 32,  // the sleeper's side of having been woken: after the waker, and no other
};
inline constexpr std::size_t touch_way_count = 5;  // ways that are remembered: all but woken

/// Ways that an operation touching in these ways is ordered after; a peek is, of writes, only after
/// the one it returned and those before that.
constexpr unsigned ordered_after(unsigned ways) noexcept {
    unsigned after = 0;
    if ((ways & (touch_read | touch_peek)) != 0)
        after |= touch_write | touch_unlock;
    if ((ways & touch_write) != 0)
        after |= touch_read | touch_write | touch_unlock;
    if ((ways & touch_unlock) != 0)
        after |= touch_read | touch_write;
    if ((ways & touch_queue) != 0)
        after |= touch_queue;
    return after;
}

/// Ways that an operation touching in these ways races with: not an unlock with a lock, since one
/// of them is never possible when the other is.
constexpr unsigned races_with(unsigned ways) noexcept {
    unsigned with = 0;
    if ((ways & touch_read) != 0)
        with |= touch_write | touch_unlock;
    if ((ways & touch_write) != 0)
        with |= touch_read | touch_write | touch_peek;
    if ((ways & touch_unlock) != 0)
        with |= touch_read;
    if ((ways & touch_queue) != 0)
        with |= touch_queue;
    return with;
}

inline constexpr std::uint32_t no_object = ~std::uint32_t{0};

struct touch {
    std::uint32_t object = no_object;
    std::uint8_t ways = touch_none;
};

struct operation {
    op kind = op::start;
    order memory_order = order::relaxed;
    where at{};
    std::array<touch, 2> touched{};
    std::uint16_t woke = 0;    // the threads that it woke
    std::uint32_t peeked = 0;  // the store that a peek returned
    bool appended = false;     // a store, which is the newest now
};

/// What `pending` does may be something else now that `done` is done.
constexpr bool affects(const operation& done, const operation& pending) noexcept {
    for (const touch& x : done.touched)
        for (const touch& y : pending.touched)
            if (x.object != no_object && x.object == y.object &&
                (ordered_after(y.ways) & x.ways) != 0)
                return true;
    return false;
}

/// One line of the trace.
struct trace_line {
    op kind;
    std::uint8_t thread;
    order memory_order;
    bool old = false;      // a load that did not return the newest store
    bool future = false;   // a load of a store that comes later
    std::uint32_t object;  // no_object: none
    std::uint64_t value;
    const char* text;
    where at;
};

}  // namespace tactus::inline v0::port::model::detail
