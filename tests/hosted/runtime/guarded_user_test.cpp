// SPDX-License-Identifier: Apache-2.0
//
// Goal: user code that the kernel calls beside handlers may throw: the harmless answer, a count, an
// event, and the system goes on (UP-4, IN-7, IN-8, LN-10).
// Method: each adapter over a user that throws when told to, on a system driven by hand.
#include <tactus/dispatch/guarded_user.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <stdexcept>

#include "kernel_rig.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using tactus_test::journal;
using tactus_test::kernel_rig;
using tactus_test::number;

namespace {

/// Throws when told to; counts its calls.
struct moody {
    bool throws = true;
    unsigned calls = 0;
    void enter() {
        ++calls;
        if (throws)
            throw std::runtime_error("moody");
    }
};

/// Hears of failures and nothing else.
class listener final : public kernel_events {
public:
    void dead_letter(mailbox_index, envelope&, dead_letter_cause) noexcept override {}
    void message_lost(mailbox_index, const message_type&, dead_letter_cause) noexcept override {}
    void system_dead_letter(mailbox_index, system_message&) noexcept override {}
    void mailbox_closed(mailbox_index, std::size_t, std::size_t) noexcept override {}
    void actor_failed(mailbox_index, const failure&) noexcept override {}
    void deadline_missed(mailbox_index, std::int64_t) noexcept override {}
    void user_code_failed(user_code where, const failure& why) noexcept override {
        ++heard;
        last = where;
        text = why.what;
    }
    unsigned heard = 0;
    user_code last = user_code::kernel_events;
    const char* text = "";
};

struct enqueue_user : moody {
    void enqueuing(mailbox_index, const message_type&) { enter(); }
};
struct spawn_user : moody {
    const char* spawning(const spawn_middleware::request& r) {
        enter();
        return r.options.priority > 200 ? "too important" : nullptr;
    }
};
struct trace_user : moody {
    std::int64_t begin(mailbox_index, mailbox_index, const message_type&) {
        enter();
        return 7;
    }
    void mark(std::int64_t, tracer::point, mailbox_index) { enter(); }
};
struct governor_user : moody {
    suggestion suggest(const load_snapshot& seen) {
        live = seen.live_actors;
        enter();
        return suggestion::meet_deadlines;
    }
    std::uint64_t live = 0;
};
struct probe_user : moody {
    load_snapshot measure() {
        enter();
        return {.live_actors = 9};
    }
};
struct events_user : moody {
    void dead_letter(mailbox_index, envelope&, dead_letter_cause) { enter(); }
    void message_lost(mailbox_index, const message_type&, dead_letter_cause) { enter(); }
    void system_dead_letter(mailbox_index, system_message&) { enter(); }
    void mailbox_closed(mailbox_index, std::size_t, std::size_t) { enter(); }
    void actor_failed(mailbox_index, const failure&) { enter(); }
    void deadline_missed(mailbox_index, std::int64_t) { enter(); }
    void user_code_failed(user_code, const failure&) { enter(); }
};

}  // namespace

// UP-4, IN-8
TEST(guarded_user, UP_4_an_enqueue_middleware_that_throws_does_not_hold_up_the_message) {
    listener told;
    enqueue_user user;
    enqueue_middleware_of guarded(user, &told);
    kernel_rig rig([&](kernel_rig::options& o) { o.on_enqueue = &guarded; });
    const mailbox_index a = rig.spawn();
    rig.tell(a, {1, 2});
    user.throws = false;
    rig.tell(a, {3});
    EXPECT_EQ(rig.run(), 1u);
    EXPECT_TRUE(journal().is({1, 2, 3}));
    EXPECT_EQ(user.calls, 3u);
    EXPECT_EQ(guarded.failure_count(), 2u);
    EXPECT_EQ(told.heard, 2u);
    EXPECT_EQ(told.last, user_code::enqueue_middleware);
    EXPECT_STREQ(told.text, "moody");
}

// UP-4, IN-8
TEST(guarded_user, UP_4_a_spawn_middleware_that_throws_refuses) {
    listener told;
    spawn_user user;
    spawn_middleware_of guarded(user, &told);
    kernel_rig rig([&](kernel_rig::options& o) { o.on_spawn = &guarded; });
    const auto refused = rig->spawn<tactus_test::plain_actor>({});
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().what, spawn_error::kind::refused);
    EXPECT_STREQ(refused.error().reason, spawn_middleware_failed);
    EXPECT_EQ(rig->live_count(), 0u);
    EXPECT_EQ(guarded.failure_count(), 1u);
    EXPECT_EQ(told.heard, 1u);
    EXPECT_EQ(told.last, user_code::spawn_middleware);
    user.throws = false;
    EXPECT_STREQ(rig->spawn<tactus_test::plain_actor>({.priority = 201}).error().reason,
                 "too important");
    EXPECT_TRUE(rig->spawn<tactus_test::plain_actor>({}).has_value());
    EXPECT_EQ(told.heard, 1u);
}

