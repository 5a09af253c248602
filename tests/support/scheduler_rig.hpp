// SPDX-License-Identifier: Apache-2.0
//
// A system on fixed memory with a scheduler, in time that the test moves.
//
// Actors write the numbers they are sent into the journal (kernel_rig.hpp), and the batches they
// come in beside it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include <tactus/scheduler/scheduler.hpp>

#include "kernel_rig.hpp"

namespace tactus_test {

inline constexpr unsigned rig_timers_max = board::roomy ? 1'000 : 8;
/// Beyond the wheel.
inline constexpr tactus::duration far_away = tactus::duration::from_s(10 * 24 * 3'600);

/// Warnings, in the order in which they came.
class noted_warnings final : public tactus::scheduler_listener {
public:
    void warned(const tactus::scheduler_warning& what) noexcept override {
        if (count < sizeof all / sizeof all[0])
            all[count] = what;
        ++count;
    }
    [[nodiscard]] unsigned of(tactus::scheduler_warning_kind kind) const noexcept {
        unsigned n = 0;
        for (unsigned i = 0; i < count && i < sizeof all / sizeof all[0]; ++i)
            n += all[i].kind == kind ? 1U : 0U;
        return n;
    }
    tactus::scheduler_warning all[board::roomy ? 64 : 5] = {};
    unsigned count = 0;
};

/// Of the kernel beside a scheduler: a small board has room for little more than the two.
struct beside_scheduler {
    static constexpr unsigned slots = board::roomy ? kernel_slots : 4;
    static constexpr unsigned envelopes = board::roomy ? kernel_envelopes : 20;
    static constexpr std::size_t heap_size = board::roomy ? kernel_room::heap_size : 1'440;
    using memory = basic_test_memory<board::roomy ? 1'024 : 24>;
};

class scheduler_rig {
public:
    using config = tactus::scheduler_config;
    using kernel_options = tactus::actor_scheduler::options;
    using memory_type = beside_scheduler::memory;

    template <class Change>
    explicit scheduler_rig(Change&& change) noexcept
        : options_(make(change)),
          timers(std::in_place, options_),
          kernel([this](kernel_options& o) {
              o.timers = &*timers;
              o.time = &time;
              o.large_payloads = &large;
              if (!board::roomy) {
                  o.ring_capacity = 4;
                  o.fresh_capacity = 2;
                  o.keyed_capacity = 2;
                  o.suspension_capacity = 1;
              }
          }) {
        timers->attach(*kernel);
    }
    scheduler_rig() noexcept : scheduler_rig([](tactus::scheduler_options&) {}) {}
    ~scheduler_rig() { kernel.destroy(); }

    [[nodiscard]] tactus::scheduler* operator->() noexcept { return &*timers; }
    [[nodiscard]] tactus::scheduler& operator*() noexcept { return *timers; }

    /// So many ticks at once: one advance.
    void jump(std::uint64_t ticks) noexcept {
        time.advance(timers->resolution() * static_cast<std::int64_t>(ticks));
        run();
    }
    /// The same, tick by tick.
    void pass(std::uint64_t ticks) noexcept {
        for (std::uint64_t i = 0; i < ticks; ++i)
            jump(1);
    }
    /// Whoever can run does, without time passing.
    void run() noexcept { (void)kernel.run(); }
    [[nodiscard]] tactus::mailbox_index spawn(reaction on = nullptr) noexcept {
        return kernel.spawn<plain_actor>(on);
    }

    tactus::manual_clock time{tactus::duration::from_ns(1)};
    noted_warnings warnings;
    memory_type large{{large_bytes(), large_size}};

private:
    template <class Change>
    [[nodiscard]] tactus::scheduler_options make(Change& change) noexcept {
        tactus::scheduler_options o{
            .time = &time,
            .config = config::for_clock(tactus::clock_kind::deterministic),
            .timers_max = rig_timers_max,
            .jobs = &jobs_,
            .nodes = &nodes_,
            .overflow = &overflow_,
            .memory = &large,
            .listener = &warnings,
        };
        o.config.profile = tactus::scheduler_profile::custom;
        o.config.custom = {rig_timers_max, board::roomy ? 200U : 3U, 8};
        change(o);
        return o;
    }

    using wheel = tactus::scheduler_wheel;
    static constexpr std::size_t large_size = board::roomy ? 64 * 1024 : 256;
    [[nodiscard]] static std::byte* large_bytes() noexcept {
        alignas(16) static std::byte bytes[large_size];
        return bytes;
    }
    static constexpr std::size_t jobs_size =
        tactus::job_store::bytes(tactus::scheduler::cells_for(rig_timers_max));
    [[nodiscard]] static std::byte* job_bytes() noexcept {
        alignas(tactus::detail::job) alignas(16) static std::byte bytes[jobs_size];
        return bytes;
    }
    [[nodiscard]] static std::byte* node_bytes() noexcept {
        alignas(16) static std::byte bytes[wheel::node_bytes(rig_timers_max)];
        return bytes;
    }
    [[nodiscard]] static std::byte* overflow_bytes() noexcept {
        alignas(16) static std::byte bytes[wheel::overflow_bytes(rig_timers_max)];
        return bytes;
    }
    tactus::fixed_memory jobs_{{job_bytes(), jobs_size}};
    tactus::fixed_memory nodes_{{node_bytes(), wheel::node_bytes(rig_timers_max)}};
    tactus::fixed_memory overflow_{{overflow_bytes(), wheel::overflow_bytes(rig_timers_max)}};
    tactus::scheduler_options options_;

public:
    // In this order: messages of the scheduler may be on their way until the kernel has ended.
    std::optional<tactus::scheduler> timers;
    basic_kernel_rig<beside_scheduler> kernel;
};

namespace detail {

/// Made before the scheduler, and gone after it.
struct rig_services {
    explicit rig_services(std::uint32_t tasks_max) noexcept
        : services({.memory = &services_memory,
                    .tasks_max = tasks_max,
                    .probes_max = 2,
                    .policies_max = 4}) {}
    static constexpr std::size_t size = board::roomy ? 128 * 1024 : 1'216;
    [[nodiscard]] static std::byte* bytes() noexcept {
        alignas(16) static std::byte all[size];
        return all;
    }
    beside_scheduler::memory services_memory{{bytes(), size}};
    tactus::full_scheduler_services services;
};

}  // namespace detail

/// The same with diagnostics, gauge, policies and on-close tasks.
class served_rig : public detail::rig_services, public scheduler_rig {
public:
    template <class Change>
    explicit served_rig(Change&& change, std::uint32_t tasks_max = 4) noexcept
        : rig_services(tasks_max), scheduler_rig([&](tactus::scheduler_options& o) {
              o.services = &services;
              change(o);
          }) {}
    served_rig() noexcept : served_rig([](tactus::scheduler_options&) {}) {}
};

}  // namespace tactus_test
