// SPDX-License-Identifier: Apache-2.0
//
// Goal: what a program must not do with coroutines and contexts ends it, with the check's number.
#include <gtest/gtest.h>

#include <coroutine>

#include <tactus/actor/cancel_context.hpp>
#include <tactus/actor/coroutine_set.hpp>

#include "coroutine_rig.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using namespace tactus_test;

namespace {

task<> awaits_what_nobody_resumes() {
    co_await std::suspend_always{};
}
coroutine_set* set_of_test = nullptr;
task<> destroys_its_own_set() {
    set_of_test->destroy_all();
    co_return;
}
task<> goes_on_with_itself() {
    system_message continuation;
    (void)set_of_test->resume(continuation);
    co_return;
}

}  // namespace

// AC-2: C3. A coroutine that nobody would resume is found when it stops, not when it is missed.
TEST(coroutine_death, a_task_awaits_what_nobody_resumes) {
    coroutine_set set({}, frames());
    EXPECT_DEATH((void)set.start_handler([] { return awaits_what_nobody_resumes(); }),
                 "coroutine_set:3");
}

// AC-2: C2
TEST(coroutine_death, a_coroutine_destroys_its_own_set) {
    coroutine_set set({}, frames());
    set_of_test = &set;
    EXPECT_DEATH((void)set.start_handler([] { return destroys_its_own_set(); }), "coroutine_set:1");
    EXPECT_DEATH((void)set.start_handler([] { return goes_on_with_itself(); }), "coroutine_set:2");
}

TEST(coroutine_death, a_context_goes_before_who_needs_it) {
    struct silent final : cancel_callback {
        void context_cancelled() noexcept override {}
    } c;
    std::optional<cancel_context> parent(std::in_place);
    std::optional<cancel_context> child(std::in_place, parent->token());
    EXPECT_DEATH(parent.reset(), "cancel_context:1");
    child.reset();
    EXPECT_TRUE(parent->watch(c));
    EXPECT_DEATH(parent.reset(), "cancel_context:2");
    EXPECT_TRUE(parent->unwatch(c));
}
