// SPDX-License-Identifier: Apache-2.0
//
// Goal: a system that drains refuses what comes from outside, handles the rest, and ends; after its
// limit the rest is stopped, and the report says what it was (DF-67, CO-5).
// Method: whole systems; what is lost is counted by its cause, so that every message is accounted
// for.
#include <tactus/runtime/actor_system.hpp>

#include <tactus/actor/actor_timers.hpp>
#include <tactus/actor/system_events.hpp>
#include <tactus/runtime/ask_future.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <latch>
#include <semaphore>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace tactus;  // NOLINT: the whole vocabulary is used
using namespace std::chrono_literals;
using outcome = drain_report::outcome;

namespace {

constexpr auto relaxed = std::memory_order_relaxed;

/// Counts what is lost, by cause.
struct loss_counter final : world_events {
    void dead_letter(any_ref, envelope&, dead_letter_cause cause) noexcept override {
        by_cause[static_cast<std::size_t>(cause)].fetch_add(1, relaxed);
    }
    void message_lost(any_ref, const message_type&, dead_letter_cause cause) noexcept override {
        by_cause[static_cast<std::size_t>(cause)].fetch_add(1, relaxed);
    }
    [[nodiscard]] unsigned of(dead_letter_cause cause) const {
        return by_cause[static_cast<std::size_t>(cause)].load(relaxed);
    }
    std::atomic<unsigned> by_cause[dead_letter_cause_count] = {};
};

struct counts {
    std::atomic<int> handled{0};
    std::atomic<int> stopped{0};
    std::binary_semaphore entered{0};
    std::binary_semaphore open{0};
};
struct hold {};  // blocks its actor until the test opens
struct question {
    actor_ref<int> reply_to;
};

class counter : public actor<int, hold, question> {
public:
    explicit counter(counts* c) : c_(c) {}
    void on(int) { c_->handled.fetch_add(1, relaxed); }
    void on(hold) {
        c_->entered.release();
        c_->open.acquire();
    }
    void on(const question& q) { q.reply_to.tell(c_->handled.load(relaxed)); }
    void post_stop() { c_->stopped.fetch_add(1, relaxed); }

private:
    counts* c_;
};
using counter_ref = actor_ref<int, hold, question>;

actor_system::options quiet(world_events* events = nullptr) {
    return {.events = events, .log_level = log_level::off};
}
/// Waits until the system refuses what comes from outside; how many messages it took before.
template <class Ref>
int await_door(const Ref& ref, int message) {
    for (int taken = 0;;) {
        const auto told = ref.try_tell(message);
        if (!told && told.error().why == sent::draining)
            return taken;
        taken += told ? 1 : 0;
        std::this_thread::sleep_for(1ms);
    }
}

}  // namespace

TEST(drain, DF_67_CO_5_a_hundred_thousand_queued_messages_are_handled) {
    constexpr int count = 100'000;
    counts c;
    loss_counter lost;
    actor_system system("many", quiet(&lost));
    const counter_ref ref = system.spawn<counter>("counter", &c);
    ref.tell(hold{});
    c.entered.acquire();
    for (int i = 0; i < count; ++i)
        ref.tell(i);
    c.open.release();
    const drain_report r = system.drain(60s);
    EXPECT_EQ(r.what, outcome::drained) << r.text();
    EXPECT_TRUE(r.is_clean()) << r.text();
    EXPECT_EQ(c.handled.load(), count);
    EXPECT_EQ(c.stopped.load(), 1);
    EXPECT_EQ(r.messages_lost, 0u);
    EXPECT_EQ(lost.of(dead_letter_cause::draining), 0u);
    EXPECT_EQ(r.shutdown.reason.name, "drain");
    EXPECT_TRUE(system.wait(0s));
    EXPECT_EQ(system.info().phase, system_phase::stopped);
}

