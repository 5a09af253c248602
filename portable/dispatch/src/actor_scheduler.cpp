// SPDX-License-Identifier: Apache-2.0
//
// Building, connecting and ending a system; spawning, and the turns of a worker.
#include <tactus/dispatch/actor_scheduler.hpp>

#include "made_in.hpp"
#include "whole_us.hpp"

#include <tactus/dispatch/invoker.hpp>

namespace tactus::inline v0 {
namespace {

TACTUS_CHECK_MODULE("actor_scheduler");

registry::options registry_options(const actor_scheduler::options& o, std::uint32_t number,
                                   std::uint32_t first_generation) noexcept {
    return {.memory = o.slot_memory,
            .capacity = o.slot_capacity,
            // Those of the other workers, and the one for everybody else.
            .magazine_size = o.slot_magazine ? *o.slot_magazine
                                             : shared_magazine(o.slot_capacity, o.worker_count, 32),
            .system_number = number,
            .first_generation = first_generation};
}

}  // namespace

const char* name_of(sent result) noexcept {
    static constexpr const char* names[] = {
        "accepted",    "pool_exhausted",      "recipient_terminated", "shutdown",
        "no_system",   "construction_failed", "mailbox_full",         "dropped",
        "would_block", "timed_out",           "forked_child",         "draining"};
    return names[static_cast<std::size_t>(result)];
}
const char* name_of(spawn_error::kind what) noexcept {
    static constexpr const char* names[spawn_error_count] = {"slots_exhausted",
                                                             "shutting_down",
                                                             "refused",
                                                             "constructor_failed",
                                                             "capacity_zero",
                                                             "capacity_too_large",
                                                             "order_missing",
                                                             "memory_exhausted",
                                                             "unknown_dispatcher",
                                                             "dispatcher_already_owned",
                                                             "name_invalid",
                                                             "name_taken",
                                                             "parent_stopping",
                                                             "mailbox_unfit",
                                                             "unknown_mailbox",
                                                             "alias_chain_too_deep",
                                                             "dispatcher_unavailable",
                                                             "forked_child",
                                                             "draining"};
    return names[static_cast<std::size_t>(what)];
}
const char* name_of(user_code where) noexcept {
    static constexpr const char* names[] = {
        "enqueue_middleware", "spawn_middleware", "tracer",
        "governor",           "load_probe",       "kernel_events"};
    return names[static_cast<std::size_t>(where)];
}
const char* name_of(system_phase phase) noexcept {
    static constexpr const char* names[] = {"running", "stopping", "draining", "stopped"};
    return names[static_cast<std::size_t>(phase)];
}
const char* name_of(span_fact fact) noexcept {
    static constexpr const char* names[] = {"signal_key", "timer_job"};
    return names[static_cast<std::size_t>(fact)];
}

const char* name_of(dead_letter_cause cause) noexcept {
    static constexpr const char* names[dead_letter_cause_count] = {"mailbox_full",
                                                                   "mailbox_timeout",
                                                                   "would_block",
                                                                   "pool_exhausted",
                                                                   "recipient_terminated",
                                                                   "wrong_generation",
                                                                   "scheduler_failure",
                                                                   "shutdown",
                                                                   "stash_overflow",
                                                                   "explicit",
                                                                   "serialization",
                                                                   "construction_failed",
                                                                   "draining"};
    return names[static_cast<std::size_t>(cause)];
}

worker::worker(actor_scheduler& system, dispatcher& home, const worker_lanes::options& lanes,
               bool shared_queue) noexcept
    : system_(system),
      home_(home),
      slot_base_(system.slots().shared().data()),
      first_slot_(system.system_number() << mailbox_index::slot_bits),
      plain_traits_(shared_queue || lanes.mode != lane_mode::standard
                        ? ~0U
                        : slot_traits::plain(home.number())),
      dispatcher_number_(home.number()),
      kept_(shared_queue ? nullptr : &lanes_),
      lanes_(lanes),
      envelopes_(system.envelopes()),
      slots_(system.slots().shared()) {}

actor_scheduler::number_claim actor_scheduler::number_claim::make() noexcept {
    number_claim c{};
    c.number = system_table::claim(c.first_generation);
    return c;
}

actor_scheduler::actor_scheduler(const options& o) noexcept
    : actor_scheduler(o, [] {
          const number_claim c = number_claim::make();
          TACTUS_CHECK(2, c.number != 0);  // too many systems at once
          return c;
      }()) {}

actor_scheduler::actor_scheduler(const options& o, number_claim c) noexcept
    : number_(c.number),
      watched_(o.trace != nullptr || o.on_enqueue != nullptr),
      slots_(registry_options(o, c.number, c.first_generation)),
      pool_({.memory = o.envelope_memory,
             .capacity = o.envelope_capacity,
             .reserve_for_system = o.reserve_for_system,
             .magazine_size = o.envelope_magazine
                                  ? *o.envelope_magazine
                                  : shared_magazine(o.envelope_capacity, o.worker_count, 128),
             .large_payloads = o.large_payloads}),
      memory_(*o.memory),
      time_(o.time),
      above_(o.above),
      driven_by_(o.driven_by),
      hub_({.memory = o.memory, .time = o.time, .to = o.events}),
      on_enqueue_(o.on_enqueue),
      on_spawn_(o.on_spawn),
      trace_(o.trace),
      suspensions_({.memory = o.memory,
                    .time = o.time,
                    .timers = o.time != nullptr ? o.timers : nullptr,
                    .to = this,
                    .capacity = o.suspension_capacity,
                    .notes_signals = o.trace != nullptr}),
      first_(*this, {.memory = o.dispatcher_memory != nullptr ? o.dispatcher_memory : o.memory,
                     .slots = &slots_,
                     .time = o.time,
                     .timers = suspensions_.timers(),
                     .driver = o.driver,
                     .waiting = &suspensions_,
                     .events = &hub_,
                     .number = 0,
                     .seed = o.seed,
                     .cancel_streak_limit = o.cancel_streak_limit,
                     .certify_schedule = o.certify_schedule,
                     .advice = o.advice,
                     .load = o.load,
                     .worker_count = o.worker_count,
                     .visited = o.visited,
                     .shared_queue = o.shared_queue,
                     .throughput = o.throughput,
                     .throughput_deadline = o.throughput_deadline,
                     .ring_capacity = o.ring_capacity,
                     .fresh_capacity = o.fresh_capacity,
                     .queue_capacity = o.queue_capacity,
                     .keyed_capacity = o.keyed_capacity,
                     .mode = o.mode}),
      common_{o.seed, o.advice, o.load, o.cancel_streak_limit, o.certify_schedule} {
    dispatchers_[0].at.store(&first_, std::memory_order_relaxed);  // nobody else is here
    outside_.envelopes.attach(&pool_);
    outside_.slots.attach(&slots_.shared());
    system_table::publish(number_, *this);
}

std::expected<dispatcher*, const char*> actor_scheduler::add_dispatcher(
    dispatcher::options o) noexcept {
    const port::lock_guard measures(hub_.lock());
    const port::lock_guard held(outside_.mutex);
    if (phase() != system_phase::running)
        return std::unexpected("the system is shutting down");
    if (dispatcher_count_ == dispatchers_max)
        return std::unexpected("as many dispatchers as a system may have");
    o.memory = &first_.memory();
    o.slots = &slots_;
    o.time = time_;
    o.timers = nullptr;  // the first one runs them
    o.driver = nullptr;
    o.waiting = &suspensions_;
    o.events = &hub_;
    o.seed = common_.seed;
    o.advice = common_.advice;
    o.load = common_.load;
    o.cancel_streak_limit = common_.cancel_streak_limit;
    o.certify_schedule = common_.certify_schedule;
    o.number = dispatcher_count_;
    auto* d = make<dispatcher>(first_.memory(), *this, o);
    if (hub_.on()) {
        // One that finds no memory is not measured; the others are.
        for (std::uint32_t i = 0; i < d->worker_count(); ++i)
            (void)hub_.turn_on(d->worker_at(i).measured_);
    }
    dispatchers_[dispatcher_count_++].at.store(d, added.release());
    return d;
}

actor_scheduler::~actor_scheduler() {
    if (phase() != system_phase::stopped) {
        begin_stop();
        const worker::binding bound(first_.worker_at(0));
        finish_stop(first_.worker_at(0));
    }
    system_table::withdraw(number_);
    release_blocks();
    for (std::uint32_t i = 1; i < dispatcher_count_; ++i)
        destroy(first_.memory(),
                dispatchers_[i].at.load(std::memory_order_relaxed));  // nobody else is here
    system_table::release(number_, slots_.last_generation());
}

// ---- spawning and ending

std::expected<slot*, spawn_error> actor_scheduler::begin_spawn(const behaviour& acts,
                                                               const spawn_options& o,
                                                               worker* w) noexcept {
    if (phase() != system_phase::running)
        return std::unexpected(
            spawn_error{spawn_error::kind::shutting_down, "the system is shutting down"});
    if (on_spawn_ != nullptr) {
        if (const char* reason = on_spawn_->spawning({acts, o}))
            return std::unexpected(spawn_error{spawn_error::kind::refused, reason});
    }
    if (dispatcher_at(o.dispatcher) == nullptr)
        return std::unexpected(spawn_error{spawn_error::kind::unknown_dispatcher,
                                           "there is no dispatcher with that number"});
    slot* s = nullptr;
    if (w != nullptr) {
        s = slots_.take(w->slots_);
    } else {
        const port::lock_guard held(outside_.mutex);
        s = slots_.take(outside_.slots);
    }
    if (s == nullptr)
        return std::unexpected(spawn_error{spawn_error::kind::slots_exhausted,
                                           "as many actors as the system may have"});
    auto refused = prepare_mailbox(*s, o);
    if (!refused && o.dispatcher != 0 && !dispatcher_at(o.dispatcher)->attach(slots_.number_of(*s)))
        refused = spawn_error{spawn_error::kind::dispatcher_already_owned,
                              "the dispatcher is pinned and belongs to another actor"};
    if (refused) {
        s->set_traits(o.priority, true);  // it lives nowhere
        abandon_spawn(*s, w);
        return std::unexpected(*refused);
    }
    s->set_behaviour(&acts);
    s->set_deadline_us(time_ != nullptr ? whole_us(o.deadline) : 0);
    s->set_suspend_limit(o.suspending);
    s->set_traits(o.priority, true, static_cast<std::uint8_t>(o.dispatcher));
    return s;
}

void actor_scheduler::note_slots() noexcept {
    // Under the lock of outside_, as begin_stop. Raised only.
    const std::uint32_t count = slots_.constructed_count();
    if (phase() == system_phase::running && slot_limit_.load(std::memory_order_relaxed) < count)
        slot_limit_.store(count, slots_made.release());
}

mailbox_index actor_scheduler::end_spawn(slot& s, worker* w, bool scheduled) noexcept {
    const bool beyond = slots_.number_of(s) >= slot_limit_.load(std::memory_order_relaxed);
    if (w != nullptr) {
        if (beyond) [[unlikely]] {
            const port::lock_guard held(outside_.mutex);
            note_slots();
        }
        w->spawned_.store(w->spawned_.load(std::memory_order_relaxed) + 1,
                          std::memory_order_relaxed);  // its own
        return slots_.open(s, scheduled);
    }
    {
        // begin_stop holds the lock too: what is opened here, finish_stop sees.
        const port::lock_guard held(outside_.mutex);
        if (phase() == system_phase::running) {
            if (beyond)
                note_slots();
            ++outside_.spawned;
            return slots_.open(s, scheduled);
        }
    }
    if (const auto end = s.acts()->destroy)
        end(s);
    abandon_spawn(s, w);
    return {};
}

void actor_scheduler::abandon_spawn(slot& s, worker* w) noexcept {
    s.drop_kind();
    if (s.dispatcher_number() != 0) [[unlikely]]
        leave_dispatcher(s);
    if (w != nullptr) {
        slots_.give_unopened(s, w->slots_);
        return;
    }
    const port::lock_guard held(outside_.mutex);
    slots_.give_unopened(s, outside_.slots);
}

void actor_scheduler::leave_dispatcher(const slot& s) noexcept {
    if (dispatcher* d = dispatcher_at(s.dispatcher_number()))
        d->detach();
}

void actor_scheduler::give_slot(slot& s, worker* w) noexcept {
    give_up(s, w);
    if (w != nullptr) {
        slots_.give(s, w->slots_);
        return;
    }
    const port::lock_guard held(outside_.mutex);
    slots_.give(s, outside_.slots);
}

void actor_scheduler::give_up(slot& s, worker* w) noexcept {
    if (s.dispatcher_number() != 0) [[unlikely]]
        leave_dispatcher(s);
    if (w != nullptr) {
        w->ended_.store(w->ended_.load(std::memory_order_relaxed) + 1,
                        std::memory_order_relaxed);  // its own
        return;
    }
    const port::lock_guard held(outside_.mutex);
    ++outside_.ended;
}

void actor_scheduler::release(slot& s) noexcept {
    if (worker* w = own_worker(); w != nullptr) {
        slots_.give(s, w->slots_);
        return;
    }
    const port::lock_guard held(outside_.mutex);
    slots_.give(s, outside_.slots);
}

std::uint32_t actor_scheduler::live_count() const noexcept {
    std::uint32_t live = 0;
    const port::lock_guard held(outside_.mutex);
    each_dispatcher([&](const dispatcher& at) {
        for (std::uint32_t i = 0; i < at.worker_count(); ++i)
            live += at.worker_at(i).spawned_.load(std::memory_order_relaxed) -
                    at.worker_at(i).ended_.load(std::memory_order_relaxed);
    });
    return live + outside_.spawned - outside_.ended;
}

bool actor_scheduler::stop(mailbox_index who) noexcept {
    const caller c(*this);
    slot* s = c.gone() ? nullptr : slots_.find(who);
    if (s == nullptr)
        return false;
    switch (s->state().request_close(life::state_mark(who.generation))) {
    case mailbox_owed::finalize:
        invoker::finalize(*this, own_worker(), *s);
        return true;
    default:
        if (s->generation() != who.generation)
            return false;  // it has ended meanwhile
        // A terminating actor waits in cancel, before everybody (LN-8).
        order_of(*s).promote(*s, who, lanes_of(own_worker(), *s), highest_priority);
        return true;
    }
}

void turn::stop() noexcept {
    (void)slot_.state().request_close();  // the run going on finalizes
}

// ---- running

bool actor_scheduler::run_one(worker& w) noexcept {
    // One task, then one mailbox, so that neither waits for ever.
    if (!w.home_.tasks().empty()) [[unlikely]] {
        w.task_turn_ = !w.task_turn_;
        if (w.task_turn_ && run_task(w))
            return true;
    }
    slot* s = w.home_.order().next(w.lanes_);
    if (s == nullptr) {
        w.running_.store(nullptr, std::memory_order_relaxed);
        if (w.measured_.on())
            hub_.between_runs(w.measured_, w.lanes_);
        if (run_task(w))
            return true;
        if (!w.measured_.is_idle())
            hub_.goes_idle(w.measured_);
        return false;
    }
    w.running_.store(s, std::memory_order_relaxed);
    if (w.measured_.begins_specially()) [[unlikely]]
        hub_.begin_run(w.measured_, w.lanes_);
    const invoke_result result = invoker::run(w, *s);
    w.turn_ = nullptr;
    if (hub_shard* shard = w.measured_.shard()) [[unlikely]]
        hub_.invoke_ends(*shard, w.measured_, w.lanes_, result.processed);
    w.lanes_.reset_sends();  // what is made ready from here on is nobody's to keep back
    w.home_.order().publish(w.lanes_);
    if (!w.home_.order().end_run(*s, w.kept_, result)) [[unlikely]]
        end_actor(w, *s);
    return true;
}

void actor_scheduler::end_actor(worker& w, slot& s) noexcept {
    invoker::finalize(*this, &w, s);
    // A destructor may have sent; so may a task.
    w.lanes_.reset_sends();
    w.home_.order().publish(w.lanes_);
}

bool actor_scheduler::run_task(worker& w) noexcept {
    worker_task* t = w.home_.tasks().pop();
    if (t == nullptr)
        return false;
    w.running_.store(nullptr, std::memory_order_relaxed);
    w.home_.order().found_work(w.lanes_);
    if (w.measured_.is_idle())
        hub_.leaves_idle(w.measured_);
    if (!t->run().is_ok())
        failed_tasks_.fetch_add(1, std::memory_order_relaxed);  // a count
    if (w.measured_.on())
        hub_.between_runs(w.measured_, w.lanes_);
    w.lanes_.reset_sends();
    w.home_.order().publish(w.lanes_);
    return true;
}

void actor_scheduler::run_until(worker& w, const port::atomic<std::uint32_t>& stop,
                                std::int64_t idle_limit_ns) noexcept {
    const worker::binding bound(w);
    while (stop.load(std::memory_order_relaxed) == 0) {
        if (!run_one(w) && !w.home_.order().await_work(w.lanes_, stop, idle_limit_ns))
            break;
    }
    // Who goes leaves what it has, its search, and the time, to others.
    w.home_.order().surrender(w.lanes_);
    w.home_.order().found_work(w.lanes_);
    w.envelopes_.flush();
    w.slots_.flush();
}

void actor_scheduler::drop(worker_task& t) noexcept {
    dropped_tasks_.fetch_add(1, std::memory_order_relaxed);  // a count
    t.dropped();
}

// ---- life cycle

void actor_scheduler::begin_stop() noexcept {
    const port::lock_guard held(outside_.mutex);
    if (phase() != system_phase::running)
        return;
    phase_.store(static_cast<std::uint32_t>(system_phase::stopping), std::memory_order_relaxed);
    slot_limit_.store(0, std::memory_order_relaxed);
    each_dispatcher([](dispatcher& d) { d.tasks().close(); });
    phase_.store(static_cast<std::uint32_t>(system_phase::draining), std::memory_order_relaxed);
}

void actor_scheduler::finish_stop(worker& w) noexcept {
    // Whoever is still sending from outside leaves first: it may own a mailbox that is in no lane
    // yet.
    system_table::withdraw(number_);
    for (std::uint32_t i = 0; i < slots_.constructed_count(); ++i) {
        slot& s = slots_.at(i);
        if (s.state().closed())
            continue;
        switch (s.state().request_close()) {
        case mailbox_owed::finalize:
            invoker::finalize(*this, &w, s);
            break;
        default:
            // It waits in a lane: its runner would finalize it, and there is none any more.
            if (ticket::withdraw(s.ticket()) && s.state().run_ended() == mailbox_owed::finalize)
                invoker::finalize(*this, &w, s);
            break;
        }
    }
    each_dispatcher([this](dispatcher& d) {
        while (worker_task* t = d.tasks().pop())
            drop(*t);
    });
    phase_.store(static_cast<std::uint32_t>(system_phase::stopped), std::memory_order_relaxed);
    system_table::publish(number_, *this);  // references find it, and that it takes nothing
}

}  // namespace tactus::inline v0
