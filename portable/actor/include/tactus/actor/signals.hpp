// SPDX-License-Identifier: Apache-2.0
//
// Messages that every actor understands, and those the runtime sends (AC-8, DW-1).
#pragma once

#include <tactus/actor/actor_ref.hpp>
#include <tactus/actor/failure_cause.hpp>
#include <tactus/mailbox/message_type.hpp>
#include <tactus/time/instant.hpp>

namespace tactus::inline v0 {

/// Stops the actor when it comes to it: after what was sent before. To who has ended it is nothing.
struct poison_pill : dead_letter_suppression {};
/// Fails the actor (failure_kind::killed) when it comes to it.
struct kill {};

struct actor_identity {
    std::uint64_t id;
    any_ref who;  // names nothing: there is no such actor
};
/// Answered with actor_identity, by whoever gets it; a dead letter is answered, too.
struct identify {
    std::uint64_t id = 0;
    actor_ref<actor_identity> reply_to = {};
};

/// No message came for so long. Told again and again while that lasts; see set_receive_timeout.
struct receive_timeout {
    duration after;
};

/// For actors made of functions: the actor ends, as post_stop of a class.
struct post_stop_signal {};
/// The same, as pre_restart of a class.
struct pre_restart_signal {
    const failure_cause& why;
};

/// A watched actor has ended. Who watches and does not handle this fails (death_pact).
/// One that comes too late is not missed (PK-DW-8).
struct terminated : dead_letter_suppression {
    terminated() = default;
    // NOLINTNEXTLINE(google-explicit-constructor): as if it were an aggregate
    terminated(any_ref ended) noexcept : who(ended) {}
    any_ref who;
};
/// The same, of a child that failed and was not restarted. Who handles only `terminated` gets that.
struct child_failed : terminated {
    cause_ref why;
};

}  // namespace tactus::inline v0
