// SPDX-License-Identifier: Apache-2.0
//
// Goal: a system on threads: the first program, asking, failing with exceptions, ending (AC-1,
// AS-1, SV-3, UP-1, UP-2, UP-3).
#include <tactus/runtime/actor_system.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "pool_rig.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using namespace std::chrono_literals;
using tactus_test::until;

namespace {

struct add {
    int value;
};
struct total {
    actor_ref<int> reply_to;
};
class sum : public actor<add, total> {
public:
    void on(const add& m) { total_ += m.value; }
    void on(const total& m) { m.reply_to.tell(total_); }

private:
    int total_ = 0;
};
class silent : public actor<total> {
public:
    void on(const total&) {}
};

}  // namespace

// AC-1, AS-1, C-ASK-1: the program of the README.
TEST(actor_system, AC_1_the_first_program) {
    actor_system system{"demo"};
    auto ref = system.spawn<sum>("sum");
    for (int i = 1; i <= 100; ++i)
        ref.tell(add{i});
    auto answer = system.ask<int>(ref, [](auto me) { return total{me}; }, 1s);
    ASSERT_TRUE(answer) << answer.error().text();
    EXPECT_EQ(*answer, 5050);
    EXPECT_EQ(system.path_of(ref), "tactus://demo/user/sum");
    EXPECT_TRUE(system.select("/user/sum").resolve() == ref.any());
    EXPECT_TRUE(system.terminate_and_wait(5s));
    EXPECT_EQ(system.exit_code(), 0);
}

// AS-1, C-ASK-4: what cannot be answered says why.
TEST(actor_system, AS_1_questions_that_are_not_answered) {
    actor_system system{"demo"};
    auto mute = system.spawn<silent>("mute");
    const auto question = [](actor_ref<int> me) { return total{me}; };
    const auto late = system.ask<int>(mute, question, 10ms);
    ASSERT_FALSE(late);
    EXPECT_EQ(late.error().what, ask_error::kind::timeout);
    EXPECT_NE(late.error().text().find("ask timed out on [tactus://demo/user/mute] after [10 ms]"),
              std::string::npos)
        << late.error().text();
    EXPECT_NE(late.error().text().find("total"), std::string::npos);
    for (const auto wrong : {0ms, -5ms}) {
        const auto never = system.ask<int>(mute, question, wrong);
        ASSERT_FALSE(never);
        EXPECT_EQ(never.error().what, ask_error::kind::invalid_timeout);
        EXPECT_NE(never.error().text().find("must be positive"), std::string::npos);
    }
    EXPECT_TRUE(system.stop(mute));
    ASSERT_TRUE(until([&] { return !system.select("/user/mute"); }));
    const auto dead = system.ask<int>(mute, question, 10s);
    ASSERT_FALSE(dead);
    EXPECT_EQ(dead.error().what, ask_error::kind::target_terminated);
    EXPECT_NE(dead.error().text().find("had already been terminated"), std::string::npos);
}

// UP-3: what would block a worker says so.
TEST(actor_system, UP_3_a_blocking_ask_within_an_actor_is_refused) {
    struct try_it {
        actor_system* system;
        actor_ref<int> reply_to;
    };
    class asker : public actor<try_it> {
    public:
        void on(const try_it& m) {
            const auto answer =
                m.system->ask<int>(self(), [&](auto me) { return try_it{nullptr, me}; }, 1s);
            m.reply_to.tell(static_cast<int>(answer.error().what));
        }
    };
    actor_system system{"demo"};
    auto a = system.spawn<asker>("a");
    const auto said = system.ask<int>(a, [&](auto me) { return try_it{&system, me}; }, 5s);
    ASSERT_TRUE(said);
    EXPECT_EQ(*said, static_cast<int>(ask_error::kind::would_block_worker));
}

namespace {

struct thrown {
    std::string what;
};
std::atomic<int> instances{0};
class thrower : public actor<thrown, total> {
public:
    explicit thrower(bool in_constructor = false) {
        number_ = ++instances;
        if (in_constructor)
            throw std::logic_error("constructor");
    }
    void on(const thrown& m) {
        if (m.what == "int")
            throw 5;  // NOLINT: anything can be thrown
        throw std::runtime_error(m.what);
    }
    void on(const total& m) { m.reply_to.tell(number_); }

private:
    int number_ = 0;
};

struct noted final : world_events {
    void supervised(const decision& d) noexcept override {
        const std::lock_guard held(mutex);
        texts.emplace_back(d.why->text());
        directives.push_back(d.what);
        kinds.push_back(d.why->kind());
        is_runtime_error = d.why->is<std::runtime_error>();
        is_logic_error = d.why->is<std::logic_error>();
    }
    std::mutex mutex;
    std::vector<std::string> texts;
    std::vector<directive> directives;
    std::vector<failure_kind> kinds;
    bool is_runtime_error = false;
    bool is_logic_error = false;
};

}  // namespace

