// SPDX-License-Identifier: Apache-2.0
//
// Putting the parts of a hosted system together, and taking them apart.
#include <tactus/runtime/actor_system.hpp>

#include "check_place.hpp"
#include "closing_thread.hpp"
#include "ending_thread.hpp"
#include "fork_watch.hpp"
#include "log_flush.hpp"
#include "rest_of_work.hpp"
#include "signal_watch.hpp"
#include "spare_memory.hpp"
#include "spawn_refusal.hpp"
#include "system_driver.hpp"
#include "system_listener.hpp"
#include "system_log.hpp"
#include "wait_until.hpp"

#include <tactus/actor/actor_name.hpp>
#include <tactus/actor/system_events.hpp>
#include <tactus/dispatch/dump.hpp>
#include <tactus/dispatch/resolver.hpp>
#include <tactus/runtime/diagnostic_events.hpp>
#include <tactus/runtime/owed_answers.hpp>
#include <tactus/runtime/scheduler_memory.hpp>
#include <tactus/runtime/steady_clock.hpp>
#include <tactus/runtime/timer_memory.hpp>

#include <cerrno>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <mutex>
#include <new>
#include <ranges>
#include <sstream>
#include <system_error>
#include <utility>
#include <vector>

namespace tactus::inline v0 {
namespace {

class string_sink final : public text_sink {
public:
    void write(std::string_view piece) noexcept override {
        try {
            text += piece;
        } catch (const std::exception&) {
            lost = true;
        }
    }
    /// What there was memory for; it says so when that is not all.
    [[nodiscard]] std::string take() noexcept {
        constexpr std::string_view note = "(no memory)";  // a short string needs none
        if (!lost)
            return std::move(text);
        if (text.size() >= note.size())
            text.replace(text.size() - note.size(), note.size(), note);
        else
            text = note;
        return std::move(text);
    }
    std::string text;
    bool lost = false;
};

/// What a dump says in a forked child, where the locks of the system may be held for ever.
std::string left_behind(dump_format format) {
    return format == dump_format::json ? R"({"left_behind":"forked child"})"
                                       : "forked child: the system is in the parent process\n";
}

/// Neither a dispatcher nor a mailbox.
bool says_nothing(const spawn_options& how) noexcept {
    return how.dispatcher == 0 && how.dispatcher_id.empty() && how.mailbox_id.empty() &&
           how.requirement.empty() && how.mailbox == mailbox_options{};
}

std::string valid(std::string_view name) {
    if (const auto fault = fault_of_system_name(name))
        throw std::invalid_argument("a system cannot have the name '" + std::string(name) +
                                    "': " + text_of(*fault));
    return std::string(name);
}

void require_range(const char* field, std::uint32_t value, std::uint32_t least,
                   std::uint32_t most) {
    if (value >= least && value <= most)
        return;
    const scheduler_config_error wrong{.code = scheduler_config_errc::capacity_out_of_range,
                                       .field = field,
                                       .value = value,
                                       .limit = value < least ? least : most};
    char text[200];
    throw std::invalid_argument(std::string(describe(wrong, text)));
}

/// With the throughput of the rules where the default dispatcher names none.
actor_system::options without_faults(actor_system::options o) {
    if (!o.tools.memory.empty() || o.tools.runs != nullptr || o.tools.ticks != nullptr)
        throw std::invalid_argument(
            "an actor_system has memory that grows and threads of its own: memory, runs and ticks "
            "of a toolbox are for a device_system");
    if (o.on_close_tasks)
        require_range("on_close_tasks", *o.on_close_tasks, 1, scheduler_capacity_max.tasks);
    require_range("drift_budget_percent", o.drift_budget_percent, 0, drift_watch::percent_max);
    if (!o.dispatcher.throughput)
        o.dispatcher.throughput = o.rules.throughput;
    return o;
}

/// SC-34, SC-37: what the system is built with.
scheduler_config configured(const actor_system::options& o, const clock& time) {
    scheduler_config c = o.scheduler;
    c.clock = time.kind();
    auto fine = validate(c);
    if (fine && c.use == scheduler_use::production && o.tools.driver != nullptr &&
        o.tools.driver->kind() == clock_kind::deterministic)
        fine = std::unexpected(
            scheduler_config_error{.code = scheduler_config_errc::manual_ticks_in_production,
                                   .field = "driver",
                                   .value = static_cast<std::int64_t>(clock_kind::deterministic),
                                   .limit = static_cast<std::int64_t>(clock_kind::realtime_host)});
    if (fine)
        return c;
    char text[200];
    throw std::invalid_argument("scheduler." + std::string(describe(fine.error(), text)));
}

}  // namespace

std::string ask_error::text() const {
    string_sink to;
    write_text({what, target_path, duration::from_ns(after.count()), message_type}, to);
    return to.take();
}

spawn_exception::spawn_exception(const spawn_error& why, std::string_view name)
    : std::runtime_error(
          "cannot spawn an actor" +
          (name.empty() ? std::string(" without a name") : " named '" + std::string(name) + "'") +
          ": " + why.reason),
      why_(why) {}

struct actor_system::parts final : world_events {
    [[nodiscard]] static duration quiet_for(std::chrono::nanoseconds d) {
        return d == std::chrono::nanoseconds::max() ? duration::max()
                                                    : duration::from_ns(d.count());
    }
    parts(std::string_view called, const options& o)
        : name(valid(called)),
          how(without_faults(o)),
          logs_at_the_end(
              {.on_terminate = o.flush_on_terminate, .on_fatal_signals = o.flush_on_fatal_signals}),
          time(o.tools.time != nullptr ? *o.tools.time : own_time),
          log({.sink = o.tools.log != nullptr ? o.tools.log : &own_log,
               .time = &time,
               .level = o.log_level}),
          listener(
              log,
              {.to = &log,
               .time = &time,
               .max = o.dead_letters.max,
               .suspend = quiet_for(o.dead_letters.suspend),
               .quiet_during_shutdown = !o.dead_letters.during_shutdown},
              {.time = &time, .max = o.failures.max, .interval = quiet_for(o.failures.interval)}),
          spare(spare_bytes(o)),
          heap(usable(spare)),
          lanes(spare),
          memory({.actors_max = o.actors_max, .messages_max = o.messages_max}),
          driver({.time = &time,
                  .config = configured(o, time),
                  .given = o.tools.driver,
                  .policy = o.driver_stops,
                  .told = &world,
                  .gave_up = [this](const std::string& why) { driver_lost(why); }}),
          services({.memory = &heap,
                    .tasks_max = o.on_close_tasks.value_or(capacity_of(configured(o, time)).tasks),
                    .policies_max = policies_max(o.timer_policies),
                    .drift_budget_percent = o.drift_budget_percent,
                    .driver = driver.driver(),
                    .time = &time,
                    .resolution = o.scheduler.resolution}),
          timer_blocks(runtime::timer_memory::of(configured(o, time), o.timers_max)),
          timers(usable(timer_blocks)
                     .options(scheduler_options{
                         .time = &time,
                         .config = configured(o, time),
                         .memory = &heap,
                         .slot = o.tools.local != nullptr ? o.tools.local : &own_local,
                         .listener = &world,
                         .services = &services,
                         .fixed_rate = o.tools.fixed_rate,
                         .fixed_delay = o.tools.fixed_delay,
                     })),
          names({.memory = &heap, .rules = o.rules}),
          world({.memory = &heap,
                 .events = this,
                 .name = name,
                 .guardian_strategy = o.guardian_strategy,
                 .pacing = o.pacing,
                 .timers = &timers,
                 .log = &log,
                 .places = true,
                 .ids = &names,
                 .services = &all_services,
                 .ended_names = 4'096}),
          names_filled(fill_names()),
          kernel{usable(memory).fill(runtime::dispatchers::fill({.memory = &heap,
                                                                 .dispatcher_memory = &lanes,
                                                                 .time = &time,
                                                                 .timers = &timers,
                                                                 .driver = driver.driver(),
                                                                 .driven_by = &driver,
                                                                 .seed = o.tools.seed,
                                                                 .events = &world,
                                                                 .above = &world},
                                                                how.dispatcher)),
                 claim_number()},
          all(kernel,
              {.system_name = name,
               .events = &dispatcher_told,
               .names = &names,
               .slow_after = quiet_for(o.slow_handler_after),
               .added = [this](std::string_view id, std::uint32_t number) { rule(id, number); }},
              {.id = default_dispatcher_id, .config = how.dispatcher}),
          driving(*this),
          shutdown(std::in_place, o.shutdown, hooks()) {
        set_policies();
        runtime::describe_failed_checks();
        world.begin(kernel);
        diagnostic_events.begin(world, &all_services);
        try {
            services.watch_load(kernel, {.actors_max = o.actors_max});
            driver.look_after();
            if (o.shutdown_on_signals)
                signals = std::make_unique<runtime::signal_watch>([this](int n) { signalled(n); });
            if (all.first().report().threads == 0)
                throw std::system_error(EAGAIN, std::generic_category(),
                                        "no thread for the default dispatcher");
            if (spare.was_used())
                throw memory_exception(
                    "no memory for an actor system; see "
                    "docs/troubleshooting.md#a-system-does-not-start");
            heap.settle();
        } catch (...) {
            leave_signals();
            take_apart();
            throw;
        }
    }

    /// Of what was built, when the rest cannot be.
    void take_apart() noexcept {
        world.terminate();
        shutdown.reset();
        {
            std::unique_lock held(mutex);
            (void)detail::wait_at_most(over, held, std::chrono::seconds(1),
                                       [this] { return ended; });
        }
        caller.join();
        driver.stop();
        all.force_stop();
        world.sweep();
    }

    static constexpr const char* no_addresses =
        "no addresses for an actor system: lower actors_max, messages_max or timers_max, or raise "
        "the limit of the process (ulimit -v); see docs/troubleshooting.md#a-system-does-not-start";
    template <class Memory>
    [[nodiscard]] static Memory& usable(Memory& memory) {
        if (!memory.usable())
            throw memory_exception(no_addresses);
        return memory;
    }
    /// Nothing that may throw follows before the kernel, which gives it back, has it.
    [[nodiscard]] static actor_scheduler::number_claim claim_number() {
        const auto claim = actor_scheduler::number_claim::make();
        if (claim.number == 0)
            throw std::system_error(
                EAGAIN, std::generic_category(),
                "a process has numbers for 63 actor systems at once, and all "
                "are taken; see docs/troubleshooting.md#a-system-does-not-start");
        return claim;
    }
    /// What construction takes at the most, and the lanes of all actors.
    [[nodiscard]] static std::size_t spare_bytes(const options& o) {
        const auto plan = runtime::dispatchers::fill({}, o.dispatcher).plan();
        constexpr std::size_t per_actor = 32;
        constexpr std::size_t others = std::size_t{2} << 20U;
        return 2 * plan.bytes() + others + per_actor * o.actors_max;
    }

    /// TS-7: nobody keeps the time any more.
    void driver_lost(const std::string& why) {
        {
            const std::lock_guard held(mutex);
            failed = true;
            note_failure(why);
        }
        char line[256];
        std::snprintf(line, sizeof line, "%s, the system ends", why.c_str());
        log.write(log_level::error, line);
        if (!run_shutdown(&shutdown_reason::driver_stopped))
            end_actors({});
    }

    // ---- policies of timers (SC-5)

    using policy_result = std::expected<void, scheduler_error>;
    /// As many as can be given, beside those that are set later.
    [[nodiscard]] static std::uint32_t policies_max(const timer_policy_rules& r) {
        constexpr std::uint32_t later = 16;
        return static_cast<std::uint32_t>(r.dispatchers.size() + r.guardians.size() +
                                          r.subsystems.size()) +
               later;
    }
    static void require(const policy_result& done, const std::string& where) {
        char text[200];
        if (!done)
            throw std::invalid_argument(where + ": " + std::string(describe(done.error(), text)));
    }
    void set_policies() {
        const timer_policy_rules& rules = how.timer_policies;
        if (!(how.timer_policy == tactus::timer_policy{}))
            require(timers.policies()->set_default(how.timer_policy), "timer_policy");
        for (const auto& [guardian, policy] : rules.guardians)
            require(timers.policies()->set_for(guardian, policy),
                    std::string("timer_policies.guardians.") + name_of(guardian));
        for (const auto& [subsystem, policy] : rules.subsystems)
            require(timers.policies()->set_for(subsystem, policy),
                    "timer_policies.subsystems." +
                        std::to_string(static_cast<std::uint16_t>(subsystem)));
        for (const auto& [id, policy] : rules.dispatchers) {
            require(validate(policy), "timer_policies.dispatchers." + id);
            const auto known = names.resolve_dispatcher(id);
            if (!known)
                throw std::invalid_argument("timer_policies.dispatchers." + id + ": " +
                                            std::string(known.error().text()));
            dispatcher_policies.insert_or_assign(std::string((*known)->id()), policy);
        }
        if (!dispatcher_policies.empty())
            rule(default_dispatcher_id, 0);
    }
    /// Dispatchers get their numbers when they are made, which is when they are first needed.
    void rule(std::string_view id, std::uint32_t number) {
        const auto found = dispatcher_policies.find(id);
        if (found != dispatcher_policies.end())  // valid, and there is room for it
            (void)timers.policies()->set_for_dispatcher(static_cast<std::uint16_t>(number),
                                                        found->second);
    }

    /// Under the lock. Without memory for the text there is none.
    void note_failure(std::string_view why) noexcept {
        try {
            failure_text = why;
        } catch (const std::bad_alloc&) {
            failure_text.clear();
        }
    }

    void signalled(int number) noexcept {
        try {
            (void)the_shutdown().run(shutdown_reason::signal(number));
        } catch (...) {
            end_actors({});
        }
    }
    /// From here on signals are what they were.
    void leave_signals() {
        std::unique_ptr<runtime::signal_watch> last;  // ends after the lock
        const std::lock_guard held(mutex);
        last = std::move(signals);
    }

    bool fill_names() {
        // Nothing was handed out yet, so it is never refused but for lack of memory.
        if (!names.replace_dispatcher(default_dispatcher_id, how.dispatcher))
            throw std::bad_alloc();
        if (how.names) {
            if (const auto done = how.names(names); !done)
                throw std::invalid_argument(done.error());
        }
        // Actors that are not resolved (is_plain) have the defaults: they are in use from now on.
        // What an error says is said to the first actor.
        (void)names.resolve({});
        return true;
    }
    coordinated_shutdown::hooks hooks() {
        return {.begins =
                    [this](bool terminates) {
                        if (terminates)
                            listener.begin_shutdown();
                    },
                .terminate = [this](shutdown_done done) { end_actors(std::move(done)); },
                .log = [this](log_level level, std::string_view text) { log.write(level, text); },
                .over =
                    [this] {
                        // Within a call of the watch the destructor does it.
                        if (!runtime::signal_watch::calls_here())
                            leave_signals();
                        const std::lock_guard held(mutex);
                        shut_down = true;
                        over.notify_all();
                    },
                .exit =
                    [this](int code) {
                        {
                            // The report of a drain is written first.
                            std::unique_lock held(mutex);
                            (void)detail::wait_at_most(over, held, std::chrono::seconds(1), [this] {
                                return !drain_begun || drain_over;
                            });
                        }
                        own_log.end();
                        // Static objects are left alone: who uses them still runs.
                        std::fflush(stdout);
                        std::quick_exit(code);
                    },
                .system_number = kernel.system_number()};
    }

    // ---- draining (CO-5)

    /// Phases follow each other: running, draining, stopping, stopped; draining may be left out.
    static int order_of(system_phase p) noexcept {
        return p == system_phase::running    ? 0
               : p == system_phase::draining ? 1
               : p == system_phase::stopping ? 2
                                             : 3;
    }
    /// Not under the lock.
    void enter(system_phase next) noexcept {
        system_phase before = next;
        {
            const std::lock_guard held(mutex);
            if (order_of(phase) >= order_of(next))
                return;
            before = std::exchange(phase, next);
        }
        publish(system_phase_changed{before, next});
    }
    [[nodiscard]] system_phase phase_now() const noexcept {
        const std::lock_guard held(mutex);
        return phase;
    }
    /// Under the lock: something else than a drain ends the actors, or has.
    [[nodiscard]] bool is_ended_otherwise() {
        return ending || ended || the_shutdown().ends_actors();
    }
    using deadline = std::chrono::steady_clock::time_point;
    static std::chrono::nanoseconds until(deadline end) noexcept {
        const auto now = std::chrono::steady_clock::now();
        return end > now ? end - now : std::chrono::nanoseconds::zero();
    }
    /// How it ends. `in_task`: the shutdown runs, and waits for this.
    [[nodiscard]] drain_report::outcome handle_the_rest(bool in_task) {
        using outcome = drain_report::outcome;
        constexpr std::chrono::nanoseconds look_every = std::chrono::microseconds(500);
        runtime::rest_of_work rest(world, all);
        bool is_shut = false;
        for (;;) {
            deadline end;
            {
                const std::lock_guard held(mutex);
                if (in_task ? ending || ended : is_ended_otherwise())
                    return outcome::terminated;
                end = drain_until;
            }
            // A sender that has found the system is waited for: its message is one of the rest.
            if (!is_shut)
                is_shut = kernel.refuse_senders(
                    std::min<std::chrono::nanoseconds>(until(end), std::chrono::milliseconds(10))
                        .count());
            if (is_shut && rest.is_done())
                return outcome::drained;
            std::unique_lock held(mutex);
            if (drain_forced || until(drain_until) == std::chrono::nanoseconds::zero())
                return outcome::forced;
            over.wait_for(held, std::min(until(drain_until), look_every),
                          [this] { return drain_forced; });
        }
    }
    drain_report drain(std::chrono::nanoseconds limit) {
        const auto begun = std::chrono::steady_clock::now();
        const deadline end =
            runtime::end_of(begun, std::max(limit, std::chrono::nanoseconds::zero()));
        const bool in_task = system_table::is_inside(kernel.system_number());
        {
            std::unique_lock held(mutex);
            const bool is_first = !std::exchange(drain_begun, true);
            drain_until = is_first ? end : std::min(drain_until, end);
            if (!is_first)
                return join_drain(held, in_task);
        }
        // Ends the wait of other calls, also when this one throws.
        const drain_end at_the_end(*this);
        drain_report r;
        r.in_shutdown = in_task;
        enter(system_phase::draining);
        r.what = handle_the_rest(in_task);
        r.took = std::chrono::steady_clock::now() - begun;
        if (r.what == drain_report::outcome::forced) {
            counts_lost.store(1, std::memory_order_relaxed);  // a flag alone
            try {
                runtime::rest_of_work(world, all).describe(r);
            } catch (const std::bad_alloc&) {
                r.busy.clear();  // no memory to say who: the system ends all the same
            }
        }
        {
            const std::lock_guard held(mutex);
            drained = r;
            drain_handled = true;
            over.notify_all();
        }
        if (!in_task) {
            enter(system_phase::stopping);
            // Gives subscribers up to 100 ms to handle the event.
            if (r.what == drain_report::outcome::drained)
                (void)runtime::wait_until(std::chrono::milliseconds(100), [this] {
                    return runtime::rest_of_work(world, all).is_done();
                });
            r.has_ended = this->end(&shutdown_reason::drain);
            if (the_shutdown().reason()) {
                const auto result = the_shutdown().run(shutdown_reason::drain());
                if (result.wait_for(std::chrono::seconds(1)) == std::future_status::ready)
                    r.shutdown = result.get();
            }
        }
        r.messages_lost = lost_count.load(std::memory_order_relaxed);
        const log_level level = r.is_clean() ? log_level::info : log_level::warning;
        std::istringstream lines(r.text());
        for (std::string line; std::getline(lines, line);)
            log.write(level, line);
        const std::lock_guard held(mutex);
        drained = r;
        return r;
    }
    /// A call beside the first one: it has the report of that one.
    drain_report join_drain(std::unique_lock<std::mutex>& held, bool in_task) {
        over.notify_all();  // its limit may be the shorter one
        // A task does not wait for the end of the system, which waits for the task.
        over.wait(held, [&] { return drain_over || (in_task && drain_handled); });
        drain_report result = drained;
        const bool is_left_to_end = !in_task && result.in_shutdown;  // the first was in a task
        result.in_shutdown = in_task;
        result.has_ended = ended;
        held.unlock();
        if (is_left_to_end)
            result.has_ended = end(&shutdown_reason::drain);
        return result;
    }
    /// Ends a drain, also one that throws.
    struct drain_end {
        explicit drain_end(parts& p) : of(p) {}
        ~drain_end() {
            const std::lock_guard held(of.mutex);
            of.drain_over = true;
            of.over.notify_all();
        }
        drain_end(const drain_end&) = delete;
        drain_end& operator=(const drain_end&) = delete;
        parts& of;
    };
    void force_stop() noexcept {
        {
            const std::lock_guard held(mutex);
            if (drain_begun && !drain_over) {
                drain_forced = true;
                over.notify_all();
                return;
            }
        }
        terminate();
    }
    /// Of a drain that was forced: what is not handled because its actor ends.
    void count_lost(dead_letter_cause cause) noexcept {
        // Relaxed: counts, read when all has ended.
        if (counts_lost.load(std::memory_order_relaxed) != 0 &&
            (cause == dead_letter_cause::recipient_terminated ||
             cause == dead_letter_cause::shutdown))
            lost_count.fetch_add(1, std::memory_order_relaxed);
    }

    /// What the last phase does.
    void end_actors(std::optional<shutdown_done> done) noexcept {
        listener.begin_shutdown();
        enter(system_phase::stopping);
        {
            const std::lock_guard held(mutex);
            ending = true;
            over.notify_all();
            if (!ended && done)
                tell_ended = std::exchange(done, std::nullopt);
        }
        if (done)
            (*done)();
        world.terminate();
    }

    /// There from the constructor on.
    [[nodiscard]] coordinated_shutdown& the_shutdown() noexcept {
        return *shutdown;  // NOLINT(bugprone-unchecked-optional-access)
    }

    void supervised(const decision& d) noexcept override {
        listener.supervised(world, d);
        if (how.events != nullptr)
            how.events->supervised(d);
    }
    void hook_failed(any_ref who, const char* hook, const failure_cause& why) noexcept override {
        listener.hook_failed(world, who, hook, why);
        if (how.events != nullptr)
            how.events->hook_failed(who, hook, why);
    }
    void unhandled(any_ref who, envelope& message) noexcept override {
        listener.unhandled(world, who, message, how.log_unhandled);
        if (how.events != nullptr)
            how.events->unhandled(who, message);
    }
    void dead_letter(any_ref to, envelope& message, dead_letter_cause cause) noexcept override {
        count_lost(cause);
        listener.lost(world, to, any_ref(message.sender.read()), *message.type.read(), cause);
        if (how.events != nullptr)
            how.events->dead_letter(to, message, cause);
    }
    void message_lost(any_ref to, const message_type& type,
                      dead_letter_cause cause) noexcept override {
        count_lost(cause);
        listener.lost(world, to, {}, type, cause);
        if (how.events != nullptr)
            how.events->message_lost(to, type, cause);
    }
    void timer_warned(const scheduler_warning& what) noexcept override {
        listener.timer_warned(what);
        if (how.events != nullptr)
            how.events->timer_warned(what);
    }
    void pressure(const mailbox_pressure& what) noexcept override {
        services.mailbox_filled(what);
        listener.pressure(world, what);
        if (how.events != nullptr)
            how.events->pressure(what);
    }
    void pool_exhausted(std::uint32_t refused) noexcept override {
        listener.pool_exhausted(refused);
        if (how.events != nullptr)
            how.events->pool_exhausted(refused);
    }
    void deadline_missed(any_ref who, duration late) noexcept override {
        listener.deadline_missed(world, who, late);
        if (how.events != nullptr)
            how.events->deadline_missed(who, late);
    }
    void user_code_failed(user_code where, const failure& why) noexcept override {
        listener.user_code_failed(where, why);
        if (how.events != nullptr)
            how.events->user_code_failed(where, why);
    }
    void guardian_failed(const failure_cause& why) noexcept override {
        {
            const std::lock_guard held(mutex);
            failed = true;
            note_failure(why.text());
        }
        if (how.events != nullptr)
            how.events->guardian_failed(why);
        listener.guardian_failed(why);
        run_shutdown(&shutdown_reason::guardian_failed);
    }
    [[nodiscard]] std::expected<void, spawn_error> place(any_ref parent, std::string_view called,
                                                         spawn_options& where) noexcept override {
        if (names.is_plain() && says_nothing(where)) [[likely]]
            return {};
        try {
            string_sink path;
            world.write_path(parent.index(), path);
            if (path.lost)
                throw std::bad_alloc();
            path.text.erase(0, std::string_view("tactus://").size() + name.size());
            path.text += '/';
            // One that no user can give, so that patterns fit it, and no path of a named actor.
            path.text += called.empty() ? std::string_view("$") : called;
            auto found = all.place(path.text, where);
            if (found) {
                where = *found;
                return {};
            }
            return std::unexpected(runtime::spawn_refusal::of(found.error()));
        } catch (const std::bad_alloc&) {
            return std::unexpected(spawn_error{spawn_error::kind::memory_exhausted,
                                               "no memory to find the actor's dispatcher"});
        }
    }
    [[nodiscard]] std::string_view dispatcher_id(std::uint32_t number) const noexcept override {
        return all.id_of(number);
    }
    void world_ended() noexcept override {
        // Before any code of the user's is told of the end, so that none waits for an answer.
        owed.close();
        if (how.events != nullptr)
            how.events->world_ended();
        {
            const std::lock_guard held(mutex);
            callbacks_taken = true;
            // Code of the user's does not hold a worker up, nor does who fires, which may be the
            // driver, end the driver and the timers.
            services.tasks().close();
            if (!callbacks.empty() || services.tasks().count() != 0 ||
                tactus::scheduler::fires_here()) {
                caller.begin();
                return;
            }
        }
        close_timers();
        note_end();
    }
    /// SH-5: after the actors, before the executors.
    void close_timers() noexcept {
        driver.stop();
        runtime::closing_thread runner(
            std::chrono::nanoseconds(how.scheduler.shutdown_timeout.ns()));
        const close_report report = timers.shutdown(&runner);
        if (report.empty())
            return;
        char text[400];
        log.write(report.is_clean() ? log_level::info : log_level::warning, describe(report, text));
    }
    void call_callbacks() noexcept {
        for (auto& call : std::views::reverse(callbacks)) {
            try {
                call();
            } catch (...) {
                continue;  // the others are called all the same
            }
        }
        callbacks.clear();
        close_timers();
        note_end();
    }
    void note_end() noexcept {
        std::optional<shutdown_done> done;
        {
            // Before `ended`: from then on this may be destroyed.
            const std::lock_guard held(mutex);
            has_ended.set_value();
            ended = true;
            phase = system_phase::stopped;
            done = std::exchange(tell_ended, std::nullopt);
            over.notify_all();
        }
        if (done)
            (*done)();
    }

    /// False: it is not to be run, or there is no memory for it.
    bool run_shutdown(shutdown_reason (*why)()) noexcept {
        if (!how.shutdown.run_by_terminate)
            return false;
        try {
            (void)the_shutdown().run(why());
            return true;
        } catch (...) {
            return false;
        }
    }
    void terminate(shutdown_reason (*why)() = &shutdown_reason::system_terminate) noexcept {
        // One that ran for another reason may have left the actors alone.
        if (!run_shutdown(why) || !the_shutdown().ends_actors())
            end_actors({});
    }
    /// True when the actors have ended in time.
    bool end(shutdown_reason (*why)() = &shutdown_reason::system_terminate) {
        terminate(why);
        std::unique_lock held(mutex);
        // The tasks have their own limits.
        const auto tasks = runtime::sum_of(the_shutdown().total_timeout(), std::chrono::seconds(1));
        (void)detail::wait_at_most(over, held, tasks,
                                   [this] { return ending || ended || shut_down; });
        if (!ending) {
            held.unlock();
            end_actors({});
            held.lock();
        }
        return detail::wait_at_most(over, held, how.shutdown_limit, [this] { return ended; });
    }

    runtime::fork_watch forks;  // first: a forked child makes nothing
    std::string name;
    options how;
    runtime::log_flush logs_at_the_end;
    runtime::steady_clock own_time;
    const clock& time;
    port_local_slot<64> own_local;
    runtime::system_log own_log;
    logger log;
    runtime::system_listener listener;
    runtime::spare_memory spare;
    runtime::spare_memory::source heap;   // sure while the system is built
    runtime::spare_memory::source lanes;  // and for good
    runtime::scheduler_memory memory;
    runtime::system_driver driver;
    full_scheduler_services services;
    runtime::timer_memory timer_blocks;
    tactus::scheduler timers;
    resolver names;
    std::map<std::string, tactus::timer_policy, std::less<>> dispatcher_policies;  // by id
    detail::owed_answers owed;  // outlives the actors that replies come to
    actor_world world;
    runtime::diagnostic_events diagnostic_events;
    bool names_filled;  // before dispatchers ask
    actor_scheduler kernel;
    /// What dispatchers tell, as lines and events.
    struct dispatcher_listener final : dispatcher_events {
        explicit dispatcher_listener(parts& p) : of(p) {}
        void executor_rejected(const dispatcher&, const rejection&) noexcept override {}
        void dispatcher_backpressure(const dispatcher&, std::uint32_t, bool) noexcept override {}
        void dispatcher_starved(const dispatcher& where, const starvation& what) noexcept override {
            of.listener.starved(of.all.id_of(where.number()), what.waiting, what.workers_busy);
            of.publish(starvation_warning{{}, where.number(), what.waiting, what.workers_busy});
        }
        void handler_slow(const dispatcher& where, const slow_handler& what) noexcept override {
            const any_ref who(what.who);
            of.listener.handler_slow(of.world, who, of.all.id_of(where.number()), what.worker,
                                     what.running);
            of.publish(slow_handler_warning{{who}, where.number(), what.worker, what.running});
        }
        parts& of;
    };
    template <class Event>
    void publish(const Event& e) noexcept {
        if (!world.events().is_empty())
            world.events().publish(e);
    }
    dispatcher_listener dispatcher_told{*this};
    runtime::dispatchers all;

    /// Drives the kernel while it lives.
    struct driving_scope {
        explicit driving_scope(parts& p) : driver(p.driver) {
            driver.start(p.kernel, p.all.keeper());
        }
        ~driving_scope() { driver.stop(); }
        driving_scope(const driving_scope&) = delete;
        driving_scope& operator=(const driving_scope&) = delete;
        runtime::system_driver& driver;
    };

    port::atomic<std::uint32_t> counts_lost{0};  // see count_lost
    port::atomic<std::uint32_t> lost_count{0};
    std::promise<void> has_ended;
    std::shared_future<void> end_of_it = has_ended.get_future().share();
    mutable std::mutex mutex;
    std::condition_variable over;
    // Under the lock.
    bool ending = false;     // the actors are being stopped
    bool ended = false;      // they have, and the callbacks were called
    bool shut_down = false;  // the shutdown has run
    bool failed = false;
    system_phase phase = system_phase::running;
    bool drain_begun = false;
    bool drain_forced = false;
    bool drain_handled = false;  // nothing is left to handle, or it was forced
    bool drain_over = false;
    deadline drain_until;
    drain_report drained;  // drain_handled, drain_over: of the first call, as far as it is
    std::string failure_text;
    std::optional<shutdown_done> tell_ended;
    std::unique_ptr<runtime::signal_watch> signals;
    bool callbacks_taken = false;
    std::vector<std::function<void()>> callbacks;  // taken: the caller's
    runtime::ending_thread caller{[this] { call_callbacks(); }};
    driving_scope driving;  // its thread uses what is above
    // Its thread uses everything above.
    std::optional<coordinated_shutdown> shutdown;
};

actor_system::actor_system(std::string_view name, const options& o)
    : parts_(std::make_unique<parts>(name, o)), world_(&parts_->world) {}

namespace {

/// Of systems that a forked child was told to end: reachable, for tools that look for leaks.
constinit void* left_in_parent = nullptr;

}  // namespace

actor_system::~actor_system() {
    if (in_forked_child()) {
        left_in_parent = parts_.release();  // its threads are in the parent: nothing can be ended
        return;
    }
    if (parts_->end()) {
        parts_->leave_signals();
        parts_->shutdown.reset();
        parts_->caller.join();
        parts_->driver.stop();
        // SH-1, SH-5: what was due when the timers closed is in the queues of the dispatchers.
        (void)parts_->all.finish_tasks(parts_->how.shutdown_limit);
        parts_->all.force_stop();
        parts_->world.sweep();
        return;
    }
    parts_->leave_signals();
    parts_->owed.close();
    // An actor is still running: its thread cannot be joined.
    std::fprintf(stderr, "tactus: system '%s' did not end within its limit; left are:\n%s\n",
                 parts_->name.c_str(), dump().c_str());
    if (parts_->timers.shutdown_progress().still_running != 0) {
        char text[400];
        const std::string_view line = parts_->timers.describe_shutdown(text);
        std::fprintf(stderr, "tactus: %.*s\n", static_cast<int>(line.size()), line.data());
    }
    if (parts_->how.then == at_limit::abort)
        std::abort();
    // NOLINTNEXTLINE(bugprone-unchecked-optional-access): only the destructor ends it, above
    parts_->shutdown->abandon();
    (void)parts_.release();  // kept for its threads
}

bool actor_system::in_forked_child() const noexcept {
    return parts_->forks.in_child();
}
std::optional<spawn_error> actor_system::spawn_refused() const noexcept {
    if (in_forked_child())
        return spawn_error{spawn_error::kind::forked_child,
                           "this process was forked: the system is in its parent"};
    if (is_refused_by_drain())
        return spawn_error{spawn_error::kind::draining,
                           "the system drains: it takes no actors from outside any more"};
    return std::nullopt;
}
std::optional<ask_error::kind> actor_system::ask_refused() const noexcept {
    if (in_forked_child())
        return ask_error::kind::forked_child;
    if (is_refused_by_drain())
        return ask_error::kind::draining;
    return std::nullopt;
}
bool actor_system::is_refused_by_drain() const noexcept {
    const std::uint32_t number = parts_->kernel.system_number();
    const worker* own = worker::current();
    return system_table::is_door_shut(number) && !system_table::is_inside(number) &&
           (own == nullptr || &own->system() != &parts_->kernel);
}

drain_report actor_system::drain(std::chrono::nanoseconds limit) {
    if (in_forked_child())
        return {.what = drain_report::outcome::forked_child};
    if (!may_wait_here())
        return {.what = drain_report::outcome::would_block_worker};
    return parts_->drain(limit);
}
void actor_system::force_stop() noexcept {
    if (!in_forked_child())
        parts_->force_stop();
}

void actor_system::terminate() noexcept {
    if (!in_forked_child())
        parts_->terminate();
}

std::shared_future<void> actor_system::when_terminated() const {
    return parts_->end_of_it;
}

bool actor_system::on_terminated(std::function<void()> call) {
    if (in_forked_child())
        return false;
    const std::lock_guard held(parts_->mutex);
    if (parts_->callbacks_taken)
        return false;
    parts_->callbacks.push_back(std::move(call));
    return true;
}

coordinated_shutdown& actor_system::shutdown() noexcept {
    return parts_->the_shutdown();
}

void actor_system::watch_end(actor_world& world, any_ref who, const shutdown_done& done) {
    auto r = detail::request_for<detail::end_watch>(world.memory(), {}, {}, done, who);
    if (!r || !world.spawn_orphan(*r))
        done.fail("no actor could be made that watches it");
}

bool actor_system::may_watch_end(const actor_world& world, any_ref who, const shutdown_done& done) {
    const bool is_foreign = world.is_foreign(who.index());
    if (is_foreign)
        done.fail("it is an actor of another system");
    return !is_foreign;
}

bool actor_system::may_wait_here() noexcept {
    return worker::current() == nullptr && !tactus::scheduler::fires_here();
}

detail::owed_answers& actor_system::owed_answers() noexcept {
    return parts_->owed;
}

bool actor_system::wait(std::chrono::nanoseconds limit) {
    if (!may_wait_here() || in_forked_child())
        return false;
    std::unique_lock held(parts_->mutex);
    return detail::wait_at_most(parts_->over, held, limit, [this] { return parts_->ended; });
}

std::string actor_system::dump(dump_format format) {
    if (in_forked_child())
        return left_behind(format);
    string_sink to;
    if (const system_phase now = parts_->phase_now();
        now != system_phase::running && format == dump_format::text) {
        to.write("phase ");
        to.write(name_of(now));
        to.write("\n");
    }
    world_->dump(to, {.format = format});
    return to.take();
}

std::string actor_system::dump_scheduler(dump_format format) {
    if (in_forked_child())
        return left_behind(format);
    string_sink to;
    parts_->timers.dump(to, format);
    return to.take();
}

std::string actor_system::path_of(any_ref who) {
    if (in_forked_child() || !who)
        return {};
    string_sink to;
    if (world_->is_foreign(who.index()))
        (void)actor_world::write_path_elsewhere(who.index(), to);
    else
        world_->write_path(who.index(), to);
    return to.take();
}
std::string_view actor_system::name() const noexcept {
    return parts_->name;
}
system_info actor_system::info() const noexcept {
    if (in_forked_child())
        return {.name = parts_->name, .phase = {}, .driver = {}, .measured = {}};
    return {.name = parts_->name,
            .phase = parts_->phase_now(),
            .driver = parts_->driver.view(),
            .measured = parts_->driver.metrics()};
}
int actor_system::exit_code() const noexcept {
    if (in_forked_child())
        return 0;
    const std::lock_guard held(parts_->mutex);
    return parts_->failed ? 70 : parts_->the_shutdown().exit_code();
}
std::string actor_system::failure_text() const {
    if (in_forked_child())
        return {};
    const std::lock_guard held(parts_->mutex);
    return parts_->failure_text;
}
toolbox actor_system::tools() const noexcept {
    toolbox t = parts_->how.tools;
    t.time = &parts_->time;
    if (t.local == nullptr)
        t.local = &parts_->own_local;
    if (t.log == nullptr)
        t.log = &parts_->own_log;
    return t;
}
logger& actor_system::log() noexcept {
    return parts_->log;
}
runtime::dispatchers& actor_system::dispatchers() noexcept {
    return parts_->all;
}

ask_error actor_system::ask_failed(ask_error::kind what, any_ref target,
                                   std::chrono::nanoseconds after, std::string_view type) {
    return {what, target, after, type, path_of(target)};
}

}  // namespace tactus::inline v0
