// SPDX-License-Identifier: Apache-2.0
//
// Virtual world: actors on the calling thread, with a clock that moves only when the world is asked
// to run. What kits are made of.
//
// Nothing happens but in run_until and what calls it, so a test sees the same every time. Time goes
// from deadline to deadline: whoever is due runs at its time, in the order of the wheel, and whom
// that makes ready runs before time goes on (PK-TST-1). A world that is never idle is told as a
// failed expectation, after `runs_max` runs, of one message each, without time passing.
//
// Its scheduler is a whole one: it warns, has diagnostics, policies, a gauge and on-close tasks,
// and is configured as that of a system, only that its clock is the world's.
//
// Thread safety: none; one thread has it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <expected>
#include <functional>
#include <map>
#include <optional>
#include <source_location>
#include <string>
#include <string_view>
#include <utility>

#include <tactus/actor/actor_world.hpp>
#include <tactus/actor/log.hpp>
#include <tactus/dispatch/inline_tick.hpp>
#include <tactus/runtime/diagnostic_events.hpp>
#include <tactus/runtime/heap_memory.hpp>
#include <tactus/runtime/scheduler_memory.hpp>
#include <tactus/runtime/timer_memory.hpp>
#include <tactus/scheduler/scheduler_config.hpp>
#include <tactus/scheduler/scheduler_services.hpp>
#include <tactus/scheduler/timer_policy.hpp>
#include <tactus/time/manual_clock.hpp>

namespace tactus::inline v0::test {

/// What an actor failed with that threw nothing.
class actor_failure : public std::runtime_error {
public:
    explicit actor_failure(const failure_cause& why)
        : std::runtime_error(std::string(name_of(why.kind())) + ": " + std::string(why.text())),
          kind_(why.kind()),
          code_(why.code()) {}
    [[nodiscard]] failure_kind kind() const noexcept { return kind_; }
    [[nodiscard]] std::int32_t code() const noexcept { return code_; }

private:
    failure_kind kind_;
    std::int32_t code_;
};

class virtual_world final : private world_events {
public:
    struct options {
        std::string name = "test";
        // As those of an actor_system.
        supervisor_strategy guardian_strategy = supervision_defaults();
        const restart_pacing* pacing = supervision_defaults().pacing;
        world_events* events = nullptr;  // is told what the world says; outlives it
        effect_recorder* recorder = nullptr;
        std::uint32_t actors_max = 1U << 14U;
        std::uint32_t messages_max = 1U << 18U;
        std::uint32_t timers_max = 1U << 18U;
        std::size_t runs_max = 1'000'000;
        // As those of an actor_system; std::invalid_argument: something is wrong with them.
        scheduler_config scheduler = {};  // the clock's kind is the world's
        tactus::timer_policy timer_policy = {};
        bool places = false;  // `events` is asked where actors run (world_events::place)
        // Gets the lines of context().log() and of failures; outlives the world. Null: none.
        log_sink* log = nullptr;
        tactus::log_level log_level = tactus::log_level::info;
    };
    explicit virtual_world(options o);
    ~virtual_world();
    virtual_world(const virtual_world&) = delete;
    virtual_world& operator=(const virtual_world&) = delete;

    [[nodiscard]] actor_world& world() noexcept { return world_; }
    [[nodiscard]] scheduler& timers() noexcept { return timers_; }
    [[nodiscard]] instant now() const noexcept { return time_.now(); }
    /// Until nobody has anything to do now.
    void run_until_idle(std::source_location where = std::source_location::current()) {
        (void)run_until(time_.now(), {}, where);
    }
    /// Runs, and lets time pass, until `ready` or `until`. What `ready` said last.
    bool run_until(instant until, const std::function<bool()>& ready,
                   std::source_location where = std::source_location::current());
    /// Time passes, and nobody runs, as if the machine had stood still. Not negative.
    void stall(duration d) { (void)time_.advance(d); }
    /// Ends everybody; false: somebody is left.
    [[nodiscard]] bool end(std::source_location where = std::source_location::current());
    [[nodiscard]] bool ended() const noexcept { return ended_; }
    [[nodiscard]] bool lives(any_ref who) noexcept;

    /// What `who` failed with since this was last asked: throws it.
    void rethrow_failure(any_ref who);
    /// The same, as a value; null: it did not.
    [[nodiscard]] std::exception_ptr take_failure(any_ref who);
    /// The latest failures that no test was given (rethrow_failure), for the text of an expectation
    /// that is not met: "; recent failures: ...", empty when there are none. They are told once.
    [[nodiscard]] std::string take_recent_failures();

private:
    void supervised(const decision& d) noexcept override;
    void hook_failed(any_ref who, const char* hook, const failure_cause& why) noexcept override;
    void unhandled(any_ref who, envelope& message) noexcept override;
    void dead_letter(any_ref to, envelope& message, dead_letter_cause cause) noexcept override;
    void message_lost(any_ref to, const message_type& type,
                      dead_letter_cause cause) noexcept override;
    void pressure(const mailbox_pressure& what) noexcept override;
    void pool_exhausted(std::uint32_t refused) noexcept override;
    void deadline_missed(any_ref who, duration late) noexcept override;
    void user_code_failed(user_code where, const failure& why) noexcept override;
    void timer_warned(const scheduler_warning& what) noexcept override;
    void guardian_failed(const failure_cause& why) noexcept override;
    void world_ended() noexcept override;
    std::expected<void, spawn_error> place(any_ref parent, std::string_view name,
                                           spawn_options& how) noexcept override;

    options how_;
    runtime::heap_memory heap_;
    runtime::scheduler_memory memory_;
    manual_clock time_{duration::from_ns(1)};
    runtime::timer_memory timer_blocks_;
    logger log_;
    port_local_slot<64> local_;
    full_scheduler_services services_;
    scheduler timers_;
    actor_world world_;
    runtime::diagnostic_events diagnostic_events_;
    actor_scheduler kernel_;
    inline_tick ticks_;
    bool ended_ = false;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::exception_ptr>
        failures_;  // by slot, life
    struct recent_failure {
        any_ref who;
        std::string text;
    };
    static constexpr std::size_t recent_max = 8;
    std::deque<recent_failure> recent_;  // the latest last
    std::size_t forgotten_ = 0;          // that were before them
};

}  // namespace tactus::inline v0::test
