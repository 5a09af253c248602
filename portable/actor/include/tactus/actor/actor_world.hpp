// SPDX-License-Identifier: Apache-2.0
//
// Actor world: the actors of one system: their tree, their lives, who watches whom.
//
// The kernel runs mailboxes; the world is what its events and system messages mean. It has no
// threads and no clock of its own: everything happens in turns of actors, except spawning and
// stopping from outside, and the first guardian's end.
//
//     root --- user     what the program spawns
//         \--- system   what the runtime spawns; ends after user
//
// Thread safety: what is under "any thread"; the rest belongs to the turn of the actor it is about.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include <tactus/actor/actor_place.hpp>
#include <tactus/actor/cell.hpp>
#include <tactus/actor/cell_extras.hpp>
#include <tactus/actor/dump_request.hpp>
#include <tactus/actor/event_stream.hpp>
#include <tactus/actor/log.hpp>
#include <tactus/actor/name_table.hpp>
#include <tactus/actor/system_services.hpp>
#include <tactus/dispatch/dump.hpp>
#include <tactus/scheduler/scheduler.hpp>

namespace tactus::inline v0 {

class effect_recorder;
class resolver;

/// What the world says about actors; every decision is told (SV-5). Any thread; must not block.
class world_events {
public:
    struct decision {
        any_ref parent;
        any_ref child;
        directive what;
        const failure_cause* why;
    };
    virtual void supervised(const decision& d) noexcept { (void)d; }
    /// A hook failed where nobody can be asked: post_stop, pre_restart. Also what a restart needs
    /// and cannot have, another instance or the timer of a back-off: the actor is stopped then.
    virtual void hook_failed(any_ref who, const char* hook, const failure_cause& why) noexcept {
        (void)who;
        (void)hook;
        (void)why;
    }
    virtual void unhandled(any_ref who, envelope& message) noexcept {
        (void)who;
        (void)message;
    }
    virtual void dead_letter(any_ref to, envelope& message, dead_letter_cause cause) noexcept {
        (void)to;
        (void)message;
        (void)cause;
    }
    virtual void message_lost(any_ref to, const message_type& type,
                              dead_letter_cause cause) noexcept {
        (void)to;
        (void)type;
        (void)cause;
    }
    /// EV-1: what the kernel warns of, as it does; see kernel_events.
    virtual void pressure(const mailbox_pressure& what) noexcept { (void)what; }
    virtual void pool_exhausted(std::uint32_t refused) noexcept { (void)refused; }
    virtual void deadline_missed(any_ref who, duration late) noexcept {
        (void)who;
        (void)late;
    }
    virtual void user_code_failed(user_code where, const failure& why) noexcept {
        (void)where;
        (void)why;
    }
    /// What the scheduler warns of; see scheduler_listener.
    virtual void timer_warned(const scheduler_warning& what) noexcept { (void)what; }
    /// SV-5: a guardian failed, or a failure was escalated to it: the system is to be stopped.
    virtual void guardian_failed(const failure_cause& why) noexcept { (void)why; }
    /// The last actor has ended.
    virtual void world_ended() noexcept {}
    /// DR-1: where an actor is to run, and which mailbox it gets, from what its options say and
    /// leave open; asked if the world `places`, for each actor below a parent. `name` may be empty.
    /// The requirement of the options includes that of the actor's class.
    [[nodiscard]] virtual std::expected<void, spawn_error> place(any_ref parent,
                                                                 std::string_view name,
                                                                 spawn_options& how) noexcept {
        (void)parent;
        (void)name;
        (void)how;
        return {};
    }
    /// What a dispatcher is called in lines of the log; empty: nobody knows. Lives as long as the
    /// system.
    [[nodiscard]] virtual std::string_view dispatcher_id(std::uint32_t number) const noexcept {
        (void)number;
        return {};
    }

protected:
    ~world_events() = default;
};

class actor_selection;

class actor_world final : public kernel_events, public scheduler_listener, private actor_notes {
public:
    struct options {
        memory_source* memory = nullptr;  // bodies, names, watches
        world_events* events = nullptr;
        std::string_view name = "tactus";            // outlives the world
        supervisor_strategy guardian_strategy = {};  // of the user guardian
        const restart_pacing* pacing = nullptr;      // of parents without `supervision()`
        scheduler* timers = nullptr;                 // null: actors have no timers
        logger* log = nullptr;                       // null: actors have no log
        bool places = false;                         // events are asked where actors run
        // Of events that place: while it is_plain, they are not asked about actors whose options
        // and class say nothing. Null: they are asked about each.
        [[no_unique_address]] detail::with_resolver<const resolver*, 3> ids = {};
        const system_services* services = nullptr;  // of the system guardian; null: none
        std::uint32_t ended_names = 0;  // of how many ended actors paths are still known; hosts
        /// DF-45: what is done about a family, or for all who watch an actor, is done in pieces of
        /// so many children, or watchers; between two of them the worker runs other actors. At
        /// least 1. A device has few actors, and no pieces.
        std::uint32_t family_piece = 256;
    };
    explicit actor_world(const options& o) noexcept;
    actor_world(const actor_world&) = delete;
    actor_world& operator=(const actor_world&) = delete;

