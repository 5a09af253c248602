// SPDX-License-Identifier: Apache-2.0
//
// Goal: whatever a scheduler can say, it says somewhere (SD-5), and what it says of itself is right
// (SC-5, SC-7, SC-14, SD-1, SD-2, SD-3, SD-6).
// Method: small programs, each of which makes it say something; the enumerations are walked.
#include <tactus/scheduler/driver_keeper.hpp>
#include <tactus/scheduler/scheduler.hpp>

#include <gtest/gtest.h>

#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "scheduler_rig.hpp"
#include "test_memory.hpp"

namespace tactus_test {
namespace {

using namespace tactus;  // NOLINT: a list of everything

using errors = std::set<scheduler_errc>;
using warned = std::set<scheduler_warning_kind>;

template <class T>
void note(errors& seen, const std::expected<T, scheduler_error>& result) {
    ASSERT_FALSE(result.has_value());
    char text[200];
    EXPECT_FALSE(describe(result.error(), text).empty());
    seen.insert(result.error().code);
}
void note(warned& seen, const noted_warnings& told) {
    for (unsigned i = 0; i < told.count; ++i)
        seen.insert(told.all[i].kind);
}

struct throws_when_copied {
    throws_when_copied() = default;
    throws_when_copied(const throws_when_copied&) { throw std::runtime_error("no copy"); }
    throws_when_copied& operator=(const throws_when_copied&) = delete;
};

/// Late by more than two windows, twice in a row.
void stall_twice(served_rig& rig, mailbox_index who) {
    for (int i = 0; i < 2; ++i) {
        (void)rig->add(job_request::once(ms(1), timer_priority::high).send(who, {}), number{1});
        rig.jump(80);
    }
}

TEST(every_variant, SD_5_every_error_is_produced) {
    errors seen;
    {
        served_rig rig([](scheduler_options& o) {
            o.config.custom = {4, 1, 1};
            o.fixed_rate = false;
        });
        const auto who = rig.spawn();
        note(seen, rig->schedule_once(ms(0), who, number{1}));
        note(seen, rig->schedule_at_fixed_rate(ms(1), ms(1), who, number{1}));  // SC-14
        EXPECT_FALSE(rig->capabilities().fixed_rate);
        EXPECT_TRUE(rig->capabilities().fixed_delay);
        EXPECT_DOUBLE_EQ(rig->capabilities().max_frequency_hz, 1'000.0);  // SC-7
        EXPECT_GE(rig->capabilities().min_delay_ticks, 1u);
        const throws_when_copied message;
        note(seen, rig->schedule_once(ms(1), who, message));
        EXPECT_EQ(rig->active_count(), 0u);              // SC-2
        EXPECT_EQ(rig->metrics().rejected_total(), 1u);  // BP-8
        ASSERT_TRUE(rig->schedule_once(far_away, who, number{1}).has_value());
        note(seen, rig->schedule_once(far_away, who, number{2}));  // capacity_exceeded
        for (int i = 0; i < 3; ++i)
            ASSERT_TRUE(rig->schedule_once(ms(10), who, number{3}).has_value());
        note(seen, rig->schedule_once(ms(10), who, number{4}));  // quota_exceeded
        for (int i = 0; i < 4; ++i)
            ASSERT_TRUE(rig->register_on_close([] {}, close_priority::user).has_value());
        note(seen, rig->register_on_close([] {}, close_priority::user));
    }
    {
        served_rig rig;
        const auto who = rig.spawn();
        note(seen, rig->schedule_at_fixed_rate(ms(1), ms(1), who, number{1}, {},
                                               fixed_rate_options{.backlog_limit = 0}));
        stall_twice(rig, who);
        EXPECT_EQ(rig->pressure_now().state, backpressure_state::rejecting);
        note(seen, rig->schedule_once(ms(1), who, number{1}));
        (void)rig->shutdown();
        note(seen, rig->schedule_once(ms(1), who, number{1}));
    }
    seen.insert(scheduler_errc::within_interrupt);  // on a device: interrupt_scheduling_test.cpp
    for (std::size_t i = 0; i < scheduler_errc_count; ++i)
        EXPECT_TRUE(seen.contains(static_cast<scheduler_errc>(i)))
            << name_of(static_cast<scheduler_errc>(i));
}

class broken_driver final : public tick_driver {
public:
    [[nodiscard]] const char* name() const noexcept override { return "broken"; }
    [[nodiscard]] clock_kind kind() const noexcept override { return clock_kind::deterministic; }
    [[nodiscard]] std::expected<void, tick_driver_error> start(tick_host&) noexcept override {
        return {};
    }
    void stop() noexcept override {}
};
class quiet_host final : public tick_host {
public:
    explicit quiet_host(const tactus::clock& c) : time_(c) {}
    [[nodiscard]] const tactus::clock& time() const noexcept override { return time_; }
    [[nodiscard]] duration resolution() const noexcept override { return ms(1); }
    void driver_stopped(tick_driver_error) noexcept override {}

private:
    const tactus::clock& time_;
};

TEST(every_variant, SD_5_every_warning_is_produced) {
    warned seen;
    {
        served_rig rig([](scheduler_options& o) { o.config.custom = {4, 2, 4}; });
        const auto who = rig.spawn();
        const auto add_far = [&](timer_priority p) {
            return rig->add(job_request::once(far_away, p).send(who, {}), number{1});
        };
        (void)add_far(timer_priority::low);
        (void)add_far(timer_priority::low);     // overflow_near_capacity
        (void)add_far(timer_priority::normal);  // dropped_low_priority
        (void)add_far(timer_priority::normal);
        (void)add_far(timer_priority::low);  // capacity_exceeded
        for (int i = 0; i < 3; ++i)
            (void)rig->schedule_once(ms(100), who, number{1});  // quota_reached
        ASSERT_TRUE(rig->register_on_close([] { return failure("no"); }, close_priority::user));
        (void)rig->shutdown();  // task_run_failed
        note(seen, rig.warnings);
    }
    {
        served_rig rig;
        const auto who = rig.spawn();
        ASSERT_TRUE(rig->schedule_at_fixed_rate(ms(1), ms(1), who, number{1}, {},
                                                fixed_rate_options{.backlog_limit = 8}));
        ASSERT_TRUE(
            rig->schedule_once_fn(ms(1), [](const execution_batch&) { return failure("no"); }));
        auto watcher = rig->subscribe(diagnostic_kinds::all(), 1);  // diagnostics_dropped
        ASSERT_TRUE(watcher.has_value());
        rig.jump(5);            // burst_fire, handler_failed
        rig.jump(20);           // backlog_exceeded
        stall_twice(rig, who);  // driver_catch_up_exceeded, backpressure_state
        note(seen, rig.warnings);
    }
    {
        // The clock is still moved by the test, but counts as one of the system's.
        served_rig rig([](scheduler_options& o) {
            o.config.clock = clock_kind::realtime_host;
            o.config.use = scheduler_use::production;
        });
        const auto who = rig.spawn();
        ASSERT_TRUE(rig->schedule_once(ms(1), who, number{1}));
        rig.jump(3);  // drift_exceeded
        note(seen, rig.warnings);

        broken_driver driver;
        quiet_host host(rig.time);
        driver_keeper keeper({.driver = &driver, .host = &host, .listener = &rig.warnings});
        ASSERT_TRUE(keeper.start().has_value());
        (void)keeper.stopped(tick_driver_error::driver_stopped);
        keeper.stop();
        note(seen, rig.warnings);
    }
    for (std::size_t i = 0; i < scheduler_warning_count; ++i)
        EXPECT_TRUE(seen.contains(static_cast<scheduler_warning_kind>(i)))
            << name_of(static_cast<scheduler_warning_kind>(i));
}

// SD-5, SC-11, SC-12, SC-22, SH-1, BP-7: why jobs end.
TEST(every_variant, SD_5_every_end_is_produced) {
    std::set<job_end> seen;
    served_rig rig([](scheduler_options& o) { o.config.custom = {8, 1, 4}; });
    const auto who = rig.spawn();
    const auto ended = [&](const auto& job, job_end why) {
        EXPECT_EQ(rig->end_of(*job), why);
        seen.insert(why);
    };
    const auto add_far = [&](timer_priority p) {
        return rig->add(job_request::once(far_away, p).send(who, {}), number{1});
    };
    const auto gave_way = add_far(timer_priority::low);
    ASSERT_TRUE(gave_way && add_far(timer_priority::normal));
    ended(gave_way, job_end::dropped);
    const auto asked = rig->schedule_once(ms(1), who, number{1});
    const auto failed = rig->schedule_at_fixed_rate_fn(
        ms(1), ms(1), [](const execution_batch&) { return failure("no"); });
    const auto behind =
        rig->schedule_at_fixed_rate(ms(1), ms(1), who, number{1}, {}, fixed_rate_options{1, 1});
    const auto nobody = rig->schedule_with_fixed_delay(ms(1), ms(1), mailbox_index{}, number{1});
    ASSERT_TRUE(asked && failed && behind && nobody);
    const auto left = rig->schedule_once(ms(1'000), who, number{1});
    ASSERT_TRUE(left.has_value());
    EXPECT_EQ(left->end(), std::nullopt);
    rig.jump(5);
    ended(behind, job_end::backlog_exceeded);
    ended(asked, job_end::as_asked);
    ended(failed, job_end::failed);
    EXPECT_EQ(rig->state_of(*failed), job_state::completed);
    ended(nobody, job_end::receiver_terminated);
    EXPECT_EQ(rig->state_of(*nobody), job_state::completed);
    (void)rig->shutdown();
    ended(left, job_end::closed);
    for (std::size_t i = 0; i < job_end_count; ++i)
        EXPECT_TRUE(seen.contains(static_cast<job_end>(i))) << name_of(static_cast<job_end>(i));
}

/// Tells of itself when the test says so.
class telling_driver final : public tick_driver {
public:
    [[nodiscard]] const char* name() const noexcept override { return "telling"; }
    [[nodiscard]] clock_kind kind() const noexcept override { return clock_kind::deterministic; }
    [[nodiscard]] std::expected<void, tick_driver_error> start(tick_host&) noexcept override {
        return {};
    }
    void stop() noexcept override {}
    void listen(driver_listener* to) noexcept override { to_ = to; }
    void tell() { EXPECT_TRUE(to_->measured({})); }

private:
    driver_listener* to_ = nullptr;
};

// SD-5, SD-6, TS-7
TEST(every_variant, SD_5_every_kind_of_diagnostic_is_produced) {
    alignas(16) static std::byte bytes[128 * 1024];
    test_memory memory{bytes};
    manual_clock time;
    telling_driver driver;
    full_scheduler_services services(
        {.memory = &memory, .tasks_max = 4, .driver = &driver, .time = &time});
    scheduler_rig rig([&](scheduler_options& o) {
        o.config.custom = {8, 1, 4};
        o.services = &services;
    });
    const auto who = rig.spawn();
    auto all = rig->subscribe(diagnostic_kinds::all(), 256);
    auto small = rig->subscribe(diagnostic_kinds::all(), 1);
    ASSERT_TRUE(all && small);
    driver.tell();
    const auto add = [&](duration d, timer_priority p) {
        return rig->add(job_request::once(d, p).send(who, {}), number{1});
    };
    ASSERT_TRUE(add(far_away, timer_priority::low));
    ASSERT_TRUE(add(far_away, timer_priority::normal));  // the other is dropped
    const auto gone = add(ms(1), timer_priority::high);
    ASSERT_TRUE(gone && rig->cancel(*gone));
    for (int i = 0; i < 2; ++i) {  // late, twice in a row: drift, driver_status, state
        (void)add(ms(1), timer_priority::high);
        rig.jump(80);
    }
    ASSERT_TRUE(rig->register_on_close([] {}, close_priority::user));
    (void)rig->shutdown();
    std::set<diagnostic_kind> seen;
    for (auto* from : {&*all, &*small}) {
        while (const auto d = from->poll()) {
            char text[200];
            EXPECT_FALSE(describe(*d, text).empty());
            seen.insert(d->kind);
        }
    }
    for (std::size_t i = 0; i < diagnostic_kind_count; ++i)
        EXPECT_TRUE(seen.contains(static_cast<diagnostic_kind>(i)))
            << name_of(static_cast<diagnostic_kind>(i));
}

// DF-81: a catch-up below the window is an event with its ticks, not only a count.
TEST(every_variant, DF_81_a_catch_up_is_a_diagnostic_with_its_ticks) {
    served_rig rig([](scheduler_options& o) { o.config.catch_up = ms(5); });
    const auto who = rig.spawn();
    auto seen = rig->subscribe(diagnostic_kinds{diagnostic_kind::driver_status}, 8);
    ASSERT_TRUE(seen.has_value());
    ASSERT_TRUE(rig->schedule_once(ms(1), who, number{1}));
    rig.jump(6);  // 5 ticks late: catch-up, and no more than the window
    EXPECT_EQ(rig->pressure_now().state, backpressure_state::normal);
    const auto event = seen->poll();
    ASSERT_TRUE(event.has_value());
    EXPECT_EQ(event->detail, 5);
    EXPECT_FALSE(seen->poll().has_value());
    tactus_test::journal().clear();
}

// SD-5, SC-37: by validate, which is what a system asks before it is built.
TEST(every_variant, SD_5_every_fault_of_a_configuration_is_produced) {
    const scheduler_config wrong[] = {
        {.resolution = {}},
        {.catch_up = duration::zero()},
        {.catch_up = ms(33)},
        {.chunk_ticks = 0},
        {.profile = scheduler_profile::custom, .custom = {0, 0, 1}},
        {.adaptive_quota_divisor = 0},
        {.shutdown_timeout = {}},
        {.diagnostics_capacity = 0},
        {.clock = clock_kind::realtime_hardware, .profile = scheduler_profile::unbounded},
        {.clock = clock_kind::deterministic},
    };
    std::set<scheduler_config_errc> seen;
    for (const scheduler_config& c : wrong) {
        const auto fine = validate(c);
        ASSERT_FALSE(fine.has_value());
        char text[200];
        EXPECT_TRUE(describe(fine.error(), text).starts_with(fine.error().field));
        seen.insert(fine.error().code);
    }
    for (std::size_t i = 0; i < scheduler_config_errc_count; ++i)
        EXPECT_TRUE(seen.contains(static_cast<scheduler_config_errc>(i)))
            << name_of(static_cast<scheduler_config_errc>(i));
}

class bytes_kept final : public byte_sink {
public:
    void write(std::span<const std::byte> piece) noexcept override {
        all.insert(all.end(), piece.begin(), piece.end());
    }
    std::vector<std::byte> all;
};

std::vector<std::byte> logged_run() {
    served_rig rig;
    EXPECT_TRUE(rig->enable_deterministic_log(256).has_value());
    const auto who = rig.spawn();
    EXPECT_TRUE(rig->schedule_at_fixed_rate(ms(2), ms(3), who, number{1}).has_value());
    auto gone = rig->schedule_once(ms(4), who, number{2});
    EXPECT_TRUE(rig->schedule_with_fixed_delay(ms(1), ms(2), who, number{3}).has_value());
    EXPECT_TRUE(rig->register_on_close([] {}, close_priority::runtime).has_value());
    rig.pass(3);
    EXPECT_TRUE(rig->cancel(*gone));
    rig.jump(7);
    EXPECT_TRUE(rig->schedule_once(ms(50), who, number{4}).has_value());
    (void)rig->shutdown();
    bytes_kept out;
    rig->read_log([&](const recorded_log& log) {
        EXPECT_GT(log.records().size(), 10u);
        EXPECT_EQ(log.records().back().kind, diagnostic_kind::on_close);
        log.write(out);
    });
    return out.all;
}

// SD-1: byte by byte, the order of closing included.
TEST(every_variant, SD_1_two_runs_give_the_same_log) {
    const auto first = logged_run();
    EXPECT_FALSE(first.empty());
    EXPECT_EQ(first, logged_run());
}

// SD-2, TC-S36, SD-6: two subscribers see every event; the last batch is known.
TEST(every_variant, SD_2_subscribers_see_what_happens) {
    served_rig rig;
    const auto who = rig.spawn();
    auto one = rig->subscribe({diagnostic_kind::schedule, diagnostic_kind::fire}, 8);
    auto two = rig->subscribe(diagnostic_kinds::all(), 8);
    ASSERT_TRUE(one && two);
    EXPECT_EQ(rig->last_batch(), std::nullopt);
    const auto made = rig->schedule_once(ms(2), who, number{1});
    ASSERT_TRUE(made.has_value());
    rig.pass(2);
    for (auto* each : {&*one, &*two}) {
        const auto scheduled = each->poll();
        ASSERT_TRUE(scheduled.has_value());
        EXPECT_EQ(scheduled->kind, diagnostic_kind::schedule);
        EXPECT_EQ(scheduled->job, made->id());
        const auto fired = each->poll();
        ASSERT_TRUE(fired.has_value());
        EXPECT_EQ(fired->kind, diagnostic_kind::fire);
        EXPECT_EQ(fired->job, made->id());
        EXPECT_EQ(fired->at, fired->deadline);
    }
    ASSERT_TRUE(rig->last_batch().has_value());
    EXPECT_EQ(rig->last_batch()->job, made->id());
}

class text_kept final : public text_sink {
public:
    void write(std::string_view piece) noexcept override { all += piece; }
    std::string all;
};

// SD-3, TC-S40, SC-5: the jobs of a real scheduler, with what their maker says of them.
TEST(every_variant, SD_3_a_dump_shows_the_jobs) {
    served_rig rig;
    const auto who = rig.spawn();
    const auto once = rig->schedule_once(ms(9), who, number{1});
    const auto rate = rig->schedule_at_fixed_rate(ms(2), ms(4), who, number{2});
    const auto noted = rig->schedule_with_fixed_delay(ms(5), ms(5), who, number{3}, {},
                                                      fixed_delay_options{.metadata = 77});
    ASSERT_TRUE(once && rate && noted);
    text_kept text;
    rig->dump(text, dump_format::text);
    EXPECT_NE(text.all.find("one_shot"), std::string::npos) << text.all;
    EXPECT_NE(text.all.find("fixed_rate, backlog 0, last fire none, next 2"), std::string::npos)
        << text.all;
    EXPECT_NE(text.all.find("metadata 77"), std::string::npos) << text.all;
    EXPECT_NE(text.all.find("active 3"), std::string::npos) << text.all;
    text_kept json;
    rig->dump(json, dump_format::json);
    EXPECT_NE(json.all.find("\"job_count\":3"), std::string::npos) << json.all;
    EXPECT_NE(json.all.find("\"metadata\":77"), std::string::npos) << json.all;
}

// SC-5: without options the policy of where a timer comes from holds; options of its own go first.
TEST(every_variant, SC_5_policies_supply_options) {
    served_rig rig;
    const auto who = rig.spawn();
    timer_policy strict;
    strict.fixed_rate.backlog_limit = 1;
    strict.fixed_rate.burst_threshold = 1;
    ASSERT_TRUE(rig->policies()->set_for_dispatcher(3, strict).has_value());
    const timer_affinity from{.dispatcher = 3};
    const auto by_policy = rig->schedule_at_fixed_rate(ms(1), ms(1), who, number{1}, {}, from);
    const auto by_default = rig->schedule_at_fixed_rate(ms(1), ms(1), who, number{2});
    const auto by_options = rig->schedule_at_fixed_rate(ms(1), ms(1), who, number{3}, {},
                                                        fixed_rate_options{.backlog_limit = 50});
    ASSERT_TRUE(by_policy && by_default && by_options);
    rig.jump(4);  // 3 missed
    EXPECT_EQ(rig->end_of(*by_policy), job_end::backlog_exceeded);
    EXPECT_EQ(rig->end_of(*by_default), std::nullopt);
    rig.jump(20);
    EXPECT_EQ(rig->end_of(*by_default), std::nullopt);  // DF-24
    EXPECT_EQ(rig->end_of(*by_options), std::nullopt);
}

}  // namespace
}  // namespace tactus_test
