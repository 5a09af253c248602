// SPDX-License-Identifier: Apache-2.0
//
// Scheduler services: what stands beside a scheduler and a small device does without: diagnostics
// and log (SD), gauge (BP-5), policies (SC-5), on-close tasks (SH-2), how late timers were.
//
// The scheduler knows the interface alone, so that a program which makes no services does not link
// them. What nobody uses costs a load and a branch: `uses` says what is, or was ever asked for.
//
// Thread safety: `note`, `lateness` and the log are of who holds the scheduler's lock; the rest of
// any thread that holds no lock.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include <tactus/base/memory_source.hpp>
#include <tactus/dispatch/metrics.hpp>
#include <tactus/port/port.hpp>
#include <tactus/scheduler/backpressure_gauge.hpp>
#include <tactus/scheduler/deterministic_log.hpp>
#include <tactus/scheduler/diagnostics.hpp>
#include <tactus/scheduler/drift_watch.hpp>
#include <tactus/scheduler/job_request.hpp>
#include <tactus/scheduler/load_probes.hpp>
#include <tactus/scheduler/on_close_tasks.hpp>
#include <tactus/scheduler/scheduler_config.hpp>
#include <tactus/scheduler/scheduler_error.hpp>
#include <tactus/scheduler/timer_policy.hpp>
#include <tactus/time/tick_driver.hpp>
#include <tactus/time/tick_scale.hpp>

namespace tactus::inline v0 {

class scheduler;

class scheduler_services {
public:
    enum use : std::uint32_t {
        subscribed = 1,  // to diagnostics, which say so
        gauging = 2,     // there was a probe, or something was pushed
        ruling = 4,      // a policy was set
        logged = 8,
        crowded = 16,  // there are mailboxes that are too full for timers
        watching = subscribed | logged,
    };
    /// A hint, and relaxed: who began to use something sees it; others do soon.
    [[nodiscard]] bool has(use what) const noexcept {
        return (uses_.load(std::memory_order_relaxed) & what) != 0;
    }
    void begin(use what) noexcept { (void)uses_.fetch_or(what, std::memory_order_relaxed); }
    void end(use what) noexcept {
        (void)uses_.fetch_and(~std::uint32_t{what}, std::memory_order_relaxed);
    }

    /// True: tell() is to be called.
    [[nodiscard]] virtual bool note(const diagnostic& what) noexcept = 0;
    virtual void tell(scheduler_listener& whom, instant now) noexcept = 0;
    /// Asks what is measured, once per tick, and tells of mailboxes. True: the gauge is engaged.
    [[nodiscard]] virtual bool engaged(tick at, instant now, scheduler_listener* told) noexcept = 0;
    /// Why a timer is refused whose receiver's mailbox is too full for it; nothing: it is not.
    [[nodiscard]] virtual std::optional<scheduler_error> refuse_for_mailbox(
        const job_request& r) noexcept {
        (void)r;
        return std::nullopt;
    }
    [[nodiscard]] virtual timer_policy policy_of(const timer_affinity& from) noexcept = 0;
    /// SH-1: the tasks, told and noted as they ran.
    [[nodiscard]] virtual close_report run_tasks(const clock& time, duration timeout,
                                                 scheduler_listener* told, close_observer& observer,
                                                 close_runner* runner) noexcept = 0;

    /// Nobody registers a task any more.
    virtual void close_tasks() noexcept = 0;
    /// What came of the tasks so far.
    [[nodiscard]] virtual close_report closing() noexcept = 0;
    /// The same as a line for people.
    virtual std::string_view describe_closing(std::span<char> out) noexcept = 0;
    [[nodiscard]] virtual std::uint64_t diagnostics_dropped() noexcept = 0;
    virtual void feed(scheduler& of, metrics_sink& to) noexcept = 0;
    /// TS-7: somebody wants to know of the driver once a second.
    virtual void watch_driver() noexcept {}
    /// BP-5: what the system of this kernel has too much of counts, too. By the system, once it has
    /// begun; the kernel lives for as long as timers run.
    virtual void watch_load(actor_scheduler& kernel, const load_probes::limits& most) noexcept {
        (void)kernel;
        (void)most;
    }
    /// By the system: a bounded mailbox of it is filling up.
    virtual void mailbox_filled(const mailbox_pressure& what) noexcept { (void)what; }

    // For the faces of the scheduler.
    [[nodiscard]] virtual diagnostics& events() noexcept = 0;
    [[nodiscard]] virtual deterministic_log& log() noexcept = 0;
    [[nodiscard]] virtual backpressure_gauge& gauge() noexcept = 0;
    [[nodiscard]] virtual timer_policies& policies() noexcept = 0;
    [[nodiscard]] virtual on_close_tasks& tasks() noexcept = 0;

