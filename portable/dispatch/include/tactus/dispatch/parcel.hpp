// SPDX-License-Identifier: Apache-2.0
//
// Parcel: a message that is about to be sent, seen without its type.
//
// Sending differs between types in two steps only: making the message where it goes, and moving it
// back when nobody took it. A parcel names those two, so that everything else is compiled once
// (sending.cpp) instead of once for each type and each way to send it. The short way of tell has no
// use for one: actor_scheduler::tell_from.
//
// Invariants
//   P1  A parcel refers to the sender's message and owns nothing: it ends before the message does.
//   P2  What the user's code throws is caught here, where that is compiled (UP-4).
//   P3  What nobody took is the sender's again before its payload ends (take_back): it can be made
//       once more, as a dead letter.
//
// Thread safety: none; a parcel is the sending thread's.
#pragma once

#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include <tactus/dispatch/behaviour.hpp>
#include <tactus/mailbox/message_type.hpp>

namespace tactus::inline v0::detail {

/// What a parcel knows about the type of its message, and about how it is passed.
struct parcel_kind {
    const message_type* type;
    /// Makes a message of the sender's one; false when that threw.
    bool (*make)(void* place, void* message) noexcept;
    /// Moves it back; null where that makes no difference, or cannot be done.
    void (*take_back)(void* message, void* payload) noexcept;
};

/// M as it is deduced from an argument M&&: a reference for an lvalue.
template <class M>
bool make_message(void* place, void* message) noexcept {
    using type = std::remove_cvref_t<M>;
    auto& from = *static_cast<std::remove_reference_t<M>*>(message);
    if constexpr (std::is_nothrow_constructible_v<type, M>) {
        ::new (place) type(std::forward<M>(from));
        return true;
    } else {
        return call_user([&] { ::new (place) type(std::forward<M>(from)); }).is_ok();
    }
}

template <class M>
void take_message_back(void* message, void* payload) noexcept {
    const auto move_back = [&] {
        *static_cast<M*>(message) = std::move(*static_cast<M*>(payload));
    };
    if constexpr (std::is_nothrow_move_assignable_v<M>)
        move_back();
    else
        (void)call_user(move_back);
}

template <class M>
constexpr auto taker_back() noexcept -> void (*)(void*, void*) noexcept {
    // What is copied stays where it was, and so does what is moved as its bytes are.
    constexpr bool stays = std::is_lvalue_reference_v<M> || std::is_const_v<M> ||
                           std::is_trivially_constructible_v<std::remove_cvref_t<M>, M>;
    if constexpr (!stays && std::is_move_assignable_v<M>)
        return &take_message_back<M>;
    else
        return nullptr;
}

template <class M>
inline constexpr parcel_kind parcel_kind_of{
    .type = &message_type_of<std::remove_cvref_t<M>>,
    .make = &make_message<M>,
    .take_back = taker_back<M>(),
};

/// As make_message, converted to T on the way.
template <class T, class M>
bool convert_message(void* place, void* message) noexcept {
    auto& from = *static_cast<std::remove_reference_t<M>*>(message);
    return call_user([&] { ::new (place) T(std::forward<M>(from)); }).is_ok();
}
template <class T, class M>
inline constexpr parcel_kind converting_kind_of{
    .type = &message_type_of<T>,
    .make = &convert_message<T, M>,
    .take_back = nullptr,
};

class parcel {
public:
    /// `M` as deduced from an argument M&&.
    template <class M>
    [[nodiscard]] static parcel of(std::remove_reference_t<M>& message) noexcept {
        const void* const place = std::addressof(message);
        // Its functions know whether it is constant. NOLINTNEXTLINE(*-const-cast)
        return {parcel_kind_of<M>, const_cast<void*>(place)};
    }

    /// The message is made a T where it goes.
    template <class T, class M>
    [[nodiscard]] static parcel converting(std::remove_reference_t<M>& message) noexcept {
        const void* const place = std::addressof(message);
        // As in of. NOLINTNEXTLINE(*-const-cast)
        return {converting_kind_of<T, M>, const_cast<void*>(place)};
    }
    /// For who does not know the type, but how it is passed.
    [[nodiscard]] static parcel as(const parcel_kind& kind, void* message) noexcept {
        return {kind, message};
    }

    [[nodiscard]] const message_type& type() const noexcept { return *kind_->type; }
    /// Makes the message at `place`; false when its constructor threw, and nothing was made.
    [[nodiscard]] bool make_at(void* place) const noexcept { return kind_->make(place, message_); }
    /// The sender has the message again, where it can be given back; `payload` is to be destroyed.
    void take_back(void* payload) const noexcept {
        if (kind_->take_back != nullptr)
            kind_->take_back(message_, payload);
    }

private:
    parcel(const parcel_kind& kind, void* message) noexcept : kind_(&kind), message_(message) {}

    const parcel_kind* kind_;
    void* message_;
};

}  // namespace tactus::inline v0::detail
