// SPDX-License-Identifier: Apache-2.0
//
// Goal: the cases of the typed stash (C-TYP-17, C-TX-50 to 56), said with our words: what comes
// back is handled as any message, each in a turn of its own, by what the actor is then.
#include <gtest/gtest.h>

#include "puppet.hpp"
#include "world_rig.hpp"

using namespace tactus;       // NOLINT: the whole vocabulary is used
using namespace tactus_test;  // NOLINT: puppets

namespace {

words told;
words take_told() {
    return std::exchange(told, {});
}

struct begin_stash {};
struct come_back {
    std::uint32_t count = actor_world::all_of_stash;
};
struct how_many {};

/// Handles letters, or puts them aside; takes back some of them at a time, and puts aside what
/// comes meanwhile.
class collector : public actor<char, begin_stash, come_back, how_many>, public with_stash<6> {
public:
    std::expected<void, failure> on(char c) {
        if (stashes_ && due_ == 0)
            return context().stash();
        if (due_ != 0)
            --due_;
        told.emplace_back(1, c);
        return {};
    }
    void on(begin_stash) { stashes_ = true; }
    void on(const come_back& m) {
        due_ = std::min(m.count, context().stash_size());
        context().unstash(m.count);
    }
    void on(how_many) { told.push_back("size " + std::to_string(context().stash_size())); }

private:
    bool stashes_ = false;
    std::uint32_t due_ = 0;  // that come back and were not handled yet
};
using collector_ref = actor_ref<char, begin_stash, come_back, how_many>;

void tell_all(collector_ref to, std::string_view letters) {
    for (const char c : letters)
        to.tell(c);
}

/// Numbers that are put aside until it is told to go on; some of them fail.
struct go_on {};
class replaying : public actor<int, go_on>, public with_stash<> {
public:
    replaying() { ++lives; }
    std::expected<void, failure> on(int v) {
        if (!open_)
            return context().stash();
        state_ = v;
        told.push_back((v < 0 ? "fail" : "at") + std::to_string(v));
        if (v < 0)
            throw std::runtime_error("told to");
        if (one_by_one)
            context().unstash(1);
        return {};
    }
    void on(go_on) {
        open_ = true;
        if (one_by_one)
            context().unstash(1);
        else
            context().unstash_all();
    }
    void pre_restart(const failure_cause&) {
        told.push_back("before" + std::to_string(state_));
        if (slow)
            context().stop_children();
    }
    void pre_start() { begin(); }
    void post_restart(const failure_cause&) { begin(); }
    void begin() {
        told.push_back("new" + std::to_string(context().stash_size()));
        if (slow) {
            EXPECT_TRUE(context().try_spawn<puppet>("child", {}, &child));
        }
    }
    void post_stop() { told.push_back("stop" + std::to_string(state_)); }

    static inline bool one_by_one = false;
    static inline bool slow = false;
    static inline int lives = 0;
    static inline strings child;

private:
    bool open_ = false;
    int state_ = 0;
};
struct replay_rig : world_rig {
    explicit replay_rig(const supervisor_strategy& how, bool one_by_one = false,
                        bool with_child = false)
        : world_rig(how) {
        replaying::one_by_one = one_by_one;
        replaying::slow = with_child;
        replaying::lives = 0;
        replaying::child = {};
        replaying::child.post_stop = [](puppet&) { told.emplace_back("child"); };
        who = spawn<replaying>("r");
        run();
        EXPECT_EQ(take_told(), words{"new0"});
    }
    void tell(std::initializer_list<int> numbers) {
        for (const int n : numbers)
            who.tell(n);
        run();
    }
    actor_ref<int, go_on> who;
};

directive resuming(const failure_cause&) {
    return directive::resume;
}
directive restarting(const failure_cause&) {
    return directive::restart;
}

}  // namespace

// C-TX-50, C-TYP-17: three are put aside, and come back in their order.
TEST(conformance_stash, C_TX_50_all_come_back_in_order) {
    world_rig rig;
    const auto c = rig.spawn<collector>("c");
    tell_all(c, "abc");
    c.tell(begin_stash{});
    tell_all(c, "def");
    c.tell(how_many{});
    rig.run();
    EXPECT_EQ(take_told(), (words{"a", "b", "c", "size 3"}));
    c.tell(come_back{});
    c.tell(how_many{});
    rig.run();
    EXPECT_EQ(take_told(), (words{"d", "e", "f", "size 0"}));
    rig.end();
}