    /// PT-7: what `memory` is asked for by the world itself: the guardians' names, and what they
    /// keep when children fail or end.
    [[nodiscard]] static constexpr memory_plan plan() noexcept {
        return memory_plan()
            .plus(name_table::plan(user_name.size()))
            .plus(name_table::plan(system_name.size()))
            .objects<cell_extras>(3);
    }

    /// Spawns the guardians. Requires: the kernel was made with this as its events and its `above`.
    void begin(actor_scheduler& kernel) noexcept;

    /// TK-1: who is told what actors ask of the world; null: nobody. Before the first actor.
    void set_recorder(effect_recorder* to) noexcept { recorder_ = to; }
    [[nodiscard]] effect_recorder* recorder() const noexcept { return recorder_; }

    /// Frees what actors left whose parents ended with them, by force. Requires: the kernel has
    /// stopped.
    void sweep() noexcept;

    // ---- any thread

    struct spawn_request {
        const actor_type* type = nullptr;
        actor_maker* maker = nullptr;        // the world's from now on; null: made of nothing
        std::string_view name = {};          // empty: none
        const spawn_options* how = nullptr;  // null: they say nothing; else they outlive the call
    };
    /// A child of the user guardian.
    [[nodiscard]] std::expected<mailbox_index, spawn_error> spawn_top(
        const spawn_request& wanted) noexcept;
    /// A child of the system guardian, for what the runtime has: it ends after the user's.
    [[nodiscard]] std::expected<mailbox_index, spawn_error> spawn_system(
        const spawn_request& wanted) noexcept;
    /// A child of the actor whose turn it is.
    [[nodiscard]] std::expected<mailbox_index, spawn_error> spawn_child(
        turn& t, const spawn_request& wanted) noexcept;
    /// An actor without parent and name, which nobody supervises: it ends when it fails.
    [[nodiscard]] std::expected<mailbox_index, spawn_error> spawn_orphan(
        const spawn_request& wanted) noexcept;

