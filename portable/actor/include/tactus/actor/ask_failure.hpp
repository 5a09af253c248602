// SPDX-License-Identifier: Apache-2.0
//
// Why a question was not answered, and which one it was (AS-1).
//
// The text for people is made when somebody wants it, into whatever takes text, so that an actor on
// a device has it without a heap:
//
//     text_buffer<200> why;
//     answer.error().write(why);
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <tactus/actor/actor_ref.hpp>
#include <tactus/dispatch/dump.hpp>
#include <tactus/mailbox/message_type.hpp>
#include <tactus/time/instant.hpp>

namespace tactus::inline v0 {

enum class ask_fault : std::uint8_t {
    timeout,             // no reply within the time given
    target_terminated,   // it had ended before it was asked
    invalid_timeout,     // not positive: nothing was sent
    would_block_worker,  // asked on a worker's thread, which must not wait (UP-3)
    refused,             // the target's mailbox did not take it
    no_room,             // no actor, or timer, could be made for the reply
    reply_failed,        // moving the reply threw
    question_failed,     // making or copying the question threw
    forked_child,        // this process was forked: the system is in its parent
    draining,            // the system drains: it takes no questions from outside any more
};
inline constexpr std::size_t ask_fault_count = 10;
[[nodiscard]] const char* name_of(ask_fault what) noexcept;

/// What one line for people says of a question.
struct ask_story {
    ask_fault what;
    std::string_view target_path;
    duration after;
    std::string_view message_type;
};
void write_text(const ask_story& of, text_sink& to) noexcept;

/// Of a question that an actor asked.
struct ask_failure {
    ask_fault what = ask_fault::timeout;
    any_ref target;
    duration after;  // the time it was given
    const message_type* asked = nullptr;

    // NOLINTNEXTLINE(google-explicit-constructor): for who only wants to know why
    constexpr operator ask_fault() const noexcept { return what; }
    /// One line. In an actor's turn it has the target's path; elsewhere its reference, since nobody
    /// knows the world.
    void write(text_sink& to) const noexcept;
};

}  // namespace tactus::inline v0
