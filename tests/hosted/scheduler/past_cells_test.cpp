// SPDX-License-Identifier: Apache-2.0
//
// Goal: after many timers the memory of their cells is back to its start, and old handles still
// know nothing of new jobs (CN-3, CN-7, TC-S41).
// Method: cells in mapped memory, whose resident pages are counted; virtual time. Then a thread
// that asks old handles while cells are given back and made again.
#include <tactus/scheduler/scheduler.hpp>

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "large_scheduler_rig.hpp"

using tactus::cancellable;
using tactus::instant;
using tactus::job_end;
using tactus::job_state;
using tactus::job_store;
using tactus_test::large_scheduler_rig;
using tactus_test::ms;
using tactus_test::number;
using tactus_test::size_of_run;

namespace {

/// Gives back pages; says how many it has.
class mapped_memory final : public tactus::memory_region {
public:
    explicit mapped_memory(std::size_t bytes) : bytes_(bytes) {
        void* const at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        data_ = static_cast<std::byte*>(at);
        size_ = bytes;
        size_max_ = bytes;
    }
    ~mapped_memory() { munmap(data_, bytes_); }
    [[nodiscard]] bool resize(std::size_t bytes) noexcept override { return bytes <= size_max_; }
    [[nodiscard]] bool forget(std::size_t bytes) noexcept override {
        const std::size_t kept = (bytes + page - 1) / page * page;
        ++forgets;
        return !keeps && madvise(data_ + kept, bytes_ - kept, MADV_DONTNEED) == 0;
    }
    [[nodiscard]] std::size_t resident() const {
        std::vector<unsigned char> pages((bytes_ + page - 1) / page);
        EXPECT_EQ(mincore(data_, bytes_, pages.data()), 0);
        return page * static_cast<std::size_t>(std::count_if(
                          pages.begin(), pages.end(), [](unsigned char p) { return p & 1U; }));
    }

    bool keeps = false;
    std::uint32_t forgets = 0;

private:
    static constexpr std::size_t page = 4096;
    std::size_t bytes_;
};

constexpr std::uint32_t timers_max = 1U << 17U;
constexpr std::size_t retained = job_store::bytes(job_store::retained);
constexpr std::uint32_t spares = tactus::scheduler::cells_for(0);  // they are the first

struct idle_actor {
    void receive(tactus::turn&, tactus::envelope&) {}
};

struct past_rig {
    mapped_memory cells{job_store::bytes(tactus::scheduler::cells_for(1U << 20U))};
    large_scheduler_rig r;
    tactus::mailbox_index who;

    explicit past_rig(std::uint32_t timers = timers_max)
        : r(timers, [this](tactus::scheduler_options& o) { o.jobs = &cells; }),
          who(r.kernel.spawn<idle_actor>()) {}

    std::vector<cancellable> schedule(std::uint32_t count, std::int64_t delay_ms = 3'600'000) {
        std::vector<cancellable> all(count);
        for (std::uint32_t i = 0; i < count; ++i) {
            const auto made = r.timers.schedule_once(ms(delay_ms), who, number{i});
            EXPECT_TRUE(made.has_value());
            all[i] = *made;
        }
        return all;
    }
    static void cancel(std::vector<cancellable>& all) {
        for (cancellable& c : all)
            EXPECT_TRUE(c.cancel());
    }
};

}  // namespace

