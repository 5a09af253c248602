// SPDX-License-Identifier: Apache-2.0
//
// Diagnostic events: publishes what the scheduler does as timer_diagnostic on the event stream
// (SD-2).
//
// The scheduler makes diagnostics only while something subscribes them, so this subscribes them
// when an actor subscribes timer_diagnostic, and gives that up at the first event which no actor
// wants any more. Its queue is bounded as any other: an actor is told of losses by an event of the
// kind diagnostics_overflow.
//
// Thread safety: begin() before the first actor; the rest is called by the event stream and the
// scheduler.
#pragma once

#include <tactus/actor/actor_world.hpp>
#include <tactus/actor/system_services.hpp>
#include <tactus/port/port.hpp>
#include <tactus/scheduler/diagnostics.hpp>

namespace tactus::inline v0::runtime {

class diagnostic_events final : private diagnostic_reader {
public:
    diagnostic_events() = default;
    diagnostic_events(const diagnostic_events&) = delete;
    diagnostic_events& operator=(const diagnostic_events&) = delete;
    ~diagnostic_events() = default;

    /// Watches the subscriptions of `world`, whose scheduler outlives this. `others` is told of
    /// them, too; null: nothing else is.
    void begin(actor_world& world, const system_services* others) noexcept;

private:
    void subscribed(const event_type& channel) noexcept;
    void read(const diagnostic& what) noexcept override;

    // Constant after begin().
    actor_world* world_ = nullptr;
    const system_services* others_ = nullptr;

    port::mutex mutex_;
    diagnostics::subscription subscription_;  // under the mutex
};

}  // namespace tactus::inline v0::runtime
