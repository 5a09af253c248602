// SPDX-License-Identifier: Apache-2.0
//
// Goal: a thread that asks from outside waits through the scheduler: the reply, the timer or the
// end of the system ends its wait, whichever is first, and nothing else does (AS-1, SC-13, SH-1).
// So it is with one that waits for the end of an actor (AC-8).
// Method: systems whose time the test moves, where it matters when something happens; threads
// against each other where it does not.
#include <tactus/runtime/actor_system.hpp>
#include <tactus/runtime/delay_future.hpp>
#include <tactus/runtime/reply_place.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <mutex>
#include <semaphore>
#include <stdexcept>
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

struct unknown {};  // to whom it comes

constexpr std::chrono::nanoseconds for_ever = std::chrono::nanoseconds::max();
using answer = std::expected<int, ask_error>;

struct question {
    actor_ref<int> reply_to;
};
constexpr auto ask_it = [](actor_ref<int> me) { return question{me}; };

/// Answers when the test says so.
struct asked_place {
    std::mutex mutex;
    std::vector<actor_ref<int>> all;
    [[nodiscard]] std::size_t count() {
        const std::lock_guard held(mutex);
        return all.size();
    }
    void reply(int value) {
        const std::lock_guard held(mutex);
        for (const actor_ref<int>& to : all)
            to.tell(value);
    }
};
class keeper : public actor<question> {
public:
    explicit keeper(asked_place* to) : to_(to) {}
    void on(const question& q) {
        const std::lock_guard held(to_->mutex);
        to_->all.push_back(q.reply_to);
    }

private:
    asked_place* to_;
};

/// Replies that nobody took.
struct letters final : world_events {
    void dead_letter(any_ref to, envelope& message, dead_letter_cause) noexcept override {
        if (message.type.read() != &message_type_of<int>)
            return;
        last.store(to.index().slot);
        lost.fetch_add(1);
    }
    void message_lost(any_ref, const message_type& type, dead_letter_cause) noexcept override {
        if (&type == &message_type_of<int>)
            lost.fetch_add(1);
    }
    std::atomic<int> lost{0};
    std::atomic<std::uint32_t> last{0};
};

/// A system whose time is the test's, and somebody in it who keeps questions.
struct hand_rig {
    explicit hand_rig(const scheduler_config& how = {}, const dispatcher_config& where = {})
        : system("hand", {.dispatcher = where,
                          .scheduler = how,
                          .events = &events,
                          .tools = {.time = &time, .driver = &driver},
                          .log_level = log_level::off}) {
        target = system.spawn<keeper>("keeper", &asked);
    }
    void pass(std::chrono::nanoseconds span) { driver.pass(time, duration::from_ns(span.count())); }
    [[nodiscard]] std::future<answer> ask(std::chrono::nanoseconds timeout) {
        auto said = std::async(std::launch::async, [this, timeout] {
            return system.ask<int>(target, ask_it, timeout);
        });
        EXPECT_TRUE(until([&] { return asked.count() == 1; }));
        return said;
    }
    [[nodiscard]] bool waits() { return system.scheduler().active_count() == 1; }

    asked_place asked;
    letters events;
    still_clock time;
    stalled_driver driver;
    actor_system system;
    actor_ref<question> target;
};

/// What came of it.
template <class T>
T result_of(hand_rig& rig, std::future<T>& said) {
    if (said.wait_for(60s) != std::future_status::ready) {
        ADD_FAILURE() << "it still waits";
        rig.system.terminate();  // so that it ends
    }
    return said.get();
}
ask_fault fault_of(hand_rig& rig, std::future<answer>& said) {
    const answer a = result_of(rig, said);
    return a ? (ADD_FAILURE() << "it was answered", ask_fault::refused) : a.error().what;
}

}  // namespace

