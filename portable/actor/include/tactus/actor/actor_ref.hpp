// SPDX-License-Identifier: Apache-2.0
//
// References to actors: values of 8 bytes, never dangling, usable from any thread (UP-1).
//
//   actor_ref<A, B>   an actor that takes messages A and B; converts to actor_ref<A>
//   any_ref           any actor; what it does not take is unhandled, and published as such (AC-4)
//
// Telling never throws, blocks or fails towards the caller: what cannot be delivered is a dead
// letter. Within an actor, it is the sender of what it tells.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <type_traits>
#include <utility>

#include <tactus/dispatch/actor_scheduler.hpp>
#include <tactus/dispatch/turn.hpp>

namespace tactus::inline v0 {

/// A message that was not accepted: why, and itself.
template <class M>
struct rejected {
    sent why;
    M message;
};

namespace detail {

/// Who sends: the actor whose turn it is on this thread, if any.
[[nodiscard]] inline mailbox_index sender_here() noexcept {
    const turn* t = turn::current();
    return t != nullptr ? t->self() : mailbox_index{};
}

template <class M>
void tell_from_here(mailbox_index to, M&& message) noexcept {
    worker* w = worker::current();
    if (w == nullptr) {
        actor_scheduler::tell(to, std::forward<M>(message));
        return;
    }
    const turn* t = turn::of(*w);
    w->system().tell_from(*w, to, std::forward<M>(message),
                          {.sender = t != nullptr ? t->self() : mailbox_index{}});
}

/// A conversion that throws loses the message (message_lost).
template <class T, class M>
void tell_converted(mailbox_index to, std::remove_reference_t<M>& message,
                    mailbox_index sender) noexcept {
    static_assert(std::is_nothrow_destructible_v<T>);
    (void)actor_scheduler::tell_parcel(to, parcel::converting<T, M>(message), sender);
}

template <class M, class... Ms>
inline constexpr std::size_t same_count = (std::size_t{std::same_as<M, Ms>} + ... + 0);
template <class M, class... Ms>
inline constexpr std::size_t convertible_count =
    (std::size_t{std::is_convertible_v<M, Ms>} + ... + 0);

/// Which of Ms an M is sent as: itself, or the only one it converts to.
template <class M, class... Ms>
struct sent_as {};
template <class M, class First, class... Rest>
struct sent_as<M, First, Rest...> {
    using type = typename std::conditional_t<std::is_convertible_v<M, First>,
                                             std::type_identity<First>, sent_as<M, Rest...>>::type;
};

template <class M, class... Ms>
concept sendable =
    same_count<std::remove_cvref_t<M>, Ms...> == 1 ||
    (same_count<std::remove_cvref_t<M>, Ms...> == 0 && convertible_count<M, Ms...> == 1);

/// A requirement that is not met names its fault in the compiler's first error: a type that is
/// declared and never defined, of the types it is about. (g++ does not name them for the
/// static_assert that follows, which says it in words.)
template <bool Met, class Fault>
struct requirement {
    static constexpr bool met = true;
};
template <class Fault>
struct requirement<false, Fault> {
    static_assert(sizeof(Fault) != 0);
    static constexpr bool met = false;
};
template <class M>
struct message_is_no_object;
template <class M>
struct message_destructor_throws;
template <class M>
struct message_cannot_be_moved;
template <class M, class... Ms>
struct message_not_taken;

template <class M>
struct message_requirements {
    static_assert(requirement < std::is_object_v<M> && !std::is_const_v<M> && !std::is_array_v<M>,
                  message_is_no_object < M >> ::met,
                  "a message is an object, no reference, array or const type");
    // AC-12: before moving, which a destructor that throws rules out for std::move_constructible.
    static_assert(requirement<std::is_nothrow_destructible_v<M>, message_destructor_throws<M>>::met,
                  "a message's destructor does not throw");
    static_assert(requirement<std::is_move_constructible_v<M>, message_cannot_be_moved<M>>::met,
                  "a message can be moved");
    static constexpr bool met = true;
};
template <class M, class... Ms>
struct message_not_in_protocol {
    static_assert(
        requirement<sendable<M, Ms...>, message_not_taken<std::remove_cvref_t<M>, Ms...>>::met,
        "the actor does not take this message");
    static constexpr bool met = true;
};

}  // namespace detail

class any_ref {
public:
    constexpr any_ref() = default;
    explicit constexpr any_ref(mailbox_index who) noexcept : who_(who) {}

