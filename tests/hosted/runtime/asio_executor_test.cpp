// SPDX-License-Identifier: Apache-2.0
//
// Goal: actors on the application's own io_context, also while it stops and restarts (EX-2, EX-8).
#include <tactus/runtime/asio_executor.hpp>

#include <tactus/dispatch/offer.hpp>

#include <gtest/gtest.h>

#include <boost/asio/thread_pool.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include "dispatchers_rig.hpp"
#include "kernel_account.hpp"
#include "pool_rig.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using namespace std::chrono_literals;
using tactus_test::counting_actor;
using tactus_test::dispatchers_rig;
using tactus_test::until;

namespace {

struct asio_rig : dispatchers_rig {
    explicit asio_rig(executor& on, std::uint32_t workers = 1)
        : d(*all->add({.id = "io",
                       .config = {.executor = executor_kind::foreign, .workers = workers},
                       .foreign = &on})) {}
    runtime::dispatcher_handle d;
};

}  // namespace

// EX-2: the application runs its context; actors run there, between its own handlers.
TEST(asio_executor, EX_2_actors_run_on_the_threads_of_the_context) {
    static std::thread::id on_thread;
    struct looks {
        void receive(turn&, envelope&) { on_thread = std::this_thread::get_id(); }
    };
    boost::asio::io_context io;
    runtime::asio_executor on(io);
    asio_rig rig(on);
    int own = 0;
    boost::asio::post(io, [&] { ++own; });
    actor_scheduler::tell(*rig.system.spawn<looks>({.dispatcher = rig.d.number()}), 1);
    EXPECT_EQ(on_thread, std::thread::id{});  // nobody runs the context yet
    EXPECT_GT(io.run(), 0u);
    EXPECT_EQ(on_thread, std::this_thread::get_id());
    EXPECT_EQ(own, 1);
}

// C-DCF-8: a system given an executor runs there what names none, the default dispatcher for one;
// what names another has its own. The first dispatcher, here the internal one, has a thread.
TEST(asio_executor, C_DCF_8_dispatchers_that_name_no_executor_use_the_one_of_the_system) {
    struct looks {
        std::atomic<std::thread::id>* where;
        void receive(turn&, envelope&) { where->store(std::this_thread::get_id()); }
    };
    boost::asio::io_context io;
    runtime::asio_executor on(io);
    runtime::heap_memory heap;
    resolver names({.memory = &heap});
    ASSERT_TRUE(names.add_dispatcher("app.own", {.executor = executor_kind::pinned}));
    ASSERT_TRUE(names.add_dispatcher("app.any", {.workers = 1}));
    ASSERT_TRUE(names.add_dispatcher("app.foreign", {.executor = executor_kind::foreign}));
    runtime::scheduler_memory memory;
    runtime::steady_clock time;
    const dispatcher_config first{.workers = 1};
    actor_scheduler system(memory.fill(runtime::dispatchers::fill({.time = &time}, first)));
    runtime::dispatchers all(system, {.names = &names, .default_executor = &on},
                             {.id = internal_dispatcher_id, .config = first});

    const auto where_runs = [&](std::string_view id, bool here) {
        std::atomic<std::thread::id> where{};
        const auto d = all.find(id);
        EXPECT_TRUE(d) << id;
        const mailbox_index a = *system.spawn<looks>({.dispatcher = d->number()}, &where);
        actor_scheduler::tell(a, 1);
        const std::size_t ran = here ? io.run() : 1;
        EXPECT_GT(ran, 0u) << id;
        EXPECT_TRUE(until([&] { return where.load() != std::thread::id{}; })) << id;
        io.restart();  // a stopped one takes nothing
        (void)system.stop(a);
        io.run();
        io.restart();
        return where.load();
    };
    const std::thread::id here = std::this_thread::get_id();
    for (const std::string_view id :
         {default_dispatcher_id, std::string_view("app.any"), std::string_view("app.foreign")}) {
        EXPECT_EQ(where_runs(id, true), here) << id;
        EXPECT_EQ(all.find(id)->kind(), executor_kind::foreign);
    }
    EXPECT_NE(where_runs("app.own", false), here);
    EXPECT_NE(where_runs(internal_dispatcher_id, false), here);
    EXPECT_NE(where_runs(blocking_dispatcher_id, false), here);
    all.force_stop();
}

