// SPDX-License-Identifier: Apache-2.0
//
// Actor system: actors on the threads of this machine, in one line.
//
//     tactus::actor_system system{"demo"};
//     auto ref = system.spawn<sum>("sum");
//     ref.tell(add{1});
//     auto answer = system.ask<int>(ref, [](auto me) { return total{me}; }, 1s);
//
// The destructor runs the coordinated shutdown (EV-3), whose last phase stops all actors, children
// before parents; it waits for at most `shutdown_limit` for these, and prints the actors that are
// still running after that (UP-2).
//
// Thread safety: any thread. terminate() within an actor, too; waiting for it only outside.
#pragma once

#include <chrono>
#include <cstdint>
#include <expected>
#include <functional>
#include <future>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <tactus/actor/actor.hpp>
#include <tactus/actor/behavior.hpp>
#include <tactus/actor/toolbox.hpp>
#include <tactus/dispatch/dispatch_rules.hpp>
#include <tactus/dispatch/dispatcher_config.hpp>
#include <tactus/dispatch/resolver.hpp>
#include <tactus/runtime/ask_error.hpp>
#include <tactus/runtime/blocking_wait.hpp>
#include <tactus/runtime/coordinated_shutdown.hpp>
#include <tactus/runtime/dispatchers.hpp>
#include <tactus/runtime/drain.hpp>
#include <tactus/runtime/reply_place.hpp>
#include <tactus/runtime/timer_policy_rules.hpp>
#include <tactus/scheduler/drift_watch.hpp>
#include <tactus/scheduler/driver_keeper.hpp>
#include <tactus/scheduler/scheduler_config.hpp>