// SV-3: an exception is a failure with its text and type; the actor is restarted.
TEST(actor_system, SV_3_exceptions_are_failures) {
    noted events;
    actor_system system("demo", {.events = &events});
    instances = 0;
    auto a = system.spawn<thrower>("a");
    a.tell(thrown{"some text"});
    a.tell(thrown{"int"});
    const auto number = system.ask<int>(a, [](auto me) { return total{me}; }, 5s);
    ASSERT_TRUE(number);
    EXPECT_EQ(*number, 3);
    const std::lock_guard held(events.mutex);
    ASSERT_EQ(events.texts.size(), 2u);
    EXPECT_EQ(events.texts[0], "some text");
    EXPECT_EQ(events.texts[1], "exception of unknown type");
    EXPECT_EQ(events.directives[0], directive::restart);
    EXPECT_EQ(events.kinds[0], failure_kind::exception);
}

// SV-1, SV-3: a constructor that throws is a failure to begin, which stops by default. Its type is
// known to who decides.
TEST(actor_system, SV_3_a_constructor_that_throws) {
    noted events;
    actor_system system("demo", {.events = &events});
    (void)system.spawn<thrower>("a", true);
    ASSERT_TRUE(until([&] { return !system.select("/user/a"); }));
    const std::lock_guard held(events.mutex);
    ASSERT_EQ(events.texts.size(), 1u);
    EXPECT_EQ(events.texts[0], "constructor");
    EXPECT_EQ(events.kinds[0], failure_kind::initialization);
    EXPECT_EQ(events.directives[0], directive::stop);
    EXPECT_TRUE(events.is_logic_error);
    EXPECT_FALSE(events.is_runtime_error);
}

// DF-39:
// The text must not list a dot among what is allowed.
TEST(actor_system, DF_39_the_text_of_a_system_name_says_what_is_allowed) {
    try {
        actor_system system{"my.system"};
        FAIL();
    } catch (const std::invalid_argument& e) {
        EXPECT_STREQ(e.what(),
                     "a system cannot have the name 'my.system': a system's name begins "
                     "with a letter or digit, and has letters, digits, '-' and '_' only");
    }
}

// AC-7, C-SYS-1, C-REF-5: names that cannot be are thrown with the reason.
TEST(actor_system, AC_7_names_that_cannot_be) {
    EXPECT_THROW(actor_system("-x"), std::invalid_argument);
    actor_system system{"demo"};
    (void)system.spawn<sum>("a");
    try {
        (void)system.spawn<sum>("a");
        FAIL();
    } catch (const spawn_exception& e) {
        EXPECT_STREQ(e.what(), "cannot spawn an actor named 'a': a sibling has that name");
        EXPECT_EQ(e.error().what, spawn_error::kind::name_taken);
    }
    EXPECT_THROW(system.spawn<sum>("a b"), spawn_exception);
    // C-REF-5: of many threads one wins.
    std::atomic<int> won{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
        threads.emplace_back([&] {
            for (int n = 0; n < 200; ++n)
                won += system.try_spawn<sum>("n" + std::to_string(n), {}).has_value() ? 1 : 0;
        });
    for (std::thread& t : threads)
        t.join();
    EXPECT_EQ(won.load(), 200);
}

// UP-2: a system that has ended spawns nothing, and nobody is left.
TEST(actor_system, UP_2_a_system_that_ends_takes_nobody) {
    actor_system system{"demo"};
    auto ref = system.spawn<sum>("sum");
    EXPECT_TRUE(system.terminate_and_wait(5s));
    EXPECT_EQ(system.try_spawn<sum>("b", {}).error().what, spawn_error::kind::shutting_down);
    ref.tell(add{1});  // a dead letter
    const auto answer = system.ask<int>(ref, [](auto me) { return total{me}; }, 1s);
    EXPECT_FALSE(answer);
}

// UP-1: a reference to a system that is gone is harmless; one that names nobody, too.
TEST(actor_system, UP_1_references_outlive_systems) {
    actor_ref<add, total> ref;
    ref.tell(add{1});
    EXPECT_FALSE(ref.try_tell(add{1}).has_value());
    {
        actor_system system{"demo"};
        ref = system.spawn<sum>("sum");
    }
    ref.tell(add{1});
    const auto refused = ref.try_tell(add{7});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().why, sent::no_system);
    EXPECT_EQ(refused.error().message.value, 7);
}

