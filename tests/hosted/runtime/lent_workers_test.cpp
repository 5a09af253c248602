// SPDX-License-Identifier: Apache-2.0
//
// Goal: an executor that rejects: counted attempts, events, nothing stranded, order kept (EX-1,
// EX-8, TC-M34).
#include <tactus/dispatch/lent_workers.hpp>

#include <tactus/runtime/heap_memory.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include <tactus/base/det_rng.hpp>

#include "dispatchers_rig.hpp"
#include "kernel_account.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using namespace std::chrono_literals;
using tactus_test::counting_actor;
using tactus_test::dispatchers_rig;
using tactus_test::until;

namespace {

/// Takes tasks, or not; runs them when it is told to.
class moody final : public executor {
public:
    [[nodiscard]] bool submit(worker_task& t, const submit_hints&) noexcept override {
        const std::lock_guard held(mutex_);
        ++submits;
        if (!accepts)
            return false;
        if (refuses != 0) {
            --refuses;
            return false;
        }
        queue_.push_back(&t);
        return true;
    }
    void notify_rejected(worker_task&, unsigned attempts) noexcept override { told += attempts; }
    [[nodiscard]] bool withdraw(worker_task& t) noexcept override {
        const std::lock_guard held(mutex_);
        return std::erase(queue_, &t) != 0;
    }
    [[nodiscard]] const char* rejection_cause() const noexcept override { return "moody"; }
    bool run_one() {
        worker_task* t = nullptr;
        {
            const std::lock_guard held(mutex_);
            if (queue_.empty())
                return false;
            t = queue_.front();
            queue_.erase(queue_.begin());
        }
        (void)t->run();
        return true;
    }

    std::atomic<bool> accepts{true};
    std::atomic<unsigned> refuses{0};  // so many more
    std::atomic<unsigned> submits{0};
    std::atomic<unsigned> told{0};

private:
    std::mutex mutex_;
    std::vector<worker_task*> queue_;
};

struct lent_rig : dispatchers_rig {
    explicit lent_rig(executor& on, std::uint32_t workers = 1)
        : d(*all->add({.id = "f",
                       .config = {.executor = executor_kind::foreign, .workers = workers},
                       .foreign = &on})) {}
    mailbox_index spawn(std::atomic<std::uint64_t>& count) {
        return *system.spawn<counting_actor>({.dispatcher = d.number()}, &count);
    }
    runtime::dispatcher_handle d;
};

}  // namespace

// TC-M34, EX-1: exactly three submissions, an event that names the mailbox; the next send tries
// again. Trap S9: nobody is left as if it were on its way.
TEST(lent_workers, TC_M34_three_submissions_then_it_waits_for_the_next_send) {
    std::atomic<std::uint64_t> count{0};
    moody on;
    lent_rig rig(on);
    on.accepts = false;
    const mailbox_index a = rig.spawn(count);
    const mailbox_index b = rig.spawn(count);
    actor_scheduler::tell(a, 1);
    EXPECT_EQ(on.submits.load(), 3u);
    EXPECT_EQ(on.told.load(), 3u);
    ASSERT_EQ(rig.events.rejection_count(), 1u);
    EXPECT_EQ(rig.events.rejections[0].attempts, 3u);
    EXPECT_EQ(rig.events.rejections[0].first, a);
    EXPECT_STREQ(rig.events.rejections[0].cause, "moody");
    EXPECT_EQ(rig.events.dispatcher_number, rig.d.number());
    EXPECT_EQ(rig.events.engaged.load(), 1u);
    EXPECT_EQ(rig.d.report().parked, 1u);
    actor_scheduler::tell(a, 1);  // it waits already: nobody is woken
    EXPECT_EQ(on.submits.load(), 3u);
    on.accepts = true;
    actor_scheduler::tell(b, 1);
    EXPECT_EQ(on.submits.load(), 4u);
    while (on.run_one()) {
    }
    EXPECT_EQ(count.load(), 3u);
    EXPECT_EQ(rig.d.report().parked, 0u);
    EXPECT_EQ(rig.events.released.load(), 1u);
    actor_scheduler::tell(a, 1);
    while (on.run_one()) {
    }
    EXPECT_EQ(count.load(), 4u);
}

