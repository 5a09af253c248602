// SPDX-License-Identifier: Apache-2.0
//
// Goal: what a handler makes ready starts on an idle worker while the handler goes on (DF-6), on
// each executor with more than one thread. Method: the handler waits for what its receivers do;
// without another worker it would wait for ever, so it gives up after a minute.
#include <tactus/dispatch/inline_tick.hpp>
#include <tactus/runtime/asio_executor.hpp>
#include <tactus/runtime/dispatchers.hpp>

#include <gtest/gtest.h>
#include <boost/asio/thread_pool.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <semaphore>
#include <thread>
#include <vector>

#include "dispatchers_rig.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using namespace std::chrono_literals;
using tactus_test::counting_actor;
using tactus_test::dispatchers_rig;
using tactus_test::until;

namespace {

/// Does in its handler what the test wants, and says that it has returned.
class caller {
public:
    caller(std::function<void(turn&)> what, std::atomic<int>* returned)
        : what_(std::move(what)), returned_(*returned) {}
    void receive(turn& t, envelope&) {
        what_(t);
        ++returned_;
    }

private:
    std::function<void(turn&)> what_;
    std::atomic<int>& returned_;
};

dispatcher_config two_workers(executor_kind kind = executor_kind::work_stealing_pool) {
    return {.executor = kind, .workers = 2, .max_workers = 2};
}

struct kept_rig : dispatchers_rig {
    explicit kept_rig(executor_kind kind = executor_kind::work_stealing_pool)
        : dispatchers_rig(two_workers(kind)) {}

    mailbox_index spawn_counting() { return *system.spawn<counting_actor>({}, &count); }
    /// The actor has had its first run: then it waits in the place of what runs next.
    std::vector<mailbox_index> spawn_known(unsigned n) {
        std::vector<mailbox_index> known;
        for (unsigned i = 0; i < n; ++i) {
            known.push_back(spawn_counting());
            actor_scheduler::tell(known.back(), 1);
        }
        EXPECT_TRUE(until([&] { return count == n; }));
        count = 0;
        return known;
    }
    /// Runs it in a handler, which gives up some time, until that has returned.
    void handle(std::function<void(turn&)> what, std::uint32_t dispatcher = 0) {
        std::atomic<int> returned{0};
        const mailbox_index who =
            *system.spawn<caller>({.dispatcher = dispatcher}, what, &returned);
        actor_scheduler::tell(who, 1);
        while (returned != 1)
            std::this_thread::sleep_for(1ms);
    }

    std::atomic<std::uint64_t> count{0};
};

}  // namespace

TEST(kept_work, DF_6_a_message_to_an_idle_actor_starts_while_its_sender_goes_on) {
    kept_rig rig;
    const auto to = rig.spawn_known(1);
    rig.handle([&](turn& t) {
        t.send(to[0], 1);
        EXPECT_TRUE(until([&] { return rig.count == 1; }));
    });
}

// Also the ones after it, each of which waits for the one before.
TEST(kept_work, DF_6_so_does_each_later_message_of_the_same_handler) {
    kept_rig rig;
    const auto to = rig.spawn_known(1);
    rig.handle([&](turn& t) {
        for (std::uint64_t i = 1; i <= 20 && !::testing::Test::HasFailure(); ++i) {
            t.send(to[0], 1);
            EXPECT_TRUE(until([&] { return rig.count == i; }));
        }
    });
}

