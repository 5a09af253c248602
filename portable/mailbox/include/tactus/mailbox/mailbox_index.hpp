// SPDX-License-Identifier: Apache-2.0
//
// The name of a mailbox: eight bytes, a value, never dangling (RG-1).
//
// The slot word holds a system number (upper 6 bits) and the slot within that system (lower 26);
// the generation says which use of the slot is meant. Generation 0 is never given out, and no
// system has the number 0, so a default-constructed index names nothing.
#pragma once

#include <cstdint>

namespace tactus::inline v0 {

struct mailbox_index {
    static constexpr unsigned slot_bits = 26;
    static constexpr std::uint32_t slot_mask = (std::uint32_t{1} << slot_bits) - 1;

    std::uint32_t slot = 0;        // system number and slot
    std::uint32_t generation = 0;  // 0: names nothing

    [[nodiscard]] static constexpr mailbox_index make(std::uint32_t system, std::uint32_t slot,
                                                      std::uint32_t generation) noexcept {
        return {(system << slot_bits) | (slot & slot_mask), generation};
    }
    [[nodiscard]] constexpr std::uint32_t system_number() const noexcept {
        return slot >> slot_bits;
    }
    [[nodiscard]] constexpr std::uint32_t slot_number() const noexcept { return slot & slot_mask; }
    [[nodiscard]] constexpr mailbox_index with_generation(std::uint32_t other) const noexcept {
        return {slot, other};
    }
    [[nodiscard]] constexpr bool valid() const noexcept { return generation != 0; }

    friend constexpr bool operator==(const mailbox_index&, const mailbox_index&) = default;
};
static_assert(sizeof(mailbox_index) == 8);

}  // namespace tactus::inline v0
