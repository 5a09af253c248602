// SPDX-License-Identifier: Apache-2.0
//
// Goal: what any thread may do at once: ask for the receptionist, order actors, cancel what is to
// be sent later (C-TYP-22, C-TYP-24, AC-5). Method: real systems, and counts that must add up.
#include <tactus/actor/receptionist.hpp>
#include <tactus/actor/spawn_protocol.hpp>
#include <tactus/runtime/actor_system.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "pool_rig.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using namespace std::chrono_literals;
using tactus_test::sized;
using tactus_test::until;

namespace {

const actor_system::options quiet{.log_level = log_level::off};
const service_key<int> adders{"adders"};

class adder : public actor<int> {
public:
    explicit adder(std::atomic<int>* to) : to_(to) {}
    void on(int v) { *to_ += v; }

private:
    std::atomic<int>* to_;
};

}  // namespace

// C-TYP-24: whoever asks first, there is one receptionist; a question about services from outside.
TEST(services_threads, C_TYP_24_everybody_gets_the_same_receptionist) {
    constexpr int count = 2;
    for (int round = 0; round < 50; ++round) {
        actor_system system("demo", quiet);
        receptionist_ref got[count];
        std::atomic<int> ready{0};
        std::vector<std::thread> threads;
        for (receptionist_ref& one : got) {
            threads.emplace_back([&] {
                ++ready;
                while (ready != count) {
                    // Awake: the closer they begin, the more there is to see.
                }
                one = receptionist_of(system.world());
            });
        }
        for (std::thread& t : threads)
            t.join();
        for (const receptionist_ref& one : got) {
            EXPECT_TRUE(one);
            EXPECT_TRUE(one == got[0]);
        }
        std::atomic<int> sum{0};
        const auto a = system.spawn<adder>("a", &sum);
        got[0].tell(register_service(adders, a));
        const auto found = system.ask<listing<int>>(
            got[1], [](auto me) { return find_services(adders, me); }, 10s);
        ASSERT_TRUE(found);
        ASSERT_EQ(found->refs().size(), 1u);
        EXPECT_TRUE(found->refs()[0] == a);
    }
}

// C-TYP-22: orders from several threads for one name: each gets an actor of its own.
TEST(services_threads, C_TYP_22_one_name_ordered_by_many) {
    constexpr int threads_count = 3;
    constexpr int each = 20;
    std::atomic<int> sum{0};
    std::mutex mutex;
    std::vector<std::string> paths;
    actor_system system("demo", quiet);
    const auto nursery = system.spawn<spawn_protocol>("nursery");
    std::vector<std::thread> threads;
    for (int t = 0; t < threads_count; ++t) {
        threads.emplace_back([&] {
            for (int i = 0; i < each; ++i) {
                const auto made = system.ask<actor_ref<int>>(
                    nursery,
                    [&](auto me) {
                        return spawn_order::of<adder>(system.world(), "oak", me, &sum);
                    },
                    10s);
                ASSERT_TRUE(made);
                made->tell(1);
                const std::lock_guard held(mutex);
                paths.push_back(system.path_of(*made));
            }
        });
    }
    for (std::thread& t : threads)
        t.join();
    EXPECT_TRUE(until([&] { return sum == threads_count * each; }));
    std::sort(paths.begin(), paths.end());
    EXPECT_EQ(std::unique(paths.begin(), paths.end()), paths.end());
    EXPECT_EQ(paths.front(), "tactus://demo/user/nursery/oak");
}

namespace {

struct schedule_some {
    int count;
};
struct arrived {};
struct tally {
    std::atomic<int> scheduled{0};
    std::atomic<int> refused{0};  // the machine was away for longer than the window
    std::atomic<int> cancelled{0};
    std::atomic<int> arrived{0};
};
/// Schedules messages to another one, and cancels every other later, when it may be too late.
class scheduling : public actor<schedule_some, arrived> {
public:
    explicit scheduling(tally* to) : to_(to) {}
    void on(const schedule_some& m) {
        for (int i = 0; i < m.count; ++i) {
            auto handle = context().schedule_once(std::chrono::microseconds(1 + i % 3 * 500),
                                                  context().self(), arrived{});
            // BP-3: a machine that was away for longer than the window refuses for a moment.
            if (!handle) {
                ++to_->refused;
                continue;
            }
            ++to_->scheduled;
            if (i % 2 == 0)
                later_.push_back(*handle);
        }
        if (later_.size() > 8)
            cancel();
    }
    void on(arrived) { ++to_->arrived; }
    void post_stop() { cancel(); }

private:
    void cancel() {
        for (cancellable& h : later_)
            to_->cancelled += h.cancel() ? 1 : 0;
        later_.clear();
    }

    tally* to_;
    std::vector<cancellable> later_;
};

}  // namespace

// AC-5, C-TX-15: each message that was scheduled comes, or was cancelled: never both, never
// neither; what is left when the system ends is freed.
TEST(services_threads, AC_5_scheduled_messages_come_or_are_cancelled) {
    tally all;
    {
        actor_system::options o = quiet;
        o.dispatcher.workers = 3;
        actor_system system("demo", o);
        std::vector<actor_ref<schedule_some, arrived>> some;
        for (int i = 0; i < 4; ++i)
            some.push_back(system.spawn<scheduling>("", &all));
        const int rounds = static_cast<int>(sized(20'000, 20));
        for (int i = 0; i < rounds; ++i)
            some[static_cast<std::size_t>(i) % some.size()].tell(schedule_some{6});
        EXPECT_TRUE(until([&] { return all.scheduled + all.refused == rounds * 6; }));
        EXPECT_TRUE(until([&] { return all.arrived + all.cancelled == all.scheduled; }))
            << all.arrived << " " << all.cancelled << " " << all.scheduled;
        std::this_thread::sleep_for(5ms);
        EXPECT_EQ(all.arrived + all.cancelled, all.scheduled);
        EXPECT_GT(all.cancelled, 0);
        some[0].tell(schedule_some{1});
    }
    EXPECT_LE(all.arrived + all.cancelled, all.scheduled);
}
