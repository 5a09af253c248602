// SPDX-License-Identifier: Apache-2.0
//
// Dispatchers: the dispatchers of one system by id, each with the executor its configuration names,
// kept alive by one housekeeper, and ended together (DR-3, DR-5, EX-2, EX-9, CO-5).
//
//     runtime::dispatchers all(system, {.system_name = "shop"}, {.id = default_dispatcher_id});
//     auto io = all.add({.id = "io", .config = {.executor = executor_kind::thread_pool}});
//     system.spawn<reader>({.dispatcher = io->number()});
//
// With a resolver (DR-1 ... DR-4) ids are looked up there, and dispatchers made when first needed:
//
//     auto where = all.place({.path = "/user/reader", .choice = spawn_choice().where()});
//     system.spawn<reader>(*where);
//
// The first one runs the system's timers, so it has threads, and they stay while the system runs.
// Those of the others end after `shutdown_timeout` without actors, and start again when one is
// attached, or when a task comes. A dispatcher's number is its index in the kernel.
//
// Thread safety: any thread; shut_down and the destructor by one that is no worker.
#pragma once

#include <chrono>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <variant>

#include <tactus/dispatch/dispatcher_config.hpp>
#include <tactus/dispatch/lent_workers.hpp>
#include <tactus/dispatch/resolver.hpp>
#include <tactus/dispatch/spawn_options.hpp>
#include <tactus/runtime/dispatcher_threads.hpp>

namespace tactus::inline v0::runtime {

struct dispatcher_error {
    enum class kind : std::uint8_t {
        unknown_dispatcher,    // no dispatcher has that id
        duplicate_dispatcher,  // one has it already; one in use is not replaced
        executor_missing,      // `foreign` needs an executor
        executor_unfit,        // the first dispatcher needs threads, or a pinned one has one worker
        too_many_dispatchers,
        shutting_down,
        threads_refused,  // the system gives no threads as `threads` wants them
        id_refused,       // the resolver does not take the id
    };
    kind what;
    std::string id;
    std::string detail = {};  // what the system or the resolver said, if it was asked
    /// One line for people, with the id.
    [[nodiscard]] std::string text() const;
};
[[nodiscard]] const char* name_of(dispatcher_error::kind what) noexcept;

/// Why an actor cannot be placed: the resolver does not know where, or it cannot be made.
using place_error = std::variant<resolve_error, dispatcher_error>;
[[nodiscard]] std::string text_of(const place_error& why);

/// A dispatcher to be made.
struct dispatcher_setup {
    std::string_view id = {};
    dispatcher_config config = {};
    thread_settings threads = {};
    executor* foreign = nullptr;  // for executor_kind::foreign; outlives the dispatchers. Null:
                                  // default_executor
};

/// EX-9, EX-6: what is going on at one dispatcher.
struct dispatcher_report {
    std::uint32_t waiting = 0;      // mailboxes; tasks count as one
    std::uint32_t inhabitants = 0;  // not of the first: see dispatcher
    std::uint32_t threads = 0;
    std::uint32_t extra_threads = 0;
    std::uint32_t blocking = 0;
    std::uint32_t stops = 0;
    std::uint32_t parked = 0;  // workers that a foreign executor rejected
};

class dispatchers;
class housekeeper;

/// What props, timers and tasks take. Valid as long as the dispatchers.
class dispatcher_handle {
public:
    [[nodiscard]] std::uint32_t number() const { return where_->number(); }
    [[nodiscard]] std::string_view id() const;
    [[nodiscard]] executor_kind kind() const;
    [[nodiscard]] dispatcher& where() const { return *where_; }
    /// Runs a task there; false when the system is being stopped.
    [[nodiscard]] bool execute(worker_task& t) const { return where_->execute(t); }

    // DR-5: applies from the next run, or the next sample.
    void set_throughput(std::optional<std::uint32_t> n) const { where_->set_throughput(n); }
    void set_throughput_deadline(duration d) const { where_->set_throughput_deadline(d); }
    void set_starvation_deadline(duration d) const;
    void set_shutdown_timeout(duration d) const;

    [[nodiscard]] dispatcher_report report() const;
    /// EX-9. Workers of executors without threads here are `stopped`.
    [[nodiscard]] worker_state state_of(std::uint32_t worker) const;

private:
    friend class dispatchers;
    class entry;
    dispatcher_handle(dispatcher& where, entry& e) : where_(&where), entry_(&e) {}