namespace tactus::inline v0 {

/// What spawn throws; try_spawn returns the error.
class spawn_exception : public std::runtime_error {
public:
    spawn_exception(const spawn_error& why, std::string_view name);
    [[nodiscard]] const spawn_error& error() const noexcept { return why_; }

private:
    spawn_error why_;
};

/// SC-35: what an actor_system throws when its tick driver does not start.
class driver_exception : public std::runtime_error {
public:
    driver_exception(tick_driver_error why, std::string_view driver);
    [[nodiscard]] tick_driver_error error() const noexcept { return why_; }

private:
    tick_driver_error why_;
};

/// What an actor_system throws when there is no memory for it, or no addresses.
class memory_exception : public std::bad_alloc {
public:
    explicit memory_exception(const char* text) noexcept : text_(text) {}
    [[nodiscard]] const char* what() const noexcept override { return text_; }

private:
    const char* text_;  // a constant
};

/// TS-9.
struct system_info {
    std::string_view name;
    system_phase phase;  // CO-5; see docs/shutdown.md
    driver_view driver;
    tick_driver_metrics measured;  // TS-7: how late it wakes, under no load and since it began
};

/// EV-2: how lost messages are logged; see dead_letter_log.
struct lost_letter_options {
    std::uint32_t max = 10;  // lines before it is quiet; 0: none; dead_letter_log::unlimited
    std::chrono::nanoseconds suspend = std::chrono::minutes(5);  // how long; max(): for good
    bool during_shutdown = false;
};

/// How failures of one actor are logged: supervision decisions, and hooks that failed.
struct failure_line_options {
    std::uint32_t max = 10;  // lines before it is one per interval
    std::chrono::nanoseconds interval = std::chrono::seconds(10);
};

namespace detail {

class owed_answers;

/// Tells a task of the shutdown that an actor has ended.
class end_watch : public actor<> {
public:
    end_watch(shutdown_done done, any_ref who) : done_(std::move(done)), who_(who) {}
    void pre_start() { context().watch(who_); }
    void on(const terminated&) {
        done_();
        context().stop();
    }

private:
    shutdown_done done_;
    any_ref who_;
};

}  // namespace detail

template <class R>
class answer_future;

class actor_system {
public:
    /// What the destructor does when actors are left after the limit.
    enum class at_limit : std::uint8_t { abort, detach };
    struct options {
        dispatcher_config dispatcher = {};  // of the default dispatcher
        dispatch_rules rules = {};
        // Fills in dispatchers, mailboxes and deployments; a text says what is wrong. What the
        // spawn_options of an actor do not say, its deployment does (docs/dispatchers.md).
        std::function<std::expected<void, std::string>(resolver&)> names = {};
        // Limits reserve addresses, and memory only for what is used: 256 bytes per actor, 64 per
        // message, 376 per timer; less than 1 GiB as they are here.
        std::uint32_t actors_max = 1U << 20U;    // at once; beyond it spawns are refused
        std::uint32_t messages_max = 1U << 22U;  // in flight at once; beyond it sends are refused
        std::uint32_t timers_max = 1U << 20U;    // at once, in the profile unbounded
        // Its clock's kind is that of the clock in use. One that validate() finds a fault with is
        // refused (std::invalid_argument); a test configuration has no driver unless one is given.
        scheduler_config scheduler = {};
        // SC-5: of timers that nobody says more about; see scheduler_defaults for that of `pekko`.
        tactus::timer_policy timer_policy = {};
        // Those of timers of one dispatcher, guardian or subsystem. One that validate() refuses, a
        // guardian or subsystem `none`, and a dispatcher that `names` does not know are refused
        // (std::invalid_argument); scheduler().policies() sets further ones later.
        timer_policy_rules timer_policies = {};
        // SH-2: how many on-close tasks there may be, 1 to 1024; none: as the profile says.
        std::optional<std::uint32_t> on_close_tasks = {};
        // SC-33: how late a tick may be processed without a warning, in percent of the resolution,
        // 0 to 100; three times the driver's jitter, if that is more.
        std::uint32_t drift_budget_percent = drift_watch::default_percent;
        driver_policy driver_stops = {};  // what becomes of a driver that stops by itself
        // SV-5: see supervision_defaults, also for the preset `pekko`.
        supervisor_strategy guardian_strategy = supervision_defaults();
        // Of parents without `supervision()`.
        const restart_pacing* pacing = supervision_defaults().pacing;
        std::chrono::nanoseconds shutdown_limit = std::chrono::seconds(10);  // max(): none
        at_limit then = at_limit::detach;
        shutdown_options shutdown = {};
        // SIGTERM and SIGINT run the shutdown; the second one ends the process with 128 + n.
        bool shutdown_on_signals = false;
        // Before the process ends by force, it waits until all that was logged to a spdlog_sink is
        // written, for a second at most. After a failed check always; on std::terminate, before the
        // handler that was there is called; and on SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT,
        // where the program has no handler for the signal. See docs/events.md.
        bool flush_on_terminate = true;
        bool flush_on_fatal_signals = true;
        world_events* events = nullptr;  // outlives the system
        // PT-7: what differs from other hosts: `time`, `driver`, `log`, `seed`, `local`. No log:
        // lines go to standard error, through spdlog, which is opened by the first line. No driver:
        // a runtime::steady_driver of its own; one that does not start is a driver_exception.
        // Memory grows, and threads are those of the dispatchers: `memory`, `runs` and `ticks` are
        // for a device_system (std::invalid_argument).
        toolbox tools = {};
        tactus::log_level log_level = tactus::log_level::info;
        bool log_unhandled = false;  // a line of the level debug for every unhandled message
        lost_letter_options dead_letters = {};
        failure_line_options failures = {};
        // A handler that runs for so long is logged, and a slow_handler_warning; max(): never.
        std::chrono::nanoseconds slow_handler_after = std::chrono::seconds(1);
    };

    /// Requires: a name that fault_of_system_name finds no fault with, and a shutdown that fault_of
    /// finds none with, names that can be filled in, and no tools that it cannot use
    /// (std::invalid_argument). What the machine refuses is thrown: memory and addresses
    /// (memory_exception, std::bad_alloc), threads (std::system_error).
    explicit actor_system(std::string_view name, const options& o);
    explicit actor_system(std::string_view name) : actor_system(name, options{}) {}
    ~actor_system();
    actor_system(const actor_system&) = delete;
    actor_system& operator=(const actor_system&) = delete;

