// SPDX-License-Identifier: Apache-2.0
//
// Goal: a question from outside whose answer is a future always gets one (AS-1).
#include <tactus/runtime/ask_future.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "blocker.hpp"
#include "pool_rig.hpp"
#include "still_time.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using namespace std::chrono_literals;
using tactus_test::busy_worker;
using tactus_test::stalled_driver;
using tactus_test::still_clock;
using tactus_test::until;

namespace {

struct question {
    actor_ref<std::string> reply_to;
    bool answers = true;
};
class oracle : public actor<question> {
public:
    void on(const question& q) {
        if (q.answers)
            q.reply_to.tell(std::string("yes"));
        last_ = q.reply_to;
        if (q.answers)
            last_.tell(std::string("a second time"));
    }

private:
    actor_ref<std::string> last_;
};
class counting : public actor<question, int> {
public:
    counting(std::atomic<int>* questions, std::atomic<int>* numbers)
        : questions_(questions), numbers_(numbers) {}
    void on(const question&) { ++*questions_; }
    void on(int) { ++*numbers_; }

private:
    std::atomic<int>* questions_;
    std::atomic<int>* numbers_;
};
constexpr auto for_ever = std::chrono::nanoseconds::max();
const auto ask_it = [](actor_ref<std::string> me) { return question{me}; };
const auto ask_in_vain = [](actor_ref<std::string> me) { return question{me, false}; };

}  // namespace

// AS-1, C-ASK-1: the first reply counts.
TEST(ask_future, AS_1_a_reply) {
    actor_system system("demo", {.log_level = log_level::off});
    auto ref = system.spawn<oracle>("oracle");
    EXPECT_EQ(ask_future<std::string>(system, ref, ask_it, 10s).get(), "yes");
}

// AS-1, C-ASK-4: no reply in time, a target that has ended, a timeout that is none.
TEST(ask_future, AS_1_no_reply) {
    actor_system system{"demo"};
    auto ref = system.spawn<oracle>("oracle");
    const auto begin = std::chrono::steady_clock::now();
    const auto late = ask_future<std::string>(system, ref, ask_in_vain, 20ms).get();
    EXPECT_GE(std::chrono::steady_clock::now() - begin, 20ms);
    ASSERT_FALSE(late);
    EXPECT_EQ(late.error().what, ask_error::kind::timeout);
    EXPECT_NE(
        late.error().text().find("ask timed out on [tactus://demo/user/oracle] after [20 ms]"),
        std::string::npos)
        << late.error().text();
    EXPECT_EQ(ask_future<std::string>(system, ref, ask_it, 0s).get().error().what,
              ask_error::kind::invalid_timeout);
    (void)system.stop(ref.any());
    ASSERT_TRUE(until([&] { return !system.select("/user/oracle"); }));
    EXPECT_EQ(ask_future<std::string>(system, ref, ask_it, 10s).get().error().what,
              ask_error::kind::target_terminated);
}

// AS-1, SC-3: 2^31 - 1 ticks are accepted, one more is no time to wait.
TEST(ask_future, AS_1_the_longest_time) {
    actor_system system{"demo"};
    auto ref = system.spawn<oracle>("oracle");
    const std::chrono::nanoseconds most(system.scheduler().maximum_delay().ns());
    EXPECT_EQ(ask_future<std::string>(system, ref, ask_it, most).get(), "yes");
    const std::chrono::nanoseconds tick(system.scheduler().resolution().ns());
    EXPECT_EQ(ask_future<std::string>(system, ref, ask_it, most + tick).get().error().what,
              ask_error::kind::invalid_timeout);
    EXPECT_EQ(ask_future<std::string>(system, ref, ask_it, std::chrono::nanoseconds::max()).get(),
              "yes");
}

// AS-1, SC-2: without a timer nobody is asked.
TEST(ask_future, AS_1_without_a_timer_it_is_not_asked) {
    std::atomic<int> questions{0};
    std::atomic<int> numbers{0};
    actor_system::options o{.log_level = log_level::off};
    o.scheduler.profile = scheduler_profile::custom;
    o.scheduler.custom = {4, 4, 4};
    actor_system system("demo", o);
    const auto ref = system.spawn<counting>("counting", &questions, &numbers);
    while (system.timers().schedule_once(1_h, ref, 1)) {
    }
    auto refused = ask_future<std::string>(system, ref, ask_it, 10s);
    ASSERT_EQ(refused.wait_for(60s), std::future_status::ready);
    EXPECT_EQ(refused.get().error().what, ask_error::kind::no_room);
    ref.tell(1);
    ASSERT_TRUE(until([&] { return numbers == 1; }));
    EXPECT_EQ(questions, 0);  // it would have come before
    EXPECT_TRUE(ask_future<std::string>(system, ref, ask_it, for_ever).valid());
    EXPECT_TRUE(until([&] { return questions == 1; }));
}