// Ten wait in the ring but for the last one; of 2,000 the run keeps most back.
TEST(kept_work, DF_6_all_of_many_receivers_start) {
    for (const unsigned many : {10U, 2'000U}) {
        kept_rig rig;
        const auto to = rig.spawn_known(many);
        rig.handle([&](turn& t) {
            for (const mailbox_index who : to)
                t.send(who, 1);
            EXPECT_TRUE(until([&] { return rig.count == many; })) << rig.count << " of " << many;
        });
    }
}

TEST(kept_work, DF_6_actors_that_the_handler_spawns_start) {
    for (const unsigned many : {1U, 10U}) {
        kept_rig rig;
        rig.handle([&](turn& t) {
            for (unsigned i = 0; i < many; ++i)
                t.send(rig.spawn_counting(), 1);
            EXPECT_TRUE(until([&] { return rig.count == many; }));
        });
    }
}

// With all workers busy it waits; the first that has nothing to do takes it.
TEST(kept_work, DF_6_it_waits_while_all_workers_are_busy) {
    kept_rig rig;
    const auto to = rig.spawn_known(1);
    std::binary_semaphore other_began{0};
    std::binary_semaphore other_may_end{0};
    std::atomic<int> other_returned{0};
    const mailbox_index other = *rig.system.spawn<caller>(
        {},
        [&](turn&) {
            other_began.release();
            other_may_end.acquire();
        },
        &other_returned);
    actor_scheduler::tell(other, 1);
    other_began.acquire();
    rig.handle([&](turn& t) {
        t.send(to[0], 1);
        EXPECT_EQ(rig.count, 0u);
        other_may_end.release();
        EXPECT_TRUE(until([&] { return rig.count == 1; }));
    });
    EXPECT_TRUE(until([&] { return other_returned == 1; }));
}

// The receiver's end and its slot's next life, while the handler goes on.
TEST(kept_work, DF_6_receivers_that_end_are_replaced_by_ones_that_start) {
    kept_rig rig;
    rig.handle([&](turn& t) {
        for (std::uint64_t i = 1; i <= 20 && !::testing::Test::HasFailure(); ++i) {
            const mailbox_index who = rig.spawn_counting();
            t.send(who, 1);
            EXPECT_TRUE(until([&] { return rig.count == i; }));
            EXPECT_TRUE(rig.system.stop(who));
            EXPECT_TRUE(until([&] { return !rig.system.is_alive(who); }));
        }
    });
}

TEST(kept_work, DF_6_a_thread_pool_keeps_nothing) {
    kept_rig rig(executor_kind::thread_pool);
    const auto to = rig.spawn_known(10);
    rig.handle([&](turn& t) {
        for (const mailbox_index who : to)
            t.send(who, 1);
        EXPECT_TRUE(until([&] { return rig.count == 10; }));
    });
}

// A second dispatcher, and workers on somebody else's threads.
TEST(kept_work, DF_6_on_another_dispatcher_and_on_a_foreign_executor) {
    boost::asio::thread_pool threads(2);
    {
        runtime::asio_executor on(threads.get_executor(), [] { return true; });
        kept_rig rig;
        const auto more = rig.all->add({.id = "more", .config = two_workers()});
        const auto foreign = rig.all->add(
            {.id = "io", .config = two_workers(executor_kind::foreign), .foreign = &on});
        for (const std::uint32_t number : {more->number(), foreign->number()}) {
            rig.count = 0;
            const mailbox_index who =
                *rig.system.spawn<counting_actor>({.dispatcher = number}, &rig.count);
            actor_scheduler::tell(who, 1);
            EXPECT_TRUE(until([&] { return rig.count == 1; }));
            rig.handle(
                [&](turn& t) {
                    t.send(who, 1);
                    EXPECT_TRUE(until([&] { return rig.count == 2; }));
                },
                number);
        }
        EXPECT_TRUE(rig.all->shut_down(60s));
    }
    threads.join();
}

// One thread does everything: the handler returns first.
TEST(kept_work, DF_6_one_thread_handles_one_message_after_the_other) {
    for (const executor_kind kind : {executor_kind::calling_thread, executor_kind::inline_tick}) {
        kept_rig rig;
        const auto where = rig.all->add({.id = "one", .config = {.executor = kind, .workers = 1}});
        const mailbox_index to =
            *rig.system.spawn<counting_actor>({.dispatcher = where->number()}, &rig.count);
        std::atomic<int> returned{0};
        const mailbox_index from = *rig.system.spawn<caller>(
            {.dispatcher = where->number()},
            [&](turn& t) {
                t.send(to, 1);
                EXPECT_EQ(rig.count, 0u);
            },
            &returned);
        actor_scheduler::tell(from, 1);
        if (kind == executor_kind::inline_tick) {
            inline_tick here(rig.system, where->where());
            (void)here.run_until_idle();
        }
        EXPECT_EQ(returned, 1);
        EXPECT_EQ(rig.count, 1u);
    }
}
