// SPDX-License-Identifier: Apache-2.0
//
// Submitting, running and parking workers on an executor of the application.
//
// A worker belongs to one place at a time: to who wakes it, to the executor's queue, to the thread
// that runs it, or to the list of those that rest. Handing it on is the last thing each does.
#include <tactus/dispatch/lent_workers.hpp>

#include <new>

namespace tactus::inline v0 {

lent_workers::lent_workers(actor_scheduler& system, dispatcher& what, executor& to,
                           const options& o) noexcept
    : system_(system),
      what_(what),
      to_(to),
      memory_(*o.memory),
      events_(o.events),
      on_park_(o.parked),
      attempts_max_(o.retries + 1) {
    const std::uint32_t count = what.worker_count();
    lents_ = static_cast<lent*>(memory_.allocate(count * sizeof(lent), alignof(lent)));
    TACTUS_CHECK(1, lents_ != nullptr);
    for (std::uint32_t i = 0; i < count; ++i) {
        lent& l = *::new (&lents_[i]) lent(*this, what.worker_at(i));
        what.order().lend(l.worker_.lanes(), l);
    }
    for (std::uint32_t i = 0; i < count; ++i) {
        active_.fetch_add(1, std::memory_order_relaxed);  // before anybody can end it
        if (what.order().rest(lents_[i].worker_.lanes()))
            left();
        else
            submit(lents_[i]);  // there was something already
    }
}

lent_workers::~lent_workers() {
    const std::uint32_t count = what_.worker_count();
    for (std::uint32_t i = 0; i < count; ++i)
        lents_[i].~lent();
    memory_.release(lents_, count * sizeof(lent), alignof(lent));
}

void lent_workers::lent::wake() noexcept {
    woken_ = true;
    all_.active_.fetch_add(1, std::memory_order_relaxed);  // before anybody can end it
    all_.submit(*this);
}

void lent_workers::submit(lent& l) noexcept {
    if (stopping_.load(std::memory_order_relaxed) == 0) {
        for (unsigned attempt = 0; attempt < attempts_max_; ++attempt) {
            l.retried_ = attempt != 0;  // the executor's, once it has accepted
            if (to_.submit(l, {}))
                return;
        }
        to_.notify_rejected(l, attempts_max_);
        what_.note_rejected();
        system_.measures().executor_rejected();
        if (events_ != nullptr)
            events_->executor_rejected(
                what_, {what_.order().first_waiting(), attempts_max_, to_.rejection_cause()});
    }
    park(l);
}

void lent_workers::park(lent& l) noexcept {
    if (!l.gave_up_) {
        l.gave_up_ = true;
        if (what_.note_parked() && events_ != nullptr)
            events_->dispatcher_backpressure(what_, what_.order().waiting_count(), true);
    }
    if (std::exchange(l.woken_, false))
        what_.order().begin(l.worker_.lanes());
    what_.order().surrender(l.worker_.lanes());  // retry() looks where everybody does
    waker* const told = stopping_.load(std::memory_order_relaxed) == 0 ? on_park_ : nullptr;
    (void)what_.order().rest(l.worker_.lanes(), true);
    if (told != nullptr)
        told->wake();
    left();
}

void lent_workers::accepted(lent& l) noexcept {
    if (std::exchange(l.retried_, false)) [[unlikely]]
        system_.measures().executor_retried();
    if (!l.gave_up_) [[likely]]
        return;
    l.gave_up_ = false;
    if (what_.note_unparked() && events_ != nullptr)
        events_->dispatcher_backpressure(what_, what_.order().waiting_count(), false);
}

handled lent_workers::lent::run() noexcept {
    coordinator& order = all_.what_.order();
    all_.accepted(*this);
    const worker::binding bound(worker_);
    if (std::exchange(woken_, false))
        order.begin(worker_.lanes());
    for (std::uint32_t turns = 0; turns < turns_max; ++turns) {
        if (all_.system_.run_one(worker_))
            continue;
        if (order.rest(worker_.lanes())) {
            all_.left();
            return handled::ok();
        }
    }
    all_.submit(*this);
    return handled::ok();
}

void lent_workers::retry() noexcept {
    // One is enough: who finds more than it can do wakes the next.
    if (needs_retry())
        what_.order().made_work();
}

bool lent_workers::stop() noexcept {
    stopping_.store(1, std::memory_order_relaxed);
    for (std::uint32_t i = 0; i < what_.worker_count(); ++i) {
        if (to_.withdraw(lents_[i]))
            left();
    }
    return stopped();
}

}  // namespace tactus::inline v0