TEST(drain, DF_67_CO_5_nothing_comes_in_from_outside) {
    counts c;
    loss_counter lost;
    actor_system system("door", quiet(&lost));
    const counter_ref ref = system.spawn<counter>("counter", &c);
    ref.tell(hold{});
    c.entered.acquire();
    ref.tell(1);
    drain_report r;
    std::jthread drains([&] { r = system.drain(60s); });
    const int taken = await_door(ref, 2);
    EXPECT_EQ(system.info().phase, system_phase::draining);
    EXPECT_NE(system.dump().find("draining"), std::string::npos);
    ref.tell(3);
    EXPECT_EQ(lost.of(dead_letter_cause::draining), 1u);
    const auto told = ref.try_tell(4);
    ASSERT_FALSE(told);
    EXPECT_EQ(told.error().message, 4);
    const auto made = system.try_spawn<counter>("late", {}, &c);
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().what, spawn_error::kind::draining);
    const auto begun = std::chrono::steady_clock::now();
    const auto make = [](auto me) { return question{me}; };
    const auto answer = system.ask<int>(ref, make, 1h);
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().what, ask_fault::draining);
    EXPECT_NE(answer.error().text().find("drains"), std::string::npos) << answer.error().text();
    const auto later = ask_future<int>(system, ref, make, 1h).get();
    ASSERT_FALSE(later);
    EXPECT_EQ(later.error().what, ask_fault::draining);
    EXPECT_LT(std::chrono::steady_clock::now() - begun, 30s);
    c.open.release();
    drains.join();
    EXPECT_TRUE(r.is_clean()) << r.text();
    EXPECT_EQ(c.handled.load(), 1 + taken);
}

namespace {

/// A chain: each passes on what it is told, to one that it spawns when first needed.
class chained : public actor<int> {
public:
    chained(counts* c, int left) : c_(c), left_(left) {}
    void on(int v) {
        if (left_ == 0) {
            c_->handled.fetch_add(1, relaxed);
            return;
        }
        if (!next_)
            next_ = *context().try_spawn<chained>("next", {}, c_, left_ - 1);
        next_.tell(v);
    }

private:
    counts* c_;
    int left_;
    actor_ref<int> next_;
};

}  // namespace

// What actors send to each other, and spawn, belongs to handling the rest.
TEST(drain, DF_67_CO_5_a_pipeline_runs_empty) {
    constexpr int count = 20'000;
    counts c;
    loss_counter lost;
    actor_system system("chain", quiet(&lost));
    const auto first = system.spawn<chained>("first", &c, 8);
    for (int i = 0; i < count; ++i)
        first.tell(i);
    const drain_report r = system.drain(60s);
    EXPECT_TRUE(r.is_clean()) << r.text();
    EXPECT_EQ(c.handled.load(), count);
}

namespace {

class endless : public actor<int> {
public:
    void on(int v) { context().self().tell(v + 1); }
    void post_stop() { stopped.fetch_add(1, relaxed); }
    static inline std::atomic<int> stopped{0};
};

}  // namespace

TEST(drain, DF_67_CO_5_an_actor_that_never_stops_is_forced) {
    endless::stopped = 0;
    actor_system system("endless", quiet());
    const actor_ref<int> ref = system.spawn<endless>("ever");
    ref.tell(0);
    const auto begun = std::chrono::steady_clock::now();
    const drain_report r = system.drain(200ms);
    EXPECT_GE(std::chrono::steady_clock::now() - begun, 200ms);
    EXPECT_EQ(r.what, outcome::forced);
    EXPECT_FALSE(r.is_clean());
    EXPECT_TRUE(r.has_ended);
    EXPECT_EQ(r.busy_count, 1u);
    ASSERT_EQ(r.busy.size(), 1u);
    EXPECT_EQ(r.busy[0].path, "tactus://endless/user/ever");
    EXPECT_NE(r.text().find("tactus://endless/user/ever"), std::string::npos) << r.text();
    EXPECT_EQ(r.messages_lost, 1u) << r.text();
    EXPECT_EQ(endless::stopped.load(), 1);  // its hook ran
}

