// SPDX-License-Identifier: Apache-2.0
//
// Actors on the application's own io_context: a timer of Asio tells an actor, and the actor runs on
// the thread that runs the context, between its handlers. No locks: both are on one thread. Other
// actors of the system have threads as usual, and all of them talk to each other.
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <cstdio>
#include <string>
#include <thread>

#include <tactus/runtime/asio_executor.hpp>
#include <tactus/tactus.hpp>

namespace {

using namespace tactus;
using namespace std::chrono_literals;

struct tick {
    int number;
};
struct to_be_said {
    int number;
    actor_ref<std::string> reply_to;
};

const char* here(std::thread::id main_thread) {
    return std::this_thread::get_id() == main_thread ? "the main thread" : "a thread of the system";
}

/// On the system's threads.
class speaker : public actor<to_be_said> {
public:
    explicit speaker(std::thread::id main_thread) : main_thread_(main_thread) {}
    void on(const to_be_said& m) {
        m.reply_to.tell("tock " + std::to_string(m.number) + " made on " + here(main_thread_));
    }

private:
    std::thread::id main_thread_;
};

/// On the io_context: it may use the timer, which is not thread-safe.
class ticker : public actor<tick> {
public:
    ticker(boost::asio::io_context* io, boost::asio::steady_timer* timer, actor_ref<to_be_said> by)
        : io_(io), timer_(timer), by_(by), main_thread_(std::this_thread::get_id()) {}

    void pre_start() { tick_later(1); }
    task<> on(tick t) {
        const auto text = co_await context().ask<std::string>(
            by_, [t](auto me) { return to_be_said{t.number, me}; }, duration::from_s(10));
        std::printf("%s, said on %s\n", text.value().c_str(), here(main_thread_));
        if (t.number == 3)
            context().stop();
        else
            tick_later(t.number + 1);
    }
    /// The context has nothing more to do for actors: its run() returns.
    void post_stop() { io_->stop(); }

private:
    void tick_later(int number) {
        timer_->expires_after(1ms);
        timer_->async_wait([me = self(), number](const boost::system::error_code& failed) {
            if (!failed)
                me.tell(tick{number});
        });
    }

    boost::asio::io_context* io_;
    boost::asio::steady_timer* timer_;
    actor_ref<to_be_said> by_;
    std::thread::id main_thread_;
};

}  // namespace

int main() {
    boost::asio::io_context io;
    const auto stay = boost::asio::make_work_guard(io);  // run() waits for what actors post
    boost::asio::steady_timer timer(io);
    runtime::asio_executor on_io(io);

    actor_system system{"example"};
    const auto there =
        system.dispatchers().add({.id = "io",
                                  .config = {.executor = executor_kind::foreign, .workers = 1},
                                  .foreign = &on_io});
    if (!there) {
        std::fprintf(stderr, "%s\n", there.error().text().c_str());
        return 1;
    }
    const auto by = system.spawn<speaker>("speaker", std::this_thread::get_id());
    if (!system.try_spawn<ticker>("ticker", {.dispatcher = there->number()}, &io, &timer, by))
        return 1;
    io.run();
    return system.terminate_and_wait(10s) ? 0 : 1;
}
