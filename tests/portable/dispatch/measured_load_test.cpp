// SPDX-License-Identifier: Apache-2.0
//
// Goal: how busy workers are, and how full the mailboxes of chosen actors (OH-2).
// Method: a clock set by hand, moved by handlers; every value is worked out here.
#include <tactus/dispatch/hub.hpp>

#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include <tactus/dispatch/worker_task.hpp>

#include "kernel_rig.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using tactus_test::journal;
using tactus_test::kernel_rig;
using tactus_test::plain_actor;

namespace {

/// Keeps the gauges of one metric.
class gauges final : public metrics_sink {
public:
    explicit gauges(metric m) noexcept : of_(m) {}
    void counter(const metric_info&, std::string_view, std::uint64_t) noexcept override {}
    void gauge(const metric_info& what, std::string_view label,
               std::uint64_t value) noexcept override {
        if (&what != &info_of(of_) || count == std::size(values))
            return;
        labels[count][label.copy(labels[count], sizeof labels[count] - 1)] = 0;
        values[count++] = value;
    }
    void histogram(const metric_info&, std::string_view, const histogram_sums&) noexcept override {}
    gauges& collect(kernel_rig& r) noexcept {
        count = 0;
        EXPECT_TRUE(r->collect_metrics());
        return *this;
    }
    /// Of the only label, or of the first.
    [[nodiscard]] std::uint32_t one(kernel_rig& r) noexcept {
        (void)collect(r);
        EXPECT_GE(count, 1U);
        return static_cast<std::uint32_t>(values[0]);
    }
    std::uint32_t count = 0;
    std::uint64_t values[8] = {};
    char labels[8][16] = {};

private:
    metric of_;
};

kernel_rig* running = nullptr;

/// Works for as many milliseconds as it is told.
constexpr auto works = +[](turn&, std::uint32_t n) { running->time.advance(duration::from_ms(n)); };

/// On a small board lanes are small, so that there is room for shards.
struct busy_rig : kernel_rig {
    template <class Change>
    explicit busy_rig(Change&& change) noexcept
        : kernel_rig([&](options& o) {
              if (!tactus_test::board::roomy) {
                  o.ring_capacity = 4;
                  o.fresh_capacity = 4;
                  o.keyed_capacity = 1;
              }
              change(o);
          }) {
        running = this;
        actor = spawn(works);
    }
    busy_rig() noexcept : busy_rig([](options&) {}) {}
    void work(std::uint32_t ms) {
        tell(actor, {ms});
        run();
    }
    void idle(int ms) { time.advance(duration::from_ms(ms)); }

    mailbox_index actor;
};

}  // namespace

