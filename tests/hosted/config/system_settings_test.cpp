// SPDX-License-Identifier: Apache-2.0
//
// Goal: a file says how a system logs and ends, and where its actors run; what it says wrong is
// refused with its line and key (EV-2, EV-3, EV-4, DR-6).
#include <tactus/actor/dead_letter_log.hpp>
#include <tactus/config/system_options.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <string_view>

#include <pthread.h>

using namespace tactus;
using namespace std::chrono_literals;
using config::config_error;
using config::format;

namespace {

std::expected<actor_system::options, config_error> options_from(std::string_view text,
                                                                format as = format::toml) {
    const auto read = config::parse_settings(text, as, "a.toml");
    if (!read)
        return std::unexpected(read.error());
    return config::system_options(*read);
}

constexpr std::string_view everything = R"(
[system]
shutdown_limit = "3s"
on_shutdown_limit = "abort"
log_level = "warning"
log_unhandled = true
signals = true

[system.dead_letters]
max = "unlimited"
suspend = "none"
during_shutdown = true

[coordinated_shutdown]
default_timeout = "2s"
limit = "20s"
run_by_terminate = false
terminate_system = false
exit = true
exit_code = 3

[coordinated_shutdown.phases.service-stop]
timeout = "100ms"
recover = false

[coordinated_shutdown.phases.drain]
depends_on = ["service-unbind", "warm-down"]

[coordinated_shutdown.phases.cluster-leave]
enabled = false
)";

const shutdown_phase& phase_of(const std::vector<shutdown_phase>& all, std::string_view name) {
    for (const shutdown_phase& p : all) {
        if (p.name == name)
            return p;
    }
    static const shutdown_phase none;
    return none;
}

}  // namespace

// C-CSD-14: timeout, recover, enabled and depends_on of phases, and the defaults.
TEST(system_settings, EV_3_everything_a_file_can_say) {
    const auto o = options_from(everything);
    ASSERT_TRUE(o) << o.error().message();
    EXPECT_EQ(o->shutdown_limit, 3s);
    EXPECT_EQ(o->then, actor_system::at_limit::abort);
    EXPECT_EQ(o->log_level, log_level::warning);
    EXPECT_TRUE(o->log_unhandled && o->shutdown_on_signals);
    EXPECT_EQ(o->dead_letters.max, dead_letter_log::unlimited);
    EXPECT_EQ(o->dead_letters.suspend, std::chrono::nanoseconds::max());
    EXPECT_TRUE(o->dead_letters.during_shutdown);
    EXPECT_EQ(o->shutdown.limit, 20s);
    EXPECT_FALSE(o->shutdown.run_by_terminate || o->shutdown.terminate_system);
    EXPECT_TRUE(o->shutdown.exit);
    EXPECT_EQ(o->shutdown.exit_code, 3);
    const coordinated_shutdown shutdown(o->shutdown, {});
    const auto all = shutdown.all_phases();
    ASSERT_EQ(all.size(), 14u);  // the twelve, drain, and warm-down, which drain names
    EXPECT_EQ(shutdown.timeout("service-stop"), 100ms);
    EXPECT_EQ(shutdown.timeout("service-unbind"), 2s);
    EXPECT_EQ(shutdown.timeout("cluster-exiting"), 10s);
    EXPECT_FALSE(phase_of(all, "service-stop").recover);
    EXPECT_EQ(phase_of(all, "service-stop").depends_on,
              std::vector<std::string>{"service-requests-done"});
    EXPECT_FALSE(phase_of(all, "cluster-leave").enabled);
    EXPECT_TRUE(phase_of(all, "drain").enabled && phase_of(all, "drain").recover);
    EXPECT_EQ(phase_of(all, "drain").depends_on.size(), 2u);
}

