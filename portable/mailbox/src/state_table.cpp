// SPDX-License-Identifier: Apache-2.0
//
// Names of states and events, and the proof that bit code and table agree: for every word that has
// at most two suspensions of each kind (more behave as two), and every event.
#include <tactus/mailbox/state_table.hpp>
#include <tactus/mailbox/state_word.hpp>

namespace tactus::inline v0 {
namespace {

using state_word::state_of;

constexpr bool agrees(std::uint32_t word, mailbox_event on, state_word::step done) {
    // Not find_row: under UBSan g++ 12 does not take a comparison with null for a constant.
    for (const mailbox_row& row : mailbox_rows) {
        if (row.from == state_of(word) && row.on == on)
            return row.to == state_of(done.word) && row.owed == done.owed;
    }
    return false;
}

constexpr bool bit_code_equals_table() {
    using enum mailbox_event;
    constexpr std::uint32_t flags[] = {
        0, state_word::scheduled, state_word::closing | state_word::scheduled, state_word::closed};
    for (const std::uint32_t flag : flags) {
        for (std::uint32_t supervised = 0; supervised <= 2; ++supervised) {
            for (std::uint32_t awaiting = 0; awaiting <= 2; ++awaiting) {
                const std::uint32_t word = flag | supervised * state_word::supervision_one |
                                           awaiting * state_word::await_one;
                if (flag == state_word::closed && word != flag)
                    continue;  // closed drops the counts
                if (!agrees(word, user_work, state_word::user_work(word)) ||
                    !agrees(word, system_work, state_word::system_work(word)) ||
                    !agrees(word, run_ended, state_word::run_ended(word)) ||
                    !agrees(word, request_close, state_word::request_close(word)) ||
                    !agrees(word, finish_close, state_word::finish_close(word)))
                    return false;
                for (const suspension why : {suspension::supervision, suspension::await}) {
                    const state_word::step resumed = state_word::resume(word, why);
                    const bool last = (resumed.word & state_word::suspended) == 0;
                    if (!agrees(word, suspend, state_word::suspend(word, why)) ||
                        !agrees(word, last ? resume_last : resume_one, resumed))
                        return false;
                }
            }
        }
    }
    return true;
}
static_assert(bit_code_equals_table());

constexpr bool each_pair_once() {
    for (std::size_t from = 0; from < mailbox_state_count; ++from) {
        for (std::size_t on = 0; on < mailbox_event_count; ++on) {
            std::size_t found = 0;
            for (const mailbox_row& row : mailbox_rows) {
                if (row.from == static_cast<mailbox_state>(from) &&
                    row.on == static_cast<mailbox_event>(on))
                    ++found;
            }
            // Only what is suspended can lose one reason of several.
            const bool impossible = static_cast<mailbox_event>(on) == mailbox_event::resume_one &&
                                    from < static_cast<std::size_t>(mailbox_state::suspended);
            if (found != (impossible ? 0U : 1U))
                return false;
        }
    }
    return true;
}
static_assert(each_pair_once());

}  // namespace

const char* name_of(mailbox_state state) noexcept {
    static constexpr std::array<const char*, mailbox_state_count> names{
        "idle", "scheduled", "suspended", "suspended_scheduled", "closing", "closed"};
    return names[static_cast<std::size_t>(state)];
}

const char* name_of(mailbox_event event) noexcept {
    static constexpr std::array<const char*, mailbox_event_count> names{
        "user_work",   "system_work", "suspend",       "resume_one",
        "resume_last", "run_ended",   "request_close", "finish_close"};
    return names[static_cast<std::size_t>(event)];
}

const char* name_of(mailbox_owed owed) noexcept {
    static constexpr std::array<const char*, 6> names{"nothing",    "submit",   "changed",
                                                      "look_again", "finalize", "finished"};
    return names[static_cast<std::size_t>(owed)];
}

}  // namespace tactus::inline v0
