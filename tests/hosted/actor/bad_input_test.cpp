// SPDX-License-Identifier: Apache-2.0
//
// Goal: what a program does wrong neither crashes nor hangs a system: replies that nobody waits
// for, and user code that throws wherever the runtime calls it. The system answers afterwards, and
// ends. (Names: actor_system_test AC_7; spawning while it ends: system_shutdown_test UP_2; times of
// questions, references to nobody, blocking: actor_system_test AS_1, UP_1, UP_3.)
#include <tactus/runtime/actor_system.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include "pool_rig.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using namespace std::chrono_literals;
using tactus_test::until;

namespace {

struct question {
    actor_ref<int> reply_to;
};
struct boom {};

/// What the runtime said, in order.
struct noted final : world_events {
    void supervised(const decision& d) noexcept override {
        add(std::string(name_of(d.what)) + " " + name_of(d.why->kind()) + ": " +
            std::string(d.why->text()));
    }
    void hook_failed(any_ref, const char* hook, const failure_cause& why) noexcept override {
        add(std::string("hook ") + hook + ": " + std::string(why.text()));
    }
    void dead_letter(any_ref, envelope& message, dead_letter_cause) noexcept override {
        if (const int* n = message.get_if<int>())
            add("dead letter " + std::to_string(*n));
    }
    void add(std::string line) {
        const std::lock_guard held(mutex);
        lines.push_back(std::move(line));
    }
    [[nodiscard]] bool has(const std::string& line) {
        const std::lock_guard held(mutex);
        for (const std::string& l : lines) {
            if (l == line)
                return true;
        }
        return false;
    }
    [[nodiscard]] std::string all() {
        const std::lock_guard held(mutex);
        std::string text;
        for (const std::string& l : lines)
            text += l + "\n";
        return text;
    }
    std::mutex mutex;
    std::vector<std::string> lines;
};

class answering : public actor<question> {
public:
    void on(const question& q) { q.reply_to.tell(1); }
};
/// The system works: it answers, and ends in time.
void expect_sound(actor_system& system) {
    const auto probe = system.spawn_anonymous<answering>();
    const auto said = system.ask<int>(probe, [](auto me) { return question{me}; }, 5s);
    EXPECT_TRUE(said) << said.error().text();
    EXPECT_TRUE(system.terminate_and_wait(5s));
}

// Where it throws; each once, unless said otherwise.
enum class place : std::uint8_t {
    constructor,
    pre_start,
    post_stop,
    pre_restart,
    post_restart,
    constructor_of_restart,
};
std::atomic<int> constructed{0};
std::atomic<int> destroyed{0};

/// Has all hooks.
class fragile : public actor<boom, question> {
public:
    explicit fragile(place where) : where_(where), life_(lives++) {
        if (where == place::constructor || (where == place::constructor_of_restart && life_ == 1))
            throw std::runtime_error("thrown");
        ++constructed;
    }
    fragile(const fragile&) = delete;
    fragile& operator=(const fragile&) = delete;
    ~fragile() { ++destroyed; }
    void pre_start() { fail_in(place::pre_start); }
    void post_stop() { fail_in(place::post_stop); }
    void pre_restart(const failure_cause&) { fail_in(place::pre_restart); }
    void post_restart(const failure_cause&) {
        if (life_ == 1)
            fail_in(place::post_restart);
    }
    void on(const boom&) { throw std::runtime_error("told to"); }
    void on(const question& q) { q.reply_to.tell(life_); }

    static inline std::atomic<int> lives{0};

private:
    void fail_in(place p) const {
        if (p == where_)
            throw std::runtime_error("thrown");
    }
    place where_;
    int life_;
};

}  // namespace

// AS-1: of two replies the first counts; the second is a dead letter, and no later question gets
// it.
TEST(bad_input, AS_1_a_reply_twice) {
    class eager : public actor<question> {
    public:
        void on(const question& q) {
            q.reply_to.tell(++last_);
            q.reply_to.tell(100 + last_);
        }

    private:
        int last_ = 0;
    };
    noted events;
    actor_system system("bad", {.events = &events, .log_level = log_level::off});
    const auto e = system.spawn<eager>("e");
    for (int i = 1; i <= 3; ++i) {
        const auto said = system.ask<int>(e, [](auto me) { return question{me}; }, 5s);
        ASSERT_TRUE(said);
        EXPECT_EQ(*said, i);
        EXPECT_TRUE(until([&] { return events.has("dead letter " + std::to_string(100 + i)); }));
    }
    expect_sound(system);
}

// AS-1: a question whose making throws is the asker's error; nobody waits for its reply for ever.
TEST(bad_input, AS_1_the_making_of_a_question_throws) {
    actor_system system("bad", {.log_level = log_level::off});
    const auto a = system.spawn<answering>("a");
    actor_ref<int> box;
    const auto ask = [&] {
        return system.ask<int>(
            a,
            [&](actor_ref<int> me) -> question {
                box = me;
                throw std::runtime_error("cannot say");
            },
            5s);
    };
    EXPECT_THROW((void)ask(), std::runtime_error);
    ASSERT_TRUE(box);
    EXPECT_TRUE(
        until([&] { return system.world().kernel().slots().find(box.index()) == nullptr; }));
    expect_sound(system);
}