    /// Ends an actor after what it is doing, before what waits. False when it has ended, or there
    /// is no memory to say so. On hosts also one of another system, if that is there and has a
    /// world.
    bool stop(mailbox_index who) noexcept;
    /// It is an actor of another system: whether it lives is not known here. Hosts only.
    [[nodiscard]] bool is_foreign(mailbox_index who) const noexcept {
        if constexpr (port::has_interrupts)
            return false;
        else
            return who.valid() && who.system_number() != kernel_->system_number();
    }
    /// Ends everything: the user's actors, then the runtime's. Once.
    void terminate() noexcept;
    [[nodiscard]] bool terminating() const noexcept {
        return terminating_.load(std::memory_order_relaxed) != 0;
    }
    /// Names nothing: there is none. "/user/a/b", "user/a/b" or "tactus://name/user/a/b".
    [[nodiscard]] mailbox_index find(std::string_view path) noexcept;
    /// AC-7: by paths with patterns, also from an actor on; see actor_selection.hpp.
    [[nodiscard]] actor_selection select(std::string_view path) noexcept;
    [[nodiscard]] actor_selection select(mailbox_index anchor, std::string_view path) noexcept;
    /// Names nothing: it has none, or has ended. The root's is the root.
    [[nodiscard]] mailbox_index parent_of(mailbox_index who) noexcept;
    /// Those without a name are known by their reference: `$slot.generation`. Below 1,024 ancestors
    /// (64 on a device) the last 32 names (8) follow `/...`. An actor of another system has its
    /// path there; its reference, when that system has ended.
    void write_path(mailbox_index who, text_sink& to) noexcept;
    /// False: that system has ended, or has no world.
    [[nodiscard]] static bool write_path_elsewhere(mailbox_index who, text_sink& to) noexcept;
    /// EV-5: dispatchers, and actors with their state, queues, and what each waits for.
    void dump(text_sink& to, dump_options o = {}) noexcept;
    /// What an actor waits for, for people; empty: for messages.
    [[nodiscard]] std::string_view waits_for(slot& s) noexcept override;
    [[nodiscard]] std::string_view name() const noexcept { return name_; }
    /// EV-4; null: there is none.
    [[nodiscard]] logger* log() const noexcept { return log_; }
    /// Its id, for people; empty when the actor has ended.
    [[nodiscard]] std::string_view dispatcher_of(mailbox_index who) noexcept;
    [[nodiscard]] actor_scheduler& kernel() const noexcept { return *kernel_; }
    [[nodiscard]] memory_source& memory() const noexcept { return memory_; }
    /// EV-1: what happens, for who subscribes; see system_events.hpp.
    [[nodiscard]] event_stream& events() noexcept { return stream_; }
    /// True: it was not subscribed. An actor that has ended is forgotten at once; one of another
    /// system is refused, as its end would not be learned of.
    template <event E>
    [[nodiscard]] event_stream::changed subscribe(any_ref who) noexcept {
        if (is_foreign(who.index()))
            return std::unexpected(event_error::another_system);
        const event_stream::changed done = stream_.subscribe<E>(who.index());
        if (kernel_->slots().find(who.index()) == nullptr)
            stream_.forget(who.index());
        return done;
    }
    /// Nobody: what it is told is a dead letter of this system, whoever tells it.
    [[nodiscard]] mailbox_index dead_letters() const noexcept {
        return mailbox_index::make(root_.system_number(), mailbox_index::slot_mask, 1);
    }
    [[nodiscard]] mailbox_index user_guardian() const noexcept { return user_; }
    /// OH-5: answers dump_request, in a world with all_services; see dump_request.hpp.
    [[nodiscard]] actor_ref<dump_request> system_guardian() const noexcept {
        return actor_ref<dump_request>(any_ref(system_));
    }
    [[nodiscard]] const supervisor_strategy& guardian_strategy() const noexcept {
        return guardian_strategy_;
    }
    [[nodiscard]] static actor_world& of(const actor_scheduler& kernel) noexcept {
        return *static_cast<actor_world*>(kernel.above());
    }

    // ---- in the turn of the actor

    /// `with`: what it is told instead of `terminated`; the world's from now on.
    void watch(turn& t, mailbox_index who, held_message* with = nullptr) noexcept;
    void unwatch(turn& t, mailbox_index who) noexcept;
    /// Ends the actor whose turn it is, when that is over.
    void stop_self(turn& t) noexcept;
    /// A child of the actor whose turn it is. False: it is none.
    bool stop_child(turn& t, mailbox_index who) noexcept;
    /// All of them, at once; in pre_restart in pieces.
    void stop_children(turn& t) noexcept;
    [[nodiscard]] mailbox_index child_named(turn& t, std::string_view name) noexcept;
    [[nodiscard]] std::uint32_t child_count(turn& t) noexcept;
    /// What comes of a failure of user code: kept for the supervisor.
    [[nodiscard]] handled failed(cell& c, cause_ref why) noexcept;
    [[nodiscard]] handled failed(cell& c, failure_kind kind, const failure& why) noexcept {
        return failed(c, cause_ref::make(memory_, kind, why));
    }
    /// SV-3: the actor has failed, when what it is doing is done.
    void fail(turn& t, const failure& why) noexcept;
    /// The same of an actor that cannot go on without a child; the text names the child.
    void fail_spawn(turn& t, std::string_view name, const spawn_error& why) noexcept;
    /// The same of an actor that cannot go on without a timer or a job that was refused.
    void fail_schedule(turn& t, const scheduler_error& why) noexcept;
    /// ST-1, ST-2: puts the message being handled aside; a failure when there is no room for it,
    /// and then it is a dead letter (stash_overflow). A message that is stashed already, or that a
    /// coroutine owns, fails the actor.
    [[nodiscard]] std::expected<void, failure> stash(turn& t) noexcept;
    /// The oldest `count` that were put aside come before what waits, in their order. What does not
    /// fit a bounded mailbox any more is a dead letter (mailbox_full): the oldest of it.
    void unstash(turn& t, std::uint32_t count) noexcept;
    static constexpr std::uint32_t all_of_stash = 0xffff'ffff;
    [[nodiscard]] std::uint32_t stash_size(turn& t) noexcept;

