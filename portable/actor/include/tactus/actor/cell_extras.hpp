// SPDX-License-Identifier: Apache-2.0
//
// Cell extras: what few actors have, made when first needed.
//
// Owner only: the actor's turn, except `reported`. They are freed by who gives the slot back: the
// parent may look at them until then.
#pragma once

#include <cstddef>
#include <cstdint>

#include <optional>
#include <type_traits>

#include <tactus/actor/actor_timers.hpp>
#include <tactus/actor/actor_type.hpp>
#include <tactus/actor/cell.hpp>
#include <tactus/actor/coroutine_set.hpp>
#include <tactus/actor/failure_cause.hpp>
#include <tactus/actor/held_message.hpp>
#include <tactus/actor/keyed_list.hpp>
#include <tactus/actor/owned_function.hpp>
#include <tactus/actor/supervision.hpp>
#include <tactus/mailbox/user_queue.hpp>

namespace tactus::inline v0 {

/// A watch on its way: sent to whom it watches, kept there, and sent back when that one has ended.
/// It is freed there when it is not wanted any more, here when it came back: once.
struct watch_entry : system_message, keyed_node {  // its key: the watcher
    mailbox_index watched;
    cause_ref why;  // it was a child of the watcher, and failed
};

/// An actor that is watched by this one, its key. In the list `owed`: there was no envelope for
/// `terminated`, and this actor was held back.
struct watch_record : waiting_node {
    bool notified = false;         // `terminated` is in the mailbox, or owed
    held_message* with = nullptr;  // what it is told instead
    cause_ref why;                 // see watch_entry
};

/// A function that belongs to the instance: a message adapter, or what it became.
class instance_function {
public:
    instance_function(const instance_function&) = delete;
    instance_function& operator=(const instance_function&) = delete;
    virtual void release(memory_source& memory) noexcept = 0;

    instance_function* next = nullptr;
    bool runs = false;

protected:
    instance_function() = default;
    ~instance_function() = default;
};
/// What actors are told that is none of their messages.
enum class signal_kind : std::uint8_t { terminated, child_failed, receive_timeout };

/// What an actor that is a class has become; see behavior.hpp.
class become_function : public instance_function {
public:
    [[nodiscard]] virtual bool takes(signal_kind what) const noexcept = 0;
    /// In the actor's turn. Requires: it takes that.
    [[nodiscard]] virtual handled tell(turn& t, cell& c, signal_kind what,
                                       void* signal) noexcept = 0;

protected:
    ~become_function() = default;
};
/// Makes a message of the actor's protocol of another one; see protocol_context.
class message_adapter : public instance_function {
public:
    explicit message_adapter(const message_type& from) noexcept : takes(from) {}
    /// In the actor's turn; `made` is null when there is no envelope.
    [[nodiscard]] virtual handled adapt(turn& t, cell& c, envelope& from,
                                        envelope*& made) noexcept = 0;
    const message_type& takes;

protected:
    ~message_adapter() = default;
};

/// SV-4: restarts of a child that take place later. Firing takes no memory: it ends a level of the
/// child's cell, which outlives this.
class delayed_restart final : public waker {
public:
    delayed_restart(actor_scheduler& kernel, slot& child) noexcept
        : target{.wake = this, .goes_on = true}, kernel_(kernel), child_(child) {}
    void wake() noexcept override { cell::of(child_).tell(kernel_, child_, 0, cell::backs_off); }

    timer_target target;                // goes on: the actor is there, and waits for it (BP-3)
    std::optional<timer_handle> timer;  // armed last
    std::uint32_t count = 0;            // since the last reset
    instant again_at;                   // when the last one was, or is, to be

private:
    actor_scheduler& kernel_;
    slot& child_;
};

/// How often a child was restarted, and whether it waits for that. Its key has the child's slot and
/// no generation. In the list `failures`: its failure waits to be decided.
struct child_record : waiting_node {
    restart_count restarts;
    delayed_restart* later = nullptr;  // null: it was restarted at once, always
};

/// The waits of an actor's tasks for messages; see next_message.hpp. An interface, so that nothing
/// of it is in programs without such waits.
class message_waits {
public:
    message_waits(const message_waits&) = delete;
    message_waits& operator=(const message_waits&) = delete;

    /// Where a message goes: aside, it is kept until a handler ends.
    enum class way : std::uint8_t { handler, task, aside };