TEST(system_settings, EV_3_an_empty_file_is_the_default) {
    for (const auto& o : {options_from(""), options_from("{}", format::json)}) {
        ASSERT_TRUE(o) << o.error().message();
        const actor_system::options plain;
        EXPECT_EQ(o->shutdown_limit, plain.shutdown_limit);
        EXPECT_EQ(o->then, plain.then);
        EXPECT_EQ(o->log_level, plain.log_level);
        EXPECT_EQ(o->shutdown_on_signals, plain.shutdown_on_signals);
        EXPECT_EQ(o->log_unhandled, plain.log_unhandled);
        EXPECT_EQ(o->dead_letters.max, plain.dead_letters.max);
        EXPECT_EQ(o->dead_letters.suspend, plain.dead_letters.suspend);
        EXPECT_EQ(o->dead_letters.during_shutdown, plain.dead_letters.during_shutdown);
        EXPECT_EQ(o->shutdown.default_timeout, plain.shutdown.default_timeout);
        EXPECT_EQ(o->shutdown.limit, plain.shutdown.limit);
        EXPECT_EQ(o->shutdown.run_by_terminate, plain.shutdown.run_by_terminate);
        EXPECT_EQ(o->shutdown.terminate_system, plain.shutdown.terminate_system);
        EXPECT_EQ(o->shutdown.exit, plain.shutdown.exit);
        EXPECT_EQ(o->shutdown.exit_code, plain.shutdown.exit_code);
        EXPECT_EQ(o->shutdown.phases.size(), plain.shutdown.phases.size());
    }
}

// DR-3: each setting, said as it is by default, is as if it were not said.
TEST(system_settings, EV_3_the_defaults_read_back_as_defaults) {
    std::size_t compared = 0;
    for (const config::setting_info& info : config::known_settings()) {
        std::string section(info.section);
        if (info.otherwise.empty() ||
            (!section.starts_with("system") && !section.starts_with("coordinated")))
            continue;
        if (const auto name = section.find("\"<name>\""); name != std::string::npos)
            section.replace(name, 8, "service-stop");
        const std::string text =
            "[" + section + "]\n" + std::string(info.key) + " = " + info.otherwise;
        const auto read = config::parse_settings(text, format::toml, "a.toml");
        ASSERT_TRUE(read) << read.error().message();
        EXPECT_EQ(read->system, config::system_setting{}) << text;
        const config::shutdown_setting& said = read->coordinated_shutdown;
        const config::shutdown_setting plain;
        EXPECT_EQ(said.default_timeout, plain.default_timeout);
        EXPECT_EQ(said.limit, plain.limit);
        EXPECT_EQ(said.run_by_terminate, plain.run_by_terminate);
        EXPECT_EQ(said.terminate_system, plain.terminate_system);
        EXPECT_EQ(said.exit, plain.exit);
        EXPECT_EQ(said.exit_code, plain.exit_code);
        for (const config::phase_setting& p : said.phases)
            EXPECT_TRUE(p.recover.value_or(true) && p.enabled.value_or(true));
        ++compared;
    }
    EXPECT_EQ(compared, 16u);
}

