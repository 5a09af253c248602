// SPDX-License-Identifier: Apache-2.0
//
// The code of docs/shutdown.md and docs/patterns.md, compiled and run.
#include <tactus/actor/ask.hpp>
#include <tactus/actor/circuit_breaker.hpp>
#include <tactus/actor/retry.hpp>
#include <tactus/config/system_options.hpp>
#include <tactus/runtime/actor_system.hpp>
#include <tactus/runtime/steady_clock.hpp>

#include <cstdio>
#include <functional>
#include <string>
#include <thread>

using namespace tactus;  // NOLINT: as the pages do
using namespace std::chrono_literals;

namespace {

struct server_type {
    void flush() { flushed = true; }
    void close(const std::function<void()>& closed) {
        thread = std::jthread([closed] { closed(); });
    }
    bool flushed = false;
    std::jthread thread;
};
struct journal_type {
    void close() { closed = true; }
    bool closed = false;
};
struct drain {};
class queue_actor : public actor<drain> {
public:
    void on(drain) { context().stop(); }
};

bool shutdown_page(server_type& server) {
    journal_type journal;
    actor_system system("shop", {.shutdown = {.default_timeout = 3s}});
    auto queue = system.spawn<queue_actor>("queue");

    system.shutdown().add_task(phases::service_stop, "flush", [&] { server.flush(); });
    system.shutdown().add_task(phases::service_unbind, "close",
                               [&](shutdown_done done) { server.close([done] { done(); }); });
    system.add_actor_termination_task(phases::service_requests_done, "drain", queue, drain{});
    auto farewell = system.shutdown().add_task(phases::service_stop, "farewell", [] {});
    farewell.cancel();  // true: it will not run
    (void)system.register_on_close([&] { journal.close(); }, "journal");

    const shutdown_result result = system.shutdown().run({.name = "maintenance"}).get();
    if (!result.is_clean())
        std::fprintf(stderr, "%s\n", result.text().c_str());
    return result.is_clean() && system.wait(5s) && system.exit_code() == 0 && journal.closed;
}

bool drain_section() {
    actor_system system("shop");
    auto queue = system.spawn<queue_actor>("queue");
    queue.tell(drain{});
    const drain_report done = system.drain(30s);
    if (!done.is_clean())
        std::fprintf(stderr, "%s\n", done.text().c_str());
    return done.is_clean();
}

int complain(const std::string& why) {
    std::fprintf(stderr, "%s\n", why.c_str());
    return 1;
}

int configured(const std::string& file) {
    auto how = config::read_system_options(file);
    if (!how)
        return complain(how.error().message());
    actor_system system("shop", *how);
    system.terminate();
    return system.wait(30s) ? system.exit_code() : 1;
}

struct question {
    actor_ref<int> reply_to;
};
class oracle : public actor<question> {
public:
    void on(const question& q) {
        if (++asked_ > 2)
            q.reply_to.tell(42);
    }

private:
    int asked_ = 0;
};

class customer : public actor<actor_ref<int>> {
public:
    customer(actor_ref<question> to, circuit_breaker* breaker) : oracle_(to), breaker_(breaker) {}

    task<> on(actor_ref<int> reply_to) {
        const auto ask_it = [this] {
            return ask<int>(oracle_, [](auto me) { return question{me}; }, duration::from_ms(20));
        };
        auto call = breaker_->try_call();
        if (!call) {
            context().log().warning("the oracle rests");
            co_return;
        }
        auto answer = co_await retry({.retries = 3, .delay = duration::from_ms(5)}, ask_it);
        if (answer)
            call->succeed();
        else
            call->fail();
        reply_to.tell(answer.value_or(0));
    }

private:
    actor_ref<question> oracle_;
    circuit_breaker* breaker_;
};

bool patterns_page() {
    runtime::steady_clock time;
    circuit_breaker breaker({.time = &time,
                             .max_failures = 5,
                             .call_timeout = duration::from_s(10),
                             .reset_timeout = duration::from_s(1),
                             .reset_factor = 2,
                             .reset_timeout_max = duration::from_s(60)});

    const auto size = breaker.with([] { return std::string("a file").size(); });

    actor_system system{"page"};
    auto to = system.spawn<oracle>("oracle");
    auto who = system.spawn<customer>("customer", to, &breaker);
    const auto got = system.ask<int>(who, [](auto me) { return me; }, 10s);
    return size == 6u && got == 42 && breaker.state() == breaker_state::closed;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 1)
        return configured(argv[1]);
    server_type server;
    const bool good = shutdown_page(server) && drain_section() && server.flushed && patterns_page();
    std::puts(good ? "the pages' code works" : "the pages' code does not work");
    return good ? 0 : 1;
}
