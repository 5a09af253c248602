// SPDX-License-Identifier: Apache-2.0
//
// Who is refused, and who gives way (BP-2 … BP-10, SC-32, SC-38).
#include <tactus/scheduler/scheduler.hpp>

#include <algorithm>

namespace tactus::inline v0 {

using detail::job;

// ---- looking

void scheduler::observe(tick at, std::uint64_t backlog, bool engaged,
                        owed_warnings& owed) noexcept {
    // Of a tick that was looked at before: it is the same catch-up.
    const bool was_behind = at <= observed_at_ && pressure_.mode() == tick_mode::catch_up;
    // Somebody who read the clock later may have been here first.
    observed_at_ = at > observed_at_ ? at : observed_at_;
    if (ticks_taken_ > backlog)
        backlog = ticks_taken_;
    ticks_taken_ = 0;
    const backpressure_state before = pressure_.state();
    const tick_state status = pressure_.status().state;
    owe(owed, pressure_.observe({.now = observed_at_,
                                 .backlog = backlog,
                                 .active = active_,
                                 .gauge_engaged = engaged}));
    const bool catches_up = pressure_.mode() == tick_mode::catch_up && !was_behind;
    if (catches_up)
        ++catch_ups_;
    if (services_ == nullptr || !services_->has(scheduler_services::watching)) [[likely]]
        return;
    if (pressure_.status().state != status || catches_up)
        note_watched(diagnostic_kind::driver_status, nullptr, observed_at_,
                     static_cast<std::int64_t>(backlog));
    if (pressure_.state() != before)
        note_watched(diagnostic_kind::state, nullptr, observed_at_,
                     static_cast<std::int64_t>(pressure_.state()));
}

void scheduler::owe(owed_warnings& owed, const pressure_warnings& what) noexcept {
    for (const scheduler_warning& w : what.all())
        owed.add(w);
    pressed_.store(pressure_.state() != backpressure_state::normal ? 1 : 0,
                   std::memory_order_relaxed);
}

void scheduler::look_closely(instant now) noexcept {
    const tick at = scale_.floor(now);
    const look_word mine = look_of(at);
    if (looked_.load(std::memory_order_relaxed) == mine ||
        looked_.exchange(mine, std::memory_order_relaxed) == mine)
        return;
    const bool engaged = services_ != nullptr && services_->has(scheduler_services::gauging) &&
                         services_->engaged(at, now, listener_);
    owed_warnings owed;
    enter();
    const tick next = wheel_.next_deadline().value_or(at + 1);
    const bool is_due = next <= at;
    const std::uint64_t late = is_due ? at - next : 0;
    if (!is_due)
        ticks_taken_ = 0;  // SC-38
    if (late != 0 || engaged || pressure_.state() != backpressure_state::normal)
        observe(at, late, engaged, owed);
    let_go();
    tell(owed);
}

std::optional<scheduler_error> scheduler::refuse_for_mailbox(const job_request& r) noexcept {
    if (has_closed())
        return std::nullopt;
    const auto why = services_->refuse_for_mailbox(r);
    if (why) {
        enter();
        pressure_.count_refused(why->cause);
        ++rejected_[static_cast<std::size_t>(why->code)];
        let_go();
    }
    return why;
}

void scheduler::note_drift(instant due, instant now, owed_warnings& owed) noexcept {
    drift_watch& drift = services_->drift;
    if (!drift.note(due, now)) [[likely]]
        return;
    const std::int64_t late = (now - due).ns();
    owed.add({.kind = scheduler_warning_kind::drift_exceeded,
              .value = late,
              .limit = drift.budget().ns()});
    if (services_->has(scheduler_services::watching))
        note_watched(diagnostic_kind::drift, nullptr, scale_.floor(now), late);
}

void scheduler::set_jitter(duration jitter) noexcept {
    if (services_ == nullptr)
        return;
    enter();
    services_->drift.set_budget(
        {.clock = clock_kind_, .resolution = scale_.resolution(), .jitter = jitter});
    let_go();
}

void scheduler::ticks_taken(std::uint64_t ticks) noexcept {
    enter();
    // SC-32: as many are the backlog, if anything is due (SC-38). One alone was taken as it came.
    ticks_taken_ = ticks > 1 ? ticks : 0;
    ticks_taken_peak_ = ticks > ticks_taken_peak_ ? ticks : ticks_taken_peak_;
    let_go();
}

scheduler::pressure scheduler::pressure_now() noexcept {
    enter();
    const pressure p{.state = pressure_.state(),
                     .cause = pressure_.cause(),
                     .mode = pressure_.mode(),
                     .status = pressure_.status(),
                     .chunk_ticks = pressure_.chunk_ticks()};
    let_go();
    return p;
}

void scheduler::tell(owed_warnings& owed) noexcept {
    if (listener_ == nullptr)
        return;
    for (scheduler_warning& w : owed.all()) {
        w.at = time_.now();
        listener_->warned(w);
    }
}

// ---- admitting

std::optional<scheduler_error> scheduler::admit(const job_request& r, instant now,
                                                bool& takes_overflow,
                                                owed_warnings& owed) noexcept {
    std::optional<scheduler_error> refused;
    if (active_ >= sure_below_) [[unlikely]] {
        settle();
        take_back_spares();
    }
    if (is_closed_) [[unlikely]]
        refused = scheduler_error{.code = scheduler_errc::closed};
    else if (!pressure_.admits_at_once(active_) && !r.goes_on) [[unlikely]]
        refused = admit_slowly(r, owed);
    if (!refused && active_ >= timers_limit_) [[unlikely]] {
        refused = scheduler_error{
            .code = scheduler_errc::capacity_exceeded, .value = active_, .limit = timers_limit_};
        if (r.replaces)
            return refused;  // it comes again, and is not refused then
        owe_capacity(*refused, owed);
    }
    // Where overflow grows nobody has to give way.
    if (!refused && overflow_limit_ != scheduler_capacity::unlimited && is_far(r.first, now)) {
        refused = admit_far(r, owed);
        takes_overflow = !refused;
    }
    if (refused) [[unlikely]]
        ++rejected_[static_cast<std::size_t>(refused->code)];
    return refused;
}

// An idle wheel stands where it was last moved to, and from there what is near may be far (BP-6).
// So it is moved first, up to what is due, which is not taken out here.
bool scheduler::is_far(duration delay, instant now) noexcept {
    if (!wheel_.would_overflow(now, delay))
        return false;
    const tick at = scale_.floor(now);
    const tick next = wheel_.next_deadline().value_or(at + 1);
    const tick to = std::min(at, std::max<tick>(next, 1) - 1);
    if (to <= wheel_.now())
        return true;
    (void)wheel_.advance(scale_.begin_of(to), [](const expired_timer&) {});
    return wheel_.would_overflow(now, delay);
}

std::optional<scheduler_error> scheduler::admit_slowly(const job_request& r,
                                                       owed_warnings& owed) noexcept {
    const backpressure_state before = pressure_.state();
    const backpressure::admission answer =
        pressure_.admit({.priority = r.priority, .active = active_, .now = observed_at_});
    owe(owed, answer.warnings);
    if (pressure_.state() != before && services_ != nullptr &&
        services_->has(scheduler_services::watching))
        note_watched(diagnostic_kind::state, nullptr, observed_at_,
                     static_cast<std::int64_t>(pressure_.state()));
    if (answer.result)
        return std::nullopt;
    return answer.result.error();
}

// BP-6, BP-7.
std::optional<scheduler_error> scheduler::admit_far(const job_request& r,
                                                    owed_warnings& owed) noexcept {
    if (reserve_far(r.priority))
        return std::nullopt;
    const scheduler_error why{
        .code = scheduler_errc::capacity_exceeded,
        .field = "overflow",
        .value = static_cast<std::int64_t>(wheel_.overflow_size()) + overflow_reserved_,
        .limit = overflow_limit_};
    owe_capacity(why, owed);
    return why;
}

bool scheduler::reserve_far(timer_priority for_whom) noexcept {
    // BP-7: who is to give way does so when the newcomer is in: what it carries may not be made.
    const std::uint32_t before =
        static_cast<std::uint32_t>(wheel_.overflow_size()) + overflow_reserved_;
    if (before >= overflow_limit_ && !can_make_way(for_whom, before - overflow_limit_ + 1))
        return false;
    ++overflow_reserved_;
    // Whenever it rises to three quarters.
    const auto is_filling = [this](std::uint32_t n) {
        return std::uint64_t{n} * 4 >= std::uint64_t{overflow_limit_} * 3;
    };
    if (is_filling(before + 1) && !is_filling(before)) {
        is_filling_ = true;
        filled_to_ = before + 1;
    }
    return true;
}

// BP-7: what comes again is as important as when it was registered.
bool scheduler::has_place(job& j) noexcept {
    if (overflow_limit_ == scheduler_capacity::unlimited || j.has_overflow ||
        !is_far(j.due - j.registered_at, j.registered_at)) [[likely]]
        return true;
    j.has_overflow = reserve_far(j.priority);
    return j.has_overflow;
}

// Are there so many that are less important? One for each who comes; the others are on their way.
bool scheduler::can_make_way(timer_priority for_whom, std::uint32_t count) noexcept {
    std::uint32_t found = 0;
    wheel_.for_each_in_overflow([&](std::uint64_t payload) {
        if (store_.at(static_cast<std::uint32_t>(payload)).priority > for_whom)
            ++found;
    });
    return found >= count;
}

void scheduler::take_reserved(job& j) noexcept {
    give_back_overflow(j);
    // Time has passed since it was admitted, and others have gone.
    if (wheel_.overflow_size() >= overflow_limit_ &&
        wheel_.would_overflow(j.registered_at, j.due - j.registered_at))
        make_way();
}

// The least important, and of these the newest.
void scheduler::make_way() noexcept {
    job* least = nullptr;
    wheel_.for_each_in_overflow([&](std::uint64_t payload) {
        job& j = store_.at(static_cast<std::uint32_t>(payload));
        const bool is_less = least == nullptr || j.priority > least->priority ||
                             (j.priority == least->priority && j.sequence > least->sequence);
        if (is_less)
            least = &j;
    });
    if (least == nullptr)
        return;
    job& j = *least;
    // Cancelled meanwhile: who did so waits for the lock, and its place is as good as free.
    const bool is_ours = changed(j, job_state::scheduled, job_state::cancelled, job_end::dropped);
    (void)wheel_.cancel(j.timer);
    if (!is_ours)
        return;
    lose(j, observed_at_);
}

void scheduler::owe_capacity(const scheduler_error& why, owed_warnings& owed) noexcept {
    owed.add({.kind = scheduler_warning_kind::capacity_exceeded,
              .value = why.value,
              .limit = why.limit,
              .about = why.field});
}

}  // namespace tactus::inline v0
