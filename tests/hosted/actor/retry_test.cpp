// SPDX-License-Identifier: Apache-2.0
//
// Goal: how often something is tried again, when, and what comes of it (C-PAT-4). Method: an actor
// that tries on a real system.
#include <tactus/actor/ask.hpp>
#include <tactus/actor/retry.hpp>
#include <tactus/runtime/actor_system.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>

using namespace tactus;  // NOLINT: the whole vocabulary is used
using namespace std::chrono_literals;

namespace {

using answer = std::expected<int, std::string>;

std::atomic<int> tries{0};

/// Succeeds with the try of this number; 0: never.
struct attempt {
    int succeeds_at = 1;
    bool throws = false;
    answer operator()() const {
        const int now = ++tries;
        if (now == succeeds_at)
            return now;
        if (throws)
            throw std::runtime_error("try " + std::to_string(now));
        return std::unexpected("try " + std::to_string(now));
    }
};
struct wanted {
    actor_ref<answer> reply_to;
    retry_options how;
    attempt what;
    bool in_a_task = false;
    bool wants_ten = false;
};

task<answer> awaited_try(attempt what) {
    (void)co_await actor_context(*turn::current()).delay(duration::from_us(10));
    co_return what();
}

class trier : public actor<wanted> {
public:
    task<> on(wanted m) {
        try {
            if (m.wants_ten)
                m.reply_to.tell(co_await retry(
                    m.how, [] { return answer(++tries); },
                    [](const answer& a) { return *a < 10; }));
            else if (m.in_a_task)
                m.reply_to.tell(
                    co_await retry(m.how, [what = m.what] { return awaited_try(what); }));
            else
                m.reply_to.tell(co_await retry(m.how, m.what));
        } catch (const std::exception& e) {
            m.reply_to.tell(answer(std::unexpected("threw " + std::string(e.what()))));
        }
    }
};

struct rig {
    answer tried(retry_options how, attempt what, bool in_a_task = false, bool wants_ten = false) {
        tries = 0;
        const auto got = system.ask<answer>(
            actor, [&](auto me) { return wanted{me, how, what, in_a_task, wants_ten}; }, 20s);
        return got ? *got : answer(std::unexpected(got.error().text()));
    }
    actor_system system{"demo"};
    actor_ref<wanted> actor = system.spawn<trier>("trier");
};

}  // namespace

// C-PAT-4: at once, in the end, never, or not soon enough; plain and awaited.
TEST(retry, it_tries_so_often_and_no_more) {
    rig r;
    for (const bool in_a_task : {false, true}) {
        EXPECT_EQ(r.tried({.retries = 5}, {.succeeds_at = 1}, in_a_task), answer(1));
        EXPECT_EQ(tries.load(), 1);
        EXPECT_EQ(r.tried({.retries = 10}, {.succeeds_at = 0}, in_a_task),
                  answer(std::unexpected("try 11")));
        EXPECT_EQ(tries.load(), 11);
        EXPECT_EQ(r.tried({.retries = 10}, {.succeeds_at = 6}, in_a_task), answer(6));
        EXPECT_EQ(r.tried({.retries = 5}, {.succeeds_at = 10}, in_a_task),
                  answer(std::unexpected("try 6")));
        EXPECT_EQ(r.tried({.retries = 0}, {.succeeds_at = 2}, in_a_task),
                  answer(std::unexpected("try 1")));
        EXPECT_EQ(tries.load(), 1);
    }
}

// C-PAT-4: exceptions are failures, too; the last one goes on.
TEST(retry, exceptions_are_failures) {
    rig r;
    for (const bool in_a_task : {false, true}) {
        EXPECT_EQ(r.tried({.retries = 3}, {.succeeds_at = 3, .throws = true}, in_a_task),
                  answer(3));
        EXPECT_EQ(r.tried({.retries = 3}, {.succeeds_at = 0, .throws = true}, in_a_task),
                  answer(std::unexpected("threw try 4")));
    }
}

// SC-13: a time that cannot be waited for has not passed: what came last is the result.
TEST(retry, SC_13_without_a_timer_nothing_is_tried_again) {
    rig r;
    const retry_options how{
        .retries = 5, .delay = duration::max(), .delay_max = duration::max()};  // none is so late
    for (const bool in_a_task : {false, true}) {
        EXPECT_EQ(r.tried(how, {.succeeds_at = 0}, in_a_task), answer(std::unexpected("try 1")));
        EXPECT_EQ(tries.load(), 1);
        EXPECT_EQ(r.tried(how, {.succeeds_at = 0, .throws = true}, in_a_task),
                  answer(std::unexpected("threw try 1")));
        EXPECT_EQ(tries.load(), 1);
    }
}

// C-PAT-4: what is tried again may be said by a predicate.
TEST(retry, a_predicate_says_what_is_tried_again) {
    rig r;
    EXPECT_EQ(r.tried({.retries = 20}, {}, false, true), answer(10));
    EXPECT_EQ(r.tried({.retries = 4}, {}, false, true), answer(5));
}

// C-PAT-4: there is time between, fixed, growing, or by a function; none of it before the first.
TEST(retry, there_is_time_between) {
    rig r;
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_EQ(r.tried({.retries = 3, .delay = duration::from_ms(20)}, {.succeeds_at = 4}),
              answer(4));
    EXPECT_GE(std::chrono::steady_clock::now() - begin, 60ms);

    retry_counter fixed({.retries = 2, .delay = duration::from_ms(7)});
    EXPECT_EQ(fixed.next(), duration::from_ms(7));
    EXPECT_EQ(fixed.next(), duration::from_ms(7));
    EXPECT_EQ(fixed.next(), std::nullopt);
    EXPECT_EQ(fixed.next(), std::nullopt);
    EXPECT_EQ(fixed.count(), 2u);
    retry_counter growing({.retries = 4,
                           .delay = duration::from_ms(10),
                           .factor = 3,
                           .delay_max = duration::from_ms(50)});
    for (const int wanted_ms : {10, 30, 50, 50})
        EXPECT_EQ(growing.next(), duration::from_ms(wanted_ms));
    retry_counter by_function({.retries = 3, .delay_of = [](std::uint32_t n) {
                                   return duration::from_ms(100 - static_cast<int>(n));
                               }});
    for (const int wanted_ms : {99, 98, 97})
        EXPECT_EQ(by_function.next(), duration::from_ms(wanted_ms));
}
