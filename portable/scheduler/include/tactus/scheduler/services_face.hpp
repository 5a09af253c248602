// SPDX-License-Identifier: Apache-2.0
//
// Services face: the calls of a scheduler that stand for its services (scheduler_services.hpp):
// diagnostics, the log, the gauge, policies, on-close tasks. Refused where there are none.
//
// A base of the scheduler, which it is given as `Scheduler`: it has no data and costs nothing.
//
// Thread safety: as the scheduler's.
#pragma once

#include <cstdint>
#include <expected>
#include <utility>

#include <tactus/scheduler/backpressure_gauge.hpp>
#include <tactus/scheduler/deterministic_log.hpp>
#include <tactus/scheduler/diagnostics.hpp>
#include <tactus/scheduler/on_close_tasks.hpp>
#include <tactus/scheduler/scheduler_error.hpp>
#include <tactus/scheduler/scheduler_services.hpp>
#include <tactus/scheduler/timer_policy.hpp>

namespace tactus::inline v0 {

template <class Scheduler>
class services_face {
public:
    /// SD-2. Its queue has room for scheduler_config::diagnostics_capacity events, unless told.
    [[nodiscard]] auto subscribe(diagnostic_kinds kinds) noexcept {
        return subscribe(kinds, self().diagnostics_capacity_);
    }
    /// With a reader nothing is polled: see diagnostics::subscribe. It is told of driver_metrics
    /// with the next event of another kind.
    [[nodiscard]] auto subscribe(diagnostic_kinds kinds, diagnostic_reader& reader) noexcept {
        return subscribe(kinds, self().diagnostics_capacity_, &reader);
    }
    [[nodiscard]] std::expected<diagnostics::subscription, scheduler_error> subscribe(
        diagnostic_kinds kinds, std::uint32_t capacity,
        diagnostic_reader* reader = nullptr) noexcept {
        if (given() == nullptr)
            return std::unexpected(no_services("subscription"));
        auto made = given()->events().subscribe(kinds, capacity, reader);
        if (made && kinds.has(diagnostic_kind::driver_metrics))
            given()->watch_driver();
        return made;
    }
    /// SD-1.
    [[nodiscard]] std::expected<void, scheduler_error> enable_deterministic_log(
        std::uint32_t capacity, log_keeps keeps = log_keeps::oldest) noexcept {
        if (given() == nullptr)
            return std::unexpected(no_services("log"));
        self().enter();
        const auto done = given()->log().enable(capacity, keeps);
        if (done)
            given()->begin(scheduler_services::logged);
        self().let_go();
        return done;
    }
    /// Calls read(const recorded_log&), under no lock, with what was recorded until now. Until it
    /// returns no other log can be enabled.
    template <class Read>
    void read_log(Read&& read) noexcept {
        if (given() == nullptr)
            return;
        self().enter();
        const recorded_log until_now = given()->log().begin_reading();
        self().let_go();
        read(until_now);
        self().enter();
        given()->log().end_reading();
        self().let_go();
    }
    /// BP-5; null: there is none.
    [[nodiscard]] backpressure_gauge* gauge() noexcept {
        if (given() == nullptr)
            return nullptr;
        given()->begin(scheduler_services::gauging);
        return &given()->gauge();
    }
    [[nodiscard]] bool has_policies() const noexcept {
        return given() != nullptr && given()->has(scheduler_services::ruling);
    }
    /// SC-5; null: there are none.
    [[nodiscard]] timer_policies* policies() noexcept {
        if (given() == nullptr)
            return nullptr;
        given()->begin(scheduler_services::ruling);
        return &given()->policies();
    }
    /// SH-2: see on_close_tasks.
    template <class Task>
    [[nodiscard]] std::expected<on_close_tasks::handle, scheduler_error> register_on_close(
        Task&& what, close_priority priority, const char* name = "") noexcept {
        if (given() == nullptr)
            return std::unexpected(
                scheduler_error{.code = scheduler_errc::task_run_capacity_exceeded});
        return given()->tasks().add(std::forward<Task>(what), priority, name);
    }
    bool cancel_on_close(on_close_tasks::handle which) noexcept {
        return given() != nullptr && given()->tasks().cancel(which);
    }

private:
    friend Scheduler;
    services_face() = default;
    ~services_face() = default;

    [[nodiscard]] static scheduler_error no_services(const char* field) noexcept {
        return {.code = scheduler_errc::capacity_exceeded, .field = field};
    }
    /// Null: none.
    [[nodiscard]] scheduler_services* given() const noexcept {
        return static_cast<const Scheduler&>(*this).services_;
    }
    [[nodiscard]] Scheduler& self() noexcept { return static_cast<Scheduler&>(*this); }
};

}  // namespace tactus::inline v0
