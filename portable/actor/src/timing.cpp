// SPDX-License-Identifier: Apache-2.0
//
// Timers of actors (TM-1), and the receive timeout (TM-2).
//
// A due timer comes as a message that says which; the actor's list of timers says what it means.
// The receive timeout costs a run with messages that count a note of when it ended: its timer runs
// on, and when it is due it looks how long that was ago.
//
// A mailbox may refuse the message that says what is due, or be made to give it away. The actor is
// told so beside its mailbox then (system_kind::receive_timeout), and the timer goes on.
#include <tactus/actor/actor_world.hpp>
#include <tactus/actor/effect_recorder.hpp>
#include <tactus/dispatch/system_table.hpp>

#include <algorithm>
#include <limits>
#include <new>

namespace tactus::inline v0 {
namespace {

/// A single timer whose message was lost is tried again after so long, or its own delay.
constexpr duration retry_after = duration::from_ms(10);

constexpr scheduler_error no_timers{.code = scheduler_errc::closed};
constexpr scheduler_error no_memory{.code = scheduler_errc::capacity_exceeded};

std::uint16_t executor_for(turn& t) noexcept {
    return static_cast<std::uint16_t>(t.place().dispatcher_number());
}

/// How a timer is asked for; `policy` is that of its actor.
job_request request_for(const actor_timer& timer, duration first,
                        const timer_policy& policy) noexcept {
    switch (timer.mode) {
    case timer_mode::fixed_rate:
        return job_request::at_fixed_rate(first, timer.interval, policy.fixed_rate)
            .send(timer.target.who, {});
    case timer_mode::fixed_delay:
        return job_request::with_fixed_delay(first, timer.interval, policy.fixed_delay)
            .send(timer.target.who, {});
    default:
        return job_request::once(first, policy.one_shot).send(timer.target.who, {});
    }
}

job_mode job_mode_of(timer_mode mode) noexcept {
    return mode == timer_mode::fixed_rate    ? job_mode::fixed_rate
           : mode == timer_mode::fixed_delay ? job_mode::fixed_delay
                                             : job_mode::one_shot;
}

// A ring of functions: `latest` links to the oldest.
owned_function& take_oldest(owned_function*& latest) noexcept {
    owned_function& oldest = *latest->next;
    if (&oldest == latest)
        latest = nullptr;
    else
        latest->next = oldest.next;
    return oldest;
}

void add_latest(owned_function*& latest, owned_function& f) noexcept {
    f.next = latest != nullptr ? std::exchange(latest->next, &f) : &f;
    latest = &f;
}

struct lost_due final : system_message {
    memory_source& memory;
    std::optional<timer_handle> which;
    bool is_over;