    /// TM-1. Takes the timer; one that is refused is released, and the one of its key goes on.
    [[nodiscard]] std::expected<void, scheduler_error> start_timer(turn& t, actor_timer& timer,
                                                                   duration first) noexcept;
    bool cancel_timer(turn& t, timer_key key) noexcept;
    void cancel_keyed_timers(turn& t) noexcept;
    /// A record for a function that the actor is about to schedule; null: no memory.
    [[nodiscard]] owned_function* make_owned_function(turn& t) noexcept;
    /// Keeps the record of a function that was scheduled, and drops that of one that was refused.
    void keep_owned_function(turn& t, owned_function& record,
                             const std::expected<cancellable, scheduler_error>& made) noexcept;
    void cancel_timers(turn& t) noexcept;
    void end_functions(cell_extras& x) noexcept;
    [[nodiscard]] bool timer_active(turn& t, timer_key key) noexcept;
    /// SC-5: below which guardian it lives; none where no policy asks.
    [[nodiscard]] timer_guardian guardian_of(turn& t) const noexcept {
        if (timers_ == nullptr || !timers_->has_policies()) [[likely]]
            return timer_guardian::none;
        return find_guardian(t);
    }
    /// AC-5, SC-4: an actor has scheduled a message. Requires: there is a recorder.
    void note_scheduled(turn& t, any_ref to, const message_type& what, duration delay) noexcept;
    /// TM-2; duration::max(): none.
    void set_receive_timeout(turn& t, duration after) noexcept;
    /// A message that counts has come: for actors with a receive timeout.
    void note_activity(turn& t, cell& c, const envelope& e) noexcept;

    /// What receiving takes beside a handler. True: a task takes the message, or it was set aside.
    [[nodiscard]] bool receive_special(turn& t, cell& c, envelope& e) noexcept;
    /// Whether it takes more than a handler.
    static void settle_special(cell& c) noexcept;
    /// Whether user messages wait for coroutines.
    void settle_hold(cell_coroutines& own) noexcept;

    /// AC-2: the coroutines of the actor; null when there is no memory.
    [[nodiscard]] cell_coroutines* coroutines_of(turn& t, cell& c) noexcept;
    /// The same, for a handler of the message being handled, which they will keep: also what it
    /// was delivered for (BT-1).
    [[nodiscard]] cell_coroutines* coroutines_for(turn& t, cell& c, coroutine_keep& keep) noexcept;
    /// A coroutine that no message waits for. It fails the actor when it fails, be it at once, or
    /// cannot be started.
    template <class Call>
    void start_beside(turn& t, Call&& call) noexcept {
        coroutine_set* set = coroutines_of(t, cell::of(t.place()));
        const handled begun = set != nullptr ? set->start_handler(std::forward<Call>(call))
                                             : handled::failed(failure(no_frame_memory));
        if (!begun.is_ok())
            fail_beside(t, begun.why());
    }
    /// User messages wait from now on, until the coroutine has ended.
    void await_coroutine(cell& c) noexcept;
    /// The end of a handler's coroutine, which keeps its envelope.
    static void coroutine_ended(coroutine_set& of, const coroutine_keep& kept,
                                coroutine_end how) noexcept;
    /// A function of the instance is not wanted any more; it may be running.
    void leave(cell_extras& x, instance_function& f) noexcept;
    /// Frees those that ran when they were left, and do not any more.
    void forget_left(cell& c) noexcept;
    [[nodiscard]] scheduler* timers() const noexcept { return timers_; }

    /// Keeps the message for pre_restart, if the actor has one.
    void note_failed_message(turn& t, cell& c, envelope& e) noexcept {
        if (keeps_failed_message(t, c, e))
            t.keep();
    }
    /// True: the message is the cell's from now on.
    [[nodiscard]] bool keeps_failed_message(turn& t, cell& c, envelope& e) noexcept;
    /// A message that no handler takes: what every actor understands, or unhandled.
    [[nodiscard]] handled receive_other(turn& t, cell& c, envelope& e) noexcept;
    /// The message being handled is unhandled after all. For types that say what they handle.
    void note_unhandled(turn& t) noexcept;
    /// What an actor is that does not handle `terminated`.
    [[nodiscard]] handled death_pact(cell& c) noexcept;
    /// Null when there is no memory.
    [[nodiscard]] cell_extras* extras_of(cell& c) noexcept;
    [[nodiscard]] static void* instance_of(slot& s) noexcept {
        return detail::actor_place(s).instance();
    }
    /// `part` belongs to the instance whose turn it is.
    [[nodiscard]] static bool is_in_turn(const turn& t, const void* part) noexcept {
        const auto& type = static_cast<const actor_type&>(*t.place().acts());
        const auto begin = reinterpret_cast<std::uintptr_t>(instance_of(t.place()));
        return reinterpret_cast<std::uintptr_t>(part) - begin < type.size;
    }

