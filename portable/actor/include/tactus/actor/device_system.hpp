// SPDX-License-Identifier: Apache-2.0
//
// Device system: actors on one worker in one array, without heap, exceptions and threads. The same
// on a microcontroller, in a simulation with a clock that is set by hand, and in a program that has
// a loop of its own.
//
//     constexpr tactus::device_config config{.actors_max = 3};
//     alignas(16) static std::byte room[tactus::device_system::required_bytes(config)];
//
//     auto system = tactus::device_system::create("blinky", {.time = &clock, .memory = room},
//                                                 config);
//     auto led = system->spawn<led_actor>("led", 13);
//     system->run();
//
// Everything that can be missing is said by a value; nothing is thrown, and nothing is taken from
// anywhere but the array. How large it must be is known when compiling.
//
// Thread safety: create, run and the end belong to one thread; the rest is for any. Interrupt
// handlers notify the tick source, and nothing else.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include <tactus/actor/actor.hpp>
#include <tactus/actor/actor_world.hpp>
#include <tactus/actor/behavior.hpp>
#include <tactus/actor/toolbox.hpp>
#include <tactus/dispatch/arena.hpp>
#include <tactus/dispatch/dump.hpp>
#include <tactus/dispatch/inline_tick.hpp>
#include <tactus/dispatch/lent_workers.hpp>
#include <tactus/scheduler/driver_keeper.hpp>

namespace tactus::inline v0 {

/// What a device system has room for. The default is the micro profile.
struct device_config {
    std::uint32_t actors_max = 8;     // at once, beside the guardians
    std::uint32_t messages_max = 16;  // in flight at once
    std::uint32_t timers_max = 64;    // at once; 0: actors have no timers, and there is no wheel
    std::uint32_t overflow_max = 16;  // of those, how many may be more than a day away
    duration resolution = duration::from_ms(1);  // of timers
    // What an actor takes of the array beside its slot, on average: its name, arguments, timers,
    // children that failed, watches; instances that do not fit a slot.
    std::size_t bytes_per_actor = 32 * sizeof(void*);
    std::size_t spare_bytes = 0;  // for everything else: large messages, subscriptions
    std::optional<std::uint32_t> throughput = {};
    supervisor_strategy guardian_strategy = {};
    const restart_pacing* pacing = nullptr;  // SV-5: of parents without `supervision()`
    tactus::log_level log_level = tactus::log_level::info;
    world_events* events = nullptr;  // is told what happens; outlives the system
    // Dumps by message and samples: &all_services. Null: none, and less code.
    const system_services* services = nullptr;
    // Of the scheduler, as scheduler_config has them.
    zero_delay_rule zero_delay = zero_delay_rule::reject;
    std::optional<duration> catch_up = {};  // none: the default of the clock's kind
    std::uint32_t chunk_ticks = 1'024;
    std::uint32_t adaptive_quota_divisor = 2;
    std::uint32_t cooldown_ticks = 5;
    duration shutdown_timeout = duration::from_s(5);
    // What stands beside it: diagnostics, gauge, policies, on-close tasks; outlives the system.
    // Null: none, and less code.
    scheduler_services* timer_services = nullptr;
    driver_policy driver_stops = {};  // what becomes of a driver that stops by itself
};

struct device_error {
    enum class kind : std::uint8_t {
        arena_too_small,  // needed and given say by how much
        no_clock,
        name_invalid,
        resolution_invalid,
        capacity_invalid,
        driver_failed,      // the tick driver does not start: driver says why
        scheduler_invalid,  // a setting of the scheduler: scheduler says which, value and limit
    };
    kind what = kind::arena_too_small;
    std::size_t needed = 0;
    std::size_t given = 0;
    tick_driver_error driver = {};
    scheduler_config_error scheduler = {};
};
inline constexpr std::size_t device_error_count = 7;
[[nodiscard]] const char* name_of(device_error::kind what) noexcept;
/// One line for people.
[[nodiscard]] const char* text_of(device_error::kind what) noexcept;

class device_system {
    struct timing;
    struct parts;

public:
    /// Bytes of an array that is aligned as std::max_align_t, or less: what a system with this
    /// config takes.
    [[nodiscard]] static constexpr std::size_t required_bytes(const device_config& c) noexcept;

