// SPDX-License-Identifier: Apache-2.0
//
// Goal: who watches is told once that the watched actor has ended (DW-1).
#include <tactus/actor/actor.hpp>

#include "world_rig.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using tactus_test::journal;
using tactus_test::world_rig;

namespace {

struct watch_it {
    any_ref who;
};
struct unwatch_it {
    any_ref who;
};

class watcher : public actor<watch_it, unwatch_it, int> {
public:
    explicit watcher(int number) : number_(number) {}
    void on(const watch_it& m) { context().watch(m.who); }
    void on(const unwatch_it& m) { context().unwatch(m.who); }
    void on(int v) { journal().add(v); }
    void on(const terminated& t) {
        journal().add(number_);
        last = t.who;
    }
    static any_ref last;

private:
    int number_;
};
any_ref watcher::last;

/// Does not handle `terminated`.
class pact : public actor<watch_it> {
public:
    void on(const watch_it& m) { context().watch(m.who); }
    void post_stop() { journal().add(-1); }
};

class victim : public actor<int> {
public:
    explicit victim(actor_ref<int> to) : to_(to) {}
    std::expected<void, failure> on(int v) {
        if (v < 0)
            return std::unexpected(failure(v));
        for (int i = 1; i <= v; ++i)
            to_.tell(i);
        context().stop();
        return {};
    }

private:
    actor_ref<int> to_;
};

}  // namespace

// DW-1, C-DW-1, C-DW-2: every watcher is told once; who does not watch any more is not.
TEST(watching, C_DW_2_each_watcher_is_told_once) {
    world_rig rig;
    const auto v = rig.spawn<victim>("v", actor_ref<int>{});
    for (int i = 1; i <= 3; ++i) {
        const auto w = rig.spawn<watcher>("", i);
        w.tell(watch_it{v});
        w.tell(watch_it{v});  // again is nothing
        if (i == 2)
            w.tell(unwatch_it{v});
    }
    rig.run();
    v.tell(0);
    rig.run();
    EXPECT_EQ(journal().count(), 2u);
    EXPECT_EQ(journal().at(0) + journal().at(1), 1 + 3);  // in either order
    journal().clear();
    EXPECT_TRUE(watcher::last == v.any());
    rig.end();
}

// DW-1, C-DW-1: watching an actor that has ended answers at once; so does one that never was.
TEST(watching, C_DW_1_the_dead_answer_at_once) {
    world_rig rig;
    const auto v = rig.spawn<victim>("v", actor_ref<int>{});
    const auto w = rig.spawn<watcher>("w", 5);
    rig.run();
    (void)rig.world.stop(v.index());
    rig.run();
    w.tell(watch_it{v});
    rig.run();
    EXPECT_TRUE(journal().is({5}));
    w.tell(watch_it{v});
    rig.run();
    EXPECT_TRUE(journal().is({5}));
    w.tell(watch_it{any_ref{}});  // names nobody
    w.tell(watch_it{w});          // itself
    rig.run();
    EXPECT_TRUE(journal().is({}));
    rig.end();
}

// PK-DW-2, DW-1: after everything the ended actor sent.
TEST(watching, DW_1_terminated_comes_after_what_was_sent_before) {
    world_rig rig;
    const auto w = rig.spawn<watcher>("w", 100);
    const auto v = rig.spawn<victim>("v", w);
    w.tell(watch_it{v});
    rig.run();
    v.tell(3);
    rig.run();
    EXPECT_TRUE(journal().is({1, 2, 3, 100}));
    rig.end();
}

// C-DW-7, PK-DW-4: what is unwatched when `terminated` waits already is not told.
TEST(watching, C_DW_7_unwatch_takes_back_what_waits) {
    world_rig rig;
    const auto v = rig.spawn<victim>("v", actor_ref<int>{});
    const auto w = rig.spawn<watcher>("w", 100);
    w.tell(watch_it{v});
    rig.run();
    // The watcher is held back while the other ends, and then first told not to watch.
    (void)rig.kernel->suspend(w.index(), suspension::await);
    w.tell(unwatch_it{v});
    (void)rig.world.stop(v.index());
    rig.run();
    (void)rig.kernel->resume(w.index(), suspension::await);
    rig.run();
    EXPECT_TRUE(journal().is({}));
    rig.end();
}

