// SPDX-License-Identifier: Apache-2.0
//
// The state of a mailbox in 32 bits, and each event as bit code.
//
//   bit 0        closed
//   bit 1        scheduled
//   bits 2-8     suspensions by supervision, counted
//   bits 9-14    suspensions by await (and by the actor itself), counted
//   bit 15       a close was requested; the owner at the end of the run, or the caller who
//                found the mailbox idle, is elected to finish it
//   bits 16-31   the mark of the mailbox's life (life.hpp): a thread that stops, suspends, resumes
//                or looks for work from outside names it, and does nothing to another life
//
// The functions are pure: the state engine repeats them until its compare-and-swap holds.
#pragma once

#include <cstdint>

#include <tactus/mailbox/life.hpp>
#include <tactus/mailbox/state_table.hpp>

namespace tactus::inline v0 {

/// Why user messages are held back; each kind is counted by itself.
enum class suspension : std::uint8_t { supervision, await };

namespace state_word {

inline constexpr std::uint32_t closed = 1;
inline constexpr std::uint32_t scheduled = 2;
inline constexpr std::uint32_t supervision_one = 1U << 2;
inline constexpr std::uint32_t supervision_mask = ((1U << 9) - 1) & ~(supervision_one - 1);
inline constexpr std::uint32_t await_one = 1U << 9;
inline constexpr std::uint32_t await_mask = ((1U << 15) - 1) & ~(await_one - 1);
inline constexpr std::uint32_t suspended = supervision_mask | await_mask;
inline constexpr std::uint32_t closing = 1U << 15;
inline constexpr std::uint32_t life_mask = ~((1U << life::state_mark_shift) - 1);
static_assert(closing < 1U << life::state_mark_shift);
inline constexpr std::uint32_t suspension_count_max = (1U << 6) - 1;

struct step {
    std::uint32_t word;
    mailbox_owed owed;
};

[[nodiscard]] constexpr std::uint32_t one(suspension why) noexcept {
    return why == suspension::supervision ? supervision_one : await_one;
}
[[nodiscard]] constexpr std::uint32_t mask(suspension why) noexcept {
    return why == suspension::supervision ? supervision_mask : await_mask;
}
[[nodiscard]] constexpr std::uint32_t count(std::uint32_t word, suspension why) noexcept {
    return (word & mask(why)) / one(why);
}

[[nodiscard]] constexpr step user_work(std::uint32_t word) noexcept {
    if ((word & ~life_mask) != 0)
        return {word, mailbox_owed::nothing};
    return {word | scheduled, mailbox_owed::submit};
}
[[nodiscard]] constexpr step system_work(std::uint32_t word) noexcept {
    if ((word & (closed | scheduled | closing)) != 0)
        return {word, mailbox_owed::nothing};
    return {word | scheduled, mailbox_owed::submit};
}
/// Requires: the count is below suspension_count_max.
[[nodiscard]] constexpr step suspend(std::uint32_t word, suspension why) noexcept {
    if ((word & (closed | closing)) != 0)
        return {word, mailbox_owed::nothing};
    return {word + one(why),
            (word & suspended) == 0 ? mailbox_owed::changed : mailbox_owed::nothing};
}
[[nodiscard]] constexpr step resume(std::uint32_t word, suspension why) noexcept {
    if ((word & (closed | closing)) != 0)
        return {word, mailbox_owed::nothing};
    const std::uint32_t after = (word & mask(why)) == 0 ? word : word - one(why);
    return {after, (after & suspended) == 0 ? mailbox_owed::changed : mailbox_owed::nothing};
}
[[nodiscard]] constexpr step run_ended(std::uint32_t word) noexcept {
    if ((word & closed) != 0)
        return {word, mailbox_owed::nothing};
    if ((word & closing) != 0)
        return {word, mailbox_owed::finalize};
    if ((word & scheduled) == 0)
        return {word, mailbox_owed::nothing};
    return {word & ~scheduled, mailbox_owed::look_again};
}
[[nodiscard]] constexpr step request_close(std::uint32_t word) noexcept {
    if ((word & (closed | closing)) != 0)
        return {word, mailbox_owed::nothing};
    return {word | closing | scheduled,
            (word & scheduled) != 0 ? mailbox_owed::nothing : mailbox_owed::finalize};
}
[[nodiscard]] constexpr step finish_close(std::uint32_t word) noexcept {
    if ((word & closing) == 0)
        return {word, mailbox_owed::nothing};
    return {closed | (word & life_mask), mailbox_owed::finished};
}

/// The row of the table a word belongs to.
[[nodiscard]] constexpr mailbox_state state_of(std::uint32_t word) noexcept {
    if ((word & closed) != 0)
        return mailbox_state::closed;
    if ((word & closing) != 0)
        return mailbox_state::closing;
    const bool is_scheduled = (word & scheduled) != 0;
    if ((word & suspended) != 0)
        return is_scheduled ? mailbox_state::suspended_scheduled : mailbox_state::suspended;
    return is_scheduled ? mailbox_state::scheduled : mailbox_state::idle;
}

}  // namespace state_word
}  // namespace tactus::inline v0
