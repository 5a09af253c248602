// SPDX-License-Identifier: Apache-2.0
//
// Placement: what an actor's props say about where it runs and which mailbox it gets (DR-4).
//
// A value that is built up: `spawn_choice().with_dispatcher("x").with_capacity(100)`. Props inherit
// the builder, so that every step gives back the type it was called on. What is not said is decided
// by the deployment, the dispatcher or the defaults: see resolver.hpp.
//
// Ids are not copied: they must live until the actor is spawned, as literals do.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include <tactus/dispatch/lane.hpp>
#include <tactus/dispatch/suspend_limit.hpp>
#include <tactus/mailbox/mailbox_options.hpp>

namespace tactus::inline v0 {

struct placement {
    std::string_view dispatcher = {};                 // empty: not said
    std::string_view mailbox = {};                    // empty: not said
    std::optional<mailbox_options> own_mailbox = {};  // instead of an id
    std::optional<std::uint32_t> capacity = {};       // of whichever mailbox it gets
    std::optional<overflow> when_full = {};  // likewise; asks for a bound where there is none
    mailbox_options fields = {};  // likewise, those that differ from the default; but the kind
    std::uint8_t priority = default_priority;
    duration deadline = duration::zero();  // of what it is sent without one; zero: none (LN-8)
    suspend_limit suspending = {};         // of suspensions that are given none of their own (CO-6)
    capability_set requirement = {};       // what the mailbox must be able to do
};

template <class Self>
class placement_builder {
public:
    [[nodiscard]] constexpr Self with_dispatcher(std::string_view id) && {
        placement_.dispatcher = id;
        return std::move(self());
    }
    [[nodiscard]] constexpr Self with_mailbox(std::string_view id) && {
        placement_.mailbox = id;
        placement_.own_mailbox.reset();
        return std::move(self());
    }
    [[nodiscard]] constexpr Self with_mailbox(const mailbox_options& options) && {
        placement_.own_mailbox = options;
        placement_.mailbox = {};
        return std::move(self());
    }
    [[nodiscard]] constexpr Self with_capacity(std::uint32_t messages) && {
        placement_.capacity = messages;
        return std::move(self());
    }
    [[nodiscard]] constexpr Self with_overflow(overflow strategy) && {
        placement_.when_full = strategy;
        return std::move(self());
    }
    [[nodiscard]] constexpr Self with_priority(std::uint8_t priority) && {
        placement_.priority = priority;
        return std::move(self());
    }
    [[nodiscard]] constexpr Self with_deadline(duration after) && {
        placement_.deadline = after;
        return std::move(self());
    }
    /// How long it may be suspended, unless a suspension says otherwise.
    [[nodiscard]] constexpr Self with_suspend_limit(duration after,
                                                    suspend_limit_action action) && {
        placement_.suspending = {after, action};
        return std::move(self());
    }
    /// Adds to what was required before.
    [[nodiscard]] constexpr Self with_requirement(capability_set required) && {
        placement_.requirement = placement_.requirement | required;
        return std::move(self());
    }

    // The same from a choice that is kept: it stays as it is.
    [[nodiscard]] constexpr Self with_dispatcher(std::string_view id) const& {
        return Self(self()).with_dispatcher(id);
    }
    [[nodiscard]] constexpr Self with_mailbox(std::string_view id) const& {
        return Self(self()).with_mailbox(id);
    }
    [[nodiscard]] constexpr Self with_mailbox(const mailbox_options& options) const& {
        return Self(self()).with_mailbox(options);
    }
    [[nodiscard]] constexpr Self with_capacity(std::uint32_t messages) const& {
        return Self(self()).with_capacity(messages);
    }
    [[nodiscard]] constexpr Self with_overflow(overflow strategy) const& {
        return Self(self()).with_overflow(strategy);
    }
    [[nodiscard]] constexpr Self with_priority(std::uint8_t priority) const& {
        return Self(self()).with_priority(priority);
    }
    [[nodiscard]] constexpr Self with_deadline(duration after) const& {
        return Self(self()).with_deadline(after);
    }
    [[nodiscard]] constexpr Self with_suspend_limit(duration after,
                                                    suspend_limit_action action) const& {
        return Self(self()).with_suspend_limit(after, action);
    }
    [[nodiscard]] constexpr Self with_requirement(capability_set required) const& {
        return Self(self()).with_requirement(required);
    }

    [[nodiscard]] constexpr const placement& where() const noexcept { return placement_; }

private:
    friend Self;
    constexpr placement_builder() noexcept = default;

    [[nodiscard]] constexpr Self& self() noexcept { return static_cast<Self&>(*this); }
    [[nodiscard]] constexpr const Self& self() const noexcept {
        return static_cast<const Self&>(*this);
    }

    placement placement_;
};

/// A placement alone, for what is spawned without props.
class spawn_choice final : public placement_builder<spawn_choice> {};

}  // namespace tactus::inline v0
