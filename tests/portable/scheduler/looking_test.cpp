// SPDX-License-Identifier: Apache-2.0
//
// Goal: what a scheduler shows is so when it is shown: log, diagnostics, dump, last batch (SC-10,
// SD-1 … SD-3, SD-6).
#include <tactus/scheduler/scheduler.hpp>

#include <cstdint>
#include <string_view>

#include <tactus/dispatch/text_buffer.hpp>

#include "scheduler_rig.hpp"

using tactus::diagnostic_kind;
using tactus::diagnostic_kinds;
using tactus::duration;
using tactus::execution_batch;
using tactus::job_mode;
using tactus_test::journal;
using tactus_test::ms;
using tactus_test::number;
using tactus_test::served_rig;

namespace {

// SC-10: who reads the log is called under no lock, and finds what was recorded before.
TEST(looking, SC_10_the_log_is_read_under_no_lock) {
    served_rig rig;
    const auto who = rig.spawn();
    ASSERT_TRUE(rig->enable_deterministic_log(3).has_value());
    ASSERT_TRUE(rig->schedule_once(ms(1), who, number{1}).has_value());
    unsigned calls = 0;
    rig->read_log([&](const tactus::recorded_log& log) {
        ++calls;
        ASSERT_EQ(log.records().size(), 1u);
        EXPECT_TRUE(rig->schedule_once(ms(2), who, number{2}).has_value());
        rig.pass(1);
        EXPECT_EQ(log.records().size(), 1u);
        EXPECT_EQ(log.records()[0].kind, diagnostic_kind::schedule);
        // Its memory is in use until this returns.
        EXPECT_FALSE(rig->enable_deterministic_log(2).has_value());
        rig->read_log([&](const auto& later) {
            ++calls;
            EXPECT_EQ(later.records().size(), 3u);
        });
    });
    EXPECT_EQ(calls, 2u);
    rig.pass(2);
    rig->read_log([&](const auto& log) { EXPECT_EQ(log.lost(), 1u); });
    EXPECT_TRUE(rig->enable_deterministic_log(2).has_value());
    EXPECT_TRUE(journal().is({1, 2}));
}

// SD-1, CN-8: a cancel is noted and counted when it is made, also of a job whose message waits.
TEST(looking, SD_1_a_cancel_is_noted_when_it_is_made) {
    for (const job_mode mode : {job_mode::fixed_rate, job_mode::fixed_delay}) {
        served_rig rig;
        const auto who = rig.spawn();
        auto cancels = rig->subscribe(diagnostic_kind::cancel, 4);
        ASSERT_TRUE(cancels.has_value());
        auto made =
            rig->add({.mode = mode, .first = ms(1), .period = ms(10), .to = who}, number{1});
        ASSERT_TRUE(made.has_value());
        rig.time.advance(ms(1));
        rig->run_due(rig.time.now());
        EXPECT_TRUE(made->cancel());
        EXPECT_EQ(rig->counted().cancelled, 1u);
        const auto noted = cancels->poll();
        ASSERT_TRUE(noted.has_value());
        EXPECT_EQ(noted->at, 1u);
        EXPECT_EQ(noted->job, made->id());
        rig.time.advance(ms(500));
        rig.run();
        EXPECT_FALSE(cancels->poll().has_value());
        EXPECT_EQ(rig->counted().cancelled, 1u);
        EXPECT_EQ(rig->cell_count(), 0u);
        EXPECT_TRUE(journal().is({}));
    }
}

[[nodiscard]] bool shows(served_rig& rig, std::string_view what) {
    tactus::text_buffer<1'024> dump;
    rig->dump(dump, tactus::dump_format::text);
    return dump.view().find(what) != std::string_view::npos;
}

// SD-3: the backlog of a job is what has not come yet, not what came late.
TEST(looking, SD_3_the_backlog_is_what_has_not_come) {
    served_rig rig;
    const auto who = rig.spawn();
    ASSERT_TRUE(rig->schedule_at_fixed_rate(ms(1), ms(10), who, number{1}).has_value());
    rig.jump(41);
    EXPECT_TRUE(journal().is({1}));
    EXPECT_TRUE(shows(rig, "fixed_rate, backlog 0, last fire 41, next 51"));
    rig.time.advance(ms(35));  // nobody looks
    EXPECT_TRUE(shows(rig, "fixed_rate, backlog 2, last fire 41, next 51"));
}

// SD-3: of a function also what waits for it.
TEST(looking, SD_3_runs_that_wait_are_backlog) {
    served_rig rig;
    ASSERT_TRUE(rig->schedule_at_fixed_rate_fn(ms(1), ms(1),
                                               [](const execution_batch&) { journal().add(1); })
                    .has_value());
    for (int i = 0; i < 3; ++i) {
        rig.time.advance(ms(1));
        rig->run_due(rig.time.now());
    }
    EXPECT_TRUE(shows(rig, "fixed_rate, backlog 2, last fire 3, next 4"));
    rig.run();
    EXPECT_TRUE(shows(rig, "fixed_rate, backlog 0, last fire 3, next 4"));
    EXPECT_TRUE(journal().is({1}));
}

// SD-6: the last batch went to somebody.
TEST(looking, SD_6_what_nobody_gets_is_not_the_last_batch) {
    served_rig rig;
    const auto who = rig.spawn();
    ASSERT_TRUE(rig->schedule_at_fixed_rate(ms(1), ms(1), {}, number{1}).has_value());
    ASSERT_TRUE(rig->schedule_once(ms(1), {}, number{2}).has_value());
    rig.pass(1);
    EXPECT_FALSE(rig->last_batch().has_value());
    const auto made = rig->schedule_once(ms(1), who, number{3});
    ASSERT_TRUE(made.has_value());
    ASSERT_TRUE(rig->schedule_once(ms(1), {}, number{4}).has_value());
    rig.pass(1);
    ASSERT_TRUE(rig->last_batch().has_value());
    EXPECT_EQ(rig->last_batch()->job, made->id());
    journal().clear();
}

// SD-1, SC-2: nothing is watched when a subscription was refused, or the last one is gone.
TEST(looking, SD_1_nobody_watches_when_nobody_subscribes) {
    using services = tactus::scheduler_services;
    served_rig rig;
    EXPECT_FALSE(rig->subscribe(diagnostic_kinds::all(), 0).has_value());
    EXPECT_FALSE(rig.services.has(services::watching));
    {
        auto one = rig->subscribe(diagnostic_kind::fire, 1);
        auto two = rig->subscribe(diagnostic_kind::cancel, 1);
        ASSERT_TRUE(one && two);
        EXPECT_TRUE(rig.services.has(services::watching));
        *one = {};
        EXPECT_TRUE(rig.services.has(services::watching));
    }
    EXPECT_FALSE(rig.services.has(services::watching));
    EXPECT_FALSE(rig->enable_deterministic_log(0).has_value());
    EXPECT_FALSE(rig.services.has(services::watching));
    ASSERT_TRUE(rig->enable_deterministic_log(1).has_value());
    EXPECT_TRUE(rig.services.has(services::watching));
    {
        ASSERT_TRUE(rig->subscribe(diagnostic_kind::fire, 1).has_value());
    }
    EXPECT_TRUE(rig.services.has(services::watching));
}

}  // namespace
