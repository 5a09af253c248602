// SPDX-License-Identifier: Apache-2.0
//
// Goal: wherever the runtime calls the user's code, an exception ends a call, a message, a question
// or an actor, and never the process; nothing is left behind (DF-44). docs/user_code.md has a row
// for each place here, and for the places that other tests reach.
//
// Method: the first copy or move in a place throws, then the second, and so on until none is left.
// Each time what was made is destroyed, all memory is given back, and the system ends.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include <tactus/actor/actor.hpp>
#include <tactus/actor/ask.hpp>
#include <tactus/actor/behavior.hpp>
#include <tactus/actor/circuit_breaker.hpp>
#include <tactus/actor/retry.hpp>
#include <tactus/actor/task.hpp>
#include <tactus/runtime/actor_system.hpp>

#include "world_rig.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using namespace std::chrono_literals;
using tactus_test::journal;
using tactus_test::ms;
using tactus_test::world_rig;

namespace {

/// Which copy or move throws, and how many objects there are.
struct fuse {
    static inline std::atomic<int> left{0};  // until one throws; 0: none does
    static inline std::atomic<int> alive{0};
    static inline std::atomic<bool> thrown{false};

    static void arm(int n) {
        thrown = false;
        left = n;
    }
    /// True when one threw since arm().
    static bool disarm() {
        left = 0;
        return thrown;
    }
    static void pass() {
        if (left.load() > 0 && left.fetch_sub(1) == 1) {
            thrown = true;
            throw std::runtime_error("burnt");
        }
    }
};

/// Throws when it is copied or moved, as the fuse says.
class charge {
public:
    charge() { ++fuse::alive; }
    charge(const charge&) {
        fuse::pass();
        ++fuse::alive;
    }
    charge(charge&&) {  // NOLINT(*noexcept-move*): that is what is tested
        fuse::pass();
        ++fuse::alive;
    }
    charge& operator=(const charge&) = default;
    charge& operator=(charge&&) = default;
    ~charge() { --fuse::alive; }
};
/// Throws when it is copied.
class heavy {
public:
    heavy() { ++fuse::alive; }
    heavy(const heavy&) {
        fuse::pass();
        ++fuse::alive;
    }
    heavy(heavy&&) noexcept { ++fuse::alive; }
    heavy& operator=(const heavy&) = default;
    heavy& operator=(heavy&&) = default;
    ~heavy() { --fuse::alive; }
};

struct go {
    int n;
};
struct ping {};
struct strange {};  // adapted

/// What an actor was told; of the whole world.
struct account {
    static inline int pings = 0;
    static inline int charges = 0;
};

/// What the world said of one run.
struct verdict {
    bool thrown;
    std::uint32_t failures;  // decisions of supervisors
    int charges;             // that were handled
};

class sink : public actor<charge, heavy> {
public:
    void on(const charge&) { ++account::charges; }
    void on(const heavy&) { ++account::charges; }
};
/// Has arguments, which are copied for a restart.
class holder : public actor<go> {
public:
    explicit holder(const charge& c) : kept_(c) {}
    void on(const go& m) {
        fuse::arm(m.n);
        throw std::runtime_error("told to");
    }

private:
    charge kept_;
};
struct question {
    actor_ref<int> reply_to;
};
class answering : public actor<question> {
public:
    void on(const question& q) { q.reply_to.tell(1); }
};

/// Calls what is tested from its handler.
class doing : public actor<go, ping, charge> {
public:
    using call = void (*)(doing& me, int n);
    doing(call what, any_ref other) : what_(what), other_(other) {}
    void on(const go& m) { what_(*this, m.n); }
    void on(const ping&) { ++account::pings; }
    void on(const charge&) { ++account::charges; }

