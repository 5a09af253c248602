// SPDX-License-Identifier: Apache-2.0
//
// Receptionist: who offers a service, found by its key instead of by a name (PK-TYP-18).
//
//     inline const service_key<order> tills{"tills"};
//     const receptionist_ref desk = receptionist_of(context().world());
//     desk.tell(register_service(tills, till));
//     desk.tell(subscribe_services(tills, self()));  // told listing<order> now and at changes
//
// One actor of the system, made when it is first asked for. Ended actors are removed. Two keys are
// the same when their names and their messages are.
//
// Invariants
//   S1  what is registered or subscribed is in one list, in the order in which it came: listings
//       are in that order, and so are those who are told
//   S2  each actor in the list is watched
//
// Memory: one block of the world's for each registration and subscription. A key has at most
// listing::refs_max services; what is too much, or has no memory, is refused, which is logged. An
// actor of another system is refused, too.
// Listings are larger than an envelope (actor_scheduler::options::large_payloads).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

#include <tactus/actor/actor.hpp>

namespace tactus::inline v0 {

template <class... Ms>
class listing;

/// What is offered: a name, and the messages it takes.
template <class... Ms>
class service_key {
public:
    /// The name outlives every system that knows it: a literal.
    explicit constexpr service_key(std::string_view name) noexcept : name_(name) {}
    [[nodiscard]] constexpr std::string_view name() const noexcept { return name_; }
    friend constexpr bool operator==(const service_key&, const service_key&) = default;

private:
    std::string_view name_;
};

/// Who offers a service, in the order they were registered.
template <class... Ms>
class listing {
public:
    static constexpr std::size_t refs_max = 32;

    listing(service_key<Ms...> key, std::span<const any_ref> who) noexcept : key_(key) {
        for (const any_ref one : who.first(who.size() < refs_max ? who.size() : refs_max))
            refs_[size_++] = actor_ref<Ms...>(one);
    }
    [[nodiscard]] service_key<Ms...> key() const noexcept { return key_; }
    [[nodiscard]] std::span<const actor_ref<Ms...>> refs() const noexcept {
        return {refs_.data(), size_};
    }

private:
    service_key<Ms...> key_;
    std::uint32_t size_ = 0;
    std::array<actor_ref<Ms...>, refs_max> refs_;
};

/// A key without its types.
struct service_id {
    const message_type* listing;
    std::string_view name;
    friend bool operator==(const service_id& a, const service_id& b) noexcept {
        return a.name == b.name && same_message(*a.listing, *b.listing);
    }
};
/// Makes the listing that `to` takes, and tells it.
using listing_teller = void (*)(any_ref to, std::string_view name, std::span<const any_ref> who);

// What the receptionist is told; made by the functions below.
struct service_change {
    enum class kind : std::uint8_t { add, remove };
    kind what;
    service_id id;
    any_ref who;
};
struct service_question {
    enum class kind : std::uint8_t { find, subscribe, unsubscribe };
    kind what;
    service_id id;
    any_ref to;
    listing_teller tell;
};
using receptionist_ref = actor_ref<service_change, service_question>;

/// Names nothing when the system ends, or has no room for it. Any thread.
[[nodiscard]] receptionist_ref receptionist_of(actor_world& world) noexcept;

namespace detail {

template <class... Ms>
[[nodiscard]] service_id id_of(const service_key<Ms...>& key) noexcept {
    return {&message_type_of<listing<Ms...>>, key.name()};
}
template <class... Ms>
[[nodiscard]] service_question question_about(service_question::kind what,
                                              const service_key<Ms...>& key,
                                              actor_ref<listing<Ms...>> to) noexcept {
    return {what, id_of(key), to.any(),
            [](any_ref whom, std::string_view name, std::span<const any_ref> who) {
                whom.tell(listing<Ms...>(service_key<Ms...>(name), who));
            }};
}
/// So that only the key says which messages they are.
template <class T>
using just = std::type_identity_t<T>;

}  // namespace detail

/// Again: nothing.
template <class... Ms>
[[nodiscard]] service_change register_service(const service_key<Ms...>& key,
                                              detail::just<actor_ref<Ms...>> who) noexcept {
    return {service_change::kind::add, detail::id_of(key), who.any()};
}
/// Under this key; under others it stays.
template <class... Ms>
[[nodiscard]] service_change deregister_service(const service_key<Ms...>& key,
                                                detail::just<actor_ref<Ms...>> who) noexcept {
    return {service_change::kind::remove, detail::id_of(key), who.any()};
}
/// Answered by one listing<Ms...>.
template <class... Ms>
[[nodiscard]] service_question find_services(
    const service_key<Ms...>& key, detail::just<actor_ref<listing<Ms...>>> reply_to) noexcept {
    return detail::question_about(service_question::kind::find, key, reply_to);
}
/// Told a listing<Ms...> now, and at every change. Again: nothing.
template <class... Ms>
[[nodiscard]] service_question subscribe_services(
    const service_key<Ms...>& key, detail::just<actor_ref<listing<Ms...>>> who) noexcept {
    return detail::question_about(service_question::kind::subscribe, key, who);
}
template <class... Ms>
[[nodiscard]] service_question unsubscribe_services(
    const service_key<Ms...>& key, detail::just<actor_ref<listing<Ms...>>> who) noexcept {
    return detail::question_about(service_question::kind::unsubscribe, key, who);
}

}  // namespace tactus::inline v0