    // ---- for actor types: what the kernel calls

    [[nodiscard]] static handled start(turn& t, void* state) noexcept;
    [[nodiscard]] static handled receive_system(turn& t, void* state, system_message& m) noexcept;
    static void destroy(slot& s) noexcept;

private:
    friend class actor_selection;

    static constexpr std::string_view user_name = "user";
    static constexpr std::string_view system_name = "system";

    /// The path begins at our root, and that is taken off. False: it does not.
    [[nodiscard]] bool enter_root(std::string_view& path) const noexcept;
    [[nodiscard]] mailbox_index child_of(mailbox_index parent, std::string_view name) noexcept;
    /// A message to a selection of nobody.
    template <class M>
    void selected_nobody(M&& message, mailbox_index sender) noexcept {
        if constexpr (!port::has_interrupts) {
            if (system_table::has_left())
                return;  // a forked child
        }
        constexpr auto why = dead_letter_cause::recipient_terminated;
        envelope* e = kernel_->wrap({}, std::forward<M>(message), sender);
        if (e == nullptr) {
            kernel_->measures().message_lost({}, message_type_of<std::remove_cvref_t<M>>, why);
            return;
        }
        kernel_->measures().dead_letter({}, *e, why);
        kernel_->dispose_kept(*e);
    }

    // kernel_events
    void dead_letter(mailbox_index to, envelope& message,
                     dead_letter_cause cause) noexcept override;
    void message_lost(mailbox_index to, const message_type& type,
                      dead_letter_cause cause) noexcept override;
    void system_dead_letter(mailbox_index to, system_message& message) noexcept override;
    void mailbox_closed(mailbox_index who, std::size_t system_drained,
                        std::size_t user_drained) noexcept override;
    void actor_failed(mailbox_index who, const failure& why) noexcept override;
    /// As every end of an actor: its children first, `post_stop`, and who watches it is told.
    bool stops_at_limit(mailbox_index who) noexcept override {
        (void)stop(who);
        return true;
    }
    void deadline_missed(mailbox_index who, std::int64_t late_ns) noexcept override;
    void pressure(const mailbox_pressure& what) noexcept override;
    void pool_exhausted(std::uint32_t refused) noexcept override;
    void warned(const scheduler_warning& what) noexcept override;
    void user_code_failed(user_code where, const failure& why) noexcept override;

    void write_name(mailbox_index who, text_sink& to) noexcept;

    // actor_notes
    [[nodiscard]] std::string_view path_of(mailbox_index who,
                                           std::span<char> room) noexcept override;

    /// The actor whose turn it is.
    struct self {
        actor_world& world;
        slot& place;
        cell& c;
        [[nodiscard]] const actor_type& type() const noexcept {
            return static_cast<const actor_type&>(*place.acts());
        }
        [[nodiscard]] void* instance() const noexcept { return instance_of(place); }
        [[nodiscard]] mailbox_index index() const noexcept;
    };

    /// L1: over what is done with the children of a guardian, below which any thread spawns.
    class family_lock {
    public:
        family_lock(actor_world& of, const cell& parent) noexcept
            : mutex_(parent.is(cell::is_guardian) ? &of.guardians_ : nullptr) {
            if (mutex_ != nullptr)
                mutex_->lock();
        }
        ~family_lock() {
            if (mutex_ != nullptr)
                mutex_->unlock();
        }
        family_lock(const family_lock&) = delete;
        family_lock& operator=(const family_lock&) = delete;

