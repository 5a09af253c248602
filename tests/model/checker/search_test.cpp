// SPDX-License-Identifier: Apache-2.0
//
// MC-2: the search: its bounds, its strategies, its report, and that a printed schedule reproduces
// the failure.
#include <gtest/gtest.h>

#include <chrono>
#include <set>
#include <string>

#include <tactus/port/model.hpp>

namespace port = tactus::port;
namespace model = tactus::port::model;
using std::memory_order_acquire;
using std::memory_order_relaxed;
using std::memory_order_release;
using std::memory_order_seq_cst;

namespace {

// Needs two preemptions in the middle of threads: one of each.
void lost_update_twice() {
    port::atomic<unsigned> x{0};
    port::atomic<unsigned> y{0};
    {
        model::thread other([&] {
            const unsigned seen = x.load(memory_order_seq_cst);
            x.store(seen + 1, memory_order_seq_cst);
            y.store(y.load(memory_order_seq_cst) + 1, memory_order_seq_cst);
        });
        const unsigned seen = x.load(memory_order_seq_cst);
        x.store(seen + 1, memory_order_seq_cst);
        y.store(y.load(memory_order_seq_cst) + 1, memory_order_seq_cst);
    }
    model::require(!(x.load(memory_order_seq_cst) == 1 && y.load(memory_order_seq_cst) == 1),
                   "both updates are lost");
}

void lost_update() {
    port::atomic<unsigned> x{0};
    const auto add = [&] { x.store(x.load(memory_order_seq_cst) + 1, memory_order_seq_cst); };
    {
        model::thread other(add);
        add();
    }
    model::require(x.load(memory_order_seq_cst) == 2, "an update is lost");
}

model::options bounded(unsigned bound) {
    model::options how;
    how.preemption_bound = bound;
    return how;
}

}  // namespace

TEST(search, MC2_the_bound_decides_what_is_found) {
    const model::report none = model::check(bounded(0), lost_update);
    EXPECT_TRUE(none.ok && none.exhaustive) << none.text;
    EXPECT_NE(none.text.find("exhaustive within 0 preemptions"), std::string::npos) << none.text;
    EXPECT_EQ(model::check(bounded(1), lost_update).kind, model::failure::assertion);

    EXPECT_TRUE(model::check(bounded(1), lost_update_twice).ok);
    EXPECT_EQ(model::check(bounded(2), lost_update_twice).kind, model::failure::assertion);
    for (const bool reduction : {false, true}) {
        model::options all;
        all.preemption_bound.reset();
        all.reduction = reduction;
        EXPECT_EQ(model::check(all, lost_update_twice).kind, model::failure::assertion);
    }
}

TEST(search, MC2_a_printed_schedule_reproduces_the_failure) {
    for (const auto& body : {lost_update, lost_update_twice}) {
        const model::report first = model::check({}, body);
        ASSERT_FALSE(first.ok);
        ASSERT_NE(first.text.find("schedule: " + first.schedule), std::string::npos) << first.text;
        const model::report again = model::replay({}, first.schedule, body);
        EXPECT_EQ(again.kind, first.kind);
        EXPECT_EQ(again.message, first.message);
        EXPECT_EQ(again.schedule, first.schedule);
        EXPECT_EQ(again.executions, 1u);
        EXPECT_EQ(again.text.substr(0, again.text.find("schedule:")),
                  first.text.substr(0, first.text.find("schedule:")));
    }
    EXPECT_TRUE(model::replay({}, "", lost_update).ok);  // without switching
    EXPECT_EQ(model::replay({}, "a!", lost_update).kind, model::failure::misuse);
    EXPECT_EQ(model::replay({}, "a2h", lost_update).kind, model::failure::misuse);
}

// The choices within steps are part of the schedule: which store a load returned, who was woken.
TEST(search, MC2_a_schedule_replays_old_values_too) {
    const auto body = [] {
        port::atomic<unsigned> x{0};
        port::atomic<unsigned> y{0};
        unsigned seen = 0;
        {
            model::thread other([&] {
                x.store(1, memory_order_release);
                seen = y.load(memory_order_acquire);
            });
            y.store(1, memory_order_release);
            seen += x.load(memory_order_acquire);
        }
        model::require(seen != 0);
    };
    const model::report first = model::check(bounded(0), body);
    ASSERT_EQ(first.kind, model::failure::assertion) << first.text;
    EXPECT_NE(first.schedule.find('/'), std::string::npos) << first.schedule;
    EXPECT_NE(first.text.find("(old)"), std::string::npos) << first.text;
    const model::report again = model::replay(bounded(0), first.schedule, body);
    EXPECT_EQ(again.message, first.message);
    EXPECT_EQ(again.schedule, first.schedule);
}

TEST(search, MC2_random_and_pct_find_a_planted_bug_and_replay_it) {
    for (const model::strategy search : {model::strategy::random, model::strategy::pct}) {
        model::options how;
        how.search = search;
        how.runs = 2'000;
        const model::report r = model::check(how, lost_update_twice);
        EXPECT_EQ(r.kind, model::failure::assertion);
        EXPECT_FALSE(r.exhaustive);
        const model::report again = model::replay(how, r.schedule, lost_update_twice);
        EXPECT_EQ(again.message, r.message);

        const model::report same = model::check(how, lost_update_twice);
        EXPECT_EQ(same.schedule, r.schedule);  // the seed decides
        how.seed = 99;
        EXPECT_EQ(model::check(how, lost_update_twice).kind, model::failure::assertion);
    }
}

