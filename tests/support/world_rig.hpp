// SPDX-License-Identifier: Apache-2.0
//
// A world of actors on one thread with a clock that is set by hand, for portable tests: what was
// told is what happened, in order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <string_view>
#include <utility>

#include <tactus/actor/actor.hpp>
#include <tactus/actor/actor_world.hpp>
#include <tactus/dispatch/inline_tick.hpp>
#include <tactus/scheduler/scheduler.hpp>
#include <tactus/time/manual_clock.hpp>

#include "kernel_rig.hpp"

namespace tactus_test {

/// What a world said.
struct noted_world final : tactus::world_events {
    struct decided {
        tactus::directive what;
        tactus::failure_kind why;
    };
    void supervised(const decision& d) noexcept override {
        if (decision_count < 16)
            decisions[decision_count] = {d.what, d.why->kind()};
        ++decision_count;
    }
    void hook_failed(tactus::any_ref, const char*, const tactus::failure_cause&) noexcept override {
        ++hooks_failed;
    }
    void unhandled(tactus::any_ref, tactus::envelope&) noexcept override { ++unhandled_count; }
    void dead_letter(tactus::any_ref, tactus::envelope& message,
                     tactus::dead_letter_cause) noexcept override {
        if (const int* n = message.get_if<int>(); n != nullptr && dead_letters < 16)
            dead_numbers[dead_letters] = *n;
        ++dead_letters;
        if (on_dead_letter != nullptr)
            on_dead_letter(message);
    }
    void pressure(const tactus::mailbox_pressure&) noexcept override { ++pressures; }
    void pool_exhausted(std::uint32_t) noexcept override { ++exhaustions; }
    void deadline_missed(tactus::any_ref, tactus::duration) noexcept override { ++deadlines; }
    void user_code_failed(tactus::user_code, const tactus::failure&) noexcept override {
        ++user_code_failures;
    }
    void guardian_failed(const tactus::failure_cause&) noexcept override { ++guardian_failures; }
    void world_ended() noexcept override { ++ended; }

    decided decisions[16] = {};
    std::uint32_t decision_count = 0;
    std::uint32_t hooks_failed = 0;
    std::uint32_t unhandled_count = 0;
    std::uint32_t dead_letters = 0;
    int dead_numbers[16] = {};  // of those that are numbers
    void (*on_dead_letter)(tactus::envelope& message) noexcept = nullptr;
    std::uint8_t pressures = 0;
    std::uint8_t exhaustions = 0;
    std::uint8_t deadlines = 0;
    std::uint8_t user_code_failures = 0;
    std::uint32_t guardian_failures = 0;
    std::uint32_t ended = 0;
};

/// Timers, where there is room for a wheel.
template <bool Roomy>
class rig_timers {
public:
    rig_timers(const tactus::clock&, tactus::memory_source&, tactus::memory_region*) noexcept {}
    [[nodiscard]] tactus::scheduler* service() noexcept { return nullptr; }
};
template <>
class rig_timers<true> {
    using wheel = tactus::scheduler_wheel;
    static constexpr std::uint32_t count = 1'000;

public:
    /// `nodes`: instead of its own; there is no quota then, and what they refuse is refused.
    rig_timers(const tactus::clock& time, tactus::memory_source& memory,
               tactus::memory_region* nodes) noexcept
        : service_({.time = &time,
                    .config = config(nodes != nullptr),
                    .timers_max = count,
                    .jobs = &jobs_,
                    .nodes = nodes != nullptr ? nodes : &nodes_,
                    .overflow = &overflow_,
                    .memory = &memory}) {}
    [[nodiscard]] tactus::scheduler* service() noexcept { return &service_; }
    [[nodiscard]] std::size_t pending() noexcept { return service_.active_count(); }

private:
    [[nodiscard]] static tactus::scheduler_config config(bool is_unbounded) noexcept {
        auto c = tactus::scheduler_config::for_clock(tactus::clock_kind::deterministic);
        if (is_unbounded)
            return c;
        c.profile = tactus::scheduler_profile::custom;
        c.custom = {count, count, 8};
        return c;
    }
    static constexpr std::size_t jobs_size =
        tactus::job_store::bytes(tactus::scheduler::cells_for(count));
    alignas(tactus::detail::job) std::byte job_bytes_[jobs_size];
    alignas(16) std::byte node_bytes_[wheel::node_bytes(count)];
    alignas(16) std::byte overflow_bytes_[wheel::overflow_bytes(count)];
    tactus::fixed_memory jobs_{{job_bytes_, sizeof job_bytes_}};
    tactus::fixed_memory nodes_{{node_bytes_, sizeof node_bytes_}};
    tactus::fixed_memory overflow_{{overflow_bytes_, sizeof overflow_bytes_}};
    tactus::scheduler service_;
};

class world_rig {
public:
    explicit world_rig(const tactus::supervisor_strategy& of_guardian = {},
                       tactus::tracer* trace = nullptr,
                       tactus::memory_region* timer_nodes = nullptr) noexcept
        : memory({heap(), heap_size}),
          timing(time, memory, timer_nodes),
          world({.memory = &memory,
                 .events = &said,
                 .name = "test",
                 .guardian_strategy = of_guardian,
                 .timers = timing.service()}),
          kernel([this, trace](kernel_rig::options& o) {
              o.events = &world;
              o.above = &world;
              o.timers = timing.service();
              o.time = &time;
              o.trace = trace;
              o.large_payloads = &memory;
          }) {
        world.begin(*kernel);
        run();
    }

    template <class A, class... Args>
    [[nodiscard]] tactus::detail::ref_of<A> spawn(std::string_view name, Args&&... args) noexcept {
        const auto made = try_spawn<A>(name, std::forward<Args>(args)...);
        EXPECT_TRUE(made.has_value());
        return made ? *made : tactus::detail::ref_of<A>{};
    }
    template <class A, class... Args>
    [[nodiscard]] std::expected<tactus::detail::ref_of<A>, tactus::spawn_error> try_spawn(
        std::string_view name, Args&&... args) noexcept {
        return tactus::detail::spawn_by<A>(
            world, [&](const tactus::actor_world::spawn_request& r) { return world.spawn_top(r); },
            name, {}, std::forward<Args>(args)...);
    }
    std::size_t run() noexcept { return kernel.run(); }
    /// Time passes, millisecond by millisecond, and whoever is due runs.
    void pass(int ms) noexcept {
        for (int i = 0; i < ms; ++i) {
            time.advance(tactus::duration::from_ms(1));
            run();
        }
    }
    /// Ends everything; what the world had is given back.
    void end() noexcept {
        world.terminate();
        run();
        if (timing.service() != nullptr)
            (void)timing.service()->shutdown();
        EXPECT_EQ(said.ended, 1u);
        EXPECT_EQ(memory.live_blocks, stays);
        EXPECT_EQ(memory.wrong_releases, 0u);
        EXPECT_EQ(memory.late_writes(), 0u);
    }

    noted_world said;
    test_memory memory;
    tactus::manual_clock time{tactus::duration::from_ns(1)};
    rig_timers<board::roomy> timing;
    tactus::actor_world world;
    kernel_rig kernel;
    std::size_t stays = 0;  // blocks that live as long as the world: what the event stream has

private:
    static constexpr std::size_t heap_size = board::roomy ? 512 * 1024 : 2'304;
    [[nodiscard]] static std::byte* heap() noexcept {
        alignas(16) static std::byte bytes[heap_size];
        return bytes;
    }
};

}  // namespace tactus_test