    [[nodiscard]] auto ctx() const { return context(); }
    [[nodiscard]] actor_ref<charge, heavy> sink_ref() const {
        return actor_ref<charge, heavy>(other_);
    }
    [[nodiscard]] any_ref other() const { return other_; }

private:
    call what_;
    any_ref other_;
};

/// A world, an actor that makes the call with the nth copy or move throwing, and some time. The
/// actor, or the one that was made of it by a restart, goes on to handle messages.
template <class Other = sink>
verdict told(doing::call what, int n, std::size_t stays) {
    account::charges = 0;
    account::pings = 0;
    world_rig rig;
    rig.stays = stays;
    const auto other = rig.spawn<Other>("other");
    const auto a = rig.spawn<doing>("a", what, any_ref(other));
    a.tell(go{n});
    rig.run();
    rig.pass(5);
    const verdict v{fuse::disarm(), rig.said.decision_count, account::charges};
    a.tell(ping{});
    rig.run();
    EXPECT_EQ(account::pings, 1);
    EXPECT_EQ(rig.said.guardian_failures, 0u);
    rig.end();
    return v;
}

/// The first copy or move throws, then the second, ...: each is as expected, and nothing is left.
template <class Run, class Check>
void each(Run&& run, Check&& check) {
    int n = 0;
    for (bool goes_on = true; goes_on && n < 40;) {
        SCOPED_TRACE(++n);
        const verdict v = run(n);
        check(v);
        EXPECT_EQ(fuse::alive.load(), 0);
        goes_on = v.thrown;
    }
    EXPECT_GT(n, 1) << "nothing threw";
    EXPECT_LT(n, 40) << "each run throws";
}
template <class Other = sink>
void each_in_handler(doing::call what, void (*check)(const verdict&), std::size_t stays = 0) {
    each([=](int n) { return told<Other>(what, n, stays); }, check);
}

/// Nobody fails; the message is lost.
void is_lost(const verdict& v) {
    EXPECT_EQ(v.failures, 0u);
    EXPECT_EQ(v.charges, v.thrown ? 0 : 1);
}
/// The actor that called fails.
void fails(const verdict& v) {
    EXPECT_EQ(v.failures, v.thrown ? 1u : 0u);
}
/// A run of a job or a message of it is lost; at most the actor fails.
void is_bounded(const verdict& v) {
    EXPECT_LE(v.failures, 1u);
}

// ---- messages

void tell() {
    each_in_handler(
        [](doing& me, int n) {
            const charge c;
            fuse::arm(n);
            me.sink_ref().tell(c);
        },
        &is_lost);
    each_in_handler(
        [](doing& me, int n) {
            charge c;
            fuse::arm(n);
            me.sink_ref().tell(std::move(c));
        },
        &is_lost);
}
void try_tell() {
    each_in_handler(
        [](doing& me, int n) {
            const charge c;
            fuse::arm(n);
            try {
                const auto result = me.sink_ref().try_tell(c);
                EXPECT_EQ(result.has_value(), !fuse::thrown);
            } catch (const std::runtime_error&) {
                EXPECT_TRUE(fuse::thrown);  // giving the message back
            }
        },
        &is_lost);
}
void selection() {
    each_in_handler(
        [](doing& me, int n) {
            const charge c;
            fuse::arm(n);
            me.ctx().world().select("/user/other").tell(c);
        },
        &is_lost);
}
void event() {
    each_in_handler(
        [](doing& me, int n) {
            actor_world& world = me.ctx().world();
            (void)world.subscribe<charge>(me.sink_ref());
            const charge c;
            fuse::arm(n);
            world.events().publish(c);
        },
        &is_lost, 1);  // the table of subscriptions
}

/// Offers a copy.
class offering : public actor<go> {
public:
    explicit offering(any_ref to) : to_(to) {}
    task<> on(go m) {
        const heavy c;
        fuse::arm(m.n);
        (void)co_await context().offer(to_, c);
    }

private:
    any_ref to_;
};
/// Takes its message by value.
class by_value : public actor<charge> {
public:
    void on(charge) { ++account::charges; }  // NOLINT(performance-unnecessary-value-param)
};
/// Throws where it is told to.
class throwing : public actor<go> {
public:
    task<> on(go m) {
        const charge local;
        if (m.n == 1)
            throw std::runtime_error("before");
        (void)co_await context().delay(ms(1));
        throw std::runtime_error("after");
    }
};
class blunt : public actor<go> {
public:
    void on(const go& m) {
        const charge local;
        if (m.n == 1)
            throw std::runtime_error("a text");
        throw 5;  // NOLINT: anything can be thrown
    }
};

/// One message to one actor.
template <class A, class M, class... Args>
verdict sent_to(M&& message, const Args&... args) {
    account::charges = 0;
    world_rig rig;
    const auto other = rig.spawn<sink>("other");
    const auto a = [&] {
        if constexpr (std::is_constructible_v<A, any_ref>)
            return rig.spawn<A>("a", any_ref(other), args...);
        else
            return rig.spawn<A>("a", args...);
    }();
    rig.run();
    a.tell(std::forward<M>(message));
    rig.run();
    rig.pass(5);
    const verdict v{fuse::disarm(), rig.said.decision_count, account::charges};
    rig.end();
    return v;
}

void offer() {
    each([](int n) { return sent_to<offering>(go{n}); }, &fails);
}
void handler_argument() {
    each(
        [](int n) {
            charge c;
            fuse::arm(n + 1);  // the first move is that into the envelope
            return sent_to<by_value>(std::move(c));
        },
        &fails);
}
void handler() {
    for (const int n : {1, 2}) {
        EXPECT_EQ(sent_to<blunt>(go{n}).failures, 1u);
        EXPECT_EQ(fuse::alive.load(), 0);
    }
}
void coroutine_handler() {
    for (const int n : {1, 2}) {
        EXPECT_EQ(sent_to<throwing>(go{n}).failures, 1u);
        EXPECT_EQ(fuse::alive.load(), 0);
    }
}

// ---- what a context is given

void spawn_arguments() {
    each_in_handler(
        [](doing& me, int n) {
            const charge c;
            fuse::arm(n);
            (void)me.ctx().spawn<holder>("child", c);
        },
        // The call, or the constructor in the child's first turn.
        &fails);
}
void restart_arguments() {
    each_in_handler([](doing& me, int n) { me.ctx().spawn<holder>("child", charge()).tell(go{n}); },
                    [](const verdict& v) { EXPECT_EQ(v.failures, v.thrown ? 2u : 1u); });
}
void message_adapter() {
    each_in_handler(
        [](doing& me, int n) {
            const charge c;
            fuse::arm(n);
            const auto to =
                me.ctx().message_adapter<strange>([c](const strange&) { return charge(); });
            (void)to;
        },
        &fails);
}
void adapter_result() {
    each_in_handler(
        [](doing& me, int n) {
            const charge c;
            const auto to =
                me.ctx().message_adapter<strange>([c](const strange&) { return charge(c); });
            fuse::arm(n);
            to.tell(strange{});
        },
        &fails);
}
void become() {
    each_in_handler(
        [](doing& me, int n) {
            const charge c;
            fuse::arm(n);
            me.ctx().become(behavior<go, ping, charge>([c](auto&, const auto& m) {
                if constexpr (std::is_same_v<decltype(m), const ping&>)
                    ++account::pings;
            }));
        },
        &fails);
}
task<int> one_later(duration after) {
    (void)co_await actor_context(*turn::current()).delay(after);
    co_return 1;
}
void pipe_to_self() {
    each_in_handler(
        [](doing& me, int n) {
            const charge c;
            fuse::arm(n);
            me.ctx().pipe_to_self(one_later(ms(1)), [c](int) { return charge(c); });
        },
        // A move of the result loses the message.
        &is_bounded);
}
void ask_with_function() {
    each_in_handler<answering>(
        [](doing& me, int n) {
            const charge c;
            fuse::arm(n);
            me.ctx().ask<int>(
                me.other(), [c](actor_ref<int> to) { return question{to}; }, ms(2),
                [c](const std::expected<int, ask_failure>&) { return charge(c); });
        },
        // A move of the question's function is the question's failure.
        &is_bounded);
}
void watch_with() {
    each_in_handler(
        [](doing& me, int n) {
            const charge c;
            fuse::arm(n);
            me.ctx().watch_with(me.other(), c);
            me.ctx().world().stop(me.other().index());
        },
        &fails);
}

// ---- time

void keyed_timer() {
    each_in_handler(
        [](doing& me, int n) {
            const charge c;
            fuse::arm(n);
            (void)me.ctx().start_single_timer(1, c, ms(1));
        },
        &is_bounded);
}
void periodic_keyed_timer() {
    each_in_handler(
        [](doing& me, int n) {
            const charge c;
            fuse::arm(n);
            (void)me.ctx().start_timer_at_fixed_rate(1, c, ms(1));
        },
        &is_bounded);
}
void scheduled_message() {
    each_in_handler(
        [](doing& me, int n) {
            const charge c;
            fuse::arm(n);
            (void)me.ctx().timers().schedule_at_fixed_rate(ms(1), ms(1), me.sink_ref(), c);
        },
        [](const verdict& v) { EXPECT_EQ(v.failures, 0u); });
}
void message_of_the_context() {
    each_in_handler(
        [](doing& me, int n) {
            const charge c;
            fuse::arm(n);
            (void)me.ctx().schedule_once(ms(1), me.sink_ref(), c);
        },
        &is_bounded);
}
void scheduled_function() {
    each_in_handler(
        [](doing& me, int n) {
            const charge c;
            const auto copies = [c](const execution_batch&) { const charge copy(c); };
            fuse::arm(n);
            (void)me.ctx().timers().schedule_once_fn(ms(1), copies);
        },
        [](const verdict& v) { EXPECT_EQ(v.failures, 0u); });
}
void function_of_the_instance() {
    each_in_handler(
        [](doing& me, int n) {
            const charge c;
            fuse::arm(n);
            (void)me.ctx().schedule_with_fixed_delay_fn(
                ms(1), ms(1), [c](const execution_batch&) { const charge copy(c); });
        },
        &is_bounded);
}

// ---- patterns

void breaker() {
    tactus::manual_clock time{duration::from_ns(1)};
    circuit_breaker b({.time = &time, .max_failures = 1});
    const auto work = []() -> int { throw std::runtime_error("no answer"); };
    EXPECT_THROW((void)b.with(work), std::runtime_error);
    EXPECT_EQ(b.state(), breaker_state::open);
}

// ---- a host's system

/// It answers, and ends.
void expect_sound(actor_system& system) {
    const auto a = system.spawn_anonymous<answering>();
    const auto said = system.ask<int>(a, [](auto me) { return question{me}; }, 5s);
    EXPECT_TRUE(said.has_value());
    EXPECT_TRUE(system.terminate_and_wait(5s));
}
void spawn_from_outside() {
    each(
        [](int n) {
            actor_system system("throws", {.log_level = log_level::off});
            const charge c;
            fuse::arm(n);
            try {
                (void)system.spawn<holder>("child", c);
            } catch (const std::runtime_error&) {
                EXPECT_TRUE(fuse::thrown);
            }
            expect_sound(system);
            return verdict{fuse::disarm(), 0, 0};
        },
        [](const verdict&) {});
}
void on_terminated() {
    std::atomic<int> called{0};
    {
        actor_system system("throws", {.log_level = log_level::off});
        EXPECT_TRUE(system.on_terminated([&] { ++called; }));
        EXPECT_TRUE(system.on_terminated([] { throw std::runtime_error("too late"); }));
        expect_sound(system);
    }
    EXPECT_EQ(called, 1);
}
void names() {
    EXPECT_THROW(
        actor_system("throws", {.names = [](resolver&) -> std::expected<void, std::string> {
                         throw std::runtime_error("no file");
                     }}),
        std::runtime_error);
    actor_system system("throws", {.log_level = log_level::off});
    expect_sound(system);
}

// ---- what cannot throw

struct thrower_at_its_end {
    thrower_at_its_end() = default;
    ~thrower_at_its_end() noexcept(false) {}
};
/// The compiler refuses the destructor of a message that may throw; the functions of an interface
/// are noexcept, and so are those that override them.
void refused_by_the_compiler() {
    static_assert(!message<thrower_at_its_end>);
    static_assert(noexcept(std::declval<log_sink&>().write(std::declval<const log_record&>())));
    static_assert(noexcept(std::declval<metrics_sink&>().gauge(info_of(metric::enqueued), {}, 0)));
    static_assert(noexcept(std::declval<actor_labels&>().label_of({}, {})));
    static_assert(noexcept(std::declval<world_events&>().world_ended()));
    static_assert(noexcept(std::declval<breaker_events&>().opened()));
    static_assert(noexcept(std::declval<executor&>().submit(std::declval<worker_task&>(), {})));
    static_assert(noexcept(std::declval<memory_source&>().allocate(1, 1)));
    static_assert(noexcept(std::declval<const tactus::clock&>().now()));
}

struct place {
    const char* name;
    void (*run)();
};

// The rows of docs/user_code.md.
constexpr place places[] = {
    {"tell", &tell},
    {"try_tell", &try_tell},
    {"selection", &selection},
    {"event", &event},
    {"offer", &offer},
    {"handler_argument", &handler_argument},
    {"handler", &handler},
    {"coroutine_handler", &coroutine_handler},
    {"spawn_arguments", &spawn_arguments},
    {"restart_arguments", &restart_arguments},
    {"message_adapter", &message_adapter},
    {"adapter_result", &adapter_result},
    {"become", &become},
    {"pipe_to_self", &pipe_to_self},
    {"ask_with_function", &ask_with_function},
    {"watch_with", &watch_with},
    {"keyed_timer", &keyed_timer},
    {"periodic_keyed_timer", &periodic_keyed_timer},
    {"scheduled_message", &scheduled_message},
    {"message_of_the_context", &message_of_the_context},
    {"scheduled_function", &scheduled_function},
    {"function_of_the_instance", &function_of_the_instance},
    {"breaker", &breaker},
    {"spawn_from_outside", &spawn_from_outside},
    {"on_terminated", &on_terminated},
    {"names", &names},
    {"refused_by_the_compiler", &refused_by_the_compiler},
};

class every_throw : public testing::TestWithParam<place> {};

}  // namespace

TEST_P(every_throw, DF_44_ends_no_process_and_leaves_nothing) {
    journal().clear();
    fuse::arm(0);
    fuse::alive = 0;
    GetParam().run();
    EXPECT_EQ(fuse::alive.load(), 0);
    journal().clear();
}

INSTANTIATE_TEST_SUITE_P(places, every_throw, testing::ValuesIn(places),
                         [](const auto& p) { return std::string(p.param.name); });