// Every message is handled, or told as a dead letter of the drain; none is both or neither.
TEST(drain, DF_67_CO_5_nothing_is_lost_among_concurrent_senders) {
    for (int round = 0; round < 20; ++round) {
        counts c;
        loss_counter lost;
        std::atomic<unsigned> sent_count{0};
        std::atomic<unsigned> taken{0};
        std::atomic<unsigned> refused{0};
        {
            actor_system system("senders", quiet(&lost));
            const counter_ref ref = system.spawn<counter>("counter", &c);
            std::atomic<bool> stop{false};
            std::latch ready{4};
            std::vector<std::jthread> senders;
            for (int t = 0; t < 4; ++t) {
                senders.emplace_back([&, t] {
                    for (bool told = false; !stop.load(relaxed); told = true) {
                        if (t % 2 == 0) {
                            ref.tell(1);
                            sent_count.fetch_add(1, relaxed);
                        } else if (const auto r = ref.try_tell(1)) {
                            taken.fetch_add(1, relaxed);
                        } else {
                            EXPECT_EQ(r.error().why, sent::draining);
                            refused.fetch_add(1, relaxed);
                        }
                        if (!told)
                            ready.count_down();
                    }
                });
            }
            ready.wait();
            // Stops them before the system is gone, but not before it has begun to stop.
            std::jthread ends([&] {
                while (system.info().phase != system_phase::stopping &&
                       system.info().phase != system_phase::stopped)
                    std::this_thread::sleep_for(100us);
                stop = true;
            });
            // An actor that ends refuses by its generation; the door is shut longer than that.
            system.shutdown().add_task(phases::before_actor_system_terminate, "senders", [&] {
                ends.join();
                senders.clear();
            });
            const drain_report r = system.drain(60s);
            EXPECT_TRUE(r.is_clean()) << r.text();
        }
        EXPECT_EQ(static_cast<unsigned>(c.handled.load()) + lost.of(dead_letter_cause::draining),
                  sent_count.load() + taken.load());
        EXPECT_EQ(lost.of(dead_letter_cause::recipient_terminated), 0u);
        EXPECT_GT(lost.of(dead_letter_cause::draining), 0u);
    }
}

namespace {

class failing : public actor<int> {
public:
    explicit failing(counts* c) : c_(c) {}
    void on(int v) {
        c_->handled.fetch_add(1, relaxed);
        if (v % 3 == 0)
            throw std::runtime_error("on purpose");
    }

private:
    counts* c_;
};

}  // namespace

// Failures are decided as ever; one that backs off is waited for, since messages wait for it.
TEST(drain, DF_67_CO_5_handlers_that_throw) {
    counts c;
    actor_system system("throws", quiet());
    const actor_ref<int> ref = system.spawn<failing>("failing", &c);
    for (int i = 1; i <= 45; ++i)
        ref.tell(i);
    const drain_report r = system.drain(60s);
    EXPECT_TRUE(r.is_clean()) << r.text();
    EXPECT_EQ(c.handled.load(), 45);
}

TEST(drain, DF_67_CO_5_a_bounded_mailbox_and_an_offer) {
    counts c;
    loss_counter lost;
    actor_system system("bounded", quiet(&lost));
    spawn_options how;
    how.mailbox.capacity = 4;
    how.mailbox.when_full = overflow::block;
    const counter_ref ref = *system.try_spawn<counter>("counter", how, &c);
    ref.tell(hold{});
    c.entered.acquire();
    int queued = 0;
    while (ref.try_tell(1))
        ++queued;
    EXPECT_GE(queued, 3);
    drain_report r;
    std::jthread drains([&] { r = system.drain(60s); });
    queued += await_door(ref, 2);
    c.open.release();
    drains.join();
    EXPECT_TRUE(r.is_clean()) << r.text();
    EXPECT_EQ(c.handled.load(), queued);
}

