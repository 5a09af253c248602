// SPDX-License-Identifier: Apache-2.0
//
// Goal: the scheduler of a hosted system is part of it: closed after the actors (SH-3, SH-5), its
// warnings are events (EV-1), its metrics and dumps are where others are (OH-2, OH-5, TS-9), probes
// and policies are there (BP-5, SC-5, SC-26), and references are typed (SC-4).
#include <tactus/actor/dump_request.hpp>
#include <tactus/actor/system_events.hpp>
#include <tactus/runtime/actor_system.hpp>
#include <tactus/runtime/delay_future.hpp>
#include <tactus/scheduler/pending_delay.hpp>
#include <tactus/scheduler/scheduler_defaults.hpp>
#include <tactus/time/manual_clock.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "pool_rig.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using namespace std::chrono_literals;
using tactus_test::until;

namespace {

/// What happened, in order.
class history {
public:
    void add(std::string what) {
        const std::lock_guard held(mutex_);
        all_.push_back(std::move(what));
    }
    [[nodiscard]] std::vector<std::string> all() {
        const std::lock_guard held(mutex_);
        return all_;
    }

private:
    std::mutex mutex_;
    std::vector<std::string> all_;
};

/// Not under pressure. It looks when something is scheduled, so something is, and gone at once.
bool is_calm(scheduler& timers) {
    if (auto looks = timers.schedule_once_fn(duration::from_s(60), [](const execution_batch&) {}))
        (void)looks->cancel();
    return timers.pressure_now().state == backpressure_state::normal;
}

struct go {};
class ends_late : public actor<go> {
public:
    explicit ends_late(history* to) : to_(to) {}
    void on(const go&) { to_->add("message of post_stop"); }
    void post_stop() {
        // SH-5: timers are still taken.
        to_->add(context().schedule_once(duration::from_s(60), context().self(), go{})
                     ? "post_stop scheduled"
                     : "post_stop was refused");
    }

private:
    history* to_;
};

// SH-3, SH-5, SC-13: actors, then delays, then the tasks by priority; then the system has ended.
TEST(system_scheduler, SH_5_closes_after_the_actors) {
    history seen;
    std::optional<delay_future> waits;
    {
        actor_system system("closing");
        (void)system.spawn<ends_late>("late", &seen);
        scheduler& timers = system.scheduler();
        waits.emplace(timers, duration::from_s(60));
        const auto note = [&](const char* what) { return [&seen, what] { seen.add(what); }; };
        ASSERT_TRUE(timers.register_on_close(note("user"), close_priority::user));
        ASSERT_TRUE(timers.register_on_close(note("runtime"), close_priority::runtime));
        ASSERT_TRUE(timers.register_on_close(
            [&] {
                const auto said = waits->poll();
                const bool is_closed =
                    said && !*said && said->error().code == scheduler_errc::closed;
                seen.add(is_closed ? "critical, after delays" : "critical, before delays");
            },
            close_priority::system_critical));
        ASSERT_TRUE(timers.schedule_once_fn(duration::from_s(60),
                                            [&](const execution_batch&) { seen.add("ran"); }));
        ASSERT_TRUE(system.terminate_and_wait(60s));
        EXPECT_EQ(seen.all(),
                  (std::vector<std::string>{"post_stop scheduled", "critical, after delays",
                                            "runtime", "user"}));
        const auto late =
            timers.schedule_once_fn(duration::from_ms(1), [](const execution_batch&) {});
        ASSERT_FALSE(late.has_value());
        EXPECT_EQ(late.error().code, scheduler_errc::closed);
        waits.reset();
    }
    EXPECT_EQ(seen.all().size(), 4u);
}

/// Ends only when a timer has fired.
class needs_a_timer : public actor<go> {
public:
    explicit needs_a_timer(history* to) : to_(to) {}
    void on(const go&) {}
    void post_stop() {
        std::promise<void> fired;
        const auto job = context().world().timers()->schedule_once_fn(
            duration::from_ms(3), [&](const execution_batch&) { fired.set_value(); });
        to_->add(job && fired.get_future().wait_for(30s) == std::future_status::ready
                     ? "fired while it ended"
                     : "did not fire");
    }

private:
    history* to_;
};

// SH-5, SH-1, PK-SCH-31: timers fire until the last actor has ended.
TEST(system_scheduler, SH_5_timers_fire_while_actors_end) {
    history seen;
    actor_system system("ending", {.dispatcher = {.workers = 2}});
    (void)system.spawn<needs_a_timer>("needs", &seen);
    ASSERT_TRUE(system.register_on_close([&] { seen.add("closed"); }).has_value());
    ASSERT_TRUE(system.terminate_and_wait(60s));
    EXPECT_EQ(seen.all(), (std::vector<std::string>{"fired while it ended", "closed"}));
}

/// Lines of the log with their level.
struct leveled_lines final : log_sink {
    void write(const log_record& r) noexcept override {
        seen.add(std::string(name_of(r.level)) + ": " + std::string(r.text));
    }
    [[nodiscard]] bool has(std::string_view what) {
        for (const std::string& line : seen.all()) {
            if (line.find(what) != std::string::npos)
                return true;
        }
        return false;
    }
    history seen;
};

class beats : public actor<go> {
public:
    explicit beats(history* to) : to_(to) {}
    void pre_start() { (void)context().start_single_timer("far", go{}, duration::from_s(60)); }
    void on(const go&) { to_->add("beat"); }
    void post_stop() { to_->add("actor"); }

private:
    history* to_;
};

// SH-3: delays, then timers of actors, then hooks; in time, and told.
TEST(system_scheduler, SH_3_a_hook_comes_after_delays_and_timers_of_actors) {
    history seen;
    leveled_lines log;
    {
        actor_system system("hooked", {.tools = {.log = &log}});
        (void)system.spawn<beats>("beats", &seen);
        delay_future waits(system.scheduler(), duration::from_s(60));
        const auto hook = [&] {
            const auto said = waits.poll();
            seen.add(said && !*said ? "delay has ended" : "delay waits");
            seen.add(std::to_string(system.scheduler().active_count()) + " timers");
        };
        ASSERT_TRUE(system.register_on_close([&] { seen.add("user"); }, "last").has_value());
        ASSERT_TRUE(
            system.register_on_close(hook, "first", close_priority::system_critical).has_value());
        const auto gone = system.register_on_close([&] { seen.add("cancelled"); });
        ASSERT_TRUE(gone.has_value());
        EXPECT_TRUE(system.cancel_on_close(*gone));
        ASSERT_TRUE(system.terminate_and_wait(60s));
        EXPECT_EQ(seen.all(),
                  (std::vector<std::string>{"actor", "delay has ended", "0 timers", "user"}));
        const auto late = system.register_on_close([] {});
        ASSERT_FALSE(late.has_value());
        EXPECT_EQ(late.error().code, scheduler_errc::closed);
    }
    EXPECT_TRUE(log.has("info: on-close tasks: 2 done, 0 failed, 0 not begun, in "));
}

/// A task that ends when it is told to. Shared: it may be left behind.
struct stuck_task {
    std::promise<void> go_on;
    std::promise<void> has_ended;
    [[nodiscard]] static auto make(const std::shared_ptr<stuck_task>& self) {
        return [self] {
            self->go_on.get_future().wait();
            self->has_ended.set_value();
        };
    }
};

// SH-5: for so long; one that does not return is left behind and named, and the system ends.
TEST(system_scheduler, SH_5_a_hook_that_does_not_return_is_left_behind) {
    history seen;
    leveled_lines log;
    const auto stuck = std::make_shared<stuck_task>();
    {
        actor_system system("slow", {.scheduler = {.shutdown_timeout = duration::from_ms(50)},
                                     .tools = {.log = &log}});
        ASSERT_TRUE(
            system.register_on_close([&] { seen.add("first"); }, "first", close_priority::runtime)
                .has_value());
        ASSERT_TRUE(
            system.register_on_close(stuck_task::make(stuck), "stuck", close_priority::runtime)
                .has_value());
        ASSERT_TRUE(system.register_on_close([&] { seen.add("never"); }, "never").has_value());
        ASSERT_TRUE(system.terminate_and_wait(60s));  // though nobody told it to go on
        EXPECT_EQ(system.scheduler().metrics().on_close_run, 1u);
    }
    stuck->go_on.set_value();  // its system is gone
    EXPECT_EQ(stuck->has_ended.get_future().wait_for(60s), std::future_status::ready);
    EXPECT_EQ(seen.all(), std::vector<std::string>{"first"});
    EXPECT_TRUE(log.has("warning: on-close tasks: 1 done, 0 failed, 1 not begun, in "));
    EXPECT_TRUE(log.has("time was over for 'stuck': it still runs, and is left behind"));
}

// SH-5: one without a name is named by its number.
TEST(system_scheduler, SH_5_a_hook_without_a_name_is_told_as_well) {
    leveled_lines log;
    const auto stuck = std::make_shared<stuck_task>();
    {
        actor_system system("slow", {.scheduler = {.shutdown_timeout = duration::from_ms(50)},
                                     .tools = {.log = &log}});
        ASSERT_TRUE(system.register_on_close([] {}).has_value());
        ASSERT_TRUE(system.register_on_close(stuck_task::make(stuck)).has_value());
        ASSERT_TRUE(system.terminate_and_wait(60s));
    }
    stuck->go_on.set_value();
    EXPECT_EQ(stuck->has_ended.get_future().wait_for(60s), std::future_status::ready);
    EXPECT_TRUE(log.has("warning: on-close tasks: 1 done, 0 failed, 0 not begun, in "));
    EXPECT_TRUE(log.has("time was over for number 2, which has no name: it still runs"));
}

// SH-2: on another thread, too, what a hook throws is told.
TEST(system_scheduler, SH_2_a_hook_that_throws_is_counted) {
    leveled_lines log;
    // Of the thread, not its number: that of one that has ended is used again.
    static thread_local bool has_thrown = false;
    bool is_same_thread = false;
    {
        actor_system system("throws", {.tools = {.log = &log}});
        const auto throws = [] {
            has_thrown = true;
            throw std::runtime_error("no disk");
        };
        ASSERT_TRUE(system.register_on_close(throws, "throws").has_value());
        ASSERT_TRUE(system.register_on_close([&] { is_same_thread = has_thrown; }));
        ASSERT_TRUE(system.terminate_and_wait(60s));
    }
    EXPECT_TRUE(log.has("warning: on-close tasks: 1 done, 1 failed, 0 not begun, in "));
    EXPECT_FALSE(has_thrown);
    EXPECT_TRUE(is_same_thread);  // one thread for all of them
}

class hears_timers : public actor<timer_warning> {
public:
    explicit hears_timers(std::promise<scheduler_warning>* to) : to_(to) {}
    void on(const timer_warning& w) {
        if (w.what.kind == scheduler_warning_kind::handler_failed && to_ != nullptr)
            std::exchange(to_, nullptr)->set_value(w.what);
    }

private:
    std::promise<scheduler_warning>* to_;
};

// SC-12, EV-1
TEST(system_scheduler, EV_1_warnings_are_events) {
    std::promise<scheduler_warning> heard;
    actor_system system("warned", {.log_level = log_level::error});
    const auto listener = system.spawn<hears_timers>("listener", &heard);
    ASSERT_TRUE(system.world().subscribe<timer_warning>(listener.any()).value());
    ASSERT_TRUE(system.timers().schedule_once_fn(
        duration::from_ms(1), [](const execution_batch&) { throw std::runtime_error("no luck"); }));
    auto told = heard.get_future();
    ASSERT_EQ(told.wait_for(30s), std::future_status::ready);
    EXPECT_EQ(told.get().batch.runs, 1u);
}

class hears_diagnostics : public actor<timer_diagnostic> {
public:
    explicit hears_diagnostics(std::atomic<std::uint64_t>* to) : to_(to) {}
    void on(const timer_diagnostic& d) {
        if (d.what.kind == diagnostic_kind::fire)
            to_->fetch_add(1, std::memory_order_relaxed);
    }

private:
    std::atomic<std::uint64_t>* to_;
};

// DF-76, SD-2: on the event stream, whatever thread fires, and until the actor ends.
TEST(system_scheduler, DF_76_actors_subscribe_diagnostics) {
    std::atomic<std::uint64_t> fired{0};
    actor_system system("diagnosed", {.log_level = log_level::error});
    const auto listener = system.spawn<hears_diagnostics>("listener", &fired);
    ASSERT_TRUE(system.world().subscribe<timer_diagnostic>(listener.any()).value());
    for (std::uint64_t n = 1; n <= 100; ++n)
        ASSERT_TRUE(
            system.timers().schedule_once_fn(duration::from_ms(1), [](const execution_batch&) {}));
    EXPECT_TRUE(until([&] { return fired.load(std::memory_order_relaxed) >= 100; }));
    ASSERT_TRUE(system.graceful_stop(listener.any(), 30s));
    ASSERT_TRUE(
        system.timers().schedule_once_fn(duration::from_ms(1), [](const execution_batch&) {}));
}

// DF-82, SH-2: their number alone, and DF-80: the budget of drift. What is out of range is refused.
TEST(system_scheduler, DF_82_the_number_of_on_close_tasks_can_be_set_alone) {
    actor_system system("few", {.on_close_tasks = 2, .log_level = log_level::error});
    std::uint32_t runs = 0;
    // BT-1: what the task stands for.
    ASSERT_TRUE(system.register_on_close([&](const execution_batch& batch) {
        runs += batch.mode == job_mode::one_shot ? batch.runs : 0;
    }));
    ASSERT_TRUE(system.register_on_close([&] { ++runs; }));
    const auto third = system.register_on_close([] {});
    ASSERT_FALSE(third.has_value());
    EXPECT_EQ(third.error().code, scheduler_errc::task_run_capacity_exceeded);
    EXPECT_EQ(third.error().limit, 2);
    EXPECT_EQ(system.scheduler().metrics().quota, 0u);  // the profile is as it was: unbounded
    ASSERT_TRUE(system.terminate_and_wait(60s));
    EXPECT_EQ(runs, 2u);

    const auto refusal = [](const actor_system::options& o) -> std::string {
        try {
            actor_system("wrong", o);
        } catch (const std::invalid_argument& why) {
            return why.what();
        }
        return {};
    };
    EXPECT_EQ(refusal({.on_close_tasks = 0}), "on_close_tasks: 0 is out of range, nearest is 1");
    EXPECT_EQ(refusal({.on_close_tasks = 1'025}),
              "on_close_tasks: 1025 is out of range, nearest is 1024");
    EXPECT_EQ(refusal({.drift_budget_percent = 101}),
              "drift_budget_percent: 101 is out of range, nearest is 100");
}

// DF-78, SC-7, SC-14: what a toolbox leaves out is refused, and said by capabilities and dumps.
TEST(system_scheduler, DF_78_a_toolbox_declares_what_there_is_not) {
    manual_clock time;
    actor_system system("plain", {.scheduler = {.use = scheduler_use::test},
                                  .tools = {.time = &time, .fixed_rate = false},
                                  .log_level = log_level::off});
    const auto can = system.scheduler().capabilities();
    EXPECT_TRUE(!can.fixed_rate && can.fixed_delay && can.manual_clock);
    const auto refused = system.timers().schedule_at_fixed_rate_fn(
        duration::from_ms(1), duration::from_ms(1), [](const execution_batch&) {});
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code, scheduler_errc::unsupported_mode);
    EXPECT_TRUE(system.timers().schedule_with_fixed_delay_fn(
        duration::from_ms(1), duration::from_ms(1), [](const execution_batch&) {}));
    EXPECT_NE(system.dump_scheduler().find("\nmodes one_shot fixed_delay manual_clock\n"),
              std::string::npos);
    actor_system usual("usual", {.log_level = log_level::off});
    EXPECT_FALSE(usual.scheduler().capabilities().manual_clock);
}

// DF-78: the other mode.
TEST(system_scheduler, DF_78_a_toolbox_without_fixed_delays) {
    manual_clock time;
    actor_system system("plain", {.scheduler = {.use = scheduler_use::test},
                                  .tools = {.time = &time, .fixed_delay = false},
                                  .log_level = log_level::off});
    const auto can = system.scheduler().capabilities();
    EXPECT_TRUE(can.fixed_rate && !can.fixed_delay);
    const auto refused = system.timers().schedule_with_fixed_delay_fn(
        duration::from_ms(1), duration::from_ms(1), [](const execution_batch&) {});
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code, scheduler_errc::unsupported_mode);
    EXPECT_TRUE(system.timers().schedule_at_fixed_rate_fn(
        duration::from_ms(1), duration::from_ms(1), [](const execution_batch&) {}));
    EXPECT_NE(system.dump_scheduler().find("\nmodes one_shot fixed_rate manual_clock\n"),
              std::string::npos);
}

struct hello {};
class hears_from : public actor<hello> {
public:
    explicit hears_from(std::promise<any_ref>* to) : to_(to) {}
    void on(const hello&) { to_->set_value(context().sender()); }

private:
    std::promise<any_ref>* to_;
};
class sends_for_another : public actor<> {
public:
    sends_for_another(actor_ref<hello> to, any_ref instead) : to_(to), instead_(instead) {}
    void pre_start() {
        (void)context().timers().as(instead_).on(0).schedule_once(duration::from_ms(1), to_,
                                                                  hello{});
        (void)context().timers().schedule_once_fn(duration::from_ms(1), [](const auto&) {});
    }

private:
    actor_ref<hello> to_;
    any_ref instead_;
};

// DF-79, SC-1, SC-4: calls of a context with another sender or dispatcher.
TEST(system_scheduler, DF_79_a_context_schedules_in_the_name_of_another) {
    std::promise<any_ref> heard;
    actor_system system("named", {.log_level = log_level::error});
    const auto to = system.spawn<hears_from>("to", &heard);
    const any_ref other = system.dead_letters();
    (void)system.spawn<sends_for_another>("from", to, other);
    auto sender = heard.get_future();
    ASSERT_EQ(sender.wait_for(30s), std::future_status::ready);
    EXPECT_EQ(sender.get(), other);
}

// DF-79, DR-5: timers take a dispatcher by its id, its alias or its handle.
TEST(system_scheduler, DF_79_timers_take_an_id_or_a_handle) {
    actor_system system("placed",
                        {.names = [](resolver& names) -> std::expected<void, std::string> {
                             if (names.add_dispatcher("io", {.workers = 1}))
                                 return {};
                             return std::unexpected("no names");
                         },
                         .log_level = log_level::error});
    const auto name_of_thread = [](const auto& timers) {
        std::promise<std::string> ran;
        const auto made =
            timers.schedule_once_fn(duration::from_ms(1), [&](const execution_batch&) {
                char name[16] = {};
                pthread_getname_np(pthread_self(), name, sizeof name);
                ran.set_value(name);
            });
        return made ? ran.get_future().get() : std::string();
    };
    const auto by_id = system.timers_on("io");
    ASSERT_TRUE(by_id.has_value());
    EXPECT_TRUE(name_of_thread(*by_id).starts_with("placed-io"));
    const auto handle = system.dispatchers().find("io");
    ASSERT_TRUE(handle.has_value());
    EXPECT_TRUE(name_of_thread(system.timers().on(*handle)).starts_with("placed-io"));
    const auto none = system.timers_on("oi");
    ASSERT_FALSE(none.has_value());
    EXPECT_EQ(none.error().what, runtime::dispatcher_error::kind::unknown_dispatcher);
}

// DF-75, SC-5: the runtime's own timers have the priority that their subsystem's policy says.
TEST(system_scheduler, DF_75_timers_of_the_runtime_follow_their_policy) {
    const auto is_refused = [](const timer_policy_rules& rules) {
        manual_clock time;
        actor_system system("ruled", {.scheduler = {.use = scheduler_use::test},
                                      .timer_policies = rules,
                                      .tools = {.time = &time},
                                      .log_level = log_level::off});
        system.scheduler().gauge()->push(gauge_event::engage);
        std::optional<scheduler_error> why;
        // Under backpressure from the next tick on that somebody looks at.
        for (int i = 0; i < 10 && !why; ++i) {
            time.advance(duration::from_ms(1));
            const auto usual = system.timers().schedule_once_fn(duration::from_s(60),
                                                                [](const execution_batch&) {});
            if (!usual)
                why = usual.error();
        }
        EXPECT_TRUE(why && why->code == scheduler_errc::backpressured);
        // SC-4: a part of the program has a face of its own.
        const auto important =
            system.timers()
                .of(timer_subsystem::application)
                .schedule_once_fn(duration::from_s(60), [](const execution_batch&) {});
        EXPECT_EQ(important.has_value(), rules.subsystems.contains(timer_subsystem::application));
        const pending_delay rest = system.scheduler().delay(duration::from_s(60));
        const auto over = rest.poll();
        return over && !*over && over->error().code == scheduler_errc::backpressured;
    };
    EXPECT_FALSE(is_refused({}));
    EXPECT_FALSE(is_refused(
        {.subsystems = {{timer_subsystem::application, timer_policy::of(timer_priority::high)}}}));
    const timer_policy normal;
    EXPECT_TRUE(is_refused({.subsystems = {{timer_subsystem::runtime, normal}}}));
    // Where the timer is made does not count for it.
    EXPECT_FALSE(is_refused({.dispatchers = {{std::string(default_dispatcher_id), normal}}}));
}

// DF-75, SC-5: by code, before the dispatcher is made and by an alias; and a face for a subsystem.
TEST(system_scheduler, DF_75_policies_are_given_by_code) {
    timer_policy io;
    io.fixed_rate.backlog_limit = 8;
    timer_policy mine = timer_policy::of(timer_priority::low);
    constexpr timer_subsystem number_300{300};
    const actor_system::options how{
        .names = [](resolver& names) -> std::expected<void, std::string> {
            if (names.add_dispatcher("io", {.workers = 1}) && names.add_alias("disk", "io"))
                return {};
            return std::unexpected("no names");
        },
        .timer_policies = {.dispatchers = {{"disk", io}}, .subsystems = {{number_300, mine}}},
        .log_level = log_level::error};
    actor_system system("coded", how);
    const auto made = system.dispatchers().find("disk");
    ASSERT_TRUE(made.has_value());
    const auto number = static_cast<std::uint16_t>(made->number());
    EXPECT_EQ(system.scheduler().policy_of({.dispatcher = number}).fixed_rate.backlog_limit, 8u);
    EXPECT_EQ(system.scheduler().policy_of({.dispatcher = 0}).fixed_rate.backlog_limit,
              no_backlog_limit);
    EXPECT_EQ(system.scheduler().policy_of({.subsystem = number_300}).one_shot,
              timer_priority::low);

    const auto refusal = [](const timer_policy_rules& rules) -> std::string {
        try {
            actor_system("wrong", {.timer_policies = rules});
        } catch (const std::invalid_argument& why) {
            return why.what();
        }
        return {};
    };
    timer_policy bad;
    bad.fixed_rate.backlog_limit = 0;
    const std::string says = ": backlog_limit of 0 is not allowed, it is at least 1";
    EXPECT_EQ(refusal({.dispatchers = {{std::string(default_dispatcher_id), bad}}}),
              "timer_policies.dispatchers." + std::string(default_dispatcher_id) + says);
    EXPECT_EQ(refusal({.guardians = {{timer_guardian::user, bad}}}),
              "timer_policies.guardians.user" + says);
    EXPECT_EQ(refusal({.subsystems = {{number_300, bad}}}), "timer_policies.subsystems.300" + says);
    EXPECT_TRUE(refusal({.guardians = {{timer_guardian::none, {}}}})
                    .starts_with("timer_policies.guardians.none: guardian"));
    EXPECT_TRUE(
        refusal({.dispatchers = {{"oi", {}}}}).starts_with("timer_policies.dispatchers.oi: "));
}

/// What was told of functions that failed, as it was told.
class failures final : public world_events {
public:
    void timer_warned(const scheduler_warning& what) noexcept override {
        const std::lock_guard held(mutex_);
        if (what.kind == scheduler_warning_kind::handler_failed)
            all_[what.job] = std::string(what.text) + ", " + std::to_string(what.batch.runs) +
                             (what.batch.job == what.job ? " of it" : " of another");
        count_ += what.kind == scheduler_warning_kind::handler_failed ? 1 : 0;
    }
    [[nodiscard]] std::string of(job_id job) {
        const std::lock_guard held(mutex_);
        return all_[job];
    }
    [[nodiscard]] unsigned count() {
        const std::lock_guard held(mutex_);
        return count_;
    }

private:
    std::mutex mutex_;
    std::map<job_id, std::string> all_;
    unsigned count_ = 0;
};

// SC-12: what a function throws, or says, ends its job, of whatever mode; it is told once, with the
// job, the error and the batch.
TEST(system_scheduler, SC_12_a_function_that_fails_ends_its_job) {
    failures told;
    actor_system system("failing", {.events = &told, .log_level = log_level::off});
    for (const bool throws : {false, true}) {
        for (const auto mode : {job_mode::one_shot, job_mode::fixed_rate, job_mode::fixed_delay}) {
            std::atomic<int> runs{0};
            const unsigned before = told.count();
            std::optional<cancellable> job;
            // A machine that was away for longer than the window refuses for a moment (BP-3).
            ASSERT_TRUE(until([&] {
                const auto made =
                    system.scheduler().add_function({.mode = mode,
                                                     .first = duration::from_ms(1),
                                                     .period = duration::from_ms(1),
                                                     .backlog_limit = 60'000,
                                                     .burst_threshold = 60'000},
                                                    [&runs, throws](const execution_batch&) {
                                                        runs.fetch_add(1);
                                                        if (throws)
                                                            throw std::runtime_error("no luck");
                                                        return failure("no luck");
                                                    });
                if (made)
                    job = *made;
                return made.has_value();
            }));
            // The end of the job is told from within its run.
            ASSERT_TRUE(
                until([&] { return job->is_completed() && system.scheduler().cell_count() == 0; }));
            EXPECT_EQ(job->end(), job_end::failed);
            EXPECT_FALSE(job->cancel());
            EXPECT_TRUE(told.of(job->id()).starts_with("no luck, ")) << told.of(job->id());
            EXPECT_TRUE(told.of(job->id()).ends_with(" of it"));
            EXPECT_EQ(told.count(), before + 1);
            EXPECT_EQ(runs.load(), 1);
        }
    }
}

struct beat {
    int number;
};
/// How often each number came, and in what mode.
class drummer : public actor<beat> {
public:
    struct heard {
        std::mutex mutex;
        std::map<int, std::pair<int, job_mode>> all;
        void note(int number, const execution_batch& b) {
            const std::lock_guard held(mutex);
            all[number] = {all[number].first + 1, b.mode};
        }
        /// At least once, and a periodic one again.
        [[nodiscard]] bool has(int number, job_mode mode) {
            const std::lock_guard held(mutex);
            return all[number].first >= (mode == job_mode::one_shot ? 1 : 2) &&
                   all[number].second == mode;
        }
    };
    explicit drummer(heard* to) : to_(to) {}
    void on(const beat& b) { to_->note(b.number, *context().scheduler_batch()); }

private:
    heard* to_;
};

// SC-4, SC-5: every form with references, with options and without.
TEST(system_scheduler, SC_4_every_form_with_references) {
    using enum job_mode;
    drummer::heard heard;
    actor_system system("typed", {.log_level = log_level::off});
    const auto to = system.spawn<drummer>("drummer", &heard);
    const typed_scheduler timers = system.timers();
    const auto two = duration::from_ms(2);
    const fixed_rate_options rate{.backlog_limit = 60'000, .burst_threshold = 60'000};
    const auto function = [&](int n) {
        return [&heard, n](const execution_batch& b) { heard.note(n, b); };
    };
    struct form {
        job_mode mode;
        std::function<typed_scheduler::result(int)> ask;
    };
    const std::vector<form> forms{
        {one_shot, [&](int n) { return timers.schedule_once(two, to, beat{n}); }},
        {one_shot,
         [&](int n) { return timers.schedule_once(two, to, beat{n}, timer_priority::high); }},
        {fixed_rate, [&](int n) { return timers.schedule_at_fixed_rate(two, two, to, beat{n}); }},
        {fixed_rate,
         [&](int n) { return timers.schedule_at_fixed_rate(two, two, to, beat{n}, rate); }},
        {fixed_delay,
         [&](int n) { return timers.schedule_with_fixed_delay(two, two, to, beat{n}); }},
        {fixed_delay,
         [&](int n) {
             return timers.schedule_with_fixed_delay(two, two, to, beat{n}, fixed_delay_options{});
         }},
        {one_shot, [&](int n) { return timers.schedule_once_fn(two, function(n)); }},
        {one_shot,
         [&](int n) { return timers.schedule_once_fn(two, function(n), timer_priority::high); }},
        {fixed_rate,
         [&](int n) { return timers.schedule_at_fixed_rate_fn(two, two, function(n)); }},
        {fixed_rate,
         [&](int n) { return timers.schedule_at_fixed_rate_fn(two, two, function(n), rate); }},
        {fixed_delay,
         [&](int n) { return timers.schedule_with_fixed_delay_fn(two, two, function(n)); }},
        {fixed_delay,
         [&](int n) {
             return timers.schedule_with_fixed_delay_fn(two, two, function(n),
                                                        fixed_delay_options{});
         }},
    };
    for (int n = 0; n < static_cast<int>(forms.size()); ++n) {
        const form& f = forms[static_cast<std::size_t>(n)];
        // A machine that was away may refuse it for a moment, or end one that has a limit.
        std::optional<cancellable> job;
        EXPECT_TRUE(until([&] {
            if (!job || job->end() == job_end::backlog_exceeded) {
                const auto made = f.ask(n);
                if (made)
                    job = *made;
            }
            return heard.has(n, f.mode);
        })) << n;
        (void)job->cancel();
    }
}

// SC-5: options of its own reach the scheduler.
TEST(system_scheduler, SC_5_options_of_its_own_go_with_it) {
    drummer::heard heard;
    actor_system system("options",
                        {.scheduler = {.profile = scheduler_profile::custom, .custom = {64, 1, 8}},
                         .log_level = log_level::off});
    const auto to = system.spawn<drummer>("drummer", &heard);
    const typed_scheduler timers = system.timers();
    const duration far = duration::from_s(10 * 24 * 3'600);
    const auto low = timers.schedule_once(far, to, beat{1}, timer_priority::low);
    const auto high = timers.schedule_once(far, to, beat{2}, timer_priority::high);
    ASSERT_TRUE(low && high);
    EXPECT_EQ(low->end(), job_end::dropped);
    const auto wrong = timers.schedule_at_fixed_rate(far, far, to, beat{1},
                                                     fixed_rate_options{.backlog_limit = 0});
    ASSERT_FALSE(wrong.has_value());
    EXPECT_EQ(wrong.error().code, scheduler_errc::invalid_options);
    const duration minute = duration::from_s(60);
    ASSERT_TRUE(timers.schedule_with_fixed_delay(minute, minute, to, beat{3},
                                                 fixed_delay_options{.metadata = 77}));
    EXPECT_NE(system.dump_scheduler().find("metadata 77"), std::string::npos);
}

class metric_map final : public metrics_sink {
public:
    void counter(const metric_info& what, std::string_view, std::uint64_t n) noexcept override {
        all[what.name] += n;
    }
    void gauge(const metric_info& what, std::string_view, std::uint64_t n) noexcept override {
        all[what.name] += n;
    }
    void histogram(const metric_info& what, std::string_view,
                   const histogram_sums& sums) noexcept override {
        for (const std::uint64_t n : sums.counts)
            all[what.name] += n;
    }
    std::map<std::string, std::uint64_t> all;
};

// OH-2, BP-8, SD-3, TS-9, BP-5
TEST(system_scheduler, OH_2_metrics_dumps_and_probes) {
    history seen;
    std::promise<void> ran;
    actor_system system("shown");
    const auto to = system.spawn<ends_late>("one", &seen);
    ASSERT_TRUE(system.timers().schedule_once(duration::from_s(60), to, go{}));  // SC-4
    ASSERT_TRUE(system.timers().schedule_once_fn(duration::from_ms(1),
                                                 [&](const execution_batch&) { ran.set_value(); }));
    ran.get_future().wait();
    // It is told from within the function, which is not over then; and a machine that was away for
    // longer than the window has its timers under pressure for a moment.
    ASSERT_TRUE(until([&] {
        return system.scheduler().counted().fired == 1 && system.scheduler().active_count() == 1 &&
               system.scheduler().cell_count() == 1 && is_calm(system.scheduler());
    }));
    metric_map metrics;
    ASSERT_TRUE(system.world().kernel().set_metrics_sink(&metrics));
    ASSERT_TRUE(system.world().kernel().collect_metrics());
    ASSERT_TRUE(system.world().kernel().set_metrics_sink(nullptr));
    EXPECT_EQ(metrics.all.at("scheduler.timer.active"), 1u);
    EXPECT_EQ(metrics.all.at("scheduler.timer.fired_total"), 1u);
    EXPECT_EQ(metrics.all.at("scheduler.timer.lateness_ms"), 1u);

    const std::string dump = system.dump_scheduler();
    EXPECT_NE(dump.find("scheduler open, state normal"), std::string::npos) << dump;
    EXPECT_NE(dump.find(system.info().driver.name), std::string::npos) << dump;
    EXPECT_NE(dump.find("one_shot"), std::string::npos) << dump;
    const auto reply = system.ask<dump_reply>(
        system.world().system_guardian(),
        [](actor_ref<dump_reply> me) {
            return dump_request{.what = dump_what::scheduler, .reply_to = me};
        },
        30s);
    ASSERT_TRUE(reply.has_value());
    EXPECT_NE(reply->text().find("scheduler open"), std::string_view::npos);

    EXPECT_EQ(system.scheduler().gauge()->probe_count(), 2u);
}

// SC-26, SC-5: what the preset says holds where nobody says more.
TEST(system_scheduler, SC_26_the_preset_of_pekko) {
    const scheduler_preset pekko = scheduler_defaults(system_preset::pekko);
    std::promise<void> ran;
    actor_system system("pekko", {.scheduler = pekko.config, .timer_policy = pekko.policy});
    EXPECT_EQ(system.scheduler().resolution(), duration::from_ms(10));
    const timer_policy policy = system.scheduler().policy_of({});
    EXPECT_EQ(policy.fixed_rate.catch_up, catch_up_rule::each);
    EXPECT_EQ(policy.fixed_delay.after, delay_after::sent);
    ASSERT_TRUE(system.timers().schedule_once_fn(duration::zero(),
                                                 [&](const execution_batch&) { ran.set_value(); }));
    EXPECT_EQ(ran.get_future().wait_for(30s), std::future_status::ready);

    timer_policy wrong;
    wrong.fixed_rate.backlog_limit = 0;
    EXPECT_THROW(actor_system("wrong", {.timer_policy = wrong}), std::invalid_argument);
}

}  // namespace