// DR-6: what is wrong is refused with file, line and key.
TEST(system_settings, DR_6_what_is_wrong_is_refused_with_its_line) {
    struct refusal {
        std::string_view text;
        std::string_view says;
    };
    constexpr refusal refusals[] = {
        {"[system]\n\nsignal = true",
         "a.toml:3: system.signal: unknown key, did you mean 'signals'?"},
        {"[system]\nqwertyuiop = 1",
         "a.toml:2: system.qwertyuiop: unknown key; known are: "
         "shutdown_limit, on_shutdown_limit, log_level, "
         "log_unhandled, signals, dead_letters"},
        {"[system]\nsignals = \"yes\"",
         "a.toml:2: system.signals: expected true or false, found 'yes'"},
        {"[system]\nsignals = 1", "a.toml:2: system.signals: expected true or false, found 1"},
        {"[system]\nlog_level = \"warn\"",
         "a.toml:2: system.log_level: unknown value 'warn'; known are: off, error, warning, info, "
         "debug"},
        {"[system]\nlog_level = 3", "a.toml:2: system.log_level: expected one of the names"},
        {"[system]\non_shutdown_limit = \"abrt\"",
         "a.toml:2: system.on_shutdown_limit: unknown value 'abrt', did you mean 'abort'?"},
        {"[system]\nshutdown_limit = \"0s\"",
         "a.toml:2: system.shutdown_limit: expected a time of more than nothing, and not for "
         "ever, found '0s'"},
        {"[system]\nshutdown_limit = \"none\"",
         "a.toml:2: system.shutdown_limit: expected a time of more than nothing"},
        {"[system]\nshutdown_limit = 3",
         "a.toml:2: system.shutdown_limit: expected a duration with its unit"},
        {"[system.dead_letters]\nmx = 1",
         "a.toml:2: system.dead_letters.mx: unknown key, did you mean 'max'?"},
        {"[system.dead_letters]\nmax = -1",
         "a.toml:2: system.dead_letters.max: expected an integer from 0 to 4294967294 or "
         "\"unlimited\", found -1"},
        {"[system]\ndead_letters = 3",
         "a.toml:2: system.dead_letters: expected a table, found an integer"},
        {"system = 1", "a.toml:1: system: expected a table, found an integer"},
        {"[coordinated_shutdown]\nexit_code = 256",
         "a.toml:2: coordinated_shutdown.exit_code: expected an integer from 0 to 255, found 256"},
        {"[coordinated_shutdown]\nphase = 1",
         "a.toml:2: coordinated_shutdown.phase: unknown key, did you mean 'phases'?"},
        {"[coordinated_shutdown]\nphases = 1",
         "a.toml:2: coordinated_shutdown.phases: expected a table, found an integer"},
        {"[coordinated_shutdown]\nlimit = \"0s\"",
         "a.toml:2: coordinated_shutdown.limit: expected a time of more than nothing"},
        {"[coordinated_shutdown.phases]\na = 1",
         "a.toml:2: coordinated_shutdown.phases.a: expected a table, found an integer"},
        {"[coordinated_shutdown.phases.a]\ntimeout = \"5\"",
         "a.toml:2: coordinated_shutdown.phases.a.timeout: expected a duration with its unit"},
        {"[coordinated_shutdown.phases.a]\nrecovers = true",
         "a.toml:2: coordinated_shutdown.phases.a.recovers: unknown key, did you mean 'recover'?"},
        {"[coordinated_shutdown.phases.a]\ndepends_on = \"b\"",
         "a.toml:2: coordinated_shutdown.phases.a.depends_on: expected a list of phases, found "
         "'b'"},
        {"[coordinated_shutdown.phases.a]\ndepends_on = [\"\"]",
         "a.toml:2: coordinated_shutdown.phases.a.depends_on: expected names of phases in the "
         "list, found ''"},
        // C-CSD-2: a circle
        {"\n[coordinated_shutdown.phases.before-service-unbind]\ndepends_on = [\"service-stop\"]",
         "a.toml:2: coordinated_shutdown.phases.before-service-unbind: phases of the shutdown "
         "depend on each other: before-service-unbind -> service-stop -> "},
        // C-CSD-16: a contradiction
        {"\n[coordinated_shutdown]\nterminate_system = false",
         "a.toml:2: coordinated_shutdown.terminate_system: terminate() would run the shutdown"},
    };
    for (const refusal& r : refusals) {
        const auto o = options_from(r.text);
        ASSERT_FALSE(o) << r.text;
        EXPECT_TRUE(o.error().message().starts_with(r.says)) << o.error().message();
    }
    const auto nowhere = config::read_system_options("/nowhere.toml");
    ASSERT_FALSE(nowhere);
    EXPECT_EQ(nowhere.error().message(), "/nowhere.toml: cannot be read");
    // In JSON, too.
    const auto json = options_from("{\"system\":\n{\"signals\": \"no\"}}", format::json);
    ASSERT_FALSE(json);
    EXPECT_EQ(json.error().line, 2u);
    EXPECT_TRUE(
        options_from("{\"system\": {\"signals\": true}}", format::json)->shutdown_on_signals);
}

