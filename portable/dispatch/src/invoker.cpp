// SPDX-License-Identifier: Apache-2.0
//
// One run of a mailbox, and its end.
#include <tactus/dispatch/invoker.hpp>

#include <optional>
#include <utility>

namespace tactus::inline v0 {
namespace {

constexpr bool may_work = !port::has_interrupts;  // a device has few actors

}  // namespace

const char* name_of(invoke_outcome outcome) noexcept {
    static constexpr const char* names[] = {"completed", "yielded", "suspended", "failed",
                                            "stopped"};
    return names[static_cast<std::size_t>(outcome)];
}

/// How much one run may do.
class invoker::share {
public:
    share(const worker& w, std::uint32_t batch) noexcept {
        const std::uint32_t exact = w.home_.throughput();
        if (exact != 0)
            left_ = exact;
        else if (batch > share_min)
            left_ = batch < share_max ? batch : share_max;
        // An explicit throughput is exact.
        sends_max_ = exact != 0 ? ~std::uint32_t{0} : left_;
        // Only an explicit deadline, or a long batch, makes it look at the clock.
        if (w.home_.has_throughput_deadline() || (batch > share_min && exact == 0)) [[unlikely]]
            start_clock(w);
    }

    /// After each message: may there be another?
    [[nodiscard]] bool go_on(std::uint32_t sends) noexcept {
        if (--left_ == 0 || sends > sends_max_) [[unlikely]]
            return false;
        return !clock_ || in_time(*clock_);
    }
    /// At least one user message is handled in every run (IN-2).
    void count_continuations(std::uint32_t n) noexcept { left_ = n < left_ ? left_ - n : 1; }
    /// How many continuations may follow the message just handled.
    [[nodiscard]] std::uint32_t continuations_left() const noexcept { return left_ - 1; }
    /// The same for a run that begins with them.
    [[nodiscard]] static std::uint32_t continuations_first(const worker& w) noexcept {
        const std::uint32_t exact = w.home_.throughput();
        return exact != 0 ? exact : share_min;
    }

private:
    struct limits {
        explicit limits(const tactus::clock& of) noexcept : time(of) {}
        const tactus::clock& time;
        instant until = instant::never();       // the explicit deadline
        instant until_long = instant::never();  // of runs beyond share_min
        std::uint32_t until_look = share_min;   // messages
        bool always = false;                    // a look after each
    };

    [[gnu::noinline]] void start_clock(const worker& w) noexcept {
        if (w.system_.time_ == nullptr)
            return;
        limits& c = clock_.emplace(*w.system_.time_);
        const instant now = c.time.now();
        // The first 300 are free; then a look every 64. An explicit throughput is exact.
        if (w.home_.throughput() == 0)
            c.until_long = now + duration::from_ms(1);
        if (w.home_.has_throughput_deadline()) {
            c.until = now + w.home_.throughput_deadline();
            c.always = true;
        }
    }
    [[nodiscard]] [[gnu::noinline]] static bool in_time(limits& c) noexcept {
        if (--c.until_look != 0 && !c.always)
            return true;
        const instant now = c.time.now();
        if (c.until_look == 0) {
            c.until_look = clock_interval;
            if (now >= c.until_long)
                return false;
        }
        return now < c.until;
    }