// C-TX-51, C-TYP-17: two at a time; what comes in between is put aside behind the rest.
TEST(conformance_stash, C_TX_51_two_at_a_time) {
    world_rig rig;
    const auto c = rig.spawn<collector>("c");
    c.tell(begin_stash{});
    tell_all(c, "abcde");
    c.tell(come_back{2});
    c.tell('f');
    c.tell(how_many{});
    c.tell(come_back{2});
    rig.run();
    EXPECT_EQ(take_told(), (words{"a", "b", "size 4", "c", "d"}));
    c.tell(come_back{0});
    c.tell(how_many{});
    rig.run();
    EXPECT_EQ(take_told(), words{"size 2"});
    tell_all(c, "g");
    c.tell(come_back{100});
    rig.run();
    EXPECT_EQ(take_told(), (words{"e", "f", "g"}));
    rig.end();
}

// C-TX-51, PK-STA-4: what does not fit a bounded mailbox is lost, of those that come back; the rest
// stays aside.
TEST(conformance_stash, C_TX_51_some_of_it_and_a_bounded_mailbox) {
    world_rig rig;
    auto r = detail::request_for<collector>(rig.memory, "c", {.mailbox = {.capacity = 3}});
    const auto made = rig.world.spawn_top(*r);
    ASSERT_TRUE(made.has_value());
    const collector_ref c{any_ref(*made)};
    c.tell(begin_stash{});
    rig.run();
    for (const char letter : std::string_view("abcde")) {
        c.tell(letter);
        rig.run();
    }
    c.tell(come_back{4});
    rig.run();
    EXPECT_EQ(take_told(), (words{"b", "c", "d"}));
    EXPECT_EQ(rig.said.dead_letters, 1u);
    c.tell(how_many{});
    rig.run();
    EXPECT_EQ(take_told(), words{"size 1"});
    rig.end();
}

// C-TX-52, C-TYP-17: what a handler puts aside and takes back at once comes to what handles
// messages now: whatever the strategy is.
TEST(conformance_stash, C_TX_52_put_aside_and_taken_back_in_one_handler) {
    class again : public actor<int>, public with_stash<> {
    public:
        std::expected<void, failure> on(int v) {
            told.push_back((second_ ? "second " : "first ") + std::to_string(v));
            if (std::exchange(second_, true))
                return {};
            auto done = context().stash();
            context().unstash_all();
            return done;
        }

    private:
        bool second_ = false;
    };
    for (const auto decider : {&default_decider, &stopping_decider}) {
        world_rig rig({.decider = decider});
        const auto a = rig.spawn<again>("a");
        a.tell(1);
        a.tell(2);
        rig.run();
        EXPECT_EQ(take_told(), (words{"first 1", "second 1", "second 2"}));
        rig.end();
    }
}

// C-TX-53 here: one comes back at a time, and each is handled by what the one before made of the
// actor, in a turn of its own.
TEST(conformance_stash, C_TX_53_each_changes_who_handles_the_next) {
    class states : public actor<std::string>, public with_stash<> {
    public:
        std::expected<void, failure> on(const std::string& m) {
            if (m == "go") {
                expects_ = 'a';
                context().unstash(1);
                return {};
            }
            if (expects_ == 0)
                return context().stash();
            told.push_back(std::string(1, expects_) + " got " + m);
            expects_ = 'b';
            context().unstash(1);
            return {};
        }

    private:
        char expects_ = 0;
    };
    world_rig rig;
    const auto s = rig.spawn<states>("s");
    for (const char* m : {"a1", "b1", "b2", "go", "later"})
        s.tell(std::string(m));
    rig.run();
    EXPECT_EQ(take_told(), (words{"a got a1", "b got b1", "b got b2", "b got later"}));
    rig.end();
}