// SC-37, SC-26: timers of a file's system.
TEST(system_settings, SC_37_a_file_configures_the_scheduler) {
    const auto o = options_from(R"(
[scheduler]
resolution = "2ms"
zero_delay = "next_tick"
profile = "small"
catch_up = "20ms"
chunk_ticks = 100
shutdown_timeout = "3s"
fixed_rate_catch_up = "each"
fixed_delay_after = "sent"
)");
    ASSERT_TRUE(o) << o.error().message();
    EXPECT_EQ(o->scheduler.resolution, duration::from_ms(2));
    EXPECT_EQ(o->scheduler.zero_delay, zero_delay_rule::next_tick);
    EXPECT_EQ(o->scheduler.profile, scheduler_profile::small);
    EXPECT_EQ(o->scheduler.catch_up, duration::from_ms(20));
    EXPECT_EQ(o->scheduler.chunk_ticks, 100U);
    EXPECT_EQ(o->scheduler.shutdown_timeout, duration::from_s(3));
    EXPECT_EQ(o->timer_policy.fixed_rate.catch_up, catch_up_rule::each);
    EXPECT_EQ(o->timer_policy.fixed_delay.after, delay_after::sent);
    const actor_system system("test", *o);
    EXPECT_EQ(system.info().driver.resolution, duration::from_ms(2));
}

// SC-37, BP-1, BP-3, BP-4, SD-2, TS-7: all of it.
TEST(system_settings, SC_37_a_file_has_every_setting_of_the_scheduler) {
    const auto o = options_from(R"(
[scheduler]
profile = "custom"
adaptive_quota_divisor = 4
cooldown_ticks = 0
diagnostics_capacity = 64
[scheduler.custom]
timers = 100
overflow = 20
tasks = 5
[scheduler.driver_stops]
what = "fail_fast"
attempts = 7
apart = "20ms"
)");
    ASSERT_TRUE(o) << o.error().message();
    EXPECT_EQ(o->scheduler.profile, scheduler_profile::custom);
    EXPECT_TRUE(o->scheduler.custom == (scheduler_capacity{100, 20, 5}));
    EXPECT_EQ(o->scheduler.adaptive_quota_divisor, 4U);
    EXPECT_EQ(o->scheduler.cooldown_ticks, 0U);
    EXPECT_EQ(o->scheduler.diagnostics_capacity, 64U);
    EXPECT_EQ(o->driver_stops.what, driver_policy::kind::fail_fast);
    EXPECT_EQ(o->driver_stops.attempts, 7U);
    EXPECT_EQ(o->driver_stops.apart, duration::from_ms(20));
    actor_system system("test", *o);
    EXPECT_EQ(system.scheduler().metrics().quota, 100U);
    // What is not said is as it always is.
    const auto plain = options_from("[scheduler.driver_stops]\nattempts = 0");
    ASSERT_TRUE(plain) << plain.error().message();
    EXPECT_EQ(plain->driver_stops.what, driver_policy{}.what);
    EXPECT_EQ(plain->driver_stops.attempts, 0U);
    EXPECT_EQ(plain->driver_stops.apart, driver_policy{}.apart);
    EXPECT_EQ(plain->scheduler.adaptive_quota_divisor, 2U);
    EXPECT_EQ(plain->scheduler.cooldown_ticks, 5U);
    EXPECT_EQ(plain->scheduler.diagnostics_capacity, 256U);
}

