// SPDX-License-Identifier: Apache-2.0
//
// Actor place: where in a slot, or behind it, the instance of an actor is, and what makes it.
//
//                 slot::room                slot::extras
//   it fits       the instance              its maker, or the slot itself
//   it does not   its maker, or null        the instance
//
// An actor that is small and made of nothing takes no memory but its slot (PF-7). While nobody
// lives there, extras is null.
#pragma once

#include <cstring>

#include <tactus/actor/actor_type.hpp>
#include <tactus/dispatch/slot.hpp>

namespace tactus::inline v0::detail {

class actor_place {
public:
    /// Requires: somebody lives there, or `begin` follows.
    actor_place(slot& s, const actor_type& type) noexcept
        : slot_(s), fits_(fits_slot(type.size, type.alignment)) {}
    explicit actor_place(slot& s) noexcept
        : actor_place(s, static_cast<const actor_type&>(*s.acts())) {}

    [[nodiscard]] void* instance() const noexcept { return fits_ ? slot_.room() : slot_.extras(); }
    /// Null: it is made of nothing.
    [[nodiscard]] actor_maker* maker() const noexcept {
        if (fits_)
            return slot_.extras() == &slot_ ? nullptr : static_cast<actor_maker*>(slot_.extras());
        actor_maker* m = nullptr;
        std::memcpy(&m, slot_.room(), sizeof m);
        return m;
    }
    /// `block` is for the instance of an actor that has no maker, and does not fit.
    void begin(actor_maker* maker, void* block) const noexcept {
        if (fits_) {
            slot_.set_extras(maker != nullptr ? static_cast<void*>(maker) : &slot_);
            return;
        }
        std::memcpy(slot_.room(), &maker, sizeof maker);
        slot_.set_extras(maker != nullptr ? maker->instance() : block);
    }
    /// Gives back what it is in. Requires: the instance is destroyed.
    void end(memory_source& memory, const actor_type& type) const noexcept {
        actor_maker* m = maker();
        void* block = fits_ ? nullptr : slot_.extras();
        slot_.set_extras(nullptr);
        if (m != nullptr)
            m->end(memory);
        else if (block != nullptr)
            memory.release(block, type.size, type.alignment);
    }

private:
    slot& slot_;
    const bool fits_;
};

}  // namespace tactus::inline v0::detail
