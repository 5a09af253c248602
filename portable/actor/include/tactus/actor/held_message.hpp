// SPDX-License-Identifier: Apache-2.0
//
// Held message: one that is kept until it is to be handled; see watch_with.
#pragma once

#include <concepts>
#include <new>
#include <utility>

#include <tactus/base/memory_source.hpp>
#include <tactus/dispatch/actor_scheduler.hpp>
#include <tactus/dispatch/behaviour.hpp>
#include <tactus/mailbox/message_type.hpp>

namespace tactus::inline v0 {

class held_message {
public:
    held_message(const held_message&) = delete;
    held_message& operator=(const held_message&) = delete;

    /// Moves it into an envelope. Null: there is none, or its move threw.
    [[nodiscard]] virtual envelope* wrap(actor_scheduler& kernel, mailbox_index who) noexcept = 0;
    /// Both are of the same type, and equal if that can be said.
    [[nodiscard]] virtual bool equals(const held_message& other) const noexcept = 0;
    [[nodiscard]] virtual const message_type& type() const noexcept = 0;
    virtual void release(memory_source& memory) noexcept = 0;

protected:
    held_message() = default;
    ~held_message() = default;
};

namespace detail {

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

    [[nodiscard]] envelope* wrap(actor_scheduler& kernel, mailbox_index who) noexcept override {
        return kernel.wrap(who, std::move(message_));
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
        }
        return equal;
    }
    [[nodiscard]] const message_type& type() const noexcept override { return message_type_of<M>; }
    void release(memory_source& memory) noexcept override {
        this->~held_of();
        memory.release(this, sizeof(held_of), alignof(held_of));
    }

private:
    explicit held_of(M&& message) : message_(std::move(message)) {}
    ~held_of() = default;
    M message_;
};

}  // namespace detail

}  // namespace tactus::inline v0