TEST(past_cells, CN_3_memory_is_back_to_its_start_a_second_after_the_last_timer) {
    const std::uint32_t count = size_of_run(1'000'000, 100'000, 20'000);
    past_rig p(count);
    auto all = p.schedule(count);
    EXPECT_GT(p.cells.resident(), job_store::bytes(count - 1));
    p.cancel(all);
    p.r.pass(999);
    EXPECT_GT(p.cells.resident(), job_store::bytes(count - 1));  // who comes again has them
    p.r.pass(1);
    EXPECT_LE(p.cells.resident(), retained);
    EXPECT_EQ(p.r.timers.next_deadline(), instant::never());
    EXPECT_EQ(p.r.timers.cell_count(), 0u);
    // All of it can be had again, and again.
    for (int round = 0; round < 2; ++round) {
        all = p.schedule(count, 5);
        EXPECT_EQ(p.r.timers.active_count(), count);
        p.r.pass(1'010);
        EXPECT_EQ(p.r.timers.cell_count(), 0u);
        EXPECT_LE(p.cells.resident(), retained);
    }
    EXPECT_EQ(p.r.timers.counted().registered, 3u * count);
}

TEST(past_cells, CN_3_cells_stay_while_a_timer_is_active_or_a_message_under_way) {
    past_rig p;
    auto one = p.schedule(1);
    auto all = p.schedule(10'000);
    p.cancel(all);
    p.r.pass(3'000);
    EXPECT_EQ(p.cells.forgets, 0u);
    EXPECT_TRUE(one[0].cancel());
    // A message of one that is not handled yet.
    const auto late = p.schedule(1, 1);
    p.r.time.advance(p.r.timers.resolution());
    p.r.timers.run_due(p.r.time.now());
    ASSERT_EQ(p.r.timers.cell_count(), 1u);
    p.r.time.advance(ms(1'500));
    p.r.timers.run_due(p.r.time.now());
    EXPECT_EQ(p.cells.forgets, 0u);
    EXPECT_EQ(late[0].state(), job_state::executing);
    EXPECT_EQ(p.r.timers.next_deadline(), instant::never());  // SC-36: nobody wakes for it
    p.r.pass(1'100);
    EXPECT_EQ(p.cells.forgets, 1u);
    EXPECT_LE(p.cells.resident(), retained);
}

// TS-5: the cells that are used most keep their memory, so that their uses do not count: with 2^31
// of them others are still given back.
TEST(past_cells, TS_5_many_uses_of_a_few_cells_keep_nothing) {
    mapped_memory memory(job_store::bytes(20'000));
    large_scheduler_rig of(100);
    job_store store({.memory = &memory, .capacity = 20'000}, of.timers);
    tactus::detail::job* const first = store.take();
    constexpr std::uint32_t uses = 0xC000'0000;
    const tactus::job_word used = tactus::job_word::made_again(uses);
    first->word.store(used.bits(), std::memory_order_relaxed);
    store.give(*first);
    for (std::uint32_t round = 1; round <= 2; ++round) {
        std::vector<tactus::detail::job*> all(10'000);
        for (auto& cell : all)
            cell = store.take();
        EXPECT_EQ(all.front(), first);
        EXPECT_EQ(first->word.load(std::memory_order_relaxed), used.bits());
        for (auto& cell : all)
            store.give(*cell);
        EXPECT_TRUE(store.holds_more_than_retained());
        EXPECT_TRUE(store.give_back());
        EXPECT_EQ(memory.forgets, round);
    }
}

TEST(past_cells, few_cells_are_never_given_back) {
    past_rig p;
    auto all = p.schedule(job_store::retained - 100);
    p.cancel(all);
    EXPECT_EQ(p.r.timers.next_deadline(), instant::never());
    p.r.pass(1'100);
    EXPECT_EQ(p.cells.forgets, 0u);
}

TEST(past_cells, a_region_that_keeps_its_memory_is_asked_once) {
    past_rig p;
    p.cells.keeps = true;
    for (int round = 0; round < 3; ++round) {
        auto all = p.schedule(10'000);
        p.cancel(all);
        p.r.pass(1'100);
    }
    EXPECT_EQ(p.cells.forgets, 1u);
    EXPECT_EQ(p.r.timers.next_deadline(), instant::never());
}

// CN-7: cells that keep their memory remember their last uses, as ever; the others nothing.
TEST(past_cells, CN_7_old_handles_are_not_those_of_cells_made_again) {
    past_rig p;
    std::vector<cancellable> old;
    for (int use = 0; use < 3; ++use) {
        const auto all = p.schedule(5'000, 1);
        old.insert(old.end(), all.begin(), all.end());
        p.r.pass(2);
    }
    p.r.pass(1'100);
    ASSERT_EQ(p.cells.forgets, 1u);
    const auto know_what_they_may = [&] {
        std::size_t know_nothing = 0;
        for (cancellable& c : old) {
            ASSERT_FALSE(c.cancel());
            const auto state = c.state();
            ASSERT_TRUE(state == std::nullopt || state == job_state::completed);
            know_nothing += state ? 0 : 1;
        }
        EXPECT_EQ(know_nothing, 3 * (5'000 + spares - job_store::retained));
    };
    for (int use = 0; use < 4; ++use) {
        auto fresh = p.schedule(5'000);
        know_what_they_may();
        for (cancellable& c : old)
            ASSERT_TRUE(c.end() == std::nullopt || (c.end() == job_end::as_asked && c.state()));
        EXPECT_EQ(p.r.timers.active_count(), fresh.size());
        p.cancel(fresh);
        know_what_they_may();
    }
}

TEST(past_cells, CN_7_old_handles_may_be_asked_while_cells_are_made_again) {
    past_rig p;
    constexpr std::uint32_t count = 6'000;
    std::vector<cancellable> asked = p.schedule(count, 1);
    p.r.pass(1'100);
    ASSERT_EQ(p.cells.forgets, 1u);
    std::atomic<bool> is_over{false};
    std::atomic<std::uint32_t> looks{0};
    std::thread other([&] {
        while (!is_over.load(std::memory_order_relaxed)) {
            for (cancellable& c : asked) {
                if (c.cancel())
                    ADD_FAILURE() << "a handle of long ago cancelled a new job";
                const auto state = c.state();
                if (state == job_state::scheduled || state == job_state::pending)
                    ADD_FAILURE() << "a handle of long ago has a new job";
            }
            looks.fetch_add(1, std::memory_order_relaxed);
        }
    });
    for (std::uint32_t round = 0; round < 20 || looks.load(std::memory_order_relaxed) < 20;
         ++round) {
        auto all = p.schedule(count);
        p.cancel(all);
        p.r.time.advance(ms(1'000));
        p.r.timers.run_due(p.r.time.now());
    }
    is_over.store(true, std::memory_order_relaxed);
    other.join();
    EXPECT_GE(p.cells.forgets, 20u);
    EXPECT_EQ(p.r.timers.cell_count(), 0u);
}