    /// Builds a system, or says why not. `name` outlives it.
    [[nodiscard]] static std::expected<device_system, device_error> create(
        std::string_view name, const toolbox& tools, const device_config& c = {}) noexcept;
    device_system(device_system&& other) noexcept : parts_(std::exchange(other.parts_, nullptr)) {}
    device_system& operator=(device_system&&) = delete;
    /// Ends all actors, children before parents, and closes what is left after a while. The driver
    /// drives until they have ended. Requires: not called within an actor; an executor gives its
    /// task back, or runs it meanwhile.
    ~device_system();

    // ---- actors: any thread

    /// A top-level actor.
    template <class A, class... Args>
    [[nodiscard]] std::expected<detail::ref_of<A>, spawn_error> spawn(std::string_view name,
                                                                      Args&&... args) {
        static_assert(detail::constructor_arguments<A, Args...>::met);
        return try_spawn<A>(name, {}, std::forward<Args>(args)...);
    }
    /// One made of functions (AC-3).
    template <class... Ms>
    [[nodiscard]] std::expected<actor_ref<Ms...>, spawn_error> spawn(behavior<Ms...> first,
                                                                     std::string_view name = {}) {
        return spawn<functional_actor<Ms...>>(name, std::move(first));
    }
    template <class A, class... Args>
    [[nodiscard]] std::expected<detail::ref_of<A>, spawn_error> try_spawn(std::string_view name,
                                                                          const spawn_options& how,
                                                                          Args&&... args) {
        static_assert(detail::constructor_arguments<A, Args...>::met);
        return detail::spawn_by<A>(
            world(), [&](const actor_world::spawn_request& r) { return world().spawn_top(r); },
            name, how, std::forward<Args>(args)...);
    }
    /// Ends an actor after what it is doing. False when it has ended.
    bool stop(any_ref who) noexcept { return world().stop(who.index()); }
    /// AC-7: actors by a path; see actor_selection.hpp.
    [[nodiscard]] actor_selection select(std::string_view path) noexcept {
        return world().select(path);
    }
    void write_path(any_ref who, text_sink& to) noexcept { world().write_path(who.index(), to); }
    /// EV-5, OH-6: dispatchers, and actors with their paths, states and queues, as text that goes
    /// over any port.
    void dump(text_sink& to, const dump_options& o = {}) noexcept { world().dump(to, o); }
    [[nodiscard]] std::string_view name() const noexcept;

    // ---- running: the owner's thread; with an executor there is nothing to run

    /// One run of one mailbox. False when nothing is ready, or when it is called from within one.
    /// Before that it takes the ticks that were counted, and sees to a driver that has stopped.
    bool run_once() noexcept;
    /// Until nothing is ready, or `max` runs; how many. Each as run_once.
    std::size_t run_until_idle(std::size_t max = std::numeric_limits<std::size_t>::max()) noexcept;
    /// Runs what is ready, and sleeps in between, until everything has ended. With a tick source it
    /// looks after every tick; without one it sleeps until a deadline, or until another thread
    /// sends something. A clock that is set by hand is moved by nobody meanwhile: then it returns
    /// when nothing is ready.
    void run() noexcept;

    // ---- the end: any thread

    /// Begins to stop everything; whoever runs the system ends it.
    void terminate() noexcept { world().terminate(); }
    /// The last actor has ended.
    [[nodiscard]] bool has_ended() const noexcept;
    /// SV-5: a failure ended the system. The first one's text; empty: none did.
    [[nodiscard]] std::string_view failure_text() const noexcept;

    // ---- parts

    /// How far behind the ticks it is, by those that were taken last and those that wait; ok where
    /// nobody counts ticks.
    [[nodiscard]] tick_status ticks() const noexcept;
    /// TS-9: who makes time pass here; without a name where no driver was given.
    [[nodiscard]] driver_view driver() const noexcept;
    [[nodiscard]] logger& log() noexcept;
    [[nodiscard]] tactus::arena& memory() noexcept;
    [[nodiscard]] const toolbox& tools() const noexcept;
    [[nodiscard]] actor_world& world() noexcept;

private:
    TACTUS_CHECK_MODULE("device_system");

