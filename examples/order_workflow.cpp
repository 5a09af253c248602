// SPDX-License-Identifier: Apache-2.0
//
// A workflow that is one coroutine: an order is paid, then shipped. Each step has a time limit, the
// customer may cancel while it waits, and what was paid is given back when nothing can be shipped.
#include <tactus/tactus.hpp>

#include <chrono>
#include <cstdio>
#include <string>
#include <utility>

using namespace std::chrono_literals;

namespace {

struct pay {
    int order;
    int amount;
    tactus::actor_ref<bool> reply_to;
};
struct refund {
    int amount;
};
struct balance {
    tactus::actor_ref<int> reply_to;
};

/// Thinks forever about amounts beyond a thousand.
class bank : public tactus::actor<pay, refund, balance> {
public:
    void on(const pay& p) {
        if (p.amount > 1'000)
            return;
        balance_ += p.amount;
        p.reply_to.tell(true);
    }
    void on(const refund& r) { balance_ -= r.amount; }
    void on(const balance& q) { q.reply_to.tell(balance_); }

private:
    int balance_ = 0;
};

struct ship {
    int order;
    tactus::actor_ref<bool> reply_to;
};

/// Has nothing for the fourth order.
class warehouse : public tactus::actor<ship> {
public:
    void on(const ship& s) { s.reply_to.tell(s.order != 4); }
};

struct place {
    int order;
    int amount;
    tactus::duration patience;
};
struct cancel {};
struct outcome {
    tactus::actor_ref<std::string> reply_to;
};

/// One order; it lives as long as its actor.
class order_process : public tactus::actor<place, cancel, outcome> {
public:
    /// `cancel` and `outcome` are handled while `place` waits.
    static constexpr bool reentrant = true;

    order_process(tactus::actor_ref<pay, refund> bank, tactus::actor_ref<ship> warehouse)
        : bank_(bank), warehouse_(warehouse) {}

    tactus::task<> on(place p) {
        std::string how = co_await fulfil(p);
        finish("order " + std::to_string(p.order) + ": " + how);
    }
    void on(const cancel&) { wanted_.cancel({tactus::cancel_kind::user, "by the customer"}); }
    void on(const outcome& q) {
        asked_ = q.reply_to;
        if (!outcome_.empty())
            asked_.tell(outcome_);
    }

private:
    // With a token, a wait gives what came, or why it was cancelled.
    tactus::task<std::string> fulfil(place p) {
        const auto paid = co_await context().ask<bool>(
            bank_, [p](auto me) { return pay{p.order, p.amount, me}; }, p.patience,
            wanted_.token());
        if (!paid)
            co_return std::string("cancelled ") + paid.error().cause;
        if (!*paid)
            co_return std::string("not paid (") + name_of(paid->error()) + ")";

        const auto shipped = co_await context().ask<bool>(
            warehouse_, [p](auto me) { return ship{p.order, me}; }, p.patience, wanted_.token());
        if (shipped && shipped->value_or(false))
            co_return std::string("shipped");
        bank_.tell(refund{p.amount});
        co_return std::string("not shipped, money given back");
    }
    void finish(std::string how) {
        outcome_ = std::move(how);
        if (asked_)
            asked_.tell(outcome_);
    }

    tactus::actor_ref<pay, refund> bank_;
    tactus::actor_ref<ship> warehouse_;
    tactus::cancel_context wanted_;
    tactus::actor_ref<std::string> asked_;
    std::string outcome_;
};

}  // namespace

int main() {
    tactus::actor_system shop{"shop"};
    const auto money = shop.spawn<bank>("bank");
    const auto goods = shop.spawn<warehouse>("warehouse");
    const auto process = [&](const place& p, bool cancelled) {
        const auto order =
            shop.spawn<order_process>("order-" + std::to_string(p.order), money, goods);
        order.tell(p);
        if (cancelled)
            order.tell(cancel{});
        const auto how = shop.ask<std::string>(order, [](auto me) { return outcome{me}; }, 10s);
        std::printf("%s\n", how ? how->c_str() : how.error().text().c_str());
        shop.stop(order);
    };
    const auto long_enough = tactus::duration::from_s(10);
    process({1, 30, long_enough}, false);
    process({2, 5'000, tactus::duration::from_ms(50)}, false);
    process({3, 5'000, long_enough}, true);
    process({4, 20, long_enough}, false);

    const auto left = shop.ask<int>(money, [](auto me) { return balance{me}; }, 10s);
    std::printf("the bank has %d\n", left.value());
    return 0;
}
