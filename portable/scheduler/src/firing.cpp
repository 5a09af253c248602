// SPDX-License-Identifier: Apache-2.0
//
// Firing: what is due is taken out under the lock, and passed on without it, by one thread at a
// time (SC-10, SC-20 … SC-22, TM-1). What becomes of messages and functions is in delivering.cpp.
#include "this_thread.hpp"

#include <tactus/scheduler/scheduler.hpp>

#include <tactus/dispatch/job_delivery.hpp>
#include <tactus/dispatch/system_table.hpp>
#include <tactus/dispatch/text_buffer.hpp>

#include <algorithm>
#include <limits>

namespace tactus::inline v0 {

using detail::job;

namespace {

/// Cells of timers that are due have not been looked at for as long as the timers took: with many,
/// they are in no cache. So a job is asked for when the wheel gives it up, and looked at when some
/// others were asked for after it; in the same order. Without a cache it is looked at at once.
template <class Take, std::size_t Places = port::has_interrupts ? 0 : 8>
class fetched_ahead {
public:
    explicit fetched_ahead(Take take) noexcept : take_(take) {}

    void push(job& j) noexcept {
        // What firing and handling use of it: see job.
        for (std::size_t line = 0; line < 3; ++line)
            port::prefetch(reinterpret_cast<const std::byte*>(&j) + line * port::cache_line);
        take(std::exchange(jobs_[oldest_], &j));
        oldest_ = (oldest_ + 1) % Places;
    }
    void take_rest() noexcept {
        for (std::size_t i = 0; i < Places; ++i)
            take(jobs_[(oldest_ + i) % Places]);
    }

private:
    void take(job* j) noexcept {
        if (j != nullptr)
            take_(*j);
    }

    Take take_;
    job* jobs_[Places] = {};
    std::size_t oldest_ = 0;
};

/// Ticks; half a turn of the wheel.
constexpr tick late_max = tick{1} << 31U;

template <class Take>
class fetched_ahead<Take, 0> {
public:
    explicit fetched_ahead(Take take) noexcept : take_(take) {}

