// SPDX-License-Identifier: Apache-2.0
//
// Metrics: every name there is, in one table, and the interface of whoever wants them (OH-1, OH-2).
//
// The hub counts; a sink is given sums when somebody calls hub::collect. So a sink may be slow, and
// is never called by a worker in the middle of a message.
//
// Durations are histograms with the same buckets everywhere: the first ends at 1.024 us, each other
// at four times the end of the one before; the last has no end.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include <tactus/mailbox/mailbox_index.hpp>

namespace tactus::inline v0 {

enum class metric_kind : std::uint8_t { counter, gauge, histogram };
[[nodiscard]] const char* name_of(metric_kind kind) noexcept;

/// The rows of metric_table, in order.
enum class metric : std::uint8_t {
    enqueued,
    refused,
    dequeued,
    discarded,
    mailbox_depth,
    system_depth,
    latency,
    invoke_runs,
    invoke_duration,
    ready_queue_depth,
    busy_ratio,
    fairness_dispatches,
    fairness_yields,
    fairness_max_streak,
    fairness_exceedances,
    suspended,
    resumed,
    suspended_total,
    suspended_last,
    unheard_signals,
    escalated,
    deadline_misses,
    executor_rejected,
    executor_retried,
    dead_letters,
    system_dead_letters,
};

struct metric_info {
    const char* name;
    metric_kind kind;
    const char* label;  // what its values are told apart by; empty: there is one
    const char* meaning;
    std::uint32_t parts = 1;  // of a gauge: so many are 1
};

inline constexpr metric_info metric_table[] = {
    {"actor.mailbox.enqueued_total", metric_kind::counter, "", "user messages that were accepted"},
    {"actor.mailbox.refused_total", metric_kind::counter, "reason", "user messages that were not"},
    {"actor.mailbox.dequeued_total", metric_kind::counter, "", "user messages that were handled"},
    {"actor.mailbox.discarded_total", metric_kind::counter, "",
     "accepted user messages that became dead letters"},
    {"actor.mailbox.depth", metric_kind::gauge, "actor",
     "user messages that wait, of actors that have labels"},
    {"actor.mailbox.system_depth", metric_kind::gauge, "actor",
     "system messages that wait, of actors that have labels"},
    {"scheduler.latency_ms", metric_kind::histogram, "", "from sending to the handler; samples"},
    {"scheduler.invoke.runs_total", metric_kind::counter, "", "runs of mailboxes"},
    {"scheduler.invoke.duration_ms", metric_kind::histogram, "", "length of a run; samples"},
    {"scheduler.ready_queue.depth", metric_kind::gauge, "lane", "mailboxes that wait in a lane"},
    {"scheduler.worker.busy_ratio", metric_kind::gauge, "worker",
     "share of the time since the last collection in which it had work; in millionths", 1'000'000},
    {"scheduler.fairness.dispatches_total", metric_kind::counter, "lane",
     "certificates: dispatches"},
    {"scheduler.fairness.yields_total", metric_kind::counter, "",
     "certificates: other work went before a cancel"},
    {"scheduler.fairness.max_cancel_streak", metric_kind::gauge, "",
     "certificates: the longest run of cancels, of any worker"},
    {"scheduler.fairness.exceedances_total", metric_kind::counter, "",
     "certificates: cancels beyond the limit in force; 0 unless there is a defect"},
    {"scheduler.suspended_total", metric_kind::counter, "reason", "times an actor was held back"},
    {"scheduler.resumed_total", metric_kind::counter, "", "times an actor was let go"},
    {"scheduler.suspended.total_ms", metric_kind::gauge, "",
     "how long suspensions that ended have lasted together"},
    {"scheduler.suspended.last_ms", metric_kind::gauge, "",
     "how long the one that ended last has lasted"},
    {"scheduler.unheard_signals_total", metric_kind::counter, "", "signals nobody waited for"},
    {"scheduler.escalated_total", metric_kind::counter, "", "failures left to supervision"},
    {"scheduler.deadline_misses_total", metric_kind::counter, "",
     "timed mailboxes that came to run late"},
    {"scheduler.executor_rejected_total", metric_kind::counter, "",
     "submissions of workers given up by an executor's refusal"},
    {"scheduler.executor_retried_total", metric_kind::counter, "",
     "submissions of workers that an executor took after it had refused"},
    {"dead_letters_total", metric_kind::counter, "reason",
     "user messages that became dead letters"},
    {"dead_letters.system_total", metric_kind::counter, "",
     "system messages that became dead letters"},
};
inline constexpr std::size_t metric_count = std::size(metric_table);

[[nodiscard]] constexpr const metric_info& info_of(metric m) noexcept {
    return metric_table[static_cast<std::size_t>(m)];
}

/// Where a duration is counted.
struct duration_buckets {
    static constexpr std::size_t count = 12;
    static constexpr unsigned first_bits = 10;

    /// The end of a bucket in nanoseconds: what is shorter is in it, or in one before.
    [[nodiscard]] static constexpr std::uint64_t end_ns(std::size_t i) noexcept {
        return i + 1 < count ? std::uint64_t{1} << (first_bits + 2 * i) : ~std::uint64_t{0};
    }
    [[nodiscard]] static constexpr std::size_t of(std::uint64_t ns) noexcept {
        const auto bits = static_cast<std::size_t>(std::bit_width(ns >> first_bits));
        const std::size_t i = (bits + 1) / 2;
        return i < count ? i : count - 1;
    }
};

struct histogram_sums {
    std::uint64_t counts[duration_buckets::count];  // each for itself
    std::uint64_t total_us;                         // of all durations
};

/// OH-2: who is measured by name. A value per actor is too much for most systems, so each actor
/// that has one was chosen.
class actor_labels {
public:
    /// The label of an actor, in `room` or elsewhere; empty: it is not measured by name. Asked for
    /// every actor, by who collects; it may end meanwhile.
    [[nodiscard]] virtual std::string_view label_of(mailbox_index who,
                                                    std::span<char> room) noexcept = 0;

protected:
    ~actor_labels() = default;
};

/// Takes sums, as often as collect is called: totals since the first sink was set.
class metrics_sink {
public:
    /// `label` is a value of the metric's label; empty when it has none.
    virtual void counter(const metric_info& what, std::string_view label,
                         std::uint64_t total) noexcept = 0;
    virtual void gauge(const metric_info& what, std::string_view label,
                       std::uint64_t value) noexcept = 0;
    virtual void histogram(const metric_info& what, std::string_view label,
                           const histogram_sums& sums) noexcept = 0;

protected:
    ~metrics_sink() = default;
};

}  // namespace tactus::inline v0
