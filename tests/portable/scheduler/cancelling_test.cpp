// SPDX-License-Identifier: Apache-2.0
//
// Goal: cancelling, in every state and by every way (CN-1 … CN-8).
// Method: the table of the specification as it stands; cases of conformance/scheduler.md.
#include <tactus/scheduler/scheduler.hpp>

#include <tactus/dispatch/worker.hpp>

#include <cstdint>
#include <utility>

#include "scheduler_rig.hpp"

using tactus::cancellable;
using tactus::duration;
using tactus::execution_batch;
using tactus::job_mode;
using tactus::job_state;
using tactus::job_word;
using tactus_test::journal;
using tactus_test::ms;
using tactus_test::number;
using tactus_test::scheduler_rig;

namespace {

// TC-S27, TC-X09, CN: as data.
TEST(cancelling, the_table_is_the_specification_s) {
    struct row {
        job_state state;
        bool one_shot;
        bool periodic;
    };
    constexpr row rows[] = {
        {job_state::scheduled, true, true},
        {job_state::executing, false, true},
        {job_state::completed, false, false},
        {job_state::cancelled, false, false},
    };
    for (const row& r : rows) {
        const job_word once = job_word().next_use(0).with(r.state);
        const job_word again = job_word().next_use(job_word::periodic).with(r.state);
        EXPECT_EQ(once.can_be_cancelled(), r.one_shot);
        EXPECT_EQ(again.can_be_cancelled(), r.periodic);
    }
}

// SC-36: on a host, who sleeps for one that was cancelled wakes once in vain, and is told of nearer
// ones only.
TEST(cancelling, SC_36_on_a_host_a_deadline_is_kept_until_it_has_passed) {
    scheduler_rig rig(
        [](tactus::scheduler_options& o) { o.config.clock = tactus::clock_kind::realtime_host; });
    const auto to = rig.spawn();
    const auto in = [&](std::int64_t n) { return rig->schedule_once(ms(n), to, number{1}); };
    const auto at = [](std::int64_t n) { return tactus::instant::epoch() + ms(n); };
    auto first = in(100);
    ASSERT_TRUE(first.has_value());
    EXPECT_EQ(rig->next_deadline(), at(100));
    EXPECT_TRUE(first->cancel());
    EXPECT_EQ(rig->next_deadline(), at(100));
    ASSERT_TRUE(in(300).has_value());
    EXPECT_EQ(rig->next_deadline(), at(100));
    ASSERT_TRUE(in(50).has_value());
    EXPECT_EQ(rig->next_deadline(), at(50));
    rig.jump(50);
    EXPECT_EQ(rig->next_deadline(), at(300));
    rig.jump(250);
    EXPECT_EQ(rig->next_deadline(), tactus::instant::never());
    EXPECT_TRUE(journal().is({1, 1}));
}
// Where time is set by hand, it is exact.
TEST(cancelling, SC_36_by_hand_a_cancelled_deadline_is_forgotten) {
    scheduler_rig rig;
    auto first = rig->schedule_once(ms(100), rig.spawn(), number{1});
    ASSERT_TRUE(first.has_value());
    EXPECT_NE(rig->next_deadline(), tactus::instant::never());
    EXPECT_TRUE(first->cancel());
    EXPECT_EQ(rig->next_deadline(), tactus::instant::never());
}

// CN-7: a word remembers the uses before; a use is named by one generation.
TEST(cancelling, a_word_knows_what_became_of_earlier_uses) {
    job_word word;
    for (int i = 0; i < 8; ++i)
        word = word.next_use(0).with(i % 3 == 0 ? job_state::cancelled : job_state::completed);
    const std::uint32_t last = word.generation();
    for (std::uint32_t age = 0; age < 8; ++age) {
        const auto was = word.outcome_of(last - age);
        if (age > job_word::history_bits) {
            EXPECT_FALSE(was.has_value());
            continue;
        }
        ASSERT_TRUE(was.has_value());
        EXPECT_EQ(*was, (7 - age) % 3 == 0 ? job_state::cancelled : job_state::completed);
    }
    EXPECT_FALSE(word.outcome_of(last - 100).has_value());
    EXPECT_FALSE(word.outcome_of(last + 1).has_value());
}

// TC-S07, TC-P01, C-SCH-3, PK-SCH-23, CN-1
TEST(cancelling, the_first_succeeds_and_all_later_ones_do_not) {
    scheduler_rig rig;
    const auto who = rig.spawn();
    auto made = rig->schedule_once(ms(10), who, number{1});
    ASSERT_TRUE(made.has_value());
    cancellable copy = *made;
    EXPECT_FALSE(made->is_cancelled());
    EXPECT_TRUE(made->cancel());
    EXPECT_TRUE(made->is_cancelled());
    EXPECT_TRUE(copy.is_cancelled());
    EXPECT_FALSE(made->cancel());
    EXPECT_FALSE(copy.cancel());
    EXPECT_TRUE(made->is_cancelled());
    EXPECT_FALSE(made->is_completed());
}

// CN-1, PK-SCH-23: who has cancelled it, by whatever way, or has tried to, knows for ever; however
// often its cell was used since.
TEST(cancelling, CN_1_who_has_cancelled_it_knows_for_ever) {
    scheduler_rig rig;
    const auto who = rig.spawn();
    auto by_handle = rig->schedule_once(ms(10), who, number{1});
    auto by_scheduler = rig->schedule_once(ms(10), who, number{1});
    ASSERT_TRUE(by_handle && by_scheduler);
    cancellable second = *by_handle;
    EXPECT_TRUE(by_handle->cancel());
    EXPECT_FALSE(second.cancel());
    EXPECT_TRUE(rig->cancel(*by_scheduler));
    auto run = rig->schedule_once(ms(10), who, number{2});
    ASSERT_TRUE(run.has_value());
    rig.pass(10);
    EXPECT_FALSE(run->cancel());
    for (int i = 0; i < 200; ++i) {
        auto other = rig->schedule_once(ms(10), who, number{1});
        ASSERT_TRUE(other.has_value());
        EXPECT_TRUE(other->cancel());
    }
    EXPECT_TRUE(by_handle->is_cancelled());
    EXPECT_TRUE(by_scheduler->is_cancelled());
    EXPECT_TRUE(second.is_cancelled());
    EXPECT_FALSE(run->is_cancelled());
    EXPECT_FALSE(by_scheduler->cancel());
    EXPECT_FALSE(rig->cancel(*by_scheduler));
    EXPECT_TRUE(journal().is({2}));
}

// TC-S08, C-SCH-2
TEST(cancelling, what_was_cancelled_does_not_come) {
    scheduler_rig rig;
    const auto who = rig.spawn();
    for (std::uint32_t i = 0; i < 5; ++i) {
        auto made = rig->schedule_once(ms(10), who, number{i});
        ASSERT_TRUE(made.has_value());
        EXPECT_TRUE(made->cancel());
    }
    rig.jump(2'000);
    EXPECT_TRUE(journal().is({}));
}

// TC-S10, CN-8
TEST(cancelling, cancelled_and_dropped_are_counted_apart) {
    scheduler_rig rig;
    const auto who = rig.spawn();
    ASSERT_TRUE(rig->schedule_once(ms(2), who, number{1}).has_value());
    auto second = rig->schedule_once(ms(4), who, number{2});
    ASSERT_TRUE(second.has_value());
    EXPECT_EQ(rig->active_count(), 2u);
    EXPECT_TRUE(second->cancel());
    rig.jump(4);
    EXPECT_EQ(rig->active_count(), 0u);
    EXPECT_EQ(rig->counted().cancelled, 1u);
    EXPECT_EQ(rig->counted().dropped, 0u);
    EXPECT_TRUE(journal().is({1}));
}

// TC-S25, CN-5: one way to cancel.
TEST(cancelling, by_the_handle_or_by_the_scheduler_is_the_same) {
    scheduler_rig rig;
    const auto who = rig.spawn();
    auto made = rig->schedule_once(ms(10), who, number{1});
    ASSERT_TRUE(made.has_value());
    EXPECT_TRUE(made->cancel());
    EXPECT_FALSE(rig->cancel(*made));
    EXPECT_EQ(rig->active_count(), 0u);
    auto other = rig->schedule_once(ms(10), who, number{1});
    ASSERT_TRUE(other.has_value());
    EXPECT_TRUE(rig->cancel(*other));
    EXPECT_FALSE(other->cancel());
    EXPECT_TRUE(other->is_cancelled());
}

// CN-3, TC-X10: their cells and nodes are free at once.
TEST(cancelling, far_timers_that_are_cancelled_leave_nothing_behind) {
    scheduler_rig rig;
    const auto who = rig.spawn();
    const int count = tactus_test::board::roomy ? 1'000'000 : 1'000;
    for (int i = 0; i < count; ++i) {
        auto made = rig->schedule_once(duration::from_s(3'600), who, number{1});
        ASSERT_TRUE(made.has_value());
        ASSERT_TRUE(made->cancel());
    }
    EXPECT_EQ(rig->active_count(), 0u);
    EXPECT_EQ(rig->cell_count(), 0u);
    EXPECT_EQ(rig->counted().cancelled, static_cast<std::uint64_t>(count));
}

// CN-7
TEST(cancelling, a_stale_handle_cancels_nothing) {
    scheduler_rig rig;
    const auto who = rig.spawn();
    auto first = rig->schedule_once(ms(1), who, number{1});
    ASSERT_TRUE(first.has_value());
    rig.jump(1);
    auto second = rig->schedule_once(ms(1), who, number{2});  // in the same cell
    ASSERT_TRUE(second.has_value());
    EXPECT_FALSE(first->cancel());
    EXPECT_FALSE(first->is_cancelled());
    cancellable nothing;
    EXPECT_FALSE(nothing.cancel());
    EXPECT_FALSE(static_cast<bool>(nothing));
    EXPECT_FALSE(rig->cancel(nothing));
    rig.jump(1);
    EXPECT_TRUE(journal().is({1, 2}));
}

// TC-S27: executing is enqueued, too; a one-shot is delivered then.
TEST(cancelling, a_one_shot_that_is_in_the_mailbox_is_delivered) {
    scheduler_rig rig;
    const auto who = rig.spawn();
    auto made = rig->schedule_once(ms(1), who, number{1});
    ASSERT_TRUE(made.has_value());
    rig.time.advance(ms(1));
    rig->run_due(rig.time.now());  // sent, but nobody has run
    EXPECT_EQ(made->state(), job_state::executing);
    EXPECT_FALSE(made->cancel());
    EXPECT_FALSE(made->is_cancelled());
    rig.run();
    EXPECT_TRUE(journal().is({1}));
    EXPECT_TRUE(made->is_completed());
}

// TC-S27, CN-4: of a periodic job it is dropped, and the job is not armed again.
TEST(cancelling, a_periodic_message_that_is_in_the_mailbox_is_dropped) {
    for (const job_mode mode : {job_mode::fixed_rate, job_mode::fixed_delay}) {
        scheduler_rig rig;
        const auto who = rig.spawn();
        auto made = rig->add({.mode = mode, .first = ms(1), .period = ms(1), .to = who}, number{1});
        ASSERT_TRUE(made.has_value());
        rig.time.advance(ms(1));
        rig->run_due(rig.time.now());
        EXPECT_TRUE(made->cancel());
        EXPECT_TRUE(made->is_cancelled());
        rig.run();
        rig.pass(5);
        EXPECT_TRUE(journal().is({}));
        EXPECT_EQ(rig->active_count(), 0u);
        EXPECT_EQ(rig->cell_count(), 0u);
        EXPECT_EQ(rig->counted().cancelled, 1u);
        EXPECT_EQ(rig->counted().dropped, 1u);
    }
}

cancellable* own = nullptr;

// CN-6
TEST(cancelling, a_periodic_job_that_cancels_itself_never_comes_again) {
    for (const job_mode mode : {job_mode::fixed_rate, job_mode::fixed_delay}) {
        scheduler_rig rig;
        const auto who = rig.spawn([](tactus::turn&, std::uint32_t) {
            EXPECT_TRUE(own->cancel());
            EXPECT_FALSE(own->cancel());
        });
        auto made = rig->add({.mode = mode, .first = ms(1), .period = ms(1), .to = who}, number{1});
        ASSERT_TRUE(made.has_value());
        own = &*made;
        rig.pass(5);
        EXPECT_TRUE(journal().is({1}));
        EXPECT_TRUE(made->is_cancelled());
        EXPECT_EQ(rig->active_count(), 0u);
        EXPECT_EQ(rig->cell_count(), 0u);
    }
}

// TC-P22
TEST(cancelling, during_the_initial_delay_and_after_the_first_run) {
    for (const job_mode mode : {job_mode::fixed_rate, job_mode::fixed_delay}) {
        scheduler_rig rig;
        const auto who = rig.spawn();
        auto early =
            rig->add({.mode = mode, .first = ms(3), .period = ms(1), .to = who}, number{1});
        auto late = rig->add({.mode = mode, .first = ms(1), .period = ms(2), .to = who}, number{2});
        ASSERT_TRUE(early.has_value());
        ASSERT_TRUE(late.has_value());
        rig.pass(1);
        EXPECT_TRUE(early->cancel());
        EXPECT_TRUE(late->cancel());
        rig.pass(10);
        EXPECT_TRUE(journal().is({2}));
    }
}

int told = 0;
bool is_told_on_a_worker = false;
struct function_that_is_told {
    void operator()(const execution_batch&) const {
        journal().add(1);
        if (inside != nullptr) {
            EXPECT_TRUE(inside->cancel());
        }
    }
    void cancelled() const {
        ++told;
        is_told_on_a_worker = tactus::worker::current() != nullptr;
    }
    cancellable* inside = nullptr;  // is cancelled by its run
};

struct told_rig : tactus_test::served_rig {
    told_rig() noexcept {
        told = 0;
        is_told_on_a_worker = false;
    }
    /// How often it was told, there where functions run; and nothing is left behind.
    [[nodiscard]] int told_after_run() noexcept {
        run();
        EXPECT_EQ(is_told_on_a_worker, told != 0);
        EXPECT_EQ((*this)->cell_count(), 0u);
        return std::exchange(told, 0);
    }
};

// C-SCH-4, C-SCH-25, PK-SCH-25: once, on its dispatcher, when a run that was to come is cancelled.
TEST(cancelling, PK_SCH_25_a_function_is_told_on_its_dispatcher) {
    told_rig rig;
    auto once = rig->schedule_once_fn(ms(5), function_that_is_told{});
    ASSERT_TRUE(once.has_value());
    EXPECT_TRUE(once->cancel());
    EXPECT_EQ(told, 0);
    EXPECT_EQ(rig.told_after_run(), 1);
    EXPECT_FALSE(once->cancel());
    for (const job_mode mode : {job_mode::fixed_rate, job_mode::fixed_delay}) {
        auto again = rig->add_function({.mode = mode, .first = ms(1), .period = ms(1)},
                                       function_that_is_told{});
        ASSERT_TRUE(again.has_value());
        rig.pass(2);
        EXPECT_TRUE(again->cancel());
        EXPECT_EQ(told, 0);
        EXPECT_EQ(rig.told_after_run(), 1);
        rig.pass(3);
        EXPECT_TRUE(journal().is({1, 1}));
        EXPECT_EQ(told, 0);
    }
}

// PK-SCH-25: a run that waits is one that was to come.
TEST(cancelling, PK_SCH_25_a_function_that_waits_is_told) {
    told_rig rig;
    for (const job_mode mode : {job_mode::fixed_rate, job_mode::fixed_delay}) {
        auto again = rig->add_function({.mode = mode, .first = ms(1), .period = ms(1)},
                                       function_that_is_told{});
        ASSERT_TRUE(again.has_value());
        rig.time.advance(ms(1));
        rig->run_due(rig.time.now());
        EXPECT_TRUE(again->cancel());
        EXPECT_EQ(rig.told_after_run(), 1);
        EXPECT_TRUE(journal().is({}));
    }
}

// PK-SCH-25: not when it runs and nothing else was to come, nor when it has run.
TEST(cancelling, PK_SCH_25_a_function_that_runs_is_not_told) {
    told_rig rig;
    auto runs = rig->schedule_once_fn(ms(1), function_that_is_told{});
    ASSERT_TRUE(runs.has_value());
    rig.pass(1);
    EXPECT_FALSE(runs->cancel());
    EXPECT_EQ(rig.told_after_run(), 0);
    cancellable self;
    auto ends =
        rig->schedule_with_fixed_delay_fn(ms(1), ms(1), function_that_is_told{.inside = &self});
    ASSERT_TRUE(ends.has_value());
    self = *ends;
    rig.pass(3);
    EXPECT_TRUE(ends->is_cancelled());
    EXPECT_EQ(rig.told_after_run(), 0);
    EXPECT_TRUE(journal().is({1, 1}));
}

// PK-SCH-25: nor when the scheduler is closed.
TEST(cancelling, PK_SCH_25_a_close_does_not_tell_functions) {
    told_rig rig;
    ASSERT_TRUE(rig->schedule_once_fn(ms(5), function_that_is_told{}).has_value());
    ASSERT_TRUE(rig->schedule_at_fixed_rate_fn(ms(1), ms(1), function_that_is_told{}).has_value());
    ASSERT_TRUE(
        rig->schedule_with_fixed_delay_fn(ms(1), ms(1), function_that_is_told{}).has_value());
    rig.time.advance(ms(1));
    rig->run_due(rig.time.now());
    (void)rig->shutdown();
    EXPECT_EQ(rig.told_after_run(), 0);
    EXPECT_TRUE(journal().is({}));
}

// PK-SCH-25, SC-22: one that is ended because it missed too much is.
TEST(cancelling, PK_SCH_25_a_function_that_missed_too_much_is_told) {
    told_rig rig;
    ASSERT_TRUE(rig->schedule_at_fixed_rate_fn(ms(1), ms(1), function_that_is_told{},
                                               tactus::timer_affinity::no_dispatcher,
                                               tactus::fixed_rate_options{.backlog_limit = 8})
                    .has_value());
    rig.jump(50);
    EXPECT_EQ(rig.told_after_run(), 1);
    EXPECT_TRUE(journal().is({}));
}

struct counted_message {
    static inline int live = 0;
    std::uint32_t value = 0;
    explicit counted_message(std::uint32_t v) noexcept : value(v) { ++live; }
    counted_message(const counted_message& o) noexcept : value(o.value) { ++live; }
    counted_message(counted_message&& o) noexcept : value(o.value) { ++live; }
    counted_message& operator=(const counted_message&) = default;
    ~counted_message() { --live; }
};
struct counted_actor {
    void receive(tactus::turn&, tactus::envelope& e) {
        if (const auto* m = e.get_if<counted_message>())
            journal().add(static_cast<std::int32_t>(m->value));
    }
};

// PK-SCH-26: constructors and destructors balance on every path, and at once when it is cancelled.
TEST(cancelling, every_message_is_destroyed_once) {
    counted_message::live = 0;
    {
        scheduler_rig rig;
        const auto who = rig.kernel.spawn<counted_actor>();
        auto a = rig->schedule_once(ms(1), who, counted_message(1));
        auto b = rig->schedule_once(ms(1), who, counted_message(2));
        auto c = rig->schedule_at_fixed_rate(ms(2), ms(1), who, counted_message(3));
        auto d = rig->schedule_with_fixed_delay(ms(2), ms(1), who, counted_message(4));
        ASSERT_TRUE(a && b && c && d);
        EXPECT_EQ(counted_message::live, 4);
        EXPECT_TRUE(b->cancel());
        EXPECT_EQ(counted_message::live, 3);
        rig.pass(3);
        EXPECT_TRUE(journal().is({1, 3, 4, 3, 4}));
        EXPECT_EQ(counted_message::live, 2);
        EXPECT_TRUE(c->cancel());
        EXPECT_EQ(counted_message::live, 1);
        rig.time.advance(ms(1));
        rig->run_due(rig.time.now());
        EXPECT_EQ(counted_message::live, 2);  // and a copy on its way
    }
    EXPECT_EQ(counted_message::live, 0);
}

}  // namespace
