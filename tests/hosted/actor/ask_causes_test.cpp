// SPDX-License-Identifier: Apache-2.0
//
// Goal: each failure of a question, and of the handler of a message, has its own cause and text,
// whatever part of it throws (AC-15, AS-1, DF-48).
#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <string>

#include <tactus/actor/ask.hpp>
#include <tactus/dispatch/text_buffer.hpp>
#include <tactus/runtime/actor_system.hpp>
#include <tactus/runtime/ask_future.hpp>

#include "world_rig.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using namespace std::chrono_literals;
using tactus_test::world_rig;

namespace {

/// One of its moves throws: the one that finds 1.
struct fragile {
    static inline std::atomic<int> moves_left{0};
    explicit fragile(int v) : value(v) {}
    fragile(fragile&& other) : value(other.value) { note(); }
    fragile(const fragile& other) : value(other.value) { note(); }
    fragile& operator=(fragile&&) = delete;
    ~fragile() = default;
    static void note() {
        if (moves_left.load() > 0 && moves_left.fetch_sub(1) == 1)
            throw std::runtime_error("it broke");
    }
    int value;
};

struct question {
    int moves;  // of the reply, until one throws; 0: none
    actor_ref<fragile> reply_to;
};
class answering : public actor<question> {
public:
    void on(const question& q) {
        fragile::moves_left = q.moves;
        q.reply_to.tell(fragile(7));
    }
};

/// Counts what came of questions whose reply's nth move throws.
struct account {
    unsigned replies = 0;
    unsigned failed = 0;
    unsigned others = 0;  // the answering actor failed itself, so no reply came
    void note(const std::expected<fragile, ask_error>& answer) {
        fragile::moves_left = 0;
        if (answer) {
            ++replies;
            return;
        }
        EXPECT_NE(answer.error().what, ask_fault::target_terminated) << answer.error().text();
        if (answer.error().what == ask_fault::reply_failed) {
            ++failed;
            EXPECT_NE(answer.error().text().find("moving the reply of [tactus://causes/user/"),
                      std::string::npos)
                << answer.error().text();
        } else {
            ++others;
        }
    }
};

// ThreadSanitizer's pthread_once stays locked when the function throws, as in std::promise when the
// move of the value does; a second set_value waits for ever there.
#if defined(__SANITIZE_THREAD__)
constexpr bool promises_may_throw = false;
#else
constexpr bool promises_may_throw = true;
#endif

struct begin {};

/// Its question cannot be made.
class asking : public actor<begin> {
public:
    explicit asking(actor_ref<question> whom) : whom_(whom) {}
    task<> on(begin) {
        const auto answer = co_await context().ask<fragile>(
            whom_,
            [](actor_ref<fragile> me) -> question {
                if (me.any())
                    throw std::runtime_error("no question");
                return {0, me};
            },
            duration::from_ms(50));
        why = answer.error().what;
        text_buffer<200> line;
        answer.error().write(line);
        text = std::string(line.view());
    }
    static inline ask_fault why{};
    static inline std::string text;

private:
    actor_ref<question> whom_;
};

/// Takes its message into the coroutine.
class copying : public actor<fragile> {
public:
    task<> on(fragile) { co_return; }
};

}  // namespace

// DF-48
TEST(ask_causes, DF_48_a_reply_whose_move_throws_is_no_end_of_the_target) {
    account blocking;
    account later;
    {
        actor_system system("causes");
        const auto whom = system.spawn<answering>("answering");
        for (int moves = 0; moves < 9; ++moves) {
            const auto ask = [moves](auto me) { return question{moves, me}; };
            blocking.note(system.ask<fragile>(whom, ask, 200ms));
            if (!promises_may_throw)
                continue;
            auto future = ask_future<fragile>(system, whom, ask, 200ms);
            try {
                later.note(future.get());
            } catch (const std::runtime_error&) {
                ++later.others;  // of the thread that takes it
            }
        }
    }
    EXPECT_GE(blocking.replies, 1u);
    EXPECT_GE(blocking.failed, 1u);
    if (promises_may_throw) {
        EXPECT_GE(later.replies, 1u);
        EXPECT_GE(later.failed, 1u);
    }
}

// DF-48
TEST(ask_causes, DF_48_a_question_that_cannot_be_made_says_so) {
    world_rig rig;
    const auto whom = rig.spawn<answering>("answering");
    rig.spawn<asking>("asking", actor_ref<question>(whom)).tell(begin{});
    rig.run();
    EXPECT_EQ(asking::why, ask_fault::question_failed);
    EXPECT_NE(asking::text.find("threw an exception: it was not sent"), std::string::npos)
        << asking::text;
    EXPECT_EQ(rig.said.decision_count, 0u);
    rig.end();
}

// DF-48
TEST(ask_causes, DF_48_an_exception_while_a_message_is_copied_into_a_coroutine) {
    unsigned failures = 0;
    for (int moves = 1; moves < 6; ++moves) {
        world_rig rig;
        const auto c = rig.spawn<copying>("copying");
        rig.run();
        (void)c.try_tell(fragile(1));
        fragile::moves_left = moves;
        rig.run();
        fragile::moves_left = 0;
        if (rig.said.decision_count != 0) {
            ++failures;
            EXPECT_EQ(rig.said.decisions[0].why, failure_kind::exception);
        }
        rig.end();
    }
    EXPECT_GE(failures, 1u);
}
