// SPDX-License-Identifier: Apache-2.0
//
// Goal: watching with a message of one's own, and why a child ended (DW-1, PK-DW).
#include <tactus/actor/actor.hpp>

#include "world_rig.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using tactus_test::journal;
using tactus_test::world_rig;

namespace {

struct gone {
    int number;
    friend bool operator==(const gone&, const gone&) = default;
};
struct watch_so {
    any_ref who;
    int number;  // 0: plainly
};
struct unwatch_it {
    any_ref who;
};

class victim : public actor<int> {
public:
    std::expected<void, failure> on(int v) {
        if (v < 0)
            return std::unexpected(failure(v));
        context().stop();
        return {};
    }
};
class watcher : public actor<watch_so, unwatch_it, gone, int>, public with_stash<> {
public:
    void on(const watch_so& m) {
        if (m.number == 0)
            context().watch(m.who);
        else
            context().watch_with(m.who, gone{m.number});
    }
    void on(const unwatch_it& m) { context().unwatch(m.who); }
    std::expected<void, failure> on(const gone& m) {
        if (puts_aside_)
            return context().stash();
        journal().add(m.number);
        return {};
    }
    void on(int v) {
        puts_aside_ = v != 0;
        context().unstash_all();
    }
    void on(const terminated&) { journal().add(-7); }
    void post_stop() { journal().add(-1); }

private:
    bool puts_aside_ = false;
};

/// What a strategy of one restart for nobody leaves: it is stopped when it fails.
class parent : public actor<int> {
public:
    supervisor_strategy supervision() { return {.max_restarts = 0U}; }
    void on(int v) {
        if (v > 0) {
            child_ = *context().try_spawn<victim>("", {});
            context().watch(child_);
        } else {
            child_.tell(v);
        }
    }
    void on(const child_failed& m) { journal().add(m.why->code()); }
    void on(const terminated&) { journal().add(1); }

private:
    actor_ref<int> child_;
};
/// Handles only `child_failed`, and puts the first one aside.
class late_parent : public actor<int>, public with_stash<> {
public:
    supervisor_strategy supervision() { return {.max_restarts = 0U}; }
    void on(int v) {
        if (v == 0) {
            context().unstash_all();
            return;
        }
        const auto child = context().try_spawn<victim>("", {});
        context().watch(*child);
        child->tell(v);
    }
    std::expected<void, failure> on(const child_failed& m) {
        journal().add(m.why->code());
        return std::exchange(stashed_, true) ? std::expected<void, failure>{} : context().stash();
    }

private:
    bool stashed_ = false;
};
/// Handles only `terminated`.
class plain_parent : public actor<int> {
public:
    supervisor_strategy supervision() { return {.max_restarts = 0U}; }
    void on(int v) {
        const auto child = context().try_spawn<victim>("", {});
        context().watch(*child);
        child->tell(v);
    }
    void on(const terminated&) { journal().add(2); }
};

struct pair {
    world_rig rig;
    actor_ref<int> v = rig.spawn<victim>("v");
    actor_ref<watch_so, unwatch_it, gone, int> w = rig.spawn<watcher>("w");

    void watch(int number) { w.tell(watch_so{v, number}); }
    void end_victim() {
        rig.run();
        v.tell(0);
        rig.run();
    }
};

}  // namespace

// C-DW-8: the message comes instead of terminated, once.
TEST(watch_with, C_DW_8_its_message_comes_instead) {
    pair p;
    p.watch(5);
    p.end_victim();
    EXPECT_TRUE(journal().is({5}));
    p.rig.end();
    journal().clear();
}

// C-STA-8, C-DW-8: it may be put aside, and is itself when it comes back.
TEST(watch_with, C_STA_8_its_message_may_be_stashed) {
    pair p;
    p.watch(5);
    p.w.tell(1);
    p.end_victim();
    EXPECT_TRUE(journal().is({}));
    p.w.tell(0);
    p.rig.run();
    EXPECT_TRUE(journal().is({5}));
    p.rig.end();
    journal().clear();
}

// C-DW-12: the same again is nothing new.
TEST(watch_with, C_DW_12_the_same_again_is_nothing) {
    for (const int number : {5, 0}) {
        pair p;
        p.watch(number);
        p.watch(number);
        p.end_victim();
        EXPECT_TRUE(journal().is({number != 0 ? number : -7}));
        p.rig.end();
        journal().clear();
    }
}

// C-DW-13: after unwatch the last message is the one.
TEST(watch_with, C_DW_13_after_unwatch_the_last_message_wins) {
    for (const int before : {0, 4}) {
        pair p;
        p.watch(before);
        p.w.tell(unwatch_it{p.v});
        p.watch(5);
        p.end_victim();
        EXPECT_TRUE(journal().is({5}));
        p.rig.end();
        journal().clear();
    }
}