namespace {

struct retries_seen final : metrics_sink {
    void counter(const metric_info& what, std::string_view, std::uint64_t value) noexcept override {
        if (&what == &info_of(metric::executor_retried))
            retried = value;
        if (&what == &info_of(metric::executor_rejected))
            rejected = value;
    }
    void gauge(const metric_info&, std::string_view, std::uint64_t) noexcept override {}
    void histogram(const metric_info&, std::string_view, const histogram_sums&) noexcept override {}
    std::uint64_t retried = 0;
    std::uint64_t rejected = 0;
};

}  // namespace

// DF-64, EX-1: submissions that were accepted after a refusal are counted, and only these.
TEST(lent_workers, DF_64_successful_retries_are_counted) {
    std::atomic<std::uint64_t> count{0};
    moody on;
    retries_seen seen;
    lent_rig rig(on);
    ASSERT_TRUE(rig.system.set_metrics_sink(&seen));
    const mailbox_index a = rig.spawn(count);
    const auto tell_after = [&](unsigned refusals) {
        on.refuses = refusals;
        actor_scheduler::tell(a, 1);
        while (on.run_one()) {
        }
        ASSERT_TRUE(rig.system.collect_metrics());
    };
    tell_after(0);
    EXPECT_EQ(seen.retried, 0u);
    tell_after(1);
    EXPECT_EQ(seen.retried, 1u);
    tell_after(2);
    EXPECT_EQ(seen.retried, 2u);
    EXPECT_EQ(seen.rejected, 0u);
    tell_after(3);  // given up
    EXPECT_EQ(seen.retried, 2u);
    EXPECT_EQ(seen.rejected, 1u);
    actor_scheduler::tell(rig.spawn(count), 1);
    while (on.run_one()) {
    }
    EXPECT_EQ(count.load(), 5u);
    EXPECT_TRUE(rig.system.set_metrics_sink(nullptr));
}

// EX-1, SC-26: how often it is tried is a rule; by the rules of pekko it is tried once more.
TEST(lent_workers, SC_26_the_rules_say_how_often_it_is_tried) {
    runtime::heap_memory heap;
    resolver names({.memory = &heap, .rules = dispatch_rules::of(system_preset::pekko)});
    moody on;
    on.accepts = false;
    std::atomic<std::uint64_t> count{0};
    dispatchers_rig rig({.workers = 1}, {}, "tactus", &names);
    const auto d = *rig.all->add(
        {.id = "f", .config = {.executor = executor_kind::foreign, .workers = 1}, .foreign = &on});
    actor_scheduler::tell(*rig.system.spawn<counting_actor>({.dispatcher = d.number()}, &count), 1);
    EXPECT_EQ(on.submits.load(), 2u);
    EXPECT_EQ(on.told.load(), 2u);
    ASSERT_EQ(rig.events.rejection_count(), 1u);
    EXPECT_EQ(rig.events.rejections[0].attempts, 2u);
}

// EX-1: without another send it is tried again after 50 ms.
TEST(lent_workers, EX_1_it_is_retried_after_a_time) {
    std::atomic<std::uint64_t> count{0};
    moody on;
    lent_rig rig(on);
    on.accepts = false;
    const auto begin = std::chrono::steady_clock::now();
    actor_scheduler::tell(rig.spawn(count), 1);
    EXPECT_TRUE(until([&] { return on.submits.load() >= 9; }));
    EXPECT_GE(std::chrono::steady_clock::now() - begin, 80ms);
    EXPECT_EQ(rig.events.engaged.load(), 1u);  // EX-8: once per episode
    on.accepts = true;
    EXPECT_TRUE(until([&] { return on.run_one(); }));
    EXPECT_EQ(count.load(), 1u);
    // A second episode.
    on.accepts = false;
    actor_scheduler::tell(rig.spawn(count), 1);
    EXPECT_EQ(rig.events.engaged.load(), 2u);
}

