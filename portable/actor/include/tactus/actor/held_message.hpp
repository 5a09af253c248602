// SPDX-License-Identifier: Apache-2.0
//
// Held message: one that is kept until it is to be handled; see watch_with.
#pragma once

#include <concepts>
#include <cstring>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include <tactus/base/memory_source.hpp>
#include <tactus/dispatch/actor_scheduler.hpp>
#include <tactus/dispatch/behaviour.hpp>
#include <tactus/mailbox/message_type.hpp>

namespace tactus::inline v0 {

class cell;

class held_message {
public:
    held_message(const held_message&) = delete;
    held_message& operator=(const held_message&) = delete;

    /// Moves it into an envelope of the actor `c`, in its turn. `made` is null when there is no
    /// envelope; the result is a failure of the actor when the move threw.
    [[nodiscard]] virtual handled wrap(cell& c, actor_scheduler& kernel, mailbox_index who,
                                       envelope*& made) noexcept = 0;
    /// Both are of the same type, and known to be equal: by ==, or else by their bytes.
    [[nodiscard]] virtual bool equals(const held_message& other) const noexcept = 0;
    [[nodiscard]] virtual const message_type& type() const noexcept = 0;
    virtual void release(memory_source& memory) noexcept = 0;

protected:
    held_message() = default;
    ~held_message() = default;
};

namespace detail {

template <class Call>
[[nodiscard]] handled guard(cell& c, Call&& call) noexcept;  // see actor.hpp

template <message M>
class held_of final : public held_message {
public:
    /// Null when there is no memory. Throws what moving the message throws.
    [[nodiscard]] static held_message* make(memory_source& memory, M&& message) {
        unused_block block(memory, memory.allocate(sizeof(held_of), alignof(held_of)),
                           sizeof(held_of), alignof(held_of));
        if (block.place == nullptr)
            return nullptr;
        held_message* made = ::new (block.place) held_of(std::move(message));
        block.place = nullptr;
        return made;
    }

    [[nodiscard]] handled wrap(cell& c, actor_scheduler& kernel, mailbox_index who,
                               envelope*& made) noexcept override {
        if constexpr (std::is_nothrow_move_constructible_v<M>) {
            made = kernel.wrap(who, std::move(message_));
            return handled::ok();
        } else {
            guarded_move of{&message_, &c, handled::ok()};
            made = kernel.wrap_parcel(who, parcel::as(guarded, &of));
            return of.result;
        }
    }
    [[nodiscard]] bool equals(const held_message& other) const noexcept override {
        if (!same_message(type(), other.type()))
            return false;
        bool equal = true;
        if constexpr (std::equality_comparable<M>) {
            const auto compare = [&] {
                equal = message_ == static_cast<const held_of&>(other).message_;
            };
            // What a comparison throws: they are not known to be equal.
            if (!call_user(compare).is_ok())
                equal = false;
        } else if constexpr (std::has_unique_object_representations_v<M>) {
            equal = std::memcmp(std::addressof(message_),
                                std::addressof(static_cast<const held_of&>(other).message_),
                                sizeof(M)) == 0;
        } else {
            equal = std::is_empty_v<M>;
        }
        return equal;
    }
    [[nodiscard]] const message_type& type() const noexcept override { return message_type_of<M>; }
    void release(memory_source& memory) noexcept override {
        this->~held_of();
        memory.release(this, sizeof(held_of), alignof(held_of));
    }

private:
    /// What is moved, for whom, and how that ended.
    struct guarded_move {
        M* from;
        cell* c;
        handled result;
    };
    static bool make_guarded(void* place, void* what) noexcept {
        auto& of = *static_cast<guarded_move*>(what);
        of.result = guard(*of.c, [&] { ::new (place) M(std::move(*of.from)); });
        return of.result.is_ok();
    }
    static constexpr parcel_kind guarded{
        .type = &message_type_of<M>, .make = &make_guarded, .take_back = nullptr};

    explicit held_of(M&& message) : message_(std::move(message)) {}
    ~held_of() = default;
    M message_;
};

}  // namespace detail

}  // namespace tactus::inline v0
