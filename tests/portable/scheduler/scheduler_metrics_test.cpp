// SPDX-License-Identifier: Apache-2.0
//
// Goal: every metric of BP-8 and BP-10 reaches a sink, once, under its name, with its kind.
#include <tactus/scheduler/scheduler_metrics.hpp>

#include <string_view>

#include "portable_test.hpp"

namespace tactus {
namespace {

struct kept_metrics final : metrics_sink {
    struct entry {
        const metric_info* what;
        std::string_view label;
        std::uint64_t value;
        metric_kind as;
    };
    void counter(const metric_info& what, std::string_view label,
                 std::uint64_t total) noexcept override {
        keep({&what, label, total, metric_kind::counter});
    }
    void gauge(const metric_info& what, std::string_view label,
               std::uint64_t value) noexcept override {
        keep({&what, label, value, metric_kind::gauge});
    }
    void histogram(const metric_info& what, std::string_view label,
                   const histogram_sums& sums) noexcept override {
        keep({&what, label, sums.total_us, metric_kind::histogram});
    }
    void keep(const entry& e) noexcept {
        if (count < std::size(all))
            all[count] = e;
        ++count;
    }
    [[nodiscard]] std::uint64_t of(timer_metric m, std::string_view label = {}) const noexcept {
        for (const entry& e : all) {
            if (e.what == &info_of(m) && e.label == label)
                return e.value;
        }
        return ~std::uint64_t{0};
    }
    entry all[40] = {};
    std::size_t count = 0;
};

// BP-8, BP-10: each has a number of its own, so that none stands for another.
TEST(scheduler_metrics, each_reaches_the_sink_under_its_name) {
    scheduler_metrics m;
    m.active = 1;
    m.periodic = 2;
    m.fired = 3;
    m.missed = 4;
    m.cancelled = 5;
    m.dropped = 6;
    for (std::size_t i = 0; i < scheduler_errc_count; ++i)
        m.rejected[i] = 100 + i;
    for (std::size_t i = 0; i < backpressure_cause_count; ++i)
        m.backpressured[i] = 200 + i;
    m.quota = 7;
    m.backlog = 8;
    m.backlog_peak = 9;
    m.overflow = 10;
    m.tick_backlog_peak = 11;
    m.window = 12;
    m.above_window = 13;
    m.drift_compensations = 14;
    m.drift_max_ns = 15;
    m.lateness.total_us = 16;
    m.on_close_run = 17;
    m.on_close_failed = 18;
    m.on_close_duration = 19_us;
    m.pending_commands = 20;
    m.diagnostics_dropped = 21;
    kept_metrics sink;
    m.publish(sink);

    EXPECT_EQ(sink.of(timer_metric::active), 1u);
    EXPECT_EQ(sink.of(timer_metric::periodic), 2u);
    EXPECT_EQ(sink.of(timer_metric::fired), 3u);
    EXPECT_EQ(sink.of(timer_metric::missed), 4u);
    EXPECT_EQ(sink.of(timer_metric::cancelled), 5u);
    EXPECT_EQ(sink.of(timer_metric::dropped), 6u);
    for (std::size_t i = 0; i < scheduler_errc_count; ++i)
        EXPECT_EQ(sink.of(timer_metric::rejected, name_of(static_cast<scheduler_errc>(i))),
                  100 + i);
    for (std::size_t i = 1; i < backpressure_cause_count; ++i)
        EXPECT_EQ(sink.of(timer_metric::backpressured, name_of(static_cast<backpressure_cause>(i))),
                  200 + i);
    EXPECT_EQ(sink.of(timer_metric::quota), 7u);
    EXPECT_EQ(sink.of(timer_metric::backlog), 8u);
    EXPECT_EQ(sink.of(timer_metric::backlog_peak), 9u);
    EXPECT_EQ(sink.of(timer_metric::overflow), 10u);
    EXPECT_EQ(sink.of(timer_metric::tick_backlog_peak), 11u);
    EXPECT_EQ(sink.of(timer_metric::window), 12u);
    EXPECT_EQ(sink.of(timer_metric::above_window), 13u);
    EXPECT_EQ(sink.of(timer_metric::drift_compensations), 14u);
    EXPECT_EQ(sink.of(timer_metric::drift_max), 15u);
    EXPECT_EQ(sink.of(timer_metric::lateness), 16u);
    EXPECT_EQ(sink.of(timer_metric::on_close_run), 17u);
    EXPECT_EQ(sink.of(timer_metric::on_close_failed), 18u);
    EXPECT_EQ(sink.of(timer_metric::on_close_duration), 19u);
    EXPECT_EQ(sink.of(timer_metric::pending_commands), 20u);
    EXPECT_EQ(sink.of(timer_metric::diagnostics_dropped), 21u);

    // Nothing else, and nothing twice; each as what the table says, in its order.
    EXPECT_EQ(sink.count,
              timer_metric_count - 2 + scheduler_errc_count + backpressure_cause_count - 1);
    for (std::size_t i = 0; i < sink.count; ++i) {
        EXPECT_TRUE(sink.all[i].what->kind == sink.all[i].as);
        EXPECT_EQ(sink.all[i].label.empty(), *sink.all[i].what->label == '\0');
        EXPECT_TRUE(i == 0 || sink.all[i].what >= sink.all[i - 1].what);
    }
}

// OH-2: names are unique, begin alike, and say their kind.
TEST(scheduler_metrics, names_follow_the_rules) {
    for (std::size_t i = 0; i < timer_metric_count; ++i) {
        const metric_info& m = timer_metric_table[i];
        const std::string_view name = m.name;
        EXPECT_TRUE(name.starts_with("scheduler.timer."));
        EXPECT_EQ(name.ends_with("_total"), m.kind == metric_kind::counter);
        EXPECT_FALSE(std::string_view(m.meaning).empty());
        for (std::size_t k = 0; k < i; ++k)
            EXPECT_FALSE(name == timer_metric_table[k].name);
        for (const metric_info& other : metric_table)
            EXPECT_FALSE(name == other.name);
    }
}

// BP-8: rejected by reason; under backpressure by cause, too.
TEST(scheduler_metrics, refusals_are_counted_by_reason) {
    scheduler_metrics m;
    m.count_rejected({.code = scheduler_errc::quota_exceeded});
    m.count_rejected({.code = scheduler_errc::quota_exceeded});
    m.count_rejected({.code = scheduler_errc::backpressured, .cause = backpressure_cause::gauge});
    EXPECT_EQ(m.rejected[static_cast<std::size_t>(scheduler_errc::quota_exceeded)], 2u);
    EXPECT_EQ(m.rejected[static_cast<std::size_t>(scheduler_errc::backpressured)], 1u);
    EXPECT_EQ(m.backpressured[static_cast<std::size_t>(backpressure_cause::gauge)], 1u);
    EXPECT_EQ(m.backpressured[0], 0u);
    EXPECT_EQ(m.rejected_total(), 3u);
}

// BP-8, SC-33: peaks stay, and what is early is not late.
TEST(scheduler_metrics, peaks_and_lateness) {
    scheduler_metrics m;
    m.set_backlog(5);
    m.set_backlog(3);
    EXPECT_EQ(m.backlog, 3u);
    EXPECT_EQ(m.backlog_peak, 5u);
    m.note_drift(70);
    m.note_drift(60);
    EXPECT_EQ(m.drift_max_ns, 70u);
    m.count_lateness(3_ms);
    m.count_lateness(-1_ms);
    EXPECT_EQ(m.lateness.counts[0], 1u);
    EXPECT_EQ(m.lateness.counts[duration_buckets::of(3'000'000)], 1u);
    EXPECT_EQ(m.lateness.total_us, 3'000u);
}

}  // namespace
}  // namespace tactus
