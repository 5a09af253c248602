// SPDX-License-Identifier: Apache-2.0
//
// The states of a mailbox and what may happen to them, as data (ME-7).
//
// The hot path does not look anything up here: it is bit code (state_word.hpp), and a constexpr
// test proves the two equal. The docs render this table.
#pragma once

#include <array>
#include <cstdint>

namespace tactus::inline v0 {

enum class mailbox_state : std::uint8_t {
    idle,                 // open, nobody is to run it
    scheduled,            // open, queued in a lane or running
    suspended,            // user messages are held back, nobody is to run it
    suspended_scheduled,  // user messages are held back, queued or running for system messages
    closing,              // an owner is elected to drain it; nothing more is processed
    closed,               // for good
};
inline constexpr std::size_t mailbox_state_count = 6;

enum class mailbox_event : std::uint8_t {
    user_work,      // a user message is there
    system_work,    // a system message is there
    suspend,        // one more reason to hold back user messages
    resume_one,     // one reason less, others remain
    resume_last,    // the last reason gone, or there was none
    run_ended,      // the owner gives the mailbox up
    request_close,  // it shall end
    finish_close,   // the elected owner has drained it
};
inline constexpr std::size_t mailbox_event_count = 8;

/// What the caller owes after an event.
enum class mailbox_owed : std::uint8_t {
    nothing,
    submit,      // put it into a lane: this caller alone won the right to
    changed,     // suspend: it is held back from now on; resume: it is not any more
    look_again,  // look at both queues, and offer the work found
    finalize,    // drain both queues to dead letters, then finish_close: this caller is elected
    finished,    // it is closed now
};

struct mailbox_row {
    mailbox_state from;
    mailbox_event on;
    mailbox_state to;
    mailbox_owed owed;
};

inline constexpr auto mailbox_rows = [] {
    using enum mailbox_state;
    using enum mailbox_event;
    using enum mailbox_owed;
    return std::to_array<mailbox_row>({
        // clang-format off
        // from                on             to                   the caller now owes
        {idle,                user_work,     scheduled,           submit},
        {idle,                system_work,   scheduled,           submit},
        {idle,                suspend,       suspended,           changed},
        {idle,                resume_last,   idle,                changed},   // tolerated
        {idle,                run_ended,     idle,                nothing},
        {idle,                request_close, closing,             finalize},  // by the caller
        {idle,                finish_close,  idle,                nothing},

        {scheduled,           user_work,     scheduled,           nothing},
        {scheduled,           system_work,   scheduled,           nothing},
        {scheduled,           suspend,       suspended_scheduled, changed},
        {scheduled,           resume_last,   scheduled,           changed},
        {scheduled,           run_ended,     idle,                look_again},  // ME-3
        {scheduled,           request_close, closing,             nothing},   // by its runner
        {scheduled,           finish_close,  scheduled,           nothing},

        {suspended,           user_work,     suspended,           nothing},  // kept until resumed
        {suspended,           system_work,   suspended_scheduled, submit},
        {suspended,           suspend,       suspended,           nothing},
        {suspended,           resume_one,    suspended,           nothing},
        {suspended,           resume_last,   idle,                changed},
        {suspended,           run_ended,     suspended,           nothing},
        {suspended,           request_close, closing,             finalize},
        {suspended,           finish_close,  suspended,           nothing},

        {suspended_scheduled, user_work,     suspended_scheduled, nothing},
        {suspended_scheduled, system_work,   suspended_scheduled, nothing},
        {suspended_scheduled, suspend,       suspended_scheduled, nothing},
        {suspended_scheduled, resume_one,    suspended_scheduled, nothing},
        {suspended_scheduled, resume_last,   scheduled,           changed},
        {suspended_scheduled, run_ended,     suspended,           look_again},
        {suspended_scheduled, request_close, closing,             nothing},
        {suspended_scheduled, finish_close,  suspended_scheduled, nothing},

        {closing,             user_work,     closing,             nothing},
        {closing,             system_work,   closing,             nothing},
        {closing,             suspend,       closing,             nothing},   // ME-6
        {closing,             resume_one,    closing,             nothing},
        {closing,             resume_last,   closing,             nothing},
        {closing,             run_ended,     closing,             finalize},
        {closing,             request_close, closing,             nothing},
        {closing,             finish_close,  closed,              finished},

        {closed,              user_work,     closed,              nothing},
        {closed,              system_work,   closed,              nothing},
        {closed,              suspend,       closed,              nothing},
        {closed,              resume_one,    closed,              nothing},
        {closed,              resume_last,   closed,              nothing},
        {closed,              run_ended,     closed,              nothing},
        {closed,              request_close, closed,              nothing},
        {closed,              finish_close,  closed,              nothing},
        // clang-format on
    });
}();

/// The row of a pair, or nullptr: resume_one needs a suspended mailbox.
[[nodiscard]] constexpr const mailbox_row* find_row(mailbox_state from, mailbox_event on) noexcept {
    for (const mailbox_row& row : mailbox_rows) {
        if (row.from == from && row.on == on)
            return &row;
    }
    return nullptr;
}

[[nodiscard]] const char* name_of(mailbox_state state) noexcept;
[[nodiscard]] const char* name_of(mailbox_event event) noexcept;
[[nodiscard]] const char* name_of(mailbox_owed owed) noexcept;

}  // namespace tactus::inline v0