// C-DW-14: watching in another way is not done, and fails the watcher.
TEST(watch_with, C_DW_14_another_way_fails_the_watcher) {
    constexpr int ways[][2] = {{4, 0}, {0, 4}, {4, 5}};
    for (const auto& way : ways) {
        pair p;
        p.watch(way[0]);
        p.watch(way[1]);
        p.rig.run();
        EXPECT_EQ(p.rig.said.decision_count, 1u);
        EXPECT_TRUE(p.rig.said.decisions[0].why == failure_kind::returned);
        EXPECT_TRUE(journal().is({-1}));
        p.rig.end();
        journal().clear();
    }
}

namespace {

/// Without ==: known to be equal by their bytes, or not known.
struct note {
    int number;
};
struct padded_note {
    char kind;
    int number;
};
struct nothing {};
template <class M>
struct watch_twice {
    any_ref who;
    M messages[2];
};
class unequal : public actor<watch_twice<note>, watch_twice<padded_note>, watch_twice<nothing>,
                             note, padded_note, nothing> {
public:
    template <class M>
    void on(const watch_twice<M>& twice) {
        for (const M& m : twice.messages)
            context().watch_with(twice.who, m);
    }
    void on(const note& m) { journal().add(m.number); }
    void on(const padded_note& m) { journal().add(m.number); }
    void on(const nothing&) { journal().add(7); }
};

template <class M>
void expect_watched_twice(M first, M second, int told) {
    world_rig rig;
    const auto w = rig.spawn<unequal>("w");
    const auto v = rig.spawn<victim>("v");
    w.tell(watch_twice<M>{v, {first, second}});
    rig.run();
    EXPECT_EQ(rig.said.decision_count, told != 0 ? 0u : 1u);
    v.tell(0);
    rig.run();
    if (told != 0) {
        EXPECT_TRUE(journal().is({told}));
    }
    rig.end();
    journal().clear();
}

}  // namespace

// C-DW-12, C-DW-14: messages that cannot be compared, but whose bytes can, are the same or not; of
// others nobody knows.
TEST(watch_with, C_DW_14_messages_without_equality) {
    expect_watched_twice(note{1}, note{1}, 1);
    expect_watched_twice(note{1}, note{2}, 0);
    expect_watched_twice(padded_note{'a', 1}, padded_note{'a', 1}, 0);
    expect_watched_twice(nothing{}, nothing{}, 7);
}

// C-DW-10: a parent is told why its child failed; who handles only terminated is told that.
TEST(watch_with, C_DW_10_a_parent_is_told_why_its_child_failed) {
    world_rig rig;
    const auto p = rig.spawn<parent>("p");
    p.tell(1);
    p.tell(-33);
    rig.run();
    EXPECT_TRUE(journal().is({-33}));
    p.tell(1);
    p.tell(0);
    rig.run();
    EXPECT_TRUE(journal().is({1}));
    const auto q = rig.spawn<plain_parent>("q");
    q.tell(-3);
    rig.run();
    EXPECT_TRUE(journal().is({2}));
    rig.end();
    journal().clear();
}

// DF-8, PK-STA-7: child_failed that was put aside comes back with its cause.
TEST(watch_with, DF_8_child_failed_keeps_its_cause_in_the_stash) {
    world_rig rig;
    const auto p = rig.spawn<late_parent>("p");
    p.tell(-33);
    rig.run();
    EXPECT_TRUE(journal().is({-33}));
    p.tell(0);
    rig.run();
    EXPECT_TRUE(journal().is({-33}));
    EXPECT_EQ(rig.said.decision_count, 1u);  // the child's failure alone: no death pact
    rig.end();
    journal().clear();
}

// DW-1: told even when its mailbox has no room for it, in its turn.
TEST(watch_with, DW_1_told_even_without_room) {
    world_rig rig;
    auto r = detail::request_for<watcher>(rig.memory, "w", {.mailbox = {.capacity = 2}});
    const auto made = rig.world.spawn_top(*r);
    const actor_ref<watch_so, unwatch_it, gone, int> w{any_ref(*made)};
    const auto v = rig.spawn<victim>("v");
    w.tell(watch_so{v, 0});
    rig.run();
    // Held back, and full.
    EXPECT_TRUE(rig.kernel->suspend(w.index(), suspension::await));
    w.tell(gone{1});
    w.tell(gone{2});
    v.tell(0);
    rig.run();
    EXPECT_TRUE(journal().is({}));
    (void)rig.kernel->resume(w.index(), suspension::await);
    rig.run();
    EXPECT_TRUE(journal().is({1, 2, -7}));
    rig.end();
    journal().clear();
}

// Bad input: a watch that finds no memory is a failure, not silence.
TEST(watch_with, without_memory_the_watcher_fails) {
    pair p;
    p.rig.run();
    p.watch(5);
    p.rig.memory.allowance = 1;
    p.rig.run();
    p.rig.memory.allowance = 1'000;
    p.rig.run();
    EXPECT_EQ(p.rig.said.decision_count, 1u);
    p.rig.end();
    journal().clear();
}