    static constexpr std::uint32_t guardians = 3;
    static constexpr std::uint32_t reserve_for_system = 4;
    static constexpr std::uint32_t magazine = 1;  // of envelopes: two wait with who does not send
    static constexpr std::size_t end_runs_max = 100'000;
    static constexpr std::size_t failure_size_max = port::cache_line < 8 ? 48 : 256;

    [[nodiscard]] static constexpr std::uint32_t slots_of(const device_config& c) noexcept {
        return c.actors_max + guardians;
    }
    [[nodiscard]] static constexpr std::uint32_t envelopes_of(const device_config& c) noexcept {
        return c.messages_max + 2 * magazine;
    }
    [[nodiscard]] static constexpr std::size_t region_alignment(std::size_t of) noexcept {
        return of < fixed_memory::alignment ? fixed_memory::alignment : of;
    }
    /// Of what is in flight, and the lanes: as few as do for so many actors.
    [[nodiscard]] static constexpr actor_scheduler::options kernel_options(
        const device_config& c) noexcept {
        const std::uint32_t all = std::bit_ceil(slots_of(c));
        return {.slot_capacity = slots_of(c),
                .envelope_capacity = envelopes_of(c),
                .reserve_for_system = reserve_for_system,
                .slot_magazine = 0,
                .envelope_magazine = magazine,
                .throughput = c.throughput,
                .ring_capacity = all < 512 ? all / 2 : 256,  // the queue has what does not fit
                .fresh_capacity = all < 512 ? all / 4 : 256,
                .queue_capacity = all,
                .keyed_capacity = 1,
                .suspension_capacity = 1};
    }

    explicit device_system(parts* p) noexcept : parts_(p) {}

    parts* parts_;
};

/// A scheduler with its memory.
struct device_system::timing {
    struct memory {
        std::span<std::byte> jobs;
        std::span<std::byte> nodes;
        std::span<std::byte> overflow;
        memory_source* large = nullptr;
        scheduler_listener* told = nullptr;
    };
    timing(const device_config& c, const toolbox& tools, const memory& m) noexcept
        : jobs(m.jobs),
          nodes(m.nodes),
          overflow(m.overflow),
          service({.time = tools.time,
                   .config = config_of(c, *tools.time),
                   .jobs = &jobs,
                   .nodes = &nodes,
                   .overflow = &overflow,
                   .memory = m.large,
                   .slot = tools.local,
                   .listener = m.told,
                   .services = c.timer_services}) {}

    [[nodiscard]] static scheduler_config config_of(const device_config& c,
                                                    const clock& time) noexcept {
        scheduler_config made = scheduler_config::for_clock(time.kind());
        made.resolution = c.resolution;
        made.profile = scheduler_profile::custom;
        made.custom = {c.timers_max, c.overflow_max, 1};
        made.zero_delay = c.zero_delay;
        made.catch_up = c.catch_up;
        made.chunk_ticks = c.chunk_ticks;
        made.adaptive_quota_divisor = c.adaptive_quota_divisor;
        made.cooldown_ticks = c.cooldown_ticks;
        made.shutdown_timeout = c.shutdown_timeout;
        return made;
    }

    fixed_memory jobs;
    fixed_memory nodes;
    fixed_memory overflow;
    scheduler service;
};

struct device_system::parts final : world_events, tick_host, driver_source, scheduler_listener {
    parts(std::string_view name, const toolbox& t, const device_config& c,
          std::span<std::byte> rest) noexcept;

    void supervised(const decision& d) noexcept override;
    void hook_failed(any_ref who, const char* hook, const failure_cause& why) noexcept override;
    void unhandled(any_ref who, envelope& message) noexcept override;
    void dead_letter(any_ref to, envelope& message, dead_letter_cause cause) noexcept override;
    void message_lost(any_ref to, const message_type& type,
                      dead_letter_cause cause) noexcept override;
    void timer_warned(const scheduler_warning& what) noexcept override;
    void pressure(const mailbox_pressure& what) noexcept override;
    void guardian_failed(const failure_cause& why) noexcept override;
    void world_ended() noexcept override;

