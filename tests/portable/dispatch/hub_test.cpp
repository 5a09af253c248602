// SPDX-License-Identifier: Apache-2.0
//
// The hub: counts of hooks are what happened, nothing exists without a sink, and what is sampled is
// one in 256.
#include <tactus/dispatch/hub.hpp>

#include <span>
#include <string_view>

#include <tactus/dispatch/offer.hpp>

#include "kernel_rig.hpp"

using namespace tactus_test;
using tactus::actor_scheduler;
using tactus::duration_buckets;
using tactus::metric;
using tactus::metric_count;
using tactus::metric_info;
using tactus::metric_kind;
using tactus::metric_table;

namespace {

/// On a small board lanes are small, so that there is room for shards.
struct hub_rig : kernel_rig {
    hub_rig() noexcept
        : kernel_rig([](options& o) {
              if (board::roomy)
                  return;
              o.ring_capacity = 4;
              o.fresh_capacity = 4;
              o.keyed_capacity = 1;
          }) {}
};

/// Keeps what it is given, by row of the table.
class kept_metrics final : public tactus::metrics_sink {
public:
    void counter(const metric_info& what, std::string_view label,
                 std::uint64_t total) noexcept override {
        note(what, metric_kind::counter, label, total);
    }
    void gauge(const metric_info& what, std::string_view label,
               std::uint64_t value) noexcept override {
        note(what, metric_kind::gauge, label, value);
    }
    void histogram(const metric_info& what, std::string_view,
                   const tactus::histogram_sums& sums) noexcept override {
        std::uint64_t all = 0;
        for (const std::uint64_t n : sums.counts)
            all += n;
        note(what, metric_kind::histogram, {}, all);
        last_total_us = sums.total_us;
    }
    /// Of all labels, or of one.
    [[nodiscard]] std::uint32_t of(metric m) const noexcept {
        return static_cast<std::uint32_t>(values[static_cast<std::size_t>(m)]);
    }
    void begin(std::string_view of_label = {}) noexcept {
        for (std::uint64_t& v : values)
            v = 0;
        for (bool& s : seen)
            s = false;
        wanted = of_label;
    }

    std::uint64_t values[metric_count] = {};
    bool seen[metric_count] = {};
    unsigned wrong = 0;  // kinds and labels that the table does not have
    std::string_view wanted;
    std::uint64_t last_total_us = 0;

private:
    void note(const metric_info& what, metric_kind kind, std::string_view label,
              std::uint64_t value) noexcept {
        const auto row = static_cast<std::size_t>(&what - metric_table);
        if (kind != what.kind || label.empty() != std::string_view(what.label).empty())
            ++wrong;
        seen[row] = true;
        if (wanted.empty() || label == wanted)
            values[row] += value;
    }
};

kept_metrics& collected(kernel_rig& r, kept_metrics& sink, std::string_view label = {}) {
    sink.begin(label);
    EXPECT_TRUE(r->collect_metrics());
    return sink;
}

}  // namespace

// OH-1: without a sink there is no buffer, and nothing to collect.
TEST(hub, nothing_exists_without_a_sink) {
    hub_rig r;
    const std::size_t before = r.memory.live_blocks;
    const auto a = r.spawn();
    r.tell(a, {1, 2, 3});
    r.run();
    EXPECT_EQ(r.memory.live_blocks, before);
    EXPECT_FALSE(r->collect_metrics());
    kept_metrics sink;
    EXPECT_TRUE(r->set_metrics_sink(&sink));
    EXPECT_GT(r.memory.live_blocks, before);
    TEST_LOG("bytes of the kernel and its shards:", r.memory.live_bytes);
    EXPECT_TRUE(r->set_metrics_sink(nullptr));
    EXPECT_FALSE(r->collect_metrics());
    r.destroy();
    EXPECT_EQ(r.memory.live_blocks, 0U);
    EXPECT_EQ(r.memory.wrong_releases, 0U);
}

// OH-1: no memory for a shard: not measured, and the system goes on.
TEST(hub, without_memory_nothing_is_measured) {
    hub_rig r;
    kept_metrics sink;
    // The sums, then one shard, are kept for the next time.
    for (const std::size_t blocks : {0U, 1U, 1U}) {
        r.memory.allowance = blocks;
        EXPECT_FALSE(r->set_metrics_sink(&sink));
        EXPECT_FALSE(r->collect_metrics());
    }
    r.memory.allowance = ~std::size_t{0};
    const auto a = r.spawn();
    r.tell(a, {1});
    r.run();
    EXPECT_TRUE(journal().is({1}));
}

