// SPDX-License-Identifier: Apache-2.0
//
// Goal: of every way to ask for a timer: a request that is wrong changes nothing (SC-2, SC-3,
// SC-14, TC-X11), one that is right comes within a tick after its time, on its grid (SC-1), and
// code of the user's is called under no lock (SC-10).
// Method: everything there is to see of a scheduler is compared before and after; random times;
// code that calls the scheduler from wherever it is called.
#include <tactus/scheduler/scheduler.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "scheduler_rig.hpp"

namespace tactus_test {
namespace {

using namespace tactus;  // NOLINT: a list of everything

class text_kept final : public text_sink {
public:
    void write(std::string_view piece) noexcept override { all += piece; }
    std::string all;
};
class metrics_kept final : public metrics_sink {
public:
    void counter(const metric_info& what, std::string_view label,
                 std::uint64_t n) noexcept override {
        all += std::string(what.name) + std::string(label) + std::to_string(n) + "\n";
    }
    void gauge(const metric_info& what, std::string_view label, std::uint64_t n) noexcept override {
        counter(what, label, n);
    }
    void histogram(const metric_info& what, std::string_view label,
                   const histogram_sums& sums) noexcept override {
        for (const std::uint64_t n : sums.counts)
            counter(what, label, n);
    }
    std::string all;
};

/// All there is to see: metrics, wheel, jobs, log, cells, and the next deadline.
std::string seen_of(served_rig& rig) {
    metrics_kept metrics;
    rig->metrics().publish(metrics);
    text_kept dump;
    rig->dump(dump, dump_format::text);
    std::size_t logged = 0;
    rig->read_log([&](const recorded_log& log) { logged = log.records().size(); });
    return metrics.all + dump.all + std::to_string(logged) + " logged, " +
           std::to_string(rig->counted().registered) + " registered, " +
           std::to_string(rig->cell_count()) + " cells, next " +
           std::to_string(rig->next_deadline().ns());
}

/// A message that is more than its bytes: it goes another way in.
struct lively {
    lively() = default;
    lively(const lively&) noexcept {}
    lively& operator=(const lively&) = delete;
    ~lively() {}
};

using made = std::expected<cancellable, scheduler_error>;

/// Asks in each form there is for these times: a message that is its bytes, one that is not, and a
/// function.
void ask_all(served_rig& rig, mailbox_index who, const job_request& r,
             const std::function<void(const made&)>& look) {
    look(rig->add(r.send(who, {}), number{1}));
    look(rig->add(r.send(who, {}), lively{}));
    look(rig->add_function(r, [](const execution_batch&) {}));
    look(rig->add_function(r, [l = lively{}](const execution_batch&) { (void)l; }));
}

struct wrong {
    job_request asked;
    scheduler_errc code;
    std::string_view field;
};
std::vector<wrong> wrong_requests(duration longest) {
    using enum scheduler_errc;
    const duration more = longest + duration::from_ns(1);
    std::vector<wrong> all;
    for (const duration d : {ms(0), ms(-1), duration::min(), more, duration::max()}) {
        all.push_back({job_request::once(d, timer_priority::high), invalid_delay, "delay"});
        all.push_back({job_request::at_fixed_rate(d, ms(1), {}), invalid_delay, "delay"});
        all.push_back({job_request::at_fixed_rate(ms(1), d, {}), invalid_delay, "period"});
        all.push_back({job_request::with_fixed_delay(d, ms(1), {}), invalid_delay, "delay"});
        all.push_back({job_request::with_fixed_delay(ms(1), d, {}), invalid_delay, "period"});
    }
    const auto rate = [](std::uint16_t backlog, std::uint16_t burst) {
        return job_request::at_fixed_rate(ms(1), ms(1), fixed_rate_options{backlog, burst});
    };
    all.push_back({rate(0, 1), invalid_options, "backlog_limit"});
    all.push_back({rate(1, 0), invalid_options, "burst_threshold"});
    all.push_back({rate(4, 5), invalid_options, "burst_threshold"});
    return all;
}

// SC-2, SC-3, SC-14, TC-X11, TC-S04: whatever is wrong, nothing has changed afterwards.
TEST(requests, SC_2_one_that_is_wrong_changes_nothing) {
    served_rig rig;
    ASSERT_TRUE(rig->enable_deterministic_log(64).has_value());
    const auto who = rig.spawn();
    ASSERT_TRUE(rig->schedule_once(ms(7), who, number{1}).has_value());
    ASSERT_TRUE(rig->schedule_at_fixed_rate(ms(2), ms(3), who, number{2}).has_value());
    const std::string before = seen_of(rig);
    for (const wrong& w : wrong_requests(rig->maximum_delay())) {
        ask_all(rig, who, w.asked, [&](const made& m) {
            ASSERT_FALSE(m.has_value());
            EXPECT_EQ(m.error().code, w.code);
            EXPECT_EQ(m.error().field, w.field);
        });
        EXPECT_EQ(seen_of(rig), before);
    }
    EXPECT_EQ(rig.warnings.count, 0u);
    // The longest is right, in each form.
    const duration longest = rig->maximum_delay();
    for (const job_request& r :
         {job_request::once(longest, timer_priority::high),
          job_request::at_fixed_rate(longest, longest, {}),
          job_request::with_fixed_delay(longest, longest, {}),
          job_request::at_fixed_rate(ms(1), ms(1), fixed_rate_options{1, 1})})
        ask_all(rig, who, r, [](const made& m) { EXPECT_TRUE(m.has_value()); });
}

// SC-14, SC-2: what a toolbox does not have.
TEST(requests, SC_14_a_mode_that_is_not_there_changes_nothing) {
    for (const job_mode gone : {job_mode::fixed_rate, job_mode::fixed_delay}) {
        served_rig rig([gone](scheduler_options& o) {
            (gone == job_mode::fixed_rate ? o.fixed_rate : o.fixed_delay) = false;
        });
        ASSERT_TRUE(rig->enable_deterministic_log(64).has_value());
        const auto who = rig.spawn();
        const auto can = rig->capabilities();
        EXPECT_EQ(can.fixed_rate, gone != job_mode::fixed_rate);
        EXPECT_EQ(can.fixed_delay, gone != job_mode::fixed_delay);
        const std::string before = seen_of(rig);
        const job_request rate = job_request::at_fixed_rate(ms(1), ms(1), {});
        const job_request delay = job_request::with_fixed_delay(ms(1), ms(1), {});
        const bool has_rate = gone != job_mode::fixed_rate;
        ask_all(rig, who, has_rate ? delay : rate, [&](const made& m) {
            ASSERT_FALSE(m.has_value());
            EXPECT_EQ(m.error().code, scheduler_errc::unsupported_mode);
            EXPECT_EQ(m.error().mode(), gone);
        });
        EXPECT_EQ(seen_of(rig), before);
        ask_all(rig, who, has_rate ? rate : delay,
                [](const made& m) { EXPECT_TRUE(m.has_value()); });
    }
}

class counting_waker final : public waker {
public:
    void wake() noexcept override { ++woken; }
    unsigned woken = 0;
};

// SC-5: timers of the runtime itself are high: under pressure they are taken, and others are not.
TEST(requests, SC_5_the_runtime_s_own_timers_are_high) {
    served_rig rig;
    const auto who = rig.spawn();
    rig->gauge()->push(gauge_event::engage);
    rig.pass(1);
    const auto refused = rig->schedule_once(ms(1), who, number{1});
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code, scheduler_errc::backpressured);
    EXPECT_EQ(refused.error().cause, backpressure_cause::gauge);
    counting_waker delay;
    counting_waker timer;
    timer_target to{.wake = &timer};
    EXPECT_TRUE(rig->schedule_wake(ms(1), delay).has_value());
    EXPECT_TRUE(rig->arm(to, ms(1)).has_value());
    timer_affinity from;
    from.subsystem = timer_subsystem::runtime;
    ASSERT_NE(rig->policies(), nullptr);
    EXPECT_TRUE(rig->schedule_once(ms(1), who, number{2}, {}, from).has_value());
    rig.pass(1);
    EXPECT_EQ(delay.woken, 1u);
    EXPECT_EQ(timer.woken, 1u);
    EXPECT_TRUE(journal().is({2}));
}

/// When each number came, in microseconds.
std::vector<std::uint64_t>* arrivals = nullptr;
scheduler_rig* running = nullptr;
struct stamping_actor {
    void receive(turn&, envelope& e) {
        const number* n = e.get_if<number>();
        (*arrivals)[n->value] = running->time.now().ns() / 1'000;
    }
};

// SC-1: in [delay, delay + 1 tick] after the call, whenever that is, whatever the delay.
TEST(requests, SC_1_comes_within_a_tick_after_any_delay) {
    constexpr std::uint32_t count = 500;
    constexpr std::uint64_t tick_us = 10'000;
    scheduler_rig rig([](scheduler_options& o) { o.config.resolution = ms(10); });
    std::vector<std::uint64_t> came(count);
    std::vector<std::uint64_t> due(count);
    arrivals = &came;
    running = &rig;
    const auto who = rig.kernel.spawn<stamping_actor>();
    std::minstd_rand random(1);
    for (std::uint32_t i = 0; i < count; ++i) {
        rig.time.advance(duration::from_us(static_cast<std::int64_t>(random() % 700)));
        rig.run();
        const std::uint64_t delay = 1 + random() % 60'000;
        due[i] = rig.time.now().ns() / 1'000 + delay;
        ASSERT_TRUE(
            rig->schedule_once(duration::from_us(static_cast<std::int64_t>(delay)), who, number{i})
                .has_value());
    }
    for (int i = 0; i < 700; ++i) {
        rig.time.advance(duration::from_us(100));
        rig.run();
    }
    for (std::uint32_t i = 0; i < count; ++i) {
        EXPECT_GE(came[i], due[i]);
        // Somebody looked at least every 700 us.
        EXPECT_LE(came[i], due[i] + tick_us + 700);
    }
}

// SC-1, PK-SCH-14: t0 + initial + n * interval, though neither is a whole number of ticks, and
// though it is registered between two ticks: after 10,000 runs not a tick off, and no run too many
// or too few.
TEST(requests, SC_1_a_fixed_rate_does_not_drift) {
    scheduler_rig rig([](scheduler_options& o) { o.config.resolution = ms(10); });
    const duration t0 = duration::from_us(3'300);
    const duration initial = duration::from_us(4'100);
    const duration interval = duration::from_us(12'345);
    rig.time.advance(t0);
    static std::uint64_t runs;
    runs = 0;
    ASSERT_TRUE(rig->schedule_at_fixed_rate_fn(initial, interval,
                                               [](const execution_batch& b) { runs += b.runs; })
                    .has_value());
    for (std::uint64_t at = 1; at < 12'345; ++at) {
        (void)rig.time.advance_to(instant::epoch() + ms(10) * static_cast<std::int64_t>(at));
        rig.run();
        const std::int64_t since = (rig.time.now() - instant::epoch() - t0 - initial).ns();
        const std::uint64_t wanted =
            since < 0 ? 0 : 1 + static_cast<std::uint64_t>(since / interval.ns());
        ASSERT_EQ(runs, wanted) << at;
    }
    EXPECT_GT(runs, 9'990u);
    EXPECT_EQ(rig->counted().missed, 0u);
}

// SC-20, SC-21: `each` of a function: one call per run, with a batch of one.
TEST(requests, SC_20_each_missed_run_of_a_function_is_a_call) {
    scheduler_rig rig;
    static std::vector<std::uint32_t> runs;
    runs.clear();
    ASSERT_TRUE(
        rig->add_function(
               {.mode = job_mode::fixed_rate, .first = ms(1), .period = ms(1), .each = true},
               [](const execution_batch& b) { runs.push_back(b.runs); })
            .has_value());
    rig.jump(20);
    EXPECT_EQ(runs, std::vector<std::uint32_t>(20, 1));
    rig.jump(1);
    EXPECT_EQ(runs.size(), 21u);
    // SC-21: told once, and it goes on (SC-22 is not for it).
    ASSERT_EQ(rig.warnings.count, 1u);
    EXPECT_EQ(rig.warnings.all[0].kind, scheduler_warning_kind::burst_fire);
    EXPECT_EQ(rig.warnings.all[0].value, 19);
    EXPECT_EQ(rig->counted().missed, 0u);
}

scheduler* asked = nullptr;
unsigned asks = 0;
/// It would wait for itself if this were called under the scheduler's lock.
void ask() {
    ++asks;
    (void)asked->active_count();
    (void)asked->next_deadline();
}

struct asking {
    asking() noexcept { ask(); }
    asking(const asking&) noexcept { ask(); }
    asking& operator=(const asking&) = delete;
    ~asking() { ask(); }
};
struct asking_function {
    asking holds;
    void operator()(const execution_batch&) const { ask(); }
    void cancelled() const { ask(); }
};
struct deaf_actor {
    void receive(turn&, envelope&) {}
};
class asking_listener final : public scheduler_listener {
public:
    void warned(const scheduler_warning&) noexcept override {
        ++count;
        ask();
    }
    unsigned count = 0;
};

// SC-10: constructors, copies, destructors, functions, what is told, probes, who reads the log, and
// tasks at the end.
TEST(requests, SC_10_no_code_of_the_user_s_is_called_under_a_lock) {
    asking_listener listener;
    served_rig rig([&](scheduler_options& o) {
        o.config.custom = {8, 2, 4};
        o.listener = &listener;
    });
    asked = &*rig;
    asks = 0;
    const auto who = rig.kernel.spawn<deaf_actor>();
    const auto has_asked = [&](const char* where) {
        EXPECT_GT(asks, 0u) << where;
        asks = 0;
    };
    // Made, copied and ended; delivered, cancelled, and driven out of overflow.
    auto once = rig->schedule_once(ms(1), who, asking{});
    auto rate = rig->schedule_at_fixed_rate(ms(1), ms(1), who, asking{});
    auto gone = rig->schedule_once(ms(5), who, asking{});
    ASSERT_TRUE(once && rate && gone);
    has_asked("making");
    rig.jump(1);
    has_asked("delivering");
    EXPECT_TRUE(gone->cancel());
    has_asked("cancelling");
    EXPECT_TRUE(rate->cancel());
    for (const timer_priority p : {timer_priority::low, timer_priority::low, timer_priority::high})
        ASSERT_TRUE(rig->add(job_request::once(far_away, p).send(who, {}), asking{}).has_value());
    has_asked("giving way");
    EXPECT_GE(listener.count, 2u);  // near capacity, and dropped
    // Functions: run, and told that they were cancelled.
    auto function = rig->schedule_once_fn(ms(1), asking_function{});
    auto told = rig->schedule_once_fn(ms(9), asking_function{});
    ASSERT_TRUE(function && told);
    asks = 0;
    rig.jump(1);
    has_asked("running");
    EXPECT_TRUE(told->cancel());
    rig.run();
    has_asked("telling that it was cancelled");
    // Who reads the log; a probe, warnings of a quota, and the end.
    ASSERT_TRUE(rig->enable_deterministic_log(8).has_value());
    rig->read_log([](const recorded_log&) { ask(); });
    has_asked("reading the log");
    struct asking_probe final : backpressure_probe {
        std::optional<std::uint32_t> load_permille() noexcept override {
            ask();
            return 0;
        }
    } probe;
    const auto registered = rig->gauge()->register_probe("asking", probe);
    ASSERT_TRUE(registered.has_value());
    rig.time.advance(ms(1));
    auto left = rig->schedule_once(ms(50), who, number{1});
    ASSERT_TRUE(left.has_value());
    has_asked("probing");
    EXPECT_TRUE(rig->gauge()->remove_probe(*registered));
    EXPECT_TRUE(left->cancel());
    ASSERT_TRUE(rig->schedule_once(ms(50), who, asking{}).has_value());
    ASSERT_TRUE(rig->schedule_once_fn(ms(50), asking_function{}).has_value());
    ASSERT_TRUE(rig->register_on_close([] { ask(); }, close_priority::user).has_value());
    const unsigned warned = listener.count;
    for (bool is_full = false; !is_full;)
        is_full = !rig->schedule_once(ms(50), who, number{1}).has_value();
    EXPECT_GT(listener.count, warned);
    asks = 0;
    (void)rig->shutdown();
    has_asked("closing");
    rig.run();
}

// BP-6: however many wait in overflow for one tick, they come at that tick; and it is told again
// when it fills up again.
TEST(requests, BP_6_all_that_are_due_come_on_their_tick) {
    constexpr std::uint32_t count = 200;  // as many as there may be
    scheduler_rig rig;
    std::vector<std::uint64_t> came(count);
    arrivals = &came;
    running = &rig;
    const auto who = rig.kernel.spawn<stamping_actor>();
    const auto fill = [&] {
        for (std::uint32_t i = 0; i < count; ++i)
            ASSERT_TRUE(rig->schedule_once(far_away, who, number{i}).has_value());
    };
    for (unsigned round = 1; round <= 2; ++round) {
        fill();
        EXPECT_EQ(rig.warnings.of(scheduler_warning_kind::overflow_near_capacity), round);
        const std::uint64_t due = (rig.time.now() + far_away).ns() / 1'000;
        came.assign(count, 0);
        rig.jump(static_cast<std::uint64_t>(far_away.ns() / 1'000'000) - 1);
        EXPECT_EQ(came, std::vector<std::uint64_t>(count, 0));
        rig.jump(1);
        EXPECT_EQ(came, std::vector<std::uint64_t>(count, due));
        EXPECT_EQ(rig->metrics().overflow, 0u);
    }
}

// BP-1: what a bounded profile needs it has when it is made; all its timers, whatever they do, take
// no more.
TEST(requests, BP_1_a_bounded_profile_takes_no_memory_afterwards) {
    served_rig rig([](scheduler_options& o) { o.config.custom = {16, 4, 4}; });
    const auto who = rig.spawn();
    rig.large.allowance = 0;
    rig.services_memory.allowance = 0;
    for (int round = 0; round < 20; ++round) {
        std::vector<cancellable> all;
        const auto add = [&](const made& m) {
            ASSERT_TRUE(m.has_value());
            all.push_back(*m);
        };
        for (int i = 0; i < 3; ++i) {
            add(rig->schedule_once(ms(1 + i), who, number{1}));
            add(rig->schedule_at_fixed_rate(ms(1), ms(2), who, number{2}));
            add(rig->schedule_with_fixed_delay(ms(1), ms(2), who, number{3}));
            add(rig->schedule_once_fn(ms(2), [](const execution_batch&) {}));
        }
        for (int i = 0; i < 4; ++i)
            add(rig->schedule_once(far_away, who, number{4}));
        EXPECT_FALSE(rig->schedule_once(ms(1), who, number{5}).has_value());  // the quota
        rig.pass(6);
        for (cancellable& c : all)
            (void)c.cancel();
        rig.run();
        EXPECT_EQ(rig->cell_count(), 0u);
        journal().clear();
    }
    for (int i = 0; i < 4; ++i)
        EXPECT_TRUE(rig->register_on_close([] {}, close_priority::user).has_value());
    (void)rig->shutdown();
    rig.large.allowance = ~std::size_t{0};
    rig.services_memory.allowance = ~std::size_t{0};
}

// SD-2: the queue of who subscribes is as long as configured, unless it says how long.
TEST(requests, SD_2_a_queue_has_the_configured_length) {
    served_rig rig([](scheduler_options& o) { o.config.diagnostics_capacity = 2; });
    const auto who = rig.spawn();
    {
        auto usual = rig->subscribe(diagnostic_kind::schedule);
        auto longer = rig->subscribe(diagnostic_kind::schedule, 3);
        ASSERT_TRUE(usual.has_value() && longer.has_value());
        for (int i = 0; i < 3; ++i)
            ASSERT_TRUE(rig->schedule_once(ms(1), who, number{1}).has_value());
        EXPECT_EQ(usual->dropped(), 1u);
        EXPECT_EQ(longer->dropped(), 0u);
    }
    rig.pass(2);
    journal().clear();
}

/// A scheduler on hardware, with a window of so many ticks, who takes ticks that were counted.
struct ticked_rig : served_rig {
    explicit ticked_rig(std::int64_t window) noexcept
        : served_rig([&](scheduler_options& o) {
              o.config.clock = clock_kind::realtime_hardware;
              o.config.catch_up = ms(window);
          }) {}
    void take(std::uint64_t ticks) noexcept {
        time.advance(ms(static_cast<std::int64_t>(ticks)));
        (*this)->ticks_taken(ticks);
        run();
    }
};

// SC-32, TC-X05: where ticks are counted the backlog is those that were taken at once: the worked
// example. A timer that is due at every tick is late by one less.
TEST(requests, SC_32_ticks_taken_at_once_are_the_backlog) {
    struct row {
        std::uint64_t taken;
        tick_mode mode;
        tick_state status;
        backpressure_state state;
    };
    using enum backpressure_state;
    constexpr row rows[] = {
        {1, tick_mode::normal, tick_state::ok, normal},
        {4, tick_mode::normal, tick_state::ok, normal},
        {5, tick_mode::catch_up, tick_state::ok, normal},
        {6, tick_mode::catch_up, tick_state::backpressured, backpressure},
        {10, tick_mode::catch_up, tick_state::backpressured, backpressure},
        {11, tick_mode::catch_up, tick_state::backpressured, backpressure},
        {11, tick_mode::catch_up, tick_state::stalled, rejecting},
        {3, tick_mode::normal, tick_state::ok, rejecting},
        {2, tick_mode::normal, tick_state::ok, backpressure},
        {3, tick_mode::normal, tick_state::ok, normal},
    };
    ticked_rig rig(5);
    const auto who = rig.spawn();
    ASSERT_TRUE(rig->schedule_at_fixed_rate(ms(1), ms(1), who, number{1}, {},
                                            {.backlog_limit = 20, .burst_threshold = 20}));
    for (const row& r : rows) {
        rig.take(r.taken);
        EXPECT_EQ(rig->pressure_now().mode, r.mode) << r.taken;
        EXPECT_EQ(rig->pressure_now().status.state, r.status) << r.taken;
        EXPECT_EQ(rig->pressure_now().state, r.state) << r.taken;
    }
    EXPECT_EQ(rig->metrics().backlog_peak, 11u);
    EXPECT_EQ(rig->metrics().tick_backlog_peak, 11u);
    journal().clear();
}

// SC-38: only of what is due then: ticks of an idle time are nobody's fault.
TEST(requests, SC_38_ticks_of_an_idle_time_are_no_backlog) {
    ticked_rig rig(5);
    const auto who = rig.spawn();
    for (int i = 0; i < 50; ++i)
        rig.take(20);
    EXPECT_EQ(rig->metrics().backlog_peak, 0u);
    ASSERT_TRUE(rig->schedule_once(ms(1), who, number{1}).has_value());
    rig.take(1);
    EXPECT_TRUE(journal().is({1}));
    EXPECT_EQ(rig->metrics().backlog_peak, 0u);
    EXPECT_EQ(rig->metrics().tick_backlog_peak, 20u);
    EXPECT_EQ(rig.warnings.count, 0u);
}

// SC-38, BP-4: also after a stall, whoever looks first, who fires or who registers: who was refused
// is accepted after an idle time.
TEST(requests, SC_38_ticks_of_an_idle_time_are_calm_after_a_stall) {
    for (const bool is_looked_at : {false, true}) {
        ticked_rig rig(5);
        const auto who = rig.spawn();
        auto rate = rig->schedule_at_fixed_rate(ms(1), ms(1), who, number{1}, {},
                                                {.backlog_limit = 20, .burst_threshold = 20});
        ASSERT_TRUE(rate.has_value());
        rig.take(6);
        EXPECT_EQ(rig->pressure_now().state, backpressure_state::backpressure);
        EXPECT_TRUE(rate->cancel());
        rig.take(20);
        if (is_looked_at)
            rig->run_due(rig.time.now());
        EXPECT_TRUE(rig->schedule_once(ms(1), who, number{2}).has_value()) << is_looked_at;
        EXPECT_EQ(rig->pressure_now().state, backpressure_state::normal);
        EXPECT_EQ(rig->metrics().backlog_peak, 6u);
        rig.take(1);
        journal().clear();
    }
}

// SC-32, BP-4: one tick is taken as it comes: with the shortest windows, too, that is no backlog,
// and who rejected accepts again.
TEST(requests, SC_32_ticks_one_by_one_are_no_backlog) {
    for (const std::int64_t window : {1, 2}) {
        ticked_rig rig(window);
        const auto who = rig.spawn();
        ASSERT_TRUE(rig->schedule_at_fixed_rate(ms(1), ms(1), who, number{1}, {},
                                                {.backlog_limit = 20, .burst_threshold = 20}));
        rig.take(1);
        EXPECT_EQ(rig->pressure_now().mode, tick_mode::normal);
        rig.take(11);
        rig.take(11);
        EXPECT_EQ(rig->pressure_now().state, backpressure_state::rejecting);
        for (int i = 0; i < 10; ++i)
            rig.take(1);
        EXPECT_EQ(rig->pressure_now().state, backpressure_state::normal) << window;
        journal().clear();
    }
}

}  // namespace
}  // namespace tactus_test
