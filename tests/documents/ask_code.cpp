// SPDX-License-Identifier: Apache-2.0
//
// The code of docs/ask.md and docs/stash_timers.md, compiled and run.
#include <tactus/actor/ask.hpp>
#include <tactus/dispatch/text_buffer.hpp>
#include <tactus/runtime/actor_system.hpp>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <expected>
#include <string>
#include <thread>

using namespace tactus;  // NOLINT: as the pages do
using namespace std::chrono_literals;

namespace {

// ---- ask.md

struct room_for {
    int people;
    actor_ref<bool> reply_to;
};
class restaurant : public actor<room_for> {
public:
    void on(const room_for& q) {
        if (q.people > 0)
            q.reply_to.tell(q.people <= 8);
    }
};

std::atomic<int> seated = 0;
std::atomic<int> sent_away = 0;
std::atomic<int> gave_up = 0;

bool ask_from_outside(actor_system& system, actor_ref<room_for> place) {
    const auto answer = system.ask<bool>(place, [](auto me) { return room_for{4, me}; }, 1s);
    if (!answer) {
        std::fprintf(stderr, "%s\n", answer.error().text().c_str());
        return false;
    }
    return *answer;
}

struct party {
    int people;
};

class guide : public actor<party> {
public:
    explicit guide(actor_ref<room_for> place) : place_(place) {}
    task<> on(party p) {
        const auto answer = co_await context().ask<bool>(
            place_, [p](auto me) { return room_for{p.people, me}; }, 100_ms);
        if (!answer)
            ++gave_up;  // answer.error() is an ask_failure
        else
            ++(*answer ? seated : sent_away);
    }

private:
    actor_ref<room_for> place_;
};

struct answered {
    party of;
    std::expected<bool, ask_failure> answer;
};

class agency : public actor<party, answered> {
public:
    explicit agency(actor_ref<room_for> place) : place_(place) {}
    void on(const party& p) {
        context().ask<bool>(
            place_, [p](auto me) { return room_for{p.people, me}; }, 100_ms,
            [p](std::expected<bool, ask_failure> answer) { return answered{p, answer}; });
    }
    void on(const answered& a) {
        if (!a.answer)
            ++gave_up;
        else
            ++(*a.answer ? seated : sent_away);
    }

private:
    actor_ref<room_for> place_;
};

struct never_mind {};

class picky : public actor<party, never_mind> {
public:
    static constexpr bool reentrant = true;
    explicit picky(actor_ref<room_for> place) : place_(place) {}
    task<> on(party p) {
        const auto answer = co_await context().ask<bool>(
            place_, [p](auto me) { return room_for{p.people, me}; }, duration::from_s(60),
            wanted_.token());
        if (!answer)
            ++gave_up;  // cancelled; otherwise *answer is what it is without a token
    }
    void on(never_mind) { wanted_.cancel({cancel_kind::user, "not hungry any more"}); }

private:
    actor_ref<room_for> place_;
    cancel_context wanted_;
};

struct table_for {
    std::string name;
    actor_ref<bool> reply_to;
};
class maitre : public actor<table_for> {
public:
    void on(const table_for& q) { q.reply_to.tell(q.name == "Ada"); }
};

class caller : public actor<std::string> {
public:
    explicit caller(actor_ref<table_for> whom) : whom_(whom) {}
    task<> on(std::string name) {
        const auto make = [name](auto me) { return table_for{name, me}; };
        const auto answer = co_await context().ask<bool>(whom_, make, 100_ms);
        seated += answer.value_or(false) ? 1 : 0;
    }

private:
    actor_ref<table_for> whom_;
};

std::atomic<int> explained = 0;

class curious : public actor<party> {
public:
    explicit curious(actor_ref<room_for> place) : place_(place) {}
    task<> on(party p) {
        const auto answer = co_await context().ask<bool>(
            place_, [p](auto me) { return room_for{p.people, me}; }, 1_ms);
        if (answer)
            co_return;
        text_buffer<200> why;
        answer.error().write(why);
        context().log().warning(why.view());
        explained += why.view().starts_with("ask timed out on [tactus://pages/user/restaurant]");
    }

private:
    actor_ref<room_for> place_;
};

// ---- stash_timers.md

std::atomic<int> sum = 0;

struct connected {};
struct query {
    int number;
};

class client : public actor<connected, query>, public with_stash<100> {
public:
    void pre_start() {
        (void)context().start_single_timer("connect", connected{}, 5_ms);
        context().set_receive_timeout(30_ms);
    }
    void on(connected) {
        connected_ = true;
        context().unstash_all();
    }
    std::expected<void, failure> on(const query& q) {
        if (!connected_)
            return context().stash();
        sum += q.number;
        return {};
    }
    void on(const receive_timeout&) { context().stop(); }

private:
    bool connected_ = false;
};

struct beat {};
struct faster {};
std::atomic<int> beats = 0;

class drummer : public actor<beat, faster> {
public:
    void pre_start() {
        const auto started = context().start_timer_at_fixed_rate("beat", beat{}, 10_ms);
        if (!started)
            context().fail(started.error());
    }
    void on(beat) { ++beats; }
    void on(faster) { (void)context().start_timer_with_fixed_delay("beat", beat{}, 1_ms); }
};

template <class Condition>
bool soon(Condition condition) {
    for (int i = 0; i < 5'000 && !condition(); ++i)
        std::this_thread::sleep_for(1ms);
    return condition();
}

bool asks(actor_system& system) {
    const auto place = system.spawn<restaurant>("restaurant");
    const auto by_coroutine = system.spawn<guide>("guide", place);
    const auto by_message = system.spawn<agency>("agency", place);
    for (const int people : {4, 5, 9, 0}) {
        by_coroutine.tell(party{people});
        by_message.tell(party{people});
    }
    const auto p = system.spawn<picky>("picky", place);
    p.tell(party{0});
    p.tell(never_mind{});
    system.spawn<caller>("caller", system.spawn<maitre>("maitre")).tell(std::string("Ada"));
    system.spawn<curious>("curious", place).tell(party{0});
    return ask_from_outside(system, place) &&
           soon([] { return seated == 5 && sent_away == 2 && gave_up == 3 && explained == 1; });
}

bool keeps_time(actor_system& system) {
    const auto c = system.spawn<client>("client");
    c.tell(query{1});
    c.tell(query{2});
    const auto d = system.spawn<drummer>("drummer");
    d.tell(faster{});
    return soon([] { return sum == 3 && beats > 5; }) &&
           soon([&] { return !system.select("/user/client"); });
}

}  // namespace

int main() {
    actor_system system{"pages"};
    const bool good = asks(system) && keeps_time(system) && system.terminate_and_wait(5s);
    std::puts(good ? "the pages' code works" : "the pages' code does not work");
    return good ? 0 : 1;
}
