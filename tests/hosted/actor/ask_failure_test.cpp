// SPDX-License-Identifier: Apache-2.0
//
// Goal: an actor whose question is not answered learns which one, and why, without a heap; and a
// question may wait for ever (AS-1).
#include <tactus/actor/ask_failure.hpp>

#include <gtest/gtest.h>

#include <expected>
#include <string>
#include <type_traits>

#include <tactus/actor/ask.hpp>
#include <tactus/dispatch/text_buffer.hpp>
#include <tactus/runtime/ask_error.hpp>

#include "world_rig.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using tactus_test::journal;
using tactus_test::ms;
using tactus_test::world_rig;

namespace {

struct price_of {
    actor_ref<int> reply_to;
};
/// Keeps the question.
class shop : public actor<price_of> {
public:
    void on(const price_of& q) { asked = q.reply_to; }
    static inline actor_ref<int> asked;
};

struct errand {
    any_ref target;
    duration timeout;
    bool by_message = false;
};
struct told {
    std::expected<int, ask_failure> price;
};
struct seen_type {
    std::expected<int, ask_failure> price;
    std::string text;  // made in the turn
};
seen_type seen;

class buyer : public actor<errand, told> {
public:
    task<> on(errand e) {
        const auto make = [](actor_ref<int> me) { return price_of{me}; };
        if (e.by_message) {
            context().ask<int>(e.target, make, e.timeout,
                               [](std::expected<int, ask_failure> p) { return told{p}; });
            co_return;
        }
        note(co_await context().ask<int>(e.target, make, e.timeout));
    }
    void on(const told& t) { note(t.price); }

private:
    static void note(const std::expected<int, ask_failure>& price) {
        seen.price = price;
        text_buffer<200> line;
        if (!price)
            price.error().write(line);
        seen.text = line.view();
        journal().add(price ? *price : -1);
    }
};

struct ask_rig : world_rig {
    actor_ref<price_of> target = spawn<shop>("shop");
    actor_ref<errand, told> who = spawn<buyer>("buyer");
    ask_rig() {
        run();
        seen = {};
    }
    void ask(duration timeout, bool by_message = false) {
        who.tell(errand{target, timeout, by_message});
        run();
    }
};

}  // namespace

// AS-1: target, time and type, in both ways of asking; and one line for people.
TEST(ask_failure, AS_1_a_timeout_says_what_was_asked) {
    for (const bool by_message : {false, true}) {
        ask_rig rig;
        rig.ask(ms(5), by_message);
        rig.pass(7);
        EXPECT_TRUE(journal().is({-1}));
        ASSERT_FALSE(seen.price.has_value());
        const ask_failure& why = seen.price.error();
        EXPECT_EQ(why.what, ask_fault::timeout);
        EXPECT_TRUE(why == ask_fault::timeout);
        EXPECT_EQ(why.target, rig.target.any());
        EXPECT_EQ(why.after, ms(5));
        EXPECT_EQ(why.asked, &message_type_of<price_of>);
        EXPECT_EQ(seen.text,
                  "ask timed out on [tactus://test/user/shop] after [5 ms]: a message of "
                  "type [" +
                      std::string(message_type_of<price_of>.name) + "] was not answered");
    }
}

// AS-1: each fault has its line, and the time it was given.
TEST(ask_failure, AS_1_what_was_not_even_sent) {
    ask_rig rig;
    rig.ask(ms(0));
    EXPECT_EQ(seen.price.error().what, ask_fault::invalid_timeout);
    EXPECT_TRUE(seen.text.starts_with("the timeout of an ask must be positive, found [0 ms]: a "));
    (void)rig.world.stop(rig.target.index());
    rig.run();
    rig.ask(ms(8));
    EXPECT_EQ(seen.price.error().what, ask_fault::target_terminated);
    EXPECT_EQ(seen.price.error().after, ms(8));
    EXPECT_TRUE(seen.text.starts_with("recipient [tactus://test/"));
    EXPECT_TRUE(seen.text.ends_with("] was not sent"));
    journal().clear();
}

// AS-1: out of an actor's turn nobody knows the paths; a text that is too long is cut.
TEST(ask_failure, AS_1_texts_elsewhere) {
    const ask_failure why{.what = ask_fault::refused,
                          .target = any_ref(mailbox_index{.slot = 3, .generation = 5}),
                          .after = ms(1),
                          .asked = &message_type_of<int>};
    text_buffer<100> line;
    why.write(line);
    EXPECT_EQ(line.view(), "the mailbox of [$3.5] did not take a message of type [int]");
    text_buffer<20> small;
    why.write(small);
    EXPECT_EQ(small.view(), "the mailbox of [$...");
}

// AS-1: who asks from outside is told the same.
TEST(ask_failure, AS_1_the_same_text_as_from_outside) {
    for (std::size_t i = 0; i < ask_fault_count; ++i) {
        const auto what = static_cast<ask_fault>(i);
        const ask_failure inside{.what = what,
                                 .target = any_ref(mailbox_index{.slot = 3, .generation = 5}),
                                 .after = ms(1'500),
                                 .asked = &message_type_of<int>};
        const ask_error outside{what, inside.target, std::chrono::milliseconds(1'500), "int",
                                "$3.5"};
        text_buffer<200> line;
        inside.write(line);
        EXPECT_EQ(line.view(), outside.text());
        EXPECT_FALSE(line.view().empty());
    }
}

// AS-1: who only wants to know why may say so.
static_assert(std::is_convertible_v<ask_failure, ask_fault>);
static_assert(std::is_trivially_copyable_v<ask_failure> && sizeof(ask_failure) <= 32);

// AS-1: duration::max() is for ever: no timer, and the reply comes whenever it comes.
TEST(ask_failure, AS_1_a_question_without_a_limit) {
    for (const bool by_message : {false, true}) {
        ask_rig rig;
        rig.ask(duration::max(), by_message);
        EXPECT_TRUE(journal().is({}));
        EXPECT_EQ(rig.timing.pending(), 0U);
        rig.time.advance(duration::from_s(100'000'000));
        rig.run();
        EXPECT_TRUE(journal().is({}));
        shop::asked.tell(42);
        rig.run();
        EXPECT_TRUE(journal().is({42}));
        rig.end();
    }
}

// AS-1: it ends with who asked.
TEST(ask_failure, AS_1_a_question_without_a_limit_ends_with_its_actor) {
    ask_rig rig;
    rig.ask(duration::max());
    (void)rig.world.stop(rig.who.index());
    rig.run();
    shop::asked.tell(42);
    rig.run();
    EXPECT_TRUE(journal().is({}));
    rig.end();
}