    std::uint32_t left_ = share_min;
    std::uint32_t sends_max_ = 0;
    std::optional<limits> clock_;  // none: not looked at
};

void invoker::default_system(turn& t, system_message& m) noexcept {
    state_engine& state = t.slot_.state();
    switch (m.kind) {
    case system_kind::terminate:
        (void)state.request_close();  // the run going on finalizes
        break;
    case system_kind::suspend:
        t.system().about_to_hold(t.slot_, t.self(), held_reason::supervision);
        (void)state.suspend(suspension::supervision);
        break;
    case system_kind::resume:
        t.system().hub_.resumed(t.self());
        (void)state.resume(suspension::supervision);  // the end of the run looks for work
        break;
    default:
        break;
    }
}

void invoker::handle(turn& t, system_message& m) noexcept {
    // The node is its owner's again as soon as `done` says so, perhaps before.
    const auto done = m.done;
    if (const auto receive = t.slot_.acts()->receive_system) {
        const handled result = receive(t, t.slot_.user_state(), m);
        if (!result.is_ok())
            fail(t, result.why());  // the next system message is handled all the same
    } else {
        default_system(t, m);
    }
    if (done != nullptr)
        done(m);
}

// The sender found the slot's last life, and was late.
void invoker::refuse_generation(turn& t, system_message& m) noexcept {
    const auto done = m.done;
    t.worker_.system_.hub_.system_dead_letter(t.self().with_generation(m.generation.read()), m);
    if (done != nullptr)
        done(m);
}

void invoker::put_off_system(slot& s, oldest_first list) noexcept {
    while (system_message* m = list.pop()) {
        m->linked = true;
        s.unhandled.push(*m);
    }
}

std::uint32_t invoker::run_system(turn& t, std::uint32_t continuations_max) noexcept {
    slot& s = t.slot_;
    std::uint32_t continuations = 0;
    oldest_first list;
    for (;;) {
        if (s.state().closing()) {
            // The rest is not processed any more; the finalizer refuses it, in order.
            put_off_system(s, list);
            return continuations;
        }
        if (may_work && s.works) {
            // What stayed in the queue would make the next run an urgent one.
            put_off_system(s, list);
            put_off_system(s, s.drain_system());
            return continuations;
        }
        // SQ-4: continuations wait for supervision, and for the next run when this one's share is
        // used up; other kinds pass them.
        const bool holds = s.state().suspend_count(suspension::supervision) != 0 ||
                           continuations == continuations_max;
        // Held back longer than anything that is here now.
        const bool is_put_off = may_work && !s.unhandled.empty();
        const bool is_held = !is_put_off && !holds && !s.held.empty();
        if (!is_put_off && !is_held && list.empty()) {
            list = s.drain_system();
            if (list.empty())
                return continuations;
        }
        system_message* m = is_put_off ? &s.unhandled.pop() : is_held ? &s.held.pop() : list.pop();
        if (m->generation.read() != s.generation()) [[unlikely]] {
            s.note_system_handled(1);
            refuse_generation(t, *m);
            continue;
        }
        if (m->kind == system_kind::continuation) {
            // What was put off came after those that are held.
            if (holds || (is_put_off && !s.held.empty())) {
                m->linked = true;
                s.held.push(*m);
                continue;
            }
            ++continuations;
        }
        s.note_system_handled(1);
        handle(t, *m);
    }
}

void invoker::fail(turn& t, const failure& why) noexcept {
    // IN-6: held back until supervision decides; the message is consumed.
    t.system().about_to_hold(t.slot_, t.self(), held_reason::supervision);
    (void)t.slot_.state().suspend(suspension::supervision);
    t.worker_.system_.hub_.actor_failed(t.self(), why);
}

handled invoker::run_chain(turn& t, envelope& e, const middleware_chain& chain,
                           bool& deferred) noexcept {
    const auto members = chain.members;
    std::size_t entered = 0;
    handled result;
    t.suspended_ = false;
    while (entered < members.size()) {
        result = members[entered]->before(t, e);
        if (!result.is_ok())
            break;
        ++entered;
    }
    if (entered == members.size())
        result = t.slot_.acts()->receive(t, t.slot_.user_state(), e);
    deferred = result.what() == handled::kind::deferred;
    while (entered > 0) {
        // The first failure is the one reported; the remaining afters run all the same.
        const bool had_failed = result.what() == handled::kind::failed;
        const failure first = had_failed ? result.why() : failure{};
        const handled after = members[--entered]->after(t, e, result);
        if (had_failed)
            result = handled::failed(first);
        else if (!after.is_ok())
            result = after;
    }
    return result;
}

// TC-F15: kept, and tried again when the actor is resumed. Who defers without having suspended the
// actor, and so without a word on when to go on, waits for resume(self, suspension::await): trying
// again at once would never end.
void invoker::defer(turn& t, envelope& e, const handled& why) noexcept {
    t.slot_.put_back(e);
    if (!t.suspended_) {
        t.system().about_to_hold(t.slot_, t.self(), held_reason::await_external);
        (void)t.slot_.state().suspend(suspension::await);
    }
    if (why.what() == handled::kind::failed)
        fail(t, why.why());  // an `after` did; the message is not consumed by that
}

std::uint32_t invoker::prologue(turn& t) noexcept {
    if (t.slot_.fresh()) {
        t.slot_.end_fresh();
        if (const auto start = t.slot_.acts()->start) {
            const handled begun = start(t, t.slot_.user_state());
            if (!begun.is_ok())
                fail(t, begun.why());
        }
    }
    if (may_work && t.slot_.works && !t.slot_.state().closing()) {
        system_message more;
        more.kind = system_kind::go_on;
        handle(t, more);
    }
    return run_system(t, share::continuations_first(t.worker_));
}

void invoker::refuse_generation(worker& w, slot& s, envelope& e) noexcept {
    w.system_.hub_.dead_letter(w.system_.slots_.index_of(s).with_generation(e.generation()), e,
                               dead_letter_cause::wrong_generation);
    w.system_.hub_.discarded(&w.measured_, 1);
    w.envelopes_.dispose(e);
}

invoke_result invoker::run(worker& w, slot& s) noexcept {
    const actor_scheduler& system = w.system_;
    const behaviour* acts = s.acts();
    turn t(w, s);
    w.turn_ = &t;
    invoke_result result;
    std::uint32_t continuations = 0;
    if (s.fresh() || s.has_system_messages() || !s.held.empty()) [[unlikely]]
        continuations = prologue(t);

    bool failed = false;
    if (s.state().should_process()) [[likely]] {
        share budget(w, s.fetch_batch());
        if (continuations != 0) [[unlikely]]
            budget.count_continuations(continuations);
        const std::uint32_t generation = s.generation();
        while (envelope* e = s.next_user()) {
            t.sender_ = e->sender.read();
            bool deferred = false;
            bool kept = false;
            handled done;
            // Relaxed: a look whether there is a chain at all.
            if (e->is_plain_for(generation) &&
                system.chain_.load(std::memory_order_relaxed) == nullptr) [[likely]] {
                done = acts->receive(t, s.user_state(), *e);
            } else {
                if (e->generation() != generation) {
                    refuse_generation(w, s, *e);
                    continue;
                }
                done = receive_specially(t, *e, deferred);
            }
            if (!done.is_ok()) [[unlikely]] {
                if (deferred || done.what() == handled::kind::deferred) {
                    defer(t, *e, done);
                    result.outcome = invoke_outcome::yielded;  // should it be resumed already
                    failed = done.what() == handled::kind::failed;
                    break;
                }
                kept = t.take_keeps(*e);
                if (done.what() == handled::kind::failed) {
                    fail(t, done.why());
                    failed = true;
                }
            }
            ++result.processed;
            if (!kept) [[likely]]
                w.envelopes_.dispose(*e);
            if (s.has_system_messages()) [[unlikely]]
                budget.count_continuations(run_system(t, budget.continuations_left()));
            if (!s.state().should_process()) [[unlikely]]
                break;
            if (!budget.go_on(w.lanes_.sends())) [[unlikely]] {
                if (s.owner_has_user())
                    result.outcome = invoke_outcome::yielded;
                break;
            }
        }
        if (s.kind() != nullptr) [[unlikely]]
            failed = end_of_kind(t) || failed;
        if (t.stamp_ != nullptr) [[unlikely]]
            *t.stamp_ = system.time_->now();
        if (s.state().should_process()) [[likely]]
            return result;  // continuations left over are seen by the end of the run
    } else if (t.stamp_ != nullptr) {
        *t.stamp_ = system.time_->now();  // a coroutine has ended
    }
    result.arranged = true;
    if (s.state().closing())
        result.outcome = invoke_outcome::stopped;
    else if (s.owes_continuations())
        result.outcome = invoke_outcome::yielded;
    else
        result.outcome = failed ? invoke_outcome::failed : invoke_outcome::suspended;
    return result;
}

bool invoker::end_of_kind(turn& t) noexcept {
    mailbox_block& block = *t.slot_.kind();
    actor_scheduler& system = t.worker_.system_;
    // Credits that were kept: the next run may be far away.
    block.settle(t.slot_.senders_inbox());
    // CO-4: who waits for room anywhere tries again.
    if (system.suspensions_.wants_room()) [[unlikely]]
        (void)system.suspensions_.capacity_available();
    const char* why = block.queue().broken();
    if (why != nullptr) [[unlikely]]
        queue_broke(t, block, why);
    while (envelope* e = block.take_evicted()) {
        system.hub_.discarded(&t.worker_.measured_, 1);
        system.hub_.dead_letter(t.self(), *e, dead_letter_cause::mailbox_full);
        t.worker_.envelopes_.dispose(*e);
    }
    // MB-5: above the threshold for longer than a second, senders are told again. The clock is read
    // once per run, and only then.
    if (block.warned() && system.time_ != nullptr)
        block.time_passed(system.time_->now());
    return why != nullptr;
}

// RG-4: the supervisor decides whether the actor goes on; its queue can.
void invoker::queue_broke(turn& t, mailbox_block& block, const char* why) noexcept {
    worker& w = t.worker_;
    envelope_list lost;
    envelope_list first;
    block.mend(t.slot_.senders_inbox(), lost, first);
    while (envelope* e = first.pop())
        t.slot_.put_back(*e);
    fail(t, {why, nullptr});
    w.system_.hub_.discarded(&w.measured_, lost.size());
    while (envelope* e = lost.pop()) {
        w.system_.hub_.dead_letter(t.self(), *e, dead_letter_cause::scheduler_failure);
        w.envelopes_.dispose(*e);
    }
}

handled invoker::receive_specially(turn& t, envelope& e, bool& deferred) noexcept {
    actor_scheduler& system = t.worker_.system_;
    const std::uint32_t flags = e.flags();
    if ((flags & (envelope::has_span | envelope::has_stamp)) != 0) [[unlikely]] {
        if ((flags & envelope::has_stamp) != 0)
            system.hub_.waited(t.worker_.measured_, e.stamp());
        else if (system.trace_ != nullptr)
            trace(t, e);
    }
    if ((flags & (envelope::has_guard | envelope::has_note)) != 0) [[unlikely]]
        return receive_guarded(t, e, deferred);
    return receive_chained(t, e, deferred);
}

// BT-2: withdrawn messages are not handled.
handled invoker::receive_guarded(turn& t, envelope& e, bool& deferred) noexcept {
    envelope_guard::scope during;
    if (!e.begin(during))
        return handled::ok();
    t.guarded_ = &during;
    const handled result = receive_chained(t, e, deferred);
    t.guarded_ = nullptr;
    return result;
}

handled invoker::receive_chained(turn& t, envelope& e, bool& deferred) noexcept {
    const actor_scheduler& system = t.worker_.system_;
    const middleware_chain* chain = system.chain_.load(actor_scheduler::installed.acquire());
    return chain == nullptr ? t.slot_.acts()->receive(t, t.slot_.user_state(), e)
                            : run_chain(t, e, *chain, deferred);
}

void invoker::trace(turn& t, envelope& e) noexcept {
    const std::int64_t span = e.span();
    if (span == 0)
        return;
    actor_scheduler& system = t.worker_.system_;
    const mailbox_index self = t.self();
    system.trace_->mark(span, tracer::point::dequeue, self);
    // OH-7: the first that is traced after the actor was held back says what let it go.
    if (std::exchange(t.slot_.was_held, false)) {
        if (const auto key = system.suspensions_.take_signal(self))
            system.trace_->carry(span, span_fact::signal_key, *key);
    }
    system.trace_->mark(span, tracer::point::invoke, self);
}

namespace {

/// Where leftovers go.
struct leftovers_sink {
    hub& events;
    mailbox_index who;
    dead_letter_cause cause;
    void (*dispose)(void*, envelope&) noexcept;
    void* context;