// SC-26: the preset, and what is said beside it, in any order.
TEST(system_settings, SC_26_the_preset_is_the_schedulers_too) {
    const auto plain = options_from("");
    EXPECT_EQ(plain->scheduler.resolution, duration::from_ms(1));
    EXPECT_EQ(plain->scheduler.zero_delay, zero_delay_rule::reject);
    const auto pekko = options_from("preset = \"pekko\"");
    EXPECT_EQ(pekko->scheduler.resolution, duration::from_ms(10));
    EXPECT_EQ(pekko->scheduler.zero_delay, zero_delay_rule::next_tick);
    const auto other =
        options_from(R"({"scheduler": {"resolution": "5ms"}, "preset": "pekko"})", format::json);
    ASSERT_TRUE(other) << other.error().message();
    EXPECT_EQ(other->scheduler.resolution, duration::from_ms(5));
    EXPECT_EQ(other->scheduler.zero_delay, zero_delay_rule::next_tick);
}

// SC-26: what the preset says of timers can be had alone, and left out.
// DF-70
TEST(system_settings, SC_26_the_preset_restarts_without_pauses) {
    for (const bool is_pekko : {false, true}) {
        const auto o = options_from(is_pekko ? "preset = \"pekko\"" : "");
        ASSERT_TRUE(o.has_value());
        const restart_pacing* expected = is_pekko ? nullptr : &bounded_storms;
        EXPECT_EQ(o->guardian_strategy.pacing, expected);
        EXPECT_EQ(o->pacing, expected);
    }
}

TEST(system_settings, SC_26_each_rule_of_timers_can_be_had_alone) {
    const auto plain = options_from("");
    EXPECT_TRUE(plain->timer_policy == timer_policy{});
    const auto each = options_from("[scheduler]\nfixed_rate_catch_up = \"each\"");
    ASSERT_TRUE(each) << each.error().message();
    EXPECT_EQ(each->timer_policy.fixed_rate.catch_up, catch_up_rule::each);
    EXPECT_EQ(each->timer_policy.fixed_delay.after, delay_after::handled);
    const auto sent = options_from("[scheduler]\nfixed_delay_after = \"sent\"");
    ASSERT_TRUE(sent) << sent.error().message();
    EXPECT_EQ(sent->timer_policy.fixed_rate.catch_up, catch_up_rule::fold);
    EXPECT_EQ(sent->timer_policy.fixed_delay.after, delay_after::sent);
    const auto pekko =
        options_from("preset = \"pekko\"\n[scheduler]\nfixed_rate_catch_up = \"fold\"");
    ASSERT_TRUE(pekko) << pekko.error().message();
    EXPECT_EQ(pekko->timer_policy.fixed_rate.catch_up, catch_up_rule::fold);
    EXPECT_EQ(pekko->timer_policy.fixed_delay.after, delay_after::sent);
    EXPECT_EQ(pekko->scheduler.zero_delay, zero_delay_rule::next_tick);
}

// DF-82, DF-80: beside any profile.
TEST(system_settings, DF_82_a_file_sets_the_number_of_on_close_tasks_alone) {
    const auto o = options_from(R"(
[scheduler]
profile = "small"
on_close_tasks = 2
drift_budget_percent = 50
)");
    ASSERT_TRUE(o) << o.error().message();
    EXPECT_EQ(o->scheduler.profile, scheduler_profile::small);
    EXPECT_EQ(o->on_close_tasks, 2u);
    EXPECT_EQ(o->drift_budget_percent, 50u);
    const auto plain = options_from("");
    EXPECT_FALSE(plain->on_close_tasks.has_value());
    EXPECT_EQ(plain->drift_budget_percent, 5u);
}

