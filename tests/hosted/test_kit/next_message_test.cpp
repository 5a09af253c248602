// SPDX-License-Identifier: Apache-2.0
//
// Goal: a task waits for the next message of a type: the message goes to the earliest of those that
// wait, all others to their handlers, now or, where a handler holds the mailbox, in their order
// when it has ended; nothing is lost or handled twice, however the wait ends (AC-2, EX-7, DF-63).
#include <tactus/actor/actor.hpp>
#include <tactus/actor/behavior.hpp>
#include <tactus/actor/cancel_context.hpp>
#include <tactus/actor/signals.hpp>
#include <tactus/runtime/actor_system.hpp>
#include <tactus/test_kit/kit.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace tactus;  // NOLINT: the whole vocabulary is used
using namespace std::chrono_literals;

namespace {

using lines = std::vector<std::string>;
lines said;
void say(const std::string& what) {
    said.push_back(what);
}
void say(const std::string& what, int n) {
    say(what + " " + std::to_string(n));
}

struct go {
    int id = 0;
};
struct answer {
    int id = 0;
};
struct other {
    int id = 0;
};
struct noise {
    int id = 0;
};
struct broken {};

/// What is lost.
struct losses final : world_events {
    void dead_letter(any_ref, envelope& message, dead_letter_cause cause) noexcept override {
        if (const answer* a = message.get_if<answer>())
            say("lost answer", a->id);
        if (const other* o = message.get_if<other>())
            say("lost other", o->id);
        last = cause;
    }
    void supervised(const decision& d) noexcept override {
        say("failed: " + std::string(d.why->text()));
    }
    dead_letter_cause last = dead_letter_cause::explicit_request;
};

struct rig {
    explicit rig(supervisor_strategy how = {}) : world(options(how)) { said.clear(); }
    test::kit::options options(const supervisor_strategy& how) {
        test::kit::options o;
        o.guardian_strategy = how;
        o.events = &lost;
        return o;
    }
    lines run() {
        world.run_until_idle();
        return std::exchange(said, {});
    }
    losses lost;
    test::kit world;
};

template <class Self>
task<> wait_for_answer(Self& me, int id) {
    say("waits", id);
    const answer a = co_await me.ctx().template next<answer>();
    say("task " + std::to_string(id) + " got", a.id);
}

/// Its handler holds the mailbox while it waits.
class holder : public actor<go, answer, other> {
public:
    [[nodiscard]] auto ctx() const { return context(); }
    ~holder() { say("gone"); }
    holder() = default;
    holder(const holder&) = delete;
    holder& operator=(const holder&) = delete;
    task<> on(go g) { return wait_for_answer(*this, g.id); }
    void on(answer a) { say("answer", a.id); }
    void on(other o) {
        if (o.id < 0)
            throw std::runtime_error("told to");
        say("other", o.id);
    }
};
class open_one : public actor<go, answer, other> {
public:
    static constexpr bool reentrant = true;
    [[nodiscard]] auto ctx() const { return context(); }
    task<> on(go g) { return wait_for_answer(*this, g.id); }
    void on(answer a) { say("answer", a.id); }
    void on(other o) {
        if (o.id < 0)
            throw std::runtime_error("told to");
        say("other", o.id);
    }
};

// ---- who gets what

TEST(next_message, DF_63_an_actor_whose_handler_waits_handles_the_others_afterwards_in_order) {
    rig r;
    const auto who = r.world.spawn<holder>("who");
    who.tell(go{1});
    who.tell(other{1});
    who.tell(other{2});
    who.tell(answer{1});
    who.tell(other{3});
    who.tell(answer{2});
    EXPECT_EQ(r.run(),
              (lines{"waits 1", "task 1 got 1", "other 1", "other 2", "other 3", "answer 2"}));
}

TEST(next_message, DF_63_a_reentrant_actor_handles_the_others_meanwhile) {
    rig r;
    const auto who = r.world.spawn<open_one>("who");
    who.tell(go{1});
    who.tell(other{1});
    who.tell(answer{1});
    who.tell(other{2});
    who.tell(answer{2});
    EXPECT_EQ(r.run(), (lines{"waits 1", "other 1", "task 1 got 1", "other 2", "answer 2"}));
}

TEST(next_message, DF_63_messages_that_come_later_than_the_wait_do_the_same) {
    for (const bool is_open : {false, true}) {
        rig r;
        const actor_ref<go, answer, other> who =
            is_open ? r.world.spawn<open_one>("who") : r.world.spawn<holder>("who");
        who.tell(go{1});
        EXPECT_EQ(r.run(), lines{"waits 1"});
        who.tell(other{1});
        EXPECT_EQ(r.run(), is_open ? lines{"other 1"} : lines{});
        who.tell(answer{1});
        EXPECT_EQ(r.run(), is_open ? lines{"task 1 got 1"} : (lines{"task 1 got 1", "other 1"}));
        who.tell(answer{2});
        EXPECT_EQ(r.run(), lines{"answer 2"});
    }
}

TEST(next_message, DF_63_of_several_waits_the_earliest_gets_it) {
    rig r;
    const auto who = r.world.spawn<open_one>("who");
    for (int i = 1; i <= 3; ++i)
        who.tell(go{i});
    for (int i = 1; i <= 4; ++i)
        who.tell(answer{i});
    EXPECT_EQ(r.run(), (lines{"waits 1", "waits 2", "waits 3", "task 1 got 1", "task 2 got 2",
                              "task 3 got 3", "answer 4"}));
}

// A second handler does not begin while the first holds the mailbox.
TEST(next_message, DF_63_handlers_that_wait_follow_each_other) {
    rig r;
    const auto who = r.world.spawn<holder>("who");
    who.tell(go{1});
    who.tell(go{2});
    who.tell(answer{1});
    who.tell(answer{2});
    EXPECT_EQ(r.run(), (lines{"waits 1", "task 1 got 1", "waits 2", "task 2 got 2"}));
}

class selective : public actor<go, answer, other, noise> {
public:
    task<> on(go) {
        const answer a = co_await context().next<answer>();
        say("answer", a.id);
        for (int i = 0; i < 2; ++i) {
            const other o = co_await context().next<other>();
            say("other", o.id);
        }
        const answer last = co_await context().next<answer>();
        say("answer", last.id);
    }
    void on(answer a) { say("handled answer", a.id); }
    void on(other o) { say("handled other", o.id); }
    void on(noise n) { say("handled noise", n.id); }
};

TEST(next_message, DF_63_what_came_earlier_is_found_by_the_next_wait) {
    rig r;
    const auto who = r.world.spawn<selective>("who");
    who.tell(go{});
    who.tell(other{1});
    who.tell(noise{1});
    who.tell(other{2});
    who.tell(other{3});
    who.tell(answer{1});
    who.tell(noise{2});
    EXPECT_EQ(r.run(), (lines{"answer 1", "other 1", "other 2"}));
    who.tell(answer{2});
    EXPECT_EQ(r.run(),
              (lines{"answer 2", "handled noise 1", "handled other 3", "handled noise 2"}));
}

/// Other waits hold the mailbox as ever.
class patient : public actor<go, answer, other> {
public:
    task<> on(go) {
        const answer a = co_await context().next<answer>();
        say("answer", a.id);
        (void)co_await context().delay(1s);
        say("woke");
        const answer b = co_await context().next<answer>();
        say("answer", b.id);
    }
    void on(answer a) { say("handled answer", a.id); }
    void on(other o) { say("handled other", o.id); }
};

TEST(next_message, DF_63_another_wait_of_the_handler_holds_the_mailbox_as_ever) {
    rig r;
    const auto who = r.world.spawn<patient>("who");
    who.tell(go{});
    who.tell(other{1});
    who.tell(answer{1});
    who.tell(answer{2});
    who.tell(other{2});
    EXPECT_EQ(r.run(), lines{"answer 1"});
    r.world.advance(1s);
    EXPECT_EQ(r.run(), (lines{"woke", "answer 2", "handled other 1", "handled other 2"}));
}

// ---- limits

template <class Base>
class limited : public actor<go, answer, other> {
public:
    static constexpr bool reentrant = Base::value;
    task<> on(go) {
        const auto got = co_await context().template next<answer>(1s);
        if (got)
            say("task got", got->id);
        else
            say(name_of(got.error()));
    }
    void on(answer a) { say("answer", a.id); }
    void on(other o) { say("other", o.id); }
};

TEST(next_message, DF_63_a_limit_ends_the_wait_at_its_time) {
    rig r;
    const auto who = r.world.spawn<limited<std::false_type>>("who");
    who.tell(go{});
    who.tell(other{1});
    EXPECT_EQ(r.run(), lines{});
    r.world.advance(999ms);
    EXPECT_EQ(r.run(), lines{});
    r.world.advance(1ms);
    EXPECT_EQ(r.run(), (lines{"timeout", "other 1"}));
    who.tell(answer{1});
    EXPECT_EQ(r.run(), lines{"answer 1"});
    EXPECT_EQ(r.world.scheduler().active_count(), 0U);
}

TEST(next_message, DF_63_a_message_within_the_limit_takes_the_timer_away) {
    rig r;
    const auto who = r.world.spawn<limited<std::true_type>>("who");
    who.tell(go{});
    r.world.advance(999ms);
    who.tell(answer{1});
    EXPECT_EQ(r.run(), lines{"task got 1"});
    EXPECT_EQ(r.world.scheduler().active_count(), 0U);
    r.world.advance(1s);
    EXPECT_EQ(r.run(), lines{});
}

// The timer and the message are there at the same time.
TEST(next_message, DF_63_a_message_beside_the_limit_is_handled_once) {
    for (const bool message_first : {false, true}) {
        for (const bool is_open : {false, true}) {
            rig r;
            const actor_ref<go, answer, other> who =
                is_open ? r.world.spawn<limited<std::true_type>>("who")
                        : r.world.spawn<limited<std::false_type>>("who");
            who.tell(go{});
            r.run();
            if (message_first)
                who.tell(answer{1});
            r.world.stall(2s);
            if (!message_first)
                who.tell(answer{1});
            r.world.advance(1s);
            const lines got = r.run();
            EXPECT_TRUE(got == lines{"task got 1"} || got == (lines{"timeout", "answer 1"}))
                << testing::PrintToString(got);
        }
    }
}

class hasty : public actor<go, answer> {
public:
    task<> on(go) {
        for (const duration limit : {duration::zero(), duration::from_ms(-1)}) {
            const auto got = co_await context().next<answer>(limit);
            say(got ? "got one" : name_of(got.error()));
        }
        const auto got = co_await context().next<answer>(duration::max());
        say("got", got->id);
    }
    void on(answer a) { say("answer", a.id); }
};

TEST(next_message, DF_63_a_limit_that_is_not_positive_is_refused_and_the_longest_never_comes) {
    rig r;
    const auto who = r.world.spawn<hasty>("who");
    who.tell(go{});
    EXPECT_EQ(r.run(), (lines{"invalid_timeout", "invalid_timeout"}));
    EXPECT_EQ(r.world.scheduler().active_count(), 0U);
    who.tell(answer{1});
    EXPECT_EQ(r.run(), lines{"got 1"});
}

cancel_context* wanted = nullptr;
class cancellable_one : public actor<go, answer, other> {
public:
    task<> on(go) {
        const auto got = co_await context().next<answer>(wanted->token());
        if (got)
            say("got", got->id);
        else
            say("cancelled");
    }
    void on(answer a) { say("answer", a.id); }
    void on(other o) { say("other", o.id); }
};

TEST(next_message, DF_63_a_wait_can_be_cancelled) {
    cancel_context context;
    wanted = &context;
    rig r;
    const auto who = r.world.spawn<cancellable_one>("who");
    who.tell(go{});
    who.tell(other{1});
    EXPECT_EQ(r.run(), lines{});
    context.cancel({cancel_kind::user, "not wanted"});
    EXPECT_EQ(r.run(), (lines{"cancelled", "other 1"}));
    who.tell(answer{1});
    who.tell(go{});
    EXPECT_EQ(r.run(), (lines{"answer 1", "cancelled"}));
}

// ---- how a wait ends with its actor

TEST(next_message, DF_63_a_restart_leaves_the_messages_to_the_new_instance) {
    rig r;
    const auto who = r.world.spawn<open_one>("who");
    who.tell(go{1});
    who.tell(other{-1});
    who.tell(answer{1});
    EXPECT_EQ(r.run(), (lines{"waits 1", "failed: told to", "answer 1"}));
}

/// Two children that are restarted together.
class family : public actor<int> {
public:
    void pre_start() {
        first = context().spawn<holder>("first");
        second = context().spawn<holder>("second");
    }
    void on(int) {}
    supervisor_strategy supervision() { return {.scope = supervision_scope::all_for_one}; }
    static inline actor_ref<go, answer, other> first;
    static inline actor_ref<go, answer, other> second;
};

TEST(next_message, DF_63_what_was_set_aside_survives_a_restart_in_its_order) {
    rig r;
    r.world.spawn<family>("family");
    r.run();
    family::first.tell(go{1});
    family::first.tell(other{1});
    family::first.tell(other{2});
    EXPECT_EQ(r.run(), lines{"waits 1"});
    family::second.tell(other{-1});
    family::first.tell(other{3});
    EXPECT_EQ(r.run(), (lines{"failed: told to", "gone", "other 1", "gone", "other 2", "other 3"}));
    family::first.tell(answer{1});
    EXPECT_EQ(r.run(), lines{"answer 1"});
}

TEST(next_message, DF_63_a_stop_makes_dead_letters_of_what_was_set_aside) {
    rig r;
    const auto who = r.world.spawn<holder>("who");
    who.tell(go{1});
    who.tell(other{1});
    who.tell(other{2});
    EXPECT_EQ(r.run(), lines{"waits 1"});
    who.tell(other{3});
    (void)r.world.stop(who.any());
    EXPECT_EQ(r.run(), (lines{"gone", "lost other 1", "lost other 2", "lost other 3"}));
    EXPECT_EQ(r.lost.last, dead_letter_cause::recipient_terminated);
}

TEST(next_message, DF_63_a_pill_and_a_kill_are_not_set_aside) {
    for (const bool is_pill : {false, true}) {
        rig r;
        const auto who = r.world.spawn<holder>("who");
        who.tell(go{1});
        who.tell(other{1});
        if (is_pill)
            who.any().tell(poison_pill{});
        else
            who.any().tell(tactus::kill{});
        who.tell(other{2});
        const lines got = r.run();
        EXPECT_FALSE(r.world.is_alive(who.any()));
        EXPECT_EQ(got, is_pill ? (lines{"waits 1", "gone", "lost other 1", "lost other 2"})
                               : (lines{"waits 1", "failed: it was killed", "gone", "lost other 1",
                                        "lost other 2"}));
    }
}

TEST(next_message, DF_63_a_world_that_ends_gives_everything_back) {
    rig r;
    const auto who = r.world.spawn<holder>("who");
    const auto open = r.world.spawn<open_one>("open");
    who.tell(go{1});
    who.tell(other{1});
    open.tell(go{2});
    r.run();
    r.world.shutdown();
    EXPECT_EQ(r.run(), (lines{"gone", "lost other 1"}));
}

// ---- pairs

class changing : public actor<go, answer, other> {
public:
    static constexpr bool reentrant = true;
    [[nodiscard]] auto ctx() const { return context(); }
    task<> on(go g) { return wait_for_answer(*this, g.id); }
    void on(answer a) { say("answer", a.id); }
    void on(other o) {
        say("other", o.id);
        if (o.id == 1) {
            context().become(behavior<go, answer, other>([](auto&, const go&) { return same; },
                                                         [](auto&, const answer& a) {
                                                             say("became: answer", a.id);
                                                             return same;
                                                         },
                                                         [](auto& ctx, const other& o2) {
                                                             say("became: other", o2.id);
                                                             if (o2.id == 3)
                                                                 ctx.unbecome();
                                                             return same;
                                                         }));
        }
    }
};

TEST(next_message, DF_63_a_wait_goes_on_through_become_and_unbecome) {
    for (const bool comes_back : {false, true}) {
        rig r;
        const auto who = r.world.spawn<changing>("who");
        who.tell(go{1});
        who.tell(other{1});
        who.tell(other{2});
        EXPECT_EQ(r.run(), (lines{"waits 1", "other 1", "became: other 2"}));
        if (comes_back) {
            who.tell(other{3});
            EXPECT_EQ(r.run(), lines{"became: other 3"});
        }
        who.tell(answer{1});
        EXPECT_EQ(r.run(), lines{"task 1 got 1"});
        who.tell(answer{2});
        EXPECT_EQ(r.run(), lines{comes_back ? "answer 2" : "became: answer 2"});
    }
}

class stashing : public actor<go, answer, other>, public with_stash<16> {
public:
    static constexpr bool reentrant = true;
    [[nodiscard]] auto ctx() const { return context(); }
    task<> on(go g) { return wait_for_answer(*this, g.id); }
    std::expected<void, failure> on(answer) {
        say("stashed");
        return context().stash();
    }
    void on(other) { context().unstash_all(); }
};

TEST(next_message, DF_63_a_message_that_comes_out_of_the_stash_is_one_that_comes) {
    rig r;
    const auto who = r.world.spawn<stashing>("who");
    who.tell(answer{1});
    who.tell(answer{2});
    who.tell(go{1});
    EXPECT_EQ(r.run(), (lines{"stashed", "stashed", "waits 1"}));
    who.tell(other{});
    EXPECT_EQ(r.run(), (lines{"task 1 got 1", "stashed"}));
}

class idle_open_one : public actor<go, answer, other> {
public:
    static constexpr bool reentrant = true;
    [[nodiscard]] auto ctx() const { return context(); }
    void pre_start() { context().set_receive_timeout(1s); }
    task<> on(go g) { return wait_for_answer(*this, g.id); }
    void on(answer a) { say("answer", a.id); }
    void on(other) { context().cancel_receive_timeout(); }
    void on(const receive_timeout&) { say("idle"); }
};

TEST(next_message, DF_63_an_end_of_a_receive_timeout_does_not_end_the_waits) {
    rig r;
    const auto who = r.world.spawn<idle_open_one>("who");
    who.tell(go{1});
    r.world.advance(1s);
    EXPECT_EQ(r.run(), (lines{"waits 1", "idle"}));
    who.tell(other{});
    r.run();
    who.tell(answer{1});
    EXPECT_EQ(r.run(), lines{"task 1 got 1"});
    // Without the wait it is an ordinary actor again.
    who.tell(answer{2});
    EXPECT_EQ(r.run(), lines{"answer 2"});
}

TEST(next_message, DF_63_a_message_that_is_taken_counts_for_the_receive_timeout) {
    class idle_one : public actor<go, answer> {
    public:
        [[nodiscard]] auto ctx() const { return context(); }
        void pre_start() { context().set_receive_timeout(1s); }
        task<> on(go) {
            for (;;)
                say("got", (co_await context().next<answer>()).id);
        }
        void on(answer a) { say("answer", a.id); }
        void on(const receive_timeout&) { say("idle"); }
    };
    rig r;
    const auto who = r.world.spawn<idle_one>("who");
    who.tell(go{});
    for (int i = 0; i < 3; ++i) {
        r.world.advance(900ms);
        who.tell(answer{i});
        EXPECT_EQ(r.run(), lines{"got " + std::to_string(i)});
    }
}

/// The greatest number first.
struct greatest_first {
    static bool before(envelope& a, envelope& b) noexcept { return rank(a) > rank(b); }
    static int rank(envelope& e) noexcept {
        if (const answer* a = e.get_if<answer>())
            return a->id;
        if (const other* o = e.get_if<other>())
            return o->id;
        return 1'000;
    }
};

/// Spawns a holder with a mailbox.
class landlord : public actor<int> {
public:
    explicit landlord(const mailbox_options& m, message_order* by = nullptr) {
        how_.mailbox = m;
        how_.order = by;
    }
    void pre_start() { tenant = *context().try_spawn<holder>("tenant", how_); }
    void on(int) {}
    static inline actor_ref<go, answer, other> tenant;

private:
    spawn_options how_;
};

TEST(next_message, DF_63_a_priority_mailbox_gives_in_its_order) {
    greatest_first order;
    message_order_of<greatest_first> by(order);
    rig r;
    r.world.spawn<landlord>("landlord", mailbox_options{.kind = mailbox_kind::priority}, &by);
    r.run();
    landlord::tenant.tell(go{1});
    EXPECT_EQ(r.run(), lines{"waits 1"});
    for (const int i : {1, 5, 3})
        landlord::tenant.tell(other{i});
    landlord::tenant.tell(answer{2});
    landlord::tenant.tell(answer{4});
    // Taken by then: 5. The rest is still ordered by the mailbox.
    EXPECT_EQ(r.run(), (lines{"task 1 got 4", "other 5", "other 3", "answer 2", "other 1"}));
}

TEST(next_message, DF_63_a_bounded_mailbox_bounds_what_is_set_aside) {
    rig r;
    r.world.spawn<landlord>("landlord",
                            mailbox_options{.when_full = overflow::drop_newest, .capacity = 2});
    r.run();
    landlord::tenant.tell(go{1});
    EXPECT_EQ(r.run(), lines{"waits 1"});
    for (int i = 1; i <= 3; ++i) {
        landlord::tenant.tell(other{i});
        const lines got = r.run();
        EXPECT_EQ(got, i == 3 ? lines{"lost other 3"} : lines{});
    }
    EXPECT_EQ(r.lost.last, dead_letter_cause::mailbox_full);
    landlord::tenant.tell(answer{1});
    EXPECT_EQ(r.run(), (lines{"task 1 got 1", "other 1", "other 2"}));
    // Its room is all there again.
    for (int round = 0; round < 3; ++round) {
        landlord::tenant.tell(other{4});
        landlord::tenant.tell(other{5});
        EXPECT_EQ(r.run(), (lines{"other 4", "other 5"}));
    }
}

// DW-1: the end of a watched actor takes no room there, either.
TEST(next_message, DF_63_DF_11_the_end_of_a_watched_actor_is_told_although_all_room_is_taken) {
    class watched_one : public actor<int> {
    public:
        void on(int) {}
    };
    class mourner : public holder {
    public:
        explicit mourner(any_ref whom) { context().watch(whom); }
        using holder::on;
        void on(const terminated&) { say("ended"); }
    };
    class host : public actor<int> {
    public:
        explicit host(overflow how) {
            const auto whom = context().spawn<watched_one>("whom");
            tenant = *context().try_spawn<mourner>(
                "tenant", {.mailbox = {.when_full = how, .capacity = 1}}, any_ref(whom));
        }
        void on(int) { context().stop(context().child("whom")); }
        actor_ref<go, answer, other> tenant;
    };
    for (const overflow how : {overflow::drop_newest, overflow::drop_oldest, overflow::reject,
                               overflow::dead_letter, overflow::block}) {
        rig r;
        const auto who = r.world.spawn<host>("host", how);
        r.run();
        const actor_ref<go, answer, other> tenant(r.world.select("/user/host/tenant"));
        tenant.tell(go{1});
        EXPECT_EQ(r.run(), lines{"waits 1"});
        tenant.tell(other{1});
        r.run();
        who.tell(0);
        EXPECT_EQ(r.run(), lines{});
        tenant.tell(other{2});
        EXPECT_EQ(r.run(), lines{"lost other 2"});
        tenant.tell(answer{1});
        EXPECT_EQ(r.run(), (lines{"task 1 got 1", "other 1", "ended"})) << name_of(how);
    }
}

class tired : public actor<go, answer, other> {
public:
    static constexpr bool reentrant = true;
    [[nodiscard]] auto ctx() const { return context(); }
    task<> on(go g) { return wait_for_answer(*this, g.id); }
    void on(answer a) { say("answer", a.id); }
    void on(other) {
        EXPECT_TRUE(context().suspend(suspend_reason::user_defined,
                                      resume_condition::after(duration::from_s(1))));
    }
};

TEST(next_message, DF_63_a_suspension_delays_the_message) {
    rig r;
    const auto who = r.world.spawn<tired>("who");
    who.tell(go{1});
    who.tell(other{});
    who.tell(answer{1});
    EXPECT_EQ(r.run(), lines{"waits 1"});
    r.world.advance(1s);
    EXPECT_EQ(r.run(), lines{"task 1 got 1"});
}

// ---- messages that others are made of

TEST(next_message, DF_63_a_message_of_a_keyed_timer_an_adapter_and_a_watch_is_one) {
    class source : public actor<int> {
    public:
        void on(int) {}
    };
    class all_kinds : public actor<go, answer, other> {
    public:
        task<> on(go g) {
            if (g.id == 1)
                (void)context().start_single_timer("t", answer{1}, 1s);
            if (g.id == 2)
                context()
                    .message_adapter<noise>([](noise n) { return answer{n.id}; })
                    .tell(noise{2});
            if (g.id == 3) {
                const auto child = context().spawn<source>("child");
                context().watch_with(child, answer{3});
                context().stop(child);
            }
            context().self().tell(other{g.id});
            const answer a = co_await context().next<answer>();
            say("got", a.id);
        }
        void on(answer a) { say("answer", a.id); }
        void on(other o) { say("other", o.id); }
    };
    rig r;
    const auto who = r.world.spawn<all_kinds>("who");
    for (int i = 1; i <= 3; ++i) {
        who.tell(go{i});
        r.world.advance(1s);
        EXPECT_EQ(r.run(), (lines{"got " + std::to_string(i), "other " + std::to_string(i)}));
    }
}

// TM-1: one that waits in the mailbox can still be cancelled.
TEST(next_message, DF_63_a_keyed_timer_that_nobody_waits_for_is_set_aside_and_can_be_cancelled) {
    class timed : public actor<go, answer, other> {
    public:
        task<> on(go) {
            (void)context().start_single_timer("t", other{1}, 1s);
            const answer a = co_await context().next<answer>();
            say("got", a.id);
            context().cancel_timer("t");
        }
        void on(answer a) { say("answer", a.id); }
        void on(other o) { say("other", o.id); }
    };
    rig r;
    const auto who = r.world.spawn<timed>("who");
    who.tell(go{});
    r.world.advance(2s);
    who.tell(answer{1});
    EXPECT_EQ(r.run(), lines{"got 1"});
    r.world.advance(2s);
    EXPECT_EQ(r.run(), lines{});
}

TEST(next_message, DF_63_a_task_beside_the_handlers_waits_and_holds_nobody) {
    class piping : public actor<go, answer, other> {
    public:
        void on(go) {
            context().pipe_to_self(first_answer(), [](int n) { return other{n}; });
        }
        task<int> first_answer() {
            const answer a = co_await context().next<answer>();
            co_return a.id;
        }
        void on(answer a) { say("answer", a.id); }
        void on(other o) { say("other", o.id); }
    };
    rig r;
    const auto who = r.world.spawn<piping>("who");
    who.tell(go{});
    who.tell(other{1});
    who.tell(answer{7});
    who.tell(answer{8});
    EXPECT_EQ(r.run(), (lines{"other 1", "answer 8", "other 7"}));
}

// ---- failures

bool moves_throw = false;
struct heavy {
    explicit heavy(int n) : id(n) {}
    heavy(const heavy&) = default;
    heavy(heavy&& from) noexcept(false) : id(from.id) {
        if (moves_throw)
            throw std::runtime_error("too heavy");
    }
    ~heavy() = default;
    heavy& operator=(const heavy&) = delete;
    heavy& operator=(heavy&&) = delete;
    int id;
};

class carrier : public actor<go, heavy, other> {
public:
    task<> on(go) {
        const heavy h = co_await context().next<heavy>();
        say("got", h.id);
    }
    void on(const heavy& h) { say("handled", h.id); }
    void on(other o) { say("other", o.id); }
};

TEST(next_message, DF_63_a_move_that_throws_fails_the_actor_and_the_message_is_a_dead_letter) {
    rig r;
    const auto who = r.world.spawn<carrier>("who");
    who.tell(go{});
    who.tell(other{1});
    r.run();
    who.tell(heavy(1));
    moves_throw = true;
    const lines got = r.run();
    moves_throw = false;
    EXPECT_EQ(got, (lines{"failed: too heavy", "other 1"}));
    EXPECT_EQ(r.lost.last, dead_letter_cause::construction_failed);
    // The new instance goes on.
    who.tell(go{});
    who.tell(heavy(2));
    EXPECT_EQ(r.run(), lines{"got 2"});
}

// ---- what is seen of it

TEST(next_message, DF_63_a_dump_says_what_is_waited_for) {
    rig r;
    const auto who = r.world.spawn<holder>("who");
    who.tell(go{1});
    r.run();
    char room[4'096];
    text_in to{std::span<char>(room)};
    r.world.world().dump(to);
    EXPECT_NE(to.view().find("a coroutine that waits for a message"), std::string_view::npos)
        << to.view();
}

// ---- threads

/// Takes pairs of messages, whatever their order, and counts every message once.
class pairing : public actor<go, answer, other> {
public:
    task<> on(go) {
        const answer a = co_await context().next<answer>();
        const auto o = co_await context().next<other>(1h);
        taken += a.id + (o ? o->id : 0);
    }
    void on(answer a) { handled_here += a.id; }
    void on(other o) { handled_here += o.id; }
    static inline std::atomic<long> taken = 0;
    static inline std::atomic<long> handled_here = 0;
};

TEST(next_message, DF_63_many_senders_lose_nothing) {
    pairing::taken = 0;
    pairing::handled_here = 0;
    constexpr int senders = 4;
    constexpr int each = 2'000;
    actor_system system{"pairs"};
    const auto who = system.spawn<pairing>("who");
    {
        std::vector<std::jthread> threads;
        for (int s = 0; s < senders; ++s) {
            threads.emplace_back([who] {
                for (int i = 0; i < each; ++i) {
                    who.tell(other{1});
                    who.tell(go{});
                    who.tell(answer{1});
                }
            });
        }
    }
    // What counts as nothing lets the last handlers end.
    const auto counted = [] { return pairing::taken + pairing::handled_here; };
    for (int i = 0; i < 600'000 && counted() < 2L * senders * each; ++i) {
        who.tell(answer{0});
        who.tell(other{0});
        std::this_thread::sleep_for(1ms);
    }
    EXPECT_EQ(counted(), 2L * senders * each);
}

}  // namespace
