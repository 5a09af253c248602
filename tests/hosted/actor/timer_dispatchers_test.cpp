// SPDX-License-Identifier: Apache-2.0
//
// Goal: where functions of timers run (SC-9): on the dispatcher that is given, else on that of the
// actor that calls, else on the first; and periodic timers across systems end with their receiver
// (SC-11).
// Method: hosted systems with a second dispatcher; a function says on which it is.
#include <tactus/runtime/actor_system.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <future>

#include "pool_rig.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used

namespace {

constexpr duration ms(std::int64_t n) {
    return duration::from_ms(n);
}

using schedules = std::function<bool(std::promise<std::uint32_t>&)>;

struct go {
    schedules* what;
    std::promise<std::uint32_t>* where;
};
class caller : public actor<go> {
public:
    void on(const go& g) {
        if (!(*g.what)(*g.where))
            g.where->set_value(~0U);
    }
};

/// What is scheduled: says on which dispatcher it runs.
struct says_where {
    std::promise<std::uint32_t>* to;
    void operator()(const execution_batch&) const {
        to->set_value(worker::current()->home().number());
    }
};

struct two_dispatchers {
    two_dispatchers() {
        actor_system::options o;
        o.names = [](resolver& r) -> std::expected<void, std::string> {
            if (!r.add_dispatcher("other", {.workers = 1}))
                return std::unexpected("other");
            return {};
        };
        system.emplace("two", o);
        const auto found = system->dispatchers().find("other");
        EXPECT_TRUE(found.has_value());
        other = static_cast<std::uint16_t>(found->number());
    }
    /// Where a function runs that is scheduled so, by an actor of that dispatcher or from outside.
    std::uint32_t from(std::optional<std::uint16_t> dispatcher, schedules what) {
        std::promise<std::uint32_t> where;
        if (dispatcher) {
            const auto who = system->try_spawn<caller>({}, {.dispatcher = *dispatcher});
            EXPECT_TRUE(who.has_value());
            who->tell(go{&what, &where});
            return where.get_future().get();
        }
        EXPECT_TRUE(what(where));
        return where.get_future().get();
    }
    std::optional<actor_system> system;
    std::uint16_t other = 0;
};

// SC-9, SC-4: all faces, all modes.
TEST(timer_dispatchers, SC_9_functions_run_where_the_caller_does) {
    two_dispatchers rig;
    ASSERT_NE(rig.other, 0u);
    actor_system& system = *rig.system;
    using promise = std::promise<std::uint32_t>;
    const schedules faces[] = {
        [&](promise& p) {
            return system.timers().schedule_once_fn(ms(1), says_where{&p}).has_value();
        },
        [&](promise& p) {
            return system.scheduler().schedule_once_fn(ms(1), says_where{&p}).has_value();
        },
        [&](promise& p) {
            return system.scheduler().add_function({.first = ms(1)}, says_where{&p}).has_value();
        },
        [&](promise& p) {  // it ends itself with its first run
            return system.scheduler()
                .schedule_at_fixed_rate_fn(ms(1), ms(1),
                                           [&p](const execution_batch& b) {
                                               says_where{&p}(b);
                                               return handled::failed("enough");
                                           })
                .has_value();
        },
        [&](promise& p) {
            return system.timers()
                .schedule_with_fixed_delay_fn(ms(1), ms(1),
                                              [&p](const execution_batch& b) {
                                                  says_where{&p}(b);
                                                  return handled::failed("enough");
                                              })
                .has_value();
        },
    };
    for (const schedules& face : faces) {
        EXPECT_EQ(rig.from(rig.other, face), rig.other);
        EXPECT_EQ(rig.from(0, face), 0u);
        EXPECT_EQ(rig.from({}, face), 0u);
    }
}

// SC-9: a dispatcher that is given wins.
TEST(timer_dispatchers, SC_9_a_dispatcher_that_is_given_wins) {
    two_dispatchers rig;
    actor_system& system = *rig.system;
    using promise = std::promise<std::uint32_t>;
    for (const std::uint16_t given : {std::uint16_t{0}, rig.other}) {
        const schedules faces[] = {
            [&](promise& p) {
                return system.timers()
                    .on(given)
                    .schedule_once_fn(ms(1), says_where{&p})
                    .has_value();
            },
            [&](promise& p) {
                return system.scheduler()
                    .schedule_once_fn(ms(1), says_where{&p}, given)
                    .has_value();
            },
            [&](promise& p) {
                return system.scheduler()
                    .schedule_once_fn(ms(1), says_where{&p}, given, timer_priority::high)
                    .has_value();
            },
        };
        for (const schedules& face : faces) {
            EXPECT_EQ(rig.from(rig.other, face), given);
            EXPECT_EQ(rig.from(0, face), given);
            EXPECT_EQ(rig.from({}, face), given);
        }
    }
}

class quiet : public actor<int> {
public:
    void on(int) {}
};

// SC-9, SC-2: refused at once, not at every run.
TEST(timer_dispatchers, SC_9_a_dispatcher_that_is_not_there_is_refused) {
    two_dispatchers rig;
    scheduler& timers = rig.system->scheduler();
    const auto does_nothing = [](const execution_batch&) {};
    const auto beyond = static_cast<std::uint16_t>(rig.other + 1);
    for (const std::uint16_t given : {beyond, std::uint16_t{0xFFFE}}) {
        const std::expected<cancellable, scheduler_error> all[] = {
            timers.schedule_once_fn(ms(1), does_nothing, given),
            timers.schedule_at_fixed_rate_fn(ms(1), ms(1), does_nothing, given),
        };
        for (const auto& made : all) {
            ASSERT_FALSE(made.has_value());
            EXPECT_EQ(made.error().code, scheduler_errc::invalid_options);
            EXPECT_STREQ(made.error().field, "dispatcher");
            EXPECT_EQ(made.error().value, given);
            EXPECT_EQ(made.error().limit, rig.other);
        }
    }
    EXPECT_EQ(timers.active_count(), 0u);
    EXPECT_TRUE(timers.schedule_once_fn(ms(1), does_nothing, rig.other).has_value());
}

// SC-9, SD-1: of messages too, where policies look.
TEST(timer_dispatchers, SC_9_the_log_shows_the_dispatcher_of_who_calls) {
    two_dispatchers rig;
    scheduler& timers = rig.system->scheduler();
    const auto to = rig.system->spawn_anonymous<quiet>();
    auto told = timers.subscribe(diagnostic_kind::schedule);
    ASSERT_TRUE(told.has_value());
    const schedules once = [&](std::promise<std::uint32_t>& p) {
        const bool is_made = timers.schedule_once(ms(3'600'000), to.index(), 1).has_value();
        p.set_value(0);
        return is_made;
    };
    for (const auto from : {std::optional(rig.other), std::optional<std::uint16_t>(0),
                            std::optional<std::uint16_t>()}) {
        (void)rig.from(from, once);
        const auto seen = told->poll();
        ASSERT_TRUE(seen.has_value());
        EXPECT_EQ(seen->executor, from.value_or(0));
    }
}

/// Starts a timer of one kind in `pre_start`.
class timed : public actor<int> {
public:
    enum class kind : std::uint8_t { single, rate, delay, receive_timeout };
    explicit timed(kind k) : kind_(k) {}
    void pre_start() {
        constexpr duration later = ms(3'600'000);
        if (kind_ == kind::single)
            EXPECT_TRUE(context().start_single_timer("t", 1, later));
        else if (kind_ == kind::rate)
            EXPECT_TRUE(context().start_timer_at_fixed_rate("t", 1, later));
        else if (kind_ == kind::delay)
            EXPECT_TRUE(context().start_timer_with_fixed_delay("t", 1, later));
        else
            context().set_receive_timeout(later);
    }
    void on(int) {}

private:
    kind kind_;
};

// SD-1: and of timers that an actor owns: the dispatcher of their actor.
TEST(timer_dispatchers, SD_1_the_log_shows_the_dispatcher_of_an_actors_own_timers) {
    two_dispatchers rig;
    auto told = rig.system->scheduler().subscribe(diagnostic_kind::schedule);
    ASSERT_TRUE(told.has_value());
    using kind = timed::kind;
    for (const kind k : {kind::single, kind::rate, kind::delay, kind::receive_timeout}) {
        for (const std::uint16_t on : {rig.other, std::uint16_t{0}}) {
            SCOPED_TRACE(static_cast<int>(k) * 10 + on);
            ASSERT_TRUE(rig.system->try_spawn<timed>({}, {.dispatcher = on}, k).has_value());
            std::optional<diagnostic> seen;
            ASSERT_TRUE(tactus_test::until([&] { return (seen = told->poll()).has_value(); }));
            EXPECT_EQ(seen->executor, on);
        }
    }
}

// SC-11: a periodic job ends with its receiver, that of another system too.
TEST(timer_dispatchers, SC_11_a_receiver_of_another_system_has_ended) {
    actor_system here("here");
    actor_system there("there");
    for (const bool is_rate : {true, false}) {
        const auto who = there.spawn_anonymous<quiet>();
        auto& timers = here.scheduler();
        auto made = is_rate ? timers.schedule_at_fixed_rate(ms(1), ms(1), who.any().index(), 1)
                            : timers.schedule_with_fixed_delay(ms(1), ms(1), who.any().index(), 1);
        ASSERT_TRUE(made.has_value());
        who.any().tell(poison_pill{});
        ASSERT_TRUE(tactus_test::until([&] { return made->is_completed(); }));
        EXPECT_EQ(made->end(), job_end::receiver_terminated);
        EXPECT_FALSE(made->is_cancelled());
    }
}

}  // namespace
