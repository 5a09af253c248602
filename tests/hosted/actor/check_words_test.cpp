// SPDX-License-Identifier: Apache-2.0
//
// Goal: a failed check tells a user what was violated, by which actor and on which message, and
// where to read more (DF-36).
#include <tactus/runtime/actor_system.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>

using namespace tactus;  // NOLINT: the whole vocabulary is used
using namespace std::chrono_literals;

namespace {

struct break_rules {
    std::atomic<bool>* done;
};

class other : public actor<int> {
public:
    void on(int) {}
    void misuse() { (void)context(); }
};

/// Uses the context of another actor in its own turn.
class cart : public with_stash<4>, public actor<break_rules> {
public:
    void on(const break_rules&) { victim_.misuse(); }

private:
    static inline other victim_;
};

void use_a_context_in_another_turn() {
    actor_system system("shop");
    system.spawn<cart>("cart").tell(break_rules{});
    (void)system.wait(60s);
}

void use_a_context_in_no_turn() {
    actor_system system("shop");
    other alone;
    alone.misuse();
}

}  // namespace

TEST(check_words_death_test, DF_36_a_failed_check_names_rule_actor_message_and_page) {
    EXPECT_DEATH(use_a_context_in_another_turn(),
                 "check failed: actor_context:2: context\\(\\) of one actor used in the turn of "
                 "another \\(actor tactus://shop/user/cart, message \\[.*break_rules\\], thread "
                 "[0-9]+ shop-.*\\); see docs/troubleshooting.md#context-outside-turn");
}

TEST(check_words_death_test, DF_36_outside_of_actors_the_thread_is_named) {
    EXPECT_DEATH(use_a_context_in_no_turn(),
                 "actor_context:1: context\\(\\) used outside of an actor's turn \\(thread "
                 "[0-9]+.*\\); see docs/troubleshooting.md#context-outside-turn");
}