// EX-1: what only the parked worker could take is not stranded: its next place, and fresh actors.
TEST(lent_workers, EX_1_what_a_parked_worker_kept_to_itself_runs_after_a_retry) {
    static std::atomic<std::uint64_t> turns{0};
    turns = 0;
    static moody* executor_of = nullptr;
    struct chatter {
        void receive(turn& t, envelope&) {
            // In the middle of the worker's turns it is always the next to run.
            if (++turns == lent_workers::turns_max)
                executor_of->accepts = false;
            if (turns < 2 * lent_workers::turns_max)
                t.send(t.self(), 1);
        }
    };
    moody on;
    executor_of = &on;
    lent_rig rig(on);
    rig.d.set_throughput(1);
    actor_scheduler::tell(*rig.system.spawn<chatter>({.dispatcher = rig.d.number()}), 1);
    EXPECT_TRUE(on.run_one());
    EXPECT_EQ(turns.load(), lent_workers::turns_max);
    EXPECT_EQ(rig.d.report().parked, 1u);
    EXPECT_EQ(rig.d.report().waiting, 1u);
    on.accepts = true;
    EXPECT_TRUE(until([&] {
        while (on.run_one()) {
        }
        return turns.load() == 2 * lent_workers::turns_max;
    }));
}

// EX-8: mailboxes wait in the order of rejection, can be closed meanwhile, and run in that order.
TEST(lent_workers, EX_8_order_is_kept_and_mailboxes_can_be_closed) {
    static std::vector<int> log;
    log.clear();
    struct logging {
        int name;
        void receive(turn&, envelope&) { log.push_back(name); }
    };
    tactus_test::loss_counter lost;
    moody on;
    dispatchers_rig rig({.workers = 1}, {.events = &lost});
    const auto d = *rig.all->add(
        {.id = "f", .config = {.executor = executor_kind::foreign, .workers = 1}, .foreign = &on});
    on.accepts = false;
    std::vector<mailbox_index> actors;
    for (int i = 0; i < 5; ++i)
        actors.push_back(*rig.system.spawn<logging>({.dispatcher = d.number()}, i));
    for (const mailbox_index a : actors)
        actor_scheduler::tell(a, 1);
    EXPECT_TRUE(rig.system.stop(actors[2]));
    actor_scheduler::tell(actors[2], 1);  // too late
    on.accepts = true;
    EXPECT_TRUE(until([&] {
        while (on.run_one()) {
        }
        return log.size() == 4;
    }));
    EXPECT_EQ(log, (std::vector<int>{0, 1, 3, 4}));
    EXPECT_EQ(lost.closed.load(), 1u);
    EXPECT_EQ(lost.letters.load(), 2u);
}

// CO-5: an executor that never runs what it has does not hold up the end: it is taken back.
TEST(lent_workers, CO_5_what_waits_in_the_executor_is_taken_back) {
    std::atomic<std::uint64_t> count{0};
    moody on;
    lent_rig rig(on);
    actor_scheduler::tell(rig.spawn(count), 1);
    EXPECT_EQ(on.submits.load(), 1u);
    EXPECT_FALSE(rig.all->shut_down(10ms));
    EXPECT_EQ(rig.system.live_count(), 0u);
    EXPECT_FALSE(on.run_one());
}

