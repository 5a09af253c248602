// SPDX-License-Identifier: Apache-2.0
//
// Goal: no operation of a family grows with its size, and none of an actor with the number of
// coroutines that wait in it; nor does any turn, of what is done about a whole family (DF-45).
// Method: the sources of the actor and dispatch layers are compiled for this program with a call at
// each edge of their control flow; the calls are counted. One operation of each kind may take at
// most twice the edges in a family of `many`, or with so many pending, that it takes with 1,000.
// The counts repeat on any machine.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <tactus/actor/actor.hpp>
#include <tactus/actor/actor_world.hpp>
#include <tactus/actor/one_shot_signal.hpp>
#include <tactus/dispatch/inline_tick.hpp>
#include <tactus/runtime/heap_memory.hpp>
#include <tactus/runtime/scheduler_memory.hpp>
#include <tactus/time/manual_clock.hpp>

#include "pool_rig.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used

namespace {

std::uint64_t steps = 0;

}  // namespace

// What -fsanitize-coverage=trace-pc calls.
extern "C" void __sanitizer_cov_trace_pc() {  // NOLINT(bugprone-reserved-identifier)
    ++steps;
}

namespace {

constexpr std::uint32_t few = 1'000;

struct strike {};
struct begin_life {};

std::uint32_t lives = 0;
std::uint32_t decisions = 0;

/// Fails when it is struck.
class member : public actor<strike, begin_life> {
public:
    member() { ++lives; }
    std::expected<void, failure> on(const strike&) { return std::unexpected(failure("struck")); }
    void on(const begin_life&) {}
};
using member_ref = actor_ref<strike, begin_life>;

class head;
struct act {
    std::function<void(head&)> what;
};
/// Has a family, and does what the test says.
class head : public actor<act> {
public:
    explicit head(supervisor_strategy how) : how_(how) { ++lives; }
    void on(const act& a) { a.what(*this); }
    void on(const terminated&) { ++notified; }
    supervisor_strategy supervision() {
        ++decisions;
        return how_;
    }
    [[nodiscard]] auto ctx() { return context(); }

    static inline std::uint32_t notified = 0;

private:
    supervisor_strategy how_;
};

/// A member of a chain: has the rest of it below, and does not decide about it.
class ring_of_chain : public actor<std::uint32_t, strike> {
public:
    ring_of_chain() { ++lives; }
    void on(std::uint32_t below) {
        lowest = self();
        if (below != 0)
            (*context().try_spawn<ring_of_chain>("", {})).tell(below - 1);
    }
    std::expected<void, failure> on(const strike&) { return std::unexpected(failure("struck")); }
    supervisor_strategy supervision() {
        return {.decider = [](const failure_cause&) { return directive::escalate; }};
    }

