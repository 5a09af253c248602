// SPDX-License-Identifier: Apache-2.0
//
// Actors on the application's own io_context: a timer of Asio sends to an actor, and the actor runs
// on the thread that runs the context, between its handlers. No locks: both are on one thread.
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <cstdio>
#include <thread>

#include <tactus/runtime/asio_executor.hpp>
#include <tactus/tactus.hpp>

namespace {

using namespace tactus;

struct tock {
    int number;
};

struct listener {
    boost::asio::io_context* io;
    std::thread::id main_thread;
    void receive(turn&, envelope& e) {
        if (const tock* t = e.get_if<tock>()) {
            std::printf(
                "tock %d %s\n", t->number,
                std::this_thread::get_id() == main_thread ? "on the main thread" : "elsewhere");
            if (t->number == 3)
                io->stop();
        }
    }
};

void send_later(boost::asio::steady_timer& timer, mailbox_index to, int number) {
    timer.expires_after(std::chrono::milliseconds(1));
    timer.async_wait([&timer, to, number](const boost::system::error_code& failed) {
        if (failed)
            return;
        actor_scheduler::tell(to, tock{number});
        send_later(timer, to, number + 1);
    });
}

}  // namespace

int main() {
    boost::asio::io_context io;
    runtime::asio_executor on_io(io);

    runtime::scheduler_memory memory;
    runtime::steady_clock time;
    const dispatcher_config first{.workers = 1};
    actor_scheduler system(memory.fill(runtime::dispatchers::fill({.time = &time}, first)));
    runtime::dispatchers all(system, {.system_name = "example"},
                             {.id = default_dispatcher_id, .config = first});
    const auto there = all.add({.id = "io",
                                .config = {.executor = executor_kind::foreign, .workers = 1},
                                .foreign = &on_io});
    if (!there) {
        std::fprintf(stderr, "%s\n", there.error().text().c_str());
        return 1;
    }
    const mailbox_index to =
        *system.spawn<listener>({.dispatcher = there->number()}, &io, std::this_thread::get_id());
    boost::asio::steady_timer timer(io);
    send_later(timer, to, 1);
    io.run();
    return 0;
}