    [[nodiscard]] virtual bool is_waiting() noexcept = 0;
    [[nodiscard]] virtual way take(turn& t, envelope& e) noexcept = 0;
    /// What was set aside is to be handled.
    virtual void put_back(slot& place) noexcept = 0;
    /// Ends the coroutines, and gives its memory back.
    virtual void end(memory_source& memory) noexcept = 0;

protected:
    message_waits() = default;
    ~message_waits() = default;
};

/// The coroutines of one actor, and who they belong to.
struct cell_coroutines final : coroutine_set {
    /// A pointer, so that nothing of it is in programs without coroutines.
    using going_on = handled (*)(turn&, cell_coroutines&, system_message& continuation) noexcept;
    cell_coroutines(mailbox_index owner, memory_source& memory, actor_world& of, cell& in,
                    going_on how) noexcept
        : coroutine_set(owner, memory), world(of), c(in), go_on(how) {}
    actor_world& world;
    cell& c;
    const going_on go_on;
    message_waits* receives = nullptr;  // null: none has waited for a message
    std::uint32_t awaited = 0;          // handlers that others wait for
    bool holds = false;                 // the mailbox, for them
};

/// A receive timeout that is on.
struct idle_watch {
    duration after;
    std::optional<timer_handle> timer;  // armed
    instant active_at;                  // when the last message that counts was handled
    bool goes_on = false;               // see timer_target
};

/// Why an actor failed, for its parent. A failure may come before the parent has looked at the last
/// one (a sibling's has restarted it meanwhile): the parent learns the latest, and each once.
class reported_cause {
public:
    reported_cause() = default;
    reported_cause(const reported_cause&) = delete;
    reported_cause& operator=(const reported_cause&) = delete;
    ~reported_cause() { (void)take(); }

    /// By the actor, before it reports.
    void put(cause_ref why) noexcept {
        (void)cause_ref::take(latest_.exchange(why.release(), given.release()));
    }
    /// By its parent. Names nothing: it was taken before.
    [[nodiscard]] cause_ref take() noexcept {
        return cause_ref::take(latest_.exchange(nullptr, given.acquire()));
    }

private:
    // "cause-given": the actor has made it -> its parent reads it.
    static constexpr port::edge given{"cause-given"};
    port::atomic<void*> latest_{nullptr};
};

/// What is done about a whole family, or for all who watch an actor; see family_work.cpp.
struct family_work {
    /// Children from one on to another one, in the order they were spawned.
    struct range {
        cell::link at = cell::no_cell;  // none: all of them were passed
        cell::link last = cell::no_cell;
        [[nodiscard]] bool empty() const noexcept { return at == cell::no_cell; }
    };
    /// A restart of a scope: first each child needs its permission.
    struct restart_of : range {
        cell::link first = cell::no_cell;
        cell::link failed = cell::no_cell;  // for whose failure; none: their parent is new
        bool acts = false;                  // in the second round
        bool allowed = true;
        std::optional<duration> delay;
        cause_ref why;
        supervisor_strategy how;
    };
    /// Orders are on their way to children: none of them is unlinked meanwhile.
    [[nodiscard]] bool walks() const noexcept {
        return !held.empty() || !restart.empty() || !stop.empty() || unwatches;
    }
    [[nodiscard]] bool empty() const noexcept {
        return !walks() && !decides && latest == cell::no_cell && earliest == cell::no_cell &&
               untold == nullptr && orders == 0;
    }

    range held;  // are to be held back, or let go
    bool on = false;
    bool unwatches = false;  // all it watches
    bool decides = false;    // about failures that waited
    mailbox_index except;    // of `held`
    restart_of restart;
    range stop;
    cell::link latest = cell::no_cell;    // reports whose order is to be reversed,
    cell::link earliest = cell::no_cell;  // and those of which it is
    watch_entry* untold = nullptr;        // watchers of an actor that has ended, and those after it
    std::uint32_t orders = 0;             // what the actor was told, and comes after all that
};
/// The rest of it, with what has the actor run for it.
struct pending_work : system_message {
    family_work rest;
};

struct cell_extras {
    cell_coroutines* coroutines = nullptr;
    reported_cause reported;
    // Of the failure being dealt with.
    cause_ref cause;
    mailbox_index perpetrator;           // the child whose failure it is; names nothing: its own
    envelope* failed_message = nullptr;  // kept for pre_restart
    mailbox_index failed_sender;         // whose message it was, for hooks
    // Family.
    keyed_list<child_record> children;
    waiting_list failures;              // that wait to be decided, the first to fail first
    std::uint32_t ending_children = 0;  // stop was ordered, and they are not gone
    struct pointer_of_host {
        pending_work* work = nullptr;
    };
    struct no_pointer {
        static inline pending_work* work = nullptr;  // named by code that a device leaves out
    };
    // Made when a family was too large for one run.
    [[no_unique_address]] std::conditional_t<port::has_interrupts, no_pointer, pointer_of_host>
        more;
    // Stash, the oldest first; timers; receive timeout.
    envelope_list stash;
    actor_timer* timers = nullptr;
    idle_watch* idle = nullptr;           // null: none
    owned_function* functions = nullptr;  // the latest of a ring
    // Watch.
    keyed_list<watch_record> watching;
    waiting_list owed;
    keyed_list<watch_entry> watchers;
    const cause_ref* told_why = nullptr;  // of the `terminated` being handled, for stash()
    // The instance's.
    instance_function* adapters = nullptr;  // all are message_adapter; the latest first
    instance_function* becomes = nullptr;   // all are become_function; the latest first
    instance_function* left = nullptr;      // replaced while they run: freed afterwards
};

}  // namespace tactus::inline v0
