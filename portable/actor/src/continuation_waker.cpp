// SPDX-License-Identifier: Apache-2.0
//
// The shares of a wait, and what its continuations do.
#include <tactus/actor/continuation_waker.hpp>

#include <tactus/dispatch/actor_scheduler.hpp>

namespace tactus::inline v0 {

continuation_waker::continuation_waker(const coroutine_set& of) noexcept : owner_(of.owner()) {
    prepare(wake_node_);
}

void continuation_waker::prepare(system_message& node) noexcept {
    node.kind = system_kind::continuation;
    node.data.write(this);
    node.done = [](system_message& m) noexcept {
        static_cast<continuation_waker*>(m.data.read())->drop(1);
    };
}

void continuation_waker::send(system_message& node) noexcept {
    const system_table::visit v(owner_.system_number());
    if (v.system() == nullptr)
        node.done(node);  // so is its actor
    else
        (void)v.system()->send_system(owner_, node);
}

void continuation_waker::drop(std::uint32_t shares) noexcept {
    const std::uint32_t before = shares_.fetch_sub(shares, shares_given_up.acq_rel());
    TACTUS_CHECK(1, before >= shares);  // N2
    if (before == shares)
        destroy();
}

bool continuation_waker::begin(detail::task_frame& who, watch* w,
                               const cancel_token& token) noexcept {
    who_.write(&who);
    if (w != nullptr) {
        // Before the source begins: what is cancelled already is not even tried.
        token_ = token;
        watch_ = w;
        shares_.fetch_add(1, std::memory_order_relaxed);  // a share begets one: nobody can free it
        watched_ = token.watch(*w);
        if (!watched_) {
            state_ = state::cancelled;
            drop(1);
            return false;
        }
    }
    shares_.fetch_add(1, std::memory_order_relaxed);  // as above
    state_ = state::waiting;
    if (start())
        return true;
    state_ = state::idle;
    drop(1);
    return false;
}

continuation_waker::resumption continuation_waker::handle(const system_message& node) noexcept {
    if (state_ != state::waiting)
        return {};
    if (&node == &wake_node_) {
        state_ = state::woken;
    } else {
        if (!give_up())
            return {};  // the wake is on its way
        state_ = state::cancelled;
        drop(1);
    }
    return {&who_.read()->root(), who_.read()};
}

void continuation_waker::leave() noexcept {
    std::uint32_t shares = 1;
    if (state_ == state::waiting && give_up())
        ++shares;
    state_ = state::idle;
    if (watched_ && token_.unwatch(*watch_))
        ++shares;
    drop(shares);
}

}  // namespace tactus::inline v0
