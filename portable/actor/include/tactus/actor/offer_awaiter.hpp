// SPDX-License-Identifier: Apache-2.0
//
// Offer awaiter: a task sends, and waits for room where the mailbox is full and its strategy is
// block (MB-2, AC-2).
//
//     const sent result = co_await offer_awaiter(to, order{3});
//     const auto or_not = co_await offer_awaiter(to, order{3}, token); // expected<sent, cancelled>
//
// As try_tell everywhere else. A wait that is cancelled, or whose coroutine is destroyed, gives up:
// the message becomes a dead letter (mailbox_timeout), unless it was delivered at that moment. How
// long to wait is not decided here: cancel the token.
#pragma once

#include <optional>
#include <type_traits>
#include <utility>

#include <tactus/actor/wait_awaiter.hpp>
#include <tactus/dispatch/offer.hpp>

namespace tactus::inline v0 {

template <class M>
class offer_source {
    // It goes from where it is awaited to the block of the wait.
    static_assert(std::is_nothrow_move_constructible_v<M>,
                  "a message that is offered by a task is moved without throwing");

public:
    struct request {
        mailbox_index to;
        M message;
    };
    static constexpr wait_kind waits_for = wait_kind::room;
    using result = sent;

    offer_source(request&& what, waker& to_wake, mailbox_index owner) noexcept
        : what_(std::move(what)), owner_(owner), pending_(to_wake) {}
    [[nodiscard]] bool start() noexcept {
        at_once_ = pending_.start(what_.to, std::move(what_.message), {.sender = owner_});
        return !at_once_.has_value();
    }
    [[nodiscard]] bool give_up() noexcept { return pending_.cancel(); }
    [[nodiscard]] sent take() noexcept { return at_once_ ? *at_once_ : pending_.decision(); }

private:
    request what_;
    mailbox_index owner_;
    std::optional<sent> at_once_;
    pending_offer pending_;
};

template <class M, class Token = no_token>
class [[nodiscard]] offer_awaiter : public wait_awaiter<offer_source<M>, Token> {
public:
    offer_awaiter(mailbox_index to, M message, Token token = {}) noexcept
        : wait_awaiter<offer_source<M>, Token>({to, std::move(message)}, token) {}
};

}  // namespace tactus::inline v0
