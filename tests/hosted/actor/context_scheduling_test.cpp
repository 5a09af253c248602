// SPDX-License-Identifier: Apache-2.0
//
// Goal: the scheduler as actors see it (SC-4, SC-9, SC-15, BT-1): sender and dispatcher are filled
// in, batches are seen.
// Method: puppets in a world whose time the test moves.
#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "puppet.hpp"
#include "world_rig.hpp"

using namespace tactus;
using namespace tactus_test;

namespace {

struct beat {
    int number;
};

/// What one has received: from whom, in what batch.
struct noted {
    any_ref from;
    std::optional<execution_batch> batch;
};

class listener : public actor<beat> {
public:
    explicit listener(std::vector<noted>* into) : into_(into) {}
    void on(beat) { into_->push_back({context().sender(), context().scheduler_batch()}); }

private:
    std::vector<noted>* into_;
};

struct go {};
class starter : public actor<go> {
public:
    using what = void (*)(actor_context, any_ref);
    starter(what does, any_ref to) : does_(does), to_(to) {}
    void on(go) { does_(context(), to_); }

private:
    what does_;
    any_ref to_;
};

using counts = std::vector<std::size_t>;

struct rig_of_two {
    explicit rig_of_two(starter::what does) {
        to = rig.spawn<listener>("listener", &seen);
        by = rig.spawn<starter>("starter", does, to.any());
        by.tell(go{});
        rig.run();
    }
    /// So many ticks, one by one; how many had come after each.
    template <class Count>
    [[nodiscard]] counts counts_of(unsigned ticks, Count&& count) {
        counts all;
        for (unsigned i = 0; i < ticks; ++i) {
            rig.pass(1);
            all.push_back(count());
        }
        return all;
    }
    world_rig rig;
    std::vector<noted> seen;
    actor_ref<beat> to;
    actor_ref<go> by;
};

// SC-4: who schedules is the sender.
TEST(context_scheduling, once_with_its_sender_and_batch) {
    rig_of_two r([](actor_context c, any_ref to) {
        EXPECT_TRUE(c.schedule_once(ms(5), to, beat{1}));
        EXPECT_FALSE(c.scheduler_batch().has_value());
    });
    r.rig.pass(4);
    EXPECT_TRUE(r.seen.empty());
    r.rig.pass(2);
    ASSERT_EQ(r.seen.size(), 1u);
    EXPECT_TRUE(r.seen[0].from == r.by.any());
    ASSERT_TRUE(r.seen[0].batch.has_value());
    EXPECT_EQ(r.seen[0].batch->mode, job_mode::one_shot);
    r.rig.end();
}

TEST(context_scheduling, at_a_fixed_rate) {
    rig_of_two r([](actor_context c, any_ref to) {
        EXPECT_TRUE(c.schedule_at_fixed_rate(ms(2), ms(3), to, beat{1}));
    });
    EXPECT_EQ(r.counts_of(9, [&] { return r.seen.size(); }),
              (counts{0, 1, 1, 1, 2, 2, 2, 3, 3}));  // 2, 5, 8
    ASSERT_EQ(r.seen.size(), 3u);
    EXPECT_EQ(r.seen[2].batch->mode, job_mode::fixed_rate);
    EXPECT_TRUE(r.seen[2].from == r.by.any());
    r.rig.end();
}

TEST(context_scheduling, with_a_fixed_delay) {
    rig_of_two r([](actor_context c, any_ref to) {
        EXPECT_TRUE(c.schedule_with_fixed_delay(ms(2), ms(3), to, beat{1}));
    });
    EXPECT_EQ(r.counts_of(9, [&] { return r.seen.size(); }),
              (counts{0, 1, 1, 1, 2, 2, 2, 3, 3}));  // each is handled at once
    ASSERT_EQ(r.seen.size(), 3u);
    EXPECT_EQ(r.seen[2].batch->mode, job_mode::fixed_delay);
    EXPECT_TRUE(r.seen[2].from == r.by.any());
    r.rig.end();
}

// SC-1: functions, beside the actor.
TEST(context_scheduling, functions) {
    static std::vector<execution_batch> ran;
    ran.clear();
    rig_of_two r([](actor_context c, any_ref) {
        EXPECT_TRUE(c.schedule_once_fn(ms(2), [](const execution_batch& b) { ran.push_back(b); }));
        EXPECT_TRUE(c.schedule_at_fixed_rate_fn(
            ms(3), ms(3), [](const execution_batch& b) { ran.push_back(b); }));
        EXPECT_TRUE(c.schedule_with_fixed_delay_fn(
            ms(4), ms(4), [](const execution_batch& b) { ran.push_back(b); }));
    });
    EXPECT_EQ(r.counts_of(7, [] { return ran.size(); }), (counts{0, 1, 2, 3, 3, 4, 4}));
    ASSERT_EQ(ran.size(), 4u);
    EXPECT_EQ(ran[0].mode, job_mode::one_shot);
    EXPECT_EQ(ran[1].mode, job_mode::fixed_rate);
    EXPECT_EQ(ran[2].mode, job_mode::fixed_delay);
    EXPECT_EQ(ran[3].mode, job_mode::fixed_rate);
    r.rig.end();
}

// DF-32: a function may capture `this`: it does not run once its instance has ended, whether it
// waits in the wheel or in its dispatcher's queue.
enum class ends : std::uint8_t { schedule, schedule_and_release, stop, fail };
class capturing : public actor<ends> {
public:
    explicit capturing(int* runs) : runs_(runs) {}
    void on(ends what) {
        const auto f = [this](const execution_batch&) { ++*runs_; };
        switch (what) {
        case ends::schedule:
            EXPECT_TRUE(context().schedule_once_fn(ms(5), f));
            EXPECT_TRUE(context().schedule_at_fixed_rate_fn(ms(5), ms(5), f));
            EXPECT_TRUE(context().schedule_with_fixed_delay_fn(ms(5), ms(5), f));
            break;
        case ends::schedule_and_release:
            EXPECT_TRUE(context().schedule_once_fn(ms(1), f));
            break;
        case ends::stop:
            context().stop();
            break;
        case ends::fail:
            context().fail(failure("again"));
            break;
        }
    }

private:
    int* runs_;
};
TEST(context_scheduling, DF_32_functions_end_with_the_instance_that_scheduled_them) {
    for (const ends how : {ends::stop, ends::fail}) {
        world_rig rig;
        int runs = 0;
        const auto who = rig.spawn<capturing>("capturing", &runs);
        who.tell(ends::schedule);
        rig.pass(6);
        EXPECT_EQ(runs, 3);
        who.tell(ends::schedule);
        who.tell(how);
        rig.run();
        EXPECT_EQ(rig.timing.service()->active_count(), 0u);
        rig.pass(20);
        EXPECT_EQ(runs, 3);
        rig.end();
    }
}
TEST(context_scheduling, DF_32_records_of_functions_that_have_run_are_freed) {
    world_rig rig;
    int runs = 0;
    const auto who = rig.spawn<capturing>("capturing", &runs);
    for (int i = 0; i < 100; ++i) {
        who.tell(ends::schedule_and_release);
        rig.pass(2);
    }
    EXPECT_EQ(runs, 100);
    rig.end();  // everything was given back
}

// C-SCH-26, PK-SCH-18: a receiver that fails and is restarted goes on receiving.
class fragile : public actor<beat> {
public:
    explicit fragile(int* handled) : handled_(handled) {}
    void on(beat) {
        if (++*handled_ == 3)
            context().fail(failure("three"));
    }

private:
    int* handled_;
};
TEST(context_scheduling, C_SCH_26_goes_on_through_a_restart) {
    world_rig rig;
    int handled = 0;
    const auto who = rig.spawn<fragile>("fragile", &handled);
    const auto made =
        rig.timing.service()->schedule_at_fixed_rate(ms(1), ms(1), who.any().index(), beat{1});
    ASSERT_TRUE(made.has_value());
    rig.pass(6);
    EXPECT_EQ(handled, 6);
    rig.end();
}

// SH-5: post_stop may still schedule; what is left at the end is cancelled and gives everything
// back (rig.end looks).
class late : public actor<go> {
public:
    void on(go) { context().stop(); }
    void post_stop() {
        struct wide {
            char bytes[300] = {};
        };
        EXPECT_TRUE(context().schedule_once(ms(5), any_ref(context().self()), wide{}));
    }
};
TEST(context_scheduling, SH_5_post_stop_may_schedule) {
    world_rig rig;
    const auto who = rig.spawn<late>("late");
    who.tell(go{});
    rig.run();
    EXPECT_EQ(rig.timing.pending(), 1u);
    rig.end();
}

}  // namespace