// EX-2: an actor that always has something to do lets the application's handlers run.
TEST(asio_executor, EX_2_a_busy_actor_does_not_take_the_context_over) {
    struct busy {
        void receive(turn& t, envelope&) { t.send(t.self(), 1); }
    };
    boost::asio::io_context io;
    runtime::asio_executor on(io);
    asio_rig rig(on);
    actor_scheduler::tell(*rig.system.spawn<busy>({.dispatcher = rig.d.number()}), 1);
    (void)io.poll_one();
    bool ran = false;
    boost::asio::post(io, [&] { ran = true; });
    for (int i = 0; i < 3 && !ran; ++i)
        (void)io.poll_one();
    EXPECT_TRUE(ran);
    io.stop();
}

// DF-65: threads wait for room in the mailbox of an actor whose context stops and goes on. All they
// offered is handled once and in order, and a wait takes no envelope: the pool stays as small as
// what the mailbox and the threads hold at once.
TEST(asio_executor, DF_65_threads_that_wait_for_room_lose_nothing_and_take_no_memory) {
    constexpr std::uint32_t capacity = 8;
    constexpr unsigned senders = 4;
    const std::uint64_t each = tactus_test::sized(100'000, 20);
    tactus_test::loss_counter losses;
    tactus_test::account book;
    boost::asio::io_context io;
    runtime::asio_executor on(io);
    {
        dispatchers_rig rig({.workers = 2}, {.events = &losses});
        const auto d = *rig.all->add({.id = "io",
                                      .config = {.executor = executor_kind::foreign, .workers = 1},
                                      .foreign = &on});
        const mailbox_index a = *rig.system.spawn<tactus_test::accountant>(
            {.mailbox = {.when_full = overflow::block, .capacity = capacity},
             .dispatcher = d.number()},
            &book);
        std::atomic<bool> done{false};
        std::thread context([&] {
            const auto work = boost::asio::make_work_guard(io);
            while (!done) {
                io.restart();
                (void)io.run_for(2ms);
                io.stop();  // rejects what comes now
                std::this_thread::yield();
            }
        });
        tactus_test::in_threads(senders, [&](unsigned t) {
            for (std::uint64_t i = 0; i < each; ++i)
                EXPECT_EQ(offer(a, tactus_test::item{t, i}, duration::from_ms(-1)), sent::accepted);
        });
        EXPECT_TRUE(until([&] { return book.handled_count.load() == senders * each; }));
        // Each sender's and worker's cache may hold magazines beside what is under way.
        constexpr std::uint32_t magazine = 128;
        EXPECT_LE(rig.system.envelopes().shared().constructed_count(),
                  capacity + senders + 4 * (senders + 4) * magazine);
        done = true;
        context.join();
        io.restart();
        const auto work = boost::asio::make_work_guard(io);
        std::thread rest([&] { io.run(); });
        EXPECT_TRUE(rig.all->shut_down(60s));
        io.stop();
        rest.join();
    }
    EXPECT_EQ(book.sum.load(), senders * tactus_test::sum_below(each));
    EXPECT_EQ(book.order_errors, 0u);
    EXPECT_EQ(book.overlaps.load(), 0u);
    EXPECT_EQ(losses.letters.load() + losses.lost.load(), 0u);
}

// EX-2: any executor of Asio.
TEST(asio_executor, EX_2_any_asio_executor) {
    std::atomic<std::uint64_t> count{0};
    boost::asio::thread_pool pool(2);
    runtime::asio_executor on(pool.get_executor(), [] { return true; });
    {
        asio_rig rig(on, 2);
        for (int i = 0; i < 100; ++i)
            actor_scheduler::tell(
                *rig.system.spawn<counting_actor>({.dispatcher = rig.d.number()}, &count), 1);
        EXPECT_TRUE(rig.all->shut_down(10s));
    }
    EXPECT_EQ(count.load(), 100u);
    pool.join();
}

// DF-44: whether something is accepted is the program's to say; an exception says no.
TEST(asio_executor, DF_44_an_answer_that_throws_rejects) {
    boost::asio::io_context io;
    std::atomic<bool> throws = true;  // asked by the housekeeper, too
    runtime::asio_executor on(io.get_executor(), [&] {
        if (throws)
            throw std::runtime_error("not now");
        return true;
    });
    asio_rig rig(on);
    static int handled;
    handled = 0;
    struct counts {
        void receive(turn&, envelope&) { ++handled; }
    };
    const auto who = rig.system.spawn<counts>({.dispatcher = rig.d.number()});
    ASSERT_TRUE(who.has_value());
    actor_scheduler::tell(*who, 1);
    EXPECT_EQ(io.poll(), 0u);
    io.restart();
    throws = false;
    actor_scheduler::tell(*who, 2);  // the next work tries again
    EXPECT_TRUE(until([&] {
        io.poll();
        io.restart();
        return handled == 2;
    }));
}

// EX-8: a stopped context rejects, by name, and runs everything after its restart.
TEST(asio_executor, EX_8_a_stopped_context_rejects) {
    std::atomic<std::uint64_t> count{0};
    boost::asio::io_context io;
    runtime::asio_executor on(io);
    asio_rig rig(on);
    io.stop();
    const mailbox_index a =
        *rig.system.spawn<counting_actor>({.dispatcher = rig.d.number()}, &count);
    actor_scheduler::tell(a, 1);
    ASSERT_GE(rig.events.rejection_count(), 1u);
    EXPECT_STREQ(rig.events.rejections[0].cause, "the io_context is stopped");
    EXPECT_EQ(rig.d.report().parked, 1u);
    io.restart();
    EXPECT_TRUE(until([&] {
        (void)io.poll();
        io.restart();
        return count.load() == 1;
    }));
    EXPECT_EQ(rig.events.released.load(), 1u);
}

// CO-5: the context keeps what was posted; the end does not wait for it, and it finds nothing.
TEST(asio_executor, CO_5_a_context_that_nobody_runs_does_not_hold_up_the_end) {
    std::atomic<std::uint64_t> count{0};
    boost::asio::io_context io;
    {
        runtime::asio_executor on(io);
        asio_rig rig(on);
        actor_scheduler::tell(
            *rig.system.spawn<counting_actor>({.dispatcher = rig.d.number()}, &count), 1);
        EXPECT_FALSE(rig.all->shut_down(10ms));
    }
    EXPECT_EQ(io.run(), 1u);  // what is left of it
    EXPECT_EQ(count.load(), 0u);
}

// A context that is destroyed drops what it has.
TEST(asio_executor, CO_5_a_context_that_is_destroyed_gives_back_what_it_has) {
    auto io = std::make_unique<boost::asio::io_context>();
    runtime::asio_executor on(*io);
    int dropped = 0;
    class noting final : public worker_task {
    public:
        explicit noting(int& n) : n_(n) {}
        [[nodiscard]] handled run() noexcept override { return handled::ok(); }
        void dropped() noexcept override { ++n_; }

    private:
        int& n_;
    } t(dropped);
    EXPECT_TRUE(on.submit(t, {}));
    io.reset();
    EXPECT_EQ(dropped, 1);
    EXPECT_FALSE(on.withdraw(t));
}

// EX-8: stopped and restarted again and again under load; conservation is exact.
TEST(asio_executor, EX_8_stopping_and_restarting_under_load_loses_nothing) {
    constexpr unsigned actors = 16;
    const std::uint64_t each = tactus_test::sized(200'000, 10);
    boost::asio::io_context io;
    runtime::asio_executor on(io);
    std::vector<tactus_test::account> books(actors);
    asio_rig rig(on, 2);
    std::vector<mailbox_index> to;
    for (auto& book : books)
        to.push_back(
            *rig.system.spawn<tactus_test::accountant>({.dispatcher = rig.d.number()}, &book));
    std::atomic<bool> end{false};
    std::thread application([&] {
        while (!end.load()) {
            {
                const auto guard = boost::asio::make_work_guard(io);
                std::thread a([&] { io.run(); });
                std::thread b([&] { io.run(); });
                std::this_thread::sleep_for(2ms);
                io.stop();
                a.join();
                b.join();
            }
            std::this_thread::sleep_for(1ms);
            io.restart();
        }
    });
    tactus_test::in_threads(2, [&](unsigned t) {
        for (std::uint64_t i = 0; i < each; ++i) {
            actor_scheduler::tell(to[i % actors], tactus_test::item{t, i});
            if (i % 32 == 0)
                std::this_thread::sleep_for(100us);
        }
    });
    EXPECT_TRUE(rig.all->shut_down(60s));
    end = true;
    application.join();
    std::uint64_t sum = 0;
    for (const auto& book : books) {
        sum += book.sum.load();
        EXPECT_EQ(book.overlaps.load(), 0u);
        EXPECT_EQ(book.order_errors, 0u);
    }
    // Whether the context refuses one meanwhile is a matter of time.
    EXPECT_EQ(sum, 2 * tactus_test::sum_below(each));
}
