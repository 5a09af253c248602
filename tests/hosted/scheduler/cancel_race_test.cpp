// SPDX-License-Identifier: Apache-2.0
//
// Goal: cancel against fire (CN-2, CN-3), and registering from several threads (SC-6): handled +
// cancelled = registered, nothing after a cancel that succeeded, nothing left behind.
// Method: two threads register and cancel each other's jobs at random while a third lets time pass
// and runs what is due. 1,000,000 each with TACTUS_LONG=1, otherwise a part of that.
#include <tactus/scheduler/scheduler.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "large_scheduler_rig.hpp"

using tactus::cancellable;
using tactus::duration;
using tactus::job_mode;
using tactus_test::large_scheduler_rig;

namespace {

std::uint32_t size_of_each() {
    return tactus_test::size_of_run(1'000'000, 300'000, 100'000);
}

/// Which job a message is of.
struct mark {
    std::uint32_t number;
};

struct outcome {
    std::atomic<std::uint8_t> handled{0};
    std::atomic<std::uint8_t> cancelled{0};
};
std::vector<outcome>* outcomes = nullptr;
std::atomic<std::uint32_t> handled_so_far{0};

struct marking_actor {
    void receive(tactus::turn&, tactus::envelope& e) {
        if (const mark* m = e.get_if<mark>())
            (*outcomes)[m->number].handled.fetch_add(1, std::memory_order_relaxed);
        handled_so_far.fetch_add(1, std::memory_order_relaxed);
    }
};

// Handles on their way from who registered to who cancels.
class exchange_of_handles {
public:
    void put(std::uint32_t number, const cancellable& what) {
        const std::lock_guard held(mutex_);
        all_.emplace_back(number, what);
    }
    std::vector<std::pair<std::uint32_t, cancellable>> take() {
        const std::lock_guard held(mutex_);
        return std::exchange(all_, {});
    }

private:
    std::mutex mutex_;
    std::vector<std::pair<std::uint32_t, cancellable>> all_;
};

TEST(cancel_race, every_job_is_handled_or_cancelled_and_never_both) {
    const std::uint32_t each = size_of_each();
    std::vector<outcome> all(2 * each);
    outcomes = &all;
    large_scheduler_rig r;
    const auto who = r.kernel.spawn<marking_actor>();
    exchange_of_handles between[2];
    std::atomic<int> running{2};
    std::atomic<std::uint32_t> refused{0};
    // More than the kernel has envelopes for would be dead letters.
    constexpr std::uint32_t under_way_max = tactus_test::kernel_envelopes / 4;
    std::atomic<std::uint32_t> begun{0};
    std::atomic<std::uint32_t> cancelled_so_far{0};
    handled_so_far = 0;
    const auto note_cancelled = [&](std::uint32_t number) {
        all[number].cancelled.fetch_add(1, std::memory_order_relaxed);
        cancelled_so_far.fetch_add(1, std::memory_order_relaxed);
    };
    const auto work = [&](unsigned me) {
        std::minstd_rand random(me + 1);
        const auto cancel_others = [&] {
            for (auto& [number, what] : between[1 - me].take()) {
                if (what.cancel())
                    note_cancelled(number);
            }
        };
        for (std::uint32_t i = 0; i < each; ++i) {
            const std::uint32_t number = me * each + i;
            while (begun.load() - handled_so_far.load() - cancelled_so_far.load() > under_way_max) {
                cancel_others();
                std::this_thread::yield();
            }
            begun.fetch_add(1, std::memory_order_relaxed);
            auto made =
                r.timers.schedule_once(duration::from_ms(1 + random() % 4), who, mark{number});
            if (!made) {
                // No room: as if it had been cancelled.
                note_cancelled(number);
                refused.fetch_add(1, std::memory_order_relaxed);
                std::this_thread::yield();
                continue;
            }
            switch (random() % 4) {
            case 0:
                if (made->cancel())
                    note_cancelled(number);
                break;
            case 1:
                between[me].put(number, *made);
                break;
            default:
                break;
            }
            if (i % 64 != 0)
                continue;
            cancel_others();
            // Who runs them may be held up; there are envelopes for 20,000 at once.
            while (r.timers.active_count() > 8'000)
                std::this_thread::yield();
        }
        cancel_others();
        running.fetch_sub(1);
    };
    std::thread a(work, 0U);
    std::thread b(work, 1U);
    while (running.load() != 0) {
        r.time.advance(duration::from_us(300));
        (void)r.kernel.run();
    }
    a.join();
    b.join();
    for (int i = 0; i < 10; ++i) {
        r.time.advance(duration::from_ms(1));
        (void)r.kernel.run();
    }
    std::uint32_t handled = 0;
    std::uint32_t cancelled = 0;
    std::uint32_t wrong = 0;
    for (const outcome& o : all) {
        handled += o.handled.load();
        cancelled += o.cancelled.load();
        wrong += o.handled.load() + o.cancelled.load() != 1 ? 1U : 0U;
    }
    EXPECT_EQ(wrong, 0u);
    EXPECT_EQ(r.kernel.events.lost, 0u);
    EXPECT_EQ(handled + cancelled, 2 * each);
    EXPECT_EQ(r.timers.active_count(), 0u);
    EXPECT_EQ(r.timers.cell_count(), 0u);
    EXPECT_EQ(r.timers.counted().cancelled, cancelled - refused.load());
    EXPECT_EQ(r.timers.counted().fired, handled);
    // Otherwise nothing was tested.
    EXPECT_GT(handled, each / 10);
    EXPECT_GT(cancelled, each / 10);
    std::printf("%u handled, %u cancelled, %u refused, %llu left for another\n", handled, cancelled,
                refused.load(), static_cast<unsigned long long>(r.timers.counted().commands_left));
}

/// What the two threads of the next test tell each other. Its runs begin one after the other, so
/// "after the cancel" is: in a run that begins later than the one during which it returned.
struct laps {
    std::atomic<std::uint32_t> now{0};
    std::vector<std::atomic<std::uint32_t>> cancelled_in;  // 0: it is not
    std::atomic<std::uint32_t> late{0};
    std::atomic<std::uint32_t> handled{0};
    explicit laps(std::uint32_t rounds) : cancelled_in(rounds) {}
};
struct lap_actor {
    laps* to;
    void receive(tactus::turn&, tactus::envelope& e) {
        const std::uint32_t cancelled = to->cancelled_in[e.get_if<mark>()->number].load();
        if (cancelled != 0 && cancelled < to->now.load())
            to->late.fetch_add(1);
        to->handled.fetch_add(1);
    }
};

// CN-2, CN-4, CN-6: a periodic job is not handled after a cancel that succeeded, wherever it was:
// in the wheel, in a mailbox, or about to be armed again.
TEST(cancel_race, a_periodic_job_ends_with_its_cancel) {
    const std::uint32_t rounds = size_of_each() / 100;
    laps all(rounds);
    large_scheduler_rig r;
    const auto who = r.kernel.spawn<lap_actor>(&all);
    std::atomic<bool> over{false};
    const auto work = [&] {
        std::minstd_rand random(7);
        for (std::uint32_t i = 0; i < rounds; ++i) {
            const job_mode mode = random() % 2 == 0 ? job_mode::fixed_rate : job_mode::fixed_delay;
            const tactus::job_request wanted{.mode = mode,
                                             .first = duration::from_us(100),
                                             .period = duration::from_us(100),
                                             .to = who,
                                             .backlog_limit = 60'000,
                                             .burst_threshold = 60'000};
            // A thread that is held up looks like a backlog where time runs as fast as here.
            auto made = r.timers.add(wanted, mark{i});
            while (!made && made.error().code == tactus::scheduler_errc::backpressured) {
                std::this_thread::yield();
                made = r.timers.add(wanted, mark{i});
            }
            ASSERT_TRUE(made.has_value());
            // Some at once, some after a few runs.
            const auto until = all.now.load() + static_cast<std::uint32_t>(random() % 3);
            while (all.now.load() < until)
                std::this_thread::yield();
            for (auto spin = random() % 2'000; spin != 0; --spin)
                std::atomic_signal_fence(std::memory_order_seq_cst);
            ASSERT_TRUE(made->cancel());
            all.cancelled_in[i].store(all.now.load());
            ASSERT_TRUE(made->is_cancelled());
        }
    };
    std::thread canceller([&] {
        work();
        over = true;
    });
    const auto run = [&] {
        r.time.advance(duration::from_ms(1));
        r.timers.run_due(r.time.now());
        // What is due lies in the mailbox; the other thread may cancel it there.
        std::this_thread::yield();
        all.now.fetch_add(1);
        (void)r.kernel.run();
    };
    all.now = 1;
    while (!over.load())
        run();
    canceller.join();
    for (int i = 0; i < 5; ++i)
        run();
    EXPECT_EQ(all.late.load(), 0u);
    EXPECT_GT(all.handled.load(), rounds / 100);  // otherwise nothing was tested
    EXPECT_EQ(r.timers.active_count(), 0u);
    EXPECT_EQ(r.timers.cell_count(), 0u);
    EXPECT_EQ(r.timers.counted().cancelled, rounds);
    std::printf("%u handled, %llu dropped in a mailbox\n", all.handled.load(),
                static_cast<unsigned long long>(r.timers.counted().dropped));
}

}  // namespace
