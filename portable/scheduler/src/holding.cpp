// SPDX-License-Identifier: Apache-2.0
//
// Holding: the lock's holder at work: jobs into the wheel, what others have left, and what is owed
// when it lets go (K1, SC-6).
#include <tactus/scheduler/scheduler.hpp>

#include <algorithm>

namespace tactus::inline v0 {

using detail::job;

namespace {

/// Who has many timers now and then does not ask the system for their memory each time.
constexpr duration cells_kept_for = duration::from_ms(1'000);

bool was_lost(const job& j) noexcept {
    const job_word word(j.word.load(std::memory_order_relaxed));
    return word.state() == job_state::cancelled && word.end() == job_end::dropped;
}

}  // namespace

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
    enroll(j);
    if (!j.is_active) {
        j.is_active = true;
        ++active_;
    }
    return true;
}

void scheduler::enroll(job& j) noexcept {
    if (j.sequence != 0 && !j.comes_back)
        return;
    if (j.is_periodic() && j.sequence == 0)
        ++periodic_;
    j.comes_back = false;
    j.sequence = ++sequence_;
    ++counts_.registered;
    note(diagnostic_kind::schedule, j, scale_.floor(j.registered_at));
}

void scheduler::note_nearer(instant due) noexcept {
    const instant at = scale_.begin_of(scale_.ceil(due));
    if (at < kept_) {
        kept_ = at;
        is_nearer_ = true;
    }
}

tick scheduler::next_kept() noexcept {
    tick next = unwoken_ != nullptr ? 0 : wheel_.next_deadline().value_or(no_deadline);
    if (store_.give_back_at() != instant::never()) [[unlikely]]
        next = std::min(next, scale_.ceil(store_.give_back_at()));
    const instant at = next != no_deadline ? scale_.begin_of(next) : instant::never();
    // SC-36: who sleeps for one that was cancelled sleeps on. Where time is set by hand, it is set
    // to what is there.
    if (kept_ < at && clock_kind_ == clock_kind::realtime_host && kept_ > time_.now())
        return scale_.floor(kept_);
    kept_ = at;
    return next;
}

void scheduler::plan_giving_back(instant now) noexcept {
    if (store_.give_back_at() != instant::never() || is_closed_)
        return;
    store_.plan_giving_back(now + cells_kept_for);
    note_nearer(now + cells_kept_for);
}

void scheduler::give_back_cells() noexcept {
    store_.plan_giving_back(instant::never());
    if (active_ != 0)
        return;  // planned again by the last of them
    take_back_spares();
    if (store_.give_back())
        put_spares_aside();
    else
        store_.owe_giving_back();  // messages are on their way (SC-36: nobody looks for them)
}

void scheduler::lose(job& j, tick at) noexcept {
    ++counts_.dropped;
    j.is_counted = true;
    note(diagnostic_kind::drop, j, at, static_cast<std::int64_t>(j.priority));
    deactivate(j);
    doom(j);
}

void scheduler::doom(job& j) noexcept {
    j.next.write(doomed_);
    doomed_ = &j;
}

void scheduler::apply(job& j) noexcept {
    // Relaxed, as all looks of the holder: what it needs was done by who has left it here.
    job_word word(j.word.load(std::memory_order_relaxed));
    if (word.state() == job_state::pending) {
        const bool is_in = !is_closed_ && has_place(j) && insert(j);
        if (is_in && changed(j, job_state::pending, job_state::scheduled)) [[likely]]
            return;
        if (spares != 0 && !is_in)
            enroll(j);  // BP-8: who asked for it has a handle
        if (spares != 0 && !is_in && j.kind == job_kind::wake && j.carries == nullptr) {
            owe_wake(j);
            return;
        }
        if (!is_in && is_closed_) {
            (void)changed(j, job_state::pending, job_state::cancelled, job_end::closed);
        } else if (!is_in &&
                   changed(j, job_state::pending, job_state::cancelled, job_end::dropped)) {
            // No memory for it, or, of one that comes again, no place so far away.
            j.timer = {};
            lose(j, now_if_watched());
            return;
        }
        word = job_word(j.word.load(std::memory_order_relaxed));
    }
    // Ended, by who is here or has left it here.
    give_back_overflow(j);
    if (j.holders.load(std::memory_order_relaxed) == 0) {
        give(j);
        return;
    }
    // Cancelled on its way in.
    if (spares != 0 && !j.is_counted && (j.sequence == 0 || word.is(job_word::owned))) [[unlikely]]
        enroll(j);
    (void)wheel_.cancel(j.timer);
    if (word.state() == job_state::cancelled)
        count_cancelled(j);
    end_scheduled(j);
}

void scheduler::count_cancelled(job& j) noexcept {
    if (j.is_counted)
        return;
    j.is_counted = true;
    ++counts_.cancelled;
    note(diagnostic_kind::cancel, j, now_if_watched());
}

tick scheduler::now_if_watched() const noexcept {
    return services_ != nullptr && services_->has(scheduler_services::watching)
               ? scale_.floor(time_.now())
               : 0;
}

void scheduler::note_watched(diagnostic_kind kind, const job* j, tick at,
                             std::int64_t detail) noexcept {
    diagnostic d{.kind = kind, .at = at, .detail = detail};
    if (j != nullptr) {
        d.mode = j->mode;
        d.executor = j->executor;
        d.job = j->kind == job_kind::flight ? j->metadata : id_of(*j);
        d.scheduled_at = scale_.floor(j->registered_at);
        d.deadline = scale_.ceil(j->due);
    }
    note_watched(d);
}

void scheduler::note_watched(diagnostic& d) noexcept {
    noted_at_ = d.at > noted_at_ ? d.at : noted_at_;
    d.at = noted_at_;
    if (services_->note(d))
        is_lossy_ = true;
}

tick scheduler::leave(bool wants_next) noexcept {
    bool nearer = false;
    instant nearest;
    bool lossy = false;
    std::uint32_t filled_to = 0;
    job* doomed = nullptr;
    tick next = 0;
    for (;;) {
        if (std::exchange(is_nearer_, false)) {
            nearer = true;
            nearest = kept_;
        }
        lossy = std::exchange(is_lossy_, false) || lossy;
        if (std::exchange(is_filling_, false)) [[unlikely]]
            filled_to = filled_to_;
        if (job* const more = std::exchange(doomed_, nullptr)) [[unlikely]] {
            job* last = more;
            while (last->next.read() != nullptr)
                last = last->next.read();
            last->next.write(doomed);
            doomed = more;
        }
        if (store_.wants_spares()) [[unlikely]]
            put_spares_aside();
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
    if (filled_to != 0 && listener_ != nullptr) [[unlikely]]
        listener_->warned({.kind = scheduler_warning_kind::overflow_near_capacity,
                           .value = filled_to,
                           .limit = overflow_limit_,
                           .at = time_.now()});
    // Last doomed first, so oldest last: turned round.
    job* oldest = nullptr;
    while (doomed != nullptr) {
        job* const newer = std::exchange(doomed, doomed->next.read());
        newer->next.write(oldest);
        oldest = newer;
    }
    while (oldest != nullptr) {
        job* const j = std::exchange(oldest, oldest->next.read());
        const bool is_lost = was_lost(*j);
        if (is_lost && listener_ != nullptr)
            listener_->warned({.kind = scheduler_warning_kind::dropped_low_priority,
                               .job = id_of(*j),
                               .value = static_cast<std::int64_t>(j->priority),
                               .limit = j->timer == timer_handle() ? 0 : overflow_limit_,
                               .at = time_.now()});
        // What a function carries may be in use by a run of it.
        if (is_lost && j->is_shared()) {
            release_hold(*j);
            continue;
        }
        // TM-1: an actor that would wait for a timer in vain is told.
        if (is_lost && j->is_of_actor()) {
            const job_word word(j->word.load(std::memory_order_relaxed));
            actor_scheduler::tell(
                j->to, timer_due{.which = timer_handle(store_.index_of(*j), word.generation()),
                                 .is_refused = true});
            j->holders.store(0, std::memory_order_relaxed);  // nothing holds it
        }
        if (!tell_cancelled(*j))
            end_cargo(*j);
    }
    return next;
}

}  // namespace tactus::inline v0