// DF-75, SC-5: policies of timers by where they come from; what is not said is the section's.
TEST(system_settings, DF_75_a_file_has_policies_by_dispatcher_guardian_and_subsystem) {
    const auto o = options_from(R"(
[dispatchers.io]
workers = 1
[scheduler]
priority = "low"
backlog_limit = 100
[scheduler.policies.dispatchers.io]
backlog_limit = 8
burst_threshold = 4
[scheduler.policies.guardians.user]
priority = "high"
[scheduler.policies.subsystems.runtime]
burst_threshold = 7
[scheduler.policies.subsystems.300]
fixed_delay_after = "sent"
)");
    ASSERT_TRUE(o) << o.error().message();
    timer_policy usual = timer_policy::of(timer_priority::low);
    usual.fixed_rate.backlog_limit = 100;
    EXPECT_TRUE(o->timer_policy == usual);
    timer_policy io = usual;
    io.fixed_rate.backlog_limit = 8;
    io.fixed_rate.burst_threshold = 4;
    timer_policy user = timer_policy::of(timer_priority::high);
    user.fixed_rate.backlog_limit = 100;
    timer_policy runtime = timer_policy::of(timer_priority::high);
    runtime.fixed_rate.burst_threshold = 7;
    timer_policy mine = usual;
    mine.fixed_delay.after = delay_after::sent;
    constexpr timer_subsystem number_300{300};
    const timer_policy_rules rules{
        .dispatchers = {{"io", io}},
        .guardians = {{timer_guardian::user, user}},
        .subsystems = {{timer_subsystem::runtime, runtime}, {number_300, mine}}};
    EXPECT_TRUE(o->timer_policies == rules);

    actor_system system("test", *o);
    const auto dispatcher = system.dispatchers().find("io");
    ASSERT_TRUE(dispatcher.has_value());
    const auto policy_of = [&](const timer_affinity& from) {
        return system.scheduler().policy_of(from);
    };
    // Of the default dispatcher there is none, which is where this thread's timers belong to.
    EXPECT_TRUE(policy_of({}) == usual);
    EXPECT_TRUE(policy_of({.dispatcher = static_cast<std::uint16_t>(dispatcher->number()),
                           .guardian = timer_guardian::user}) == io);
    EXPECT_TRUE(policy_of({.guardian = timer_guardian::user, .subsystem = number_300}) == user);
    EXPECT_TRUE(policy_of({.subsystem = number_300}) == mine);
    EXPECT_TRUE(system.scheduler().runtime_policy() == runtime);
}

