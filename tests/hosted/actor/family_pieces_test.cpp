// SPDX-License-Identifier: Apache-2.0
//
// Goal: what is done about a whole family is done in pieces, and other actors run in between; but
// what comes of it is what would come of doing it at once (DF-45).
// Method: a family of 10,000 beside an actor that looks, at each of its messages, how many have
// been told meanwhile. Then small families and pieces of one to four, in drawn orders: with time to
// settle after each action every actor must go through the same as with one piece; without, the
// rules for all actors must hold.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <tactus/actor/actor.hpp>
#include <tactus/actor/actor_world.hpp>
#include <tactus/dispatch/inline_tick.hpp>
#include <tactus/runtime/heap_memory.hpp>
#include <tactus/runtime/scheduler_memory.hpp>
#include <tactus/time/manual_clock.hpp>

#include "pool_rig.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used

namespace {

constexpr std::uint32_t in_one_piece = 1'000'000;

/// A world on one thread.
class rig {
public:
    explicit rig(std::uint32_t piece, std::uint32_t size = 200)
        : memory_({.actors_max = size + 64, .messages_max = 4 * size + 1'024}),
          world_({.memory = &heap_, .events = &said_, .name = "test", .family_piece = piece}),
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
    void run(std::uint32_t runs = ~0U) { (void)ticks_.run_until_idle(runs); }
    template <class A, class... Args>
    auto spawn(Args&&... args) {
        return *tactus::detail::spawn_by<A>(
            world_, [&](const actor_world::spawn_request& r) { return world_.spawn_top(r); }, "",
            {}, std::forward<Args>(args)...);
    }
    void stop(any_ref who) { (void)world_.stop(who.index()); }
    [[nodiscard]] slot* find(any_ref who) { return kernel_.slots().find(who.index()); }

private:
    struct ends final : world_events {
        void world_ended() noexcept override { ++ended; }
        std::uint32_t ended = 0;
    };
    runtime::heap_memory heap_;
    manual_clock time_{duration::from_ns(1)};
    runtime::scheduler_memory memory_;
    ends said_;
    actor_world world_;
    actor_scheduler kernel_;
    inline_tick ticks_;
};

struct strike {};
struct ping {};
struct look {};

// ---- a large family

std::vector<std::uint32_t> times;  // each of them was made, or told

class member : public actor<strike> {
public:
    explicit member(std::uint32_t number) { ++times[number]; }
    std::expected<void, failure> on(const strike&) { return std::unexpected(failure("struck")); }
};
class onlooker : public actor<look> {
public:
    onlooker(std::uint32_t number, any_ref whom) : number_(number), whom_(whom) {}
    void pre_start() { context().watch(whom_); }
    void on(const look&) {}
    void on(const terminated&) { ++times[number_]; }

private:
    std::uint32_t number_;
    any_ref whom_;
};
class head : public actor<look> {
public:
    explicit head(std::vector<any_ref>* members) {
        for (std::uint32_t i = 0; i < members->size(); ++i)
            (*members)[i] = context().try_spawn<member>("", {}, i)->any();
    }
    void on(const look&) {}
    supervisor_strategy supervision() { return {.scope = supervision_scope::all_for_one}; }
};

/// Tells itself to look, again and again.
class observer : public actor<look> {
public:
    /// They are told in the order of their numbers.
    explicit observer(std::function<bool(std::uint32_t)> is_told) : is_told_(std::move(is_told)) {
        most = 0;
        told = 0;
        looks = 0;
        goes_on = true;
    }
    void on(const look&) {
        const std::uint32_t before = told;
        while (told < times.size() && is_told_(told))
            ++told;
        most = std::max(most, told - before);
        ++looks;
        if (goes_on)
            self().tell(look{});
    }
    static inline std::uint32_t most = 0;  // were told between two looks
    static inline std::uint32_t told = 0;
    static inline std::uint32_t looks = 0;
    static inline bool goes_on = false;

private:
    std::function<bool(std::uint32_t)> is_told_;
};

constexpr std::uint32_t many = 10'000;
constexpr std::uint32_t piece = 256;

/// Looks until all have been told, from `act` on.
void expect_pieces(rig& r, const std::function<void()>& act,
                   const std::function<bool(std::uint32_t)>& is_told) {
    times.assign(many, 0);
    const auto o = r.spawn<observer>(is_told);
    o.tell(look{});
    r.run(10);
    act();
    for (std::uint32_t i = 0; observer::told < many && i < many; ++i)
        r.run(100);
    EXPECT_EQ(observer::told, many);
    observer::goes_on = false;
    r.run();
    EXPECT_LE(observer::most, 2 * piece);
    EXPECT_GE(observer::looks, many / (2 * piece));
}

/// A bit of one that has not ended.
bool is(rig& r, any_ref who, std::uint32_t bit) {
    slot* s = r.find(who);
    return s == nullptr || cell::of(*s).is(bit);
}

}  // namespace

TEST(family_pieces, DF_45_others_run_while_a_family_is_stopped) {
    rig r(piece, many);
    times.assign(many, 0);
    std::vector<any_ref> members(many);
    const auto h = r.spawn<head>(&members);
    r.run();
    expect_pieces(
        r, [&] { r.stop(h.any()); },
        [&](std::uint32_t i) { return is(r, members[i], cell::stop_ordered); });
}

TEST(family_pieces, DF_45_others_run_while_a_family_is_restarted) {
    rig r(piece, many);
    times.assign(many, 0);
    std::vector<any_ref> members(many);
    (void)r.spawn<head>(&members);
    r.run();
    expect_pieces(
        r, [&] { actor_ref<strike>(members[many / 2]).tell(strike{}); },
        [&](std::uint32_t i) { return times[i] == 1 || is(r, members[i], cell::restart_ordered); });
    EXPECT_EQ(times, std::vector<std::uint32_t>(many, 1));
}

TEST(family_pieces, DF_45_others_run_while_watchers_are_told) {
    rig r(piece, many);
    std::vector<any_ref> none;
    const auto star = r.spawn<head>(&none);
    std::vector<any_ref> watchers;
    for (std::uint32_t i = 0; i < many; ++i)
        watchers.push_back(r.spawn<onlooker>(i, star.any()).any());
    r.run();
    expect_pieces(
        r, [&] { r.stop(star.any()); },
        [&](std::uint32_t i) {
            const slot* s = r.find(watchers[i]);
            return times[i] == 1 || s->has_system_messages() || s->user_length() != 0;
        });
    EXPECT_EQ(times, std::vector<std::uint32_t>(many, 1));
}

// ---- small families, in drawn orders

namespace {

/// What happened to each actor; by its number.
struct chronicle {
    std::map<std::uint32_t, std::vector<std::string>> of;
    std::uint32_t actors = 0;
    std::int32_t instances = 0;
    std::uint32_t wrong = 0;  // rules were broken so often
};

struct plan {
    supervision_scope scope = supervision_scope::one_for_one;
    directive what = directive::restart;
    bool limited = false;
    bool keeps = false;   // children survive a restart of their parent
    bool spawns = false;  // in pre_restart
    std::uint32_t size = 0;
};

/// Notes what happens to it, and breaks no rule.
class noting {
public:
    explicit noting(chronicle* c) : in_(c), number_(c->actors++) { begin(); }
    noting(chronicle* c, std::uint32_t number) : in_(c), number_(number) { begin(); }
    noting(const noting&) = delete;
    noting& operator=(const noting&) = delete;
    ~noting() { --in_->instances; }
    void note(const char* what) {
        if (over_)
            ++in_->wrong;
        in_->of[number_].emplace_back(what);
    }
    /// pre_restart: after it there is nothing but the next instance, or the end.
    void restart() {
        note("restarts");
        over_ = true;
    }
    void end() {
        if (ended_)
            ++in_->wrong;
        ended_ = true;
        over_ = true;
        in_->of[number_].emplace_back("ends");
    }
    [[nodiscard]] chronicle& in() const { return *in_; }
    [[nodiscard]] std::uint32_t number() const { return number_; }

private:
    void begin() { ++in_->instances; }
    chronicle* in_;
    std::uint32_t number_;
    bool over_ = false;
    bool ended_ = false;
};

class child : public actor<strike, ping> {
public:
    child(chronicle* c, std::uint32_t number) : life_(c, number) { life_.note("made"); }
    std::expected<void, failure> on(const strike&) {
        life_.note("struck");
        return std::unexpected(failure("struck"));
    }
    void on(const ping&) { life_.note("ping"); }
    void pre_restart(const failure_cause&) { life_.restart(); }
    void post_stop() { life_.end(); }

private:
    noting life_;
};
using child_ref = actor_ref<strike, ping>;

class parent;
struct act {
    std::function<void(parent&)> what;
};
class parent : public actor<act, ping> {
public:
    parent(chronicle* c, std::uint32_t number, const plan* p, std::vector<child_ref>* family)
        : life_(c, number), plan_(p), family_(family) {
        life_.note("made");
        for (std::uint32_t i = 0; i < p->size && c->actors < 150; ++i)
            add();
    }
    void on(const act& a) { a.what(*this); }
    void on(const ping&) { life_.note("ping"); }
    void on(const terminated&) { life_.note("told"); }
    supervisor_strategy supervision() {
        supervisor_strategy s{.scope = plan_->scope};
        if (plan_->limited)
            s.max_restarts = 2U;
        return s;
    }
    directive decide(any_ref, const failure_cause&) { return plan_->what; }
    void pre_restart(const failure_cause&) {
        life_.restart();
        if (!plan_->keeps)
            context().stop_children();
        if (plan_->spawns)
            add();
    }
    void post_stop() { life_.end(); }
    void add() {
        chronicle& c = life_.in();
        if (const auto added = context().try_spawn<child>("", {}, &c, c.actors)) {
            ++c.actors;
            family_->push_back(*added);
        }
    }
    [[nodiscard]] auto ctx() { return context(); }

private:
    noting life_;
    const plan* plan_;
    std::vector<child_ref>* family_;
};

class fan : public actor<ping> {
public:
    fan(chronicle* c, std::uint32_t number, any_ref whom) : life_(c, number), whom_(whom) {}
    void pre_start() { context().watch(whom_); }
    void on(const ping&) {}
    void on(const terminated&) { life_.note("told"); }
    void post_stop() { life_.end(); }

private:
    noting life_;
    any_ref whom_;
};

enum class verb : std::uint8_t {
    strike,
    strike_all,
    ping,
    ping_all,
    stop_child,
    stop_children,
    watch_all,
    spawn,
    fail,
    stop,
    verb_count
};
struct step {
    verb what;
    std::uint32_t whom;
    std::uint32_t runs;  // after it, where the order is free
};

struct drawn {
    plan how;
    std::vector<step> steps;
    std::uint32_t fans = 0;
};

drawn draw(std::uint64_t seed) {
    std::mt19937_64 next(seed);
    const auto one_of = [&](std::uint64_t n) { return static_cast<std::uint32_t>(next() % n); };
    drawn d;
    d.how = {.scope = static_cast<supervision_scope>(one_of(3)),
             .what = static_cast<directive>(one_of(4)),
             .limited = one_of(3) == 0,
             .keeps = one_of(2) == 0,
             .spawns = one_of(3) == 0,
             .size = one_of(9)};
    d.fans = one_of(9);
    for (std::uint32_t i = 4 + one_of(9); i > 0; --i) {
        auto what = static_cast<verb>(one_of(static_cast<std::uint64_t>(verb::verb_count)));
        if (what == verb::stop && one_of(3) != 0)
            what = verb::strike;
        d.steps.push_back({what, one_of(64), one_of(12)});
    }
    return d;
}

chronicle live_through(const drawn& d, std::uint32_t piece_size, bool settles) {
    chronicle c;
    {
        rig r(piece_size);
        std::vector<child_ref> family;
        const auto top = r.spawn<parent>(&c, c.actors++, &d.how, &family);
        for (std::uint32_t i = 0; i < d.fans; ++i)
            (void)r.spawn<fan>(&c, c.actors++, top.any());
        r.run();
        for (const step& s : d.steps) {
            const auto whom = [&] { return family[s.whom % family.size()]; };
            if (family.empty() && s.what != verb::spawn && s.what < verb::fail)
                continue;
            switch (s.what) {
            case verb::strike:
                whom().tell(strike{});
                break;
            case verb::strike_all:
                if (settles)
                    break;  // which of them fail depends on the order
                for (const child_ref& m : family)
                    m.tell(strike{});
                break;
            case verb::ping:
                whom().tell(ping{});
                break;
            case verb::ping_all:
                for (const child_ref& m : family)
                    m.tell(ping{});
                top.tell(ping{});
                break;
            case verb::stop_child:
                top.tell(act{[m = whom()](parent& p) { (void)p.ctx().stop(m); }});
                break;
            case verb::stop_children:
                top.tell(act{[](parent& p) { p.ctx().stop_children(); }});
                break;
            case verb::watch_all:
                top.tell(act{[&family](parent& p) {
                    for (const child_ref& m : family)
                        p.ctx().watch(m);
                }});
                break;
            case verb::spawn:
                top.tell(act{[](parent& p) { p.add(); }});
                break;
            case verb::fail:
                top.tell(act{[](parent& p) { p.ctx().fail({"struck"}); }});
                break;
            default:
                r.stop(top.any());
                break;
            }
            r.run(settles ? ~0U : s.runs);
        }
        r.run();
        // Whoever lives handles messages.
        const auto before = c.of;
        std::vector<std::uint32_t> living;
        for (const child_ref& m : family)
            m.tell(ping{});
        r.run();
        for (std::size_t i = 0; i < family.size(); ++i) {
            if (r.find(family[i].any()) != nullptr)
                living.push_back(static_cast<std::uint32_t>(i));
        }
        std::size_t answered = 0;
        for (const auto& [number, said] : c.of)
            if (number != 0 && said.back() == "ping" && said.size() == before.at(number).size() + 1)
                ++answered;
        EXPECT_EQ(answered, living.size());
        r.stop(top.any());
        r.run();
        // C: each of the fans was told once.
        for (std::uint32_t i = 1; i <= d.fans; ++i)
            EXPECT_EQ(c.of[i], std::vector<std::string>{"told"});
    }
    EXPECT_EQ(c.instances, 0);
    EXPECT_EQ(c.wrong, 0U);
    return c;
}

std::uint64_t seeds() {
    return tactus_test::sized(10'000, 10);
}

}  // namespace

TEST(family_pieces, DF_45_pieces_come_to_the_same_as_one) {
    for (std::uint64_t seed = 1; seed <= seeds() && !::testing::Test::HasFailure(); ++seed) {
        const drawn d = draw(seed);
        const chronicle whole = live_through(d, in_one_piece, true);
        for (std::uint32_t size = 1; size <= 4; ++size)
            EXPECT_EQ(live_through(d, size, true).of, whole.of)
                << "seed " << seed << ", pieces of " << size;
    }
}

TEST(family_pieces, DF_45_rules_hold_in_any_order) {
    for (std::uint64_t seed = 1; seed <= seeds() && !::testing::Test::HasFailure(); ++seed) {
        const drawn d = draw(seed);
        for (const std::uint32_t size : {1U, 2U, 3U, 4U, in_one_piece}) {
            (void)live_through(d, size, false);
            if (::testing::Test::HasFailure())
                ADD_FAILURE() << "seed " << seed << ", pieces of " << size;
        }
    }
}