    template <class M>
    void tell(M&& message) const noexcept {
        static_assert(detail::message_requirements<std::remove_cvref_t<M>>::met);
        detail::tell_from_here(who_, std::forward<M>(message));
    }
    /// As tell, from another sender: forwarding.
    template <class M>
    void tell(M&& message, any_ref sender) const noexcept {
        static_assert(detail::message_requirements<std::remove_cvref_t<M>>::met);
        actor_scheduler::tell(who_, std::forward<M>(message), {.sender = sender.who_});
    }
    /// Throws only what copying or moving a refused message into the result throws.
    template <class M>
    [[nodiscard]] std::expected<void, rejected<std::remove_cvref_t<M>>> try_tell(M&& message) const
        noexcept(std::is_nothrow_constructible_v<std::remove_cvref_t<M>, M> &&
                 std::is_nothrow_move_constructible_v<std::remove_cvref_t<M>>) {
        static_assert(detail::message_requirements<std::remove_cvref_t<M>>::met);
        const sent result = actor_scheduler::try_tell(who_, std::forward<M>(message),
                                                      {.sender = detail::sender_here()});
        if (result == sent::accepted) [[likely]]
            return {};
        // NOLINTNEXTLINE(bugprone-use-after-move): what is refused was not moved
        return std::unexpected(rejected<std::remove_cvref_t<M>>{result, std::forward<M>(message)});
    }

    [[nodiscard]] constexpr mailbox_index index() const noexcept { return who_; }
    /// It names an actor, be it one that has ended.
    explicit constexpr operator bool() const noexcept { return who_.valid(); }
    friend constexpr bool operator==(const any_ref&, const any_ref&) = default;

private:
    mailbox_index who_;
};

template <class... Ms>
class actor_ref {
public:
    constexpr actor_ref() = default;
    /// Says that the actor takes these messages: nobody checks that.
    explicit constexpr actor_ref(any_ref who) noexcept : who_(who) {}
    template <class... Others>
        requires((detail::same_count<Ms, Others...> == 1) && ...)
    // NOLINTNEXTLINE(google-explicit-constructor): who takes more takes less
    constexpr actor_ref(const actor_ref<Others...>& other) noexcept : who_(other.any()) {}

    template <class M>
    void tell(M&& message) const noexcept {
        if constexpr (detail::same_count<std::remove_cvref_t<M>, Ms...> == 1) {
            who_.tell(std::forward<M>(message));
        } else if constexpr (detail::message_not_in_protocol<M, Ms...>::met) {
            using type = typename detail::sent_as<M, Ms...>::type;
            if constexpr (std::is_nothrow_constructible_v<type, M>)
                who_.tell(type(std::forward<M>(message)));
            else
                detail::tell_converted<type, M>(who_.index(), message, detail::sender_here());
        }
    }
    template <class M>
    void tell(M&& message, any_ref sender) const noexcept {
        if constexpr (detail::same_count<std::remove_cvref_t<M>, Ms...> == 1) {
            who_.tell(std::forward<M>(message), sender);
        } else if constexpr (detail::message_not_in_protocol<M, Ms...>::met) {
            using type = typename detail::sent_as<M, Ms...>::type;
            if constexpr (std::is_nothrow_constructible_v<type, M>)
                who_.tell(type(std::forward<M>(message)), sender);
            else
                detail::tell_converted<type, M>(who_.index(), message, sender.index());
        }
    }
    /// Throws what a conversion throws; else as any_ref::try_tell.
    template <class M>
    [[nodiscard]] auto try_tell(M&& message) const {
        static_assert(detail::message_not_in_protocol<M, Ms...>::met);
        if constexpr (detail::same_count<std::remove_cvref_t<M>, Ms...> == 1)
            return who_.try_tell(std::forward<M>(message));
        else
            return who_.try_tell(
                typename detail::sent_as<M, Ms...>::type(std::forward<M>(message)));
    }

    [[nodiscard]] constexpr any_ref any() const noexcept { return who_; }
    // NOLINTNEXTLINE(google-explicit-constructor): every actor is one
    constexpr operator any_ref() const noexcept { return who_; }
    [[nodiscard]] constexpr mailbox_index index() const noexcept { return who_.index(); }
    explicit constexpr operator bool() const noexcept { return static_cast<bool>(who_); }
    friend constexpr bool operator==(const actor_ref&, const actor_ref&) = default;

private:
    any_ref who_;
};
static_assert(sizeof(actor_ref<int>) == 8);

}  // namespace tactus::inline v0