// SC-37, DR-6: line, field, value and limit.
TEST(system_settings, SC_37_what_is_wrong_with_the_scheduler_is_refused) {
    struct refusal {
        std::string_view text;
        std::string_view says;
    };
    constexpr refusal refusals[] = {
        {"\n[scheduler]\nresolution = \"2s\"",
         "a.toml:2: scheduler.resolution: a tick of 2000000000 ns, but it has 1 ns to 1000000000 "
         "ns"},
        {"[scheduler]\nresolution = \"0s\"",
         "a.toml:2: scheduler.resolution: expected a time of more than nothing"},
        {"[scheduler]\ncatch_up = \"33ms\"",
         "a.toml:1: scheduler.catch_up: a window of 33 ticks exceeds the limit of 32 ticks"},
        {"[scheduler]\nchunk_ticks = 0",
         "a.toml:1: scheduler.chunk_ticks: a chunk of 0 ticks is below the minimum of 1"},
        {"[scheduler]\nchunk_ticks = -1",
         "a.toml:2: scheduler.chunk_ticks: expected an integer from 1 to 4294967295"},
        {"[scheduler]\nprofile = \"smal\"",
         "a.toml:2: scheduler.profile: unknown value 'smal', did you mean 'small'?"},
        {"[scheduler]\nzero_delay = 1",
         "a.toml:2: scheduler.zero_delay: expected one of the names"},
        {"[scheduler]\nfixed_delay_after = \"send\"",
         "a.toml:2: scheduler.fixed_delay_after: unknown value 'send', did you mean 'sent'?"},
        {"[scheduler]\nadaptive_quota_divisor = 0",
         "a.toml:1: scheduler.adaptive_quota_divisor: 0 is below the minimum of 1"},
        {"[scheduler]\ncooldown_ticks = \"5\"",
         "a.toml:2: scheduler.cooldown_ticks: expected an integer from 0 to 4294967295, found '5'"},
        {"[scheduler]\ndiagnostics_capacity = 0",
         "a.toml:1: scheduler.diagnostics_capacity: 0 is below the minimum of 1"},
        {"[scheduler]\nprofile = \"custom\"",
         "a.toml:1: scheduler.custom.timers: 0 is out of range, nearest is 1"},
        {"[scheduler]\nprofile = \"custom\"\n[scheduler.custom]\ntimers = 10\noverflow = 11",
         "a.toml:1: scheduler.custom.overflow: 11 is out of range, nearest is 10"},
        {"[scheduler]\nprofile = \"custom\"\n[scheduler.custom]\ntimers = 10\ntasks = 1025",
         "a.toml:1: scheduler.custom.tasks: 1025 is out of range, nearest is 1024"},
        {"\n[scheduler.custom]\ntimers = 10",
         "a.toml:2: scheduler.custom: is for the profile 'custom', and here it is 'unbounded'"},
        {"[scheduler.custom]\ntimer = 10",
         "a.toml:2: scheduler.custom.timer: unknown key, did you mean 'timers'?"},
        {"[scheduler]\ncustom = 10",
         "a.toml:2: scheduler.custom: expected a table, found an integer"},
        {"[scheduler.driver_stops]\nwhat = \"retyr\"",
         "a.toml:2: scheduler.driver_stops.what: unknown value 'retyr', did you mean 'retry'?"},
        {"[scheduler.driver_stops]\nattempts = -1",
         "a.toml:2: scheduler.driver_stops.attempts: expected an integer from 0 to 4294967295"},
        {"[scheduler.driver_stops]\napart = \"0s\"",
         "a.toml:2: scheduler.driver_stops.apart: expected a time of more than nothing"},
        {"[scheduler]\nburst_threshold = 9\nbacklog_limit = 8",
         "a.toml:1: scheduler.burst_threshold: burst_threshold of 9 is not allowed, it is at most "
         "8"},
        {"[scheduler]\non_close_tasks = 1025",
         "a.toml:2: scheduler.on_close_tasks: expected an integer from 1 to 1024, found 1025"},
        {"[scheduler]\ndrift_budget_percent = 101",
         "a.toml:2: scheduler.drift_budget_percent: expected an integer from 0 to 100, found 101"},
        {"[scheduler.policies.dispatchers.io]\npriority = \"hgih\"",
         "a.toml:2: scheduler.policies.dispatchers.io.priority: unknown value 'hgih', did you mean "
         "'high'?"},
        {"\n[scheduler.policies.guardians.user]\nbacklog_limit = 0",
         "a.toml:2: scheduler.policies.guardians.user.backlog_limit: backlog_limit of 0 is not "
         "allowed, it is at least 1"},
        {"[scheduler.policies.guardians.usr]\n",
         "a.toml:1: scheduler.policies.guardians.usr: unknown guardian, did you mean 'user'?"},
        {"[scheduler.policies.subsystems.200]\n",
         "a.toml:1: scheduler.policies.subsystems.200: expected the subsystem 'runtime', or the "
         "number of one, 256 to 65535"},
        {"[scheduler.policies.dispatcher.io]\n",
         "a.toml:1: scheduler.policies.dispatcher: unknown key, did you mean 'dispatchers'?"},
        {"[scheduler]\npolicies = 1",
         "a.toml:2: scheduler.policies: expected a table, found an integer"},
        {"[scheduler]\nresolutoin = \"1ms\"",
         "a.toml:2: scheduler.resolutoin: unknown key, did you mean 'resolution'?"},
    };
    for (const refusal& r : refusals) {
        const auto o = options_from(r.text);
        ASSERT_FALSE(o) << r.text;
        EXPECT_TRUE(o.error().message().starts_with(r.says)) << o.error().message();
    }
}

