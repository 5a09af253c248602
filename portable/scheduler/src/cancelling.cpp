// SPDX-License-Identifier: Apache-2.0
//
// The lock's holder at work, and the ends of jobs (CN, K1 … K3).
#include "this_thread.hpp"

#include <tactus/scheduler/scheduler.hpp>

#include <tactus/dispatch/system_table.hpp>
#include <tactus/dispatch/worker.hpp>

namespace tactus::inline v0 {

using detail::job;
using detail::job_kind;
namespace {

scheduler_warning dropped_warning(job_id which, timer_priority priority) noexcept {
    return {.kind = scheduler_warning_kind::dropped_low_priority,
            .job = which,
            .value = static_cast<std::int64_t>(priority)};
}

}  // namespace

bool scheduler::changed(job& j, job_state from, job_state to, job_end why) noexcept {
    job_word seen(j.word.load(std::memory_order_relaxed));
    while (seen.state() == from) {
        job_word::stored bits = seen.bits();
        if (j.word.compare_exchange_weak(bits, seen.with(to, why).bits(), job::state.release(),
                                         std::memory_order_relaxed))
            return true;
        seen = job_word(bits);
    }
    return false;
}

// ---- the lock's holder

bool scheduler::insert(job& j) noexcept {
    if (j.has_overflow) [[unlikely]]
        take_reserved(j);
    auto made = wheel_.insert(j.registered_at, j.due - j.registered_at, store_.index_of(j));
    if (!made && withdrawn_.count() != 0) [[unlikely]] {
        settle_all();
        made = wheel_.insert(j.registered_at, j.due - j.registered_at, store_.index_of(j));
    }
    if (!made) [[unlikely]]
        return false;
    j.timer = *made;
    if (j.due < kept_) [[unlikely]]
        note_nearer(j.due);
    if (j.sequence == 0 || j.comes_back) {
        if (j.is_periodic() && j.sequence == 0)
            ++periodic_;
        j.comes_back = false;
        j.sequence = ++sequence_;
        ++counts_.registered;
        note(diagnostic_kind::schedule, j, scale_.floor(j.registered_at));
    }
    if (!j.is_active) {
        j.is_active = true;
        ++active_;
    }
    return true;
}

void scheduler::note_nearer(instant due) noexcept {
    const instant at = scale_.begin_of(scale_.ceil(due));
    if (at < kept_) {
        kept_ = at;
        is_nearer_ = true;
    }
}

tick scheduler::next_kept() noexcept {
    const tick next = wheel_.next_deadline().value_or(no_deadline);
    const instant at = next != no_deadline ? scale_.begin_of(next) : instant::never();
    // SC-36: who sleeps for one that was cancelled sleeps on. Where time is set by hand, it is set
    // to what is there.
    if (kept_ < at && clock_kind_ == clock_kind::realtime_host && kept_ > time_.now())
        return scale_.floor(kept_);
    kept_ = at;
    return next;
}

void scheduler::deactivate(job& j) noexcept {
    if (j.is_active) {
        j.is_active = false;
        --active_;
        if (j.is_periodic() && j.sequence != 0)
            --periodic_;
    }
}

void scheduler::lose(job& j, tick at) noexcept {
    ++counts_.dropped;
    j.is_counted = true;
    // Who is doomed is told of then: there may be several.
    if (j.carries == nullptr || j.is_shared()) {
        lost_ = id_of(j);
        lost_priority_ = j.priority;
        has_lost_ = true;
    }
    note(diagnostic_kind::drop, j, at, static_cast<std::int64_t>(j.priority));
}

void scheduler::doom(job& j) noexcept {
    j.next.write(doomed_);
    doomed_ = &j;
}

void scheduler::apply(job& j) noexcept {
    // Relaxed, as all looks of the holder: what it needs was done by who has left it here.
    job_word word(j.word.load(std::memory_order_relaxed));
    if (word.state() == job_state::pending) {
        const bool is_in = !is_closed_ && insert(j);
        if (is_in && changed(j, job_state::pending, job_state::scheduled)) [[likely]]
            return;
        if (!is_in && is_closed_) {
            (void)changed(j, job_state::pending, job_state::cancelled, job_end::closed);
        } else if (!is_in &&
                   changed(j, job_state::pending, job_state::cancelled, job_end::dropped)) {
            // No memory for it, or, of one that comes again, no place so far away.
            lose(j, now_if_watched());
        }
        word = job_word(j.word.load(std::memory_order_relaxed));
    }
    // Ended, by who is here or has left it here.
    give_back_overflow(j);
    if (j.holders.load(std::memory_order_relaxed) == 0) {
        store_.give(j);
        return;
    }
    (void)wheel_.cancel(j.timer);
    if (word.state() == job_state::cancelled && !j.is_counted) {
        j.is_counted = true;
        ++counts_.cancelled;
        note(diagnostic_kind::cancel, j, now_if_watched());
    }
    end_scheduled(j);
}

void scheduler::withdraw(job& j, job_word was) noexcept {
    // With a quota its place is free at once; who watches is told at once.
    if (!was.is(job_word::periodic) && quota_ == scheduler_capacity::unlimited && !is_closed_ &&
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

tick scheduler::now_if_watched() const noexcept {
    return services_ != nullptr && services_->has(scheduler_services::watching)
               ? scale_.floor(time_.now())
               : 0;
}

void scheduler::note_watched(diagnostic_kind kind, const job* j, tick at,
                             std::int64_t detail) noexcept {
    noted_at_ = at > noted_at_ ? at : noted_at_;
    diagnostic d{.kind = kind, .at = noted_at_, .detail = detail};
    if (j != nullptr) {
        d.mode = j->mode;
        d.executor = j->executor;
        d.job = id_of(j->kind == job_kind::flight ? *j->flight : *j);
        d.scheduled_at = scale_.floor(j->registered_at);
        d.deadline = scale_.ceil(j->due);
    }
    if (services_->note(d))
        is_lossy_ = true;
}

void scheduler::end_alive(job& j) noexcept {
    // Nobody else can hold what only this one does.
    if (j.holders.load(job::held.acquire()) == 1 ||
        j.holders.fetch_sub(1, job::held.acq_rel()) == 1)
        store_.give(j);
}

tick scheduler::leave(bool wants_next) noexcept {
    bool nearer = false;
    instant nearest;
    bool lossy = false;
    std::optional<scheduler_warning> lost;
    job* doomed = nullptr;
    tick next = 0;
    for (;;) {
        if (std::exchange(is_nearer_, false)) {
            nearer = true;
            nearest = kept_;
        }
        lossy = lossy || std::exchange(is_lossy_, false);
        if (std::exchange(has_lost_, false)) [[unlikely]]
            lost = dropped_warning(lost_, lost_priority_);
        if (job* const more = std::exchange(doomed_, nullptr)) [[unlikely]] {
            job* last = more;
            while (last->next.read() != nullptr)
                last = last->next.read();
            last->next.write(doomed);
            doomed = more;
        }
        if (store_.wants_spares()) [[unlikely]]
            store_.refill();
        // What others left is in it, or it does not let go.
        if (wants_next)
            next = next_kept();
        if (lock_.try_leave()) [[likely]]
            break;
        lock_.do_left([this](job& j) {
            ++counts_.commands_left;
            apply(j);
        });
    }
    if (nearer)
        kernel_->deadline_added(nearest);
    if (lossy && listener_ != nullptr) [[unlikely]]
        services_->tell(*listener_, time_.now());
    if (lost && listener_ != nullptr) [[unlikely]] {
        lost->at = time_.now();
        listener_->warned(*lost);
    }
    // Last doomed first, so oldest last: turned round.
    job* oldest = nullptr;
    while (doomed != nullptr) {
        job* const newer = std::exchange(doomed, doomed->next.read());
        newer->next.write(oldest);
        oldest = newer;
    }
    while (oldest != nullptr) {
        job* const j = std::exchange(oldest, oldest->next.read());
        const job_word word(j->word.load(std::memory_order_relaxed));
        if (word.end() == job_end::dropped && !j->is_shared() && listener_ != nullptr) {
            scheduler_warning gone = dropped_warning(id_of(*j), j->priority);
            gone.at = time_.now();
            listener_->warned(gone);
        }
        drop_cargo(*j);
        submit(*j);
    }
    return next;
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
    if (j.carries->cancelled != nullptr &&
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
    job& j = store_.at(index);
    bool inside = false;
    // It is in two lines: both are asked for at once.
    port::prefetch(reinterpret_cast<const std::byte*>(&j) + port::cache_line);
    job_word seen(j.word.load(job::state.acquire()));
    // CN-3: a run that waits in a mailbox keeps no timer from being registered. Its cell is not
    // given back while the lock is held.
    if (seen.state() == job_state::executing && seen.is(job_word::periodic)) {
        inside = lock_.try_enter();
        // Where there is a quota, who finds the lock taken waits for it.
        if (!inside && quota_ != scheduler_capacity::unlimited) {
            enter();
            inside = true;
        }
    }
    const bool is_ended = end_word(j, seen, generation, to, why);
    if (inside) {
        if (is_ended && seen.state() == job_state::executing)
            deactivate(j);
        let_go();
    }
    if (!is_ended)
        return false;
    // K2: pending and executing jobs are ended by who has them.
    if (seen.state() == job_state::executing && seen.is(job_word::wakes)) {
        drop_cargo(j);  // this thread has it
    } else if (seen.state() == job_state::scheduled) {
        if (!j.is_shared())
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
        const bool is_being_woken =
            seen.state() == job_state::executing && seen.is(job_word::wakes);
        const bool fires_here =
            is_being_woken && firing_thread_.load(std::memory_order_relaxed) == this_thread();
        // Who is woken may be gone when this returns: not before it was woken.
        if (is_being_woken && !fires_here) {
            port::yield();
            seen = job_word(j.word.load(job::state.acquire()));
            continue;
        }
        // By what this thread fires: its turn is still to come, and then it finds that it is over.
        const bool is_next = fires_here && waking_.read() != &j;
        if (!seen.can_be_cancelled() && !is_next)
            return false;
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
    return job_word(store_.at(which.index_).word.load(job::state.acquire()))
        .outcome_of(which.generation_);
}

bool scheduler::was_closed(const cancellable& which) const noexcept {
    const job_word word(store_.at(which.index_).word.load(job::state.acquire()));
    return word.generation() == which.generation_ && word.end() == job_end::closed;
}

std::optional<job_end> scheduler::end_of(const cancellable& which) const noexcept {
    if (which.serial_ != serial_ || which.generation_ == 0)
        return std::nullopt;
    const job_word word(store_.at(which.index_).word.load(job::state.acquire()));
    if (word.generation() != which.generation_ ||
        (word.state() != job_state::completed && word.state() != job_state::cancelled))
        return std::nullopt;
    return word.end();
}

// ---- handles

namespace {

/// The scheduler of a system, for as long as it is looked at.
class visited {
public:
    explicit visited(std::uint32_t system_number) noexcept {
        const worker* w = worker::current();
        if (w != nullptr && w->system().system_number() == system_number)
            found_ = &w->system();
        else
            found_ = visit_.emplace(system_number).system();
    }
    [[nodiscard]] scheduler* get() const noexcept {
        timer_phase* const timers = found_ != nullptr ? found_->timers() : nullptr;
        return timers != nullptr ? timers->as_scheduler() : nullptr;
    }

private:
    std::optional<system_table::visit> visit_;
    actor_scheduler* found_ = nullptr;
};

}  // namespace

bool cancellable::cancel() noexcept {
    if (is_cancelled_ || generation_ == 0)
        return false;
    const visited in(system_);
    is_cancelled_ = in.get() != nullptr && in.get()->cancel(*this);
    return is_cancelled_;
}

std::optional<job_end> cancellable::end() const noexcept {
    if (generation_ == 0)
        return std::nullopt;
    const visited in(system_);
    return in.get() != nullptr ? in.get()->end_of(*this) : std::nullopt;
}

std::optional<job_state> cancellable::state() const noexcept {
    if (generation_ == 0)
        return std::nullopt;
    const visited in(system_);
    return in.get() != nullptr ? in.get()->state_of(*this) : std::nullopt;
}

}  // namespace tactus::inline v0