namespace {

/// Suspends itself at the first message.
class dozing : public actor<int> {
public:
    dozing(counts* c, resume_condition until) : c_(c), until_(until) {}
    void on(int) {
        if (c_->handled.fetch_add(1, relaxed) == 0) {
            EXPECT_TRUE(context().suspend(suspend_reason::user_defined, until_));
        }
    }

private:
    counts* c_;
    resume_condition until_;
};

}  // namespace

TEST(drain, DF_67_CO_5_a_suspended_actor_is_waited_for) {
    counts c;
    actor_system system("suspended", quiet());
    const actor_ref<int> ref =
        system.spawn<dozing>("s", &c, resume_condition::after(duration::from_ms(100)));
    for (int i = 0; i < 3; ++i)
        ref.tell(i);
    const drain_report r = system.drain(60s);
    EXPECT_TRUE(r.is_clean()) << r.text();
    EXPECT_EQ(c.handled.load(), 3);
}

TEST(drain, DF_67_CO_5_a_suspended_actor_that_stays_is_reported) {
    counts c;
    loss_counter lost;
    actor_system system("held", quiet(&lost));
    const actor_ref<int> ref = system.spawn<dozing>("s", &c, resume_condition::signal(7));
    for (int i = 0; i < 3; ++i)
        ref.tell(i);
    const drain_report r = system.drain(200ms);
    EXPECT_EQ(r.what, outcome::forced);
    ASSERT_EQ(r.busy.size(), 1u) << r.text();
    EXPECT_EQ(r.busy[0].waits_for, "the end of its suspension");
    EXPECT_FALSE(r.busy[0].is_running);
    EXPECT_EQ(r.messages_lost, 2u);
    EXPECT_EQ(c.handled.load(), 1);
}

namespace {

/// Two timers whose handlers take longer than their periods: never idle, but for the drain.
class beating : public actor<int, hold> {
public:
    explicit beating(counts* c) : c_(c) {}
    void pre_start() {
        EXPECT_TRUE(context().start_timer_at_fixed_rate("rate", 1, duration::from_ms(1)));
        EXPECT_TRUE(context().start_timer_with_fixed_delay("delay", 2, duration::from_ms(1)));
    }
    void on(int) {
        c_->handled.fetch_add(1, relaxed);
        std::this_thread::sleep_for(3ms);
    }
    void on(hold) {}

private:
    counts* c_;
};

}  // namespace

TEST(drain, DF_67_CO_5_periodic_timers_do_not_prolong_it) {
    counts c;
    actor_system system("beats", quiet());
    (void)system.spawn<beating>("beating", &c);
    const auto slow = system.spawn<beating>("again", &c);
    const auto job = system.timers().schedule_at_fixed_rate(
        duration::from_ms(1), duration::from_ms(1), actor_ref<int>(any_ref(slow)), 3);
    EXPECT_TRUE(job.has_value());
    while (c.handled.load(relaxed) < 10)
        std::this_thread::sleep_for(1ms);
    const drain_report r = system.drain(30s);
    EXPECT_TRUE(r.is_clean()) << r.text();
    EXPECT_LT(r.took, 10s);
}

namespace {

class waiting : public actor<int> {
public:
    explicit waiting(counts* c) : c_(c) {}
    task<> on(int) {
        (void)co_await context().delay(duration::from_ms(30));
        c_->handled.fetch_add(1, relaxed);
    }

private:
    counts* c_;
};

}  // namespace

TEST(drain, DF_67_CO_5_coroutines_are_waited_for) {
    counts c;
    actor_system system("coroutines", quiet());
    const actor_ref<int> ref = system.spawn<waiting>("w", &c);
    for (int i = 0; i < 5; ++i)
        ref.tell(i);
    const drain_report r = system.drain(60s);
    EXPECT_TRUE(r.is_clean()) << r.text();
    EXPECT_EQ(c.handled.load(), 5);
}

