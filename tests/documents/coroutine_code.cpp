// SPDX-License-Identifier: Apache-2.0
//
// The C++ that docs/coroutines.md shows in pieces, with what it needs around it. code_blocks.py
// sees that each piece of the page is here; this is compiled and run.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <expected>
#include <optional>
#include <thread>
#include <utility>

#include <tactus/actor/cancel_context.hpp>
#include <tactus/actor/coroutine_set.hpp>
#include <tactus/actor/offer_awaiter.hpp>
#include <tactus/actor/one_shot_signal.hpp>
#include <tactus/dispatch/inline_tick.hpp>
#include <tactus/dispatch/turn.hpp>
#include <tactus/runtime/actor_system.hpp>
#include <tactus/runtime/heap_memory.hpp>
#include <tactus/runtime/scheduler_memory.hpp>

using namespace tactus;  // NOLINT: as the page does
using namespace std::chrono_literals;

namespace {

struct order {
    int item;
    int count;
};

one_shot_signal prices_known;
mailbox_index warehouse;
cancel_context closing_time;
int sold = 0;

// ---- tasks

task<int> price_of(int item) {
    co_await prices_known.wait();
    co_return item * 10;
}

task<> sell(order m) {
    const int price = co_await price_of(m.item);
    sold += price * m.count;  // `m` is in the frame
}

// ---- failing

task<> sell_one_of_each(int items) {
    if (items == 0)
        co_await fail_with({"nothing to sell"});
    for (int item = 1; item <= items; ++item)
        sold += co_await price_of(item);
}

task<std::expected<void, failure>> sell_if_possible(order m) {
    if (m.count == 0)
        co_return std::unexpected(failure{"an order of nothing"});
    sold += m.count * co_await price_of(m.item);
    co_return std::expected<void, failure>();
}

// ---- waiting and cancelling

task<> ship(order m, cancel_token token) {
    const std::expected<sent, cancelled> result = co_await offer_awaiter(warehouse, m, token);
    if (!result)
        co_return;  // nobody wants it any more: result.error() says why
    if (*result != sent::accepted)
        co_await fail_with({"the warehouse is closed"});
}

// ---- the actor's side

runtime::heap_memory frames;

class shop {
public:
    handled receive(turn& t, envelope& e) {
        if (!coroutines_)
            coroutines_.emplace(t.self(), frames);
        const order& m = *e.get_if<order>();
        return coroutines_->start_handler([&m] { return sell(m); });
    }
    handled receive_system(turn& t, system_message& m) {
        if (m.kind == system_kind::continuation)
            return coroutines_->resume(m);
        if (m.kind == system_kind::terminate)
            t.stop();
        return handled::ok();
    }

private:
    std::optional<coroutine_set> coroutines_;  // its end destroys what still waits
};

// ---- the next message

struct pay {
    int cents;
};
struct card_number {
    int code;
};
struct code {
    int digits;
};
struct refused {};

std::atomic<int> paid = 0;
std::atomic<int> unexpected = 0;

class bank : public actor<pay> {
public:
    void on(const pay& p) { paid += p.cents; }
};

class checkout : public actor<pay, card_number, code, refused> {
public:
    explicit checkout(actor_ref<pay> bank) : bank_(bank) {}
    task<> on(pay p) {
        const card_number card = co_await context().next<card_number>();
        const auto typed = co_await context().next<code>(30s);
        if (!typed || typed->digits != card.code)
            co_return;  // typed.error() is next_error::timeout
        bank_.tell(p);
    }
    void on(const card_number&) { ++unexpected; }  // those that no task waits for
    void on(const code&) { ++unexpected; }
    void on(const refused&) { ++unexpected; }

private:
    actor_ref<pay> bank_;
};

bool pays() {
    actor_system system{"till"};
    const auto desk = system.spawn<checkout>("desk", system.spawn<bank>("bank"));
    desk.tell(pay{5});
    desk.tell(refused{});
    desk.tell(card_number{1234});
    desk.tell(code{1234});
    for (int i = 0; i < 5'000 && (paid != 5 || unexpected != 1); ++i)
        std::this_thread::sleep_for(1ms);
    return paid == 5 && unexpected == 1;
}

// ---- something to wait for

/// What the door knows of who waits for it.
struct door_bell {
    waker* visitor = nullptr;
    int rings = 0;

    void ring() {
        ++rings;
        if (waker* w = std::exchange(visitor, nullptr))
            w->wake();
    }
};

class next_ring {
public:
    struct request {
        door_bell* bell;
    };
    using result = int;

    next_ring(const request& what, waker& to_wake, mailbox_index) noexcept
        : bell_(*what.bell), to_wake_(to_wake) {}
    bool start() noexcept {
        bell_.visitor = &to_wake_;
        return true;  // false: there is nothing to wait for
    }
    bool give_up() noexcept { return std::exchange(bell_.visitor, nullptr) != nullptr; }
    int take() noexcept { return bell_.rings; }

private:
    door_bell& bell_;
    waker& to_wake_;
};

int rings_heard = 0;
task<> open_the_door(door_bell& bell) {
    rings_heard = co_await wait_awaiter<next_ring>({&bell});
}

// ---- the rest of the program

door_bell bell;
unsigned failures = 0;

/// Does everything above, whatever it is sent.
class staff {
public:
    void receive(turn& t, envelope&) {
        coroutines_.emplace(t.self(), frames);
        begin([] { return open_the_door(bell); });
        begin([] { return sell_one_of_each(0); });
        begin([] { return sell_one_of_each(2); });
        begin([] { return sell_if_possible({1, 0}); });
        begin([] { return sell_if_possible({1, 1}); });
        begin([] { return ship({1, 1}, closing_time.token()); });
    }
    handled receive_system(turn&, system_message& m) {
        return m.kind == system_kind::continuation ? coroutines_->resume(m) : handled::ok();
    }

private:
    void begin(auto call) {
        if (!coroutines_->start_handler(call).is_ok())
            ++failures;
    }
    std::optional<coroutine_set> coroutines_;
};

}  // namespace

int main() {
    runtime::scheduler_memory memory({.actors_max = 16, .messages_max = 64});
    actor_scheduler system(memory.fill({}));
    inline_tick ticks(system);
    mailbox_options small;
    small.capacity = 1;
    small.when_full = overflow::block;
    warehouse = *system.spawn<shop>({.mailbox = small});
    (void)system.suspend(warehouse, suspension::supervision);
    actor_scheduler::tell(warehouse, order{1, 0});  // it is full now
    actor_scheduler::tell(*system.spawn<shop>({}), order{2, 3});
    actor_scheduler::tell(*system.spawn<staff>({}), 0);
    (void)ticks.run_until_idle(100);
    closing_time.cancel({cancel_kind::user, "closing"});
    bell.ring();
    (void)ticks.run_until_idle(100);
    const bool waited = sold == 0 && failures == 2 && rings_heard == 1;
    prices_known.wake();
    (void)ticks.run_until_idle(100);
    const bool good = waited && sold == 60 + 30 + 10 && pays();
    std::puts(good ? "the page's code works" : "the page's code does not work");
    return good ? 0 : 1;
}