    /// A top-level actor. What spawning needs and is not there is thrown (spawn_exception).
    template <class A, class... Args>
    detail::ref_of<A> spawn(std::string_view name, Args&&... args) {
        static_assert(detail::constructor_arguments<A, Args...>::met);
        auto made = try_spawn<A>(name, {}, std::forward<Args>(args)...);
        if (!made)
            throw spawn_exception(made.error(), name);
        return *made;
    }
    /// One made of functions (AC-3).
    template <class... Ms>
    actor_ref<Ms...> spawn(behavior<Ms...> first, std::string_view name = {}) {
        return spawn<functional_actor<Ms...>>(name, std::move(first));
    }
    /// Without a name.
    template <class A, class... Args>
    detail::ref_of<A> spawn_anonymous(Args&&... args) {
        static_assert(detail::constructor_arguments<A, Args...>::met);
        return spawn<A>(std::string_view{}, std::forward<Args>(args)...);
    }
    template <class A, class... Args>
    [[nodiscard]] std::expected<detail::ref_of<A>, spawn_error> try_spawn(std::string_view name,
                                                                          const spawn_options& how,
                                                                          Args&&... args) {
        static_assert(detail::constructor_arguments<A, Args...>::met);
        if (const auto why = spawn_refused()) [[unlikely]]
            return std::unexpected(*why);
        return detail::spawn_by<A>(
            world(), [&](const actor_world::spawn_request& r) { return world().spawn_top(r); },
            name, how, std::forward<Args>(args)...);
    }

    /// Asks and waits: `make` gets an actor_ref<R> to reply to, and gives the message. The timeout
    /// is a timer of the scheduler; one of max() never comes. A system that ends ends the wait. Not
    /// within an actor, where nothing may wait.
    template <class R, class Target, class Make>
    [[nodiscard]] std::expected<R, ask_error> ask(const Target& target, Make&& make,
                                                  std::chrono::nanoseconds timeout) {
        using message = std::remove_cvref_t<std::invoke_result_t<Make, actor_ref<R>>>;
        const auto failed = [&](ask_error::kind what) {
            return std::unexpected(
                ask_failed(what, any_ref(target), timeout, message_type_of<message>.name));
        };
        if (timeout <= std::chrono::nanoseconds::zero())
            return failed(ask_error::kind::invalid_timeout);
        if (const auto why = ask_refused()) [[unlikely]]
            return failed(*why);
        if (!may_wait_here())
            return failed(ask_error::kind::would_block_worker);
        auto place = std::make_shared<detail::reply_place<R>>();
        detail::reply_deadline deadline(*place, scheduler(), duration::from_ns(timeout.count()));
        if (const auto refused = deadline.refusal())
            return failed(*refused);
        auto r = detail::request_for<detail::reply_box<R>>(world().memory(), {}, {}, place);
        if (!r)
            return failed(ask_error::kind::no_room);
        const auto box = world().spawn_orphan(*r);
        if (!box)
            return failed(world().terminating() ? ask_error::kind::target_terminated
                                                : ask_error::kind::no_room);
        detail::unanswered_box unanswered{*world_, *box};
        const auto sent_it = target.try_tell(std::forward<Make>(make)(actor_ref<R>(any_ref(*box))));
        if (!sent_it)
            return failed(detail::fault_of(sent_it.error().why));
        if (const auto why = deadline.wait())
            return failed(*why);
        unanswered.box = {};
        try {
            // NOLINTNEXTLINE(bugprone-unchecked-optional-access): it has come
            return std::expected<R, ask_error>(std::in_place, std::move(*place->reply()));
        } catch (...) {
            return failed(ask_error::kind::reply_failed);
        }
    }