    static inline actor_ref<std::uint32_t, strike> lowest;
};

/// Counts what is written.
struct counting_sink final : text_sink {
    void write(std::string_view text) noexcept override { size += text.size(); }
    std::size_t size = 0;
};

/// Writes the path of each actor that failed, as a log does.
struct quiet final : world_events {
    void supervised(const decision& d) noexcept override {
        counting_sink path;
        if (of != nullptr)
            of->write_path(d.child.index(), path);
        ++decided;
    }
    void guardian_failed(const failure_cause&) noexcept override { ++failed; }
    void world_ended() noexcept override { ++ended; }
    actor_world* of = nullptr;
    std::uint32_t decided = 0;
    std::uint32_t failed = 0;
    std::uint32_t ended = 0;
};

/// A world on one thread, whose turns are counted one by one.
class rig {
public:
    explicit rig(std::uint32_t size)
        : memory_({.actors_max = size + 64, .messages_max = 4 * size + 1'024}),
          world_({.memory = &heap_, .events = &said_, .name = "test"}),
          kernel_(memory_.fill({.time = &time_, .events = &world_, .above = &world_})),
          ticks_(kernel_) {
        world_.begin(kernel_);
        run();
    }
    rig(const rig&) = delete;
    rig& operator=(const rig&) = delete;
    ~rig() {
        world_.terminate();
        run();
        EXPECT_EQ(said_.ended, 1U);
    }
    void run() {
        for (;;) {
            const std::uint64_t before = steps;
            if (!ticks_.run_once())
                return;
            longest_ = std::max(longest_, steps - before);
        }
    }
    template <class A, class... Args>
    auto spawn(std::string_view name, Args&&... args) {
        return *tactus::detail::spawn_by<A>(
            world_, [&](const actor_world::spawn_request& r) { return world_.spawn_top(r); }, name,
            {}, std::forward<Args>(args)...);
    }
    /// The most steps of one turn since the last call.
    std::uint64_t take_longest() { return std::exchange(longest_, 0); }
    [[nodiscard]] actor_world& world() { return world_; }
    /// From now on; how many there were.
    void write_paths() { said_.of = &world_; }
    [[nodiscard]] std::uint32_t decided() const { return said_.decided; }

private:
    runtime::heap_memory heap_;
    manual_clock time_{duration::from_ns(1)};
    runtime::scheduler_memory memory_;
    quiet said_;
    actor_world world_;
    actor_scheduler kernel_;
    inline_tick ticks_;
    std::uint64_t longest_ = 0;
};

/// A family of `size`, and what is counted of it.
class family {
public:
    explicit family(std::uint32_t size, supervisor_strategy how = {}, bool named = false)
        : rig_(2 * size), size_(size) {
        const std::uint64_t before = steps;
        head_ = rig_.spawn<head>("head", how);
        (void)in_turn([this, named](head& h) {
            for (std::uint32_t i = 0; i < size_; ++i)
                members.push_back(*h.ctx().try_spawn<member>(
                    named ? "m" + std::to_string(i) : std::string(), {}));
        });
        spawned = per_member(before);
        lives = 0;
        decisions = 0;
        head::notified = 0;
    }
    [[nodiscard]] std::uint32_t size() const { return size_; }
    /// Steps of each, until everything is quiet.
    [[nodiscard]] double in_turn(std::function<void(head&)> what) {
        const std::uint64_t before = steps;
        head_.tell(act{std::move(what)});
        return run_from(before);
    }
    [[nodiscard]] double all_fail() {
        const std::uint64_t before = steps;
        for (const member_ref& m : members)
            m.tell(strike{});
        return run_from(before);
    }
    [[nodiscard]] double stop() {
        const std::uint64_t before = steps;
        (void)rig_.world().stop(head_.any().index());
        return run_from(before);
    }
    /// Number `i` in an order that is far from the one they were spawned in.
    [[nodiscard]] member_ref scattered(std::uint32_t i) const {
        return members[std::uint64_t{i} * 7'919 % size_];
    }
    std::vector<member_ref> members;
    double spawned = 0;

private:
    [[nodiscard]] double per_member(std::uint64_t before) const {
        return static_cast<double>(steps - before) / size_;
    }
    [[nodiscard]] double run_from(std::uint64_t before) {
        rig_.run();
        return per_member(before);
    }

    rig rig_;
    std::uint32_t size_;
    actor_ref<act> head_;
};

/// `of` gives the steps per member in a family of a size.
void expect_flat(const char* what, std::uint32_t many,
                 const std::function<double(std::uint32_t)>& of) {
    const double small = of(few);
    const double large = of(many);
    std::printf("%s: %.0f steps each of %u, %.0f of %u\n", what, small, few, large, many);
    EXPECT_GT(small, 0);
    EXPECT_LE(large, 2 * small) << what;
}
std::uint32_t size_of_failures() {
    return static_cast<std::uint32_t>(tactus_test::sized(100'000, 10));
}
std::uint32_t size_of_family() {
    return static_cast<std::uint32_t>(tactus_test::sized(1'000'000, 10));
}

}  // namespace

TEST(family_scale, DF_45_children_are_spawned_and_stopped) {
    expect_flat("spawn, stop the parent", size_of_family(), [](std::uint32_t n) {
        family f(n);
        return f.spawned + f.stop();
    });
    expect_flat("stop one by one", size_of_family(), [](std::uint32_t n) {
        family f(n);
        const double each = f.in_turn([&f](head& h) {
            for (std::uint32_t i = 0; i < f.size(); ++i)
                EXPECT_TRUE(h.ctx().stop(f.scattered(i)));
        });
        (void)f.in_turn([](head& h) { EXPECT_EQ(h.ctx().child_count(), 0U); });
        return each;
    });
}

TEST(family_scale, DF_45_children_have_names) {
    expect_flat("named: spawn, find, stop", size_of_family(), [](std::uint32_t n) {
        family f(n, {}, true);
        const double found = f.in_turn([n](head& h) {
            for (std::uint32_t i = 0; i < n; ++i)
                EXPECT_TRUE(h.ctx().child("m" + std::to_string(i)));
        });
        return f.spawned + found + f.stop();
    });
}

TEST(family_scale, DF_45_all_fail_at_once) {
    static constexpr supervision_scope scopes[] = {supervision_scope::one_for_one,
                                                   supervision_scope::all_for_one,
                                                   supervision_scope::rest_for_one};
    static constexpr directive directives[] = {directive::resume, directive::restart,
                                               directive::stop, directive::escalate};
    for (const auto scope : scopes) {
        for (const auto d : directives) {
            supervisor_strategy how{.scope = scope, .max_restarts = 5U};
            how.decider =
                d == directive::resume    ? [](const failure_cause&) { return directive::resume; }
                : d == directive::restart ? [](const failure_cause&) { return directive::restart; }
                : d == directive::stop    ? [](const failure_cause&) { return directive::stop; }
                                       : [](const failure_cause&) { return directive::escalate; };
            const std::string what = std::string(name_of(scope)) + ", " + name_of(d);
            expect_flat(what.c_str(), size_of_failures(), [how, d](std::uint32_t n) {
                family f(n, how);
                const double each = f.all_fail();
                if (d == directive::restart) {
                    // The head looks a few times while the others still have their messages: a new
                    // instance that is struck fails anew.
                    const bool is_one = how.scope == supervision_scope::one_for_one;
                    EXPECT_LE(decisions, is_one ? n : 4U);
                    EXPECT_LE(lives, is_one ? n : 4 * n);
                    EXPECT_GE(lives, n);
                }
                return each;
            });
        }
    }
}

TEST(family_scale, DF_45_one_watches_many) {
    expect_flat("watch, all end", size_of_failures(), [](std::uint32_t n) {
        family f(n);
        const double each = f.in_turn([&f](head& h) {
            for (std::uint32_t i = 0; i < f.size(); ++i)
                h.ctx().watch(f.scattered(i));
            for (const member_ref& m : f.members)
                EXPECT_TRUE(h.ctx().stop(m));
        });
        EXPECT_EQ(head::notified, n);
        return each;
    });
    expect_flat("watch, unwatch", size_of_failures(), [](std::uint32_t n) {
        family f(n);
        const double each = f.in_turn([&f](head& h) {
            for (const member_ref& m : f.members)
                h.ctx().watch(m);
            for (std::uint32_t i = 0; i < f.size(); ++i)
                h.ctx().unwatch(f.scattered(i));
            for (const member_ref& m : f.members)
                EXPECT_TRUE(h.ctx().stop(m));
        });
        EXPECT_EQ(head::notified, 0U);
        return each;
    });
}

namespace {

/// Watches one, and lets go of it.
class onlooker : public actor<strike, begin_life> {
public:
    explicit onlooker(any_ref whom) : whom_(whom) {}
    void pre_start() { context().watch(whom_); }
    void on(const strike&) { context().unwatch(whom_); }
    void on(const begin_life&) {}
    void on(const terminated&) { ++head::notified; }

private:
    any_ref whom_;
};

}  // namespace

TEST(family_scale, DF_45_many_watch_one) {
    for (const bool lets_go : {false, true}) {
        expect_flat(
            lets_go ? "watched, unwatched" : "watched, ends", size_of_failures(),
            [lets_go](std::uint32_t n) {
                rig r(n + 8);
                head::notified = 0;
                const auto h = r.spawn<head>("", supervisor_strategy{});
                const auto star = r.spawn<member>("");
                std::vector<member_ref> onlookers;
                const std::uint64_t before = steps;
                h.tell(act{[&](head& me) {
                    for (std::uint32_t i = 0; i < n; ++i)
                        onlookers.push_back(*me.ctx().try_spawn<onlooker>("", {}, star.any()));
                }});
                r.run();
                for (std::uint32_t i = 0; lets_go && i < n; ++i)
                    onlookers[std::uint64_t{i} * 7'919 % n].tell(strike{});
                r.run();
                (void)r.world().stop(star.any().index());
                r.run();
                EXPECT_EQ(head::notified, lets_go ? 0U : n);
                return static_cast<double>(steps - before) / n;
            });
    }
}

namespace {

/// `of` gives the steps of the longest turn in a family of a size. The second time in the same
/// world: queues that grow are as large as they get by then.
void expect_bounded_turns(const char* what,
                          const std::function<std::uint64_t(rig&, std::uint32_t)>& of) {
    const auto steps_of = [&](std::uint32_t n) {
        rig r(3 * n);
        (void)of(r, n);
        return of(r, n);
    };
    const std::uint64_t small = steps_of(few);
    const std::uint64_t large = steps_of(size_of_failures());
    std::printf("%s: the longest turn has %u steps of %u, %u of %u\n", what,
                static_cast<unsigned>(small), few, static_cast<unsigned>(large),
                size_of_failures());
    EXPECT_GT(small, 0U);
    EXPECT_LE(large, 2 * small) << what;
}

/// Has a family, and keeps it when it is restarted.
class keeper : public head {
public:
    using head::head;
    void pre_restart(const failure_cause&) {}
};

/// A parent of `n`, which have begun.
template <class Parent>
struct household {
    household(rig& in, std::uint32_t n, const supervisor_strategy& how = {})
        : r(in), top(r.spawn<Parent>("", how).any()) {
        top.tell(act{[this, n](head& h) {
            for (std::uint32_t i = 0; i < n; ++i)
                members.push_back(*h.ctx().template try_spawn<member>("", {}));
        }});
        r.run();
        lives = 0;
        decisions = 0;
        (void)r.take_longest();
    }
    household(const household&) = delete;
    household& operator=(const household&) = delete;
    ~household() { stop(); }
    void stop() {
        (void)r.world().stop(top.any().index());
        r.run();
    }
    rig& r;
    actor_ref<act> top;
    std::vector<member_ref> members;
};

}  // namespace

TEST(family_scale, DF_45_no_turn_grows_when_a_family_is_stopped) {
    expect_bounded_turns("stop the parent", [](rig& r, std::uint32_t n) {
        household<head> f(r, n);
        f.stop();
        return r.take_longest();
    });
}

TEST(family_scale, DF_45_no_turn_grows_when_a_family_is_restarted) {
    // Without a limit: with one, an index of counts is made, and doubled at once.
    const supervisor_strategy how{.scope = supervision_scope::all_for_one};
    expect_bounded_turns("restart all for one", [&how](rig& r, std::uint32_t n) {
        household<head> f(r, n, how);
        f.members[n / 2].tell(strike{});
        r.run();
        EXPECT_EQ(lives, n);
        EXPECT_EQ(decisions, 1U);
        return r.take_longest();
    });
}

TEST(family_scale, DF_45_no_turn_grows_when_a_parent_fails) {
    const auto fail = [](auto& f) {
        f.top.tell(act{[](head& h) { h.ctx().fail({"struck"}); }});
        f.r.run();
        return f.r.take_longest();
    };
    expect_bounded_turns("restart a parent", [&](rig& r, std::uint32_t n) {
        household<head> f(r, n);
        const std::uint64_t longest = fail(f);
        EXPECT_EQ(lives, 1U);
        return longest;
    });
    expect_bounded_turns("restart a parent that keeps them", [&](rig& r, std::uint32_t n) {
        household<keeper> f(r, n);
        const std::uint64_t longest = fail(f);
        EXPECT_EQ(lives, n + 1);
        return longest;
    });
}

TEST(family_scale, DF_45_no_turn_grows_with_those_who_watch) {
    expect_bounded_turns("many watch one", [](rig& r, std::uint32_t n) {
        head::notified = 0;
        const auto star = r.spawn<member>("");
        household<head> f(r, 0);
        f.top.tell(act{[&](head& h) {
            for (std::uint32_t i = 0; i < n; ++i)
                (void)h.ctx().try_spawn<onlooker>("", {}, star.any());
        }});
        r.run();
        (void)r.take_longest();
        (void)r.world().stop(star.any().index());
        r.run();
        EXPECT_EQ(head::notified, n);
        return r.take_longest();
    });
    expect_bounded_turns("one watches many, and ends", [](rig& r, std::uint32_t n) {
        household<head> f(r, n);
        household<head> fan(r, 0);
        fan.top.tell(act{[&](head& h) {
            for (const member_ref& m : f.members)
                h.ctx().watch(m);
        }});
        r.run();
        (void)r.take_longest();
        fan.stop();
        return r.take_longest();
    });
}

TEST(family_scale, DF_45_no_turn_grows_with_failures) {
    supervisor_strategy how{};
    const auto all_fail = [&how](rig& r, std::uint32_t n) {
        household<head> f(r, n, how);
        for (const member_ref& m : f.members)
            m.tell(strike{});
        r.run();
        return r.take_longest();
    };
    how.decider = [](const failure_cause&) { return directive::resume; };
    expect_bounded_turns("resume", all_fail);
    how.decider = [](const failure_cause&) { return directive::restart; };
    expect_bounded_turns("restart", all_fail);
    how.decider = [](const failure_cause&) { return directive::stop; };
    expect_bounded_turns("stop", all_fail);
}

namespace {

/// A chain of `n`, all of which have begun.
struct chain {
    explicit chain(std::uint32_t n) : r(2 * n), before(steps) {
        lives = 0;
        top = r.spawn<ring_of_chain>("");
        top.tell(n - 1);
        r.run();
        EXPECT_EQ(lives, n);
    }
    rig r;
    std::uint64_t before;
    actor_ref<std::uint32_t, strike> top;
};

}  // namespace

TEST(family_scale, DF_45_a_chain_is_deep) {
    expect_flat("chain", size_of_family(), [](std::uint32_t n) {
        chain c(n);
        (void)c.r.world().stop(c.top.any().index());
        c.r.run();
        return static_cast<double>(steps - c.before) / n;
    });
}

// DF-45, DF-50: the failure of the lowest one goes up to the guardian, which restarts the top; each
// decision is written with its path.
TEST(family_scale, DF_45_a_failure_goes_up_a_chain) {
    expect_flat("chain, escalate", size_of_family(), [](std::uint32_t n) {
        chain c(n);
        c.r.write_paths();
        const std::uint64_t before = steps;
        ring_of_chain::lowest.tell(strike{});
        c.r.run();
        EXPECT_EQ(c.r.decided(), n);
        EXPECT_EQ(lives, n + 1);
        return static_cast<double>(steps - before) / n;
    });
}

TEST(family_scale, DF_50_paths_and_dumps_of_a_chain) {
    expect_flat("chain, path of the lowest", size_of_family(), [](std::uint32_t n) {
        chain c(n);
        const std::uint64_t before = steps;
        counting_sink path;
        c.r.world().write_path(ring_of_chain::lowest.index(), path);
        EXPECT_GT(path.size, 100U);
        return static_cast<double>(steps - before);
    });
    expect_flat("chain, dump", size_of_family(), [](std::uint32_t n) {
        chain c(n);
        const std::uint64_t before = steps;
        counting_sink all;
        c.r.world().dump(all);
        EXPECT_GT(all.size, 10'000U);
        return static_cast<double>(steps - before);
    });
}

namespace {

constexpr std::uint32_t many_pending = 10'000;

struct wait_so {
    bool for_message;
};
struct awaited {};

std::uint32_t went_on = 0;

/// Has many coroutines, which wait for the same signal or for messages.
class patient : public actor<wait_so, awaited> {
public:
    static constexpr bool reentrant = true;
    explicit patient(one_shot_signal* open) : open_(open) {}
    task<> on(wait_so how) {
        if (how.for_message)
            (void)co_await context().next<awaited>();
        else
            co_await open_->wait();
        ++went_on;
    }
    void on(const awaited&) {}

private:
    one_shot_signal* open_;
};

/// Steps of each: to begin a wait, and to go on.
double wait_for(std::uint32_t n, bool for_message) {
    one_shot_signal open;
    rig r(n);
    went_on = 0;
    const auto p = r.spawn<patient>("", &open);
    const std::uint64_t before = steps;
    for (std::uint32_t i = 0; i < n; ++i)
        p.tell(wait_so{for_message});
    r.run();
    for (std::uint32_t i = 0; for_message && i < n; ++i)
        p.tell(awaited{});
    if (!for_message)
        open.wake();
    r.run();
    EXPECT_EQ(went_on, n);
    return static_cast<double>(steps - before) / n;
}

}  // namespace

TEST(family_scale, DF_45_many_coroutines_of_one_actor_go_on) {
    // A run goes on with a few hundred of them and puts off the rest.
    expect_flat("wait for a signal", 10 * many_pending,
                [](std::uint32_t n) { return wait_for(n, false); });
}

TEST(family_scale, DF_45_many_coroutines_of_one_actor_get_messages) {
    expect_flat("next", many_pending, [](std::uint32_t n) { return wait_for(n, true); });
}

// The waits of one type are not looked at for a message of another type.
TEST(family_scale, DF_45_a_message_passes_many_waits_for_another_type) {
    expect_flat("next, pending", many_pending, [](std::uint32_t n) {
        one_shot_signal open;
        rig r(n);
        went_on = 0;
        const auto p = r.spawn<patient>("", &open);
        for (std::uint32_t i = 0; i < n; ++i)
            p.tell(wait_so{true});
        r.run();
        const std::uint64_t before = steps;
        for (std::uint32_t i = 0; i < few; ++i)
            p.tell(wait_so{false});
        open.wake();
        r.run();
        EXPECT_EQ(went_on, few);
        return static_cast<double>(steps - before) / few;
    });
}
