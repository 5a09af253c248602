// SPDX-License-Identifier: Apache-2.0
//
// Looking at a scheduler: counts, metrics, dumps (BP-8, BP-10, SD-3, SD-6, TS-9).
#include <tactus/scheduler/scheduler.hpp>

#include <algorithm>

namespace tactus::inline v0 {

using detail::job;

scheduler_capabilities scheduler::capabilities() const noexcept {
    return {.max_frequency_hz = 1e9 / static_cast<double>(scale_.resolution().ns()),
            .min_delay_ticks = 1,
            .tick_resolution = scale_.resolution(),
            .fixed_rate = fixed_rate_,
            .fixed_delay = fixed_delay_,
            .manual_clock = clock_kind_ == clock_kind::deterministic};
}

std::uint32_t scheduler::active_count() noexcept {
    enter();
    do_left();
    const std::uint32_t n = active_;
    let_go();
    return n;
}

std::uint32_t scheduler::cell_count() noexcept {
    enter();
    do_left();
    const std::uint32_t n = store_.used_count();
    let_go();
    return n;
}

scheduler::counts scheduler::counted() noexcept {
    enter();
    do_left();
    fold_counts();
    const counts c = counts_;
    let_go();
    return c;
}

// TS-5: so few bits are enough between two looks.
void scheduler::fold_counts() noexcept {
    counts_.fired += fired_.exchange(0, std::memory_order_relaxed);
    counts_.missed += missed_.exchange(0, std::memory_order_relaxed);
    counts_.dropped += dropped_.exchange(0, std::memory_order_relaxed);
}

std::optional<execution_batch> scheduler::last_batch() noexcept {
    enter();
    const auto last = last_.last_batch();
    let_go();
    return last;
}

scheduler_metrics scheduler::metrics() noexcept {
    scheduler_metrics m;
    enter();
    lock_.do_left([&](job& j) {
        ++m.pending_commands;
        apply(j);
    });
    do_left();  // those that were taken from aside count, too
    fold_counts();
    m.fired = counts_.fired;
    m.missed = counts_.missed;
    m.active = active_;
    m.periodic = periodic_;
    m.cancelled = counts_.cancelled;
    m.dropped = counts_.dropped;
    std::ranges::copy(rejected_, std::begin(m.rejected));
    for (std::size_t i = 0; i < backpressure_cause_count; ++i)
        m.backpressured[i] = pressure_.refused_count(static_cast<backpressure_cause>(i));
    m.quota = quota_ == scheduler_capacity::unlimited ? 0 : quota_;
    m.backlog = pressure_.backlog();
    m.backlog_peak = pressure_.backlog_peak();
    m.overflow = static_cast<std::uint32_t>(wheel_.overflow_size());
    m.tick_backlog_peak = ticks_taken_peak_;
    m.window = pressure_.window();
    m.above_window = pressure_.above_window_count();
    m.drift_compensations = catch_ups_;
    if (services_ != nullptr) {
        m.drift_max_ns = static_cast<std::uint64_t>(services_->drift.counted().largest.ns());
        m.lateness = services_->lateness;
    }
    let_go();
    if (services_ != nullptr) {
        const close_report closing = services_->closing();
        m.on_close_run = closing.succeeded + closing.failed;
        m.on_close_failed = closing.failed;
        m.on_close_duration = closing.elapsed;
        m.diagnostics_dropped = services_->diagnostics_dropped();
    }
    return m;
}

void scheduler::dump(text_sink& to, dump_format format, std::uint32_t jobs_max) noexcept {
    diagnostics::subscriber subscribers[8];
    scheduler_snapshot s;
    if (services_ != nullptr) {
        s.diagnostic_counts = services_->events().look(subscribers);
        s.subscribers = {subscribers, std::min<std::size_t>(s.diagnostic_counts.subscribers,
                                                            std::size(subscribers))};
    }
    const auto given = [](std::uint32_t n) {
        return n == scheduler_capacity::unlimited ? std::optional<std::uint32_t>{} : n;
    };
    s.driver = kernel_->driven_by();
    s.fixed_rate = fixed_rate_;
    s.fixed_delay = fixed_delay_;
    s.manual_clock = clock_kind_ == clock_kind::deterministic;
    enter();
    lock_.do_left([&](job& j) {
        ++s.pending_commands;
        apply(j);
    });
    do_left();
    s.now = wheel_.now();
    for (std::size_t level = 0; level < std::size(s.occupied_slots); ++level)
        s.occupied_slots[level] = static_cast<std::uint32_t>(wheel_.occupied(level).count());
    s.overflow_size = static_cast<std::uint32_t>(wheel_.overflow_size());
    s.overflow_capacity = given(overflow_limit_);
    s.active = active_;
    s.quota = given(quota_);
    s.adaptive_quota = given(pressure_.adaptive_quota());
    s.state = name_of(pressure_.state());
    s.cause = pressure_.cause();
    s.is_closed = is_closed_;
    const std::uint32_t made = store_.made_count();
    let_go();
    const tick at = scale_.floor(time_.now());
    scheduler_dump out(to, format, s, jobs_max);
    for (std::uint32_t i = 0; i < made; ++i) {
        enter();
        // They may have been given back since.
        const auto view = i < store_.made_count() ? view_of(store_.at(i), at) : std::nullopt;
        let_go();
        if (view)
            out.job(*view);
    }
    out.end();
}

// What has not come yet: of one that waits what is overdue, else what its message stands for; and
// what waits for a function to be free.
std::uint32_t scheduler::backlog_of(const job& j, bool is_waiting, tick at) const noexcept {
    if (j.mode != job_mode::fixed_rate)
        return 0;
    const std::uint32_t overdue = is_waiting ? missed_by(j, at) : 0;
    if (j.kind != job_kind::function)
        return is_waiting ? overdue : j.missed;
    const std::uint32_t owed = j.owed.load(std::memory_order_relaxed);
    return overdue + (owed != 0 ? owed - 1 : 0);
}

std::optional<job_view> scheduler::view_of(const job& j, tick at) const noexcept {
    const job_word word(j.word.load(job::state.acquire()));
    const bool is_waiting = word.state() == job_state::scheduled;
    if (!is_waiting && (word.state() != job_state::executing || !word.is(job_word::periodic)))
        return std::nullopt;
    job_view v{.id = id_of(j), .mode = j.mode, .metadata = j.is_periodic() ? j.metadata : 0};
    if (is_waiting)
        v.next = scale_.ceil(j.due);
    if (j.is_periodic()) {
        v.backlog = backlog_of(j, is_waiting, at);
        if (j.fired_at != 0)
            v.last_fire = j.fired_at;
    }
    return v;
}

}  // namespace tactus::inline v0