    private:
        port::mutex* mutex_;
    };
    [[nodiscard]] std::expected<mailbox_index, spawn_error> spawn_below(
        mailbox_index guardian, const spawn_request& wanted) noexcept;
    [[nodiscard]] std::expected<mailbox_index, spawn_error> spawn_under(
        slot* parent, const spawn_request& wanted, std::uint32_t bits) noexcept;
    /// Takes the name and the block, if it needs them.
    [[nodiscard]] std::expected<void*, spawn_error> prepare(const spawn_request& wanted,
                                                            mailbox_index parent) noexcept;
    /// Its options are used as they are: nothing is said or required, and nothing is placed.
    [[nodiscard]] bool is_plain(const spawn_request& wanted, bool asks) const noexcept;
    /// Completes what the request says; `asks`: the events say where it runs.
    [[nodiscard]] std::expected<void, spawn_error> place(const spawn_request& wanted,
                                                         mailbox_index parent, bool asks,
                                                         spawn_options& how) noexcept;
    void lost(mailbox_index to, mailbox_index from, const message_type& type,
              dead_letter_cause cause) noexcept;
    void tell_unhandled(mailbox_index who, envelope& e) noexcept;
    /// Of an actor that has ended: all it had.
    void free_all(slot& place) noexcept;
    void free_extras(cell& c) noexcept;
    bool send(mailbox_index to, system_kind kind, void* payload) noexcept;
    /// Once, until its restart begins.
    bool send_recreate(slot& child, cause_ref why) noexcept;

    // Life.
    /// `made`: what constructor and hook came to.
    [[nodiscard]] lifecycle::action create(const self& s, failure_kind as, handled& made) noexcept;
    /// What user code came to, if context().fail in it counts as if it had returned that: where it
    /// is not a message that was handled.
    [[nodiscard]] static handled with_told(cell& c, handled result) noexcept;
    /// Its failure is told, and the cause of the failure being dealt with stays.
    template <class Hook>
    void run_hook(const self& s, const char* name, Hook&& hook) noexcept;
    void run_post_stop(const self& s) noexcept;
    void destruct(const self& s) noexcept;
    void destroy_instance(const self& s) noexcept;
    void forget_functions(cell& c) noexcept;
    static void destroy_coroutines(cell& c) noexcept;
    [[nodiscard]] static handled resume_coroutine(turn& t, cell_coroutines& of,
                                                  system_message& continuation) noexcept;
    static void note_wait(cell& c) noexcept;
    void fail_beside(turn& t, const failure& why) noexcept;
    [[nodiscard]] handled follow_orders(turn& t, const self& s, std::uint32_t told) noexcept;
    /// True: what is left of them waits for its work.
    [[nodiscard]] static bool puts_off_orders(const self& s, std::uint32_t left) noexcept;
    [[nodiscard]] handled look_at_reports(turn& t, const self& s) noexcept;
    [[nodiscard]] handled look_at_some(turn& t, const self& s, cell::link& next,
                                       std::uint32_t count) noexcept;
    // Work in pieces; see family_work.cpp.
    static constexpr std::uint32_t all_of_it = 0xffff'ffff;
    static constexpr bool in_pieces = !port::has_interrupts;  // a device has few actors
    /// Null: there is nothing left of an earlier run, or piece.
    [[nodiscard]] static family_work* work_left(const self& s) noexcept {
        return in_pieces && s.place.works ? &s.c.extras()->more.work->rest : nullptr;
    }
    [[nodiscard]] static bool walks(const self& s) noexcept {
        const family_work* w = work_left(s);
        return w != nullptr && w->walks();
    }
    [[nodiscard]] family_work::range all_children(const self& s) noexcept;
    /// The next one, which the range has passed then. Requires: there is one.
    [[nodiscard]] slot& next_of(const self& s, family_work::range& of) noexcept;
    /// Adds to what is to be done, and begins with it unless there was something already.
    template <class Add>
    void work_in(const self& s, Add&& add) noexcept {
        if (family_work* left = work_left(s)) {
            add(*left);
            return;
        }
        family_work now;
        add(now);
        begin_work(s, now);
    }
    void begin_work(const self& s, family_work& now) noexcept;
    void walk(const self& s, family_work& w, std::uint32_t& count) noexcept;
    void restart_some(const self& s, family_work::restart_of& r, std::uint32_t& count) noexcept;
    /// The actor goes on with that in its next run. Null: there is no memory for it.
    [[nodiscard]] family_work* put_off(const self& s) noexcept;
    [[nodiscard]] handled go_on_with_work(turn& t, const self& s) noexcept;
    void hold_child(slot& child, bool on, mailbox_index except) noexcept;
    void restart_family(const self& s, family_work::restart_of& how) noexcept;
    [[nodiscard]] handled look_at_left(turn& t, const self& s, family_work& w,
                                       std::uint32_t count) noexcept;
    void stop_family(turn& t, const self& s) noexcept;
    void forget_and_stop(turn& t, const self& s, slot& child) noexcept;
    /// PK-SYS-7: failures of children wait while it is held back itself; PK-SYS-8: and are decided
    /// afterwards, in their order.
    [[nodiscard]] static bool is_held_back(const self& s) noexcept;
    [[nodiscard]] bool let_wait(const self& s, slot& child) noexcept;
    [[nodiscard]] handled decide_waiting(turn& t, const self& s) noexcept;
    /// It is restarted anyway.
    void forget_failure(const self& s, slot& child) noexcept;
    void child_ended(turn& t, const self& s, slot& child) noexcept;
    [[nodiscard]] handled child_failed(turn& t, const self& s, slot& child) noexcept;
    [[nodiscard]] handled decide(const self& s, mailbox_index child, const failure_cause& why,
                                 directive& d, supervisor_strategy& how) noexcept;
    void apply_restart(const self& s, slot& child, cause_ref why,
                       const supervisor_strategy& how) noexcept;
    [[nodiscard]] bool allows(const self& s, slot& child, const supervisor_strategy& how) noexcept;
    friend duration detail::count_restarts(const restart_pacing& by, const void* parent,
                                           slot& first, const slot& last, slot& failed) noexcept;
    [[nodiscard]] mailbox_index key_of(const slot& child) const noexcept {
        return {kernel_->slots().number_of(child), 0};
    }
    /// Made when first asked for; null when there is no memory.
    [[nodiscard]] child_record* record_of(const self& s, slot& child) noexcept;
    void free_record(child_record& r) noexcept;
    /// SV-4; see backing_off.cpp.
    [[nodiscard]] delayed_restart* delayed_restart_of(const self& s, slot& child) noexcept;
    /// None: not any more, or not at all.
    [[nodiscard]] std::optional<duration> next_delay(turn& t, const self& s, slot& child,
                                                     const failure_cause& why,
                                                     const backoff_options& how) noexcept;
    [[nodiscard]] bool recreate_later(const self& s, slot& child, const cause_ref& why,
                                      duration delay) noexcept;
    void order_stop(const self& s, slot& child) noexcept;
    void hold_children(const self& s, bool on, mailbox_index except) noexcept;
    void hold_self(const self& s, bool on) noexcept;
    void be_resumed(turn& t, const self& s) noexcept;
    void be_recreated(turn& t, const self& s, cause_ref why) noexcept;
    void recreate(turn& t, const self& s, failure_kind as) noexcept;
    void be_terminated(turn& t, const self& s) noexcept;
    void finish_termination(turn& t, const self& s, lifecycle::action owed) noexcept;
    void forgive(const self& s) noexcept;
    void has_failed(const self& s, const failure& why) noexcept;
    void report(const self& s, std::uint32_t what) noexcept;
    void go_on_waiting(turn& t, const self& s) noexcept;
    /// Null: nobody records, or it is the actor's end that acts, not the actor.
    [[nodiscard]] effect_recorder* recording(const cell& c) const noexcept {
        return recorder_ != nullptr && c.state() < lifecycle::state::restarting_empty ? recorder_
                                                                                      : nullptr;
    }
    [[nodiscard]] timer_guardian find_guardian(turn& t) const noexcept;
    [[nodiscard]] bool has_children(const self& s) noexcept;
    /// Null: it is none, or has ended.
    [[nodiscard]] slot* find_child(const self& s, mailbox_index who) noexcept;

