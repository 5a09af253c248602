// SPDX-License-Identifier: Apache-2.0
//
// Who an actor is, and its end, as something to wait for.
#include <tactus/actor/graceful_stop_source.hpp>
#include <tactus/actor/resolve_source.hpp>

#include <tactus/actor/ask.hpp>

namespace tactus::inline v0 {

bool resolve_source::start() noexcept {
    return asked_.start();
}

resolve_source::result resolve_source::take() noexcept {
    const auto answer = asked_.take();
    if (!answer)
        return std::unexpected(answer.error());
    if (!answer->who)
        return std::unexpected(ask_fault::target_terminated);
    return answer->who;
}

namespace detail {
namespace {

/// Waits for the end of another one.
class end_watcher : public actor<> {
public:
    end_watcher(reply_holder<bool> to, any_ref who) noexcept : to_(std::move(to)), who_(who) {}
    void pre_start() { context().watch(who_); }
    void on(const terminated&) {
        (*to_).replied(true);
        context().stop();
    }

private:
    reply_holder<bool> to_;
    any_ref who_;
};

}  // namespace

bool stop_wait::watch() noexcept {
    if (timeout_ <= duration::zero() || world_.timers() == nullptr ||
        world_.is_foreign(target_.index()))
        return false;
    share_ = reply_share<bool>::make(world_.memory(), to_wake_);
    if (share_ == nullptr)
        return false;
    actor_world::spawn_request wanted{.type = &actor_type_of<end_watcher>()};
    wanted.maker = make_maker<end_watcher>(world_.memory(), reply_holder<bool>(share_), target_);
    // The watcher's share ends with it, or with what it would have been made of.
    const auto made =
        wanted.maker != nullptr
            ? world_.spawn_orphan(wanted)
            : std::expected<mailbox_index, spawn_error>(std::unexpected(spawn_error{}));
    if (!made)
        return false;
    watcher_ = *made;
    if (timeout_ > world_.timers()->maximum_delay())
        return true;  // no timer can be that late
    timer_.wake = &late_;
    handle_ = world_.timers()->arm(timer_, timeout_);
    return handle_.has_value();
}

bool stop_wait::over() noexcept {
    // The watcher, or the timer, may have been faster than this.
    if (share_ != nullptr && !share_->give_up())
        return true;
    end();
    return false;
}

bool stop_wait::told(sent how) noexcept {
    if (how == sent::accepted)
        return true;
    ended_ = how == sent::recipient_terminated || how == sent::no_system;
    return over();
}

void stop_wait::end() noexcept {
    if (handle_)
        (void)world_.timers()->cancel(*handle_);
    handle_.reset();
    if (watcher_.valid())
        (void)world_.stop(watcher_);
    watcher_ = {};
    if (share_ != nullptr)
        std::exchange(share_, nullptr)->drop();
}

}  // namespace detail

}  // namespace tactus::inline v0