    lost_due(memory_source& from, std::optional<timer_handle> timer, bool over) noexcept
        : memory(from), which(timer), is_over(over) {
        kind = system_kind::receive_timeout;
        done = [](system_message& m) noexcept {
            auto& own = static_cast<lost_due&>(m);
            memory_source& to = own.memory;
            own.~lost_due();
            to.release(&own, sizeof(lost_due), alignof(lost_due));
        };
    }
};

}  // namespace

failure actor_world::refusal(scheduler_errc why) noexcept {
    switch (why) {
    case scheduler_errc::invalid_delay:
        return {"the scheduler refuses a timer: invalid_delay"};
    case scheduler_errc::quota_exceeded:
        return {"the scheduler refuses a timer: quota_exceeded"};
    case scheduler_errc::capacity_exceeded:
        return {"the scheduler refuses a timer: capacity_exceeded"};
    case scheduler_errc::backpressured:
        return {"the scheduler refuses a timer: backpressured"};
    case scheduler_errc::closed:
        return {"the scheduler refuses a timer: closed"};
    default:
        break;  // of calls that these are not: with options, functions, in interrupts
    }
    return {"the scheduler refuses a timer"};
}

timer_policy actor_world::policy_of(turn& t) const noexcept {
    return timers_->policy_of({.dispatcher = executor_for(t), .guardian = guardian_of(t)});
}

scheduler::armed actor_world::arm_timer(turn& t, actor_timer& timer, duration first,
                                        bool replaces) noexcept {
    if (timers_ == nullptr)
        return std::unexpected(no_timers);
    job_request r = request_for(timer, first, policy_of(t));
    if (timer.is_internal)
        r.priority = timers_->runtime_policy().one_shot;
    r.executor = executor_for(t);
    r.goes_on = timer.target.goes_on;
    r.replaces = replaces;
    timer.each = r.each;
    timer.after_sent = r.after_sent;
    if (port::has_interrupts || timer.mode == timer_mode::single)
        return timers_->arm(r);
    text_buffer<timer_key::text_size> label;  // for warnings of missed runs
    timer.key.write(label);
    r.label = label.view();
    return timers_->arm(r);
}

void actor_world::fail_schedule(turn& t, const scheduler_error& why) noexcept {
    char text[failure_cause::text_max + 1] = {};  // ends with a zero
    (void)describe(why, std::span(text, failure_cause::text_max));
    fail(t, failure(text));
}

std::expected<void, scheduler_error> actor_world::start_timer(turn& t, actor_timer& timer,
                                                              duration first) noexcept {
    cell_extras* x = extras_of(cell::of(t.place()));
    actor_timer* const old = x != nullptr ? find_timer(*x, timer.key) : nullptr;
    timer.target.who = t.self();
    timer.target.goes_on = timer.target.goes_on || old != nullptr;
    // Read before the timer is armed: a worker that is held up in between would shift all runs but
    // the first.
    timer.due = kernel_->time()->now() + first;
    scheduler::armed handle =
        x != nullptr ? arm_timer(t, timer, first, old != nullptr) : std::unexpected(no_memory);
    if (!handle && old != nullptr && handle.error().code == scheduler_errc::capacity_exceeded)
        handle = arm_instead(t, *x, *old, timer, first);
    // SC-2: one that is refused leaves the old one as it is.
    if (!handle) {
        timer.release(memory_);
        return std::unexpected(handle.error());
    }
    const bool overriding = drop_timer(t, timer.key);
    timer.handle = *handle;
    timer.next = x->timers;
    x->timers = &timer;
    if (effect_recorder* recorder = recording(cell::of(t.place())))
        recorder->timer_started(t, {timer, first, overriding});
    return {};
}

// There is one place for both.
scheduler::armed actor_world::arm_instead(turn& t, cell_extras& x, actor_timer& old,
                                          actor_timer& timer, duration first) noexcept {
    (void)timers_->cancel(old.handle);
    const scheduler::armed made = arm_timer(t, timer, first);
    if (made)
        return made;
    old.target.goes_on = true;
    const duration rest = old.due - kernel_->time()->now();
    if (const auto again = arm_timer(t, old, std::max(rest, timers_->resolution()))) {
        old.handle = *again;
    } else {  // somebody was faster, and without it the actor would wait for ever
        forget_timer(x, old);
        fail(t, refusal(again.error().code));
    }
    return made;
}

void actor_world::forget_timer(cell_extras& x, actor_timer& timer) noexcept {
    for (actor_timer** at = &x.timers; *at != nullptr; at = &(*at)->next) {
        if (*at == &timer) {
            *at = timer.next;
            if (recorder_ != nullptr)
                recorder_->timer_gone(timer);
            timer.release(memory_);
            return;
        }
    }
}

timer_guardian actor_world::find_guardian(turn& t) const noexcept {
    for (mailbox_index at = t.self(); at.valid();) {
        if (at == user_)
            return timer_guardian::user;
        if (at == system_)
            return timer_guardian::system;
        at = cell::of(kernel_->slots().at(at.slot_number())).parent();
    }
    return timer_guardian::root;
}

void actor_world::note_scheduled(turn& t, any_ref to, const message_type& what,
                                 duration delay) noexcept {
    if (effect_recorder* recorder = recording(cell::of(t.place())))
        recorder->scheduled(t, to, what, delay);
}

bool actor_world::cancel_timer(turn& t, timer_key key) noexcept {
    if (effect_recorder* recorder = recording(cell::of(t.place())))
        recorder->timer_cancelled(t, key);
    return drop_timer(t, key);
}

actor_timer* actor_world::find_timer(const cell_extras& x, timer_key key) noexcept {
    actor_timer* timer = x.timers;
    while (timer != nullptr && timer->key != key)
        timer = timer->next;
    return timer;
}

bool actor_world::drop_timer(turn& t, timer_key key) noexcept {
    cell_extras* x = cell::of(t.place()).extras();
    actor_timer* const timer = x != nullptr ? find_timer(*x, key) : nullptr;
    if (timer == nullptr)
        return false;
    (void)timers_->cancel(timer->handle);
    forget_timer(*x, *timer);
    return true;
}

// The instance ends.
void actor_world::cancel_timers(turn& t) noexcept {
    cancel_keyed_timers(t);
    if (cell_extras* x = cell::of(t.place()).extras())
        end_functions(*x);
}

void actor_world::end_functions(cell_extras& x) noexcept {
    while (x.functions != nullptr) {
        owned_function& f = take_oldest(x.functions);
        f.end();
        f.release();
    }
}

owned_function* actor_world::make_owned_function(turn& t) noexcept {
    cell_extras* const x = extras_of(cell::of(t.place()));
    void* const block =
        x != nullptr ? memory_.allocate(sizeof(owned_function), alignof(owned_function)) : nullptr;
    return block != nullptr ? ::new (block) owned_function(memory_) : nullptr;
}

void actor_world::keep_owned_function(
    turn& t, owned_function& record,
    const std::expected<cancellable, scheduler_error>& made) noexcept {
    if (!made) {
        record.release();
        return;
    }
    cell_extras& x = *cell::of(t.place()).extras();
    // Two of the others are looked at for each new one, in turn: records of functions that are gone
    // are freed at least as fast as new ones come.
    for (int i = 0; i < 2 && x.functions != nullptr; ++i) {
        owned_function& oldest = take_oldest(x.functions);
        if (oldest.is_over())
            oldest.release();
        else
            add_latest(x.functions, oldest);
    }
    record.job = *made;
    add_latest(x.functions, record);
}

void actor_world::cancel_keyed_timers(turn& t) noexcept {
    cell_extras* x = cell::of(t.place()).extras();
    effect_recorder* recorder = recording(cell::of(t.place()));
    while (x != nullptr && x->timers != nullptr) {
        if (recorder != nullptr)
            recorder->timer_cancelled(t, x->timers->key);
        (void)timers_->cancel(x->timers->handle);
        forget_timer(*x, *x->timers);
    }
}

bool actor_world::timer_active(turn& t, timer_key key) noexcept {
    const cell_extras* x = cell::of(t.place()).extras();
    return x != nullptr && find_timer(*x, key) != nullptr;
}

handled actor_world::receive_due(turn& t, const self& s, timer_due due) noexcept {
    cell_extras* x = s.c.extras();
    if (x == nullptr)
        return handled::ok();
    if (x->idle != nullptr && x->idle->timer == due.which) {
        if (!due.is_refused)
            return receive_idle(t, s);
        forget_receive_timeout(t);
        return handled::failed(refusal(scheduler_errc::capacity_exceeded));
    }
    actor_timer* timer = x->timers;
    while (timer != nullptr && timer->handle != due.which)
        timer = timer->next;
    if (timer == nullptr)
        return handled::ok();  // replaced, cancelled, or of an earlier instance
    if (due.is_refused) {
        forget_timer(*x, *timer);
        return handled::failed(refusal(scheduler_errc::capacity_exceeded));
    }
    if (due.is_over) {  // SC-22
        forget_timer(*x, *timer);
        return handled::ok();
    }
    const mailbox_index me = s.index();
    const bool last = timer->mode == timer_mode::single;
    if constexpr (!port::has_interrupts) {
        if (!last && system_table::is_door_shut(me.system_number())) [[unlikely]] {
            (void)drop_timer(t, timer->key);  // CO-5: it would keep the system from being drained
            return handled::ok();
        }
    }
    envelope* inner = timer->wrap(*kernel_, me, last);
    if (inner == nullptr) {
        (void)fold_missed(*timer, due.missed);  // not what the scheduler is late for (SC-22)
        rearm(t, *x, *timer);
        return handled::ok();
    }
    const timer_key key = timer->key;
    const std::uint32_t missed = fold_missed(*timer, due.missed);
    const execution_batch batch{.runs = missed + 1,
                                .missed_runs = missed,
                                .mode = job_mode_of(timer->mode),
                                .job = job_of(due.which)};
    if (last) {
        // PK-TIM-4: over before its message is handled.
        forget_timer(*x, *timer);
    } else if (timer->mode == timer_mode::fixed_rate || timer->after_sent) {
        rearm(t, *x, *timer);
    }
    envelope_guard::scope during;
    timers_->show_batch(batch, during);  // BT-1
    const envelope_guard::scope* const outer = t.set_guarded(&during);
    const handled result = receive_inner(t, s, *inner, me);
    t.set_guarded(outer);
    // Fixed delay: counted from where it was handled, unless cancelled or replaced meanwhile.
    for (actor_timer* still = x->timers; still != nullptr; still = still->next) {
        if (still->key == key && still->handle == due.which) {
            if (x->coroutines != nullptr && x->coroutines->keeps(inner))
                still->being_handled = inner;
            else
                rearm(t, *x, *still);
            break;
        }
    }
    return result;
}

void actor_world::coroutine_handled(turn& t, cell& c, const envelope& e) noexcept {
    if (c.is(cell::special))
        note_activity(t, c, e);
    cell_extras& x = *c.extras();
    for (actor_timer* timer = x.timers; timer != nullptr; timer = timer->next) {
        if (timer->being_handled == &e) {
            timer->being_handled = nullptr;
            rearm(t, x, *timer);
            break;
        }
    }
}

// SC-20: runs whose tick has come while the message was on its way. Those that the scheduler was
// late for are among them, and its backlog; waiting in a mailbox is none.
std::uint32_t actor_world::fold_missed(actor_timer& timer, std::uint32_t counted) noexcept {
    if (timer.mode != timer_mode::fixed_rate || timer.each)
        return 0;
    const std::int64_t late = (timers_->present_tick() - timer.due).ns();
    if (late < timer.interval.ns())
        return 0;
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    const std::int64_t missed = std::min(late / timer.interval.ns(), most);
    timer.due = timer.due + timer.interval * missed;
    const auto folded = static_cast<std::uint32_t>(missed);
    if (folded > counted)
        timers_->count_missed(folded - counted);
    return folded;
}

void actor_world::rearm(turn& t, cell_extras& x, actor_timer& timer) noexcept {
    const instant now = kernel_->time()->now();
    if (timer.mode == timer_mode::fixed_rate)
        timer.due = timer.due + timer.interval;
    else if (timer.mode == timer_mode::single && timer.interval > retry_after)
        timer.due = now + retry_after;
    else if (timer.after_sent)
        timer.due = timers_->sent_at(timer.handle) + timer.interval;
    else
        timer.due = now + timer.interval;
    timer.target.goes_on = true;
    scheduler::armed next = timers_->rearm(timer.handle, timer.due);
    // A single one has ended; so has one that a test has fired by hand.
    if (!next) {
        (void)timers_->cancel(timer.handle);  // its place is what the new one needs
        next = arm_timer(t, timer, std::max(timer.due - now, timers_->resolution()));
    }
    if (next) {
        timer.handle = *next;
        return;
    }
    // Its supervisor decides: without it the actor would wait for ever.
    forget_timer(x, timer);
    fail(t, refusal(next.error().code));
}

void actor_world::due_was_lost(mailbox_index whose, std::optional<timer_handle> which, bool is_over,
                               dead_letter_cause why) noexcept {
    // Its timers have ended with it.
    if (why == dead_letter_cause::recipient_terminated ||
        why == dead_letter_cause::wrong_generation || why == dead_letter_cause::shutdown)
        return;
    // Any thread. Without memory for this, too, the timer is lost.
    if (void* block = memory_.allocate(sizeof(lost_due), alignof(lost_due)))
        (void)kernel_->send_system(whose, *::new (block) lost_due(memory_, which, is_over));
}

void actor_world::rearm_lost(turn& t, const self& s, const system_message& m) noexcept {
    cell_extras* x = s.c.extras();
    if (x == nullptr || s.c.is_ending())
        return;
    const auto& lost = static_cast<const lost_due&>(m);
    // What nobody knows may be one that is in the mailbox: it is not known by its new handle.
    const auto is_lost = [&](timer_handle h) {
        return lost.which ? h == *lost.which : !timers_->pending(h);
    };
    for (actor_timer* timer = x->timers; timer != nullptr;) {
        actor_timer* const next = timer->next;
        const bool was_this = timer->being_handled == nullptr && is_lost(timer->handle);
        if (was_this && lost.is_over) {
            forget_timer(*x, *timer);  // SC-22: it was the last
        } else if (was_this) {
            (void)fold_missed(*timer, 0);  // not what the scheduler is late for
            rearm(t, *x, *timer);
        }
        timer = next;
    }
    if (idle_watch* idle = x->idle; idle != nullptr && idle->timer && is_lost(*idle->timer))
        arm_receive_timeout(t, *idle, idle->after);
}

// ---- receive timeout

// One that is refused is forgotten, too: a restart would ask for it again, and fail for ever.
void actor_world::forget_receive_timeout(turn& t) noexcept {
    cell& c = cell::of(t.place());
    cell_extras& x = *c.extras();
    t.set_stamp(nullptr);
    memory_.release(x.idle, sizeof *x.idle, alignof(idle_watch));
    x.idle = nullptr;
    settle_special(c);
}

void actor_world::arm_receive_timeout(turn& t, idle_watch& idle, duration after) noexcept {
    scheduler::armed made = std::unexpected(no_timers);
    if (timers_ != nullptr && idle.timer)
        made = timers_->rearm(*idle.timer, kernel_->time()->now() + after);
    if (timers_ != nullptr && !made) {
        if (idle.timer)
            (void)timers_->cancel(*idle.timer);
        job_request r =
            job_request::with_fixed_delay(
                after, after, {.priority = timers_->runtime_policy().fixed_delay.priority})
                .send(t.self(), {});
        r.executor = executor_for(t);
        r.goes_on = idle.goes_on;
        made = timers_->arm(r);
    }
    idle.timer.reset();
    if (!made) {
        forget_receive_timeout(t);
        fail(t, refusal(made.error().code));
        return;
    }
    idle.timer = *made;
    idle.goes_on = true;  // from now on
}

void actor_world::set_receive_timeout(turn& t, duration after) noexcept {
    cell& c = cell::of(t.place());
    const bool off = after == duration::max();
    if (effect_recorder* recorder = recording(c))
        recorder->receive_timeout_set(t, after);
    cell_extras* x = off ? c.extras() : extras_of(c);
    idle_watch* idle = x != nullptr ? x->idle : nullptr;
    if (idle != nullptr && idle->timer)
        (void)timers_->cancel(*idle->timer);
    if (off) {
        if (idle != nullptr)
            forget_receive_timeout(t);
        return;
    }
    if (idle == nullptr) {
        void* block =
            x != nullptr ? memory_.allocate(sizeof(idle_watch), alignof(idle_watch)) : nullptr;
        if (block == nullptr) {
            fail(t, failure("no memory for a receive timeout"));
            return;
        }
        idle = ::new (block) idle_watch;
        x->idle = idle;
    }
    c.set(cell::special);
    idle->after = after;
    // PK-RTO-1: it counts from the end of this run.
    idle->active_at = kernel_->time()->now();
    t.set_stamp(&idle->active_at);
    arm_receive_timeout(t, *idle, after);
}

void actor_world::note_activity(turn& t, cell& c, const envelope& e) noexcept {
    idle_watch* idle = c.extras()->idle;
    if (idle == nullptr)
        return;
    const message_type* type = e.type.read();
    // PK-RTO-3: from where it was handled. PK-RTO-4: nor does the question who it is count.
    if (type != &message_type_of<timer_due> && type != &message_type_of<identify> &&
        !type->keeps_receive_timeout)
        t.set_stamp(&idle->active_at);
}

handled actor_world::receive_idle(turn& t, const self& s) noexcept {
    idle_watch& idle = *s.c.extras()->idle;
    const duration after = idle.after;
    // One that counts was handled in this very run: just now, as far as anybody knows.
    const bool is_active = t.stamp() == &idle.active_at;
    const duration since = is_active ? duration::zero() : kernel_->time()->now() - idle.active_at;
    if (since < after) {
        arm_receive_timeout(t, idle, after - since);
        return handled::ok();
    }
    t.set_stamp(&idle.active_at);
    arm_receive_timeout(t, idle, after);
    // A message as others; without memory for one as what it is.
    if (envelope* e = kernel_->wrap(s.index(), receive_timeout{after}); e != nullptr)
        return receive_inner(t, s, *e, {});
    if (s.type().on_receive_timeout == nullptr)
        return handled::ok();
    return s.type().on_receive_timeout(s.c, s.instance(), receive_timeout{after});
}

}  // namespace tactus::inline v0
