// SPDX-License-Identifier: Apache-2.0
//
// Goal: what a real system says in its log: lost messages, a few at a time; what became of actors
// that failed; what actors say themselves (EV-2, EV-4, SV-5, AC-5).
#include <tactus/actor/system_events.hpp>
#include <tactus/runtime/actor_system.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <mutex>
#include <semaphore>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "pool_rig.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using namespace std::chrono_literals;
using tactus_test::until;

namespace {

class lines final : public log_sink {
public:
    struct one {
        log_level level;
        std::string text;
        std::string actor;
        std::string dispatcher;
    };
    void write(const log_record& r) noexcept override {
        const std::lock_guard held(mutex_);
        all_.push_back({r.level, std::string(r.text), std::string(r.from.actor),
                        std::string(r.from.dispatcher)});
    }
    std::vector<one> all() const {
        const std::lock_guard held(mutex_);
        return all_;
    }
    std::size_t count() const { return all().size(); }
    std::string last() const {
        const auto now = all();
        return now.empty() ? "" : now.back().text;
    }

private:
    mutable std::mutex mutex_;
    std::vector<one> all_;
};

struct letter {};
class reader : public actor<int> {
public:
    void on(int) {}
};
class blocked : public actor<std::binary_semaphore*> {
public:
    void on(std::binary_semaphore* until) { until->acquire(); }
};

/// One that has ended.
any_ref dead_reader(actor_system& system) {
    auto ref = system.spawn<reader>("dead");
    (void)system.stop(ref.any());
    EXPECT_TRUE(until([&] { return !system.select("/user/dead"); }));
    return ref.any();
}
bool has(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

// C-DL-3, PK-DL-3, PK-DL-4: dead letters, dropped and unhandled messages count together; then it is
// quiet, says what it did not say, and begins again.
TEST(system_log, EV_2_lost_messages_are_logged_a_few_at_a_time) {
    lines log;
    std::binary_semaphore go(0);
    actor_system system("demo",
                        {.tools = {.log = &log}, .dead_letters = {.max = 4, .suspend = 400ms}});
    const any_ref dead = dead_reader(system);
    const auto full = *system.try_spawn<blocked>(
        "full", {.mailbox = {.when_full = overflow::reject, .pressure_percent = 0, .capacity = 1}});
    auto alive = system.spawn<reader>("alive");
    full.tell(&go);
    ASSERT_TRUE(until([&] { return full.try_tell(&go).has_value(); }));

    dead.tell(letter{});
    ASSERT_TRUE(until([&] { return log.count() == 1; }));
    EXPECT_TRUE(has(log.last(), "[1] dead letter: message [")) << log.last();
    EXPECT_TRUE(has(log.last(), "letter] to [tactus://demo/")) << log.last();
    EXPECT_TRUE(has(log.last(), "was not delivered (recipient_terminated)")) << log.last();
    ASSERT_TRUE(until([&] {
        full.tell(&go);
        return log.count() == 2;
    }));
    EXPECT_TRUE(has(log.last(), "[2] dead letters: message [")) << log.last();
    EXPECT_TRUE(has(log.last(), "to [tactus://demo/user/full] was dropped (mailbox_full)"))
        << log.last();
    alive.any().tell(letter{});
    ASSERT_TRUE(until([&] { return log.count() == 3; }));
    EXPECT_TRUE(has(log.last(), "to [tactus://demo/user/alive] was not handled")) << log.last();
    EXPECT_EQ(log.all().back().actor, "tactus://demo/user/alive");
    dead.tell(letter{});
    ASSERT_TRUE(until([&] { return log.count() == 4; }));
    EXPECT_TRUE(has(log.last(), "[4] dead letters, no more are logged in the next 400 ms"))
        << log.last();
    const auto quiet_since = std::chrono::steady_clock::now();
    dead.tell(letter{});
    dead.tell(letter{});
    if (std::chrono::steady_clock::now() - quiet_since < 300ms) {
        std::this_thread::sleep_for(20ms);
        EXPECT_EQ(log.count(), 4u);
    }
    std::this_thread::sleep_until(quiet_since + 450ms);
    dead.tell(letter{});
    ASSERT_TRUE(until([&] { return log.count() == 5; }));
    EXPECT_TRUE(has(log.last(), "[7] dead letters, of which 2 were not logged")) << log.last();
    dead.tell(letter{});
    ASSERT_TRUE(until([&] { return log.count() == 6; }));
    EXPECT_TRUE(has(log.last(), "[1] dead letter: ")) << log.last();
    for (const auto& l : log.all())
        EXPECT_EQ(l.level, log_level::info);
    go.release(10);
}

// C-DL-4, PK-DL-6: quiet while a shutdown runs that ends the system, unless asked for; one that
// does not end it, by the options or by its reason, changes nothing.
TEST(system_log, EV_2_lost_messages_during_a_shutdown) {
    struct row {
        bool during_shutdown;
        bool terminate_system;
        std::optional<bool> of_reason;
        std::size_t wanted;  // in the run, and after it
    };
    for (const row& r : {row{false, true, {}, 0}, row{true, true, {}, 1}, row{false, false, {}, 2},
                         row{false, true, false, 2}}) {
        lines log;
        actor_system system("demo", {.shutdown = {.run_by_terminate = r.terminate_system,
                                                  .terminate_system = r.terminate_system},
                                     .tools = {.log = &log},
                                     .dead_letters = {.during_shutdown = r.during_shutdown}});
        const any_ref dead = dead_reader(system);
        system.shutdown().add_task(phases::service_stop, "task", [&] { dead.tell(letter{}); });
        (void)system.shutdown().run({.name = "x", .terminate_system = r.of_reason}).get();
        if (r.wanted != 1)
            dead.tell(letter{});
        std::size_t said = 0;
        for (const auto& l : log.all())
            said += has(l.text, "dead letter") ? 1 : 0;
        EXPECT_EQ(said, r.wanted);
    }
}

// EV-2: what is marked is not logged, nor is the loss of what tells of a loss.
TEST(system_log, EV_2_what_is_suppressed_is_not_logged) {
    struct expected_loss : dead_letter_suppression {};
    lines log;
    actor_system system("demo", {.tools = {.log = &log}});
    const any_ref dead = dead_reader(system);
    auto alive = system.spawn<reader>("alive");
    dead.tell(expected_loss{});
    dead.tell(lost_letter{});
    alive.any().tell(expected_loss{});
    alive.any().tell(unhandled_letter{});
    dead.tell(letter{});
    ASSERT_TRUE(until([&] { return log.count() != 0; }));
    EXPECT_TRUE(has(log.all()[0].text, "[1] dead letter: ")) << log.all()[0].text;
    EXPECT_TRUE(system.terminate_and_wait(10s));
    EXPECT_EQ(log.count(), 1u);
}

// C-EVT-3, PK-EVT-7: with log_unhandled every one has a line of its own, of the level debug.
TEST(system_log, EV_2_every_unhandled_message_if_asked_for) {
    for (const bool asked : {true, false}) {
        lines log;
        actor_system system("demo", {.tools = {.log = &log},
                                     .log_level = log_level::debug,
                                     .log_unhandled = asked,
                                     .dead_letters = {.max = 0}});
        auto alive = system.spawn<reader>("alive");
        for (int i = 0; i < 3; ++i)
            alive.any().tell(letter{});
        EXPECT_TRUE(system.graceful_stop(alive, 10s));  // after it has come to them
        EXPECT_TRUE(system.terminate_and_wait(10s));
        std::size_t said = 0;
        for (const auto& l : log.all()) {
            if (!has(l.text, "unhandled message ["))
                continue;
            ++said;
            EXPECT_EQ(l.level, log_level::debug);
            EXPECT_EQ(l.actor, "tactus://demo/user/alive");
        }
        EXPECT_EQ(said, asked ? 3u : 0u);
    }
}

namespace {

class fragile : public actor<std::string> {
public:
    void on(const std::string& why) { throw std::runtime_error(why); }
    void post_stop() { throw std::logic_error("and then this"); }
};

}  // namespace

// SV-5: one line per decision, with path, cause and directive. C-TX-45 here: its level is that of
// the directive.
TEST(system_log, SV_5_every_decision_is_a_line) {
    struct row {
        directive what;
        log_level level;
        std::string text;
    };
    static directive decided = directive::stop;
    for (const row& r : {row{directive::resume, log_level::warning, "resume"},
                         row{directive::restart, log_level::error, "restart"},
                         row{directive::stop, log_level::error, "stop"},
                         row{directive::escalate, log_level::error, "escalate"}}) {
        decided = r.what;
        lines log;
        actor_system system(
            "demo", {.guardian_strategy = {.decider = [](const failure_cause&) { return decided; }},
                     .tools = {.log = &log}});
        system.spawn<fragile>("fragile").tell(std::string("no disk"));
        ASSERT_TRUE(until([&] { return log.count() != 0; }));
        const auto first = log.all()[0];
        EXPECT_EQ(first.text, "failed (exception): no disk; " + r.text);
        EXPECT_EQ(first.level, r.level);
        EXPECT_EQ(first.actor, "tactus://demo/user/fragile");
        EXPECT_EQ(first.dispatcher, default_dispatcher_id);
        if (r.what != directive::escalate)
            system.terminate();
        EXPECT_TRUE(system.wait(10s));
        std::string all;
        for (const auto& l : log.all())
            all += l.text + "\n";
        EXPECT_EQ(has(all, "a guardian failed, the system ends: no disk"),
                  r.what == directive::escalate)
            << all;
        EXPECT_TRUE(has(all, "post_stop failed: ")) << all;
    }
}

// C-TX-45, C-TYP-12 here: the system's level says which decisions are seen: one above a warning
// hides what is resumed, and shows what is stopped.
TEST(system_log, C_TX_45_the_level_hides_decisions) {
    lines log;
    actor_system system("demo", {.guardian_strategy = {.decider =
                                                           [](const failure_cause& why) {
                                                               return why.text() == "minor"
                                                                          ? directive::resume
                                                                          : directive::stop;
                                                           }},
                                 .tools = {.log = &log},
                                 .log_level = log_level::error});
    const auto f = system.spawn<fragile>("fragile");
    f.tell(std::string("minor"));
    f.tell(std::string("major"));
    ASSERT_TRUE(until([&] { return log.count() != 0; }));
    EXPECT_EQ(log.all()[0].text, "failed (exception): major; stop");
    EXPECT_EQ(log.all()[0].level, log_level::error);
    EXPECT_TRUE(system.terminate_and_wait(10s));
}

// AC-5, EV-4: an actor's own lines, and those of the program.
TEST(system_log, AC_5_actors_log_with_their_path) {
    class talker : public actor<int> {
    public:
        void pre_start() { context().log().debug("not shown"); }
        void on(int n) {
            const actor_log log = context().log();
            if (log.passes(log_level::info))
                log.info("got " + std::to_string(n));
            log.warning("careful");
            log.error("no");
        }
    };
    lines log;
    actor_system system("demo", {.tools = {.log = &log}});
    system.spawn<talker>("talker").tell(7);
    ASSERT_TRUE(until([&] { return log.count() == 3; }));
    system.log().write(log_level::info, "from outside");
    const auto all = log.all();
    EXPECT_EQ(all[0].text, "got 7");
    EXPECT_EQ(all[0].actor, "tactus://demo/user/talker");
    EXPECT_EQ(all[0].dispatcher, default_dispatcher_id);
    EXPECT_EQ(all[1].level, log_level::warning);
    EXPECT_EQ(all[2].level, log_level::error);
    EXPECT_EQ(all[3].actor, "");
    system.log().set_level(log_level::off);
    system.log().write(log_level::error, "hidden");
    EXPECT_EQ(log.count(), 4u);
}

// EV-4: without a sink lines go to standard error, through spdlog; a program that has nothing to
// say has no thread for it and prints nothing.
TEST(system_log, EV_4_standard_error_by_default) {
    ::testing::internal::CaptureStderr();
    {
        actor_system system{"demo"};
        (void)system.spawn<reader>("reader");
        EXPECT_TRUE(system.terminate_and_wait(10s));
    }
    EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
    ::testing::internal::CaptureStderr();
    {
        actor_system system{"demo"};
        system.log().write(log_level::info, "hello", {.actor = "/user/a"});
        system.log().write(log_level::debug, "hidden");
    }
    const std::string said = ::testing::internal::GetCapturedStderr();
    EXPECT_TRUE(has(said, " info actor=/user/a thread=")) << said;
    EXPECT_TRUE(has(said, "hello\n")) << said;
    EXPECT_FALSE(has(said, "hidden")) << said;
}

// EV-1: what the kernel warns of is a line each, once per second at most, with how many there were
// in between.
TEST(system_log, EV_1_warnings_of_the_kernel) {
    lines log;
    actor_system system("demo", {.tools = {.log = &log}});
    kernel_events& kernel = system.world();
    const any_ref a = system.spawn<reader>("a");
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < 3; ++i) {
        kernel.pressure({.ref = a.index(), .len = 3, .capacity = 4, .percent = 75, .at = {}});
        kernel.pool_exhausted(17);
        kernel.deadline_missed(a.index(), 5'000'000);
        kernel.user_code_failed(user_code::tracer, "oops");
    }
    const auto first = log.all();
    if (std::chrono::steady_clock::now() - begin < 1s) {
        ASSERT_EQ(first.size(), 4u);
    }
    EXPECT_EQ(first[0].text, "mailbox is 75 % full: 3 of 4");
    EXPECT_EQ(first[0].actor, "tactus://demo/user/a");
    EXPECT_EQ(first[1].text, "no envelopes for 17 messages since the last time");
    EXPECT_EQ(first[2].text, "came to run 5 ms after a deadline");
    EXPECT_EQ(first[2].actor, "tactus://demo/user/a");
    EXPECT_EQ(first[3].text, "user code (tracer) threw: oops");
    for (const auto& l : first)
        EXPECT_EQ(l.level, log_level::warning);
    if (first.size() != 4)
        return;
    std::this_thread::sleep_until(begin + 2s);
    kernel.user_code_failed(user_code::tracer, "again");
    EXPECT_EQ(log.last(), "user code (tracer) threw: again; 2 more were not logged");
}
