// SPDX-License-Identifier: Apache-2.0
//
// The node of one pending timer: 32 bytes with 32-bit links, 24 with 16-bit ones.
//
// A node holds the lower half of its deadline tick only: in the wheel, deadline and position agree
// in the upper half (that is what the overflow is for), and overflow entries carry the whole
// deadline themselves.
#pragma once

#include <cstdint>
#include <type_traits>

namespace tactus::inline v0::detail {

/// Where a node is linked: a slot of the wheel by level * 256 + digit, or one of these.
enum : std::uint16_t {
    level_count = 4,
    slots_per_level = 256,
    wheel_slot_count = level_count * slots_per_level,
    due_list_a =
        wheel_slot_count,  // already due when registered; two lists take turns, see timer_wheel
    due_list_b,
    held_list,   // due, but waiting for its group (coalescing)
    ready_list,  // the group that fires now (coalescing)
    list_count,
    in_overflow = list_count,
};

/// 32-bit links: two nodes share a cache line, and one field is left for the prefetch hint.
template <class Index>
struct timer_node {
    std::uint64_t payload;
    std::uint32_t generation;    // slab's
    std::uint32_t deadline_low;  // lower half of the effective deadline tick
    Index next;  // in a list: the next, of the tail the head; in overflow: the place in the heap
    Index prev;  // in a list: the previous, of the head none
    Index hint;  // a node some places ahead in the list, or any other: only ever prefetched
    std::uint16_t where;
};

/// 16-bit links, for devices: everything is in the nearest memory, so there is nothing to prefetch.
template <>
struct timer_node<std::uint16_t> {
    std::uint64_t payload;
    std::uint32_t generation;
    std::uint32_t deadline_low;
    std::uint16_t next;
    std::uint16_t prev;
    std::uint16_t where;
};

static_assert(sizeof(timer_node<std::uint32_t>) == 32);
static_assert(sizeof(timer_node<std::uint16_t>) == 24);

}  // namespace tactus::inline v0::detail