// AS-1, PK-ASK-1, SC-30: the time of the system decides, and no other.
TEST(ask_deadline, AS_1_times_out_by_the_time_of_its_system) {
    hand_rig rig;
    auto said = rig.ask(10ms);
    EXPECT_EQ(said.wait_for(40ms), std::future_status::timeout);
    EXPECT_TRUE(rig.waits());
    rig.pass(9ms);
    EXPECT_EQ(said.wait_for(20ms), std::future_status::timeout);  // never early
    rig.pass(2ms);
    EXPECT_EQ(fault_of(rig, said), ask_fault::timeout);
    EXPECT_EQ(rig.system.scheduler().active_count(), 0u);
}

// AS-1, PK-ASK-3: a reply just before is the answer, and the timer is cancelled.
TEST(ask_deadline, AS_1_a_reply_just_before) {
    hand_rig rig;
    auto said = rig.ask(10ms);
    rig.pass(9'999us);
    rig.asked.reply(7);
    EXPECT_EQ(result_of(rig, said), 7);
    EXPECT_EQ(rig.system.scheduler().active_count(), 0u);
    rig.asked.reply(8);  // PK-ASK-3: a second one
    EXPECT_TRUE(until([&] { return rig.events.lost == 1; }));
}

// AS-1, PK-ASK-3: one that comes later is a dead letter, to whom it was sent.
TEST(ask_deadline, AS_1_a_late_reply_is_a_dead_letter) {
    hand_rig rig;
    auto said = rig.ask(10ms);
    rig.pass(11ms);
    EXPECT_EQ(fault_of(rig, said), ask_fault::timeout);
    EXPECT_EQ(rig.events.lost, 0);
    rig.asked.reply(7);
    ASSERT_TRUE(until([&] { return rig.events.lost == 1; }));
    EXPECT_EQ(rig.events.last, rig.asked.all.front().any().index().slot);
}

// AS-1: also one that comes after the timer and before its actor has heard of that.
TEST(ask_deadline, AS_1_a_reply_between_timer_and_end_is_a_dead_letter) {
    hand_rig rig;
    auto place = std::make_shared<detail::reply_place<int>>();
    {
        detail::reply_deadline deadline(*place, rig.system.scheduler(), duration::from_ms(10));
        rig.pass(11ms);
        EXPECT_EQ(deadline.wait(), ask_fault::timeout);
    }
    const auto box = rig.system.spawn_anonymous<detail::reply_box<int>>(place);
    box.tell(7);
    EXPECT_TRUE(until([&] { return rig.events.lost == 1; }));
    EXPECT_FALSE(place->reply().has_value());
    EXPECT_EQ(rig.events.last, box.any().index().slot);
}

// SH-1, UP-2: a system that ends leaves nobody waiting, however long that was to be.
TEST(ask_deadline, SH_1_a_system_that_ends_ends_the_wait) {
    for (const std::chrono::nanoseconds timeout :
         {std::chrono::nanoseconds(1h), for_ever, std::chrono::nanoseconds(24h * 365)}) {
        hand_rig rig;
        auto said = rig.ask(timeout);
        EXPECT_TRUE(rig.system.terminate_and_wait(60s));
        EXPECT_EQ(fault_of(rig, said), ask_fault::target_terminated);
        // Who asks now is told at once.
        const answer after = rig.system.ask<int>(rig.target, ask_it, timeout);
        ASSERT_FALSE(after.has_value());
        EXPECT_EQ(after.error().what, ask_fault::target_terminated);
    }
}

// SH-1: on the system's own threads, with many who ask while it ends.
TEST(ask_deadline, SH_1_whoever_asks_while_the_system_ends_comes_back) {
    for (int round = 0; round < 20; ++round) {
        asked_place asked;
        actor_system system("ends", {.log_level = log_level::off});
        const auto target = system.spawn<keeper>("keeper", &asked);
        std::atomic<int> told{0};
        std::atomic<bool> ended{false};
        std::vector<std::thread> threads;
        for (int i = 0; i < 4; ++i)
            threads.emplace_back([&, i] {
                ask_fault why{};
                do {
                    const bool is_late = ended;
                    const answer a = system.ask<int>(target, ask_it, i % 2 == 0 ? 1h : 1ms);
                    why = a ? ask_fault::refused : a.error().what;
                    if (why == ask_fault::no_room && is_late)
                        break;  // and not because the machine stood still
                } while (why == ask_fault::timeout || why == ask_fault::no_room);
                told += why == ask_fault::target_terminated ? 1 : 0;
            });
        EXPECT_TRUE(until([&] { return asked.count() >= 4; }));
        EXPECT_TRUE(system.terminate_and_wait(60s));
        ended = true;
        for (std::thread& t : threads)
            t.join();
        EXPECT_EQ(told, 4);
    }
}

// SC-2, SC-13, BP-2: a timer that is refused is told, nothing is sent, and nothing is left.
TEST(ask_deadline, SC_13_a_refused_timer_is_no_room) {
    hand_rig rig({.profile = scheduler_profile::custom, .custom = {4, 0, 1}});
    std::vector<cancellable> all;
    while (const auto made = rig.system.scheduler().schedule_once_fn(duration::from_s(60),
                                                                     [](const execution_batch&) {}))
        all.push_back(*made);
    EXPECT_EQ(all.size(), 4u);
    for (const std::chrono::nanoseconds timeout : {std::chrono::nanoseconds(10ms), for_ever}) {
        const answer refused = rig.system.ask<int>(rig.target, ask_it, timeout);
        ASSERT_FALSE(refused.has_value());
        EXPECT_EQ(refused.error().what, ask_fault::no_room);
    }
    EXPECT_EQ(rig.asked.count(), 0u);
    // With a place it is asked; also for ever, where nothing may wait far away (BP-6).
    EXPECT_TRUE(all.back().cancel());
    auto said = rig.ask(for_ever);
    rig.asked.reply(7);
    EXPECT_EQ(result_of(rig, said), 7);
    EXPECT_EQ(rig.asked.count(), 1u);  // what was refused was not before it
}

// SC-3: a time that no timer can count is waited for in spans; each is as long as it says.
TEST(ask_deadline, SC_3_a_long_time_is_waited_for_in_spans) {
    struct step {
        duration resolution;
        std::chrono::nanoseconds timeout;
        std::chrono::nanoseconds span;
    };
    for (const step& s : {step{duration::from_ms(1), 30h, 12h},
                          // 2^31 - 1 ticks are less than 36 minutes
                          step{duration::from_us(1), 1h, 2'147'483'647us}}) {
        hand_rig rig({.resolution = s.resolution});
        auto said = rig.ask(s.timeout);
        auto left = s.timeout;
        while (left > s.span) {
            rig.pass(s.span - 1ms);
            EXPECT_EQ(said.wait_for(5ms), std::future_status::timeout);
            const auto before = rig.system.scheduler().counted().registered;
            rig.pass(1ms);
            left -= s.span;
            // The next one counts from when it begins.
            EXPECT_TRUE(
                until([&] { return rig.system.scheduler().counted().registered == before + 1; }));
        }
        rig.pass(left - 1ms);
        EXPECT_EQ(said.wait_for(5ms), std::future_status::timeout);
        rig.pass(2ms);
        EXPECT_EQ(fault_of(rig, said), ask_fault::timeout);
    }
}

// BP-3, SC-3: the next span goes on with the last one: a moment of pressure does not end it.
TEST(ask_deadline, BP_3_a_long_time_is_not_ended_by_pressure) {
    // A worker that fires timers beside this thread would end the pressure early, so the only
    // worker is kept busy.
    busy_worker busy;
    hand_rig rig({}, {.workers = 1, .max_workers = 1});
    scheduler& timers = rig.system.scheduler();
    auto said = rig.ask(20h);
    busy.begin(rig.system);
    rig.pass(12h - 100ms);
    const auto before = timers.counted().registered;
    for (int i = 0; i < 2; ++i) {
        EXPECT_TRUE(timers.add(job_request::once(duration::from_ms(1), timer_priority::high)
                                   .send(rig.target.index(), {}),
                               unknown{}));
        rig.pass(80ms);
    }
    EXPECT_EQ(timers.pressure_now().state, backpressure_state::rejecting);
    EXPECT_TRUE(until([&] { return timers.counted().registered == before + 3; }));
    EXPECT_EQ(said.wait_for(5ms), std::future_status::timeout);
    rig.pass(8h);
    EXPECT_EQ(fault_of(rig, said), ask_fault::timeout);
    busy.end();
}

// AS-1, SC-36: no worker is needed for it.
TEST(ask_deadline, AS_1_times_out_though_all_workers_are_busy) {
    asked_place asked;
    busy_worker busy;
    actor_system system(
        "busy", {.dispatcher = {.workers = 1, .max_workers = 1}, .log_level = log_level::off});
    const auto target = system.spawn<keeper>("keeper", &asked);
    busy.begin(system);
    auto said =
        std::async(std::launch::async, [&] { return system.ask<int>(target, ask_it, 5ms); });
    EXPECT_EQ(said.wait_for(60s), std::future_status::ready);
    EXPECT_EQ(asked.count(), 0u);
    busy.end();
    const answer a = said.get();
    ASSERT_FALSE(a.has_value());
    EXPECT_EQ(a.error().what, ask_fault::timeout);
}

// UP-3, SC-10: who fires timers would wait for itself; it is told so at once, as a worker is.
TEST(ask_deadline, UP_3_who_fires_timers_does_not_wait) {
    hand_rig rig;
    struct rude final : waker {
        explicit rude(hand_rig& in) : rig(in) {}
        void wake() noexcept override {
            const answer a = rig.system.ask<int>(rig.target, ask_it, 1h);
            said = a ? ask_fault::refused : a.error().what;
            if (said == ask_fault::would_block_worker) {
                stopped = rig.system.graceful_stop(rig.target, 1h);
                ended = rig.system.wait(for_ever);
                passed = delay_future(rig.system.scheduler(), duration::from_ms(5)).wait(90s);
            }
            done.release();
        }
        hand_rig& rig;
        ask_fault said = ask_fault::timeout;
        bool stopped = true;
        bool ended = true;
        bool passed = true;
        std::binary_semaphore done{0};
    } rude(rig);
    const pending_delay rest(rig.system.scheduler(), duration::from_ms(5), &rude);
    const auto passes = std::async(std::launch::async, [&] { rig.pass(6ms); });
    if (!rude.done.try_acquire_for(60s)) {
        ADD_FAILURE() << "it waits for itself";
        rig.asked.reply(0);  // so that it ends
        rude.done.acquire();
    }
    EXPECT_EQ(rude.said, ask_fault::would_block_worker);
    EXPECT_FALSE(rude.stopped);
    EXPECT_FALSE(rude.ended);
    EXPECT_FALSE(rude.passed);
    EXPECT_EQ(rig.asked.count(), 0u);
}

// PK-ASK-4: who stops the actor that the reply would come to ends the wait.
TEST(ask_deadline, PK_ASK_4_a_stopped_reply_ends_the_wait) {
    hand_rig rig;
    auto said = rig.ask(1h);
    rig.asked.all.front().any().tell(poison_pill{});
    EXPECT_EQ(fault_of(rig, said), ask_fault::target_terminated);
    EXPECT_EQ(rig.system.scheduler().active_count(), 0u);
}

// AS-1: what making the message throws is the caller's, and nothing is left of the question.
TEST(ask_deadline, AS_1_a_question_that_throws_leaves_nothing) {
    hand_rig rig;
    const auto throws = [](actor_ref<int> me) -> question {
        if (me)
            throw std::runtime_error("x");
        return {me};
    };
    const actor_scheduler& kernel = rig.system.world().kernel();
    const auto before = kernel.live_count();
    EXPECT_THROW((void)rig.system.ask<int>(rig.target, throws, 1h), std::runtime_error);
    EXPECT_EQ(rig.system.scheduler().active_count(), 0u);
    EXPECT_TRUE(until([&] { return kernel.live_count() == before; }));
}

// AC-8, PK-ASK-6: waiting for the end of an actor goes the same way; it ends with its system, too.
TEST(ask_deadline, AC_8_a_graceful_stop_waits_by_the_time_of_its_system) {
    hand_rig rig;
    const auto stop = [&](std::chrono::nanoseconds timeout) {
        auto said = std::async(std::launch::async, [&rig, timeout] {
            return rig.system.graceful_stop(rig.target, timeout, question{});  // it goes on
        });
        EXPECT_TRUE(until([&] { return rig.asked.count() == 1; }));
        return said;
    };
    auto limited = stop(10ms);
    EXPECT_EQ(limited.wait_for(40ms), std::future_status::timeout);
    rig.pass(11ms);
    EXPECT_FALSE(result_of(rig, limited));
    EXPECT_EQ(rig.system.scheduler().active_count(), 0u);
    rig.asked.all.clear();
    auto unlimited = stop(for_ever);
    EXPECT_TRUE(rig.system.terminate_and_wait(60s));
    EXPECT_TRUE(result_of(rig, unlimited));
}

// AS-1, PK-ASK-3: replies against timers. Every question ends in one way, and every reply is the
// answer or a dead letter.
TEST(ask_deadline, AS_1_replies_and_timeouts_are_all_questions) {
    constexpr int thread_count = 4;
    const int each = static_cast<int>(tactus_test::sized(20'000, 20));
    struct late_question {
        actor_ref<int> reply_to;
        int after_us;
    };
    /// Replies about when who asked gives up.
    class about_time : public actor<late_question> {
    public:
        void on(const late_question& q) {
            const auto end =
                std::chrono::steady_clock::now() + std::chrono::microseconds(q.after_us);
            while (std::chrono::steady_clock::now() < end)
                std::this_thread::yield();
            q.reply_to.tell(1);
        }
    };
    letters events;
    std::atomic<int> replies{0};
    std::atomic<int> timeouts{0};
    std::atomic<int> refused{0};  // where the machine stood still: timers are under backpressure
    {
        actor_system system("race", {.scheduler = {.resolution = duration::from_us(100)},
                                     .events = &events,
                                     .log_level = log_level::off});
        std::vector<std::thread> threads;
        for (int t = 0; t < thread_count; ++t) {
            threads.emplace_back([&, target = system.spawn_anonymous<about_time>(), t] {
                for (int i = 0; i < each; ++i) {
                    const int after = 150 + (i * 7 + t * 13) % 300;
                    const auto a = system.ask<int>(
                        target, [=](auto me) { return late_question{me, after}; }, 300us);
                    if (a)
                        ++replies;
                    else if (a.error().what == ask_fault::timeout)
                        ++timeouts;
                    else if (a.error().what == ask_fault::no_room)
                        ++refused;
                    else
                        ADD_FAILURE() << a.error().text();
                }
            });
        }
        for (std::thread& t : threads)
            t.join();
        EXPECT_EQ(replies + timeouts + refused, thread_count * each);
        const int sent = thread_count * each - refused;
        EXPECT_TRUE(until([&] { return replies + events.lost == sent; }))
            << replies << " answers, " << events.lost << " dead letters";
        EXPECT_EQ(system.scheduler().active_count(), 0u);
        EXPECT_TRUE(until([&] { return system.scheduler().cell_count() == 0; }));
    }
    EXPECT_EQ(replies + events.lost, thread_count * each - refused);
    EXPECT_GT(timeouts, 0);
}
