// SPDX-License-Identifier: Apache-2.0
//
// Goal: a span carries the signal that resumed its actor, and the job of a timer (OH-7).
// Method: a tracer that writes down what it is told, on a system driven by hand.
#include <tactus/dispatch/events.hpp>

#include <cstdint>
#include <string_view>

#include <tactus/dispatch/job_delivery.hpp>

#include "portable_test.hpp"
#include "timed_rig.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using tactus_test::journal;
using tactus_test::number;
using tactus_test::plain_actor;
using tactus_test::timed_rig;

namespace {

/// Spans are numbered from 1; those it is told not to trace have none.
class fact_spy final : public tracer {
public:
    struct fact {
        std::int64_t span;
        span_fact what;
        std::uint64_t value;
        friend bool operator==(const fact&, const fact&) = default;
    };
    [[nodiscard]] std::int64_t begin(mailbox_index, mailbox_index,
                                     const message_type&) noexcept override {
        return traces ? ++last_span : 0;
    }
    void mark(std::int64_t span, point where, mailbox_index) noexcept override {
        // Facts come before the mark that they belong to.
        if (where == point::enqueue)
            at_enqueue = count;
        if (where == point::invoke)
            at_invoke = count;
        last_marked = span;
    }
    void carry(std::int64_t span, span_fact what, std::uint64_t value) noexcept override {
        last = {span, what, value};
        ++count;
    }
    bool traces = true;
    std::int64_t last_span = 0;
    std::int64_t last_marked = 0;
    fact last{};
    unsigned count = 0;
    unsigned at_enqueue = 0;
    unsigned at_invoke = 0;
};

constexpr std::uint64_t wide_key = (std::uint64_t{1} << 63) + 7;
constexpr duration time_max = duration::from_ns(10);

// Reactions: what holds the actor back.
enum hold : std::uint32_t { nothing, by_signal, by_key_0, by_time, by_signal_and_time };
constexpr auto holding = +[](turn& t, std::uint32_t how) {
    const auto suspend = [&](const resume_condition& until) {
        EXPECT_TRUE(t.suspend(suspend_reason::await_external, until));
    };
    if (how == by_signal || how == by_signal_and_time)
        suspend(resume_condition::signal(wide_key));
    if (how == by_key_0)
        suspend(resume_condition::signal(0));
    if (how == by_time || how == by_signal_and_time)
        suspend(resume_condition::after(time_max));
};

struct traced_rig : timed_rig {
    explicit traced_rig(fact_spy& spans)
        : timed_rig([&](options& o) { o.trace = &spans; }), actor(spawn(holding)) {}
    void tell(hold how) { timed_rig::tell(actor, {how}); }

    mailbox_index actor;
};

}  // namespace

// OH-7: the first message that was held back carries the key; those after it do not.
TEST(spans, the_key_of_the_signal_that_resumed_the_actor) {
    fact_spy spans;
    traced_rig rig(spans);
    rig.tell(nothing);
    rig.tell(by_signal);
    rig.tell(nothing);  // span 3
    rig.tell(nothing);
    rig.run();
    EXPECT_EQ(spans.count, 0U);
    EXPECT_EQ(rig->signal(wide_key), 1U);
    rig.run();
    ASSERT_EQ(spans.count, 1U);
    EXPECT_TRUE((spans.last == fact_spy::fact{3, span_fact::signal_key, wide_key}));
    EXPECT_EQ(spans.at_invoke, 1U);
    EXPECT_EQ(spans.last_marked, 4);
}

// OH-7: every key is one, 0 too; and a message that comes later carries it as well.
TEST(spans, a_key_waits_for_the_next_message_that_is_traced) {
    fact_spy spans;
    traced_rig rig(spans);
    rig.tell(by_key_0);
    rig.run();
    EXPECT_EQ(rig->signal(0), 1U);
    rig.run();
    spans.traces = false;
    rig.tell(nothing);
    rig.run();
    EXPECT_EQ(spans.count, 0U);
    spans.traces = true;
    rig.tell(nothing);
    rig.run();
    ASSERT_EQ(spans.count, 1U);
    EXPECT_TRUE((spans.last == fact_spy::fact{2, span_fact::signal_key, 0}));
}

