// SPDX-License-Identifier: Apache-2.0
//
// Actor type: what the runtime calls of a user's actor, as a table of functions compiled where the
// user's class is (UP-4). What a class does not declare is null, and has its default.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <tactus/actor/actor_ref.hpp>
#include <tactus/actor/failure_cause.hpp>
#include <tactus/actor/signals.hpp>
#include <tactus/actor/supervision.hpp>
#include <tactus/dispatch/behaviour.hpp>
#include <tactus/dispatch/slot.hpp>
#include <tactus/mailbox/mailbox_options.hpp>

namespace tactus::inline v0 {

class cell;

/// Makes instances of one actor: its type, and what its constructor gets.
class actor_maker {
public:
    actor_maker(const actor_maker&) = delete;
    actor_maker& operator=(const actor_maker&) = delete;

    /// Constructs into `place`, in the actor's turn; `last`: it may move what it has.
    virtual void make(void* place, bool last) = 0;
    /// It can make another one, for a restart.
    [[nodiscard]] virtual bool again() const noexcept = 0;
    /// Where the instance is to be, if it does not fit into the slot.
    [[nodiscard]] virtual void* instance() noexcept = 0;
    /// Gives back the block, which the instance may be in.
    virtual void end(memory_source& memory) noexcept = 0;

protected:
    actor_maker() = default;
    ~actor_maker() = default;
};

/// Small instances are in their slot.
[[nodiscard]] constexpr bool fits_slot(std::size_t size, std::size_t alignment) noexcept {
    return size <= slot::room_size && alignment <= slot::room_alignment;
}

struct actor_type : behaviour {
    std::uint32_t size = 0;  // of the instance
    std::uint32_t alignment = 1;
    std::string_view name;

    // In the actor's turn. The maker is null for a type made of nothing.
    handled (*construct)(cell& c, void* place, actor_maker* maker) noexcept = nullptr;
    void (*destruct)(void* instance) noexcept = nullptr;
    handled (*pre_start)(cell& c, void* instance) noexcept = nullptr;
    handled (*post_stop)(cell& c, void* instance) noexcept = nullptr;
    handled (*pre_restart)(cell& c, void* instance, const failure_cause& why,
                           envelope* message) noexcept = nullptr;
    handled (*post_restart)(cell& c, void* instance, const failure_cause& why) noexcept = nullptr;
    handled (*on_terminated)(cell& c, void* instance, const terminated& t) noexcept = nullptr;
    handled (*on_child_failed)(cell& c, void* instance, const child_failed& t) noexcept = nullptr;
    handled (*on_receive_timeout)(cell& c, void* instance,
                                  const receive_timeout& t) noexcept = nullptr;
    /// The strategy for its children, and what its decider says.
    handled (*supervision)(cell& c, void* instance, const failure_cause& why,
                           supervisor_strategy& s, directive& d) noexcept = nullptr;
    /// Decides instead of the strategy's decider.
    handled (*decide)(cell& c, void* instance, any_ref child, const failure_cause& why,
                      directive& d) noexcept = nullptr;
    /// What nothing else takes; see actor.
    handled (*on_other)(cell& c, void* instance, envelope& message) noexcept = nullptr;
    capability_set mailbox_requirement = {};
    std::uint32_t stash_capacity = 0;  // of types that may stash
};

/// The table of an actor class; see actor.hpp.
template <class A>
[[nodiscard]] const actor_type& actor_type_of() noexcept;

}  // namespace tactus::inline v0