// OH-1, OH-2: every row of the table is fed, with the kind and label it says.
TEST(hub, every_metric_of_the_table_is_fed) {
    hub_rig r;
    kept_metrics sink;
    struct all_labels final : tactus::actor_labels {
        [[nodiscard]] std::string_view label_of(tactus::mailbox_index,
                                                std::span<char>) noexcept override {
            return "somebody";
        }
    } labels;
    ASSERT_TRUE(r->set_metrics_sink(&sink, &labels));
    (void)r.spawn();
    (void)collected(r, sink);
    for (const bool s : sink.seen)
        EXPECT_TRUE(s);
    EXPECT_EQ(sink.wrong, 0U);
}

// OH-1, MB-8: from outside, from handlers, and before a run; dequeued, and still there.
TEST(hub, messages_are_conserved) {
    hub_rig r;
    kept_metrics sink;
    ASSERT_TRUE(r->set_metrics_sink(&sink));
    static tactus::mailbox_index other;
    other = r.spawn();
    const auto a = r.spawn<plain_actor>([](tactus::turn& t, std::uint32_t v) {
        t.send(other, number{v + 100});
        t.send(other, number{v + 200});
    });
    r.tell(a, {1, 2, 3});
    EXPECT_EQ(collected(r, sink).of(metric::enqueued), 3U);
    EXPECT_EQ(sink.of(metric::dequeued), 0U);
    (void)r.run_once();  // a's three
    EXPECT_EQ(collected(r, sink).of(metric::enqueued), 9U);
    EXPECT_EQ(sink.of(metric::dequeued), 3U);
    r.run();
    EXPECT_EQ(collected(r, sink).of(metric::dequeued), 9U);
    EXPECT_EQ(sink.of(metric::invoke_runs), 2U);
    EXPECT_EQ(sink.of(metric::discarded), 0U);

    // A task's, and a worker's before its first run.
    {
        const tactus::worker::binding bound(r->worker_at(0));
        actor_scheduler::tell(other, number{7});
    }
    r.run();
    EXPECT_EQ(collected(r, sink).of(metric::enqueued), 10U);
    EXPECT_EQ(sink.of(metric::dequeued), 10U);
}

// OH-1: refused with its reason, dead letter with its cause; leftovers are discarded.
TEST(hub, what_is_not_handled_has_a_reason) {
    hub_rig r;
    kept_metrics sink;
    ASSERT_TRUE(r->set_metrics_sink(&sink));
    const auto a = r.spawn();
    r.tell(a, {1, 2});
    (void)r->stop(a);
    r.run();
    r.tell(a, {3});
    EXPECT_EQ(actor_scheduler::try_tell(a, number{4}), tactus::sent::recipient_terminated);
    EXPECT_EQ(collected(r, sink).of(metric::enqueued), 2U);
    EXPECT_EQ(sink.of(metric::dequeued), 0U);
    EXPECT_EQ(sink.of(metric::discarded), 2U);
    EXPECT_EQ(sink.of(metric::refused), 2U);
    EXPECT_EQ(sink.of(metric::dead_letters), 3U);
    EXPECT_EQ(collected(r, sink, "recipient_terminated").of(metric::refused), 2U);
    EXPECT_EQ(sink.of(metric::dead_letters), 3U);

    // From a worker, too; and to a bounded mailbox, which evicts or refuses.
    static tactus::mailbox_index full;
    static tactus::mailbox_index evicts;
    full = *r->spawn<plain_actor>({.mailbox = {.capacity = 1}});
    evicts = *r->spawn<plain_actor>(
        {.mailbox = {.when_full = tactus::overflow::drop_oldest, .capacity = 1}});
    const auto b = r.spawn<plain_actor>([](tactus::turn& t, std::uint32_t v) {
        t.send(full, number{v});
        t.send(full, number{v});
        t.send(evicts, number{v});
        t.send(evicts, number{v});
    });
    r.tell(b, {1});
    r.run();
    EXPECT_EQ(collected(r, sink, "mailbox_full").of(metric::refused), 1U);
    EXPECT_EQ(sink.of(metric::dead_letters), 2U);
    EXPECT_EQ(collected(r, sink).of(metric::enqueued), 2U + 1U + 3U);
    EXPECT_EQ(sink.of(metric::dequeued), 1U + 2U);
    EXPECT_EQ(sink.of(metric::discarded), 2U + 1U);
}

