// SPDX-License-Identifier: Apache-2.0
//
// Asking within an actor (AS-1): `co_await ask<int>(ref, [](auto me) { return total{me}; }, 1s)`
// gives expected<int, ask_failure>. With a cancel_token as last argument it can be cancelled;
// duration::max() waits for ever.
#pragma once

#include <type_traits>
#include <utility>

#include <tactus/actor/actor.hpp>
#include <tactus/actor/ask_source.hpp>
#include <tactus/actor/effect_recorder.hpp>

namespace tactus::inline v0 {
namespace detail {

template <class R>
class reply_actor : public actor<R> {
public:
    explicit reply_actor(reply_holder<R> to) noexcept : to_(std::move(to)) {}
    void on(R&& reply) {
        (*to_).replied(std::move(reply));
        this->context().stop();
    }

private:
    reply_holder<R> to_;
};

}  // namespace detail

template <class R, class Make>
bool ask_source<R, Make>::start() noexcept {
    actor_world& world = *what_.world;
    if (what_.timeout <= duration::zero())
        return refused(ask_fault::invalid_timeout);
    const bool ends = what_.timeout != duration::max();  // no timer can be that late
    // First, since a share that was made has two holders.
    if (ends && world.timers() == nullptr)
        return refused(ask_fault::no_room);
    if (ends && what_.timeout > world.timers()->maximum_delay())
        return refused(ask_fault::invalid_timeout);
    share_ = detail::reply_share<R>::make(world.memory(), to_wake_);
    if (share_ == nullptr)
        return refused(ask_fault::no_room);
    actor_world::spawn_request wanted{.type = &actor_type_of<detail::reply_actor<R>>()};
    wanted.maker =
        detail::make_maker<detail::reply_actor<R>>(world.memory(), detail::reply_holder<R>(share_));
    if (wanted.maker == nullptr)
        return refused(ask_fault::no_room);
    const auto box = world.spawn_orphan(wanted);
    if (!box)
        return refused(ask_fault::no_room);
    box_ = *box;
    if (ends) {
        target_.wake = &late_;
        target_.goes_on = true;  // back-pressure after a pause does not fail a question
        handle_ = world.timers()->arm(target_, what_.timeout);
        if (!handle_)
            return refused(ask_fault::no_room);
    }
    bool made = false;
    sent how = sent::construction_failed;
    const handled asked = call_user([&] {
        const auto told = what_.target.try_tell(what_.make.get()(actor_ref<R>(any_ref(box_))));
        made = told.has_value();
        if (!made)
            how = told.error().why;
    });
    if (asked.is_ok() && made) {
        if (effect_recorder* recorder = world.recorder()) [[unlikely]] {
            using message = std::remove_cvref_t<std::invoke_result_t<Make&, actor_ref<R>>>;
            recorder->asked({owner_, what_.target, any_ref(box_), what_.timeout,
                             &message_type_of<message>, &message_type_of<R>,
                             handle_.value_or(timer_handle()), &late_});
        }
        return true;
    }
    if (how == sent::construction_failed)
        return refused(ask_fault::question_failed);
    if constexpr (!port::has_interrupts) {
        if (how == sent::draining)
            return refused(ask_fault::draining);
    }
    return refused(how == sent::recipient_terminated || how == sent::no_system
                       ? ask_fault::target_terminated
                       : ask_fault::refused);
}

/// From within an actor's coroutine.
template <class R, class Make, class Token = no_token>
[[nodiscard]] auto ask(any_ref target, Make&& make, duration timeout, Token token = {}) {
    using source = ask_source<R, std::decay_t<Make>>;
    return wait_awaiter<source, Token, detail::function_needs_name<Make>>(
        {&actor_world::of(turn::current()->system()), target, std::forward<Make>(make), timeout},
        token);
}

}  // namespace tactus::inline v0
