// SPDX-License-Identifier: Apache-2.0
//
// Cancelling: the ends of jobs, and where they are kept until they are out of the wheel (CN, K1 …
// K3).
#include "this_thread.hpp"

#include <tactus/scheduler/scheduler.hpp>

namespace tactus::inline v0 {

using detail::job;

bool scheduler::changed(job& j, job_state from, job_state to, job_end why) noexcept {
    job_word seen(j.word.load(std::memory_order_relaxed));
    return changed(j, seen, from, to, why);
}

bool scheduler::changed(job& j, job_word& seen, job_state from, job_state to,
                        job_end why) noexcept {
    while (seen.state() == from) {
        if (j.replace(seen, seen.with(to, why)))
            return true;
    }
    return false;
}

void scheduler::owe_wake(job& j) noexcept {
    deactivate(j);
    count_cancelled(j);
    j.next.write(unwoken_);
    unwoken_ = &j;
    note_nearer(instant::epoch());
}

job* scheduler::take_unwoken() noexcept {
    job* found = nullptr;
    while (unwoken_ != nullptr) {
        job& j = *std::exchange(unwoken_, unwoken_->next.read());
        // Who is woken asks, and does not take it for its time.
        if (changed(j, job_state::pending, job_state::executing, job_end::closed)) {
            j.next.write(found);
            found = &j;
        } else {
            apply(j);  // cancelled meanwhile
        }
    }
    return found;
}

void scheduler::withdraw(job& j, job_word was) noexcept {
    // With a quota its place is free at once; who watches is told at once.
    if (!was.is(job_word::periodic) && quota_ == scheduler_capacity::unlimited && !is_closed_ &&
        j.carries == nullptr &&
        (services_ == nullptr || !services_->has(scheduler_services::watching))) [[likely]]
        keep_withdrawn(j);
    else
        apply(j);
}

// Nobody else refers to it, and what it carried has ended.
void scheduler::keep_withdrawn(job& j) noexcept {
    ++counts_.cancelled;
    wheel_.fetch(j.timer);
    if (job* const oldest = withdrawn_.push(j)) [[likely]]
        end_withdrawn(*oldest);
    if (const job* const next = withdrawn_.halfway()) [[likely]]
        wheel_.fetch_neighbours(next->timer);
    // The last one is gone, and there is memory to give back.
    if (active_ == withdrawn_.count() && wheel_.holds_more_than_retained()) [[unlikely]]
        settle_all();
}

void scheduler::end_withdrawn(job& j) noexcept {
    (void)wheel_.cancel(j.timer);
    deactivate(j);
    end_alive(j);
}

void scheduler::settle_all() noexcept {
    withdrawn_.clear([this](job& j) { end_withdrawn(j); });
}

void scheduler::end_scheduled(job& j) noexcept {
    deactivate(j);
    if (j.carries == nullptr) {
        end_alive(j);
        return;
    }
    // A function that waits or runs is ended by who runs it, unless that is over just now.
    if (j.kind == job_kind::function && j.holders.load(job::held.acquire()) != 1) {
        if (j.holders.fetch_sub(1, job::held.acq_rel()) != 1)
            return;
        j.holders.store(1, std::memory_order_relaxed);  // nobody else refers to it
    }
    doom(j);
}

void scheduler::end_alive(job& j) noexcept {
    // Nobody else can hold what only this one does. No release: it carries nothing, and what this
    // one did under the lock is seen by who gives the cell back under it.
    if (j.holders.load(job::held.acquire()) == 1 ||
        j.holders.fetch_sub(1, job::held.acquire()) == 1)
        give(j);
}

void scheduler::do_left() noexcept {
    lock_.do_left([this](job& j) { apply(j); });
    if (store_.wants_spares()) [[unlikely]]
        put_spares_aside();
}

// ---- anybody

void scheduler::submit(job& j) noexcept {
    if (!lock_.enter_or_leave(j))
        return;
    apply(j);
    let_go();
}

void scheduler::drop_cargo(job& j) noexcept {
    if (j.carries == nullptr)
        return;
    if (j.carries->cancelled != nullptr && j.kind != job_kind::function &&
        job_word(j.word.load(std::memory_order_relaxed)).state() == job_state::cancelled)
        j.carries->cancelled(j.cargo);
    if (j.carries->destroy != nullptr)
        j.carries->destroy(j.cargo);
    free_room(j);
}

bool scheduler::stop(std::uint32_t index, std::uint32_t generation, job_state to,
                     job_end why) noexcept {
    if (generation == 0)
        return false;
    job_word seen(store_.word_at(index).load(job::state.acquire()));
    job& j = store_.at(index);
    bool inside = false;
    // CN-3: a function that waits keeps no timer from being registered, nor does a timer whose
    // owner has yet to arm it again; and the cancel is noted now, not when they are done. Its cell
    // is not given back while the lock is held, and it is in somebody's hands, so that it cannot be
    // left for the holder.
    if (seen.state() == job_state::executing && seen.is(job_word::periodic) && !seen.is_sent()) {
        if (!lock_.try_enter())
            enter();
        inside = true;
    }
    const bool is_ended = end_word(j, seen, generation, to, why);
    if (inside) {
        if (is_ended && seen.state() == job_state::executing && !seen.is_sent()) {
            deactivate(j);
            if (to == job_state::cancelled)
                count_cancelled(j);
        }
        let_go();
    }
    if (!is_ended)
        return false;
    // K2: pending and executing jobs are ended by who has them, if anybody has.
    if (seen.state() == job_state::executing && seen.is(job_word::wakes)) {
        drop_cargo(j);
        leave_cancelled_wake(j);
    } else if (seen.state() == job_state::scheduled || seen.is_sent()) {
        if (!j.is_shared() && !is_to_be_told(j))
            drop_cargo(j);
        if constexpr (withdrawn_places == 0) {
            submit(j);
        } else if (lock_.enter_or_leave(j)) {
            withdraw(j, seen);
            let_go();
        }
    } else if (seen.state() == job_state::executing && seen.is(job_word::owned)) {
        let_go_of_owned(j, 1);  // this is its owner; who fires it may have it in its list
    }
    return true;
}

bool scheduler::end_word(job& j, job_word& seen, std::uint32_t generation, job_state to,
                         job_end why) const noexcept {
    for (;;) {
        if (seen.generation() != generation)
            return false;
        if (!seen.can_be_cancelled()) {
            // Its waker may be gone when this returns: not while it is being called, unless that
            // call is what cancels.
            if (!seen.is_waking() ||
                firing_thread_.load(std::memory_order_relaxed) == this_thread())
                return false;
            port::yield();
            seen = job_word(j.word.load(job::state.acquire()));
            continue;
        }
        job_word::stored bits = seen.bits();
        if (j.word.compare_exchange_weak(bits, seen.with(to, why).bits(), job::state.acquire(),
                                         job::state.acquire()))
            return true;
        seen = job_word(bits);
    }
}

std::optional<job_state> scheduler::state_of(const cancellable& which) const noexcept {
    if (which.serial_ != serial_ || which.generation_ == 0)
        return std::nullopt;
    return job_word(store_.word_at(which.index_).load(job::state.acquire()))
        .outcome_of(which.generation_);
}

bool scheduler::was_closed(const cancellable& which) const noexcept {
    const job_word word(store_.word_at(which.index_).load(job::state.acquire()));
    return word.generation() == which.generation_ && word.was_closed();
}

std::optional<job_end> scheduler::end_of(const cancellable& which) const noexcept {
    if (which.serial_ != serial_ || which.generation_ == 0)
        return std::nullopt;
    const job_word word(store_.word_at(which.index_).load(job::state.acquire()));
    if (word.generation() != which.generation_ ||
        (word.state() != job_state::completed && word.state() != job_state::cancelled))
        return std::nullopt;
    return word.end();
}

}  // namespace tactus::inline v0
