// SPDX-License-Identifier: Apache-2.0
//
// Dump of a scheduler: what it is doing, as text for people or as JSON (SD-3, TS-9).
//
// The scheduler fills a snapshot under its ownership, lets go, and hands it over with its jobs, one
// by one: nothing is kept of them, so a dump of any number of jobs needs no memory. Text goes out
// in small pieces while nobody is held up.
//
//   scheduler_dump dump(to, format, snapshot);
//   for (each job)
//       dump.job(view);
//   dump.end();
//
// Thread safety: none; of one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include <tactus/dispatch/dump.hpp>
#include <tactus/scheduler/diagnostics.hpp>
#include <tactus/scheduler/execution_batch.hpp>
#include <tactus/scheduler/scheduler_error.hpp>
#include <tactus/time/instant.hpp>
#include <tactus/time/tick_driver.hpp>
#include <tactus/time/tick_scale.hpp>

namespace tactus::inline v0 {

/// Everything but the jobs.
struct scheduler_snapshot {
    driver_view driver = {};
    bool fixed_rate = true;  // SC-7: what it can do; one-shots always
    bool fixed_delay = true;
    bool manual_clock = false;
    tick now = 0;  // the wheel's position
    std::uint32_t occupied_slots[4] = {};
    std::uint32_t overflow_size = 0;
    std::optional<std::uint32_t> overflow_capacity = {};  // nothing: it grows
    std::uint32_t pending_commands = 0;
    std::uint32_t active = 0;
    std::optional<std::uint32_t> quota = {};  // nothing: there is none
    std::optional<std::uint32_t> adaptive_quota = {};
    const char* state = "";  // normal, backpressure, rejecting
    backpressure_cause cause = backpressure_cause::none;
    bool is_closed = false;
    diagnostics::counts diagnostic_counts = {};
    std::span<const diagnostics::subscriber> subscribers = {};
};

struct job_view {
    job_id id = {};
    job_mode mode{};
    std::uint32_t backlog = 0;           // runs missed and not yet delivered
    std::optional<tick> last_fire = {};  // nothing: it has not fired
    std::optional<tick> next = {};       // nothing: its run is being handled
    std::uint64_t metadata = 0;          // of who made it; 0: none
};

class scheduler_dump {
public:
    /// Writes everything but the jobs. Of those `jobs_max` are written; the others are counted.
    scheduler_dump(text_sink& to, dump_format format, const scheduler_snapshot& of,
                   std::uint32_t jobs_max = 1'000) noexcept;
    scheduler_dump(const scheduler_dump&) = delete;
    scheduler_dump& operator=(const scheduler_dump&) = delete;

    void job(const job_view& j) noexcept;
    /// Requires: it is the last call.
    void end() noexcept;

private:
    void begin_text(const scheduler_snapshot& of) noexcept;
    void begin_json(const scheduler_snapshot& of) noexcept;
    void text(const job_view& j) noexcept;
    void json(const job_view& j) noexcept;

    text_sink& to_;
    json_writer json_;
    dump_format format_;
    std::uint32_t jobs_max_;
    std::uint32_t jobs_ = 0;
};

}  // namespace tactus::inline v0