namespace {

struct where_are_you {
    actor_ref<std::string> reply_to;
};
std::string thread_name() {
    char name[16] = {};
    pthread_getname_np(pthread_self(), name, sizeof name);
    return name;
}
class child : public actor<where_are_you> {
public:
    void on(const where_are_you& m) { m.reply_to.tell(thread_name()); }
};
class worker_of_files : public actor<where_are_you, actor_ref<std::string>> {
public:
    void pre_start() { child_ = *context().try_spawn<child>("child", {}); }
    void on(const where_are_you& m) { m.reply_to.tell(thread_name()); }
    void on(const actor_ref<std::string>& to) { child_.tell(where_are_you{to}); }

private:
    actor_ref<where_are_you> child_;
};

}  // namespace

// DR-1, DR-4: actors run where the file deploys their path, children too, unless their options say
// otherwise.
TEST(system_settings, DR_4_actors_run_where_the_file_says) {
    const auto o = options_from(R"(
[dispatchers."app.files"]
executor = "thread_pool"
workers = 1
[dispatchers."app.child"]
executor = "thread_pool"
workers = 1
[dispatchers."tactus.default-dispatcher"]
workers = 1
[deployment."/user/reader"]
dispatcher = "app.files"
[deployment."/user/reader/child"]
dispatcher = "app.child"
[deployment."/user/lost"]
dispatcher = "app.nowhere"
)");
    ASSERT_TRUE(o) << o.error().message();
    actor_system::options how = *o;
    how.log_level = log_level::off;
    actor_system system("app", how);
    const auto ask = [&](auto& ref) {
        return system.ask<std::string>(ref, [](auto me) { return where_are_you{me}; }, 10s);
    };
    auto reader = system.spawn<worker_of_files>("reader");
    auto parser = system.spawn<worker_of_files>("parser");
    EXPECT_EQ(ask(reader), "app-files-0");
    EXPECT_EQ(system.ask<std::string>(reader, [](auto me) { return me; }, 10s), "app-child-0");
    EXPECT_EQ(ask(parser), "app-default-0");
    const auto lost = system.try_spawn<child>("lost", {});
    ASSERT_FALSE(lost);
    EXPECT_EQ(lost.error().what, spawn_error::kind::unknown_dispatcher);
    // DF-13: a mailbox of its own says nothing of the dispatcher.
    EXPECT_FALSE(system.try_spawn<child>("lost", {.mailbox = {.capacity = 5}}));
    auto own = system.try_spawn<child>("lost", {.dispatcher_id = default_dispatcher_id});
    ASSERT_TRUE(own);
    EXPECT_EQ(ask(*own), "app-default-0");
}

// What the resolver refuses is known before anything runs.
TEST(system_settings, DR_6_names_that_cannot_be_are_thrown) {
    const auto o = options_from("[aliases]\n\"tactus.default-dispatcher\" = \"x\"\n");
    ASSERT_TRUE(o) << o.error().message();
    EXPECT_THROW(actor_system("app", *o), std::invalid_argument);
}

// DF-15:
// The preset counts for the default dispatcher as for others, from a file and from code; what is
// said of it counts more.
TEST(system_settings, DF_15_the_preset_has_the_throughput_of_the_default_dispatcher) {
    struct row {
        const char* text;
        std::uint32_t throughput;  // 0: the default rule
    };
    const row rows[] = {
        {"preset = 'pekko'", 5},
        {"preset = 'pekko'\n[dispatchers.'tactus.default-dispatcher']\nworkers = 1", 5},
        {"preset = 'pekko'\n[dispatchers.'tactus.default-dispatcher']\nthroughput = 7", 7},
        {"preset = 'tactus'", 0},
    };
    for (const row& r : rows) {
        const auto read = config::parse_settings(r.text, config::format::toml, "app.toml");
        ASSERT_TRUE(read) << read.error().message();
        const auto o = config::system_options(*read);
        ASSERT_TRUE(o) << o.error().message();
        actor_system system("demo", *o);
        EXPECT_EQ(system.dispatchers().first().where().throughput(), r.throughput) << r.text;
    }
    actor_system::options o;
    o.rules = dispatch_rules::of(system_preset::pekko);
    actor_system system("demo", o);
    EXPECT_EQ(system.dispatchers().first().where().throughput(), 5u);
}