// C-TX-54, C-TYP-17 here: one of those that come back fails, and nobody forgives it: post_stop sees
// the state of the last, and those behind it are dead letters.
TEST(conformance_stash, C_TX_54_one_of_them_fails_and_it_ends) {
    for (const bool one_by_one : {false, true}) {
        replay_rig rig({.decider = &stopping_decider}, one_by_one);
        rig.tell({1, 2, -3, 4});
        rig.who.tell(go_on{});
        rig.run();
        EXPECT_EQ(take_told(), (words{"at1", "at2", "fail-3", "stop-3"}));
        EXPECT_EQ(rig.said.dead_letters, 1u);
        EXPECT_EQ(rig.said.dead_numbers[0], 4);
        EXPECT_FALSE(rig.world.find("/user/r").valid());
        rig.end();
    }
}

// C-TX-55, C-TYP-17: with a restart: pre_restart sees the state of the last; the new instance has
// an empty stash, and what was left comes to it (PK-STA-5). Again and again; with a child it waits
// for, and with a back-off.
TEST(conformance_stash, C_TX_55_one_of_them_fails_and_it_is_restarted) {
    const backoff_options soon{.min = ms(10), .max = ms(10), .random_factor = 0};
    for (const bool with_child : {false, true}) {
        for (const bool waits : {false, true}) {
            replay_rig rig({.decider = &restarting, .backoff = waits ? soon : backoff_options{}},
                           true, with_child);
            for (int round = 0; round < 2; ++round) {
                rig.tell({1, -2, 3});
                rig.who.tell(go_on{});
                rig.run();
                words expected{"at1", "fail-2", "before-2"};
                if (with_child)
                    expected.emplace_back("child");
                if (waits) {
                    EXPECT_EQ(take_told(), expected);
                    expected.clear();
                    rig.pass(12);
                }
                expected.emplace_back("new0");
                EXPECT_EQ(take_told(), expected);
                // What was left is put aside by the new instance: it is the first to come back.
                rig.who.tell(go_on{});
                rig.run();
                EXPECT_EQ(take_told(), words{"at3"});
                rig.who.tell(-9);  // leaves a new one for the next round
                rig.run();
                rig.pass(12);
                (void)take_told();
            }
            EXPECT_EQ(rig.said.dead_letters, 0u);
            rig.end();
            (void)take_told();
        }
    }
}

// C-TX-56, C-TYP-17: with resume it keeps its state, and the rest of what was put aside; what
// failed is gone. The next time it goes on behind that.
TEST(conformance_stash, C_TX_56_resume_keeps_the_rest) {
    replay_rig rig({.decider = &resuming}, true);
    rig.tell({1, 2, -3, 4, 5, -6, 7});
    const auto go = [&] {
        rig.who.tell(go_on{});
        rig.run();
        return take_told();
    };
    EXPECT_EQ(go(), (words{"at1", "at2", "fail-3"}));
    EXPECT_EQ(go(), (words{"at4", "at5", "fail-6"}));
    EXPECT_EQ(go(), words{"at7"});
    EXPECT_EQ(go(), words{});
    EXPECT_EQ(replaying::lives, 1);
    EXPECT_EQ(rig.said.dead_letters, 0u);
    rig.end();
    (void)take_told();
}

// C-TYP-17: one that comes back and is unhandled is published; one that ends the actor leaves the
// rest as dead letters, be they aside or on their way back.
TEST(conformance_stash, C_TYP_17_unhandled_and_ended) {
    class picky : public actor<int>, public with_stash<> {
    public:
        std::expected<void, failure> on(int v) {
            if (v == 0) {
                open_ = true;
                context().unstash(2);
                return {};
            }
            if (!open_)
                return context().stash();
            if (v == 1)
                context().world().note_unhandled(context().in());
            else
                context().stop();
            return {};
        }

    private:
        bool open_ = false;
    };
    world_rig rig;
    const auto p = rig.spawn<picky>("p");
    for (const int v : {1, 2, 3, 0})
        p.tell(v);
    rig.run();
    EXPECT_EQ(rig.said.unhandled_count, 1u);
    EXPECT_EQ(rig.said.dead_letters, 1u);
    EXPECT_EQ(rig.said.dead_numbers[0], 3);
    EXPECT_FALSE(rig.world.find("/user/p").valid());
    rig.end();
}
