// SPDX-License-Identifier: Apache-2.0
//
// Goal: what belongs to a handler's coroutine: whether it waits, its sender, its message, and the
// instance, which it never outlives (AC-2).
#include <tactus/actor/ask.hpp>

#include <gtest/gtest.h>

#include <stdexcept>

#include "world_rig.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using tactus_test::journal;
using tactus_test::ms;
using tactus_test::world_rig;

namespace {

struct begin {};
struct come {
    int value;
};
struct question {
    actor_ref<int> reply_to;
};
/// Never answers.
class mute : public actor<question> {
public:
    void on(const question&) {}
};

/// Its handler starts something beside itself, and is done.
class starter : public actor<begin, question, come, int> {
public:
    explicit starter(any_ref asked) : asked_(asked) {}
    task<> on(begin) {
        context().pipe_to_self(later(), [](int v) { return come{v}; });
        co_return;
    }
    task<> on(question) {
        context().ask<int>(
            asked_, [](actor_ref<int> me) { return question{me}; }, ms(5),
            [](const std::expected<int, ask_fault>& r) { return come{r ? *r : -1}; });
        co_return;
    }
    void on(const come& m) { journal().add(m.value); }
    void on(int v) { journal().add(v); }

private:
    task<int> later() {
        const auto passed = co_await context().delay(ms(5));
        co_return passed ? 7 : 0;
    }
    any_ref asked_;
};

}  // namespace

// AC-2, AC-5: a coroutine that has ended holds nobody back, whatever it has started beside itself.
TEST(coroutine_lifetime, AC_2_who_has_ended_does_not_wait_for_what_it_started) {
    world_rig rig;
    const auto m = rig.spawn<mute>("m");
    const auto s = rig.spawn<starter>("s", any_ref(m));
    s.tell(begin{});
    s.tell(1);
    rig.run();
    EXPECT_TRUE(journal().is({1}));
    rig.pass(8);
    EXPECT_TRUE(journal().is({7}));
    s.tell(question{});
    s.tell(2);
    rig.run();
    EXPECT_TRUE(journal().is({2}));
    rig.pass(8);
    EXPECT_TRUE(journal().is({-1}));
    rig.end();
}

namespace {

/// Starts one beside itself when it is destroyed: at the end of the frame it is in.
struct parting {
    protocol_context<int> ctx;
    static task<int> later(protocol_context<int> in) {
        const auto passed = co_await in.delay(ms(5));
        co_return passed ? 50 : 0;
    }
    ~parting() {
        ctx.pipe_to_self(later(ctx), [](int v) { return v; });
    }
};
class leaving : public actor<int> {
public:
    task<> on(int v) {
        journal().add(v);
        if (v == 1) {
            const parting p{context()};
            co_return;
        }
    }
};

}  // namespace

// AC-2: nor for what begins to wait when its frame ends.
TEST(coroutine_lifetime, AC_2_what_begins_at_the_end_of_a_frame_is_not_the_handler) {
    world_rig rig;
    const auto l = rig.spawn<leaving>("l");
    l.tell(1);
    l.tell(2);
    rig.run();
    EXPECT_TRUE(journal().is({1, 2}));
    rig.pass(8);
    EXPECT_TRUE(journal().is({50}));
    rig.end();
}

namespace {

/// Says who sent what it handles, before and after it has waited so long.
class polite : public actor<int> {
public:
    static constexpr bool reentrant = true;
    task<> on(int wait_ms) {
        const any_ref before = sender();
        const bool passed = co_await inner(wait_ms);
        const any_ref after = sender();
        journal().add(passed && before && before == after ? wait_ms : -wait_ms);
    }

private:
    task<bool> inner(int wait_ms) {
        const any_ref before = sender();
        const auto passed = co_await context().delay(ms(wait_ms));
        co_return passed&& before == sender();
    }
};
class passing_on : public actor<int> {
public:
    explicit passing_on(actor_ref<int> to) : to_(to) {}
    void on(int v) { to_.tell(v); }

private:
    actor_ref<int> to_;
};

}  // namespace

// AC-2: the sender lives as long as the handler's coroutine; each of several has its own.
TEST(coroutine_lifetime, AC_2_each_coroutine_has_its_sender) {
    world_rig rig;
    const auto p = rig.spawn<polite>("p");
    const auto a = rig.spawn<passing_on>("a", p);
    const auto b = rig.spawn<passing_on>("b", p);
    a.tell(6);
    b.tell(3);
    rig.run();
    rig.pass(10);
    EXPECT_TRUE(journal().is({3, 6}));
    rig.end();
}

