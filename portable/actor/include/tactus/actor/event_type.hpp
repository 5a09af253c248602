// SPDX-License-Identifier: Apache-2.0
//
// What the event stream knows about an event's type: which channels it belongs to, nearest first.
//
// Any message that can be copied is an event, and a channel. One that derives from others says so:
//
//     struct disk_full : disk_trouble {
//         using event_bases = tactus::bases<disk_trouble>;
//     };
//
// and is then an event of those channels too, and of theirs. C++ does not tell what a type derives
// from, so a type that declares nothing has the declaration of its base, if that has one.
//
// Channels are compared by the address of their message_type. The order, by which the nearest is
// chosen: the type itself, then what it declares, in the order declared, then what those declare.
#pragma once

#include <array>
#include <concepts>
#include <span>
#include <type_traits>

#include <tactus/dispatch/actor_scheduler.hpp>
#include <tactus/dispatch/turn.hpp>
#include <tactus/mailbox/message_type.hpp>

namespace tactus::inline v0 {

/// The types an event derives from and is an event of.
template <class... Bases>
struct bases {};

template <class E>
concept event = message<E> && std::copy_constructible<E>;

/// An event, seen as one of its channels.
struct event_channel {
    const message_type* type;
    /// Tells a subscriber the event, as a message of the channel's type.
    void (*deliver)(mailbox_index to, const void* event) noexcept;
};

struct event_type {
    const message_type* message;
    std::span<const event_channel> channels;  // itself, then the others, nearest first

    /// Every event of this type is one of `other`'s.
    [[nodiscard]] constexpr bool is_a(const event_type& other) const noexcept {
        for (const event_channel& c : channels) {
            if (c.type == other.message)
                return true;
        }
        return false;
    }
};

namespace detail {

template <class E>
struct declared_bases {
    using type = bases<>;
};
template <class E>
    requires requires { typename E::event_bases; }
struct declared_bases<E> {
    using type = typename E::event_bases;
};

template <class... Lists>
struct joined_bases {
    using type = bases<>;
};
template <class... A>
struct joined_bases<bases<A...>> {
    using type = bases<A...>;
};
template <class... A, class... B, class... Rest>
struct joined_bases<bases<A...>, bases<B...>, Rest...> {
    using type = typename joined_bases<bases<A..., B...>, Rest...>::type;
};

/// `Seen`, and what of `More` is not among it.
template <class Seen, class More>
struct without_repeats;
template <class... Seen>
struct without_repeats<bases<Seen...>, bases<>> {
    using type = bases<Seen...>;
};
template <class... Seen, class First, class... More>
struct without_repeats<bases<Seen...>, bases<First, More...>> {
    using kept = std::conditional_t<(std::same_as<Seen, First> || ...), bases<Seen...>,
                                    bases<Seen..., First>>;
    using type = typename without_repeats<kept, bases<More...>>::type;
};

/// Level by level: what is declared once more further away was nearer before.
template <class Seen, class Level>
struct closed_bases;
template <class Seen>
struct closed_bases<Seen, bases<>> {
    using type = Seen;
};
template <class Seen, class... Level>
struct closed_bases<Seen, bases<Level...>> {
    using type = typename closed_bases<
        typename without_repeats<Seen, bases<Level...>>::type,
        typename joined_bases<typename declared_bases<Level>::type...>::type>::type;
};

template <event E, event Channel>
void deliver_event(mailbox_index to, const void* e) noexcept {
    const auto& whole = *static_cast<const E*>(e);
    actor_scheduler::tell_rarely(to, static_cast<const Channel&>(whole));
}

template <class E, class Channels>
struct event_channels;
template <class E, class... Channels>
struct event_channels<E, bases<Channels...>> {
    static_assert((event<Channels> && ...), "an event and its bases can be copied and sent");
    static_assert((std::is_convertible_v<const E*, const Channels*> && ...),
                  "event_bases names types the event derives from, publicly and once");
    static constexpr std::array<event_channel, sizeof...(Channels)> all{
        event_channel{&message_type_of<Channels>, &deliver_event<E, Channels>}...};
};

}  // namespace detail

/// The descriptor of E.
template <event E>
[[gnu::visibility("default")]] inline constexpr event_type event_type_of{
    .message = &message_type_of<E>,
    .channels =
        detail::event_channels<E, typename detail::closed_bases<bases<>, bases<E>>::type>::all,
};

}  // namespace tactus::inline v0
