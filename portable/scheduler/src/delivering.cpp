// SPDX-License-Identifier: Apache-2.0
//
// Delivering: messages to mailboxes, functions to dispatchers, and the batch that tells who handles
// them what a run stands for (SC-9 … SC-12, SC-24, SC-26, CN-4, BT).
#include <tactus/scheduler/scheduler.hpp>

#include <tactus/dispatch/job_delivery.hpp>
#include <tactus/dispatch/system_table.hpp>
#include <tactus/dispatch/turn.hpp>

#include <algorithm>

namespace tactus::inline v0 {

using detail::job;
using detail::job_task;

namespace {

/// What a scope holds, where there is no task-local slot.
constexpr char batch_tag = 0;

/// Runs of a function that are counted while one goes on, so that the count cannot wrap.
constexpr std::uint32_t owed_max = std::uint32_t{1} << 30U;

/// CO-5: messages that come again and again would keep their system from being drained.
bool ends_with_drain(const job& j) noexcept {
    if constexpr (!port::has_interrupts)
        return system_table::is_door_shut(j.to.system_number());
    return false;
}

constexpr const char* copy_threw = "a copy of the message threw";

constexpr std::uint32_t index_in(job_id which) noexcept {
    return static_cast<std::uint32_t>(which);
}
constexpr std::uint32_t generation_in(job_id which) noexcept {
    return static_cast<std::uint32_t>(which >> 32U);
}

}  // namespace

// ---- messages

void scheduler::fire_message(job& j) noexcept {
    if (!j.goes_alone) {
        fired_.fetch_add(1, std::memory_order_relaxed);
        // Its end is release().
        const job_delivery delivers(id_of(j));
        (void)kernel_->send_guarded(j.to, j.cargo, *j.carries->message, *this, j.sender);
        return;
    }
    // It cannot be cancelled any more, so that its message needs nothing of it.
    send_alone(j, *j.carries->moved, {.batch = batch_of(j, 0), .priority = j.priority},
               "a move of the message threw");
    finish(j, job_state::completed);
}

void scheduler::fire_copies(job& j) noexcept {
    job* flight = std::exchange(j.flight, nullptr);
    const bool is_over = !keeps_up(j, j.missed);
    if (is_over || ends_with_drain(j) || !is_alive(j.to)) {
        if (flight != nullptr) {
            flight->holders.store(0, std::memory_order_relaxed);
            submit(*flight);  // nothing holds it
        }
        // SC-11, SC-22
        if (is_over)
            finish(j, job_state::cancelled, job_end::backlog_exceeded);
        else if (ends_with_drain(j))
            finish(j, job_state::cancelled, job_end::closed);
        else
            finish(j, job_state::completed, job_end::receiver_terminated);
        return;
    }
    const std::uint32_t copies = j.each ? j.missed + 1 : 1;
    const std::uint32_t missed = j.each ? 0 : j.missed;
    // BT-2: armed again when the copy has been handled.
    const bool is_passed_on = j.waits_for_its_run() && !is_elsewhere(j.to);
    for (std::uint32_t i = 0; i < copies; ++i) {
        if (i != 0 && !is_elsewhere(j.to))
            flight = take_flight();
        const bool goes_alone = flight == nullptr;
        if (goes_alone)
            send_alone(
                j, *j.carries->copied,
                {.batch = batch_of(j, missed), .priority = j.priority, .arms_again = is_passed_on},
                copy_threw);
        const bool is_sent = goes_alone || send_copy(j, flight, missed);
        if (is_sent && is_passed_on && leave_to_run(j))
            return;  // it may be over already
        flight = nullptr;
    }
    rearm_or_end(j);
}

job* scheduler::take_flight() noexcept {
    enter();
    job* const flight = cells_are_scarce(1) ? nullptr : store_.take();
    let_go();
    return flight;
}

void scheduler::send_alone(const job& j, const detail::parcel_kind& how,
                           const detail::lone_run& run, const char* if_it_throws) noexcept {
    const job_delivery delivers(run.batch.job);
    const auto p = detail::parcel::as(how, j.cargo);
    // One of another system may live longer than this: it gets an ordinary message.
    const bool is_ordinary = is_elsewhere(j.to);
    const sent result = is_ordinary ? actor_scheduler::tell_parcel(j.to, p, j.sender)
                                    : kernel_->send_noted(j.to, p, run.note_for(*this), j.sender);
    if (result != sent::construction_failed) {
        fired_.fetch_add(1, std::memory_order_relaxed);
        return;
    }
    if (is_ordinary)
        dropped_.fetch_add(1, std::memory_order_relaxed);
    warn(scheduler_warning_kind::handler_failed, run.batch, 0, 0, if_it_throws);
}

bool scheduler::is_alive(mailbox_index who) noexcept {
    if (!is_elsewhere(who))
        return kernel_->is_alive(who);
    const system_table::visit in(who.system_number());
    return in.system() != nullptr && in.system()->is_alive(who);
}

bool scheduler::send_copy(job& j, job* flight, std::uint32_t missed) noexcept {
    job& f = *flight;
    f.kind = job_kind::flight;
    f.mode = j.mode;
    f.metadata = id_of(j);
    f.missed = missed;
    f.registered_at = j.registered_at;
    f.due = j.due;
    f.executor = j.executor;
    f.priority = j.priority;
    f.is_active = false;
    f.is_counted = true;
    f.was_handled = false;
    f.after_sent.write(j.after_sent.read());
    f.timer = {};
    f.holders.store(1, std::memory_order_relaxed);
    const job_word word = job_word(f.word.load(std::memory_order_relaxed)).next_use(0);
    f.word.store(word.with(job_state::executing).bits(), job::state.release());
    if (!give_cargo_room(f, *j.carries)) {
        dropped_.fetch_add(1, std::memory_order_relaxed);
        finish(f, job_state::completed);
        return false;
    }
    if (!j.carries->copied->make(f.cargo, j.cargo)) {
        warn(scheduler_warning_kind::handler_failed, batch_of(j, missed), 0, 0, copy_threw);
        dropped_.fetch_add(1, std::memory_order_relaxed);
        free_room(f);
        finish(f, job_state::completed);
        return false;
    }
    fired_.fetch_add(1, std::memory_order_relaxed);
    const job_delivery delivers(f.metadata);
    (void)kernel_->send_guarded(j.to, f.cargo, *f.carries->message, *this, j.sender);
    return true;
}

// BT-2: withdrawn, or lost on its way.
void scheduler::note_lost(const job& j) noexcept {
    dropped_.fetch_add(1, std::memory_order_relaxed);
    if (services_ == nullptr || !services_->has(scheduler_services::watching))
        return;
    enter();
    note_watched(diagnostic_kind::drop, &j, scale_.floor(time_.now()),
                 static_cast<std::int64_t>(j.priority));
    let_go();
}

// The same of one that went alone, of whose job no more is known.
void scheduler::note_lost(const detail::lone_run& run) noexcept {
    dropped_.fetch_add(1, std::memory_order_relaxed);
    if (services_ == nullptr || !services_->has(scheduler_services::watching))
        return;
    diagnostic d{.kind = diagnostic_kind::drop,
                 .mode = run.batch.mode,
                 .job = run.batch.job,
                 .at = scale_.floor(time_.now()),
                 .detail = static_cast<std::int64_t>(run.priority)};
    enter();
    note_watched(d);
    let_go();
}

bool scheduler::begins(const envelope_note& what, envelope_guard::scope& during) noexcept {
    const auto run = detail::lone_run::of(what);
    if (run.batch.mode != job_mode::one_shot && is_withdrawn(run.batch.job))
        return false;
    show_batch(run.batch, during);
    return true;
}

void scheduler::ended(const envelope_note& what, bool was_begun) noexcept {
    const auto run = detail::lone_run::of(what);
    if (!was_begun)
        note_lost(run);
    if (run.arms_again)
        run_over(run.batch.job);
}

// The envelope has destroyed the message, and gives its block back.
void scheduler::release(void* block, std::size_t, std::size_t) noexcept {
    auto& j = static_cast<job&>(envelope::guard_before(block));
    if (!j.was_handled) [[unlikely]]
        note_lost(j);
    free_room(j);
    if (j.kind == job_kind::flight)
        flight_ended(j);
    else
        finish(j, job_state::completed);
}

void scheduler::flight_ended(job& flight) noexcept {
    const bool arms_again = flight.waits_for_its_run();
    const job_id of = flight.metadata;
    finish(flight, job_state::completed);
    if (arms_again)
        run_over(of);
}

bool scheduler::leave_to_run(job& j) noexcept {
    job_word seen(j.word.load(std::memory_order_relaxed));
    while (seen.state() == job_state::executing && seen.phase() == run_phase::fired) {
        if (j.replace(seen, seen.with(run_phase::sent)))
            return true;
    }
    return false;
}

void scheduler::run_over(job_id of) noexcept {
    job_word seen(store_.word_at(index_in(of)).load(std::memory_order_relaxed));
    job& j = store_.at(index_in(of));
    while (seen.generation() == generation_in(of) && seen.state() == job_state::executing) {
        const bool is_sent = seen.is_sent();
        if (!j.replace(seen,
                       is_sent ? seen.with(job_state::pending, {}) : seen.with(run_phase::over)))
            continue;
        if (is_sent) {
            renew(j);
            submit(j);
        }
        return;
    }
}

bool scheduler::is_withdrawn(job_id which) const noexcept {
    const job_word word(store_.word_at(index_in(which)).load(std::memory_order_relaxed));
    return word.generation() != generation_in(which) || word.state() == job_state::cancelled;
}

void scheduler::rearm_or_end(job& j) noexcept {
    // CN-6. Its times are those of the run that was, for who ends it, until it is not to be ended.
    if (changed(j, job_state::executing, job_state::pending))
        renew(j);
    else if (!j.is_shared())
        drop_cargo(j);
    submit(j);
}

void scheduler::renew(job& j) noexcept {
    const instant now = time_.now();
    if (j.mode == job_mode::fixed_rate)
        j.due = j.due + j.period * (std::int64_t{j.missed} + 1);
    else
        j.due = now + j.period;
    j.registered_at = registered_before(now, j.due);
    j.was_handled = false;
}

// ---- functions

namespace {

job_task& task_of(job& j) noexcept {
    return *std::launder(reinterpret_cast<job_task*>(static_cast<std::byte*>(j.cargo) -
                                                     detail::task_room(j.own_block)));
}

}  // namespace

void scheduler::fire_function(job& j) noexcept {
    // While a run waits or goes on, what is missed is judged by who comes to the next one: runs
    // may be folded until then. Relaxed: judging reads nothing that a run writes, and nobody else
    // adds, so a 0 is still one at the addition, which acquires.
    const std::uint32_t waiting = j.owed.load(std::memory_order_relaxed);
    const bool is_idle = waiting == 0;
    if (is_idle && j.is_periodic() && !keeps_up(j, j.missed)) {
        finish(j, job_state::cancelled, job_end::backlog_exceeded);
        return;
    }
    const bool is_passed_on = !j.is_periodic() || j.waits_for_its_run();
    // What was owed before is done by who runs it.
    const std::uint32_t more = waiting < owed_max ? std::min(j.missed + 1, owed_max) : 1;
    const std::uint32_t before = j.owed.fetch_add(more, job::owing.acquire());
    if (before == 0) {
        j.missed_told = is_idle ? j.missed_runs() : 0;
        if (!is_passed_on)
            (void)j.holders.fetch_add(1, std::memory_order_relaxed);
        dispatcher* const on = kernel_->dispatcher_at(j.executor);
        job_task& task = task_of(j);
        if (on == nullptr || !on->execute(task)) {
            // C-SCH-35: told, and the scheduler goes on.
            warn(scheduler_warning_kind::handler_failed, batch_of(j, j.missed), 0, 0,
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
    if (of.owed.exchange(0, std::memory_order_relaxed) == 0) {
        of.home->end_cargo(of);  // nobody is there to be told
        return;
    }
    of.home->dropped_.fetch_add(1, std::memory_order_relaxed);
    of.home->function_over(of, false);
}

bool scheduler::is_to_be_told(const job& j) noexcept {
    if (j.kind != job_kind::function || j.carries == nullptr || j.carries->cancelled == nullptr ||
        j.was_handled)
        return false;
    const job_word word(j.word.load(std::memory_order_relaxed));
    return word.state() == job_state::cancelled && word.end() != job_end::closed;
}

bool scheduler::tell_cancelled(job& j) noexcept {
    if (!is_to_be_told(j)) [[likely]]
        return false;
    dispatcher* const on = kernel_->dispatcher_at(j.executor);
    return on != nullptr && on->execute(task_of(j));
}

void scheduler::run_function(job& j) noexcept {
    std::uint32_t runs = j.owed.load(std::memory_order_relaxed);
    std::uint32_t told = j.missed_told;
    bool is_withdrawn = false;
    if (runs == 0) {  // no run: see tell_cancelled
        j.carries->cancelled(j.cargo);
        end_cargo(j);
        return;
    }
    for (;;) {
        const job_word before(j.word.load(std::memory_order_relaxed));
        // SC-22: when it is over, none of them is run.
        if (before.state() != job_state::cancelled && !j.failed && !keeps_up(j, runs - 1, told))
            (void)stop(store_.index_of(j), before.generation(), job_state::cancelled,
                       job_end::backlog_exceeded);
        told = 0;
        for (std::uint32_t left = runs; left != 0;) {
            const std::uint32_t now = j.each ? 1 : left;
            left -= now;
            // CN-2: never after a cancel that succeeded; nor after a failure.
            const job_state state = job_word(j.word.load(std::memory_order_relaxed)).state();
            if (state == job_state::cancelled || (j.is_periodic() && j.failed)) {
                is_withdrawn = true;
                continue;
            }
            const execution_batch batch = batch_of(j, now - 1);
            envelope_guard::scope during;
            show_batch(batch, during);
            fired_.fetch_add(1, std::memory_order_relaxed);
            const handled result = j.carries->run(j.cargo, batch);
            if (result.what() != handled::kind::failed)
                continue;
            // SC-12
            j.failed = true;
            warn(scheduler_warning_kind::handler_failed, batch, 0, 0, result.why().what);
            const job_word word(j.word.load(std::memory_order_relaxed));
            if (j.is_periodic() && !j.waits_for_its_run())
                (void)stop(store_.index_of(j), word.generation(), job_state::completed,
                           job_end::failed);
            else
                (void)changed(j, job_state::executing, job_state::completed, job_end::failed);
        }
        const std::uint32_t owed = j.owed.fetch_sub(runs, job::owing.release()) - runs;
        if (owed == 0)
            break;
        runs = owed;
    }
    if (j.waits_for_its_run())
        j.was_handled = !is_withdrawn;
    function_over(j, true);
}

void scheduler::function_over(job& j, bool is_where_it_runs) noexcept {
    if (j.mode == job_mode::one_shot)
        finish(j, job_state::completed);
    else if (j.waits_for_its_run())
        rearm_or_end(j);
    else
        release_hold(j, is_where_it_runs);
}

// ---- batches

execution_batch scheduler::batch_of(const job& j, std::uint32_t missed) const noexcept {
    return {.runs = missed + 1, .missed_runs = missed, .mode = j.mode, .job = id_of(j)};
}

bool job::begin(scope& during) noexcept {
    execution_batch batch = home->batch_of(*this, missed_runs());
    // CN-4
    if (kind == job_kind::flight) {
        batch.job = metadata;
        if (home->is_withdrawn(metadata))
            return false;
    } else if (job_word(word.load(std::memory_order_relaxed)).state() == job_state::cancelled) {
        return false;
    }
    was_handled = true;
    home->show_batch(batch, during);
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

}  // namespace tactus::inline v0