// A question that was asked before is answered, be it by a thread outside.
TEST(drain, DF_67_CO_5_asks_in_flight_are_answered) {
    struct keeper : actor<question> {
        explicit keeper(std::atomic<actor_ref<int>*>* at) : to(at) {}
        void on(const question& q) { to->store(new actor_ref<int>(q.reply_to)); }
        std::atomic<actor_ref<int>*>* to;
    };
    counts c;
    std::atomic<actor_ref<int>*> reply_to{nullptr};
    actor_system system("asks", quiet());
    const auto ref = system.spawn<keeper>("keeper", &reply_to);
    const counter_ref busy = system.spawn<counter>("counter", &c);
    busy.tell(hold{});
    c.entered.acquire();
    auto answer = ask_future<int>(system, ref, [](auto me) { return question{me}; }, 60s);
    while (reply_to.load() == nullptr)
        std::this_thread::sleep_for(1ms);
    drain_report r;
    std::jthread drains([&] { r = system.drain(60s); });
    (void)await_door(busy, 1);
    reply_to.load()->tell(42);
    const auto got = answer.get();
    ASSERT_TRUE(got.has_value());
    EXPECT_EQ(*got, 42);
    c.open.release();
    drains.join();
    EXPECT_TRUE(r.is_clean()) << r.text();
    delete reply_to.load();
}

TEST(drain, DF_67_CO_5_terminate_in_the_middle) {
    counts c;
    actor_system system("ended", quiet());
    const counter_ref ref = system.spawn<counter>("counter", &c);
    ref.tell(hold{});
    c.entered.acquire();
    ref.tell(1);
    drain_report r;
    std::jthread drains([&] { r = system.drain(60s); });
    (void)await_door(ref, 2);
    system.terminate();
    c.open.release();
    drains.join();
    EXPECT_EQ(r.what, outcome::terminated) << r.text();
    EXPECT_TRUE(r.has_ended);
    EXPECT_EQ(r.shutdown.reason.name, "system_terminate");
    EXPECT_EQ(c.stopped.load(), 1);
}

TEST(drain, DF_67_CO_5_force_stop_in_the_middle) {
    actor_system system("forced", quiet());
    const actor_ref<int> ref = system.spawn<endless>("ever");
    ref.tell(0);
    drain_report r;
    std::jthread drains([&] { r = system.drain(1h); });
    (void)await_door(ref, 1);
    system.force_stop();
    drains.join();
    EXPECT_EQ(r.what, outcome::forced);
    EXPECT_TRUE(r.has_ended);
}

TEST(drain, DF_67_CO_5_force_stop_without_a_drain_ends_the_system) {
    actor_system system("forced", quiet());
    system.force_stop();
    EXPECT_TRUE(system.wait(10s));
}

// The shorter limit counts; both get the same report.
TEST(drain, DF_67_CO_5_a_second_drain_joins_the_first) {
    actor_system system("twice", quiet());
    const actor_ref<int> ref = system.spawn<endless>("ever");
    ref.tell(0);
    drain_report first;
    std::jthread drains([&] { first = system.drain(1h); });
    (void)await_door(ref, 1);
    const drain_report second = system.drain(50ms);
    drains.join();
    EXPECT_EQ(first.what, outcome::forced);
    EXPECT_EQ(second.what, outcome::forced);
    EXPECT_EQ(second.messages_lost, first.messages_lost);
    EXPECT_EQ(system.drain(1h).what, outcome::forced);  // after the end, too
}

TEST(drain, DF_67_CO_5_a_system_without_actors) {
    actor_system system("empty", quiet());
    const drain_report r = system.drain(60s);
    EXPECT_TRUE(r.is_clean()) << r.text();
    EXPECT_LT(r.took, 10s);
}

