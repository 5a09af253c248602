// SPDX-License-Identifier: Apache-2.0
//
// The scheduler as something the harness drives (SD-4): ids are numbers of registration, the trace
// is what a subscriber of its diagnostics gets. Without a subscriber it has none, and the scheduler
// keeps what was cancelled for a while (withdrawn_jobs.hpp).
//
// All timers are of priority high: a program that falls behind by more than the window is then
// still accepted (BP-3), which the model knows nothing of. A queue of diagnostics holds more than a
// program makes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <new>
#include <optional>
#include <vector>

#include <tactus/scheduler/scheduler.hpp>

#include "large_scheduler_rig.hpp"
#include "scheduler_duel.hpp"

namespace tactus_test {

class heap_source final : public tactus::memory_source {
public:
    [[nodiscard]] void* allocate(std::size_t size, std::size_t alignment) noexcept override {
        ++live_blocks;
        return ::operator new(size, std::align_val_t(alignment));
    }
    void release(void* block, std::size_t, std::size_t alignment) noexcept override {
        --live_blocks;
        ::operator delete(block, std::align_val_t(alignment));
    }
    std::size_t live_blocks = 0;
};

class driven_scheduler final : tactus::scheduler_listener {
public:
    enum class watched { yes, no };
    explicit driven_scheduler(watched how = watched::yes)
        : services_({.memory = &heap_}), rig_(timers_max, [this](tactus::scheduler_options& o) {
              o.listener = this;
              o.services = &services_;
          }) {
        current = this;
        if (how == watched::yes)
            seen_ = rig_.timers.subscribe(kinds, queue_size).value();
        receiver_ = rig_.kernel.spawn<plain_actor>(&driven_scheduler::on_number);
    }
    driven_scheduler(const driven_scheduler&) = delete;
    driven_scheduler& operator=(const driven_scheduler&) = delete;

    std::uint64_t schedule_once(tick_count delay) { return add({.first = ticks(delay)}); }
    std::uint64_t schedule_at_fixed_rate(tick_count initial, tick_count interval,
                                         periodic_options o) {
        return add({.mode = job_mode::fixed_rate,
                    .first = ticks(initial),
                    .period = ticks(interval),
                    .backlog_limit = o.backlog_limit,
                    .burst_threshold = o.burst_threshold,
                    .each = o.each});
    }
    std::uint64_t schedule_with_fixed_delay(tick_count initial, tick_count delay,
                                            periodic_options o) {
        return add({.mode = job_mode::fixed_delay,
                    .first = ticks(initial),
                    .period = ticks(delay),
                    .after_sent = o.after_sent});
    }
    bool cancel(std::uint64_t id) {
        const bool done = handles_[id - 1].cancel();
        look();
        return done;
    }
    void stall(tick_count n) { rig_.time.advance(ticks(n)); }
    void advance(tick_count n) {
        rig_.time.advance(ticks(n));
        rig_.timers.run_due(rig_.time.now());
        look();
    }
    void handle() {
        (void)rig_.kernel.run();
        look();
    }
    void shutdown() {
        (void)rig_.timers.shutdown();
        look();
    }

    [[nodiscard]] std::size_t active() const { return rig_.timers.active_count(); }
    [[nodiscard]] std::optional<tick_count> next() const {
        const tactus::instant at = rig_.timers.next_deadline();
        return at != tactus::instant::never() ? std::optional(scale().floor(at)) : std::nullopt;
    }
    [[nodiscard]] std::size_t cancelled() const { return rig_.timers.counted().cancelled; }
    [[nodiscard]] std::size_t kept() const { return rig_.timers.cell_count(); }
    [[nodiscard]] const std::vector<delivery>& deliveries() const { return deliveries_; }
    [[nodiscard]] const std::vector<told_warning>& warnings() const { return warnings_; }
    [[nodiscard]] const std::vector<diagnostic>& trace() const { return trace_; }

private:
    static constexpr std::uint32_t timers_max = 1U << 12U;
    static constexpr std::uint32_t queue_size = 1U << 12U;
    static constexpr tactus::diagnostic_kinds kinds{diagnostic_kind::schedule,
                                                    diagnostic_kind::fire, diagnostic_kind::cancel};
    static inline driven_scheduler* current = nullptr;  // one at a time

    [[nodiscard]] static tactus::duration ticks(tick_count n) {
        return tactus::duration::from_ms(static_cast<std::int64_t>(n));
    }

    std::uint64_t add(tactus::job_request r) {
        r.to = receiver_;
        r.priority = tactus::timer_priority::high;
        const std::uint64_t id = handles_.size() + 1;
        const auto made = rig_.timers.add(r, number{static_cast<std::uint32_t>(id)});
        if (made) {
            handles_.push_back(*made);
            numbers_[made->id()] = id;
        }
        look();
        return made ? id : 0;
    }
    static void on_number(tactus::turn& t, std::uint32_t id) { current->handled(t, id); }
    void handled(const tactus::turn& t, std::uint32_t id) {
        // One that has no batch, or that of another job, differs from what the model has.
        const auto batch = rig_.timers.current_batch(&t).value_or(tactus::execution_batch{0});
        const bool is_own = numbers_.contains(batch.job) && numbers_[batch.job] == id;
        deliveries_.push_back({is_own ? id : 0, now(), batch.runs, batch.missed_runs, batch.mode});
    }
    void warned(const tactus::scheduler_warning& w) noexcept override {
        using enum tactus::scheduler_warning_kind;
        if (w.kind == driver_catch_up_exceeded || w.kind == backpressure_state ||
            w.kind == drift_exceeded)
            return;  // it fell behind; see above
        warnings_.push_back({w.kind, numbers_[w.job], static_cast<std::uint64_t>(w.value)});
    }
    void look() {
        while (auto d = seen_ ? seen_->poll() : std::nullopt) {
            d->job = numbers_.at(d->job);
            trace_.push_back(*d);
        }
    }
    [[nodiscard]] tactus::tick_scale scale() const {
        return tactus::tick_scale(rig_.timers.resolution());
    }
    [[nodiscard]] tick_count now() const { return scale().floor(rig_.time.now()); }

    heap_source heap_;
    tactus::full_scheduler_services services_;
    mutable large_scheduler_rig rig_;
    std::optional<tactus::diagnostics::subscription> seen_;  // none: nobody watches
    tactus::mailbox_index receiver_;
    std::vector<tactus::cancellable> handles_;
    std::map<std::uint64_t, std::uint64_t> numbers_;  // of job ids
    std::vector<delivery> deliveries_;
    std::vector<told_warning> warnings_;
    std::vector<diagnostic> trace_;
};
static_assert(scheduler_driver<driven_scheduler>);

}  // namespace tactus_test