// UP-4, IN-7
TEST(guarded_user, UP_4_a_tracer_that_throws_traces_nothing) {
    listener told;
    trace_user user;
    tracer_of guarded(user, &told);
    kernel_rig rig([&](kernel_rig::options& o) { o.trace = &guarded; });
    const mailbox_index a = rig.spawn();
    rig.tell(a, {1});
    EXPECT_EQ(user.calls, 1u);  // no span, no marks
    EXPECT_EQ(rig.run(), 1u);
    EXPECT_EQ(user.calls, 1u);
    user.throws = false;
    rig.tell(a, {2});
    user.throws = true;  // the marks at the receiver
    EXPECT_EQ(rig.run(), 1u);
    EXPECT_TRUE(journal().is({1, 2}));
    EXPECT_EQ(user.calls, 5u);
    EXPECT_EQ(guarded.failure_count(), 3u);
    EXPECT_EQ(told.heard, 3u);
    EXPECT_EQ(told.last, user_code::tracer);
}

// UP-4, OH-7: facts are for who wants them, and one that throws is left out.
TEST(guarded_user, UP_4_a_tracer_may_take_facts) {
    struct fact_user : trace_user {
        void carry(std::int64_t, span_fact what, std::uint64_t value) {
            enter();
            last = value;
            last_what = what;
        }
        std::uint64_t last = 0;
        span_fact last_what{};
    };
    trace_user plain;
    tracer_of(plain).carry(7, span_fact::signal_key, 1);
    EXPECT_EQ(plain.calls, 0u);
    fact_user user;
    tracer_of guarded(user);
    guarded.carry(7, span_fact::timer_job, 2);
    EXPECT_EQ(guarded.failure_count(), 1u);
    user.throws = false;
    guarded.carry(7, span_fact::timer_job, 3);
    EXPECT_EQ(guarded.failure_count(), 1u);
    EXPECT_EQ(user.last, 3u);
    EXPECT_EQ(user.last_what, span_fact::timer_job);
}

// UP-4, LN-10
TEST(guarded_user, UP_4_a_governor_or_probe_that_throws_has_no_preference) {
    listener told;
    governor_user user;
    probe_user seen;
    governor_of guarded(user, &told);
    load_probe_of probe(seen, &told);
    kernel_rig rig([&](kernel_rig::options& o) {
        o.advice = &guarded;
        o.load = &probe;
        o.throughput = 1;
    });
    const mailbox_index a = rig.spawn();
    const auto steps = [&](std::uint32_t count) {
        for (std::uint32_t i = 0; i < count; ++i)
            rig.tell(a, {1});
        EXPECT_EQ(rig.run(count), count);
    };
    steps(coordinator::governor_interval);
    EXPECT_EQ(guarded.failure_count(), 1u);
    EXPECT_EQ(probe.failure_count(), 1u);
    EXPECT_EQ(user.live, 0u);
    EXPECT_EQ(told.heard, 2u);
    EXPECT_EQ(told.last, user_code::governor);
    EXPECT_EQ(guarded.suggest({}), suggestion::no_preference);
    user.throws = false;
    seen.throws = false;
    steps(coordinator::governor_interval);
    EXPECT_EQ(user.live, 9u);
    EXPECT_EQ(guarded.suggest({}), suggestion::meet_deadlines);
    EXPECT_EQ(guarded.failure_count(), 2u);
    EXPECT_EQ(probe.failure_count(), 1u);
}

// UP-4: every event, each once, and what it shows is disposed of all the same.
TEST(guarded_user, UP_4_events_that_throw_are_counted_and_nothing_else_changes) {
    events_user user;
    kernel_events_of guarded(user);
    kernel_rig rig([&](kernel_rig::options& o) {
        o.events = &guarded;
        o.envelope_capacity = 2;
        o.time = nullptr;
    });
    const mailbox_index a = rig.spawn(+[](turn& t, std::uint32_t n) {
        if (n == 1)
            t.stop();
        else
            throw 1;
    });
    rig.tell(a, {2, 3, 4});  // one too many: lost
    EXPECT_EQ(guarded.failure_count(), 1u);
    EXPECT_EQ(rig.run(), 1u);  // failed
    EXPECT_EQ(guarded.failure_count(), 2u);
    rig.tell(a, {1});
    EXPECT_TRUE(rig->stop(a));  // two dead letters, and closed
    EXPECT_EQ(guarded.failure_count(), 5u);
    tactus_test::signal_node m(system_kind::watch, 1, true);
    EXPECT_FALSE(rig->send_system(a, m));
    EXPECT_EQ(guarded.failure_count(), 6u);
    EXPECT_TRUE(journal().is({2, tactus_test::freed + 1}));
    for (int i = 0; i < 5; ++i)  // no envelope stays behind
        rig.tell(a, {5});
    EXPECT_EQ(guarded.failure_count(), 11u);
    guarded.deadline_missed(a, 1);
    guarded.user_code_failed(user_code::tracer, {});
    EXPECT_EQ(guarded.failure_count(), 13u);
    EXPECT_EQ(user.calls, 13u);
    user.throws = false;
    guarded.deadline_missed(a, 1);
    EXPECT_EQ(user.calls, 14u);
    EXPECT_EQ(guarded.failure_count(), 13u);
}

TEST(guarded_user, every_kind_has_a_name) {
    EXPECT_STREQ(name_of(user_code::enqueue_middleware), "enqueue_middleware");
    EXPECT_STREQ(name_of(user_code::kernel_events), "kernel_events");
    EXPECT_STREQ(name_of(sent::construction_failed), "construction_failed");
    EXPECT_STREQ(name_of(dead_letter_cause::construction_failed), "construction_failed");
}