TEST(drain, DF_67_CO_5_a_limit_of_zero) {
    {
        actor_system::options one = quiet();
        one.dispatcher.workers = 1;
        one.dispatcher.max_workers = 1;
        counts c;
        actor_system idle("idle", one);
        const counter_ref ref = idle.spawn<counter>("counter", &c);
        EXPECT_TRUE(idle.ask<int>(ref, [](auto me) { return question{me}; }, 60s));
        while (idle.dispatchers().first().state_of(0) != runtime::worker_state::parked)
            std::this_thread::sleep_for(1ms);
        const drain_report r = idle.drain(0s);
        EXPECT_EQ(r.what, outcome::drained) << r.text();
    }
    actor_system busy("busy", quiet());
    const actor_ref<int> ref = busy.spawn<endless>("ever");
    ref.tell(0);
    const drain_report r = busy.drain(0s);
    EXPECT_EQ(r.what, outcome::forced);
    EXPECT_TRUE(r.has_ended);
}

TEST(drain, DF_67_CO_5_after_the_end_there_is_nothing_to_drain) {
    actor_system system("over", quiet());
    EXPECT_TRUE(system.terminate_and_wait(10s));
    const drain_report r = system.drain(60s);
    EXPECT_EQ(r.what, outcome::terminated);
    EXPECT_TRUE(r.has_ended);
}

namespace {

struct drain_here {
    actor_system* system;
    drain_report* into;
};
class drainer : public actor<drain_here, question> {
public:
    void on(const drain_here& m) { *m.into = m.system->drain(60s); }
    void on(const question& q) { q.reply_to.tell(1); }
};

}  // namespace

TEST(drain, DF_67_CO_5_within_a_handler_it_is_refused) {
    drain_report r;
    actor_system system("within", quiet());
    const auto ref = system.spawn<drainer>("drainer");
    ref.tell(drain_here{&system, &r});
    EXPECT_TRUE(system.ask<int>(ref, [](auto me) { return question{me}; }, 10s));
    EXPECT_EQ(r.what, outcome::would_block_worker);
    EXPECT_NE(r.text().find("must not wait"), std::string::npos);
    EXPECT_EQ(system.info().phase, system_phase::running);
}

namespace {

class listener : public actor<system_phase_changed> {
public:
    listener(std::atomic<int>* seen, std::latch* subscribed)
        : seen_(seen), subscribed_(subscribed) {}
    void pre_start() {
        EXPECT_TRUE(context().world().subscribe<system_phase_changed>(any_ref(context().self())));
        subscribed_->count_down();
    }
    void on(const system_phase_changed& e) {
        const bool first = seen_->load() == 0;
        EXPECT_EQ(e.from, first ? system_phase::running : system_phase::draining);
        EXPECT_EQ(e.to, first ? system_phase::draining : system_phase::stopping);
        seen_->fetch_add(1);
    }

private:
    std::atomic<int>* seen_;
    std::latch* subscribed_;
};

}  // namespace

TEST(drain, DF_67_CO_5_phases_are_events) {
    std::atomic<int> seen{0};
    counts c;
    actor_system system("phases", quiet());
    std::latch subscribed(1);
    (void)system.spawn<listener>("listener", &seen, &subscribed);
    subscribed.wait();
    const counter_ref ref = system.spawn<counter>("counter", &c);
    EXPECT_TRUE(system.ask<int>(ref, [](auto me) { return question{me}; }, 10s));
    const drain_report r = system.drain(60s);
    EXPECT_TRUE(r.is_clean()) << r.text();
    EXPECT_GE(seen.load(), 1);  // the second only if it is handled before the actors stop
}

// Tasks run after the drain, and may still tell and ask; one may itself drain, first.
TEST(drain, DF_67_CO_5_tasks_of_the_shutdown) {
    counts c;
    actor_system system("tasks", quiet());
    const counter_ref ref = system.spawn<counter>("counter", &c);
    const counter_ref other = system.spawn<counter>("other", &c);
    std::atomic<int> told{0};
    ref.tell(1);
    system.shutdown().add_task(phases::service_stop, "tell", [&] {
        told = c.handled.load();
        ref.tell(2);
        EXPECT_TRUE(system.ask<int>(ref, [](auto me) { return question{me}; }, 10s));
    });
    system.add_actor_termination_task(phases::service_stop, "stop", other, poison_pill{});
    const drain_report r = system.drain(60s);
    EXPECT_TRUE(r.is_clean()) << r.text();
    EXPECT_EQ(told.load(), 1);
    EXPECT_EQ(c.handled.load(), 2);
}