    [[nodiscard]] std::span<std::byte> take(std::size_t size, std::size_t alignment) noexcept;
    [[nodiscard]] timing* make_timing(const device_config& c) noexcept;
    [[nodiscard]] actor_scheduler::options filled(const device_config& c) noexcept;
    void pull_ticks() noexcept;
    void look_at_clock() noexcept;
    void sleep_for_tick() noexcept;
    void sleep_for_work() noexcept;
    /// What is done between two runs: the time that has passed, and who makes it pass.
    void look_around() noexcept {
        if (pulls)
            pull_ticks();
        else
            look_at_clock();
        tend_driver();
    }
    void close_timers() noexcept;

    // The driver's host.
    [[nodiscard]] std::expected<void, tick_driver_error> start_driver() noexcept;
    /// Sees to one that has stopped.
    void tend_driver() noexcept;
    [[nodiscard]] const clock& time() const noexcept override { return *tools.time; }
    [[nodiscard]] duration resolution() const noexcept override { return tick_length; }
    [[nodiscard]] tick_source* ticks() noexcept override { return tools.ticks; }
    [[nodiscard]] bool acts() const noexcept override;
    [[nodiscard]] instant next_act() noexcept override;
    bool act(instant now) noexcept override;
    void driver_stopped(tick_driver_error why) noexcept override;
    void warned(const scheduler_warning& what) noexcept override;
    [[nodiscard]] driver_view view() const noexcept override {
        return driver ? driver->view() : driver_view{};
    }

    toolbox tools;
    world_events* also;
    scheduler_services* services;  // null: none
    tactus::arena memory;
    logger log;
    timing* timers;  // null: none
    fixed_memory slots;
    fixed_memory envelopes;
    actor_world world;
    actor_scheduler kernel;
    std::optional<inline_tick> loop;  // unless there is an executor
    std::optional<lent_workers> lent;
    std::optional<tick_source::lease> pulls;
    duration tick_length;
    std::optional<driver_keeper> driver;
    // 1: the driver is to be seen to. Told by any thread of the driver's; relaxed, what it needs is
    // under the keeper's lock.
    port::atomic<std::uint32_t> driver_ended{0};
    // 1: the last actor has ended. Relaxed: the owner's thread ran it, or looks again.
    port::atomic<std::uint32_t> ended{0};
    port::atomic<std::uint32_t> bell{0};  // to sleep on
    // For a moment each: who runs the world ends it, who owns the system pulls its ticks.
    mutable port::mutex mutex;
    // Under the lock, and so is the lease.
    char failure[failure_size_max] = {};
    std::size_t failure_size = 0;  // constant once it is not 0
};

constexpr std::size_t device_system::required_bytes(const device_config& c) noexcept {
    memory_plan p;
    p.block(slots_of(c) * sizeof(slot), region_alignment(alignof(slot)))
        .block((envelopes_of(c) + reserve_for_system) * sizeof(envelope),
               region_alignment(alignof(envelope)))
        .plus(actor_scheduler::plan(kernel_options(c)))
        .plus(actor_world::plan())
        .plus(lent_workers::plan(1))
        .block(c.bytes_per_actor, 1, c.actors_max)
        .block(c.spare_bytes, 1);
    if (c.timers_max != 0)
        p.objects<timing>()
            .block(job_store::bytes(scheduler::cells_for(c.timers_max)),
                   region_alignment(alignof(detail::job)))
            .block(scheduler_wheel::node_bytes(c.timers_max), fixed_memory::alignment)
            .block(scheduler_wheel::overflow_bytes(c.overflow_max), fixed_memory::alignment);
    // Where the array begins may cost the rest of an alignment, and where the arena does.
    return p.bytes() + sizeof(parts) + alignof(parts) + memory_plan::granule;
}

}  // namespace tactus::inline v0