    /// Ends an actor after what it is doing, also one of another system. False when it has ended.
    bool stop(any_ref who) noexcept { return !in_forked_child() && world().stop(who.index()); }
    /// AC-8: tells it to end, by poison_pill or what is given, and waits. False when it has not
    /// ended in time. Not within an actor: see actor_context::graceful_stop. Of another system:
    /// false at once, and it is not told: its end is not reported here.
    template <message M = poison_pill>
    [[nodiscard]] bool graceful_stop(any_ref who, std::chrono::nanoseconds timeout,
                                     M message = {}) {
        // A time that no timer can count is this thread's own.
        return may_wait_here() && !in_forked_child() &&
               detail::wait_here<graceful_stop_source<M>>(
                   {world_, who, timeout, std::move(message)},
                   duration::from_ns(timeout.count()) > scheduler().maximum_delay()
                       ? timeout
                       : std::chrono::nanoseconds::max());
    }
    /// AC-7: actors by a path, looked for when the selection is used; see actor_selection.hpp.
    [[nodiscard]] actor_selection select(std::string_view path) noexcept {
        return in_forked_child() ? actor_selection() : world().select(path);
    }
    /// Asks the first one that is selected who it is, and waits. Not within an actor.
    [[nodiscard]] std::expected<any_ref, ask_error> resolve(const actor_selection& which,
                                                            std::chrono::nanoseconds timeout) {
        if (in_forked_child())
            return std::unexpected(ask_failed(ask_error::kind::forked_child, {}, timeout,
                                              message_type_of<identify>.name));
        const any_ref first = which.resolve();
        const auto answer =
            ask<actor_identity>(first, [](auto me) { return identify{0, me}; }, timeout);
        if (!answer)
            return std::unexpected(answer.error());
        if (!answer->who)  // it has ended meanwhile
            return std::unexpected(ask_failed(ask_error::kind::target_terminated, first, timeout,
                                              message_type_of<identify>.name));
        return answer->who;
    }
    /// Nobody: what it is told is a dead letter.
    [[nodiscard]] any_ref dead_letters() const noexcept { return any_ref(world_->dead_letters()); }
    /// Of an actor of another system that one's path. Empty: `who` names nothing, or that system
    /// has ended.
    [[nodiscard]] std::string path_of(any_ref who);
    /// EV-5: dispatchers, and actors with their paths, states and queues, and what each waits for.
    [[nodiscard]] std::string dump(dump_format format = dump_format::text);
    /// SD-3: timers, and how the scheduler does.
    [[nodiscard]] std::string dump_scheduler(dump_format format = dump_format::text);
    [[nodiscard]] std::string_view name() const noexcept;
    /// TS-9: who makes time pass here.
    [[nodiscard]] system_info info() const noexcept;

    /// Begins to stop everything: runs the shutdown with the reason system_terminate, or, where
    /// that is not asked for (run_by_terminate), stops the actors. Returns at once.
    void terminate() noexcept;
    /// CO-5: takes nothing more from outside, handles what is there, then runs the shutdown with
    /// the reason `drain` and waits for the end. After `limit` what is left is stopped as by
    /// terminate(), and the report says what it was. A second call waits for the first one; the
    /// shorter of both limits applies. Within a task of the shutdown it returns when all is
    /// handled, or after `limit`, and leaves the end to the shutdown. Not within an actor:
    /// drain_report::outcome::would_block_worker.
    [[nodiscard]] drain_report drain(std::chrono::nanoseconds limit);
    /// Ends a drain that goes on as if its limit had passed; otherwise terminate(). Returns at
    /// once; within an actor, too.
    void force_stop() noexcept;
    /// True when everything has ended within the time; max() waits for ever. Within an actor, be it
    /// another system's, it does not wait, and gives false at once (UP-3): see when_terminated,
    /// on_terminated.
    bool wait(std::chrono::nanoseconds limit);
    /// Within an actor it only terminates, and gives false.
    bool terminate_and_wait(std::chrono::nanoseconds limit) {
        terminate();
        return wait(limit);
    }
    /// SC-1: messages and functions that are due later; see docs/scheduler.md. Within actors
    /// context() has the same calls.
    [[nodiscard]] tactus::scheduler& scheduler() noexcept { return *world_->timers(); }
    /// SC-4: the same with references of actors.
    [[nodiscard]] typed_scheduler timers() noexcept { return typed_scheduler(world_->timers()); }
    /// The same on the dispatcher of that id or alias, which is made now if it was not.
    [[nodiscard]] std::expected<typed_scheduler, runtime::dispatcher_error> timers_on(
        std::string_view dispatcher) {
        if (in_forked_child())
            return std::unexpected(runtime::dispatcher_error{
                runtime::dispatcher_error::kind::shutting_down, std::string(dispatcher), {}});
        const auto found = dispatchers().find(dispatcher);
        if (!found)
            return std::unexpected(found.error());
        return timers().on(*found);
    }
    /// SH-2, SH-3: runs once when the scheduler closes: all actors have ended, and all timers;
    /// threads are still there. By priority, then in the order of registration, on one thread, for
    /// at most scheduler_config::shutdown_timeout all together: one that still runs then is left
    /// behind, so it has to own what it uses. `name`, a constant, is for who reads the log. See
    /// docs/shutdown.md.
    template <class Task>
    [[nodiscard]] std::expected<on_close_tasks::handle, scheduler_error> register_on_close(
        Task&& what, const char* name = "",
        close_priority priority = close_priority::user) noexcept {
        if (in_forked_child())
            return std::unexpected(scheduler_error{.code = scheduler_errc::closed});
        return scheduler().register_on_close(std::forward<Task>(what), priority, name);
    }
    /// True when it waited: it will not run.
    bool cancel_on_close(on_close_tasks::handle which) noexcept {
        return !in_forked_child() && scheduler().cancel_on_close(which);
    }
    /// Ready when everything has ended, as wait() sees it; the same one each time. May outlive the
    /// system.
    [[nodiscard]] std::shared_future<void> when_terminated() const;
    /// Called when the actors have ended, the last one first, on a thread of its own; wait()
    /// returns after it. False: they have ended, and nobody will call it.
    bool on_terminated(std::function<void()> call);
    [[nodiscard]] coordinated_shutdown& shutdown() noexcept;
    /// A task that is done when the actor has ended. One for an actor of another system fails.
    template <class Ref>
    shutdown_task add_actor_termination_task(std::string_view phase, std::string_view name,
                                             const Ref& who) {
        return shutdown().add_task(phase, name,
                                   [w = &world(), to = any_ref(who)](const shutdown_done& done) {
                                       if (may_watch_end(*w, to, done))
                                           watch_end(*w, to, done);
                                   });
    }
    /// One that tells it something first, to make it end: a message of its own, or poison_pill.
    template <class Ref, class M>
    shutdown_task add_actor_termination_task(std::string_view phase, std::string_view name,
                                             const Ref& who, M stop_message) {
        return shutdown().add_task(
            phase, name,
            [w = &world(), who, m = std::move(stop_message)](const shutdown_done& done) mutable {
                if (!may_watch_end(*w, any_ref(who), done))
                    return;
                if constexpr (std::is_same_v<M, poison_pill> || std::is_same_v<M, kill>)
                    any_ref(who).tell(m);  // every actor takes it
                else
                    who.tell(std::move(m));
                watch_end(*w, any_ref(who), done);
            });
    }
    /// SV-5: 70 (EX_SOFTWARE) when a failure ended the system, otherwise what the shutdown says: 0,
    /// unless its options or its reason have another.
    [[nodiscard]] int exit_code() const noexcept;
    /// Why it ended, if a failure did; empty otherwise.
    [[nodiscard]] std::string failure_text() const;