TEST(drain, DF_67_CO_5_a_drain_as_a_task) {
    counts c;
    actor_system system("task", quiet());
    const counter_ref ref = system.spawn<counter>("counter", &c);
    drain_report r;
    system.shutdown().add_task(phases::service_requests_done, "drain",
                               [&] { r = system.drain(4s); });
    ref.tell(hold{});
    c.entered.acquire();
    for (int i = 0; i < 1'000; ++i)
        ref.tell(i);
    system.terminate();
    const int taken = await_door(ref, 0);
    c.open.release();
    EXPECT_TRUE(system.wait(30s));
    EXPECT_EQ(r.what, outcome::drained) << r.text();
    EXPECT_EQ(c.handled.load(), 1'000 + taken);
}

// The outside call waits for the end of the system, which waits for the task: the task does not
// wait for the outside call.
TEST(drain, DF_67_CO_5_a_drain_in_a_task_beside_one_outside) {
    actor_system system("both", quiet());
    drain_report in_task;
    system.shutdown().add_task(phases::service_stop, "drain", [&] { in_task = system.drain(1h); });
    const drain_report r = system.drain(1h);
    EXPECT_TRUE(r.is_clean()) << r.text();
    EXPECT_EQ(in_task.what, outcome::drained) << in_task.text();
    EXPECT_TRUE(in_task.in_shutdown);
}

TEST(drain, DF_67_CO_5_a_drain_outside_beside_one_in_a_task) {
    counts c;
    actor_system system("both", quiet());
    const counter_ref ref = system.spawn<counter>("counter", &c);
    drain_report in_task;
    system.shutdown().add_task(phases::service_requests_done, "drain",
                               [&] { in_task = system.drain(1h); });
    std::binary_semaphore go_on{0};
    // Later than the drain, and before the end of the actors.
    system.shutdown().add_task(phases::service_stop, "late", [&] { go_on.acquire(); });
    ref.tell(hold{});
    c.entered.acquire();
    system.terminate();
    (void)await_door(ref, 0);
    drain_report r;
    std::jthread drains([&] { r = system.drain(1h); });
    c.open.release();
    go_on.release();
    drains.join();
    EXPECT_TRUE(r.has_ended);
    EXPECT_TRUE(r.is_clean()) << r.text();
    EXPECT_FALSE(r.in_shutdown);
    EXPECT_TRUE(in_task.in_shutdown);
    EXPECT_TRUE(system.wait(0s));
}

// Senders that do not let off change the count of who is inside as long as they try.
TEST(drain, DF_67_CO_5_a_limit_beside_busy_senders) {
    counts c;
    actor_system system("senders", quiet());
    const counter_ref ref = system.spawn<counter>("counter", &c);
    std::atomic<bool> is_over{false};
    std::vector<std::jthread> senders;
    for (int i = 0; i < 4; ++i)
        senders.emplace_back([&] {
            while (!is_over)
                ref.tell(1);
        });
    const drain_report r = system.drain(0s);
    is_over = true;
    EXPECT_TRUE(r.has_ended);
}

// The destructor after a drain, and after one that was forced.
TEST(drain, DF_67_CO_5_the_destructor_follows) {
    for (const auto limit : {60s, 0s}) {
        const auto begun = std::chrono::steady_clock::now();
        {
            actor_system system("gone", quiet());
            const actor_ref<int> ref = system.spawn<endless>("ever");
            if (limit == 0s)
                ref.tell(0);
            EXPECT_EQ(system.drain(limit).what, limit == 0s ? outcome::forced : outcome::drained);
        }
        EXPECT_LT(std::chrono::steady_clock::now() - begun, 10s);
    }
}