// AS-1: a question that could not be made leaves nothing behind; nor does one that was answered.
TEST(ask_future, AS_1_nothing_is_left_of_it) {
    actor_system system("demo", {.log_level = log_level::off});
    const auto ref = system.spawn<oracle>("oracle");
    const std::size_t actors = system.world().kernel().live_count();
    const auto throws = [](actor_ref<std::string>) -> question { throw std::runtime_error("no"); };
    for (const std::chrono::nanoseconds timeout : {std::chrono::nanoseconds(10min), for_ever})
        EXPECT_THROW((void)ask_future<std::string>(system, ref, throws, timeout),
                     std::runtime_error);
    EXPECT_EQ(ask_future<std::string>(system, ref, ask_it, 10min).get(), "yes");
    EXPECT_TRUE(until([&] { return system.scheduler().active_count() == 0; }));
    EXPECT_TRUE(until([&] { return system.world().kernel().live_count() == actors; }));
}

// AS-1: the time counts from the question, although no worker has got to it.
TEST(ask_future, AS_1_the_time_counts_from_the_call) {
    busy_worker busy;
    still_clock time;
    stalled_driver driver;
    actor_system::options o;
    o.dispatcher.workers = 1;
    o.dispatcher.max_workers = 1;
    o.tools.time = &time;
    o.tools.driver = &driver;
    actor_system system("busy", o);
    const auto ref = system.spawn<oracle>("oracle");
    busy.begin(system);
    const instant asked = time.now();
    auto answer = ask_future<std::string>(system, ref, ask_in_vain, 50ms);
    time.advance(duration::from_ms(40));
    busy.end();
    ASSERT_TRUE(until([&] { return system.scheduler().next_deadline() != instant::never(); }));
    EXPECT_GE(system.scheduler().next_deadline(), asked + duration::from_ms(50));
    EXPECT_LE(system.scheduler().next_deadline(), asked + duration::from_ms(51));
}

// AS-1, UP-2: a system that ends leaves no future without a value.
TEST(ask_future, AS_1_the_system_ends_first) {
    std::future<std::expected<std::string, ask_error>> answer;
    {
        actor_system system{"demo"};
        auto ref = system.spawn<oracle>("oracle");
        answer = ask_future<std::string>(system, ref, ask_in_vain, 1h);
        EXPECT_EQ(answer.wait_for(5ms), std::future_status::timeout);
    }
    ASSERT_EQ(answer.wait_for(0s), std::future_status::ready);
    EXPECT_EQ(answer.get().error().what, ask_error::kind::target_terminated);
}

// AS-1: the answer is there when wait() has returned, with a timeout and without, and before any
// callback of the end is called; a question that comes after the end is answered, too.
TEST(ask_future, AS_1_ready_at_once_when_the_system_has_ended) {
    actor_system system("demo", {.log_level = log_level::off});
    const auto ref = system.spawn<oracle>("oracle");
    auto limited = ask_future<std::string>(system, ref, ask_in_vain, 1h);
    auto unlimited = ask_future<std::string>(system, ref, ask_in_vain, for_ever);
    auto seen = std::make_shared<std::atomic<int>>(0);
    ASSERT_TRUE(system.on_terminated(
        [&, seen] { *seen = (limited.is_ready() ? 1 : 0) + (unlimited.is_ready() ? 1 : 0); }));
    ASSERT_TRUE(system.terminate_and_wait(30s));
    EXPECT_EQ(*seen, 2);
    auto late = ask_future<std::string>(system, ref, ask_it, 1h);
    auto late_unlimited = ask_future<std::string>(system, ref, ask_it, for_ever);
    for (answer_future<std::string>* answer : {&limited, &unlimited, &late, &late_unlimited}) {
        ASSERT_TRUE(answer->is_ready());
        EXPECT_EQ(answer->get().error().what, ask_error::kind::target_terminated);
    }
}