    /// DF-52: this process is a child that was forked from the system's. The system and its threads
    /// are in the parent: messages go nowhere, calls are refused, and the destructor returns at
    /// once (docs/shutdown.md, fork).
    [[nodiscard]] bool in_forked_child() const noexcept;

    /// Those in use: what was given, and the defaults.
    [[nodiscard]] toolbox tools() const noexcept;
    [[nodiscard]] logger& log() noexcept;
    [[nodiscard]] runtime::dispatchers& dispatchers() noexcept;
    [[nodiscard]] actor_world& world() noexcept { return *world_; }

private:
    template <class R, class Target, class Make>
    friend answer_future<R> ask_future(actor_system& system, const Target& target, Make&& make,
                                       std::chrono::nanoseconds timeout);
    struct parts;
    /// Why this thread may not spawn; nothing: it may.
    [[nodiscard]] std::optional<spawn_error> spawn_refused() const noexcept;
    /// The system drains, and this thread is outside.
    [[nodiscard]] bool is_refused_by_drain() const noexcept;
    /// Why this thread may not ask; nothing: it may.
    [[nodiscard]] std::optional<ask_error::kind> ask_refused() const noexcept;
    /// UP-3: this thread is no worker's, and fires no timers.
    [[nodiscard]] static bool may_wait_here() noexcept;
    /// The futures that the end of the system answers.
    [[nodiscard]] detail::owed_answers& owed_answers() noexcept;
    static void watch_end(actor_world& world, any_ref who, const shutdown_done& done);
    /// False: the task has failed, as the actor is of another system.
    [[nodiscard]] static bool may_watch_end(const actor_world& world, any_ref who,
                                            const shutdown_done& done);
    [[nodiscard]] ask_error ask_failed(ask_error::kind what, any_ref target,
                                       std::chrono::nanoseconds after, std::string_view type);

    std::unique_ptr<parts> parts_;
    actor_world* world_;
};

}  // namespace tactus::inline v0
