// SPDX-License-Identifier: Apache-2.0
//
// Three ways to ask an actor: a thread outside waits for the reply; a coroutine of an actor waits
// without holding a thread; or the reply comes as a message. Each of them is told when nobody
// answers.
#include <tactus/tactus.hpp>

#include <chrono>
#include <cstdio>
#include <expected>
#include <string>
#include <utility>

using namespace std::chrono_literals;

namespace {

constexpr tactus::duration patience = tactus::duration::from_ms(50);

struct price_of {
    std::string item;
    tactus::actor_ref<int> reply_to;
};

/// Knows what things cost. Does not answer when it does not: who asks has a time limit.
class price_list : public tactus::actor<price_of> {
public:
    void on(const price_of& q) {
        if (q.item == "tea")
            q.reply_to.tell(3);
        if (q.item == "cake")
            q.reply_to.tell(4);
    }
};

struct order {
    std::string item;
    tactus::actor_ref<std::string> reply_to;
};

std::string text_for(const std::string& item,
                     const std::expected<int, tactus::ask_failure>& price) {
    if (!price)
        return "no price for " + item + " (" + name_of(price.error()) + ")";
    return item + " costs " + std::to_string(*price);
}

/// By coroutine: reads like a call. The next order waits until this one is done.
class waiter : public tactus::actor<order> {
public:
    explicit waiter(tactus::actor_ref<price_of> prices) : prices_(prices) {}
    tactus::task<> on(order o) {
        const auto price = co_await context().ask<int>(
            prices_, [&o](auto me) { return price_of{o.item, me}; }, patience);
        o.reply_to.tell(text_for(o.item, price));
    }

private:
    tactus::actor_ref<price_of> prices_;
};

struct priced {
    order of;
    std::expected<int, tactus::ask_failure> price;
};

/// By message: nothing waits, so any number of orders are under way at once.
class clerk : public tactus::actor<order, priced> {
public:
    explicit clerk(tactus::actor_ref<price_of> prices) : prices_(prices) {}
    void on(const order& o) {
        context().ask<int>(
            prices_, [item = o.item](auto me) { return price_of{item, me}; }, patience,
            [o](std::expected<int, tactus::ask_failure> price) { return priced{o, price}; });
    }
    void on(const priced& p) { p.of.reply_to.tell(text_for(p.of.item, p.price)); }

private:
    tactus::actor_ref<price_of> prices_;
};

/// By a thread outside of actors: it blocks.
template <class Who>
void order_from(tactus::actor_system& cafe, const char* how, const Who& who) {
    for (const char* item : {"tea", "jam"}) {
        const auto answer =
            cafe.ask<std::string>(who, [&](auto me) { return order{item, me}; }, 10s);
        std::printf("%s: %s\n", how, answer ? answer->c_str() : name_of(answer.error().what));
    }
}

}  // namespace

int main() {
    tactus::actor_system cafe{"cafe"};
    const auto prices = cafe.spawn<price_list>("prices");

    const auto cake = cafe.ask<int>(prices, [](auto me) { return price_of{"cake", me}; }, 10s);
    std::printf("main: cake costs %d\n", cake.value());
    const auto jam = cafe.ask<int>(prices, [](auto me) { return price_of{"jam", me}; }, 50ms);
    std::printf("main: no price for jam (%s)\n", name_of(jam.error().what));

    order_from(cafe, "coroutine", cafe.spawn<waiter>("waiter", prices));
    order_from(cafe, "message", cafe.spawn<clerk>("clerk", prices));
    return 0;
}