// AS-1: the box of the question lives on, because its target is in a system that goes on.
TEST(ask_future, AS_1_the_asking_system_ends_and_the_target_does_not) {
    actor_system other("other", {.log_level = log_level::off});
    const auto ref = other.spawn<oracle>("oracle");
    actor_system system("demo", {.log_level = log_level::off});
    auto before = ask_future<std::string>(system, ref, ask_in_vain, for_ever);
    ASSERT_TRUE(system.terminate_and_wait(30s));
    ASSERT_TRUE(before.is_ready());
    EXPECT_EQ(before.get().error().what, ask_error::kind::target_terminated);
    auto after = ask_future<std::string>(system, ref, ask_it, for_ever);
    ASSERT_TRUE(after.is_ready());
    EXPECT_EQ(after.get().error().what, ask_error::kind::target_terminated);
}

// AS-1: replies, askers and the end at the same time; every future has one answer.
TEST(ask_future, AS_1_the_system_ends_while_threads_ask) {
    for (int round = 0; round < 10; ++round) {
        actor_system system("demo", {.log_level = log_level::off});
        const auto ref = system.spawn<oracle>("oracle");
        std::atomic<int> asked{0};
        std::atomic<bool> is_over{false};
        std::vector<std::thread> threads;
        for (int t = 0; t < 2; ++t) {
            threads.emplace_back([&] {
                while (!is_over) {
                    auto answer = ask_future<std::string>(system, ref, ask_it, for_ever);
                    ++asked;
                    ASSERT_EQ(answer.wait_for(60s), std::future_status::ready);
                    const auto got = answer.get();
                    ASSERT_TRUE(got || got.error().what == ask_error::kind::target_terminated);
                }
            });
        }
        ASSERT_TRUE(until([&] { return asked > 20; }));
        EXPECT_TRUE(system.terminate_and_wait(30s));
        is_over = true;
        for (std::thread& t : threads)
            t.join();
    }
}

// UP-3: an actor may ask so, since nothing blocks.
TEST(ask_future, UP_3_within_an_actor) {
    struct relay {
        actor_system* system;
        actor_ref<question> to;
        std::shared_ptr<std::promise<bool>> done;
    };
    class asker : public actor<relay> {
    public:
        void on(const relay& m) {
            answer_ = ask_future<std::string>(*m.system, m.to, ask_it, 10s);
            m.done->set_value(answer_.valid());
        }

    private:
        std::future<std::expected<std::string, ask_error>> answer_;
    };
    actor_system system("demo", {.log_level = log_level::off});
    auto done = std::make_shared<std::promise<bool>>();
    auto asked = done->get_future();
    system.spawn<asker>("asker").tell(relay{&system, system.spawn<oracle>("oracle"), done});
    ASSERT_EQ(asked.wait_for(60s), std::future_status::ready);
    EXPECT_TRUE(asked.get());
}

// DF-20:
// The actor's worker is the only one, so the answer could never come while it waits.
TEST(ask_future, DF_20_get_within_an_actor_does_not_wait) {
    struct relay {
        actor_system* system;
        actor_ref<question> to;
        std::promise<ask_error>* refused;
    };
    struct later {
        std::promise<std::string>* answer;
    };
    class asker : public actor<relay, later> {
    public:
        void on(const relay& m) {
            answer_ = ask_future<std::string>(*m.system, m.to, ask_it, 10min);
            answer_.wait();
            EXPECT_EQ(answer_.wait_for(10min), std::future_status::timeout);
            auto got = answer_.get();
            ASSERT_FALSE(got);
            m.refused->set_value(got.error());
        }
        void on(const later& m) {
            if (answer_.is_ready())
                m.answer->set_value(*answer_.get());
            else
                context().self().tell(later(m));
        }

    private:
        answer_future<std::string> answer_;
    };
    actor_system::options o{.log_level = log_level::off};
    o.dispatcher.workers = 1;
    o.dispatcher.max_workers = 1;
    actor_system system("demo", o);
    std::promise<ask_error> refused;
    const auto oracle_ref = system.spawn<oracle>("oracle");
    const auto asks = system.spawn<asker>("asker");
    asks.tell(relay{&system, oracle_ref, &refused});
    auto why = refused.get_future();
    ASSERT_EQ(why.wait_for(30s), std::future_status::ready);
    const ask_error e = why.get();
    EXPECT_EQ(e.what, ask_error::kind::would_block_worker);
    EXPECT_EQ(e.target_path, "tactus://demo/user/oracle");
    // It is still there, and can be taken when it has come.
    std::promise<std::string> answer;
    asks.tell(later{&answer});
    auto text = answer.get_future();
    ASSERT_EQ(text.wait_for(30s), std::future_status::ready);
    EXPECT_EQ(text.get(), "yes");
}
