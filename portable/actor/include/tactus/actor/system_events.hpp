// SPDX-License-Identifier: Apache-2.0
//
// What a world publishes on its event stream (EV-1, SV-5). Values that say who and what kind; the
// contents of messages are nobody else's.
//
//   lost_letter             every message that nobody handled: base of the three below
//     dead_letter             not delivered, and why
//     suppressed_dead_letter  the same, of a type that is marked dead_letter_suppression
//     unhandled_letter        delivered to an actor that has no handler for it
//   supervision_decision    what a parent does about a child that failed
//   life_event              base of actor_started, actor_restarted, actor_stopped
//   kernel_warning          what mailboxes and dispatchers cannot keep up with: base of these
//     pressure_warning        a bounded mailbox is filling up (MB-5)
//     pool_warning            no envelopes (MB-11)
//     deadline_warning        a message with a deadline came to run later (LN-9)
//     user_code_warning       user code beside handlers threw (UP-4)
//     starvation_warning      work has waited too long for a dispatcher (EX-5; hosts)
//     slow_handler_warning    an actor has been in a handler too long (hosts)
//     timer_warning           what the scheduler warns of (SC, BP, TS-8)
//   timer_diagnostic        what the scheduler does, of hosted systems (SD-2)
#pragma once

#include <tactus/actor/actor_ref.hpp>
#include <tactus/actor/event_type.hpp>
#include <tactus/actor/failure_cause.hpp>
#include <tactus/actor/supervision.hpp>
#include <tactus/dispatch/events.hpp>
#include <tactus/scheduler/scheduler_event.hpp>

namespace tactus::inline v0 {

struct lost_letter {
    any_ref to;
    any_ref sender;  // names nothing: none
    const message_type* type = nullptr;
};
struct dead_letter : lost_letter {
    using event_bases = bases<lost_letter>;
    dead_letter_cause cause = dead_letter_cause::recipient_terminated;
};
struct suppressed_dead_letter : lost_letter {
    using event_bases = bases<lost_letter>;
    dead_letter_cause cause = dead_letter_cause::recipient_terminated;
};
struct unhandled_letter : lost_letter {
    using event_bases = bases<lost_letter>;
};

struct supervision_decision {
    any_ref parent;
    any_ref child;
    directive what = directive::stop;
    cause_ref why;
};

struct life_event {
    any_ref who;
};
struct actor_started : life_event {
    using event_bases = bases<life_event>;
};
struct actor_restarted : life_event {
    using event_bases = bases<life_event>;
    cause_ref why;
};
struct actor_stopped : life_event {
    using event_bases = bases<life_event>;
};

struct kernel_warning {
    any_ref who;  // names nothing: it is about the system
};
struct pressure_warning : kernel_warning {
    using event_bases = bases<kernel_warning>;
    std::uint32_t len = 0;
    std::uint32_t capacity = 0;
    std::uint32_t percent = 0;
    instant at = {};  // when it was noticed; 0 where there is no clock
};
struct pool_warning : kernel_warning {
    using event_bases = bases<kernel_warning>;
    std::uint32_t refused = 0;  // messages, since it was last said
};
struct deadline_warning : kernel_warning {
    using event_bases = bases<kernel_warning>;
    duration late;
};
struct user_code_warning : kernel_warning {
    using event_bases = bases<kernel_warning>;
    user_code where = user_code::tracer;
    cause_ref why;
};

struct starvation_warning : kernel_warning {
    using event_bases = bases<kernel_warning>;
    std::uint32_t dispatcher = 0;  // its number
    std::uint32_t waiting = 0;     // mailboxes; tasks count as one
    std::uint32_t busy = 0;        // workers
};
struct slow_handler_warning : kernel_warning {
    using event_bases = bases<kernel_warning>;
    std::uint32_t dispatcher = 0;
    std::uint32_t worker = 0;
    duration running;  // one run, of one message or a few
};

struct timer_warning : kernel_warning {
    using event_bases = bases<kernel_warning>;
    scheduler_warning what;
};

/// Of all kinds but driver_metrics. Published while an actor subscribes it, and costs that actor's
/// system a message for each timer that is scheduled, fires or ends. Timers that its handler
/// schedules are told, too.
struct timer_diagnostic {
    diagnostic what;
};

/// It tells of a lost message: when nobody handles it either, that is not told again.
[[nodiscard]] inline bool tells_of_loss(const message_type& type) noexcept {
    return &type == &message_type_of<lost_letter> || &type == &message_type_of<dead_letter> ||
           &type == &message_type_of<suppressed_dead_letter> ||
           &type == &message_type_of<unhandled_letter>;
}

}  // namespace tactus::inline v0