    dispatcher* where_;
    entry* entry_;
};

class dispatchers {
public:
    struct options {
        std::string system_name = "tactus";
        dispatcher_events* events = nullptr;  // outlives this
        // Ids, aliases, deployments and requirements; a dispatcher it knows is made when it is
        // first needed, and one that is added is known to it. Its rules say how often foreign
        // executors are tried. Outlives this. Null: there is what was added.
        resolver* names = nullptr;
        // From when on a run of an actor is a handler_slow; max(): never. Not of thread pools and
        // blocking sections, which are for such handlers.
        duration slow_after = duration::max();
        // C-DCF-8: what dispatchers that name no executor run on, and foreign ones that were not
        // given another. The first one has threads all the same, so let it be the internal one.
        // Outlives this. Null: they have threads.
        executor* default_executor = nullptr;
        // Called with the id and the number of each further dispatcher before anything runs there,
        // under a lock: it must not call back.
        std::function<void(std::string_view id, std::uint32_t number)> added = {};
    };
    /// EX-9: what the configuration says, with the defaults filled in.
    [[nodiscard]] static dispatcher_config resolved(dispatcher_config c);
    /// The options of a system whose first dispatcher is to be like this.
    [[nodiscard]] static actor_scheduler::options fill(actor_scheduler::options o,
                                                       const dispatcher_config& first);

    /// Starts the first dispatcher. Requires: the system was made with fill(), and `first` needs
    /// threads: a pool, or no executor named (check dispatchers:1). The system outlives this.
    dispatchers(actor_scheduler& system, options o, const dispatcher_setup& first);
    /// Shuts down by force, unless it was shut down before.
    ~dispatchers();
    dispatchers(const dispatchers&) = delete;
    dispatchers& operator=(const dispatchers&) = delete;

    /// DR-5: while running, too. The resolver, if there is one, knows it from then on; one that it
    /// knew gets what is said here, and the throughput said there if none is said here.
    [[nodiscard]] std::expected<dispatcher_handle, dispatcher_error> add(const dispatcher_setup& e);
    /// By id, or alias; one the resolver knows is made now, if it was not.
    [[nodiscard]] std::expected<dispatcher_handle, dispatcher_error> find(std::string_view id);
    /// DR-2, DR-4: what the resolver says about an actor to be spawned, for actor_scheduler::spawn;
    /// its dispatcher is made now, if it was not. A priority mailbox still needs its `order`.
    /// Requires: there is a resolver (check dispatchers:4).
    [[nodiscard]] std::expected<spawn_options, place_error> place(const resolve_request& wanted);
    /// The same for what spawn_options say of the actor with that path.
    [[nodiscard]] std::expected<spawn_options, place_error> place(std::string_view path,
                                                                  const spawn_options& how);
    [[nodiscard]] dispatcher_handle first() const;
    /// Of the dispatcher with that number; empty: there is none.
    [[nodiscard]] std::string_view id_of(std::uint32_t number) const;
    /// For others who are to be looked after; its thread ends with the first shut_down.
    [[nodiscard]] housekeeper& keeper() noexcept;

    /// Waits until no dispatcher has a task left that waits to be run, for at most `limit`; false:
    /// there are some. Requires: as shut_down.
    bool finish_tasks(std::chrono::nanoseconds limit);

    /// CO-5: takes nothing new, lets all dispatchers finish what is queued for at most `limit`,
    /// then ends all threads and closes what is left. True when everything was processed in time.
    /// Requires: the caller is no worker of the system (check dispatchers:2), and runs what is of
    /// kind inline_tick, if anything is.
    bool shut_down(std::chrono::nanoseconds limit);
    void force_stop() { (void)shut_down(std::chrono::nanoseconds::zero()); }
    /// How often workers have run something, when no worker runs and nothing waits for one; nothing
    /// otherwise. Two equal answers: nothing ran in between. While dispatchers may be added, too.
    [[nodiscard]] std::optional<std::uint32_t> runs_when_idle();

private:
    struct state;
    [[nodiscard]] std::expected<dispatcher_handle, dispatcher_error> made_for(
        const dispatcher_entry& e);
    [[nodiscard]] bool drained();

    std::unique_ptr<state> state_;
};

}  // namespace tactus::inline v0::runtime
