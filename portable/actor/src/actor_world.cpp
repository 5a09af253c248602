// SPDX-License-Identifier: Apache-2.0
//
// Spawning, names, and what the kernel tells.
#include <tactus/actor/actor_world.hpp>

#include "owned_message.hpp"

#include <tactus/actor/actor.hpp>
#include <tactus/actor/actor_name.hpp>
#include <tactus/actor/effect_recorder.hpp>
#include <tactus/actor/system_events.hpp>
#include <tactus/dispatch/resolver.hpp>
#include <tactus/dispatch/text_buffer.hpp>

#include <new>
#include <type_traits>
#include <utility>

namespace tactus::inline v0 {
namespace {

TACTUS_CHECK_MODULE("actor_world");

/// Root and system: they handle nothing. What a guardian escalates ends the system.
class guardian : public actor<> {
public:
    supervisor_strategy supervision() {
        return {.decider = [](const failure_cause&) { return directive::escalate; }};
    }
};
/// Of a system without services.
class plain_guardian : public actor<> {};
class users_guardian : public actor<> {
public:
    supervisor_strategy supervision() { return context().world().guardian_strategy(); }
};

/// What a resolver has not seen to: a mailbox of the default kind, or without a bound, gets what is
/// required. On devices only the kind for a stash (ST-1), which says nothing about memory.
void complete(mailbox_options& m, capability_set required) noexcept {
    if (m.kind == mailbox_kind::fifo && required.has(capability::deque))
        m.kind = mailbox_kind::deque;
    if constexpr (!port::has_interrupts) {
        if (required.empty()) [[likely]]
            return;
        if (m.kind == mailbox_kind::fifo && required.has(capability::control_aware))
            m.kind = mailbox_kind::control_aware;
        const bool waits = required.has(capability::blocking);
        if (!m.is_bounded() && (waits || required.has(capability::bounded)))
            m.capacity = mailbox_options::default_capacity;
        if (waits && m.when_full == mailbox_options{}.when_full)
            m.when_full = overflow::block;
    }
}

spawn_error refused(spawn_error::kind what, const char* why) noexcept {
    return {what, why};
}

/// A template: devices have no resolver, and what would ask it is not compiled.
template <class Ids>
bool are_plain(const Ids& ids) noexcept {
    if constexpr (std::is_pointer_v<Ids>)
        return ids != nullptr && ids->is_plain();
    else
        return false;
}

/// Null: there is no such system, or it is a bare kernel.
actor_world* world_of(const system_table::visit& visited) noexcept {
    const actor_scheduler* kernel = visited.system();
    return kernel != nullptr && kernel->above() != nullptr ? &actor_world::of(*kernel) : nullptr;
}

}  // namespace

actor_world::actor_world(const options& o) noexcept
    : memory_(*o.memory),
      events_(o.events),
      name_(o.name),
      guardian_strategy_(o.guardian_strategy),
      pacing_(o.pacing),
      timers_(o.timers),
      log_(o.log),
      places_(o.places),
      ids_(o.ids),
      services_(o.services),
      names_(*o.memory),
      stream_(*o.memory),
      piece_(o.family_piece) {
    names_.keep_ended(o.ended_names);
}

void actor_world::begin(actor_scheduler& kernel) noexcept {
    kernel_ = &kernel;
    if (timers_ != nullptr)
        timers_->attach(kernel);
    const spawn_request guard{.type = &actor_type_of<guardian>()};
    const auto root = spawn_under(nullptr, guard, cell::is_guardian);
    TACTUS_CHECK(1, root.has_value());
    root_ = *root;
    slot& place = *kernel.slots().find(root_);
    const auto named = [&](const actor_type& type, std::string_view name) {
        const spawn_request r{.type = &type, .name = name};
        const auto made = spawn_under(&place, r, cell::is_guardian);
        TACTUS_CHECK(2, made.has_value());
        return *made;
    };
    user_ = named(actor_type_of<users_guardian>(), user_name);
    system_ = named(services_ != nullptr ? services_->guardian() : actor_type_of<plain_guardian>(),
                    system_name);
    if (services_ != nullptr)
        stream_.set_watcher({[](void* world, const event_type& channel) noexcept {
                                 auto& w = *static_cast<actor_world*>(world);
                                 w.services_->subscribed(w, channel);
                             },
                             this});
}

// ---- spawning

std::expected<void*, spawn_error> actor_world::prepare(const spawn_request& wanted,
                                                       mailbox_index parent) noexcept {
    if (!wanted.name.empty()) {
        if (const auto fault = fault_of_name(wanted.name))
            return std::unexpected(refused(spawn_error::kind::name_invalid, text_of(*fault)));
        switch (names_.take(parent, wanted.name)) {
        case name_table::taken::done:
            break;
        case name_table::taken::duplicate:
            return std::unexpected(
                refused(spawn_error::kind::name_taken, "a sibling has that name"));
        case name_table::taken::no_memory:
            return std::unexpected(
                refused(spawn_error::kind::memory_exhausted, "no memory for the actor's name"));
        }
    }
    const actor_type& type = *wanted.type;
    if (wanted.maker != nullptr || fits_slot(type.size, type.alignment))
        return nullptr;
    void* block = memory_.allocate(type.size, type.alignment);
    if (block != nullptr)
        return block;
    if (!wanted.name.empty())
        names_.drop(parent, wanted.name);
    return std::unexpected(refused(spawn_error::kind::memory_exhausted, "no memory for the actor"));
}

void actor_world::free_all(slot& place) noexcept {
    free_extras(cell::of(place));
    detail::actor_place(place).end(memory_, static_cast<const actor_type&>(*place.acts()));
}

void actor_world::free_extras(cell& c) noexcept {
    cell_extras* x = c.extras();
    if (x == nullptr)
        return;
    if (x->failed_message != nullptr)
        kernel_->dispose_kept(*x->failed_message);
    while (envelope* e = x->stash.pop())
        kernel_->dispose_kept(*e);
    // Timers that come again are their owner's to end, however it has ended.
    while (actor_timer* timer = x->timers) {
        x->timers = timer->next;
        // NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): who armed it is there
        (void)timers_->cancel(timer->handle);
        timer->release(memory_);
    }
    end_functions(*x);
    const auto free_records = [&](auto& list) {
        for (auto* r = list.take_all(memory_); r != nullptr;)
            free_record(*std::exchange(r, list.older(*r)));
    };
    free_records(x->children);
    free_records(x->watching);
    forget_functions(c);
    if (cell_coroutines* own = x->coroutines; own != nullptr) {
        if (own->receives != nullptr)
            own->receives->end(memory_);
        own->~cell_coroutines();
        memory_.release(own, sizeof *own, alignof(cell_coroutines));
    }
    if (x->idle != nullptr) {
        if (x->idle->timer)
            (void)timers_->cancel(*x->idle->timer);
        memory_.release(x->idle, sizeof *x->idle, alignof(idle_watch));
    }
    if constexpr (in_pieces) {
        if (pending_work* work = x->more.work; work != nullptr) {
            for (watch_entry* e = work->rest.untold; e != nullptr;)
                free_entry(*std::exchange(e, keyed_list<watch_entry>::newer(*e)));
            work->~pending_work();
            memory_.release(work, sizeof *work, alignof(pending_work));
        }
    }
    c.set_extras(nullptr);
    x->~cell_extras();
    memory_.release(x, sizeof *x, alignof(cell_extras));
}

bool actor_world::is_plain(const spawn_request& wanted, bool asks) const noexcept {
    if constexpr (port::has_interrupts)
        return false;
    else
        return wanted.how == nullptr && wanted.type->mailbox_requirement.empty() &&
               (!asks || are_plain(ids_));
}

std::expected<void, spawn_error> actor_world::place(const spawn_request& wanted,
                                                    mailbox_index parent, bool asks,
                                                    spawn_options& how) noexcept {
    how.requirement = how.requirement | wanted.type->mailbox_requirement;
    std::expected<void, spawn_error> placed;
    if (asks)
        placed = events_->place(any_ref(parent), wanted.name, how);
    else if constexpr (!port::has_interrupts) {
        if (!how.dispatcher_id.empty() || !how.mailbox_id.empty()) [[unlikely]]
            placed = std::unexpected(
                refused(spawn_error::kind::refused,
                        "dispatcher and mailbox ids need a resolver; use actor_system"));
    }
    complete(how.mailbox, how.requirement);
    if (placed && !how.mailbox.capabilities().has(how.requirement))
        placed = std::unexpected(
            refused(spawn_error::kind::mailbox_unfit, "the mailbox lacks what the actor requires"));
    return placed;
}

std::expected<mailbox_index, spawn_error> actor_world::spawn_under(slot* parent,
                                                                   const spawn_request& wanted,
                                                                   std::uint32_t bits) noexcept {
    registry& slots = kernel_->slots();
    const mailbox_index above = parent != nullptr ? slots.index_of(*parent) : mailbox_index{};
    const auto block = prepare(wanted, above);
    if (!block) {
        if (wanted.maker != nullptr)
            wanted.maker->end(memory_);
        return std::unexpected(block.error());
    }
    slot* begun = nullptr;
    const auto init = [&](slot& s) noexcept {
        begun = &s;
        const std::uint32_t named = wanted.name.empty() ? 0U : std::uint32_t{cell::is_named};
        const std::uint32_t odd =
            slots.next_life_of(s) % 2 != 0 ? std::uint32_t{cell::is_odd_life} : 0U;
        ::new (s.user_state()) cell(above, bits | named | odd);
        detail::actor_place(s, *wanted.type).begin(wanted.maker, *block);
        // For people: 0 is nobody.
        s.tag.store(parent != nullptr ? slots.number_of(*parent) + 1 : 0,
                    std::memory_order_relaxed);
        if (parent != nullptr)
            link_child(slots, cell::of(*parent), s);
        if (!wanted.name.empty())
            names_.bind(above, wanted.name,
                        mailbox_index::make(kernel_->system_number(), slots.number_of(s),
                                            slots.next_life_of(s)));
    };
    const bool asks = places_ && parent != nullptr && (bits & cell::is_guardian) == 0;
    static constexpr spawn_options nothing_said;
    const spawn_options* how = wanted.how != nullptr ? wanted.how : &nothing_said;
    // Not an optional: that would be cleared for each actor.
    union room {
        room() noexcept {}
        spawn_options how;
    } completed;
    static_assert(std::is_trivially_destructible_v<spawn_options>);
    std::expected<void, spawn_error> placed;
    if (!is_plain(wanted, asks)) [[unlikely]] {
        placed = place(wanted, above, asks, *::new (&completed.how) spawn_options(*how));
        how = &completed.how;
    }
    std::expected<mailbox_index, spawn_error> made;
    if (placed) [[likely]]
        made = kernel_->spawn_as(*wanted.type, *how, init);
    else
        made = std::unexpected(placed.error());
    if (made)
        return made;
    // Nobody has seen it. The slot is free again, but nobody else could take it in between: the
    // system takes nothing any more.
    if (begun != nullptr && parent != nullptr)
        unlink_last(slots, cell::of(*parent));
    if (!wanted.name.empty())
        names_.drop(above, wanted.name);
    if (begun != nullptr)
        begun->set_extras(nullptr);
    if (wanted.maker != nullptr)
        wanted.maker->end(memory_);
    else if (*block != nullptr)
        memory_.release(*block, wanted.type->size, wanted.type->alignment);
    return made;
}

std::expected<mailbox_index, spawn_error> actor_world::spawn_top(
    const spawn_request& wanted) noexcept {
    return spawn_below(user_, wanted);
}
std::expected<mailbox_index, spawn_error> actor_world::spawn_system(
    const spawn_request& wanted) noexcept {
    return spawn_below(system_, wanted);
}
std::expected<mailbox_index, spawn_error> actor_world::spawn_below(
    mailbox_index guardian, const spawn_request& wanted) noexcept {
    slot* parent = kernel_->slots().find(guardian);
    const port::lock_guard held(guardians_);
    if (parent == nullptr || cell::of(*parent).is_ending() || terminating()) {
        if (wanted.maker != nullptr)
            wanted.maker->end(memory_);
        return std::unexpected(
            refused(spawn_error::kind::shutting_down, "the system is shutting down"));
    }
    return spawn_under(parent, wanted, 0);
}

std::expected<mailbox_index, spawn_error> actor_world::spawn_child(
    turn& t, const spawn_request& wanted) noexcept {
    cell& c = cell::of(t.place());
    if (c.is_ending()) {
        if (wanted.maker != nullptr)
            wanted.maker->end(memory_);
        return std::unexpected(refused(spawn_error::kind::parent_stopping,
                                       "an actor that is stopping takes no children"));
    }
    const bool holds = c.is(cell::holds) || c.has_failed();
    const std::uint32_t bits = holds ? std::uint32_t{cell::wants_held} : 0U;
    if (recorder_ == nullptr) [[likely]]
        return spawn_under(&t.place(), wanted, bits);
    spawn_request changed = wanted;
    recorder_->spawning(t, changed);
    const auto made = spawn_under(&t.place(), changed, bits);
    if (made)
        recorder_->spawned(t, wanted, *made);
    return made;
}

std::expected<mailbox_index, spawn_error> actor_world::spawn_orphan(
    const spawn_request& wanted) noexcept {
    return spawn_under(nullptr, wanted, cell::is_orphan);
}

// ---- telling

bool actor_world::send(mailbox_index to, system_kind kind, void* payload) noexcept {
    owned_message* m = owned_message::make(memory_, kind, payload);
    return m != nullptr && kernel_->send_system(to, *m);
}

bool actor_world::send_recreate(slot& child, cause_ref why) noexcept {
    cell& c = cell::of(child);
    if (c.is(cell::restart_ordered))
        return true;
    owned_message* m = owned_message::make(memory_, system_kind::recreate, nullptr);
    if (m == nullptr)
        return false;
    m->data.write(why.release());  // taken by who handles it, or by system_dead_letter
    c.set(cell::restart_ordered);
    return kernel_->send_system(kernel_->slots().index_of(child), *m);
}

bool actor_world::stop(mailbox_index who) noexcept {
    if (is_foreign(who)) {
        const system_table::visit other(who.system_number());
        actor_world* const theirs = world_of(other);
        return theirs != nullptr && theirs->stop(who);
    }
    if (kernel_->slots().find(who) == nullptr)
        return false;
    return send(who, system_kind::terminate, nullptr);
}

bool actor_world::write_path_elsewhere(mailbox_index who, text_sink& to) noexcept {
    const system_table::visit other(who.system_number());
    actor_world* const theirs = world_of(other);
    if (theirs != nullptr)
        theirs->write_path(who, to);
    return theirs != nullptr;
}

void actor_world::terminate() noexcept {
    if (terminating_.exchange(1, std::memory_order_relaxed) != 0)
        return;
    {
        // Whoever spawns now is done, or sees that it is too late.
        const port::lock_guard held(guardians_);
    }
    slot* user = kernel_->slots().find(user_);
    if (user != nullptr)
        cell::of(*user).tell(*kernel_, *user, cell::told_terminate);
}

// ---- names

mailbox_index actor_world::find(std::string_view path) noexcept {
    if (!enter_root(path) && path.starts_with(path_scheme))
        return {};
    mailbox_index at = root_;
    while (!path.empty()) {
        if (path.front() == '/') {
            path.remove_prefix(1);
            continue;
        }
        const std::size_t end = path.find('/');
        const std::string_view part = path.substr(0, end);
        at = child_of(at, part);
        if (!at.valid() || end == std::string_view::npos)
            return at;
        path.remove_prefix(end);
    }
    return at;
}

std::string_view actor_world::dispatcher_of(mailbox_index who) noexcept {
    const slot* place = kernel_->slots().find(who);
    return place != nullptr && events_ != nullptr
               ? events_->dispatcher_id(place->dispatcher_number())
               : std::string_view{};
}

mailbox_index actor_world::child_named(turn& t, std::string_view name) noexcept {
    return names_.find(t.self(), name);
}

std::uint32_t actor_world::child_count(turn& t) noexcept {
    std::uint32_t n = 0;
    children_of all(kernel_->slots(), cell::of(t.place()));
    while (all.next() != nullptr)
        ++n;
    return n;
}

// ---- what the kernel tells

void actor_world::dead_letter(mailbox_index to, envelope& message,
                              dead_letter_cause cause) noexcept {
    if (const identify* asked = message.get_if<identify>(); asked != nullptr) {
        asked->reply_to.tell(actor_identity{asked->id, {}});
        return;
    }
    if (const timer_due* due = message.get_if<timer_due>(); due != nullptr)
        due_was_lost(to, due->which, due->is_over, cause);
    if (events_ != nullptr)
        events_->dead_letter(any_ref(to), message, cause);
    lost(to, message.sender.read(), *message.type.read(), cause);
}
void actor_world::lost(mailbox_index to, mailbox_index from, const message_type& type,
                       dead_letter_cause cause) noexcept {
    if (stream_.is_empty() || tells_of_loss(type))
        return;
    const lost_letter what{any_ref(to), any_ref(from), &type};
    if (type.is_suppressed)
        stream_.publish(suppressed_dead_letter{what, cause});
    else
        stream_.publish(tactus::dead_letter{what, cause});
}
void actor_world::message_lost(mailbox_index to, const message_type& type,
                               dead_letter_cause cause) noexcept {
    if (same_message(type, message_type_of<timer_due>))
        due_was_lost(to, {}, false, cause);
    if (events_ != nullptr)
        events_->message_lost(any_ref(to), type, cause);
    lost(to, {}, type, cause);
}

void actor_world::deadline_missed(mailbox_index who, std::int64_t late_ns) noexcept {
    const duration late = duration::from_ns(late_ns);
    if (events_ != nullptr)
        events_->deadline_missed(any_ref(who), late);
    if (!stream_.is_empty())
        stream_.publish(deadline_warning{{any_ref(who)}, late});
}
void actor_world::pressure(const mailbox_pressure& what) noexcept {
    if (events_ != nullptr)
        events_->pressure(what);
    if (!stream_.is_empty())
        stream_.publish(
            pressure_warning{{any_ref(what.ref)}, what.len, what.capacity, what.percent, what.at});
}
void actor_world::pool_exhausted(std::uint32_t refused) noexcept {
    if (events_ != nullptr)
        events_->pool_exhausted(refused);
    if (!stream_.is_empty())
        stream_.publish(pool_warning{{}, refused});  // it may find no envelope, either
}
void actor_world::warned(const scheduler_warning& told) noexcept {
    scheduler_warning what = told;
    if constexpr (!port::has_interrupts) {
        if (told.to.valid() && told.to.system_number() == kernel_->system_number()) {
            text_buffer<copied_warning_text::size_max> named;
            named.add(static_cast<const char*>(told.text)).add(" of ");
            write_path(told.to, named);
            assign(what.text, named.view());
        }
    }
    if (events_ != nullptr)
        events_->timer_warned(what);
    // A driver that stops while the world begins comes here, too: who subscribed has the kernel.
    if (!stream_.is_empty())
        stream_.publish(timer_warning{{}, what});
}
void actor_world::user_code_failed(user_code where, const failure& why) noexcept {
    if (events_ != nullptr)
        events_->user_code_failed(where, why);
    // Telling it is a send, in which the same code may throw: that is not told again. Relaxed: a
    // flag alone, and one of two threads is enough.
    if (stream_.is_empty() || tells_user_code_.exchange(1, std::memory_order_relaxed) != 0)
        return;
    stream_.publish(
        user_code_warning{{}, where, cause_ref::make(memory_, failure_kind::runtime, why)});
    tells_user_code_.store(0, std::memory_order_relaxed);
}

void actor_world::system_dead_letter(mailbox_index to, system_message& message) noexcept {
    switch (message.kind) {
    case system_kind::watch:
        // DW-1: watching a dead actor answers at once.
        notify(static_cast<watch_entry&>(message));
        break;
    case system_kind::death_watch_notification: {
        auto& e = static_cast<watch_entry&>(message);
        if constexpr (in_pieces) {
            if (to == root_ && e.key != root_) {
                std::uint32_t all = all_of_it;
                (void)notify_some(&e, all);
                break;
            }
        }
        free_entry(e);
        break;
    }
    case system_kind::recreate:
        (void)cause_ref::take(message.data.read());
        break;
    default:
        break;
    }
}

void actor_world::actor_failed(mailbox_index who, const failure& why) noexcept {
    slot* place = kernel_->slots().find(who);
    if (place == nullptr)
        return;
    const turn* t = turn::current();
    if (t == nullptr || &t->place() != place) {
        // Told by another thread: it learns of it in its own turn.
        // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast): read again as what it is
        (void)send(who, system_kind::failed, const_cast<char*>(why.what));
        return;
    }
    has_failed({*this, *place, cell::of(*place)}, why);
}

void actor_world::mailbox_closed(mailbox_index who, std::size_t, std::size_t) noexcept {
    slot& place = kernel_->slots().at(who.slot_number());
    cell& c = cell::of(place);
    cell_extras* x = c.extras();
    const mailbox_index parent = c.parent();
    const std::uint32_t bits = c.flags();
    // PK-TYP: its parent is told why, if it failed and was not forgiven.
    const cause_ref why = c.has_failed() && x != nullptr ? x->cause : cause_ref{};
    // The first to watch is the first to be told.
    watch_entry* watcher = nullptr;
    if (x != nullptr) {
        using watchers = keyed_list<watch_entry>;
        for (watch_entry* e = nullptr; why && (e = x->watchers.find(parent, e)) != nullptr;)
            e->why = why;
        if constexpr (in_pieces)
            watcher = x->watchers.oldest();
        watch_entry* latest = x->watchers.take_all(memory_);
        if constexpr (!in_pieces) {
            for (; latest != nullptr; latest = watchers::older(*latest))
                watcher = latest;
        }
    }
    c.subject.write(who);  // for its parent
    if (!stream_.is_empty()) {
        stream_.forget(who);
        stream_.publish(actor_stopped{{any_ref(who)}});
    }
    (void)c.apply(lifecycle::event::closed);
    // Its parent first, then who watches. From the report on the slot is the parent's.
    if ((bits & cell::is_orphan) != 0) {
        free_all(place);
        kernel_->release(place);
    } else if (!parent.valid()) {
        free_all(place);
        if (events_ != nullptr)
            events_->world_ended();
    } else {
        slot& above = kernel_->slots().at(parent.slot_number());
        c.report(*kernel_, above, cell::of(above), place, cell::report_ended);
    }
    notify_all(watcher);
}

void actor_world::sweep() noexcept {
    if (timers_ != nullptr)
        (void)timers_->close();
    registry& slots = kernel_->slots();
    for (std::uint32_t i = 0; i < slots.constructed_count(); ++i) {
        if (slots.at(i).extras() != nullptr)
            free_all(slots.at(i));
    }
}

}  // namespace tactus::inline v0
