// SPDX-License-Identifier: Apache-2.0
//
// Offer awaiter: a task sends, and waits for room where the mailbox is full and its strategy is
// block (MB-2, AC-2).
//
//     const sent result = co_await offer_awaiter(to, order{3});
//     const auto or_not = co_await offer_awaiter(to, order{3}, token); // expected<sent, cancelled>
//
// Like try_tell everywhere else. The wait ends after `offer_terms::limit`, or the mailbox's
// push_timeout where no limit is given: the result is timed_out. A wait that times out, is
// cancelled, or whose coroutine is destroyed withdraws its message, which becomes a dead letter
// (mailbox_timeout) unless it was delivered at that moment.
#pragma once

#include <type_traits>
#include <utility>

#include <tactus/actor/limited_offer.hpp>
#include <tactus/actor/wait_awaiter.hpp>

namespace tactus::inline v0 {

using offer_terms = limited_offer::terms;

template <class M>
class offer_source {
    // It goes from where it is awaited to the block of the wait.
    static_assert(std::is_nothrow_move_constructible_v<M>,
                  "a message that is offered by a task is moved without throwing");

public:
    struct request {
        mailbox_index to;
        M message;
        offer_terms how;
    };
    static constexpr wait_kind waits_for = wait_kind::room;
    using result = sent;

    offer_source(request&& what, waker& to_wake, mailbox_index owner) noexcept
        : what_(std::move(what)), owner_(owner), offer_(what_.how, to_wake) {}
    [[nodiscard]] bool start() noexcept {
        return offer_.start(what_.to, std::move(what_.message), {.sender = owner_});
    }
    [[nodiscard]] bool give_up() noexcept { return offer_.give_up(); }
    [[nodiscard]] sent take() noexcept { return offer_.take(); }

private:
    request what_;
    mailbox_index owner_;
    limited_offer offer_;
};

template <class M, class Token = no_token, bool NeedsName = false>
class [[nodiscard]] offer_awaiter : public wait_awaiter<offer_source<M>, Token, NeedsName> {
public:
    template <class Given>
    offer_awaiter(mailbox_index to, Given&& message, Token token = {},
                  const offer_terms& how = {}) noexcept(std::is_nothrow_constructible_v<M, Given>)
        : wait_awaiter<offer_source<M>, Token, NeedsName>({to, std::forward<Given>(message), how},
                                                          token) {}
};
template <class Given, class Token = no_token>
offer_awaiter(mailbox_index, Given&&, Token = {}, const offer_terms& = {})
    -> offer_awaiter<std::decay_t<Given>, Token, detail::needs_name<Given>>;

}  // namespace tactus::inline v0
