// SPDX-License-Identifier: Apache-2.0
//
// What a system's kernel is built of: where it lives, who runs it and how, who is told. Everything
// has its limit here; a device takes them all from its configuration.
#pragma once

#include <cstdint>
#include <optional>

#include <tactus/base/memory_plan.hpp>
#include <tactus/base/memory_source.hpp>
#include <tactus/dispatch/dispatcher.hpp>
#include <tactus/dispatch/events.hpp>
#include <tactus/dispatch/governor.hpp>
#include <tactus/dispatch/middleware.hpp>
#include <tactus/dispatch/suspension_records.hpp>
#include <tactus/dispatch/timer_service.hpp>
#include <tactus/dispatch/worker.hpp>
#include <tactus/dispatch/worker_lanes.hpp>

namespace tactus::inline v0 {

/// See actor_scheduler::options.
struct kernel_options {
    // Where everything lives; outlives the system.
    memory_source* memory = nullptr;  // records, and dispatchers unless they have their own
    memory_source* dispatcher_memory = nullptr;  // lanes, workers: must not refuse. Null: memory
    memory_region* slot_memory = nullptr;        // slot_capacity slots
    memory_region* envelope_memory = nullptr;    // envelope_capacity + reserve_for_system envelopes
    memory_source* large_payloads = nullptr;     // null: messages must fit an envelope
    std::uint32_t slot_capacity = 0;
    std::uint32_t envelope_capacity = 0;
    std::uint32_t reserve_for_system = 10;
    // How many free ones a thread keeps, twice. None: at most 32 and 128, and so few that a
    // quarter of the capacity at the most lies with threads that do not need it. 0: none.
    std::optional<std::uint32_t> slot_magazine = {};
    std::optional<std::uint32_t> envelope_magazine = {};

    // Who runs it.
    std::uint32_t worker_count = 1;
    // One worker: other threads call drain_ready_cycle beside it. With several they may anyway.
    bool visited = false;
    bool shared_queue = false;        // see dispatcher::options
    const clock* time = nullptr;      // null: no deadlines, no timers, a run is bounded by counts
    timer_service* timers = nullptr;  // run by the workers; null: suspensions have no times
    tick_driver* driver = nullptr;  // is told of nearer deadlines (SC-36); null: workers keep time
    const driver_source* driven_by = nullptr;  // for dumps (TS-9)
    std::uint64_t seed = 1;                    // of the streams for stealing

    // How.
    std::optional<std::uint32_t> throughput = {};    // exact; 0 means 1. None: see invoker
    duration throughput_deadline = duration::max();  // max: none; otherwise at least one message
    std::uint32_t cancel_streak_limit = 16;
    std::uint32_t ring_capacity = 256;
    std::uint32_t fresh_capacity = 256;
    std::uint32_t queue_capacity = 64;
    std::uint32_t keyed_capacity = 16;
    std::uint32_t suspension_capacity = 8;  // where it starts; a power of two
    lane_mode mode = lane_mode::standard;   // of the first dispatcher (DT-3)
    bool certify_schedule = false;
    governor* advice = nullptr;
    load_probe* load = nullptr;

    // Who is told; null: nobody.
    kernel_events* events = nullptr;
    void* above = nullptr;  // for the layer above to find itself
    enqueue_middleware* on_enqueue = nullptr;
    spawn_middleware* on_spawn = nullptr;
    tracer* trace = nullptr;

    /// PT-7: what `memory` is asked for when a system with these options is built; slots and
    /// envelopes have regions of their own.
    [[nodiscard]] constexpr memory_plan plan() const noexcept {
        worker_lanes::options lanes{.ring_capacity = ring_capacity,
                                    .fresh_capacity = fresh_capacity,
                                    .later_capacity = dispatcher::later_capacity(worker_count),
                                    .keyed_capacity = keyed_capacity};
        memory_plan p;
        p.plus(suspensions::plan(suspension_capacity, trace != nullptr))
            .plus(lane_set::plan(queue_capacity, keyed_capacity))
            .array<worker_lanes*>(worker_count)
            .array<worker*>(worker_count)
            .objects<worker>(worker_count);
        for (std::uint32_t i = 0; i < worker_count; ++i)
            p.plus(worker_lanes::plan(lanes));
        if (worker_count > 1 || visited)
            p.objects<worker_lanes>().plus(worker_lanes::plan(dispatcher::visitor_lanes(lanes)));
        return p;
    }
};

}  // namespace tactus::inline v0
