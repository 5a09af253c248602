// SPDX-License-Identifier: Apache-2.0
//
// The code of docs/actors.md, compiled and run.
#include <tactus/actor/ask.hpp>
#include <tactus/runtime/actor_system.hpp>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <string>
#include <string_view>
#include <thread>

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

class branch : public actor<deposit> {
public:
    void pre_start() { till_ = *context().try_spawn<account>("till", {}, 0); }
    void on(const deposit& m) { till_.tell(m); }

private:
    actor_ref<deposit, withdraw> till_;
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

struct coin {};
struct push {
    actor_ref<bool> reply_to;
};

class turnstile : public actor<coin, push> {
public:
    void on(coin) {
        context().become(behavior<coin, push>([](auto&, const coin&) { return unhandled; },
                                              [](auto& ctx, const push& p) {
                                                  p.reply_to.tell(true);
                                                  ctx.unbecome();
                                              }));
    }
    void on(const push& p) { p.reply_to.tell(false); }
};

// What a library of somebody else's answers with.
struct exchange_rate {
    int percent;
};
struct rate_wanted {
    actor_ref<exchange_rate> reply_to;
};
class bank : public actor<rate_wanted> {
public:
    void on(const rate_wanted& m) { m.reply_to.tell(exchange_rate{110}); }
};

struct begin {};
struct new_rate {
    int percent;
};

class exchange_office : public actor<begin, new_rate> {
public:
    explicit exchange_office(actor_ref<rate_wanted> from) : from_(from) {}
    void on(begin) {
        const actor_ref<exchange_rate> me = context().message_adapter<exchange_rate>(
            [](const exchange_rate& r) { return new_rate{r.percent}; });
        from_.tell(rate_wanted{me});
    }
    void on(const new_rate& m) { percent_ = m.percent; }
    static inline std::atomic<int> percent_ = 0;

private:
    actor_ref<rate_wanted> from_;
};

struct counted {
    int coins;
};

class cashier : public actor<begin, counted> {
public:
    void on(begin) {
        context().pipe_to_self(count(context()), [](int coins) { return counted{coins}; });
    }
    void on(const counted& m) { coins_ = m.coins; }
    static inline std::atomic<int> coins_ = 0;

private:
    static task<int> count(actor_context ctx) {
        const auto passed = co_await ctx.delay(1_ms);
        co_return passed ? 12 : 0;
    }
};

class teller : public actor<int> {
public:
    explicit teller(actor_ref<deposit, withdraw> from) : from_(from) {}
    task<> on(int amount) {
        const auto passed = co_await context().delay(1_ms);
        const auto paid = co_await context().ask<bool>(
            from_, [=](auto me) { return withdraw{amount, me}; }, duration::from_s(1));
        if (passed && paid.value_or(false))
            ++paid_;
    }

private:
    actor_ref<deposit, withdraw> from_;
    int paid_ = 0;
};

class printed final : public text_sink {
public:
    void write(std::string_view piece) noexcept override { text += piece; }
    std::string text;
};

class sleeper : public actor<int> {
public:
    task<> on(int seconds) {
        const auto passed = co_await context().delay(duration::from_s(seconds));
        if (passed)
            context().stop();
    }
};

/// What the page says a dump has.
bool dumps(actor_system& system) {
    const auto who = system.spawn<sleeper>("sleeper");
    who.tell(60);
    for (int i = 0; i < 5'000; ++i) {
        printed to;
        system.world().dump(to, {.format = dump_format::text});
        if (to.text.find("waits for a coroutine that waits for a time") != std::string::npos)
            return to.text.find("tactus://page/user/sleeper") != std::string::npos;
        std::this_thread::sleep_for(1ms);
    }
    return false;
}

template <class Condition>
bool soon(Condition condition) {
    for (int i = 0; i < 5'000 && !condition(); ++i)
        std::this_thread::sleep_for(1ms);
    return condition();
}

bool turns(actor_system& system) {
    const auto gate = system.spawn<turnstile>("gate");
    const auto pushed = [&] {
        return system.ask<bool>(gate, [](auto me) { return push{me}; }, 5s).value();
    };
    const bool before = pushed();
    gate.tell(coin{});
    const bool paid = pushed();
    return !before && paid && !pushed();
}

}  // namespace

int main() {
    actor_system system{"page"};
    auto savings = system.spawn<account>("savings", 100);
    savings.tell(deposit{5});
    const auto enough = system.ask<bool>(savings, [](auto me) { return withdraw{105, me}; }, 5s);
    const auto more = system.ask<bool>(savings, [](auto me) { return withdraw{1, me}; }, 5s);
    system.spawn<branch>("branch").tell(deposit{3});
    system.spawn(counting(), "counter").tell(1);
    system.spawn<exchange_office>("office", system.spawn<bank>("bank")).tell(begin{});
    system.spawn<cashier>("cashier").tell(begin{});
    system.spawn<teller>("teller", savings).tell(1);
    const bool good = enough.value() && !more.value() && turns(system) && dumps(system) &&
                      soon([] { return exchange_office::percent_ == 110; }) &&
                      soon([] { return cashier::coins_ == 12; }) && system.terminate_and_wait(5s);
    std::puts(good ? "the page's code works" : "the page's code does not work");
    return good ? 0 : 1;
}