// OH-7: what was resumed by something else was resumed by no signal: time, a hand, a limit.
TEST(spans, what_else_resumes_leaves_no_key) {
    fact_spy spans;
    traced_rig rig(spans);
    rig.tell(by_time);
    rig.tell(nothing);
    rig.run();
    rig.time.advance(time_max);
    rig.run();
    EXPECT_EQ(spans.last_marked, 2);

    rig.tell(by_signal);
    rig.tell(nothing);
    rig.run();
    EXPECT_TRUE(rig->resume(rig.actor, suspension::await));
    rig.run();
    EXPECT_EQ(spans.last_marked, 4);

    // Two reasons to wait: the signal ends one, time the other, and so the wait.
    rig.tell(by_signal_and_time);
    rig.tell(nothing);
    rig.run();
    EXPECT_EQ(rig->signal(wide_key), 1U);
    rig.run();
    rig.time.advance(time_max);
    rig.run();
    EXPECT_EQ(spans.last_marked, 6);
    EXPECT_EQ(spans.count, 0U);
}

// OH-7: the note is the actor's; whoever gets its slot next knows nothing of it, and it is gone.
TEST(spans, a_key_ends_with_its_actor) {
    fact_spy spans;
    traced_rig rig(spans);
    rig.tell(by_signal);
    rig.run();
    const std::size_t bytes = rig.memory.live_bytes;
    for (unsigned i = 0; i < 40; ++i) {  // more than there are notes at first
        EXPECT_EQ(rig->signal(wide_key), 1U);
        (void)rig->stop(rig.actor);
        rig.run();
        rig.actor = rig.spawn(holding);
        rig.tell(by_signal);
        rig.run();
    }
    EXPECT_EQ(spans.count, 0U);
    EXPECT_EQ(rig.memory.live_bytes, bytes);
}

// OH-7: a job is told before the message is on its way, and is that message's alone.
TEST(spans, the_job_of_a_delivery) {
    fact_spy spans;
    traced_rig rig(spans);
    constexpr job_id job = 0xfedc'ba98'7654'3210;
    rig.tell(nothing);
    {
        const job_delivery now(job);
        rig.tell(nothing);  // span 2
        rig.tell(nothing);
    }
    rig.tell(nothing);
    ASSERT_EQ(spans.count, 1U);
    EXPECT_TRUE((spans.last == fact_spy::fact{2, span_fact::timer_job, job}));
    EXPECT_EQ(spans.at_enqueue, 1U);
    rig.run();
    EXPECT_EQ(spans.count, 1U);

    // Deliveries nest, and one that sent nothing leaves nothing behind.
    {
        const job_delivery outer(5);
        {
            const job_delivery inner(6);
        }
        rig.tell(nothing);
    }
    EXPECT_EQ(spans.last.value, 5U);
    {
        const job_delivery unused(7);
    }
    rig.tell(nothing);
    EXPECT_EQ(spans.count, 2U);

    // A message that is not traced takes it all the same.
    {
        const job_delivery now(8);
        spans.traces = false;
        rig.tell(nothing);
        spans.traces = true;
        rig.tell(nothing);
    }
    EXPECT_EQ(spans.count, 2U);
}

// OH-7, LN-8: a message that is given its deadline by its receiver is still the timer's.
TEST(spans, a_job_with_a_deadline) {
    fact_spy spans;
    traced_rig rig(spans);
    const auto urgent = rig->spawn<plain_actor>({.deadline = duration::from_ms(1)});
    ASSERT_TRUE(urgent.has_value());
    const job_delivery now(9);
    actor_scheduler::tell(*urgent, number{1});
    EXPECT_EQ(spans.last.value, 9U);
}

// OH-7
TEST(spans, facts_have_names) {
    EXPECT_EQ(std::string_view(name_of(span_fact::signal_key)), "signal_key");
    EXPECT_EQ(std::string_view(name_of(span_fact::timer_job)), "timer_job");
}