TEST(search, MC2_pct_finds_deeper_bugs_with_more_depth) {
    model::options how;
    how.search = model::strategy::pct;
    how.runs = 300;
    how.pct_depth = 1;  // no change of priorities: one thread after the other
    EXPECT_TRUE(model::check(how, lost_update).ok);
    how.pct_depth = 2;
    EXPECT_EQ(model::check(how, lost_update).kind, model::failure::assertion);
}

TEST(search, MC2_a_loop_without_end_is_a_livelock) {
    const auto body = [](bool both) {
        return [=] {
            port::atomic<unsigned> x{0};
            port::atomic<unsigned> y{0};
            model::thread other([&] {
                while (y.load(memory_order_acquire) == 0 && both)
                    port::pause();
                x.store(1, memory_order_release);
            });
            while (x.load(memory_order_acquire) == 0)
                port::pause();
            y.store(1, memory_order_release);
        };
    };
    model::options how;
    how.step_limit = 300;
    const model::report wrong = model::check(how, body(true));
    EXPECT_EQ(wrong.kind, model::failure::livelock);
    EXPECT_NE(wrong.text.find("gives way"), std::string::npos);
    const model::report right = model::check(how, body(false));
    EXPECT_TRUE(right.ok && right.exhaustive) << right.text;
}

// A loop that forgot to pause is taken to give way after a while.
TEST(search, MC2_a_loop_without_pause_ends_too) {
    const model::report r = model::check({}, [] {
        port::atomic<unsigned> x{0};
        model::thread other([&] { x.store(1, memory_order_release); });
        while (x.load(memory_order_acquire) == 0) {
        }
    });
    EXPECT_TRUE(r.ok && r.exhaustive) << r.text;
}

// Three waiting threads: nobody is starved by two that give way to each other.
TEST(search, MC2_waiting_threads_do_not_starve_the_one_they_wait_for) {
    const model::report r = model::check(bounded(1), [] {
        port::atomic<unsigned> x{0};
        const auto wait = [&] {
            while (x.load(memory_order_acquire) == 0)
                port::yield();
        };
        model::thread a(wait);
        model::thread b(wait);
        model::thread c([&] { x.store(1, memory_order_release); });
    });
    EXPECT_TRUE(r.ok && r.exhaustive) << r.text;
}

TEST(search, MC2_choices_of_the_body_are_branches) {
    std::set<unsigned> seen;
    const model::report r = model::check({}, [&] {
        const unsigned first = model::choose(3);
        seen.insert(first * 10 + model::choose(2));
    });
    EXPECT_TRUE(r.ok && r.exhaustive);
    EXPECT_EQ(r.executions, 6u);
    EXPECT_EQ(r.distinct_states, 6u);
    EXPECT_EQ(seen, (std::set<unsigned>{0, 1, 10, 11, 20, 21}));
}

TEST(search, MC2_a_body_that_is_not_deterministic_is_reported) {
    unsigned calls = 0;
    const model::report r = model::check({}, [&] {
        port::atomic<unsigned> x{0};
        model::thread other([&] { x.fetch_add(1, memory_order_relaxed); });
        if (++calls % 2 == 0)
            static_cast<void>(x.load(memory_order_relaxed));
        x.fetch_add(1, memory_order_relaxed);
        x.fetch_add(1, memory_order_relaxed);
    });
    EXPECT_EQ(r.kind, model::failure::misuse) << r.text;
}

TEST(search, MC2_limits_end_a_search_that_is_then_not_exhaustive) {
    model::options how;
    how.execution_limit = 3;
    how.preemption_bound.reset();
    const auto body = [] {
        port::atomic<unsigned> x{0};
        const auto add = [&] {
            for (unsigned i = 0; i < 20; ++i)
                x.fetch_add(1, memory_order_relaxed);
        };
        model::thread a(add);
        model::thread b(add);
    };
    const model::report few = model::check(how, body);
    EXPECT_TRUE(few.ok);
    EXPECT_FALSE(few.exhaustive);
    EXPECT_EQ(few.executions, 3u);
    how.execution_limit = 1'000'000'000;
    how.time_limit = std::chrono::milliseconds(20);
    const model::report brief = model::check(how, body);
    EXPECT_TRUE(brief.ok);
    EXPECT_FALSE(brief.exhaustive);
    EXPECT_NE(brief.text.find("not exhaustive"), std::string::npos);
}

TEST(search, MC2_the_trace_names_cells_orders_and_lines) {
    const model::report r = model::check({}, [] {
        port::atomic<unsigned> x{0};
        model::name(x, "the cell");
        model::note("begins");
        x.store(41, memory_order_release);
        model::require(false, "the end");
    });
    EXPECT_EQ(r.kind, model::failure::assertion);
    for (const char* part : {"the cell = 41", "release", "search_test.cpp:", "begins", "the end"})
        EXPECT_NE(r.text.find(part), std::string::npos) << r.text;
}