// SV-5: a failure that ends the system has an exit code.
TEST(actor_system, SV_5_a_failure_that_ends_the_system) {
    actor_system system("demo", {.guardian_strategy = {.decider = [](const failure_cause&) {
                                     return directive::escalate;
                                 }}});
    auto a = system.spawn<thrower>("a");
    a.tell(thrown{"beyond repair"});
    EXPECT_TRUE(system.wait(5s));
    EXPECT_EQ(system.exit_code(), 70);
    EXPECT_EQ(system.failure_text(), "beyond repair");
}

// AC-11, UP-2: arguments that can only be moved; such an actor is stopped instead of restarted.
TEST(actor_system, AC_6_an_actor_made_of_what_can_only_be_moved_is_not_restarted) {
    class owner : public actor<thrown, total> {
    public:
        explicit owner(std::unique_ptr<int> p) : p_(std::move(p)) {}
        void on(const thrown&) { throw std::runtime_error("x"); }
        void on(const total& m) { m.reply_to.tell(*p_); }

    private:
        std::unique_ptr<int> p_;
    };
    actor_system system{"demo"};
    auto a = system.spawn<owner>("a", std::make_unique<int>(42));
    EXPECT_EQ(*system.ask<int>(a, [](auto me) { return total{me}; }, 5s), 42);
    a.tell(thrown{""});
    EXPECT_TRUE(until([&] { return !system.select("/user/a"); }));
}

// TM-1: timers on a real clock: not early, and while everybody sleeps.
TEST(actor_system, TM_1_timers_on_threads) {
    struct fire {};
    class timed : public actor<fire, total> {
    public:
        void pre_start() {
            (void)context().start_timer_at_fixed_rate(1, fire{}, duration::from_ms(5));
        }
        void on(fire) { ++count_; }
        void on(const total& m) { m.reply_to.tell(count_); }

    private:
        int count_ = 0;
    };
    actor_system system{"demo"};
    const auto begin = std::chrono::steady_clock::now();  // before it may begin
    auto a = system.spawn<timed>("a");
    int count = 0;
    ASSERT_TRUE(until([&] {
        count = system.ask<int>(a, [](auto me) { return total{me}; }, 30s).value_or(0);
        return count >= 10;
    }));
    const auto took = std::chrono::steady_clock::now() - begin;
    EXPECT_LE(count, took / 5ms + 1);  // never early
}

// CO-6, LN-8: where an actor is deployed is not all that was said of it: the rest stays as given.
TEST(actor_system, CO_6_a_deployed_actor_keeps_its_options) {
    actor_system::options o;
    o.names = [](resolver& r) -> std::expected<void, std::string> {
        if (!r.add_dispatcher("other", {.workers = 1}) ||
            !r.add_deployment("/user/a", {.dispatcher = "other"}))
            return std::unexpected("other");
        return {};
    };
    actor_system system("demo", o);
    const spawn_options how{
        .priority = 7,
        .deadline = duration::from_ms(3),
        .suspending = {duration::from_ms(20), suspend_limit_action::stop},
    };
    for (const char* name : {"a", "elsewhere"}) {
        SCOPED_TRACE(name);
        const auto a = system.try_spawn<sum>(name, how);
        ASSERT_TRUE(a.has_value());
        const slot* place = system.world().kernel().slots().find(a->index());
        ASSERT_NE(place, nullptr);
        EXPECT_EQ(place->dispatcher_number() != 0, std::string_view(name) == "a");
        EXPECT_EQ(place->priority(), 7);
        EXPECT_EQ(place->deadline_us(), 3'000u);
        EXPECT_EQ(place->limit_of_suspensions().after, duration::from_ms(20));
        EXPECT_EQ(place->limit_of_suspensions().action, suspend_limit_action::stop);
    }
}