    // Watch.
    void free_record(watch_record& r) noexcept;
    void free_entry(watch_entry& e) noexcept;
    void be_watched(const self& s, watch_entry& e) noexcept;
    void be_unwatched(const self& s, mailbox_index watcher) noexcept;
    /// Null: there is none.
    [[nodiscard]] static watch_record* watch_of(const self& s, mailbox_index who,
                                                bool notified) noexcept;
    [[nodiscard]] handled be_notified(turn& t, const self& s, watch_entry& e) noexcept;
    /// An instance is there, and supervision does not hold it back.
    [[nodiscard]] static bool can_be_told(const cell& c) noexcept {
        return c.state() == lifecycle::state::alive && !c.is(cell::holds);
    }
    [[nodiscard]] handled queue_terminated(turn& t, const self& s, watch_record& r) noexcept;
    /// Signals for which there was no envelope while the actor was held back.
    [[nodiscard]] handled tell_owed(turn& t, const self& s) noexcept;
    void notify(watch_entry& e) noexcept;
    /// At most `count`, from that one on; the next one then, or null.
    [[nodiscard]] watch_entry* notify_some(watch_entry* first, std::uint32_t& count) noexcept;
    void notify_all(watch_entry* first) noexcept;
    /// Of an actor that has ended; the root's.
    void notify_for(const self& s, watch_entry& first) noexcept;
    void forget_watch(turn& t, mailbox_index who) noexcept;
    void unwatch_all(turn& t, const self& s) noexcept;
    /// False: there is no other one.
    [[nodiscard]] bool unwatch_newest(turn& t, const self& s) noexcept;
    [[nodiscard]] handled receive_due(turn& t, const self& s, timer_due due) noexcept;
    [[nodiscard]] handled receive_idle(turn& t, const self& s) noexcept;
    /// Of a message: what counts from where it was handled does so now.
    void coroutine_handled(turn& t, cell& c, const envelope& e) noexcept;
    /// `which` said that it is due, perhaps for the last time, and that was lost; none: one of
    /// them, nobody knows which.
    void due_was_lost(mailbox_index whose, std::optional<timer_handle> which, bool is_over,
                      dead_letter_cause why) noexcept;
    void rearm_lost(turn& t, const self& s, const system_message& m) noexcept;
    void rearm(turn& t, cell_extras& x, actor_timer& timer) noexcept;
    [[nodiscard]] scheduler::armed arm_timer(turn& t, actor_timer& timer, duration first,
                                             bool replaces = false) noexcept;
    [[nodiscard]] std::uint32_t fold_missed(actor_timer& timer, std::uint32_t counted) noexcept;
    /// What an actor fails with when it cannot have a timer it needs, by why not.
    [[nodiscard]] static failure refusal(scheduler_errc why) noexcept;
    /// SC-5: of this actor's timers. Requires: there are timers.
    [[nodiscard]] timer_policy policy_of(turn& t) const noexcept;
    void forget_receive_timeout(turn& t) noexcept;
    void arm_receive_timeout(turn& t, idle_watch& idle, duration after) noexcept;
    void forget_timer(cell_extras& x, actor_timer& timer) noexcept;
    [[nodiscard]] scheduler::armed arm_instead(turn& t, cell_extras& x, actor_timer& old,
                                               actor_timer& timer, duration first) noexcept;
    /// Null: there is none.
    [[nodiscard]] static actor_timer* find_timer(const cell_extras& x, timer_key key) noexcept;
    /// True: there was one.
    bool drop_timer(turn& t, timer_key key) noexcept;
    // Scheduled messages; the list is under its lock.
    /// False: it was sent, or is not ours any more: `what` is not touched.
    void unstash(const self& s, std::uint32_t count = all_of_stash) noexcept;

