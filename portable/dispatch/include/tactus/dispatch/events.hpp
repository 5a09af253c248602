// SPDX-License-Identifier: Apache-2.0
//
// What the kernel tells the layer above: dead letters, closed mailboxes, failures.
//
// Nothing is lost silently: every message that is not handled comes by here once, with its cause.
#pragma once

#include <cstddef>
#include <cstdint>

#include <tactus/dispatch/invoke_result.hpp>
#include <tactus/mailbox/envelope.hpp>
#include <tactus/mailbox/system_message.hpp>
#include <tactus/time/instant.hpp>

namespace tactus::inline v0 {

/// MB-6.
enum class dead_letter_cause : std::uint8_t {
    mailbox_full,
    mailbox_timeout,
    would_block,
    pool_exhausted,
    recipient_terminated,
    wrong_generation,
    scheduler_failure,
    shutdown,
    stash_overflow,
    explicit_request,
    serialization,
    construction_failed,  // beyond MB-6: the message's own constructor threw
    draining,             // beyond MB-6: told from outside to a system that drains (CO-5)
};
inline constexpr std::size_t dead_letter_cause_count = 13;
[[nodiscard]] const char* name_of(dead_letter_cause cause) noexcept;

/// MB-5.
struct mailbox_pressure {
    mailbox_index ref;
    std::uint32_t len;
    std::uint32_t capacity;
    std::uint32_t percent;
    instant at;  // 0 where there is no clock
};

/// User code that is called beside handlers; see guarded_user.hpp.
enum class user_code : std::uint8_t {
    enqueue_middleware,
    spawn_middleware,
    tracer,
    governor,
    load_probe,
    kernel_events,
};
[[nodiscard]] const char* name_of(user_code where) noexcept;

/// Called on whatever thread it happens; must not block. The kernel disposes of what it shows.
class kernel_events {
public:
    /// `message` may be moved from. For pool_exhausted there is no envelope: see message_lost.
    virtual void dead_letter(mailbox_index to, envelope& message,
                             dead_letter_cause cause) noexcept = 0;
    /// A message for which there was not even an envelope, or that could not be put into one.
    virtual void message_lost(mailbox_index to, const message_type& type,
                              dead_letter_cause cause) noexcept = 0;
    /// A system message for a mailbox that is closed. Its `done` is called afterwards.
    virtual void system_dead_letter(mailbox_index to, system_message& message) noexcept = 0;
    /// ME-8: once per mailbox, after its last leftover became a dead letter.
    virtual void mailbox_closed(mailbox_index who, std::size_t system_drained,
                                std::size_t user_drained) noexcept = 0;
    /// IN-6: the mailbox is suspended; supervision decides.
    virtual void actor_failed(mailbox_index who, const failure& why) noexcept = 0;
    /// CO-6: the limit of a suspension is to stop the actor. False: nobody above knows of lives,
    /// and the kernel closes its mailbox.
    virtual bool stops_at_limit(mailbox_index who) noexcept {
        (void)who;
        return false;
    }
    /// LN-9: a timed mailbox came to run later than its deadline.
    virtual void deadline_missed(mailbox_index who, std::int64_t late_ns) noexcept = 0;
    /// MB-5: a bounded mailbox is filling up.
    virtual void pressure(const mailbox_pressure& what) noexcept { (void)what; }
    /// OH-1: an actor is about to be held back. Beside what the layer above does itself.
    virtual void suspended(mailbox_index who, held_reason why) noexcept {
        (void)who;
        (void)why;
    }
    /// One reason to hold it back is gone.
    virtual void resumed(mailbox_index who) noexcept { (void)who; }
    /// MB-11: no envelope, or no memory for a large payload, for `refused` messages since this was
    /// last said; at most once per second (once, where there is no clock). Each of them is told to
    /// its sender, or comes by message_lost.
    virtual void pool_exhausted(std::uint32_t refused) noexcept { (void)refused; }
    /// UP-4: user code beside handlers threw; what came of it is in guarded_user.hpp.
    virtual void user_code_failed(user_code where, const failure& why) noexcept {
        (void)where;
        (void)why;
    }

protected:
    ~kernel_events() = default;
};

/// What a timer's delivery is known by: whoever keeps timers gives it. 0: no timer's.
using job_id = std::uint64_t;

/// What a span may carry (OH-7).
enum class span_fact : std::uint8_t {
    signal_key,  // the message waited for a suspended actor; the signal with this key resumed it
    timer_job,   // a timer sent it: its job_id
};
inline constexpr std::size_t span_fact_count = 2;
[[nodiscard]] const char* name_of(span_fact fact) noexcept;

/// IN-7: the way of one message, one span. Asked for only when a tracer is set.
class tracer {
public:
    enum class point : std::uint8_t { enqueue, dequeue, invoke };
    /// A new span's id, at the sender; 0: this one is not traced.
    [[nodiscard]] virtual std::int64_t begin(mailbox_index from, mailbox_index to,
                                             const message_type& type) noexcept = 0;
    virtual void mark(std::int64_t span, point where, mailbox_index who) noexcept = 0;
    /// A fact about a span: a job before `enqueue` is marked, a signal before `invoke`.
    virtual void carry(std::int64_t span, span_fact what, std::uint64_t value) noexcept {
        (void)span;
        (void)what;
        (void)value;
    }

protected:
    ~tracer() = default;
};

}  // namespace tactus::inline v0