// SV-3, SV-1, PK-SUP-12, PK-SUP-16: hooks and constructors that throw.
TEST(bad_input, SV_3_user_code_throws_where_the_runtime_calls_it) {
    struct row {
        place where;
        bool stays;  // it answers after a failure
        const char* said;
    };
    static constexpr row rows[] = {
        {place::constructor, false, "stop initialization: thrown"},
        {place::pre_start, false, "stop initialization: thrown"},
        {place::post_stop, true, "hook post_stop: thrown"},
        {place::pre_restart, true, "hook pre_restart: thrown"},
        {place::post_restart, false, "stop post_restart: thrown"},
        {place::constructor_of_restart, false, "stop post_restart: thrown"},
    };
    for (const row& r : rows) {
        SCOPED_TRACE(static_cast<int>(r.where));
        fragile::lives = 0;
        constructed = 0;
        destroyed = 0;
        noted events;
        {
            actor_system system("bad", {.events = &events, .log_level = log_level::off});
            const auto f = system.spawn<fragile>("f", r.where);
            f.tell(boom{});
            if (r.stays) {
                const auto life = system.ask<int>(f, [](auto me) { return question{me}; }, 5s);
                ASSERT_TRUE(life) << events.all();
                EXPECT_GE(*life, 1);
                EXPECT_TRUE(system.stop(f));
            }
            EXPECT_TRUE(until([&] { return !system.select("/user/f"); })) << events.all();
            EXPECT_TRUE(until([&] { return events.has(r.said); })) << events.all();
            expect_sound(system);
        }
        EXPECT_EQ(constructed.load(), destroyed.load());
    }
}

namespace {

enum class rule : std::uint8_t { decider, supervision, decide };

/// Fails to decide about its child.
class undecided : public actor<boom, question> {
public:
    void pre_start() {
        child_ = *context().try_spawn<fragile>("child", {}, place::post_stop);
        ++starts;
    }
    void on(boom b) { child_.tell(b); }
    void on(const question& q) { q.reply_to.tell(starts.load()); }
    supervisor_strategy supervision() {
        if (how == rule::supervision)
            throw std::logic_error("no strategy");
        return {.decider = [](const failure_cause& why) {
            if (how == rule::decider)
                throw std::logic_error("no decision");
            return default_decider(why);
        }};
    }
    directive decide(any_ref, const failure_cause& why) {
        if (how == rule::decide)
            throw std::logic_error("no directive");
        return default_decider(why);
    }

    static inline std::atomic<int> starts{0};
    static inline std::atomic<rule> how{rule::decider};

private:
    actor_ref<boom, question> child_;
};

}  // namespace

// PK-SUP-3: who fails to decide fails, and is restarted by its own supervisor.
TEST(bad_input, PK_SUP_3_a_decider_that_throws) {
    static constexpr const char* texts[] = {"no decision", "no strategy", "no directive"};
    for (const rule how : {rule::decider, rule::supervision, rule::decide}) {
        SCOPED_TRACE(texts[static_cast<std::size_t>(how)]);
        undecided::how = how;
        undecided::starts = 0;
        noted events;
        actor_system system("bad", {.events = &events, .log_level = log_level::off});
        const auto u = system.spawn<undecided>("u");
        u.tell(boom{});
        EXPECT_TRUE(until([] { return undecided::starts.load() == 2; })) << events.all();
        EXPECT_TRUE(
            events.has(std::string("restart supervision: ") + texts[static_cast<std::size_t>(how)]))
            << events.all();
        const auto starts = system.ask<int>(u, [](auto me) { return question{me}; }, 5s);
        ASSERT_TRUE(starts) << starts.error().text();
        EXPECT_EQ(*starts, 2);
        expect_sound(system);
    }
}

// UP-2, UP-1: messages, stops and questions to a system that ends are dead letters.
TEST(bad_input, UP_2_told_to_a_system_that_stops_or_has_stopped) {
    noted events;
    actor_system system("bad", {.events = &events, .log_level = log_level::off});
    const auto a = system.spawn<answering>("a");
    const auto f = system.spawn<fragile>("f", place::pre_restart);
    system.terminate();
    for (int i = 0; i < 100; ++i) {
        f.tell(boom{});  // before, while, and after it ends
        a.tell(question{});
    }
    EXPECT_TRUE(system.wait(5s));
    a.tell(question{});
    EXPECT_FALSE(a.try_tell(question{}).has_value());
    EXPECT_FALSE(system.stop(a));
    EXPECT_FALSE(system.select("/user/a"));
    system.terminate();  // again: nothing
    EXPECT_TRUE(system.wait(5s));
}
