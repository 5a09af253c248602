// SPDX-License-Identifier: Apache-2.0
//
// Resolve source: a task asks an actor who it is, and waits for the answer (AC-7); see
// wait_awaiter.hpp.
#pragma once

#include <expected>

#include <tactus/actor/ask_source.hpp>
#include <tactus/actor/signals.hpp>

namespace tactus::inline v0 {

class resolve_source {
public:
    struct request {
        actor_world* world;
        any_ref target;
        duration timeout;
    };
    static constexpr wait_kind waits_for = wait_kind::reply;
    using result = std::expected<any_ref, ask_fault>;  // target_terminated: there is nobody

    resolve_source(const request& what, waker& to_wake, mailbox_index owner) noexcept
        : asked_({what.world, what.target, question(), what.timeout}, to_wake, owner) {}
    [[nodiscard]] bool start() noexcept;
    [[nodiscard]] bool give_up() noexcept { return asked_.give_up(); }
    [[nodiscard]] result take() noexcept;

private:
    struct question {
        identify operator()(actor_ref<actor_identity> me) const noexcept { return {0, me}; }
    };
    ask_source<actor_identity, question> asked_;
};

}  // namespace tactus::inline v0
