// SPDX-License-Identifier: Apache-2.0
//
// MC-1: threads of an execution: the edges of creating and joining, what each has of its own, and
// cells that are older than the check.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include <tactus/port/model.hpp>

namespace port = tactus::port;
namespace model = tactus::port::model;
using std::memory_order_relaxed;

namespace {

struct own {
    unsigned number = 7;
    port::plain<unsigned> cell{1};
};

constinit port::atomic<unsigned> older_atomic{5};
constinit port::plain<std::array<unsigned, 5>> older_plain{};

}  // namespace

TEST(threads, MC1_creating_and_joining_are_edges) {
    const auto used = [](bool joins) {
        return model::check({}, [=] {
            port::plain<unsigned> x{0};
            x.write(1);
            model::thread other([&] { x.write(x.read() + 1); });
            if (joins)
                other.join();
            model::require(x.read() == 2 || !joins);
        });
    };
    EXPECT_TRUE(used(true).exhaustive);
    EXPECT_EQ(used(false).kind, model::failure::race);
}

TEST(threads, MC1_what_is_written_after_creating_a_thread_is_not_ordered_before_it) {
    const model::report r = model::check({}, [] {
        port::plain<unsigned> x{0};
        model::thread other([&] { static_cast<void>(x.read()); });
        x.write(1);
    });
    EXPECT_EQ(r.kind, model::failure::race);
}

TEST(threads, MC1_threads_make_threads) {
    const model::report r = model::check({}, [] {
        port::atomic<unsigned> counted{0};
        const auto twice = [&] {
            model::thread inner([&] { counted.fetch_add(1, memory_order_relaxed); });
            counted.fetch_add(1, memory_order_relaxed);
        };
        model::thread a(twice);
        model::thread b(twice);
        a.join();
        b.join();
        model::require(counted.load(memory_order_relaxed) == 4);
    });
    EXPECT_TRUE(r.ok && r.exhaustive) << r.text;
}

TEST(threads, MC1_every_thread_of_every_execution_has_its_own_instance) {
    port::thread_instance<own>().number = 100;
    const model::report r = model::check({}, [] {
        port::atomic<unsigned> x{0};
        const auto use = [&](unsigned value) {
            auto& mine = port::thread_instance<own>();
            model::require(mine.number == 7 && mine.cell.read() == 1);
            mine.number = value;
            mine.cell.write(value);
            x.store(value, memory_order_relaxed);
            model::require(&mine == &port::thread_instance<own>());
            model::require(port::thread_instance<own>().number == value);
        };
        model::thread a([&] { use(1); });
        model::thread b([&] { use(2); });
        use(3);
    });
    EXPECT_TRUE(r.ok && r.exhaustive) << r.text;
    EXPECT_EQ(port::thread_instance<own>().number, 100u);
    port::thread_instance<own>().number = 7;
}

TEST(threads, MC1_exit_calls_run_last_first_on_their_thread_before_it_is_joined) {
    const model::report r = model::check({}, [] {
        struct {
            port::plain<unsigned> order{0};
        } seen;
        static constexpr auto first = [](void* with) noexcept {
            auto& s = *static_cast<decltype(seen)*>(with);
            s.order.write(s.order.read() * 10 + 1);
        };
        static constexpr auto second = [](void* with) noexcept {
            auto& s = *static_cast<decltype(seen)*>(with);
            s.order.write(s.order.read() * 10 + 2);
            port::thread_instance<own>().number = 9;
        };
        model::thread other([&] {
            port::at_thread_exit(first, &seen);
            port::at_thread_exit(second, &seen);
        });
        other.join();
        model::require(seen.order.read() == 21);
        model::require(port::thread_instance<own>().number == 7);
    });
    EXPECT_TRUE(r.ok && r.exhaustive) << r.text;
}

TEST(threads, MC1_cells_from_before_the_check_get_their_value_back) {
    older_plain.write({1, 2, 3, 4, 5});
    port::atomic<unsigned> fixture{8};
    const model::report r = model::check({}, [&] {
        model::require(older_atomic.load(memory_order_relaxed) == 5);
        model::require(older_plain.read()[4] == 5);
        model::require(fixture.load(memory_order_relaxed) == 8);
        model::thread other([&] { older_atomic.fetch_add(1, memory_order_relaxed); });
        older_atomic.fetch_add(1, memory_order_relaxed);
        older_plain.write({});
        fixture.store(1, memory_order_relaxed);
    });
    EXPECT_TRUE(r.ok && r.exhaustive) << r.text;
    EXPECT_GT(r.executions, 1u);
    EXPECT_EQ(older_atomic.load(memory_order_relaxed), 5u);
    EXPECT_EQ(older_plain.read()[4], 5u);
    EXPECT_EQ(fixture.load(memory_order_relaxed), 8u);
}

TEST(threads, MC1_more_threads_than_there_may_be_are_misuse) {
    const model::report r = model::check({}, [] {
        std::vector<model::thread> threads;
        for (std::size_t i = 0; i < model::thread_count_max; ++i)
            threads.emplace_back([] {});
    });
    EXPECT_EQ(r.kind, model::failure::misuse);
}

TEST(threads, MC1_event_counts_publish_what_was_done_before) {
    const model::report r = model::check({}, [] {
        port::plain<unsigned> payload{0};
        port::event_count events;
        model::thread notifier([&] {
            payload.write(1);
            events.add(1);
        });
        if (events.read() == 1)
            model::require(payload.read() == 1);
    });
    EXPECT_TRUE(r.ok && r.exhaustive) << r.text;
}
