// SPDX-License-Identifier: Apache-2.0
//
// Goal: an actor that is suspended in the middle of a batch handles no user message after that,
// until it is resumed (TC-X16).
// Method: five messages in the mailbox of an actor that waits, or fails, at the second; the run
// could handle all of them.
#include <gtest/gtest.h>

#include <optional>

#include "puppet.hpp"
#include "world_rig.hpp"

using namespace tactus;
using namespace tactus_test;

namespace {

struct work {
    int number;
};

/// Waits at the second, in a coroutine that holds everything else back.
class waiting_actor : public actor<work> {
public:
    task<> on(work m) {
        journal().add(m.number);
        if (m.number == 2) {
            const auto over = co_await context().delay(ms(5));
            journal().add(over ? 20 : -20);
        }
    }
};

/// Fails at the second.
class failing_actor : public actor<work> {
public:
    handled on(work m) {
        journal().add(m.number);
        return m.number == 2 ? handled::failed("two") : handled::ok();
    }
};

}  // namespace

// TC-X16: by waiting.
TEST(suspended_batch, nothing_is_handled_while_one_waits) {
    world_rig rig;
    const auto who = rig.spawn<waiting_actor>("who");
    for (int i = 1; i <= 5; ++i)
        who.tell(work{i});
    rig.run();
    EXPECT_TRUE(journal().is({1, 2}));
    rig.pass(4);
    EXPECT_TRUE(journal().is({}));
    rig.pass(1);
    EXPECT_TRUE(journal().is({20, 3, 4, 5}));
    rig.end();
}

// TC-X16: by supervision, step by step: between the failure and its decision there is nothing.
TEST(suspended_batch, nothing_is_handled_between_a_failure_and_its_decision) {
    world_rig rig;
    const auto who = rig.spawn<failing_actor>("who");
    rig.run();
    for (int i = 1; i <= 5; ++i)
        who.tell(work{i});
    std::optional<unsigned> at_failure;
    for (int step = 0; step < 1'000 && rig.said.decision_count == 0; ++step) {
        (void)rig.kernel.run_once();
        if (!at_failure && journal().count() >= 2)
            at_failure = journal().count();
    }
    EXPECT_EQ(at_failure, 2u);
    EXPECT_EQ(rig.said.decision_count, 1u);
    EXPECT_EQ(journal().count(), 2u);
    rig.run();
    EXPECT_TRUE(journal().is({1, 2, 3, 4, 5}));
    rig.end();
}