// CO-5: one that is being submitted while everything ends is taken back, too.
TEST(lent_workers, CO_5_what_is_submitted_after_the_withdrawal_is_taken_back) {
    class slow final : public executor {
    public:
        [[nodiscard]] bool submit(worker_task& t, const submit_hints&) noexcept override {
            entered = true;
            (void)until([&] { return looks.load() != 0; });
            const std::lock_guard held(mutex_);
            waits_ = &t;
            return true;
        }
        void notify_rejected(worker_task&, unsigned) noexcept override {}
        [[nodiscard]] bool withdraw(worker_task& t) noexcept override {
            const std::lock_guard held(mutex_);
            const bool was = waits_ == &t;
            if (was)
                waits_ = nullptr;
            ++looks;
            return was;
        }
        void run() {
            worker_task* t = nullptr;
            {
                const std::lock_guard held(mutex_);
                t = std::exchange(waits_, nullptr);
            }
            if (t != nullptr)
                (void)t->run();
        }

        std::atomic<bool> entered{false};
        std::atomic<unsigned> looks{0};

    private:
        std::mutex mutex_;
        worker_task* waits_ = nullptr;
    };
    std::atomic<std::uint64_t> count{0};
    slow on;
    lent_rig rig(on);
    const mailbox_index a = rig.spawn(count);
    std::thread sends([&] { actor_scheduler::tell(a, 1); });
    ASSERT_TRUE(until([&] { return on.entered.load(); }));
    std::atomic<bool> ended{false};
    std::thread ends([&] {
        rig.all->force_stop();
        ended = true;
    });
    sends.join();
    const auto limit = std::chrono::steady_clock::now() + 10s;
    while (!ended && std::chrono::steady_clock::now() < limit)
        std::this_thread::sleep_for(1ms);
    EXPECT_TRUE(ended.load());
    if (!ended)
        on.run();
    ends.join();
}

// EX-8: an executor that rejects at random, under load, on three threads: conservation is exact.
TEST(lent_workers, EX_8_rejections_at_random_lose_nothing) {
    class random_executor final : public executor {
    public:
        [[nodiscard]] bool submit(worker_task& t, const submit_hints&) noexcept override {
            const std::lock_guard held(mutex_);
            if (rng_.below(4) != 0)
                return false;
            queue_.push_back(&t);
            return true;
        }
        void notify_rejected(worker_task&, unsigned) noexcept override {}
        void work(const std::atomic<bool>& stop) {
            while (!stop.load()) {
                worker_task* t = nullptr;
                {
                    const std::lock_guard held(mutex_);
                    if (!queue_.empty()) {
                        t = queue_.front();
                        queue_.erase(queue_.begin());
                    }
                }
                if (t != nullptr)
                    (void)t->run();
                else
                    std::this_thread::yield();
            }
        }

    private:
        std::mutex mutex_;
        std::vector<worker_task*> queue_;
        det_rng rng_{42};
    };
    constexpr unsigned actors = 16;
    const std::uint64_t each = tactus_test::sized(100'000, 10);
    random_executor on;
    std::vector<tactus_test::account> books(actors);
    std::atomic<bool> stop{false};
    lent_rig rig(on, 3);
    std::vector<mailbox_index> to;
    for (auto& book : books)
        to.push_back(
            *rig.system.spawn<tactus_test::accountant>({.dispatcher = rig.d.number()}, &book));
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i)
        threads.emplace_back([&] { on.work(stop); });
    tactus_test::in_threads(2, [&](unsigned t) {
        for (std::uint64_t i = 0; i < each; ++i) {
            actor_scheduler::tell(to[i % actors], tactus_test::item{t, i});
            if (i % 32 == 0)
                std::this_thread::sleep_for(50us);  // so that workers rest in between
        }
    });
    EXPECT_TRUE(rig.all->shut_down(60s));
    stop = true;
    for (std::thread& t : threads)
        t.join();
    std::uint64_t sum = 0;
    for (const auto& book : books) {
        sum += book.sum.load();
        EXPECT_EQ(book.overlaps.load(), 0u);
        EXPECT_EQ(book.order_errors, 0u);
    }
    EXPECT_EQ(sum, 2 * tactus_test::sum_below(each));
    EXPECT_GT(rig.events.rejection_count(), 0u);
}
