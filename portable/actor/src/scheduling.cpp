// SPDX-License-Identifier: Apache-2.0
//
// Messages that are sent later; see scheduled_message.hpp.
//
// The list is for the end, when nobody waits for them any more. Its lock is taken within that of
// the timers, where one of them fires, and never the other way round: arming and cancelling are
// done without it.
#include <tactus/actor/actor_world.hpp>
#include <tactus/actor/effect_recorder.hpp>

namespace tactus::inline v0 {

schedule_handle actor_world::schedule(turn& t, scheduled_message& what, duration delay) noexcept {
    if (timers_ == nullptr) {
        what.release(memory_);
        return {};
    }
    const any_ref to = what.to();
    const message_type& type = what.type();
    what.world_ = this;
    what.sender_ = any_ref(t.self());
    what.target_.wake = &what;
    what.is_held_ = true;
    {
        const port::lock_guard held(schedule_lock_);
        link(what);
    }
    const auto timer = timers_->arm(what.target_, delay);
    bool is_over = !timer;
    {
        const port::lock_guard held(schedule_lock_);
        if (is_over)
            unlink(what);
        is_over = is_over || what.is_fired_;
        what.is_held_ = false;
        if (!is_over)
            what.timer_ = *timer;
    }
    if (effect_recorder* recorder = timer ? recording(cell::of(t.place())) : nullptr)
        recorder->scheduled(t, to, type, delay);
    if (is_over)
        what.release(memory_);
    return timer ? schedule_handle(root_, what, *timer) : schedule_handle{};
}

void scheduled_message::wake() noexcept {
    actor_world& world = *world_;
    send(sender_);
    {
        const port::lock_guard held(world.schedule_lock_);
        actor_world::unlink(*this);
        is_fired_ = true;
        if (is_held_)
            return;
    }
    release(world.memory_);
}

bool actor_world::unschedule(scheduled_message* what, timer_handle timer) noexcept {
    if (!timers_->cancel(timer))
        return false;
    {
        const port::lock_guard held(schedule_lock_);
        unlink(*what);
    }
    what->release(memory_);
    return true;
}

void actor_world::end_scheduled() noexcept {
    for (;;) {
        scheduled_message* first = nullptr;
        timer_handle timer;
        {
            const port::lock_guard held(schedule_lock_);
            first = scheduled_;
            if (first == nullptr)
                return;
            timer = first->timer_;
            unlink(*first);
        }
        (void)unschedule(first, timer);
    }
}

void actor_world::link(scheduled_message& what) noexcept {
    what.next_ = scheduled_;
    what.link_ = &scheduled_;
    if (scheduled_ != nullptr)
        scheduled_->link_ = &what.next_;
    scheduled_ = &what;
}

void actor_world::unlink(scheduled_message& what) noexcept {
    if (what.link_ == nullptr)
        return;
    *what.link_ = what.next_;
    if (what.next_ != nullptr)
        what.next_->link_ = what.link_;
    what.link_ = nullptr;
}

bool schedule_handle::cancel() noexcept {
    if (what_ == nullptr || is_cancelled_)
        return false;
    const system_table::visit in(root_.system_number());
    if (in.system() == nullptr)
        return false;
    actor_world& world = actor_world::of(*in.system());
    is_cancelled_ = world.root_ == root_ && world.unschedule(what_, timer_);
    return is_cancelled_;
}

}  // namespace tactus::inline v0
