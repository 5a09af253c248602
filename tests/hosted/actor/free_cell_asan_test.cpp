// SPDX-License-Identifier: Apache-2.0
//
// UP-6 under AddressSanitizer: of a free slot's user state only the registry's links and the flags,
// which a dump reads at any moment, may be touched.
#include <tactus/actor/cell.hpp>
#include <tactus/dispatch/registry.hpp>

#include <gtest/gtest.h>
#include <sanitizer/asan_interface.h>

#include <array>
#include <cstddef>

using namespace tactus;  // NOLINT: the whole vocabulary is used

// UP-6, DF-47: dumps read the flags of cells whose slots have just been given back.
TEST(free_cell, UP_6_DF_47_the_flags_of_a_free_slot_are_readable_and_nothing_else) {
    alignas(slot) static std::array<std::byte, 8 * sizeof(slot)> bytes;
    fixed_memory memory(bytes);
    registry slots({.memory = &memory, .capacity = 4, .magazine_size = 2});
    slot_cache cache(slots.shared());
    slot* s = slots.take(cache);
    ASSERT_NE(s, nullptr);
    const cell& c = *::new (s->user_state()) cell(mailbox_index{}, cell::is_named);
    slots.give_unopened(*s, cache);
    EXPECT_EQ(c.flags(), std::uint32_t{cell::is_named});
    EXPECT_TRUE(__asan_address_is_poisoned(&c.first_child));
    EXPECT_TRUE(__asan_address_is_poisoned(&c.next_report));
}
