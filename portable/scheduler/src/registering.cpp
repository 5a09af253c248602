// SPDX-License-Identifier: Apache-2.0
//
// Registering: a cell, room for what it carries, and the way into the wheel (SC-1, SC-2, SC-6).
#include <tactus/scheduler/scheduler.hpp>

#include <cstring>

namespace tactus::inline v0 {

using detail::job;
using detail::job_kind;
using detail::job_task;

namespace {

/// Not far away (BP-6), but for a resolution with which a turn of the wheel is shorter: then it
/// finds a place in overflow as what comes again does.
constexpr duration surely_near =
    duration::from_ns(timer_wheel_options{}.max_wheel_duration.ns() / 2);

/// What lies in front of the cargo.
constexpr std::size_t room_before(job_kind kind, bool own_block) noexcept {
    if (kind == job_kind::function)
        return detail::task_room(own_block);
    return own_block ? envelope::guard_room : job::guard_room;
}

constexpr std::uint32_t saturated(std::uint64_t runs) noexcept {
    return runs < no_backlog_limit ? static_cast<std::uint32_t>(runs) : no_backlog_limit;
}

}  // namespace

// ---- a cell, and room for what it carries

job* scheduler::take_cell(const job_request& r, bool can_be_lost, bool& inside) noexcept {
    inside = lock_.try_enter();
    // Under pressure everybody is to be looked at, and so is who may need a place in overflow, or
    // is not told when there was no memory for it: they wait for the lock when they find it taken.
    if (!inside && spares != 0 && can_be_lost && closed_.load(std::memory_order_relaxed) == 0 &&
        pressed_.load(std::memory_order_relaxed) == 0 &&
        (overflow_limit_ == scheduler_capacity::unlimited || r.first < surely_near)) {
        if (job* const spare = store_.take_spare())
            return spare;
    }
    if (!inside) {
        enter();
        inside = true;
    }
    return nullptr;
}

job* scheduler::take_free_cell() noexcept {
    job* const cell = store_.take();
    if (cell != nullptr) [[likely]]
        return cell;
    settle();
    take_back_spares();
    return store_.take();
}

void scheduler::put_spares_aside() noexcept {
    // Half of what is left: the other half is at once the holder's. None while the quota was used
    // up: who comes next is to be looked at.
    const bool has_room = active_ < timers_limit_ && pressure_.admits_at_once(active_);
    active_ += store_.refill(has_room ? (timers_limit_ - active_) / 2 : 0);
    sure_below_ = timers_limit_ - store_.aside_count();
}

void scheduler::take_back_spares() noexcept {
    active_ += store_.take_back();
    sure_below_ = timers_limit_;
}

bool scheduler::give_cargo_room(job& j, const detail::cargo_type& type) noexcept {
    std::size_t before = room_before(j.kind, false);
    std::byte* block = j.inside;
    j.own_block = before + type.size > sizeof j.inside || type.alignment > job::inside_alignment;
    if (j.own_block) [[unlikely]] {
        before = room_before(j.kind, true);
        if (memory_ == nullptr)
            return false;
        block = static_cast<std::byte*>(
            memory_->allocate(before + type.size, alignof(std::max_align_t)));
        if (block == nullptr)
            return false;
    }
    j.cargo = block + before;
    j.carries = &type;
    if (j.kind == job_kind::function)
        ::new (static_cast<void*>(block)) job_task(j);
    else
        envelope::place_guard(j.cargo, j);
    return true;
}

void scheduler::free_room(job& j) noexcept {
    if (j.own_block) {
        const std::size_t before = room_before(j.kind, true);
        memory_->release(static_cast<std::byte*>(j.cargo) - before, before + j.carries->size,
                         alignof(std::max_align_t));
    }
    j.own_block = false;
    j.carries = nullptr;
}

void scheduler::fill(job& j, const job_request& r, job_kind kind, instant now) noexcept {
    j.registered_at = now;
    j.due =
        now + (kind == job_kind::message || kind == job_kind::function ? usable(r.first) : r.first);
    j.to = r.to;
    j.sender = r.sender;
    j.sequence = 0;
    j.holders.store(1, std::memory_order_relaxed);
    j.executor = r.executor != timer_affinity::no_dispatcher ? r.executor : 0;
    j.mode = r.mode;
    j.kind = kind;
    j.priority = r.priority;
    j.was_handled = false;
    j.failed = false;
    j.has_overflow = false;
    j.is_active = false;
    j.is_counted = false;
    j.timer = {};
    if (r.mode == job_mode::one_shot && kind != job_kind::function)
        return;
    j.period = r.period;
    j.fired_at = 0;
    j.missed = 0;
    j.flight = nullptr;
    j.owed.store(0, std::memory_order_relaxed);
    j.backlog_limit = r.backlog_limit;
    j.burst_threshold = r.burst_threshold;
    // Several runs of one tick are no delay: limits count the runs of so many ticks.
    if (const std::uint64_t runs = runs_per_tick(r.period); runs != 1) [[unlikely]] {
        j.backlog_limit = saturated(j.backlog_limit * runs);
        j.burst_threshold = saturated(j.burst_threshold * runs);
    }
    j.each = r.each;
    j.comes_back = false;
    // A function has one run at a time, so its next wait begins when it has returned.
    j.after_sent.write(r.after_sent && kind != job_kind::function);
    j.metadata = r.metadata;
}

// ---- the way in

namespace {

job_word::type flags_of(job_mode mode, job_kind kind) noexcept {
    if (mode != job_mode::one_shot)
        return kind == job_kind::note ? job_word::owned : job_word::periodic;
    return kind == job_kind::wake ? job_word::type{job_word::wakes} : 0;
}

scheduler_error no_room(std::uint32_t used, std::uint32_t capacity) noexcept {
    return {.code = scheduler_errc::capacity_exceeded, .value = used, .limit = capacity};
}

}  // namespace

// BP-8, BP-10: what there is no memory for is refused as what there is no cell for.
scheduler_error scheduler::no_memory_for(const detail::cargo_type& type) noexcept {
    const scheduler_error why{.code = scheduler_errc::capacity_exceeded,
                              .field = "message",
                              .value = type.size,
                              .limit = job::inside_size};
    owed_warnings owed;
    owe_capacity(why, owed);
    count_rejected(why.code);
    tell(owed);
    return why;
}

scheduler_error scheduler::construction_failed(job& j) noexcept {
    abandon(j);
    count_rejected(scheduler_errc::construction_failed);
    return {.code = scheduler_errc::construction_failed};
}

void scheduler::count_rejected(scheduler_errc why) noexcept {
    enter();
    ++rejected_[static_cast<std::size_t>(why)];
    let_go();
}

scheduler_error scheduler::no_cell(bool takes_overflow, owed_warnings& owed) noexcept {
    if (takes_overflow)
        --overflow_reserved_;
    const scheduler_error why = no_room(store_.used_count(), store_.capacity());
    ++rejected_[static_cast<std::size_t>(why.code)];
    owe_capacity(why, owed);
    return why;
}

scheduler::place scheduler::begin_registering(const job_request& r, job_kind kind,
                                              const detail::cargo_type& type) noexcept {
    place p;
    if (port::in_interrupt())
        return {.why = {.code = scheduler_errc::within_interrupt}};
    if (const auto fault = fault_of(r, kind))
        return {.why = *fault};
    const instant now = time_.now();
    if (look(now)) [[unlikely]] {
        if (const auto refused = refuse_for_mailbox(r))
            return {.why = *refused};
    }
    bool inside = false;
    bool takes_overflow = false;
    owed_warnings owed;
    p.cell = take_cell(r, true, inside);
    if (inside) {
        if (const auto refused = admit(r, now, takes_overflow, owed))
            p.why = *refused;
        else if (p.cell = take_free_cell(); p.cell == nullptr)
            p.why = no_cell(takes_overflow, owed);
        else
            ++active_;  // reserved
        const bool is_reserved = p.cell != nullptr;
        let_go();
        tell(owed);
        if (!is_reserved)
            return p;
    }
    job& j = *p.cell;
    fill(j, r, kind, now);
    j.is_active = true;
    j.has_overflow = takes_overflow;
    j.word.store(
        job_word(j.word.load(std::memory_order_relaxed)).next_use(flags_of(r.mode, kind)).bits(),
        job::state.release());
    if (!give_cargo_room(j, type)) {
        abandon(j);
        return {.why = no_memory_for(type)};
    }
    return p;
}

void scheduler::abandon(job& j) noexcept {
    if (j.carries != nullptr)
        free_room(j);
    j.is_counted = true;
    j.word.store(job_word(j.word.load(std::memory_order_relaxed)).with(job_state::completed).bits(),
                 job::state.release());
    submit(j);
}

std::expected<cancellable, scheduler_error> scheduler::commit(job& j) noexcept {
    const cancellable handle = handle_of(j);
    submit(j);
    return handle;
}

std::expected<cancellable, scheduler_error> scheduler::register_bytes(
    const job_request& r, job_kind kind, const detail::cargo_type& type,
    const void* bytes) noexcept {
    if (port::in_interrupt())
        return std::unexpected(scheduler_error{.code = scheduler_errc::within_interrupt});
    if (kind == job_kind::message || kind == job_kind::function) {
        if (const auto fault = fault_of(r, kind)) [[unlikely]]
            return std::unexpected(*fault);
    }
    const instant now = time_.now();
    if (look(now)) [[unlikely]] {
        if (const auto refused = refuse_for_mailbox(r))
            return std::unexpected(*refused);
    }
    bool inside = false;
    bool takes_overflow = false;
    owed_warnings owed;
    const bool has_listener = kind == job_kind::note && bytes != nullptr;
    job* cell = take_cell(r, !has_listener, inside);
    if (inside) {
        auto refused = admit(r, now, takes_overflow, owed);
        if (!refused) [[likely]] {
            cell = take_free_cell();
            if (cell == nullptr) [[unlikely]]
                refused = no_cell(takes_overflow, owed);
        }
        if (refused) [[unlikely]] {
            let_go();
            tell(owed);
            return std::unexpected(*refused);
        }
    }
    job& j = *cell;
    fill(j, r, kind, now);
    j.is_active = !inside;  // a spare has its place
    j.has_overflow = takes_overflow;
    const job_word word =
        job_word(j.word.load(std::memory_order_relaxed)).next_use(flags_of(r.mode, kind));
    if (kind == job_kind::wake || kind == job_kind::note) {
        // The waker or listener itself. NOLINTNEXTLINE(*-const-cast)
        j.cargo = const_cast<void*>(bytes);
        j.carries = type.cancelled != nullptr ? &type : nullptr;
        j.own_block = false;
        if (job::label_size != 0 && r.mode != job_mode::one_shot)
            j.set_label(r.label);
    } else {
        if (!give_cargo_room(j, type)) [[unlikely]] {
            j.word.store(word.with(job_state::completed).bits(), job::state.release());
            j.is_counted = true;
            if (inside) {
                give_back_overflow(j);
                give(j);
                let_go();
                tell(owed);
            } else {
                submit(j);
            }
            return std::unexpected(no_memory_for(type));
        }
        std::memcpy(j.cargo, bytes, type.size);
    }
    const cancellable handle(kernel_->system_number(), serial_, store_.index_of(j),
                             word.generation());
    // For who has a handle of its last use: what that did is seen by who finds it over.
    j.word.store(word.with(inside ? job_state::scheduled : job_state::pending).bits(),
                 job::state.release());
    if (!inside) {
        submit(j);
        return handle;
    }
    if (!insert(j)) [[unlikely]] {
        if (j.carries != nullptr)
            free_room(j);
        j.word.store(word.with(job_state::completed).bits(), job::state.release());
        give(j);
        const auto why = no_room(static_cast<std::uint32_t>(wheel_.size()),
                                 static_cast<std::uint32_t>(wheel_.capacity()));
        ++rejected_[static_cast<std::size_t>(why.code)];
        owe_capacity(why, owed);
        let_go();
        tell(owed);
        return std::unexpected(why);
    }
    let_go();
    if (!owed.empty()) [[unlikely]]
        tell(owed);
    return handle;
}

cancellable scheduler::handle_of(const job& j) const noexcept {
    return {kernel_->system_number(), serial_, store_.index_of(j),
            job_word(j.word.load(std::memory_order_relaxed)).generation()};
}

job_id scheduler::id_of(const job& j) const noexcept {
    return cancellable::job_id_of(store_.index_of(j),
                                  job_word(j.word.load(std::memory_order_relaxed)).generation());
}

std::expected<cancellable, scheduler_error> scheduler::schedule_wake(duration delay, waker& to,
                                                                     const detail::cargo_type& told,
                                                                     bool goes_on) noexcept {
    if (const auto fault = fault_of(delay, "delay"))
        return std::unexpected(*fault);
    return register_bytes(
        {.first = usable(delay), .priority = runtime_policy().one_shot, .goes_on = goes_on},
        job_kind::wake, told, &to);
}

}  // namespace tactus::inline v0
