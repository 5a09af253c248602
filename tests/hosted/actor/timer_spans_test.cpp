// SPDX-License-Identifier: Apache-2.0
//
// Goal: the span of what a timer delivers carries the timer's job, and no other span does (OH-7).
#include <tactus/actor/actor.hpp>

#include <gtest/gtest.h>

#include <vector>

#include "world_rig.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using tactus_test::journal;
using tactus_test::ms;
using tactus_test::world_rig;

namespace {

/// Which message each span is of, and its job.
class job_spy final : public tracer {
public:
    struct seen {
        const message_type* type = nullptr;
        job_id job = 0;
    };
    [[nodiscard]] std::int64_t begin(mailbox_index, mailbox_index,
                                     const message_type& type) noexcept override {
        spans.push_back({.type = &type});
        return static_cast<std::int64_t>(spans.size());
    }
    void mark(std::int64_t, point, mailbox_index) noexcept override {}
    void carry(std::int64_t span, span_fact what, std::uint64_t value) noexcept override {
        EXPECT_EQ(what, span_fact::timer_job);
        spans[static_cast<std::size_t>(span - 1)].job = value;
    }
    /// Of messages of a type, in order.
    template <class M>
    [[nodiscard]] std::vector<job_id> jobs_of() const {
        std::vector<job_id> found;
        for (const seen& s : spans) {
            if (s.type == &message_type_of<M>)
                found.push_back(s.job);
        }
        return found;
    }
    std::vector<seen> spans;
};

struct beat {
    int number;
};
class clockwork : public actor<int, beat> {
public:
    void on(int what) {
        switch (what) {
        case 1:
            (void)context().start_single_timer("single", beat{1}, ms(5));
            break;
        case 2:
            (void)context().schedule_once(ms(5), context().self(), beat{2});
            break;
        case 3:
            context().set_receive_timeout(ms(5));
            break;
        case 4:
            (void)context().start_timer_at_fixed_rate("rate", beat{4}, ms(5));
            break;
        default:
            break;
        }
    }
    void on(const beat& b) { context().self().tell(100 + b.number); }
    void on(const receive_timeout&) {
        context().set_receive_timeout(duration::max());
        context().self().tell(103);
    }
};

struct timed_rig {
    job_spy spans;
    world_rig rig{{}, &spans};
    actor_ref<int, beat> who = rig.spawn<clockwork>("c");

    void start(int what) {
        who.tell(what);
        rig.run();
        spans.spans.clear();
    }
};

}  // namespace

// OH-7: a keyed timer's message says which timer it was; what its handler sends does not.
TEST(timer_spans, keyed_timers) {
    timed_rig r;
    r.start(1);
    r.rig.pass(6);
    ASSERT_EQ(r.spans.jobs_of<timer_due>().size(), 1U);
    EXPECT_NE(r.spans.jobs_of<timer_due>()[0], 0U);
    EXPECT_EQ(r.spans.jobs_of<int>(), (std::vector<job_id>{0}));
}

// OH-7: each round of a periodic timer is a registration of its own.
TEST(timer_spans, rounds_of_a_timer_are_told_apart) {
    timed_rig r;
    r.start(4);
    r.rig.pass(11);
    const std::vector<job_id> jobs = r.spans.jobs_of<timer_due>();
    ASSERT_EQ(jobs.size(), 2U);
    EXPECT_NE(jobs[0], 0U);
    EXPECT_NE(jobs[1], 0U);
    EXPECT_NE(jobs[0], jobs[1]);
}

// OH-7: a scheduled message is sent by its timer, too.
TEST(timer_spans, scheduled_messages) {
    timed_rig r;
    r.start(2);
    r.rig.pass(6);
    ASSERT_EQ(r.spans.jobs_of<beat>().size(), 1U);
    EXPECT_NE(r.spans.jobs_of<beat>()[0], 0U);
    EXPECT_EQ(r.spans.jobs_of<int>(), (std::vector<job_id>{0}));
}

// OH-7: and the receive timeout.
TEST(timer_spans, receive_timeouts) {
    timed_rig r;
    r.start(3);
    r.rig.pass(6);
    ASSERT_EQ(r.spans.jobs_of<timer_due>().size(), 1U);
    EXPECT_NE(r.spans.jobs_of<timer_due>()[0], 0U);
    EXPECT_EQ(r.spans.jobs_of<int>(), (std::vector<job_id>{0}));
}

// OH-7: index and generation, as the handle has them.
TEST(timer_spans, a_job_is_the_handle) {
    EXPECT_EQ(job_of(timer_handle(3, 5)), (job_id{5} << 32) + 3);
}