    void push(job& j) noexcept { take_(j); }
    void take_rest() noexcept {}

private:
    Take take_;
};

}  // namespace

instant scheduler::next_deadline() noexcept {
    enter();
    tick next = leave(true);
    if (next == no_deadline)
        return instant::never();
    // What is due is about to be taken by who fires: there is nothing to do for others in this
    // tick.
    if (firing_.load(std::memory_order_relaxed) != nobody) {
        const tick after = scale_.floor(time_.now()) + 1;
        next = next < after ? after : next;
    }
    return scale_.begin_of(next);
}

bool scheduler::begin_firing() noexcept {
    std::uint32_t seen = nobody;
    while (!firing_.compare_exchange_weak(seen, seen == nobody ? somebody : again,
                                          fired_before.acq_rel(), std::memory_order_relaxed)) {
    }
    if (seen != nobody)
        return false;
    note_firing_thread();
    return true;
}

void scheduler::wait_to_fire() noexcept {
    std::uint32_t seen = nobody;
    while (!firing_.compare_exchange_strong(seen, somebody, fired_before.acquire(),
                                            std::memory_order_relaxed)) {
        port::yield();
        seen = nobody;
    }
    note_firing_thread();
}

void scheduler::note_firing_thread() noexcept {
    auto& here = port::thread_instance<thread_identity>();
    ++here.fires;
    firing_thread_.store(&here, std::memory_order_relaxed);
    more_due_.write(false);
}

bool scheduler::fires_here() noexcept {
    return port::thread_instance<thread_identity>().fires != 0;
}

bool scheduler::end_firing() noexcept {
    firing_thread_.store(nullptr, std::memory_order_relaxed);
    --port::thread_instance<thread_identity>().fires;
    std::uint32_t seen = somebody;
    if (firing_.compare_exchange_strong(seen, nobody, fired_before.release(),
                                        std::memory_order_relaxed))
        return true;
    // No store: the last to say so may have come just now.
    (void)firing_.exchange(somebody, fired_before.acquire());
    note_firing_thread();
    return false;
}

void scheduler::run_due(instant now) noexcept {
    if (begin_firing())
        fire_due(now);
}

void scheduler::fire_due(instant now) noexcept {
    for (;;) {
        clear_due();
        bool is_first = true;
        do {
            job* due = take_due(now, is_first);
            is_first = false;
            while (due != nullptr) {
                job* const j = std::exchange(due, due->next.read());
                fire(*j);  // from here on it may be anybody's
            }
        } while (more_due_.read());
        if (end_firing())
            return;
        now = time_.now();  // not earlier: what is due for who came meanwhile is due here
    }
}

job* scheduler::take_due(instant now, bool is_first) noexcept {
    const tick at = scale_.floor(now);
    const bool engaged = is_first && services_ != nullptr &&
                         services_->has(scheduler_services::gauging) &&
                         services_->engaged(at, now, listener_);
    job* first = nullptr;
    job* last = nullptr;
    const job* delivered = nullptr;
    const job* refused = nullptr;  // the last of those that are only told that they have no place
    owed_warnings owed;
    enter();
    do_left();
    fold_counts();
    if (job_store::can_give_back && store_.give_back_at() <= now) [[unlikely]]
        give_back_cells();
    if (spares != 0 && unwoken_ != nullptr) [[unlikely]] {
        first = take_unwoken();
        for (last = first; last != nullptr && last->next.read() != nullptr;)
            last = last->next.read();
        refused = last;
    }
    const tick next = wheel_.next_deadline().value_or(at + 1);
    const bool is_due = next <= at;
    const std::uint64_t late = is_due ? at - next : 0;
    if (!is_due)
        ticks_taken_ = 0;  // SC-38
    if (is_first && (is_due || engaged || pressure_.state() != backpressure_state::normal))
        observe(at, late, engaged, owed);
    if (is_first && is_due && services_ != nullptr)  // SC-33
        note_drift(scale_.begin_of(next), now, owed);
    // SC-32: so many ticks at once, counted from what is due: over an empty stretch it jumps. Who
    // is as late as a whole chunk is beyond a shorter window, so under pressure since just now:
    // with the defaults all chunks are halves. The whole ones are of those whose window is longer.
    const tick chunk = pressure_.chunk_ticks();
    const bool is_more_due = late >= chunk;
    more_due_.write(is_more_due);
    tick last_tick = next + chunk - 1;
    if constexpr (!port::has_interrupts) {
        // What comes again is near as seen from now, and from where the wheel stands, too, unless
        // that is nearly a turn ago. So what is so late comes in one chunk.
        if (late > late_max) [[unlikely]]
            last_tick = std::max(last_tick, at - late_max);
    }
    const instant until = is_more_due ? scale_.begin_of(last_tick) : now;
    fetched_ahead due([&](job& j) {
        if (!came_due(j, now))
            return;
        if (!j.is_over())
            delivered = &j;
        j.next.write(nullptr);
        if (last == nullptr)
            first = &j;
        else
            last->next.write(&j);
        last = &j;
    });
    // Time that went back is the clock's fault; the next look has a later one.
    (void)wheel_.advance(until, [&](const expired_timer& t) {
        due.push(store_.at(static_cast<std::uint32_t>(t.payload)));
    });
    due.take_rest();
    if (delivered != nullptr && !has_receiver(*delivered)) [[unlikely]] {
        delivered = nullptr;
        for (const job* j = refused != nullptr ? refused->next.read() : first; j != nullptr;
             j = j->next.read())
            delivered = !j->is_over() && has_receiver(*j) ? j : delivered;
    }
    if (delivered != nullptr)
        last_.note(batch_of(*delivered, delivered->each_alone() ? 0 : delivered->missed_runs()));
    let_go();
    if (!owed.empty()) [[unlikely]]
        tell(owed);
    return first;
}

bool scheduler::came_due(job& j, instant now) noexcept {
    // Its owner may end it before it was told: held by who fires it from the moment it is due,
    // since until then that one's list goes through it.
    const bool has_owner = j.kind == job_kind::note && j.is_periodic();
    if (has_owner)
        (void)j.holders.fetch_add(1, std::memory_order_relaxed);  // "state": seen with the word
    // Cancelled: who did so is about to take it out.
    if (!changed(j, job_state::scheduled, job_state::executing)) {
        if (has_owner)
            (void)j.holders.fetch_sub(1, std::memory_order_relaxed);
        return false;
    }
    if (services_ != nullptr) {
        const auto late = static_cast<std::uint64_t>(now > j.due ? (now - j.due).ns() : 0);
        ++services_->lateness.counts[duration_buckets::of(late)];
        services_->lateness.total_us += late / 1'000;
    }
    const tick at = scale_.floor(now);
    if (!j.is_periodic()) {
        deactivate(j);  // BP-2: released when it fires
        note(diagnostic_kind::fire, j, at, 1);
        j.goes_alone = j.kind == job_kind::message && (is_elsewhere(j.to) || cells_are_scarce(0));
        return true;
    }
    j.fired_at = at;
    j.missed = 0;
    // The runtime's own is armed again for each run that is not folded.
    if (j.mode == job_mode::fixed_rate && (j.kind != job_kind::note || !j.each))
        j.missed = missed_by(j, at);
    if (services_ != nullptr && services_->has(scheduler_services::watching)) [[unlikely]]
        note_fire(j, at);
    if (j.kind == job_kind::message) {
        j.goes_alone = is_elsewhere(j.to) || cells_are_scarce(1);
        j.flight = j.goes_alone ? nullptr : store_.take();
    }
    return true;
}

std::uint32_t scheduler::missed_by(const job& j, tick at) const noexcept {
    // A deadline within this tick counts as reached when it was registered late.
    const std::int64_t late = (scale_.begin_of(at) - j.due).ns();
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    return late <= 0 ? 0 : static_cast<std::uint32_t>(std::min(late / j.period.ns(), most));
}

instant scheduler::present_tick() const noexcept {
    return scale_.begin_of(scale_.floor(time_.now()));
}

// Where there is a quota, cells of messages on their way must not keep timers from being registered
// (BP-2).
bool scheduler::cells_are_scarce(std::uint32_t more) noexcept {
    return quota_ != scheduler_capacity::unlimited &&
           store_.free_count() < quota_ - std::min(active_, quota_) + more;
}

void scheduler::note_fire(const job& j, tick at) noexcept {
    if (j.is_over())
        return;  // it is ended instead (SC-22)
    const std::uint32_t times = j.each ? j.missed + 1 : 1;
    for (std::uint32_t i = 0; i < times; ++i)
        note_watched(diagnostic_kind::fire, &j, at, j.each ? 1 : std::int64_t{j.missed} + 1);
}

void scheduler::fire(job& j) noexcept {
    switch (j.kind) {
    case job_kind::wake:
        fire_wake(j);
        break;
    case job_kind::note: {
        const job_word word(j.word.load(std::memory_order_relaxed));
        timer_due due{timer_handle(store_.index_of(j), word.generation())};
        const mailbox_index to = j.to;
        auto* const listener = static_cast<timer_listener*>(j.cargo);
        if (j.is_periodic()) {
            due.missed = j.missed;
            due.is_over = !pass_to_owner(j);
        } else {
            finish(j, job_state::completed);
        }
        if (!due.is_over)
            fired_.fetch_add(1, std::memory_order_relaxed);
        if (listener != nullptr) {
            listener->expired(to, due.which);
            break;
        }
        const job_delivery delivers(job_of(due.which));  // OH-7
        if constexpr (port::has_interrupts) {
            actor_scheduler::tell(to, due);
        } else {
            const system_table::insider acts(to.system_number());  // CO-5
            actor_scheduler::tell(to, due);
        }
        break;
    }
    case job_kind::message:
        if (j.is_periodic())
            fire_copies(j);
        else
            fire_message(j);
        break;
    case job_kind::function:
        fire_function(j);
        break;
    case job_kind::flight:
        break;
    }
}

// TM-1: from here on it is its actor's, who arms it again or cancels it, or has done so.
bool scheduler::pass_to_owner(job& j) noexcept {
    const bool is_over =
        !keeps_up(j, j.missed) && changed(j, job_state::executing, job_state::cancelled,
                                          job_end::backlog_exceeded);  // SC-22
    let_go_of_owned(j, is_over ? 2 : 1);  // its owner's part, too: that finds it over
    return !is_over;
}

void scheduler::let_go_of_owned(job& j, std::uint32_t parts) noexcept {
    if (j.holders.fetch_sub(parts, job::held.acq_rel()) != parts)
        return;
    j.holders.store(1, std::memory_order_relaxed);  // nobody else refers to it
    submit(j);
}

void scheduler::fire_wake(job& j) noexcept {
    job_word seen(j.word.load(std::memory_order_relaxed));
    do {
        if (seen.state() != job_state::executing) {
            leave_cancelled_wake(j);
            return;
        }
    } while (!j.replace(seen, seen.waking()));
    const job_end why = seen.end();
    if (why == job_end::as_asked)
        fired_.fetch_add(1, std::memory_order_relaxed);
    static_cast<waker*>(j.cargo)->wake();
    finish(j, job_state::completed, why);
}

// The cargo is ended by who cancelled it, at once. Its cell is in this list until its turn comes.
void scheduler::leave_cancelled_wake(job& j) noexcept {
    if (j.holders.fetch_add(1, job::held.acq_rel()) == 1)
        return;
    j.holders.store(1, std::memory_order_relaxed);  // nobody else refers to it
    submit(j);
}

void scheduler::finish(job& j, job_state to, job_end why) noexcept {
    (void)changed(j, job_state::executing, to, why);
    if (!j.is_shared())
        drop_cargo(j);
    submit(j);
}

void scheduler::release_hold(job& j, bool is_where_it_runs) noexcept {
    if (j.holders.fetch_sub(1, job::held.acq_rel()) != 1)
        return;
    if (is_where_it_runs && is_to_be_told(j))
        j.carries->cancelled(j.cargo);
    end_cargo(j);
}

// SC-20 … SC-22. With `each` none is lost, however many there are (C-SCH-31): a burst is told, too.
bool scheduler::keeps_up(job& j, std::uint32_t missed, std::uint32_t told) noexcept {
    if (missed == told)
        return true;
    if (!j.each) {
        missed_.fetch_add(missed - told, std::memory_order_relaxed);
        if (missed > j.backlog_limit) {
            warn_missed(scheduler_warning_kind::backlog_exceeded, j, missed, j.backlog_limit);
            return false;
        }
    }
    if (missed > j.burst_threshold && told <= j.burst_threshold)
        warn_missed(scheduler_warning_kind::burst_fire, j, missed, j.burst_threshold);
    return true;
}

// The key, message or function is named on hosts only: a device keeps no texts.
void scheduler::warn_missed(scheduler_warning_kind kind, const job& j, std::uint32_t missed,
                            std::uint32_t limit) noexcept {
    if (listener_ == nullptr)
        return;
    scheduler_warning what{.kind = kind,
                           .job = id_of(j),
                           .value = missed,
                           .limit = static_cast<std::int64_t>(limit / runs_per_tick(j.period)),
                           .batch = batch_of(j, missed),
                           .at = time_.now(),
                           .period = j.period,
                           .to = j.to};
    if constexpr (!port::has_interrupts) {
        text_buffer<copied_warning_text::size_max / 2> name;
        if (j.kind == job_kind::note)
            name.add("key ").add(j.label());
        else if (j.kind == job_kind::message)
            name.add("message ").add(j.carries->message->name);
        else
            name.add("function ").add(j.carries->name);
        assign(what.text, name.view());
    }
    listener_->warned(what);
}

void scheduler::warn(scheduler_warning_kind kind, const execution_batch& of, std::int64_t value,
                     std::int64_t limit, const char* text) noexcept {
    if (listener_ == nullptr)
        return;
    listener_->warned({.kind = kind,
                       .job = of.job,
                       .value = value,
                       .limit = limit,
                       .text = text,
                       .batch = of,
                       .at = time_.now()});
}

}  // namespace tactus::inline v0
