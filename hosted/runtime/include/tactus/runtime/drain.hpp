// SPDX-License-Identifier: Apache-2.0
//
// What a drain comes to (CO-5): its report, and the events of a system's phases.
//
//     const drain_report done = system.drain(30s);
//     if (!done.is_clean())
//         std::fprintf(stderr, "%s\n", done.text().c_str());
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <tactus/dispatch/actor_scheduler.hpp>
#include <tactus/runtime/coordinated_shutdown.hpp>

namespace tactus::inline v0 {

/// Published when a system begins to drain, and when it begins to stop its actors. There is none
/// for `stopped`: no actor is left to be told.
struct system_phase_changed {
    system_phase from = system_phase::running;
    system_phase to = system_phase::running;
};

/// What became of a drain.
struct drain_report {
    enum class outcome : std::uint8_t {
        drained,             // everything that waited was handled
        forced,              // the limit passed, or force_stop(): the rest became dead letters
        terminated,          // another call terminated the system, now or earlier
        would_block_worker,  // called on a thread that must not wait: nothing was begun
        forked_child,        // called in a forked child: nothing was begun
    };
    /// An actor that had work when the drain was forced.
    struct busy_actor {
        std::string path;
        std::uint32_t messages = 0;  // that waited in its mailbox, as the dump estimates it
        bool is_running = false;     // in a handler
        std::string waits_for = {};  // empty: nothing in particular
    };
    static constexpr std::size_t listed_max = 100;

    outcome what = outcome::drained;
    bool has_ended = false;              // the system; false: it did not within its limits
    bool in_shutdown = false;            // called by a task of the shutdown, which ends the system
    std::vector<busy_actor> busy = {};   // of `forced`: the first listed_max
    std::size_t busy_count = 0;          // all of them
    std::uint32_t messages_lost = 0;     // of `forced`: not handled since then, exact if it ended
    std::chrono::nanoseconds took = {};  // until there was nothing to handle, or it was forced
    shutdown_result shutdown = {};       // of the phases and tasks that followed

    /// Everything was handled, the actors have ended (unless in_shutdown), and no task failed.
    [[nodiscard]] bool is_clean() const noexcept;
    /// Lines for people.
    [[nodiscard]] std::string text() const;
};
inline constexpr std::size_t drain_outcome_count = 5;
[[nodiscard]] const char* name_of(drain_report::outcome what) noexcept;

}  // namespace tactus::inline v0