    /// From deadlines to deliveries.
    histogram_sums lateness{};
    /// SC-33.
    drift_watch drift{{}};

protected:
    scheduler_services() = default;
    explicit scheduler_services(const drift_watch& how_late) noexcept : drift(how_late) {}
    ~scheduler_services() = default;
    [[nodiscard]] port::atomic<std::uint32_t>& uses() noexcept { return uses_; }

private:
    port::atomic<std::uint32_t> uses_{0};
};

/// All of them. Memory is taken here and, for subscribers and the log, when they ask.
class full_scheduler_services final : public scheduler_services, private driver_listener {
public:
    struct options {
        memory_source* memory = nullptr;  // outlives the services
        std::uint32_t tasks_max = scheduler_capacity::unlimited;
        std::uint32_t probes_max = 8;  // two are the system's
        std::uint32_t policies_max = 16;
        // SC-33: of the resolution, at most 100.
        std::uint32_t drift_budget_percent = drift_watch::default_percent;
        // Who is asked how it does; outlives the services. Null: nobody is.
        tick_driver* driver = nullptr;
        const clock* time = nullptr;  // with a driver
        duration resolution = duration::from_ms(1);
    };
    explicit full_scheduler_services(const options& o) noexcept
        : scheduler_services(drift_watch({}, o.drift_budget_percent)),
          events_(*o.memory, {&uses(), subscribed}),
          log_(*o.memory),
          gauge_(*o.memory, o.probes_max),
          policies_(*o.memory, o.policies_max),
          tasks_(*o.memory, o.tasks_max),
          driver_(o.driver),
          time_(o.time),
          scale_(o.resolution) {}
    /// A driver may go on without them, for another system.
    ~full_scheduler_services() {
        if (listens_.load(std::memory_order_relaxed) != 0)
            driver_->forget(*this);
    }
    full_scheduler_services(const full_scheduler_services&) = delete;
    full_scheduler_services& operator=(const full_scheduler_services&) = delete;

    [[nodiscard]] bool note(const diagnostic& what) noexcept override {
        log_.record(what);
        return events_.publish(what);
    }
    void tell(scheduler_listener& whom, instant now) noexcept override { events_.tell(whom, now); }
    [[nodiscard]] bool engaged(tick at, instant now, scheduler_listener* told) noexcept override;
    [[nodiscard]] std::optional<scheduler_error> refuse_for_mailbox(
        const job_request& r) noexcept override;
    [[nodiscard]] timer_policy policy_of(const timer_affinity& from) noexcept override {
        return policies_.lookup(from);
    }
    [[nodiscard]] close_report run_tasks(const clock& time, duration timeout,
                                         scheduler_listener* told, close_observer& observer,
                                         close_runner* runner) noexcept override {
        return tasks_.run(time, timeout, told, &observer, runner);
    }
    void close_tasks() noexcept override { tasks_.close(); }
    [[nodiscard]] close_report closing() noexcept override { return tasks_.progress(); }
    std::string_view describe_closing(std::span<char> out) noexcept override {
        return describe(tasks_.progress(), out);
    }
    [[nodiscard]] std::uint64_t diagnostics_dropped() noexcept override {
        return events_.look().dropped;
    }
    void feed(scheduler& of, metrics_sink& to) noexcept override;
    void watch_driver() noexcept override;
    void watch_load(actor_scheduler& kernel, const load_probes::limits& most) noexcept override {
        probes_.begin(kernel, most, gauge_);
        begin(gauging);
    }
    void mailbox_filled(const mailbox_pressure& what) noexcept override {
        probes_.mailbox_filled(what);
    }
    [[nodiscard]] diagnostics& events() noexcept override { return events_; }
    [[nodiscard]] deterministic_log& log() noexcept override { return log_; }
    [[nodiscard]] backpressure_gauge& gauge() noexcept override { return gauge_; }
    [[nodiscard]] timer_policies& policies() noexcept override { return policies_; }
    [[nodiscard]] on_close_tasks& tasks() noexcept override { return tasks_; }

private:
    [[nodiscard]] bool measured(const tick_driver_metrics& what) noexcept override;

    diagnostics events_;
    deterministic_log log_;
    load_probes probes_;
    backpressure_gauge gauge_;
    timer_policies policies_;
    on_close_tasks tasks_;
    tick_driver* const driver_;
    const clock* const time_;
    const tick_scale scale_;
    // Relaxed: who destroys the services comes after who subscribed.
    port::atomic<std::uint32_t> listens_{0};
};

}  // namespace tactus::inline v0