namespace {

/// Fails with its message: zero at once, others after a while.
class failing : public actor<int> {
public:
    task<> on(int v) {
        if (v != 0) {
            const auto passed = co_await context().delay(ms(3));
            journal().add(passed ? v : -1);
        }
        if (v == 6)
            co_await fail_with({"six"});
        throw std::runtime_error("no");
    }
    void pre_restart(const failure_cause&, failed_message m) {
        const int* v = m.get_if<int>();
        journal().add(v != nullptr ? 100 + *v : -100);
        journal().add(sender() ? 1 : 0);
    }
};

}  // namespace

// PK-SUP-2, AC-6, C-PAT-6: pre_restart gets the message of a coroutine that failed, and its sender.
TEST(coroutine_lifetime, AC_6_pre_restart_gets_the_message_of_a_coroutine) {
    world_rig rig;
    const auto f = rig.spawn<failing>("f");
    const auto from = rig.spawn<passing_on>("from", f);
    f.tell(0);
    rig.run();
    EXPECT_TRUE(journal().is({100, 0}));
    from.tell(5);
    rig.run();
    rig.pass(5);
    EXPECT_TRUE(journal().is({5, 105, 1}));
    from.tell(6);
    rig.run();
    rig.pass(5);
    EXPECT_TRUE(journal().is({6, 106, 1}));
    rig.end();
}

namespace {

enum class stage : std::uint8_t { constructor, pre_start, post_stop, none };

/// Has a coroutine that looks at it when its frame ends.
class mortal : public actor<int> {
public:
    explicit mortal(stage when) : when_(when) {
        if (when == stage::post_stop)
            return;
        start();
        if (when == stage::constructor)
            throw std::runtime_error("no constructor");
    }
    mortal(const mortal&) = delete;
    mortal& operator=(const mortal&) = delete;
    ~mortal() { journal().add(900); }
    void pre_start() {
        if (when_ == stage::pre_start)
            throw std::runtime_error("no start");
    }
    void post_stop() { start(); }
    void on(int) { context().stop(); }

private:
    struct last_word {
        ~last_word() { journal().add(100); }
    };
    void start() {
        context().pipe_to_self(waiting(), [](int v) { return v; });
    }
    task<int> waiting() {
        const last_word w;
        const auto passed = co_await context().delay(ms(1'000));
        co_return passed ? 1 : 0;
    }
    stage when_;
};

}  // namespace

// AC-2: a frame ends before the instance it belongs to, when that fails to begin, too; of a
// constructor that throws there is none, and the frame ends at once.
TEST(coroutine_lifetime, AC_2_frames_end_before_their_instance) {
    world_rig rig;
    (void)rig.spawn<mortal>("start", stage::pre_start);
    rig.run();
    EXPECT_TRUE(journal().is({100, 900}));
    (void)rig.spawn<mortal>("constructor", stage::constructor);
    rig.run();
    EXPECT_TRUE(journal().is({100}));
    EXPECT_EQ(rig.timing.pending(), 0u);
    const auto stops = rig.spawn<mortal>("stop", stage::post_stop);
    stops.tell(1);
    rig.run();
    EXPECT_TRUE(journal().is({100, 900}));
    EXPECT_EQ(rig.timing.pending(), 0u);
    rig.end();
}

namespace {

/// Waits in its handler, and is told of an end by a message whose handler waits, too.
class twice : public actor<int, any_ref> {
public:
    void on(any_ref who) { context().watch_with(who, 5); }
    task<> on(int v) {
        journal().add(v);
        const auto passed = co_await context().delay(ms(v));
        journal().add(passed ? 100 + v : -1);
    }
};

}  // namespace

// AC-2, DW-1: a signal that finds the mailbox full waits for the coroutine, as messages do.
TEST(coroutine_lifetime, AC_2_two_waits_of_an_actor_that_is_not_reentrant) {
    world_rig rig;
    const auto gone = rig.spawn<mute>("gone");
    auto r = detail::request_for<twice>(rig.memory, "t", {.mailbox = {.capacity = 2}});
    const actor_ref<int, any_ref> t{any_ref(*rig.world.spawn_top(*r))};
    t.tell(any_ref(gone));
    rig.run();
    t.tell(2);
    rig.run();
    t.tell(1);
    t.tell(1);
    (void)rig.world.stop(gone.index());
    rig.run();
    EXPECT_TRUE(journal().is({2}));
    rig.pass(20);
    EXPECT_TRUE(journal().is({102, 1, 101, 1, 101, 5, 105}));
    rig.end();
}

// AC-2: frames end before an instance that is ended by force, too.
TEST(coroutine_lifetime, AC_2_frames_end_before_an_instance_ended_by_force) {
    {
        world_rig rig;
        (void)rig.spawn<mortal>("m", stage::none);
        rig.run();
        EXPECT_TRUE(journal().is({}));
        // The kernel ends with it still there.
    }
    EXPECT_TRUE(journal().is({100, 900}));
}
