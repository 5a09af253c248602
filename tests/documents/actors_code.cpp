// SPDX-License-Identifier: Apache-2.0
//
// The code of docs/actors.md, compiled and run.
#include <tactus/actor/ask.hpp>
#include <tactus/runtime/actor_system.hpp>

#include <cstdio>
#include <new>

using namespace tactus;  // NOLINT: as the page does
using namespace std::chrono_literals;

namespace {

struct deposit {
    int amount;
};
struct withdraw {
    int amount;
    actor_ref<bool> reply_to;
};

class account : public actor<deposit, withdraw> {
public:
    explicit account(int balance) : balance_(balance) {}
    void on(const deposit& m) { balance_ += m.amount; }
    void on(const withdraw& m) {
        const bool enough = m.amount <= balance_;
        if (enough)
            balance_ -= m.amount;
        m.reply_to.tell(enough);
    }

private:
    int balance_;
};

class shop : public actor<int> {
public:
    void pre_start() { till_ = *context().try_spawn<account>("till", {}, 0); }
    void on(int amount) { till_.tell(deposit{amount}); }
    supervisor_strategy supervision() {
        return {.scope = supervision_scope::one_for_one,
                .max_restarts = 3U,
                .within = duration::from_s(10),
                .decider = [](const failure_cause& why) {
                    return why.is<std::bad_alloc>() ? directive::escalate : default_decider(why);
                }};
    }

private:
    actor_ref<deposit, withdraw> till_;
};

struct connected {};
struct query {
    int number;
};

class client : public actor<connected, query>, public with_stash<100> {
public:
    void pre_start() {
        (void)context().start_single_timer("connect", connected{}, duration::from_ms(5));
        context().set_receive_timeout(duration::from_s(30));
    }
    void on(connected) {
        connected_ = true;
        context().unstash_all();
    }
    std::expected<void, failure> on(const query& q) {
        if (!connected_)
            return context().stash();
        sum_ += q.number;
        return {};
    }
    void on(const receive_timeout&) { context().stop(); }

private:
    bool connected_ = false;
    int sum_ = 0;
};

class teller : public actor<int> {
public:
    explicit teller(actor_ref<deposit, withdraw> from) : from_(from) {}
    task<> on(int amount) {
        const bool passed = co_await context().delay(duration::from_ms(1));
        const auto paid = co_await ask<bool>(
            from_, [=](actor_ref<bool> me) { return withdraw{amount, me}; }, duration::from_s(1));
        if (passed && paid.value_or(false))
            ++paid_;
    }

private:
    actor_ref<deposit, withdraw> from_;
    int paid_ = 0;
};

behavior<int> counting() {
    return behavior<int>([n = 0](auto& ctx, const int& v) mutable -> behavior<int> {
        n += v;
        if (n > 100)
            return stopped;
        ctx.self().tell(v + 1);
        return same;
    });
}

}  // namespace

int main() {
    actor_system system{"page"};
    auto savings = system.spawn<account>("savings", 100);
    savings.tell(deposit{5});
    const auto enough = system.ask<bool>(savings, [](auto me) { return withdraw{105, me}; }, 5s);
    const auto more = system.ask<bool>(savings, [](auto me) { return withdraw{1, me}; }, 5s);
    system.spawn<shop>("shop").tell(3);
    system.spawn<client>("client").tell(query{1});
    system.spawn(counting(), "counter").tell(1);
    system.spawn<teller>("teller", savings).tell(1);
    const bool good = enough.value() && !more.value() && system.terminate_and_wait(5s);
    std::puts(good ? "the page's code works" : "the page's code does not work");
    return good ? 0 : 1;
}
