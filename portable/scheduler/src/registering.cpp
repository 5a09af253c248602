// SPDX-License-Identifier: Apache-2.0
//
// Registering: arguments, room, and the way into the wheel (SC-1 … SC-6).
#include <tactus/scheduler/scheduler.hpp>

#include <tactus/dispatch/turn.hpp>

#include <cstring>
#include <limits>

namespace tactus::inline v0 {

using detail::job;
using detail::job_kind;
using detail::job_task;

TACTUS_CHECK_MODULE("scheduler");
namespace {

/// Handles of two schedulers tell apart.
std::uint32_t next_serial() noexcept {
    static port::atomic<std::uint32_t> last{0};
    const std::uint32_t mine = last.fetch_add(1, std::memory_order_relaxed) + 1;
    return mine != 0 ? mine : last.fetch_add(1, std::memory_order_relaxed) + 1;
}

/// SC-3.
duration longest(duration resolution) noexcept {
    return resolution * std::int64_t{std::numeric_limits<std::int32_t>::max()};
}

std::uint32_t timers_of(const scheduler_options& o) noexcept {
    const std::uint32_t bounded = capacity_of(o.config).timers;
    return bounded == scheduler_capacity::unlimited ? o.timers_max : bounded;
}

timer_wheel_options wheel_of(const scheduler_options& o) noexcept {
    timer_wheel_options w;
    const std::uint32_t overflow = capacity_of(o.config).overflow;
    w.resolution = o.config.resolution;
    w.start = o.time->now();
    w.timers_max = timers_of(o);
    if (overflow != scheduler_capacity::unlimited)
        w.overflow_max = overflow;
    w.nodes = o.nodes;
    w.overflow = o.overflow;
    w.max_timer_duration = longest(o.config.resolution);
    return w;
}

/// What lies in front of the cargo.
constexpr std::size_t room_before(job_kind kind, bool own_block) noexcept {
    if (kind == job_kind::function)
        return detail::task_room(own_block);
    return own_block ? envelope::guard_room : job::guard_room;
}

}  // namespace

scheduler::scheduler(const scheduler_options& o) noexcept
    : time_(*o.time),
      scale_(o.config.resolution),
      maximum_delay_(longest(o.config.resolution)),
      memory_(o.memory),
      slot_(o.slot),
      listener_(o.listener),
      services_(o.services),
      shutdown_timeout_(o.config.shutdown_timeout),
      serial_(next_serial()),
      quota_(capacity_of(o.config).timers),
      timers_limit_(quota_ == scheduler_capacity::unlimited && o.timers_max > spares
                        ? o.timers_max - spares
                        : timers_of(o)),
      overflow_limit_(capacity_of(o.config).overflow),
      zero_delay_(o.config.zero_delay),
      clock_kind_(o.config.clock),
      fixed_rate_(o.fixed_rate),
      fixed_delay_(o.fixed_delay),
      wheel_(wheel_of(o)),
      // Where there is a quota, who finds the lock taken waits for it.
      store_({.memory = o.jobs,
              .capacity = cells_for(timers_of(o)),
              .spares = quota_ == scheduler_capacity::unlimited ? spares : 0},
             *this),
      pressure_(o.config, scale_.floor(o.time->now())),
      observed_at_(scale_.floor(o.time->now())) {
    if (services_ != nullptr)
        services_->drift.set_budget({.clock = clock_kind_, .resolution = scale_.resolution()});
    TACTUS_CHECK(1, validate(o.config).has_value());
}

scheduler::~scheduler() {
    (void)close();
}

// ---- arguments

std::optional<scheduler_error> scheduler::fault_of(duration d, const char* field) const noexcept {
    const bool is_period = field[0] == 'p';
    const bool is_usable =
        d > duration::zero() || (!is_period && zero_delay_ == zero_delay_rule::next_tick);
    if (is_usable && d <= maximum_delay_)
        return std::nullopt;
    return scheduler_error{.code = scheduler_errc::invalid_delay,
                           .field = field,
                           .value = d.ns(),
                           .limit = maximum_delay_.ns()};
}

std::optional<scheduler_error> scheduler::fault_of(const job_request& r) const noexcept {
    if (const auto fault = fault_of(r.first, "delay"))
        return fault;
    if (r.mode == job_mode::one_shot)
        return std::nullopt;
    if (r.mode == job_mode::fixed_rate ? !fixed_rate_ : !fixed_delay_)  // SC-14
        return scheduler_error{.code = scheduler_errc::unsupported_mode,
                               .value = static_cast<int>(r.mode)};
    if (const auto fault = fault_of(r.period, "period"))
        return fault;
    const auto invalid = [](const char* field, std::int64_t value, std::int64_t limit) {
        return scheduler_error{.code = scheduler_errc::invalid_options,
                               .field = field,
                               .value = value,
                               .limit = limit};
    };
    if (r.mode == job_mode::fixed_rate) {
        if (r.backlog_limit == 0)
            return invalid("backlog_limit", 0, 1);
        if (r.burst_threshold == 0)
            return invalid("burst_threshold", 0, 1);
        if (r.burst_threshold > r.backlog_limit)
            return invalid("burst_threshold", r.burst_threshold, r.backlog_limit);
    }
    return std::nullopt;
}

// SC-9
std::uint16_t scheduler::callers_dispatcher() const noexcept {
    const turn* const t = turn::current();
    const bool is_ours = t != nullptr && &t->system() == kernel_;
    return is_ours ? static_cast<std::uint16_t>(t->place().dispatcher_number()) : 0;
}

timer_policy scheduler::find_policy(timer_affinity from) const noexcept {
    if (from.dispatcher == timer_affinity::no_dispatcher)
        from.dispatcher = callers_dispatcher();
    return services_->policy_of(from);
}

// ---- a cell, and room for what it carries

job* scheduler::take_cell(bool& inside) noexcept {
    inside = lock_.try_enter();
    // Under pressure everybody is to be looked at: who finds the lock taken waits for it.
    if (!inside && quota_ == scheduler_capacity::unlimited &&
        closed_.load(std::memory_order_relaxed) == 0 &&
        pressed_.load(std::memory_order_relaxed) == 0) {
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
    if (cell != nullptr || withdrawn_.count() == 0) [[likely]]
        return cell;
    settle_all();
    return store_.take();
}

bool scheduler::give_cargo_room(job& j, const detail::cargo_type& type) noexcept {
    std::size_t before = room_before(j.kind, false);
    std::byte* block = j.inside;
    j.own_block = before + type.size > sizeof j.inside || type.alignment > job::inside_alignment;
    if (j.own_block) [[unlikely]] {
        before = room_before(j.kind, true);
        if (memory_ == nullptr || type.alignment > alignof(std::max_align_t))
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
    j.each = r.each;
    j.comes_back = false;
    j.after_sent.write(r.after_sent);
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

scheduler_error too_large(std::uint32_t size) noexcept {
    return {.code = scheduler_errc::capacity_exceeded,
            .field = "byte of the message",
            .value = size,
            .limit = job::inside_size};
}

}  // namespace

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
    if (const auto fault = fault_of(r))
        return {.why = *fault};
    const instant now = time_.now();
    look(now);
    bool inside = false;
    bool takes_overflow = false;
    owed_warnings owed;
    p.cell = take_cell(inside);
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
    j.is_active = inside;
    j.has_overflow = takes_overflow;
    j.word.store(
        job_word(j.word.load(std::memory_order_relaxed)).next_use(flags_of(r.mode, kind)).bits(),
        job::state.release());
    if (!give_cargo_room(j, type)) {
        p.why = too_large(type.size);
        p.cell = nullptr;
        abandon(j);
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
        if (const auto fault = fault_of(r)) [[unlikely]]
            return std::unexpected(*fault);
    }
    const instant now = time_.now();
    look(now);
    bool inside = false;
    bool takes_overflow = false;
    owed_warnings owed;
    job* cell = take_cell(inside);
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
    j.has_overflow = takes_overflow;
    const job_word word =
        job_word(j.word.load(std::memory_order_relaxed)).next_use(flags_of(r.mode, kind));
    if (kind == job_kind::wake || kind == job_kind::note) {
        j.cargo = const_cast<void*>(bytes);  // the waker or listener itself
        j.carries = type.cancelled != nullptr ? &type : nullptr;
        j.own_block = false;
    } else {
        if (!give_cargo_room(j, type)) [[unlikely]] {
            j.word.store(word.with(job_state::completed).bits(), job::state.release());
            j.is_counted = true;
            if (inside) {
                give_back_overflow(j);
                store_.give(j);
                let_go();
                tell(owed);
            } else {
                submit(j);
            }
            return std::unexpected(too_large(type.size));
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
        store_.give(j);
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

std::expected<cancellable, scheduler_error> scheduler::schedule_wake(
    duration delay, waker& to, const detail::cargo_type& told) noexcept {
    if (const auto fault = fault_of(delay, "delay"))
        return std::unexpected(*fault);
    return register_bytes({.first = usable(delay), .priority = timer_priority::high},
                          job_kind::wake, told, &to);
}

// ---- timers of the runtime

std::optional<timer_handle> scheduler::arm(timer_target& to, duration delay) noexcept {
    const job_request r{
        .first = delay, .to = to.who, .priority = timer_priority::high, .goes_on = to.goes_on};
    const auto made = to.wake != nullptr ? arm_for(r, job_kind::wake, to.wake)
                                         : arm_for(r, job_kind::note, to.listener);
    return made ? std::optional(*made) : std::nullopt;
}

scheduler::armed scheduler::arm_for(const job_request& wanted, job_kind kind,
                                    const void* whom) noexcept {
    if (wanted.first > maximum_delay_)
        return std::unexpected(too_late(wanted.first));
    if (wanted.period > maximum_delay_)
        return std::unexpected(too_late(wanted.period));
    static constexpr detail::cargo_type nothing{};
    job_request r = wanted;
    if (r.first < duration::zero())
        r.first = duration::zero();
    const auto made = register_bytes(r, kind, nothing, whom);
    if (!made)
        return std::unexpected(made.error());
    return timer_handle(made->index_, made->generation_);
}

scheduler_error scheduler::too_late(duration delay) const noexcept {
    return {.code = scheduler_errc::invalid_delay,
            .field = "delay",
            .value = delay.ns(),
            .limit = maximum_delay_.ns()};
}

// TM-1, TM-2. Its cell and its place are its own, so that nobody has to admit it; far away there
// may be none.
scheduler::armed scheduler::rearm(timer_handle which, instant due) noexcept {
    const scheduler_error gone{.code = scheduler_errc::closed};
    if (which.generation() == 0)
        return std::unexpected(gone);
    job& j = store_.at(which.index());
    job_word::stored bits = j.word.load(job::state.acquire());
    const job_word seen(bits);
    if (seen.generation() != which.generation() || !seen.is(job_word::owned) ||
        seen.state() != job_state::executing || seen.is_last_use())
        return std::unexpected(gone);
    if (j.holders.load(job::held.acquire()) != 1)
        return which;  // its actor is about to be told
    const instant now = time_.now();
    if (due - now > maximum_delay_)
        return std::unexpected(too_late(due - now));
    const bool inside = overflow_limit_ != scheduler_capacity::unlimited;
    owed_warnings owed;
    std::optional<scheduler_error> refused;
    bool takes_overflow = false;
    if (inside) {
        enter();
        // Until now it could be ended, and its cell be another's.
        if (j.word.load(std::memory_order_relaxed) != bits)
            refused = gone;
        takes_overflow = !refused && is_far(due - now, now);
        if (takes_overflow)
            refused = admit_far({.first = due - now, .priority = j.priority}, owed);
    }
    const job_word next = seen.next_use(job_word::owned);
    // Relaxed: it is what was seen above, and who puts it in is told by the lock.
    if (!refused && !j.word.compare_exchange_strong(bits, next.bits(), std::memory_order_relaxed,
                                                    std::memory_order_relaxed)) {
        if (takes_overflow)
            --overflow_reserved_;
        refused = gone;  // it was closed meanwhile
    }
    if (!refused) {
        j.has_overflow = takes_overflow;
        j.due = due;
        j.registered_at = now < due ? now : due;
        j.comes_back = true;
        if (inside)
            apply(j);
        else
            submit(j);
    }
    if (inside) {
        let_go();
        tell(owed);
    }
    if (refused)
        return std::unexpected(*refused);
    return timer_handle(which.index(), next.generation());
}

bool scheduler::pending(timer_handle which) noexcept {
    if (which.generation() == 0)
        return false;
    const job& j = store_.at(which.index());
    const job_word word(j.word.load(job::state.acquire()));
    if (word.generation() != which.generation())
        return false;
    // About to be told: as good as pending.
    if (word.is(job_word::owned) && word.state() == job_state::executing)
        return j.holders.load(std::memory_order_relaxed) != 1;
    return word.state() == job_state::pending || word.state() == job_state::scheduled;
}

}  // namespace tactus::inline v0
