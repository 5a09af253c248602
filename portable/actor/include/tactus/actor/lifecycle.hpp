// SPDX-License-Identifier: Apache-2.0
//
// The life cycle of an actor, as data: every state, every event, and what the actor owes after it.
//
// cell::apply() looks a pair up, writes the next state and returns the action; the functions of
// actor_world raise the events and carry out the actions. Only the thread that runs the actor's
// mailbox, or closes it, raises events: the state has one writer. docs/lifecycle.md is rendered
// from the rows.
//
// What other threads tell an actor (stop, resume, be held back, a child's report) is not a state:
// it is a bit of its cell until its turn turns it into an event.
//
// The number of a state says four things, so that asking for one of them is one comparison:
//
//   bit 0       held back: a failure is not forgiven, a restart is in progress, or the actor ends
//               without an instance
//   bit 1       there is an instance
//   4 to 11     a restart is in progress
//   12 and up   it is ending: it takes no children, and orders change nothing
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace tactus::inline v0::lifecycle {

enum class state : std::uint8_t {
    starting = 0,
    failed_uncreated = 1,
    alive = 2,
    failed = 3,
    restarting_uncreated = 5,
    restarting = 7,
    restarting_empty = 9,
    ended = 12,
    stopping_empty = 13,
    stopping = 14,
    stopping_failed = 15,
};

enum class event : std::uint8_t {
    created,
    not_created,
    fails,
    resume,
    restart,
    children_gone,
    restart_due,
    stop,
    discard,
    closed,
};

/// What the actor's turn owes after an event.
enum class action : std::uint8_t {
    impossible,  // the pair cannot occur: a check
    nothing,
    report_failure,
    report_again,
    drop_suspension,
    forgive,
    restart_instead,
    prepare_restart,
    suspend_and_prepare,
    destroy_instance,
    create,
    recreate,
    finish_restart,
    begin_stop,
    run_post_stop,
    close_mailbox,
};

[[nodiscard]] constexpr bool is_failed(state s) noexcept {
    return (static_cast<unsigned>(s) & 1U) != 0;
}
[[nodiscard]] constexpr bool has_instance(state s) noexcept {
    return (static_cast<unsigned>(s) & 2U) != 0;
}
[[nodiscard]] constexpr bool is_restarting(state s) noexcept {
    return s > state::failed && s < state::ended;
}
[[nodiscard]] constexpr bool is_ending(state s) noexcept {
    return s >= state::ended;
}

/// A value of one of the three enumerations, human-readable.
template <class E>
struct entry {
    E value;
    const char* name;
    const char* meaning;
};

inline constexpr auto states = std::to_array<entry<state>>({
    {state::starting, "starting", "spawned; the first turn runs its constructor and pre_start"},
    {state::alive, "alive", "handles messages"},
    {state::failed, "failed", "suspended until its parent decides"},
    {state::failed_uncreated, "failed_uncreated",
     "the same, and has no instance: its constructor or first hook failed"},
    {state::restarting, "restarting",
     "pre_restart runs or has run; the old instance waits for children to end"},
    {state::restarting_uncreated, "restarting_uncreated",
     "the same after a failed creation: there was no instance"},
    {state::restarting_empty, "restarting_empty",
     "the old instance is destroyed: the back-off runs, or the new instance is being created"},
    {state::stopping, "stopping", "waits for its children to end"},
    {state::stopping_failed, "stopping_failed", "the same, after a failure that was not forgiven"},
    {state::stopping_empty, "stopping_empty", "the same, and has no instance"},
    {state::ended, "ended", "its instance is destroyed; its mailbox closes or is closed"},
});

inline constexpr auto events = std::to_array<entry<event>>({
    {event::created, "created", "constructor and first hook have succeeded"},
    {event::not_created, "not_created",
     "one of them has failed; what was constructed is destroyed"},
    {event::fails, "fails",
     "user code failed or context().fail was called; the kernel has suspended the actor once more"},
    {event::resume, "resume", "its parent's order"},
    {event::restart, "restart", "its parent's order"},
    {event::children_gone, "children_gone",
     "no child is left that the actor waits for: of a restart, one that it stopped; else any"},
    {event::restart_due, "restart_due",
     "of a restart: the children are gone, and there is no back-off or it has elapsed"},
    {event::stop, "stop", "an order from anywhere"},
    {event::discard, "discard",
     "the instance is to go: post_stop has run, or the kernel closes the mailbox by force"},
    {event::closed, "closed", "the kernel has closed the mailbox"},
});

inline constexpr auto actions = std::to_array<entry<action>>({
    {action::nothing, "nothing", ""},
    {action::report_failure, "report_failure",
     "hold the children back, report the failure to the parent"},
    {action::report_again, "report_again", "the same, and the children are held back already"},
    {action::drop_suspension, "drop_suspension",
     "the parent is asked already, or is not asked any more: take back the kernel's suspension"},
    {action::forgive, "forgive",
     "end the suspension, let the children go on, resume the child whose failure this was"},
    {action::restart_instead, "restart_instead", "there is nothing to resume: restart"},
    {action::prepare_restart, "prepare_restart",
     "call pre_restart (default: stop the children, call post_stop), wait for the children"},
    {action::suspend_and_prepare, "suspend_and_prepare",
     "suspend the actor and hold its children back as after a failure of its own, then the same"},
    {action::destroy_instance, "destroy_instance", "destroy it"},
    {action::create, "create",
     "create an instance; pre_start if the creation that failed was the first, else post_restart"},
    {action::recreate, "recreate", "create an instance, call post_restart"},
    {action::finish_restart, "finish_restart",
     "restart the children that survived, end the suspension, let the children go on"},
    {action::begin_stop, "begin_stop", "end timers and watches, stop the children, wait for them"},
    {action::run_post_stop, "run_post_stop", "call post_stop, discard, close the mailbox"},
    {action::close_mailbox, "close_mailbox", "close it"},
    {action::impossible, "impossible", "check `lifecycle:1`"},
});

struct row {
    state from;
    event on;
    state to;
    action owed;
};

inline constexpr auto rows = [] {
    using enum state;
    using enum event;
    using enum action;
    return std::to_array<row>({
        // clang-format off
        // from                  on             to                    the actor's turn owes
        {starting,             created,       alive,                nothing},
        {starting,             not_created,   starting,             nothing},  // the kernel: fails
        {starting,             fails,         failed_uncreated,     report_failure},
        // The test kit holds back the start of a child; its parent's orders come all the same.
        {starting,             resume,        starting,             nothing},
        {starting,             restart,       starting,             nothing},
        {starting,             children_gone, starting,             impossible},
        {starting,             restart_due,   starting,             impossible},
        {starting,             stop,          stopping_empty,       begin_stop},
        {starting,             discard,       starting,             nothing},
        {starting,             closed,        ended,                nothing},

        {alive,                created,       alive,                impossible},
        {alive,                not_created,   alive,                impossible},
        {alive,                fails,         failed,               report_failure},
        {alive,                resume,        alive,                nothing},
        {alive,                restart,       restarting,           suspend_and_prepare},
        {alive,                children_gone, alive,                nothing},
        {alive,                restart_due,   alive,                impossible},
        {alive,                stop,          stopping,             begin_stop},
        {alive,                discard,       ended,                destroy_instance},  // by force
        {alive,                closed,        alive,                impossible},

        {failed,               created,       failed,               impossible},
        {failed,               not_created,   failed,               impossible},
        {failed,               fails,         failed,               drop_suspension},
        {failed,               resume,        alive,                forgive},
        {failed,               restart,       restarting,           prepare_restart},
        {failed,               children_gone, failed,               nothing},
        {failed,               restart_due,   failed,               impossible},
        {failed,               stop,          stopping_failed,      begin_stop},
        {failed,               discard,       stopping_empty,       destroy_instance},
        {failed,               closed,        failed,               impossible},

        // A limit that passes while the first hook runs fails the actor before it is created.
        {failed_uncreated,     created,       failed,               nothing},
        {failed_uncreated,     not_created,   failed_uncreated,     nothing},
        {failed_uncreated,     fails,         failed_uncreated,     drop_suspension},
        {failed_uncreated,     resume,        failed_uncreated,     restart_instead},
        {failed_uncreated,     restart,       restarting_uncreated, prepare_restart},
        {failed_uncreated,     children_gone, failed_uncreated,     nothing},
        {failed_uncreated,     restart_due,   failed_uncreated,     impossible},
        {failed_uncreated,     stop,          stopping_empty,       begin_stop},
        {failed_uncreated,     discard,       failed_uncreated,     nothing},
        {failed_uncreated,     closed,        ended,                nothing},

        {restarting,           created,       restarting,           impossible},
        {restarting,           not_created,   restarting,           impossible},
        {restarting,           fails,         restarting,           drop_suspension},
        {restarting,           resume,        restarting,           nothing},  // too late
        {restarting,           restart,       restarting,           nothing},  // one is enough
        {restarting,           children_gone, restarting_empty,     destroy_instance},
        {restarting,           restart_due,   restarting,           impossible},
        {restarting,           stop,          stopping_failed,      begin_stop},
        {restarting,           discard,       restarting_empty,     destroy_instance},
        {restarting,           closed,        restarting,           impossible},

        {restarting_uncreated, created,       restarting_uncreated, impossible},
        {restarting_uncreated, not_created,   restarting_uncreated, impossible},
        {restarting_uncreated, fails,         restarting_uncreated, drop_suspension},
        {restarting_uncreated, resume,        restarting_uncreated, nothing},
        {restarting_uncreated, restart,       restarting_uncreated, nothing},
        {restarting_uncreated, children_gone, restarting_uncreated, nothing},
        {restarting_uncreated, restart_due,   restarting_empty,     create},
        {restarting_uncreated, stop,          stopping_empty,       begin_stop},
        {restarting_uncreated, discard,       restarting_uncreated, nothing},
        {restarting_uncreated, closed,        ended,                nothing},

        {restarting_empty,     created,       alive,                finish_restart},
        {restarting_empty,     not_created,   failed_uncreated,     report_again},
        {restarting_empty,     fails,         restarting_empty,     drop_suspension},
        {restarting_empty,     resume,        restarting_empty,     nothing},
        {restarting_empty,     restart,       restarting_empty,     nothing},
        {restarting_empty,     children_gone, restarting_empty,     nothing},
        {restarting_empty,     restart_due,   restarting_empty,     recreate},
        {restarting_empty,     stop,          stopping_empty,       begin_stop},
        {restarting_empty,     discard,       restarting_empty,     nothing},
        {restarting_empty,     closed,        ended,                nothing},

        {stopping,             created,       stopping,             impossible},
        {stopping,             not_created,   stopping,             impossible},
        {stopping,             fails,         stopping,             drop_suspension},
        {stopping,             resume,        stopping,             nothing},
        {stopping,             restart,       stopping,             nothing},
        {stopping,             children_gone, stopping,             run_post_stop},
        {stopping,             restart_due,   stopping,             impossible},
        {stopping,             stop,          stopping,             nothing},
        {stopping,             discard,       ended,                destroy_instance},
        {stopping,             closed,        stopping,             impossible},

        {stopping_failed,      created,       stopping_failed,      impossible},
        {stopping_failed,      not_created,   stopping_failed,      impossible},
        {stopping_failed,      fails,         stopping_failed,      drop_suspension},
        {stopping_failed,      resume,        stopping_failed,      nothing},
        {stopping_failed,      restart,       stopping_failed,      nothing},
        {stopping_failed,      children_gone, stopping_failed,      run_post_stop},
        {stopping_failed,      restart_due,   stopping_failed,      impossible},
        {stopping_failed,      stop,          stopping_failed,      nothing},
        {stopping_failed,      discard,       stopping_empty,       destroy_instance},
        {stopping_failed,      closed,        stopping_failed,      impossible},

        {stopping_empty,       created,       stopping_empty,       impossible},
        {stopping_empty,       not_created,   stopping_empty,       impossible},
        {stopping_empty,       fails,         stopping_empty,       drop_suspension},
        {stopping_empty,       resume,        stopping_empty,       nothing},
        {stopping_empty,       restart,       stopping_empty,       nothing},
        {stopping_empty,       children_gone, stopping_empty,       close_mailbox},
        {stopping_empty,       restart_due,   stopping_empty,       impossible},
        {stopping_empty,       stop,          stopping_empty,       nothing},
        {stopping_empty,       discard,       stopping_empty,       nothing},
        {stopping_empty,       closed,        ended,                nothing},

        {ended,                created,       ended,                impossible},
        {ended,                not_created,   ended,                impossible},
        {ended,                fails,         ended,                drop_suspension},
        {ended,                resume,        ended,                nothing},
        {ended,                restart,       ended,                nothing},
        {ended,                children_gone, ended,                impossible},
        {ended,                restart_due,   ended,                impossible},
        {ended,                stop,          ended,                nothing},
        {ended,                discard,       ended,                nothing},
        {ended,                closed,        ended,                nothing},
        // clang-format on
    });
}();

/// The row of a pair; every pair has one.
[[nodiscard]] constexpr const row& find(state from, event on) noexcept {
    for (const row& r : rows) {
        if (r.from == from && r.on == on)
            return r;
    }
    return rows.front();  // not reached: the table is total
}

struct step {
    state to;
    action owed;
};

namespace detail {

inline constexpr std::size_t codes = 16;  // of states: four bits, some of which mean none

[[nodiscard]] constexpr std::size_t place_of(state from, event on) noexcept {
    return static_cast<std::size_t>(on) * codes + static_cast<std::size_t>(from);
}
// What no state has the number of is 0: impossible.
inline constexpr auto packed = [] {
    std::array<std::uint8_t, codes * events.size()> all{};
    for (const row& r : rows)
        all[place_of(r.from, r.on)] = static_cast<std::uint8_t>(static_cast<unsigned>(r.owed) << 4 |
                                                                static_cast<unsigned>(r.to));
    return all;
}();
static_assert(actions.size() <= 16);

/// Fails check `lifecycle:1`.
void fail_impossible_pair() noexcept;

}  // namespace detail

/// The same from a packed copy of the table: what cell::apply() does. Fails a check where the pair
/// is impossible.
[[nodiscard]] inline step next(state from, event on) noexcept {
    const std::uint8_t found = detail::packed[detail::place_of(from, on)];
    const auto owed = static_cast<action>(found >> 4);
    if (owed == action::impossible) [[unlikely]]
        detail::fail_impossible_pair();
    return {static_cast<state>(found & 15), owed};
}

[[nodiscard]] const char* name_of(state state) noexcept;
[[nodiscard]] const char* name_of(event event) noexcept;
[[nodiscard]] const char* name_of(action action) noexcept;

}  // namespace tactus::inline v0::lifecycle
