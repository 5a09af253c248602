// SPDX-License-Identifier: Apache-2.0
//
// Spawning behind gates, and recording.
#include <tactus/test_kit/bench.hpp>

#include <tactus/actor/actor.hpp>
#include <tactus/test_kit/failure_handler.hpp>

#include <algorithm>

namespace tactus::inline v0::test {
namespace {

/// Of inboxes: it is never begun.
class no_actor : public actor<> {};

}  // namespace

// What fails ends, as an actor whose exception reaches the test would (PK-TST-5).
bench::bench()
    : world_({.name = "bench",
              .guardian_strategy = {.decider = &stopping_decider},
              .recorder = this}) {}

bench::~bench() {
    closing_ = true;
    for (const auto& g : gates_) {
        for (envelope* e : std::exchange(g->inbox, {}))
            dispose(*e);
    }
}

gate& bench::add(const actor_type& of, std::string_view name, bool begun) {
    gates_.push_back(std::make_unique<gate>(*this, of, std::string(name), begun));
    return *gates_.back();
}

gate& bench::spawn(actor_world::spawn_request wanted) {
    gate& g = add(*wanted.type, wanted.name, true);
    wanted.type = &g.type();
    const auto made = world_.world().spawn_top(wanted);
    if (!made)
        fail(std::string("the actor cannot be spawned: ") + made.error().reason);
    g.set_who(any_ref(*made));
    run();
    world_.rethrow_failure(g.who());
    return g;
}

gate& bench::spawn_inbox() {
    gate& g = add(actor_type_of<no_actor>(), {}, false);
    const auto made = world_.world().spawn_top({.type = &g.type()});
    if (!made)
        fail(std::string("an inbox cannot be made: ") + made.error().reason);
    g.set_who(any_ref(*made));
    run();
    return g;
}

gate* bench::find(any_ref who) noexcept {
    const auto found = std::ranges::find_if(gates_.rbegin(), gates_.rend(),
                                            [&](const auto& g) { return g->who() == who; });
    return found != gates_.rend() ? found->get() : nullptr;
}

gate& bench::child(const gate& parent, std::string_view name, const std::source_location& where) {
    const auto found =
        std::ranges::find_if(children_.rbegin(), children_.rend(), [&](const child_entry& c) {
            return c.parent == parent.who().index() && c.which->name() == name;
        });
    if (found == children_.rend())
        fail("there was no child with the name '" + std::string(name) + "'", where);
    return *found->which;
}

bool bench::send_timer(std::uint64_t number) {
    const auto found =
        std::ranges::find_if(timers_, [&](const live_timer& t) { return t.number == number; });
    if (found == timers_.end() || !world_.timers().cancel(found->timer->handle))
        return false;
    actor_scheduler::tell(found->timer->target.who, timer_due{found->timer->handle});
    run();
    return true;
}

void bench::time_out(const question& q) {
    // While its timer can be cancelled, who would be woken is there.
    if (world_.timers().cancel(q.timer))
        q.late->wake();
    run();
}

// ---- recording

void bench::spawning(turn& t, actor_world::spawn_request& wanted) noexcept {
    if (gate_of(t.self()) == nullptr)
        return;
    pending_ = &add(*wanted.type, wanted.name, false);
    wanted.type = &pending_->type();
}

void bench::spawned(turn& t, const actor_world::spawn_request& asked,
                    mailbox_index child) noexcept {
    gate* parent = gate_of(t.self());
    if (parent == nullptr)
        return;
    pending_->set_who(any_ref(child));
    children_.push_back({t.self(), pending_});
    if (asked.name.empty())
        parent->effects.emplace_back(spawned_anonymous{asked.type->name, any_ref(child)});
    else
        parent->effects.emplace_back(
            test::spawned{std::string(asked.name), asked.type->name, any_ref(child)});
}

void bench::stopping_child(turn& t, mailbox_index child) noexcept {
    const gate* which = gate_of(child);
    if (gate* g = gate_of(t.self()))
        g->effects.emplace_back(
            stopped_child{which != nullptr ? which->name() : std::string(), any_ref(child)});
}
void bench::watched(turn& t, mailbox_index who, const held_message* with) noexcept {
    gate* g = gate_of(t.self());
    if (g == nullptr)
        return;
    if (with == nullptr)
        g->effects.emplace_back(test::watched{any_ref(who)});
    else
        g->effects.emplace_back(watched_with{any_ref(who), with->type().name});
}
void bench::adapting(turn& t, const message_type& from) noexcept {
    if (gate* g = gate_of(t.self()))
        g->effects.emplace_back(message_adapter{from.name});
}
void bench::unwatched(turn& t, mailbox_index who) noexcept {
    if (gate* g = gate_of(t.self()))
        g->effects.emplace_back(test::unwatched{any_ref(who)});
}
void bench::unstashing(turn& t, std::uint32_t count) noexcept {
    if (gate* g = gate_of(t.self()))
        g->unstashed += count;
}
void bench::timer_started(turn& t, const started_timer& what) noexcept {
    gate* g = gate_of(t.self());
    if (g == nullptr)
        return;
    timers_.push_back({++last_timer_, &what.timer});
    timer_scheduled e;
    e.key = what.timer.key;
    e.mode = what.timer.mode;
    e.first = what.first;
    e.interval = what.timer.interval;
    e.overriding = what.overriding;
    e.of_ = weak_from_this();
    e.number_ = last_timer_;
    g->effects.emplace_back(e);
}
void bench::scheduled(turn& t, any_ref to, const message_type& what, duration delay) noexcept {
    if (gate* g = gate_of(t.self()))
        g->effects.emplace_back(test::scheduled{delay, to, what.name});
}
void bench::timer_cancelled(turn& t, timer_key key) noexcept {
    if (gate* g = gate_of(t.self()))
        g->effects.emplace_back(test::timer_cancelled{key});
}
void bench::timer_gone(const actor_timer& timer) noexcept {
    std::erase_if(timers_, [&](const live_timer& t) { return t.timer == &timer; });
}
void bench::receive_timeout_set(turn& t, duration after) noexcept {
    gate* g = gate_of(t.self());
    if (g == nullptr)
        return;
    if (after == duration::max())
        g->effects.emplace_back(receive_timeout_cancelled{});
    else
        g->effects.emplace_back(test::receive_timeout_set{after});
}
void bench::asked(const question& q) noexcept {
    gate* g = gate_of(q.who);
    if (g == nullptr)
        return;
    ask_initiated e;
    e.target = q.target;
    e.timeout = q.timeout;
    e.asked = q.asked->name;
    e.reply = q.reply->name;
    e.of_ = weak_from_this();
    e.state_ = std::make_shared<ask_initiated::state>(q);
    g->effects.emplace_back(e);
}

}  // namespace tactus::inline v0::test