    [[nodiscard]] handled receive_terminated(turn& t, const self& s, const terminated& m) noexcept;
    /// Calls the handler of `child_failed` or `terminated`. `why` names nothing: it did not fail.
    [[nodiscard]] handled tell_ended(turn& t, const self& s, const terminated& m,
                                     const cause_ref& why) noexcept;
    /// None: it has become nothing, or that has no function for it.
    [[nodiscard]] std::optional<handled> tell_become(turn& t, const self& s, signal_kind what,
                                                     void* signal) noexcept;
    /// A message that another one stands for.
    [[nodiscard]] handled receive_inner(turn& t, const self& s, envelope& inner,
                                        mailbox_index sender) noexcept;

    memory_source& memory_;
    world_events* events_;
    std::string_view name_;
    supervisor_strategy guardian_strategy_;
    const restart_pacing* pacing_;
    scheduler* timers_;
    logger* log_;
    bool places_;
    [[no_unique_address]] detail::with_resolver<const resolver*, 3> ids_;
    const system_services* services_;
    actor_scheduler* kernel_ = nullptr;
    effect_recorder* recorder_ = nullptr;
    name_table names_;
    event_stream stream_;
    mailbox_index root_;
    mailbox_index user_;
    mailbox_index system_;
    port::atomic<std::uint32_t> terminating_{0};
    port::atomic<std::uint32_t> tells_user_code_{0};  // see user_code_failed
    port::mutex guardians_;                           // children of guardians
    struct piece_of_host {
        explicit piece_of_host(std::uint32_t n) noexcept : size(n != 0 ? n : 1) {}
        std::uint32_t size;
    };
    struct whole_family {
        explicit whole_family(std::uint32_t) noexcept {}
        static constexpr std::uint32_t size = all_of_it;
    };
    [[no_unique_address]] std::conditional_t<in_pieces, piece_of_host, whole_family> piece_;
};

}  // namespace tactus::inline v0