// OH-2: busy 3 of 4 ms is 0.75; of the time since the last collection, not of all.
TEST(measured_load, a_workers_share_of_the_time_with_work) {
    busy_rig r;
    gauges ratio(metric::busy_ratio);
    ASSERT_TRUE(r->set_metrics_sink(&ratio));
    EXPECT_EQ(info_of(metric::busy_ratio).parts, 1'000'000U);
    r.work(3);
    r.idle(1);
    EXPECT_EQ(ratio.one(r), 750'000U);
    EXPECT_EQ(std::string_view(ratio.labels[0]), "0/0");
    EXPECT_EQ(ratio.count, 1U);

    // Runs and breaks add up.
    r.idle(2);
    r.work(1);
    r.idle(4);
    r.work(1);
    EXPECT_EQ(ratio.one(r), 250'000U);
    EXPECT_EQ(ratio.one(r), 250'000U);  // no time has passed: nothing new is known
    r.idle(5);
    EXPECT_EQ(ratio.one(r), 0U);
    r.work(7);
    EXPECT_EQ(ratio.one(r), 1'000'000U);
    journal().clear();
}

// OH-2: who is in the middle of a run has been busy so far.
TEST(measured_load, a_run_that_goes_on_counts) {
    busy_rig r;
    static gauges ratio(metric::busy_ratio);
    ASSERT_TRUE(r->set_metrics_sink(&ratio));
    const auto collects = r.spawn(+[](turn&, std::uint32_t n) {
        running->time.advance(duration::from_ms(n));
        EXPECT_EQ(ratio.one(*running), 200'000U);
        running->time.advance(duration::from_ms(n));
    });
    r.idle(8);
    r.tell(collects, {2});
    r.run();
    r.idle(2);
    EXPECT_EQ(ratio.one(r), 500'000U);
    EXPECT_TRUE(r->set_metrics_sink(nullptr));
    journal().clear();
}

// OH-2: a sink that is set while a worker runs, and one that comes back, begin where they are.
TEST(measured_load, a_sink_begins_when_it_is_set) {
    busy_rig r;
    static gauges ratio(metric::busy_ratio);
    r.work(3);
    const auto sets = r.spawn(+[](turn&, std::uint32_t n) {
        running->time.advance(duration::from_ms(5));
        EXPECT_TRUE((*running)->set_metrics_sink(n != 0 ? &ratio : nullptr));
        running->time.advance(duration::from_ms(1));
    });
    r.tell(sets, {1});
    r.run();
    r.idle(3);
    EXPECT_EQ(ratio.one(r), 250'000U);
    // Removed within a run: what follows is nobody's.
    r.tell(sets, {0});
    r.run();
    r.work(10);
    ASSERT_TRUE(r->set_metrics_sink(&ratio));
    r.idle(1);
    EXPECT_EQ(ratio.one(r), 0U);
    r.work(1);
    EXPECT_EQ(ratio.one(r), 1'000'000U);
    journal().clear();
}

// OH-2: tasks are work, too.
TEST(measured_load, tasks_are_work) {
    struct slow_task final : worker_task {
        handled run() noexcept override {
            running->time.advance(duration::from_ms(2));
            return handled::ok();
        }
        void dropped() noexcept override {}
    };
    busy_rig r;
    gauges ratio(metric::busy_ratio);
    ASSERT_TRUE(r->set_metrics_sink(&ratio));
    r.run();
    r.idle(6);
    slow_task t;
    ASSERT_TRUE(r->execute(t));
    r.run();
    EXPECT_EQ(ratio.one(r), 250'000U);
}

// OH-2: each worker its own, of every dispatcher, be it added later.
TEST(measured_load, every_worker_has_a_ratio) {
    if constexpr (tactus_test::board::roomy) {
        busy_rig r;
        gauges ratio(metric::busy_ratio);
        ASSERT_TRUE(r->set_metrics_sink(&ratio));
        const auto other = r->add_dispatcher({});
        ASSERT_TRUE(other.has_value());
        const auto there = r->spawn<plain_actor>({.dispatcher = 1}, works);
        ASSERT_TRUE(there.has_value());
        {
            worker& w = (*other)->worker_at(0);
            const worker::binding bound(w);
            r.tell(*there, {1});
            while (r->run_one(w)) {
            }
        }
        r.idle(1);
        EXPECT_EQ(ratio.collect(r).count, 2U);
        EXPECT_EQ(std::string_view(ratio.labels[0]), "0/0");
        EXPECT_EQ(std::string_view(ratio.labels[1]), "1/0");
        EXPECT_EQ(ratio.values[0], 0U);
        EXPECT_EQ(ratio.values[1], 500'000U);
        journal().clear();
    }
}
// OH-2
TEST(measured_load, without_a_clock_nobody_is_busy) {
    if constexpr (!tactus_test::board::roomy)
        return;  // no memory for what is measured
    kernel_rig timeless([](kernel_rig::options& o) { o.time = nullptr; });
    gauges ratio(metric::busy_ratio);
    ASSERT_TRUE(timeless->set_metrics_sink(&ratio));
    EXPECT_EQ(ratio.collect(timeless).count, 0U);
}

// OH-2: long times keep the ratio.
TEST(measured_load, days_do_not_overflow) {
    busy_rig r;
    gauges ratio(metric::busy_ratio);
    ASSERT_TRUE(r->set_metrics_sink(&ratio));
    constexpr std::uint32_t ms_of_day = 86'400'000;
    constexpr std::uint32_t days = sizeof(void*) == 8 ? 30 : 0;
    for (std::uint32_t i = 0; i < days; ++i)
        r.work(ms_of_day);
    r.idle(1);
    if (days != 0) {
        EXPECT_GE(ratio.one(r), 999'990U);
    }
    journal().clear();
}

// OH-2: the difference of two looks counts; the word may wrap, and a look may come too late.
TEST(measured_load, sums_wrap) {
    constexpr work_time::number top = ~work_time::number{0} >> 1U;
    EXPECT_EQ(work_time::between(5, 8), 3U);
    EXPECT_EQ(work_time::between(top, 1), 2U);
    EXPECT_EQ(work_time::between(8, 7), 0U);
}

namespace {

/// Chooses one actor.
class one_label final : public actor_labels {
public:
    [[nodiscard]] std::string_view label_of(mailbox_index who,
                                            std::span<char> room) noexcept override {
        ++asked;
        if (!(who == chosen))
            return {};
        std::memcpy(room.data(), "queue", 5);
        return {room.data(), 5};
    }
    mailbox_index chosen;
    unsigned asked = 0;
};

}  // namespace

// DF-64: system messages that wait have a metric beside the depth of the mailbox.
TEST(measured_load, DF_64_the_system_depth_of_chosen_mailboxes) {
    busy_rig r;
    gauges depth(metric::system_depth);
    one_label labels;
    labels.chosen = r.actor;
    ASSERT_TRUE(r->set_metrics_sink(&depth, &labels));
    tactus_test::signal_node nodes[] = {{tactus::system_kind::watch, 1},
                                        {tactus::system_kind::watch, 2}};
    for (auto& m : nodes)
        EXPECT_TRUE(r->send_system(r.actor, m));
    EXPECT_EQ(depth.one(r), tactus::port::cache_line >= 64 ? 2U : 1U);
    EXPECT_EQ(depth.count, 1U);
    EXPECT_EQ(std::string_view(depth.labels[0]), "queue");
    r.run();
    EXPECT_EQ(depth.one(r), 0U);
    journal().clear();
}

// OH-2: the depth of those that have labels; of nobody else, and nobody is asked without.
TEST(measured_load, the_depth_of_chosen_mailboxes) {
    busy_rig r;
    gauges depth(metric::mailbox_depth);
    one_label labels;
    const auto bounded = r->spawn<plain_actor>({.mailbox = {.capacity = 4}});
    ASSERT_TRUE(bounded.has_value());
    labels.chosen = *bounded;
    r.tell(*bounded, {1, 2, 3});
    r.tell(r.actor, {0, 0});
    ASSERT_TRUE(r->set_metrics_sink(&depth));
    EXPECT_EQ(depth.collect(r).count, 0U);
    EXPECT_EQ(labels.asked, 0U);

    ASSERT_TRUE(r->set_metrics_sink(&depth, &labels));
    EXPECT_EQ(depth.one(r), 3U);
    EXPECT_EQ(depth.count, 1U);
    EXPECT_EQ(std::string_view(depth.labels[0]), "queue");
    EXPECT_EQ(labels.asked, 2U);
    r.run();
    EXPECT_EQ(depth.one(r), 0U);
    (void)r->stop(*bounded);
    r.run();
    EXPECT_EQ(depth.collect(r).count, 0U);
    EXPECT_EQ(labels.asked, 5U);  // nobody asks for those that ended
    journal().clear();
}
