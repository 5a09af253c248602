// SPDX-License-Identifier: Apache-2.0
//
// Goal: the same five things on every kind of executor: a thousand messages for one actor, a steady
// load, a thousand actors at once, suspending and resuming, failing and being restarted at most
// three times (TC-F10, TC-F13). Who decides about restarts is the test, as supervision will.
//
// A pinned dispatcher has one actor: there the actors are fewer, each with more messages. The
// steady load lasts 10 seconds with TACTUS_LONG=1.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <tactus/dispatch/inline_tick.hpp>
#include <tactus/runtime/asio_executor.hpp>

#include "dispatchers_rig.hpp"
#include "kernel_account.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using namespace std::chrono_literals;
using tactus_test::account;
using tactus_test::accountant;
using tactus_test::item;

namespace {

/// Keeps what failed, for the test to decide.
class supervisor final : public kernel_events {
public:
    void dead_letter(mailbox_index, envelope&, dead_letter_cause) noexcept override { ++lost; }
    void message_lost(mailbox_index, const message_type&, dead_letter_cause) noexcept override {
        ++lost;
    }
    void system_dead_letter(mailbox_index, system_message&) noexcept override {}
    void mailbox_closed(mailbox_index, std::size_t, std::size_t) noexcept override {}
    void actor_failed(mailbox_index who, const failure&) noexcept override {
        const std::lock_guard held(mutex_);
        failed_.push_back(who);
    }
    void deadline_missed(mailbox_index, std::int64_t) noexcept override {}

    [[nodiscard]] std::vector<mailbox_index> take_failed() {
        const std::lock_guard held(mutex_);
        return std::exchange(failed_, {});
    }
    std::atomic<std::uint64_t> lost{0};

private:
    std::mutex mutex_;
    std::vector<mailbox_index> failed_;
};

class executor_scenarios : public ::testing::TestWithParam<executor_kind> {
protected:
    executor_scenarios() : rig_({.workers = 2}, {.events = &supervisor_}) {
        if (GetParam() == executor_kind::foreign) {
            for (int i = 0; i < 2; ++i)
                application_.emplace_back([this] { io_.run(); });
        }
        if (GetParam() != executor_kind::pinned)
            add_dispatcher();
    }
    ~executor_scenarios() override {
        EXPECT_TRUE(rig_.all->shut_down(30s));
        io_.stop();
        for (std::thread& t : application_)
            t.join();
        EXPECT_LT(std::chrono::steady_clock::now() - begin_, 30s);
    }

    void add_dispatcher() {
        const bool one = GetParam() != executor_kind::work_stealing_pool &&
                         GetParam() != executor_kind::thread_pool &&
                         GetParam() != executor_kind::foreign;
        const auto d = rig_.all->add({.id = std::to_string(handles_.size()),
                                      .config = {.executor = GetParam(), .workers = one ? 1U : 2U},
                                      .foreign = &on_io_});
        ASSERT_TRUE(d);
        handles_.push_back(*d);
        if (GetParam() == executor_kind::inline_tick)
            ticks_ = std::make_unique<inline_tick>(rig_.system, d->where());
    }
    /// How many actors there can be.
    [[nodiscard]] std::uint64_t at_most(std::uint64_t actors) const {
        return GetParam() == executor_kind::pinned ? std::min<std::uint64_t>(actors, 20) : actors;
    }
    template <class State, class... Args>
    mailbox_index spawn(Args&&... args) {
        if (GetParam() == executor_kind::pinned)
            add_dispatcher();
        return *rig_.system.spawn<State>({.dispatcher = handles_.back().number()}, args...);
    }
    /// What the application's own loop does, where it has one; and the supervisor.
    void tick() {
        if (ticks_)
            (void)ticks_->run_until_idle();
    }
    template <class Condition>
    bool eventually(Condition&& condition) {
        return tactus_test::until([&] {
            tick();
            return condition();
        });
    }
    actor_scheduler& system() { return rig_.system; }

    supervisor supervisor_;

private:
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
    boost::asio::io_context io_;
    boost::asio::executor_work_guard<boost::asio::io_context::executor_type> keep_ =
        boost::asio::make_work_guard(io_);
    runtime::asio_executor on_io_{io_};
    std::vector<std::thread> application_;
    std::vector<runtime::dispatcher_handle> handles_;
    std::unique_ptr<inline_tick> ticks_;

protected:
    tactus_test::dispatchers_rig rig_;
};

std::string name_of_kind(const ::testing::TestParamInfo<executor_kind>& info) {
    return name_of(info.param);
}

}  // namespace

