// SPDX-License-Identifier: Apache-2.0
//
// Firing: what is due is taken out under the lock, and delivered without it, by one thread at a
// time (SC-10, SC-20 … SC-26, BT).
#include <tactus/scheduler/scheduler.hpp>

#include <tactus/dispatch/job_delivery.hpp>
#include <tactus/dispatch/turn.hpp>

namespace tactus::inline v0 {
namespace {

struct identity {
    char unused = 0;
};
const void* this_thread() noexcept {
    return &port::thread_instance<identity>();
}

/// What a scope holds, where there is no task-local slot.
constexpr char batch_tag = 0;

}  // namespace

instant scheduler::next_deadline() noexcept {
    lock_.enter();
    const auto next = wheel_.next_deadline();
    let_go();
    return next ? scale_.begin_of(*next) : instant::never();
}

void scheduler::run_due(instant now) noexcept {
    clear_due();
    // Somebody else does; it comes back to the wheel when it is done.
    if (firing_.exchange(1, std::memory_order_relaxed) != 0)
        return;
    firing_thread_.store(this_thread(), std::memory_order_relaxed);
    job* due = take_due(now);
    while (due != nullptr) {
        job* const next = due->next.read();  // once it is fired it may be anybody's
        fire(*due);
        due = next;
    }
    firing_thread_.store(nullptr, std::memory_order_relaxed);
    firing_.store(0, std::memory_order_relaxed);
}

job* scheduler::take_due(instant now) noexcept {
    job* first = nullptr;
    job* last = nullptr;
    lock_.enter();
    lock_.do_left([this](job& j) { apply(j); });
    const tick at = scale_.floor(now);
    // Time that went back is the clock's fault; the next look has a later one.
    (void)wheel_.advance(now, [&](const expired_timer& t) {
        job& j = store_.at(static_cast<std::uint32_t>(t.payload));
        if (!came_due(j, at))
            return;
        j.next.write(nullptr);
        if (last == nullptr)
            first = &j;
        else
            last->next.write(&j);
        last = &j;
    });
    let_go();
    return first;
}

bool scheduler::came_due(job& j, tick now) noexcept {
    // Cancelled: who did so is about to take it out.
    if (!changed(j, job_state::scheduled, job_state::executing))
        return false;
    if (!j.is_periodic()) {
        deactivate(j);  // BP-2: released when it fires
        return true;
    }
    j.fired_at = now;
    j.missed = 0;
    if (j.mode == job_mode::fixed_rate) {
        const std::int64_t late = (scale_.begin_of(now) - j.due).ns();
        j.missed = static_cast<std::uint32_t>(late / j.period.ns());
    }
    if (j.kind == job_kind::message)
        j.flight = store_.take();
    return true;
}

void scheduler::fire(job& j) noexcept {
    switch (j.kind) {
    case job_kind::wake:
        static_cast<waker*>(j.cargo)->wake();
        finish(j, job_state::completed);
        break;
    case job_kind::note: {
        const job_word word(j.word.load(std::memory_order_relaxed));
        const timer_due due{timer_handle(store_.index_of(j), word.generation())};
        const mailbox_index to = j.to;
        finish(j, job_state::completed);
        const job_delivery delivers(job_of(due.which));  // OH-7
        actor_scheduler::tell(to, due);
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

void scheduler::finish(job& j, job_state to) noexcept {
    (void)changed(j, job_state::executing, to);
    drop_cargo(j);
    submit(j);
}

void scheduler::release_hold(job& j) noexcept {
    if (j.holders.fetch_sub(1, job::held.acq_rel()) == 1)
        submit(j);
}

// SC-20 … SC-22.
bool scheduler::keeps_up(job& j) noexcept {
    if (j.each || j.missed == 0)
        return true;
    missed_.fetch_add(j.missed, std::memory_order_relaxed);
    if (j.missed > j.backlog_limit) {
        warn(scheduler_warning_kind::backlog_exceeded, j, j.missed, j.backlog_limit);
        return false;
    }
    if (j.missed > j.burst_threshold)
        warn(scheduler_warning_kind::burst_fire, j, j.missed, j.burst_threshold);
    return true;
}

// ---- messages

void scheduler::fire_message(job& j) noexcept {
    fired_.fetch_add(1, std::memory_order_relaxed);
    if (j.to.system_number() == kernel_->system_number()) {
        // Its end is release().
        const job_delivery delivers(id_of(j));
        (void)kernel_->send_guarded(j.to, j.cargo, *j.carries->message, *this, j.sender);
        return;
    }
    // Of another system, which may live longer than this: it gets a message of its own.
    j.carries->tell(j.cargo, j.to, j.sender);
    finish(j, job_state::completed);
}

void scheduler::fire_copies(job& j) noexcept {
    job* flight = std::exchange(j.flight, nullptr);
    const bool is_over = !keeps_up(j);
    const bool is_foreign = j.to.system_number() != kernel_->system_number();
    if (is_over || (!is_foreign && !kernel_->is_alive(j.to))) {
        if (flight != nullptr) {
            flight->holders.store(0, std::memory_order_relaxed);
            submit(*flight);  // nothing holds it
        }
        // SC-11, SC-22
        finish(j, is_over ? job_state::cancelled : job_state::completed);
        return;
    }
    const std::uint32_t copies = j.each ? j.missed + 1 : 1;
    const std::uint32_t missed = j.each ? 0 : j.missed;
    // BT-2: armed again when the copy has been handled, by its flight.
    const bool is_passed_on = j.waits_for_its_run();
    for (std::uint32_t i = 0; i < copies; ++i) {
        if (i != 0)
            flight = take_flight();
        const bool is_sent = flight != nullptr && send_copy(j, flight, missed);
        if (is_sent && is_passed_on)
            return;  // it may be over already
        flight = nullptr;
    }
    rearm_or_end(j);
}

job* scheduler::take_flight() noexcept {
    lock_.enter();
    job* const flight = store_.take();
    let_go();
    return flight;
}

bool scheduler::send_copy(job& j, job* flight, std::uint32_t missed) noexcept {
    job& f = *flight;
    f.kind = job_kind::flight;
    f.mode = j.mode;
    f.flight = &j;
    f.missed = missed;
    f.is_active = false;
    f.is_counted = true;
    f.was_handled = false;
    f.timer = {};
    f.holders.store(1, std::memory_order_relaxed);
    const job_word word = job_word(f.word.load(std::memory_order_relaxed)).next_use(0);
    f.word.store(word.with(job_state::executing).bits(), std::memory_order_relaxed);
    if (!give_cargo_room(f, *j.carries)) {
        dropped_.fetch_add(1, std::memory_order_relaxed);
        finish(f, job_state::completed);
        return false;
    }
    if (!j.carries->copy(f.cargo, j.cargo)) {
        warn(scheduler_warning_kind::handler_failed, j, 0, 0, "a copy of the message threw");
        dropped_.fetch_add(1, std::memory_order_relaxed);
        free_room(f);
        finish(f, job_state::completed);
        return false;
    }
    fired_.fetch_add(1, std::memory_order_relaxed);
    if (j.to.system_number() != kernel_->system_number()) {
        j.carries->tell(f.cargo, j.to, j.sender);
        finish(f, job_state::completed);
        return false;  // armed again by who fires it
    }
    if (!j.waits_for_its_run())
        (void)j.holders.fetch_add(1, std::memory_order_relaxed);
    const job_delivery delivers(id_of(j));
    (void)kernel_->send_guarded(j.to, f.cargo, *f.carries->message, *this, j.sender);
    return true;
}

// The envelope has destroyed the message, and gives its block back.
void scheduler::release(void* block, std::size_t, std::size_t) noexcept {
    auto& j = static_cast<job&>(envelope::guard_before(block));
    free_room(j);
    if (j.kind == job_kind::flight)
        flight_ended(j);
    else
        finish(j, job_state::completed);
}

void scheduler::flight_ended(job& flight) noexcept {
    job& of = *flight.flight;
    finish(flight, job_state::completed);
    if (of.waits_for_its_run())
        rearm_or_end(of);
    else
        release_hold(of);
}

void scheduler::rearm_or_end(job& j) noexcept {
    const instant now = time_.now();
    if (j.mode == job_mode::fixed_rate)
        j.due = j.due + j.period * (std::int64_t{j.missed} + 1);
    else
        j.due = now + j.period;
    j.registered_at = now < j.due ? now : j.due;
    // CN-6
    if (!changed(j, job_state::executing, job_state::pending))
        drop_cargo(j);
    submit(j);
}

// ---- functions

namespace {

job_task& task_of(job& j) noexcept {
    constexpr std::size_t room = (sizeof(job_task) + job::inside_alignment - 1) /
                                 job::inside_alignment * job::inside_alignment;
    return *std::launder(reinterpret_cast<job_task*>(static_cast<std::byte*>(j.cargo) - room));
}

}  // namespace

void scheduler::fire_function(job& j) noexcept {
    if (j.is_periodic() && !keeps_up(j)) {
        finish(j, job_state::cancelled);
        return;
    }
    const bool is_passed_on = !j.is_periodic() || j.waits_for_its_run();
    // What was owed before is done by who runs it.
    const std::uint32_t before = j.owed.fetch_add(j.missed + 1, job::owing.acquire());
    if (before == 0) {
        if (!is_passed_on)
            (void)j.holders.fetch_add(1, std::memory_order_relaxed);
        dispatcher* const on = kernel_->dispatcher_at(j.executor);
        job_task& task = task_of(j);
        if (on == nullptr || !on->execute(task)) {
            // C-SCH-35: told, and the scheduler goes on.
            warn(scheduler_warning_kind::handler_failed, j, 0, 0,
                 "its dispatcher takes no functions any more");
            task.dropped();
        }
    }
    if (!is_passed_on)
        rearm_or_end(j);
}

handled job_task::run() noexcept {
    of.home->run_function(of);
    return handled::ok();  // a failure was told as a warning of the job
}

void job_task::dropped() noexcept {
    of.home->dropped_.fetch_add(1, std::memory_order_relaxed);
    of.owed.store(0, std::memory_order_relaxed);
    of.home->function_over(of);
}

void scheduler::run_function(job& j) noexcept {
    std::uint32_t runs = j.owed.load(std::memory_order_relaxed);
    for (;;) {
        for (std::uint32_t left = runs; left != 0;) {
            const std::uint32_t now = j.each ? 1 : left;
            left -= now;
            // CN-2: never after a cancel that succeeded; nor after a failure.
            const job_state state = job_word(j.word.load(std::memory_order_relaxed)).state();
            if (state == job_state::cancelled || (j.is_periodic() && j.failed))
                continue;
            const execution_batch batch = batch_of(j, now - 1);
            envelope_guard::scope during;
            show_batch(batch, during);
            fired_.fetch_add(1, std::memory_order_relaxed);
            const handled result = j.carries->run(j.cargo, batch);
            if (result.what() != handled::kind::failed)
                continue;
            // SC-12
            j.failed = true;
            warn(scheduler_warning_kind::handler_failed, j, 0, 0, result.why().what);
            const job_word word(j.word.load(std::memory_order_relaxed));
            if (j.is_periodic() && !j.waits_for_its_run())
                (void)stop(store_.index_of(j), word.generation(), job_state::completed);
            else
                (void)changed(j, job_state::executing, job_state::completed);
        }
        const std::uint32_t owed = j.owed.fetch_sub(runs, job::owing.release()) - runs;
        if (owed == 0)
            break;
        runs = owed;
    }
    function_over(j);
}

void scheduler::function_over(job& j) noexcept {
    if (j.mode == job_mode::one_shot)
        finish(j, job_state::completed);
    else if (j.waits_for_its_run())
        rearm_or_end(j);
    else
        release_hold(j);
}

// ---- batches

execution_batch scheduler::batch_of(const job& j, std::uint32_t missed) const noexcept {
    return {.runs = missed + 1, .missed_runs = missed, .mode = j.mode, .job = id_of(j)};
}

bool job::begin(scope& during) noexcept {
    job& of = kind == job_kind::flight ? *flight : *this;
    // CN-4
    if (job_word(of.word.load(std::memory_order_relaxed)).state() == job_state::cancelled) {
        home->dropped_.fetch_add(1, std::memory_order_relaxed);
        return false;
    }
    was_handled = true;
    home->show_batch(home->batch_of(of, missed), during);
    return true;
}

void scheduler::show_batch(const execution_batch& what,
                           envelope_guard::scope& during) const noexcept {
    using lease = task_local_slot::lease<execution_batch>;
    static_assert(sizeof(lease) <= envelope_guard::scope::room_size);
    if (task_local_slot::holds<execution_batch>(slot_)) {
        ::new (static_cast<void*>(during.room)) lease(*slot_, what);
        during.end = [](envelope_guard::scope& s) noexcept {
            std::launder(reinterpret_cast<lease*>(s.room))->~lease();
        };
    } else {
        ::new (static_cast<void*>(during.room)) execution_batch(what);
        during.what = &batch_tag;
    }
}

std::optional<execution_batch> scheduler::current_batch(const turn* t) const noexcept {
    execution_batch found;
    if (task_local_slot::holds<execution_batch>(slot_))
        return slot_->get(found) ? std::optional(found) : std::nullopt;
    const envelope_guard::scope* during = t != nullptr ? t->guarded() : nullptr;
    if (during == nullptr || during->what != &batch_tag)
        return std::nullopt;
    return *std::launder(reinterpret_cast<const execution_batch*>(during->room));
}

// ---- telling

void scheduler::warn(scheduler_warning_kind kind, const job& j, std::int64_t value,
                     std::int64_t limit, const char* text) noexcept {
    if (listener_ == nullptr)
        return;
    scheduler_warning w;
    w.kind = kind;
    w.job = id_of(j);
    w.value = value;
    w.limit = limit;
    w.text = text;
    w.batch = batch_of(j, j.missed);
    w.at = time_.now();
    listener_->warned(w);
}

scheduler_capabilities scheduler::capabilities() const noexcept {
    return {.max_frequency_hz = 1e9 / static_cast<double>(scale_.resolution().ns()),
            .min_delay_ticks = 1,
            .tick_resolution = scale_.resolution()};
}

}  // namespace tactus::inline v0