    void refused(system_message& m) noexcept {
        const auto done = m.done;
        events.system_dead_letter(who, m);
        if (done != nullptr)
            done(m);
    }
    void refused(envelope& e) noexcept {
        events.dead_letter(who, e, cause);
        dispose(context, e);
    }
};

}  // namespace

void invoker::finalize(actor_scheduler& system, worker* w, slot& s) noexcept {
    const mailbox_index who = system.slots_.index_of(s);
    if (s.waits) {
        while (system.suspensions_.forget(who)) {
        }
        s.waits = false;
        s.was_held = false;
    }
    // Stop order (CO-5): the actor's state, then its mailbox, then its place in the registry.
    if (const auto destroy = s.acts()->destroy)
        destroy(s);
    struct context_type {
        actor_scheduler* system;
        worker* w;
    } context{&system, w};
    leftovers_sink sink{system.hub_, who,
                        system.phase() != system_phase::running
                            ? dead_letter_cause::shutdown
                            : dead_letter_cause::recipient_terminated,
                        [](void* c, envelope& e) noexcept {
                            auto* to = static_cast<context_type*>(c);
                            to->system->dispose(to->w, e);
                        },
                        &context};
    s.end_work();
    oldest_first unhandled = s.held.take_onto(s.unhandled.take_onto({}));
    const mailbox::leftovers left =
        s.finalize(registry::next_generation(who.generation), unhandled, sink);
    const bool kept = s.acts()->keeps_slot;  // read now: once it is told, it may be released
    if (kept)
        system.give_up(s, w);
    system.hub_.mailbox_closed(who, left.system, left.user);
    // CO-4: who waits for room here must not wait for ever.
    if (system.suspensions_.wants_room()) [[unlikely]]
        (void)system.suspensions_.capacity_available();
    if (!kept)
        system.give_slot(s, w);
}

}  // namespace tactus::inline v0