// OH-1, CO-4: held back, let go, and failures that supervision decides on.
TEST(hub, suspensions_and_failures_are_counted) {
    hub_rig r;
    kept_metrics sink;
    ASSERT_TRUE(r->set_metrics_sink(&sink));
    const auto a = r.spawn<plain_actor>([](tactus::turn& t, std::uint32_t v) {
        EXPECT_TRUE(
            t.suspend(tactus::suspend_reason::rate_limit, tactus::resume_condition::signal(v)));
    });
    r.tell(a, {5});
    r.run();
    r.time.advance(tactus::duration::from_ms(30));
    EXPECT_EQ(collected(r, sink, "rate_limit").of(metric::suspended), 1U);
    EXPECT_EQ(collected(r, sink).of(metric::resumed), 0U);
    EXPECT_EQ(r->signal(5), 1U);
    EXPECT_EQ(r->signal(6), 0U);
    r.run();
    EXPECT_EQ(collected(r, sink).of(metric::resumed), 1U);
    EXPECT_EQ(sink.of(metric::suspended_total), 30U);
    EXPECT_EQ(sink.of(metric::unheard_signals), 1U);

    struct failing {
        tactus::failure receive(tactus::turn&, tactus::envelope&) { return {"no", nullptr}; }
    };
    const auto b = r.spawn<failing>();
    r.tell(b, {1});
    r.run();
    EXPECT_EQ(collected(r, sink).of(metric::escalated), 1U);
    EXPECT_EQ(collected(r, sink, "supervision").of(metric::suspended), 1U);
    EXPECT_EQ(collected(r, sink).of(metric::dequeued), 2U);
}

// MB-8: one message in 256 is timed, from outside and from a worker; one run in 256, too.
TEST(hub, waiting_is_sampled) {
    hub_rig r;
    kept_metrics sink;
    ASSERT_TRUE(r->set_metrics_sink(&sink));
    constexpr unsigned rounds = 2'560;
    static tactus::mailbox_index other;
    other = r.spawn<plain_actor>([](tactus::turn& t, std::uint32_t v) {
        if (v != 0)
            t.reply(number{v - 1});
    });
    const auto a = r.spawn<plain_actor>([](tactus::turn& t, std::uint32_t v) {
        if (v != 0)
            t.send(other, number{v - 1});
    });
    r.tell(a, {rounds});
    while (r.run_once())
        r.time.advance(tactus::duration::from_us(3));
    journal().clear();
    EXPECT_EQ(collected(r, sink).of(metric::dequeued), rounds + 1);
    // The first from outside, and then each 256th of the worker's.
    EXPECT_GE(sink.of(metric::latency), rounds / 256);
    EXPECT_LE(sink.of(metric::latency), rounds / 256 + 2);
    EXPECT_GE(sink.of(metric::invoke_duration), rounds / 256 - 1);
    EXPECT_LE(sink.of(metric::invoke_duration), rounds / 256 + 1);
}

// OH-1: removed while messages are on their way, a stamped one among them, and set again.
TEST(hub, a_sink_comes_and_goes) {
    hub_rig r;
    kept_metrics sink;
    const auto a = r.spawn();
    for (unsigned i = 0; i < 4; ++i) {
        ASSERT_TRUE(r->set_metrics_sink(&sink));
        r.tell(a, {1});
        ASSERT_TRUE(r->set_metrics_sink(nullptr));
        r.run();
    }
    EXPECT_TRUE(journal().is({1, 1, 1, 1}));
    ASSERT_TRUE(r->set_metrics_sink(&sink));
    EXPECT_EQ(collected(r, sink).of(metric::enqueued), 4U);
    EXPECT_EQ(sink.of(metric::dequeued), 0U);
}

// OH-1: fixed buckets; each end belongs to the next.
TEST(hub, durations_fall_into_their_buckets) {
    EXPECT_EQ(duration_buckets::of(0), 0U);
    for (std::size_t i = 0; i + 1 < duration_buckets::count; ++i) {
        EXPECT_EQ(duration_buckets::of(duration_buckets::end_ns(i) - 1), i);
        EXPECT_EQ(duration_buckets::of(duration_buckets::end_ns(i)), i + 1);
    }
    EXPECT_EQ(duration_buckets::of(~std::uint64_t{0}), duration_buckets::count - 1);
}
