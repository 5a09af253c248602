// SPDX-License-Identifier: Apache-2.0
//
// Goal: many subscribers, and threads that publish and subscribe at the same time (EV-1).
#include <tactus/actor/event_stream.hpp>
#include <tactus/runtime/heap_memory.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "pool_rig.hpp"

using namespace tactus_test;  // NOLINT: the whole vocabulary is used

namespace {

struct step {
    std::uint32_t thread;
    std::uint32_t number;
};
struct rare_step : step {
    using event_bases = tactus::bases<step>;
};

constexpr std::size_t thread_count = 3;

/// What one listener was told; written by its actor.
struct account {
    std::array<std::atomic<std::uint32_t>, thread_count> last{};
    std::atomic<std::uint32_t> count{0};
    std::atomic<bool> in_order{true};
};
struct step_listener {
    account* to;
    void receive(tactus::turn&, tactus::envelope& e) {
        const step* s = e.get_if<step>();
        if (s == nullptr || s->number <= to->last[s->thread])
            to->in_order = false;
        else
            to->last[s->thread] = s->number;
        to->count.fetch_add(1);
    }
};

}  // namespace

// C-EVT-17: a thousand subscribers, of which those that match are told; unsubscribing twice is
// harmless.
TEST(event_stream_threads, C_EVT_17_a_thousand_subscribers) {
    pool_rig r(1);
    tactus::runtime::heap_memory memory;
    tactus::event_stream stream(memory);
    std::atomic<std::uint64_t> told_all{0};
    std::atomic<std::uint64_t> told_rare{0};
    std::vector<tactus::mailbox_index> who;
    for (int i = 0; i < 1'000; ++i) {
        who.push_back(*r.system.spawn<counting_actor>({}, i % 2 == 0 ? &told_all : &told_rare));
        EXPECT_EQ(i % 2 == 0 ? stream.subscribe<step>(who.back())
                             : stream.subscribe<rare_step>(who.back()),
                  true);
    }
    stream.publish(step{0, 1});
    stream.publish(rare_step{{0, 2}});
    EXPECT_TRUE(until([&] { return told_all == 1'000 && told_rare == 500; }));
    for (const tactus::mailbox_index w : who) {
        EXPECT_TRUE(stream.unsubscribe(w));
        EXPECT_FALSE(stream.unsubscribe(w));
    }
    stream.publish(rare_step{{0, 3}});
    EXPECT_TRUE(stream.is_empty());
    EXPECT_TRUE(r.pool->shut_down(std::chrono::seconds(10)));
    EXPECT_EQ(told_all, 1'000u);
    EXPECT_EQ(told_rare, 500u);
}

// PK-EVT-4: the order of each publishing thread is kept for each subscriber, while others come and
// go; who stays misses nothing.
TEST(event_stream_threads, PK_EVT_4_order_while_others_come_and_go) {
    pool_rig r(2);
    tactus::runtime::heap_memory memory;
    tactus::event_stream stream(memory);
    constexpr std::size_t stay = 20;  // more than are told in one go
    const std::uint32_t events = under_sanitizer ? 200 : 2'000;
    auto accounts = std::make_unique<std::array<account, stay + 20>>();
    std::vector<tactus::mailbox_index> who;
    for (account& a : *accounts)
        who.push_back(*r.system.spawn<step_listener>({}, &a));
    for (std::size_t i = 0; i < stay; ++i)
        ASSERT_EQ(stream.subscribe<step>(who[i]), true);
    std::atomic<bool> done{false};
    {
        std::jthread changing([&] {
            while (!done) {
                for (std::size_t i = stay; i < who.size(); ++i)
                    (void)stream.subscribe<step>(who[i]);
                for (std::size_t i = stay; i < who.size(); ++i) {
                    if (i % 2 == 0)
                        stream.forget(who[i]);
                    else
                        (void)stream.unsubscribe<step>(who[i]);
                }
            }
        });
        {
            std::vector<std::jthread> publishing;
            for (std::uint32_t t = 0; t < thread_count; ++t)
                publishing.emplace_back([&, t] {
                    for (std::uint32_t n = 1; n <= events; ++n) {
                        if (n % 2 == 0)
                            stream.publish(rare_step{{t, n}});
                        else
                            stream.publish(step{t, n});
                    }
                });
        }
        done = true;
    }
    EXPECT_TRUE(r.pool->shut_down(std::chrono::seconds(60)));
    for (std::size_t i = 0; i < accounts->size(); ++i) {
        const account& a = (*accounts)[i];
        EXPECT_TRUE(a.in_order) << i;
        if (i < stay) {
            EXPECT_EQ(a.count, thread_count * events) << i;
        }
        EXPECT_EQ(stream.knows(who[i]), i < stay) << i;
    }
}
