// SPDX-License-Identifier: Apache-2.0
//
// Goal: subscribers are independent, bounded, and told what they lost (SD-2, SD-6).
#include <tactus/scheduler/diagnostics.hpp>

#include <array>
#include <span>

#include "portable_test.hpp"
#include "test_memory.hpp"

namespace tactus {
namespace {

using tactus_test::test_memory;

struct kept_warnings final : scheduler_listener {
    void warned(const scheduler_warning& what) noexcept override {
        if (count < std::size(all))
            all[count] = what;
        ++count;
    }
    scheduler_warning all[8];
    std::size_t count = 0;
};

struct rig {
    alignas(16) std::array<std::byte, 2'048> bytes{};
    test_memory memory{bytes};
    diagnostics hub{memory};
    kept_warnings warnings;

    void publish(diagnostic_kind kind, std::uint64_t job) {
        if (hub.publish({.kind = kind, .job = job, .at = job}))
            hub.tell(warnings, instant::from_ns(job));
    }
    void publish(std::uint64_t from, std::uint64_t to) {
        for (std::uint64_t job = from; job <= to; ++job)
            publish(diagnostic_kind::schedule, job);
    }
};

// SD-2, TC-S36: schedule and fire of a job reach who subscribed.
TEST(diagnostics, a_subscriber_gets_what_it_asked_for_in_order) {
    rig r;
    auto s = *r.hub.subscribe({diagnostic_kind::schedule, diagnostic_kind::fire}, 8);
    const diagnostic scheduled{.kind = diagnostic_kind::schedule,
                               .mode = job_mode::fixed_rate,
                               .executor = 3,
                               .job = 7,
                               .scheduled_at = 1,
                               .deadline = 3,
                               .at = 1,
                               .detail = -5};
    EXPECT_FALSE(r.hub.publish(scheduled));
    r.publish(diagnostic_kind::cancel, 8);  // not asked for
    r.publish(diagnostic_kind::fire, 7);
    EXPECT_TRUE(s.poll() == scheduled);
    const auto second = s.poll();
    ASSERT_TRUE(second.has_value());
    EXPECT_TRUE(second->kind == diagnostic_kind::fire && second->job == job_id{7});
    EXPECT_FALSE(s.poll().has_value());
    EXPECT_EQ(s.dropped(), 0u);
}

// SD-6: each kind has a bit of its own.
TEST(diagnostics, each_kind_can_be_subscribed_alone) {
    rig r;
    for (std::size_t i = 0; i < diagnostic_kind_count; ++i) {
        auto s = *r.hub.subscribe(static_cast<diagnostic_kind>(i), 8);
        for (std::size_t k = 0; k < diagnostic_kind_count; ++k)
            r.publish(static_cast<diagnostic_kind>(k), k);
        const auto got = s.poll();
        ASSERT_TRUE(got.has_value());
        EXPECT_EQ(got->job, i);
        EXPECT_FALSE(s.poll().has_value());
    }
    auto all = *r.hub.subscribe(diagnostic_kinds::all(), diagnostic_kind_count);
    for (std::size_t k = 0; k < diagnostic_kind_count; ++k)
        r.publish(static_cast<diagnostic_kind>(k), k);
    std::array<diagnostic, diagnostic_kind_count> got;
    EXPECT_EQ(all.drain(got), diagnostic_kind_count);
}

// SD-2: at least two subscribers see every event, each in its own time.
TEST(diagnostics, subscribers_are_independent) {
    rig r;
    auto a = *r.hub.subscribe(diagnostic_kind::schedule, 4);
    r.publish(1, 2);
    auto b = *r.hub.subscribe(diagnostic_kind::schedule, 2);
    r.publish(3, 4);
    EXPECT_EQ(a.poll()->job, 1u);
    EXPECT_EQ(b.poll()->job, 3u);
    r.publish(5, 5);
    for (const std::uint64_t job : {2u, 3u, 4u, 5u})
        EXPECT_EQ(a.poll()->job, job);
    for (const std::uint64_t job : {4u, 5u})
        EXPECT_EQ(b.poll()->job, job);
    EXPECT_EQ(a.dropped() + b.dropped(), 0u);
    EXPECT_EQ(r.warnings.count, 0u);
}

// SD-2: the oldest goes first, and it is said how many went.
TEST(diagnostics, a_full_queue_loses_its_oldest) {
    rig r;
    auto s = *r.hub.subscribe(diagnostic_kind::schedule, 3);
    r.publish(1, 5);
    EXPECT_EQ(s.dropped(), 2u);
    std::array<diagnostic, 2> got;
    EXPECT_EQ(s.drain(got), 2u);
    EXPECT_EQ(got[0].job, 3u);
    EXPECT_EQ(got[1].job, 4u);
    EXPECT_EQ(s.drain(got), 1u);
    EXPECT_EQ(got[0].job, 5u);
    EXPECT_EQ(s.drain(got), 0u);
}

// TC-S37: room for one, two events.
TEST(diagnostics, TC_S37_a_loss_is_told) {
    rig r;
    auto s = *r.hub.subscribe(diagnostic_kind::schedule, 1);
    r.publish(1, 1);
    EXPECT_EQ(r.warnings.count, 0u);
    r.publish(2, 2);
    ASSERT_EQ(r.warnings.count, 1u);
    EXPECT_TRUE(r.warnings.all[0].kind == scheduler_warning_kind::diagnostics_dropped);
    EXPECT_EQ(r.warnings.all[0].value, 1);
    EXPECT_EQ(r.warnings.all[0].limit, 1);
    EXPECT_EQ(r.warnings.all[0].at.ns(), 2u);
}

// SD-2: losses are told once until the subscriber has caught up, whatever it takes in between.
TEST(diagnostics, losses_are_told_once_per_run) {
    rig r;
    auto s = *r.hub.subscribe(diagnostic_kind::schedule, 4);
    r.publish(1, 6);
    EXPECT_EQ(r.warnings.count, 1u);
    EXPECT_EQ(r.warnings.all[0].value, 1);
    (void)s.poll();
    r.publish(7, 9);  // one fits, two are lost
    EXPECT_EQ(r.warnings.count, 1u);
    std::array<diagnostic, 4> got;
    EXPECT_EQ(s.drain(got), 4u);
    r.publish(1, 4);
    EXPECT_EQ(r.warnings.count, 1u);
    r.publish(5, 5);
    ASSERT_EQ(r.warnings.count, 2u);
    EXPECT_TRUE(r.warnings.all[1].kind == scheduler_warning_kind::diagnostics_dropped);
    EXPECT_EQ(r.warnings.all[1].value, 5);  // lost so far: 2, 2 and this one
    EXPECT_EQ(r.warnings.all[1].limit, 4);
}

// DF-76, SD-6: the subscriber that lost as many events in a row as its queue has is told in its
// queue, before what is left there: once, with what it lost, whatever kinds it asked for.
TEST(diagnostics, DF_76_the_subscriber_is_told_that_a_whole_queue_was_lost) {
    rig r;
    auto s = *r.hub.subscribe(diagnostic_kind::schedule, 3);
    auto other = *r.hub.subscribe(diagnostic_kind::schedule, 18);
    const auto is_overflow = [](const std::optional<diagnostic>& d, std::int64_t lost, tick at) {
        return d && d->kind == diagnostic_kind::diagnostics_overflow && d->detail == lost &&
               d->at == at;
    };
    r.publish(1, 5);               // two are lost
    EXPECT_EQ(s.poll()->job, 3u);  // less than three in a row
    r.publish(6, 8);               // one fits, two are lost: again less than three
    r.publish(9, 9);
    std::array<diagnostic, 2> got;
    ASSERT_EQ(s.drain(got), 2u);
    EXPECT_TRUE(is_overflow(got[0], 3, 9));
    EXPECT_EQ(got[1].job, 7u);
    ASSERT_EQ(s.drain(got), 2u);
    EXPECT_EQ(got[0].job, 8u);
    EXPECT_EQ(got[1].job, 9u);
    r.publish(10, 18);  // six are lost: told once, with all of them
    EXPECT_TRUE(is_overflow(s.poll(), 6, 18));
    for (const std::uint64_t job : {16u, 17u, 18u})
        EXPECT_EQ(s.poll()->job, job);
    EXPECT_FALSE(s.poll().has_value());
    // The system's listener is told of losses alone, and the other subscriber of nothing.
    EXPECT_EQ(r.warnings.count, 2u);
    while (const auto d = other.poll())
        EXPECT_TRUE(d->kind == diagnostic_kind::schedule);
}

// DF-76, SD-2: a reader is told in order, under no lock, by tell(); it may change what it wants.
struct kept_events final : diagnostic_reader {
    void read(const diagnostic& what) noexcept override {
        if (count < std::size(all))
            all[count] = what.job;
        ++count;
        if (count == stop_at)
            from->want({});
    }
    diagnostics::subscription* from = nullptr;
    std::size_t stop_at = 0;
    job_id all[8] = {};
    std::size_t count = 0;
};
TEST(diagnostics, DF_76_a_reader_is_told_what_happens) {
    rig r;
    kept_events reader;
    reader.stop_at = 4;
    auto s = *r.hub.subscribe(diagnostic_kind::schedule, 3, &reader);
    reader.from = &s;
    r.publish(1, 2);
    EXPECT_EQ(reader.count, 2u);
    EXPECT_TRUE(r.hub.publish({.kind = diagnostic_kind::schedule, .job = 3}));
    EXPECT_EQ(reader.count, 2u);  // under the lock of the publisher it is told nothing
    r.publish(4, 4);
    EXPECT_EQ(reader.count, 4u);
    for (std::size_t i = 0; i < 4; ++i)
        EXPECT_EQ(reader.all[i], i + 1);
    EXPECT_FALSE(r.hub.wants(diagnostic_kind::schedule));  // as it said
    r.publish(5, 5);
    s.want(diagnostic_kind::schedule);
    r.publish(6, 6);
    EXPECT_EQ(reader.count, 5u);
    EXPECT_EQ(reader.all[4], 6u);
    EXPECT_EQ(r.warnings.count, 0u);
}

// SD-2: each subscriber that lost something is told of.
TEST(diagnostics, losses_of_two_subscribers_are_told_apart) {
    rig r;
    auto a = *r.hub.subscribe(diagnostic_kind::schedule, 2);
    auto b = *r.hub.subscribe(diagnostic_kind::schedule, 3);
    r.publish(1, 3);
    ASSERT_EQ(r.warnings.count, 1u);
    EXPECT_EQ(r.warnings.all[0].limit, 2);
    EXPECT_TRUE(r.hub.publish({.kind = diagnostic_kind::schedule}));
    r.hub.tell(r.warnings, {});
    ASSERT_EQ(r.warnings.count, 2u);
    EXPECT_EQ(r.warnings.all[1].limit, 3);
}

// SD-2: dropping the handle frees the queue; moving it does not.
TEST(diagnostics, a_dropped_handle_frees_its_queue) {
    rig r;
    {
        auto a = *r.hub.subscribe(diagnostic_kind::schedule, 4);
        auto b = *r.hub.subscribe(diagnostic_kind::fire, 4);
        EXPECT_EQ(r.memory.live_blocks, 2u);
        EXPECT_EQ(r.memory.live_bytes, 2 * diagnostics::queue_bytes(4));
        diagnostics::subscription c = std::move(a);
        EXPECT_FALSE(static_cast<bool>(a));  // NOLINT: that is the question
        EXPECT_FALSE(a.poll().has_value());  // NOLINT
        EXPECT_EQ(a.dropped(), 0u);          // NOLINT
        r.publish(1, 1);
        EXPECT_TRUE(c.poll().has_value());
        b = diagnostics::subscription();
        EXPECT_EQ(r.memory.live_blocks, 1u);
        EXPECT_FALSE(r.hub.wants(diagnostic_kind::fire));
        EXPECT_TRUE(r.hub.wants(diagnostic_kind::schedule));
    }
    EXPECT_EQ(r.memory.live_blocks, 0u);
    EXPECT_EQ(r.memory.wrong_releases, 0u);
    EXPECT_FALSE(r.hub.wants(diagnostic_kind::schedule));
}

// SD-2, SC-2: what is refused changes nothing.
TEST(diagnostics, a_queue_that_cannot_be_is_refused) {
    rig r;
    const auto none = r.hub.subscribe(diagnostic_kinds::all(), 0);
    ASSERT_FALSE(none.has_value());
    EXPECT_TRUE(none.error().code == scheduler_errc::invalid_options);
    EXPECT_EQ(none.error().limit, 1);
    const auto large = r.hub.subscribe(diagnostic_kinds::all(), diagnostics::capacity_max + 1);
    ASSERT_FALSE(large.has_value());
    EXPECT_TRUE(large.error().code == scheduler_errc::invalid_options);
    EXPECT_EQ(large.error().limit, diagnostics::capacity_max);
    const auto first = r.hub.subscribe(diagnostic_kind::fire, 1);
    r.memory.refusing = true;
    const auto second = r.hub.subscribe(diagnostic_kinds::all(), 1);
    ASSERT_FALSE(second.has_value());
    EXPECT_TRUE(second.error().code == scheduler_errc::capacity_exceeded);
    EXPECT_EQ(second.error().value, 1);
    EXPECT_FALSE(r.hub.wants(diagnostic_kind::schedule));
}

// SD-6: dumps show who lost how much.
TEST(diagnostics, SD_6_drop_counts_can_be_looked_at) {
    rig r;
    auto a = *r.hub.subscribe(diagnostic_kind::schedule, 2);
    {
        auto b = *r.hub.subscribe(diagnostic_kind::schedule, 1);
        r.publish(1, 3);
    }
    auto c = *r.hub.subscribe(diagnostic_kind::fire, 5);
    r.publish(diagnostic_kind::fire, 4);
    diagnostics::subscriber seen[1];
    const auto some = r.hub.look(seen);
    EXPECT_EQ(some.subscribers, 2u);
    EXPECT_EQ(some.dropped, 1u + 2u);
    EXPECT_EQ(seen[0].number, 1u);
    EXPECT_EQ(seen[0].dropped, 1u);
    diagnostics::subscriber both[2];
    (void)r.hub.look(both);
    EXPECT_EQ(both[1].number, 3u);
    EXPECT_EQ(both[1].waiting, 1u);
    EXPECT_EQ(both[1].capacity, 5u);
    EXPECT_TRUE(both[1].kinds == diagnostic_kinds(diagnostic_kind::fire));
}

// SD-2: 256 unless told.
TEST(diagnostics, a_queue_has_256_unless_told) {
    static_assert(diagnostics::default_capacity == 256);
    rig r;
    r.memory.refusing = true;
    EXPECT_FALSE(r.hub.subscribe(diagnostic_kinds::all()).has_value());
}

}  // namespace
}  // namespace tactus