TEST_P(executor_scenarios, TC_F10_one_actor_takes_a_thousand_messages) {
    const auto begin = std::chrono::steady_clock::now();
    account book;
    const mailbox_index a = spawn<accountant>(&book);
    for (std::uint64_t i = 0; i < 1'000; ++i)
        actor_scheduler::tell(a, item{0, i});
    EXPECT_TRUE(eventually([&] { return book.handled_count.load() == 1'000; }));
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 5s);
    EXPECT_EQ(book.order_errors, 0u);
    EXPECT_EQ(book.overlaps.load(), 0u);
}

// TC-F13; even a short run is a hundred messages for each of a hundred.
TEST_P(executor_scenarios, TC_F13_a_hundred_actors_take_ten_thousand_messages_a_second) {
    const auto lasts = tactus_test::long_run() ? 10'000ms : 1'000ms;
    const std::uint64_t total = static_cast<std::uint64_t>(lasts.count()) * 10;
    std::vector<account> books(at_most(100));
    std::vector<mailbox_index> to;
    for (account& book : books)
        to.push_back(spawn<accountant>(&book));
    const auto begin = std::chrono::steady_clock::now();
    for (std::uint64_t i = 0; i < total; ++i) {
        actor_scheduler::tell(to[i % to.size()], item{0, i});
        if (i % 100 == 99) {
            tick();
            std::this_thread::sleep_until(begin + (i + 1) * 100us);
        }
    }
    const auto handled_count = [&] {
        std::uint64_t sum = 0;
        for (const account& book : books)
            sum += book.handled_count.load();
        return sum;
    };
    EXPECT_TRUE(eventually([&] { return handled_count() == total; }));
    for (const account& book : books) {
        EXPECT_EQ(book.order_errors, 0u);
        EXPECT_EQ(book.overlaps.load(), 0u);
    }
    EXPECT_EQ(supervisor_.lost.load(), 0u);
}

TEST_P(executor_scenarios, TC_F10_a_thousand_actors_at_once) {
    std::atomic<std::uint64_t> count{0};
    std::vector<mailbox_index> to;
    for (std::uint64_t i = 0; i < at_most(1'000); ++i)
        to.push_back(spawn<tactus_test::counting_actor>(&count));
    for (std::uint64_t i = 0; i < 1'000; ++i)
        actor_scheduler::tell(to[i % to.size()], 1);
    EXPECT_TRUE(eventually([&] { return count.load() == 1'000; }));
}

// CO-6
TEST_P(executor_scenarios, TC_F10_suspending_and_resuming) {
    account book;
    const mailbox_index a = spawn<accountant>(&book);
    for (std::uint64_t cycle = 0; cycle < 10; ++cycle) {
        EXPECT_TRUE(system().suspend(a, suspension::supervision));
        for (std::uint64_t i = 0; i < 10; ++i)
            actor_scheduler::tell(a, item{0, 10 * cycle + i});
        tick();
        EXPECT_LE(book.handled_count.load(), 10 * cycle);
        EXPECT_TRUE(system().resume(a, suspension::supervision));
        EXPECT_TRUE(eventually([&] { return book.handled_count.load() == 10 * (cycle + 1); }));
    }
    EXPECT_EQ(book.order_errors, 0u);
}

// IN-6: every tenth message fails; the supervisor lets it go on.
TEST_P(executor_scenarios, TC_F10_failing_and_going_on) {
    static std::atomic<std::uint64_t> handled_count{0};
    handled_count = 0;
    struct failing {
        void receive(turn&, envelope& e) {
            if (e.get_if<item>()->number % 10 == 9)
                throw std::runtime_error("the tenth");
            ++handled_count;
        }
    };
    const mailbox_index a = spawn<failing>();
    for (std::uint64_t i = 0; i < 100; ++i)
        actor_scheduler::tell(a, item{0, i});
    std::uint64_t restarts = 0;
    EXPECT_TRUE(eventually([&] {
        for (const mailbox_index who : supervisor_.take_failed()) {
            ++restarts;
            EXPECT_TRUE(system().resume(who, suspension::supervision));
        }
        return handled_count.load() == 90 && restarts == 10;
    }));
}

// TC-F10: a failing actor is restarted three times and goes on; a fourth time it is ended. Who
// decides that is supervision, here the test; the kernel carries it out.
TEST_P(executor_scenarios, TC_F10_restarted_at_most_three_times) {
    constexpr std::uint64_t count = 1'000;
    for (const std::uint64_t failures : {3U, 4U}) {
        static std::atomic<std::uint64_t> handled_count;
        static std::atomic<std::uint64_t> restart_count;
        handled_count = 0;
        restart_count = 0;
        struct failing {
            std::uint64_t fails_every;
            std::uint64_t since_restart = 0;
            void receive(turn&, envelope& e) {
                if (e.get_if<item>()->number % fails_every == fails_every - 1)
                    throw std::runtime_error("again");
                ++since_restart;
                ++handled_count;
            }
            void receive_system(turn&, system_message& m) {
                if (m.kind != system_kind::recreate)
                    return;
                EXPECT_GT(since_restart, 0U);
                since_restart = 0;
                ++restart_count;
            }
        };
        const mailbox_index a = spawn<failing>(count / failures);
        for (std::uint64_t i = 0; i < count / failures * failures; ++i)
            actor_scheduler::tell(a, item{0, i});
        std::uint64_t decided = 0;
        const auto supervise = [&] {
            for (const mailbox_index who : supervisor_.take_failed()) {
                if (++decided > 3) {
                    (void)system().stop(who);
                    continue;
                }
                (void)system().send_system(who, system_kind::recreate);
                (void)system().resume(who, suspension::supervision);
            }
            return decided == failures;
        };
        EXPECT_TRUE(eventually(supervise));
        EXPECT_TRUE(eventually([&] {
            return restart_count == 3 && handled_count == (count / failures - 1) * failures;
        }));
        EXPECT_TRUE(
            eventually([&] { return (system().slots().find(a) == nullptr) == (failures == 4); }));
        (void)system().stop(a);
    }
}

INSTANTIATE_TEST_SUITE_P(kinds, executor_scenarios,
                         ::testing::Values(executor_kind::work_stealing_pool, executor_kind::pinned,
                                           executor_kind::thread_pool,
                                           executor_kind::calling_thread,
                                           executor_kind::inline_tick, executor_kind::foreign),
                         name_of_kind);