// PK-DW-5, C-DW-4: who watches and does not handle it fails; by default that stops it.
TEST(watching, C_DW_4_a_death_pact) {
    world_rig rig;
    const auto v = rig.spawn<victim>("v", actor_ref<int>{});
    const auto p = rig.spawn<pact>("p");
    const auto w = rig.spawn<watcher>("w", 100);
    w.tell(watch_it{p});
    p.tell(watch_it{v});
    rig.run();
    v.any().tell(tactus::kill{});
    rig.run();
    EXPECT_TRUE(journal().is({-1, 100}));
    EXPECT_EQ(rig.said.decision_count, 2u);
    EXPECT_TRUE(rig.said.decisions[0].why == failure_kind::killed);
    EXPECT_TRUE(rig.said.decisions[1].why == failure_kind::death_pact);
    rig.end();
}

namespace {

/// Has a child of the class below, and watches it; handles no `terminated`.
template <class Child>
class pact_parent : public actor<int> {
public:
    void pre_start() {
        const auto made = context().template try_spawn<Child>("child", {});
        context().watch(*made);
    }
    void on(int) {}
    void post_stop() { journal().add(-1); }
};
class graceful : public actor<int> {
public:
    void on(int) { context().stop(); }
    void post_stop() { journal().add(-2); }
};

}  // namespace

// C-DW-11: a death pact that nobody handles goes up, to the grandparent and whoever watches that.
TEST(watching, C_DW_11_a_chain_of_death_pacts) {
    world_rig rig;
    const auto top = rig.spawn<pact_parent<pact_parent<graceful>>>("top");
    const auto w = rig.spawn<watcher>("w", 100);
    w.tell(watch_it{top});
    rig.run();
    any_ref(rig.world.find("/user/top/child/child")).tell(1);
    rig.run();
    EXPECT_TRUE(journal().is({-2, -1, -1, 100}));
    EXPECT_EQ(rig.said.decision_count, 2u);
    EXPECT_TRUE(rig.said.decisions[0].why == failure_kind::death_pact);
    EXPECT_TRUE(rig.said.decisions[1].why == failure_kind::death_pact);
    rig.end();
}

// C-DW-9: of an actor that stops by itself who watches is told after its post_stop, once, with the
// reference it had, and no failure is seen.
TEST(watching, C_DW_9_a_graceful_stop) {
    world_rig rig;
    const auto g = rig.spawn<graceful>("g");
    const auto w = rig.spawn<watcher>("w", 100);
    w.tell(watch_it{g});
    rig.run();
    g.tell(1);
    rig.run();
    EXPECT_TRUE(journal().is({-2, 100}));
    EXPECT_TRUE(watcher::last == g.any());
    EXPECT_EQ(rig.said.decision_count, 0u);
    rig.end();
}

// C-DW-3: restarts are not told, the end is; then a child of the same name.
TEST(watching, C_DW_3_restarts_are_not_told) {
    class parent : public actor<int> {
    public:
        void on(int v) {
            if (v == 0) {
                child_ = *context().try_spawn<victim>("kid", {}, actor_ref<int>{});
                context().watch(child_);
            } else {
                child_.tell(v);
            }
        }
        void on(const terminated&) {
            journal().add(9);
            // PK-DW-6: the name is free by now.
            EXPECT_TRUE(context().try_spawn<victim>("kid", {}, actor_ref<int>{}).has_value());
        }
        supervisor_strategy supervision() {
            return {.max_restarts = 2U,
                    .decider = [](const failure_cause&) { return directive::restart; }};
        }

    private:
        actor_ref<int> child_;
    };
    world_rig rig;
    const auto p = rig.spawn<parent>("p");
    p.tell(0);
    p.tell(-1);
    p.tell(-2);
    rig.run();
    EXPECT_TRUE(journal().is({}));
    p.tell(-3);
    rig.run();
    EXPECT_TRUE(journal().is({9}));
    rig.end();
}

// A watcher that ends leaves nothing behind at whom it watched.
TEST(watching, DW_1_a_watcher_that_ends_watches_no_more) {
    world_rig rig;
    const auto v = rig.spawn<victim>("v", actor_ref<int>{});
    rig.run();
    const std::size_t before = rig.memory.live_blocks;
    for (int i = 0; i < 5; ++i) {
        const auto w = rig.spawn<watcher>("", 1);
        w.tell(watch_it{v});
        rig.run();
        (void)rig.world.stop(w.index());
        rig.run();
    }
    EXPECT_LE(rig.memory.live_blocks, before + 1);  // who is watched has extras from then on
    rig.end();
}
