// SPDX-License-Identifier: Apache-2.0
//
// Goal: tasks: when they run, what they give, how they fail without exceptions, where their frames
// live (AC-2, UP-3, UP-6). Method: a set of its own, without a kernel; nothing waits here.
#include <tactus/actor/coroutine_set.hpp>

#include <utility>

#include "coroutine_rig.hpp"
#include "portable_test.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using namespace tactus_test;

namespace {

struct fixture {
    fixture() noexcept {
        journal().clear();
        frames().refusing = false;
        frames().allowance = ~std::size_t{0};
    }
    coroutine_set set{{}, frames()};
};

task<> noted(std::int32_t value) {
    journal().add(value);
    co_return;
}
task<int> sum(int a, int b) {
    co_return a + b;
}
task<int> sum_of_three(int a, int b, int c) {
    const local here(c);
    co_return co_await sum(co_await sum(a, b), c);
}

/// Move-only, and counted.
struct owned {
    std::int32_t value;
    static inline int live = 0;
    explicit owned(std::int32_t v) noexcept : value(v) { ++live; }
    owned(owned&& other) noexcept : value(std::exchange(other.value, 0)) { ++live; }
    owned& operator=(owned&&) = delete;
    ~owned() {
        --live;
        if (value != 0)
            journal().add(gone + value);
    }
};
task<owned> made(std::int32_t value) {
    co_return owned(value);
}

}  // namespace

// AC-2: calling a task makes its frame and runs nothing; starting it does.
TEST(task, AC_2_a_task_runs_when_it_is_started) {
    fixture f;
    {
        const coroutine_memory bound(frames());
        task<> t = noted(1);
        EXPECT_FALSE(t.empty());
        EXPECT_TRUE(journal().is({}));
        EXPECT_TRUE(f.set.start(std::move(t), noting(7)).is_ok());
        EXPECT_TRUE(t.empty());
    }
    EXPECT_TRUE(journal().is({1, returned + 7}));
    EXPECT_TRUE(f.set.empty());
    EXPECT_TRUE(frames_are_free());
}

TEST(task, one_that_is_never_started_is_destroyed_with_its_arguments) {
    fixture f;
    {
        const coroutine_memory bound(frames());
        auto never = [](owned what) -> task<> {
            journal().add(what.value);
            co_return;
        };
        task<> t = never(owned(3));
        task<> other = std::move(t);
        EXPECT_TRUE(t.empty());
        other = noted(2);  // the first one's frame goes
        EXPECT_TRUE(journal().is({gone + 3}));
    }
    EXPECT_TRUE(journal().is({}));
    EXPECT_TRUE(frames_are_free());
}

// AC-2: tasks await each other; a result is moved, and what lives in a frame goes with it.
TEST(task, tasks_await_each_other_and_give_values) {
    fixture f;
    const handled done = f.set.start_handler([]() -> task<> {
        journal().add(co_await sum_of_three(1, 2, 3));
        const owned got = co_await made(5);
        journal().add(got.value);
    });
    EXPECT_TRUE(done.is_ok());
    EXPECT_TRUE(journal().is({gone + 3, 6, 5, gone + 5}));
    EXPECT_EQ(owned::live, 0);  // what was moved from is destroyed too
    EXPECT_TRUE(frames_are_free());
}

// A tail call would need an optimising compiler: the loop must not need stack (see task_frame.hpp).
TEST(task, a_loop_that_awaits_needs_no_stack) {
    fixture f;
    constexpr int rounds = board::roomy ? 200'000 : 3'000;
    static int total;
    total = 0;
    const handled done = f.set.start_handler([]() -> task<> {
        for (int i = 0; i < rounds; ++i)
            total += co_await sum(i % 2, 1);
    });
    EXPECT_TRUE(done.is_ok());
    EXPECT_EQ(total, rounds + rounds / 2);
    EXPECT_TRUE(frames_are_free());
}

// UP-3: without exceptions a handler fails by what it returns.
TEST(task, UP_3_a_handler_fails_by_its_result) {
    fixture f;
    handled done =
        f.set.start_handler([]() -> task<failure> { co_return failure{"always"}; }, noting(1));
    ASSERT_TRUE(done.what() == handled::kind::failed);
    EXPECT_EQ(done.why().what[0], 'a');
    EXPECT_TRUE(journal().is({fell + 1}));

    using maybe = std::expected<void, failure>;
    const auto handler = [](bool good) -> task<maybe> {
        if (good)
            co_return maybe{};
        co_return std::unexpected(failure{"bad"});
    };
    EXPECT_TRUE(f.set.start_handler([&] { return handler(true); }, noting(2)).is_ok());
    done = f.set.start_handler([&] { return handler(false); }, noting(3));
    ASSERT_TRUE(done.what() == handled::kind::failed);
    EXPECT_EQ(done.why().what[0], 'b');
    EXPECT_TRUE(journal().is({returned + 2, fell + 3}));
    EXPECT_TRUE(frames_are_free());
}

// SV-3: fail_with ends the handler from within what it awaits; frames go innermost first, and the
// failure is still the one that was given, though destructors left another on this thread.
TEST(task, SV_3_fail_with_ends_the_handler_from_any_depth) {
    fixture f;
    struct failing_destructor {
        ~failing_destructor() { (void)handled::failed({"other"}); }
    };
    const handled done = f.set.start_handler(
        []() -> task<> {
            const local outer(1);
            const failing_destructor too;
            co_await []() -> task<> {
                const local inner(2);
                co_await fail_with({"deep"});
                journal().add(99);
            }();
            journal().add(98);
        },
        noting(4));
    ASSERT_TRUE(done.what() == handled::kind::failed);
    EXPECT_EQ(done.why().what[0], 'd');
    EXPECT_TRUE(journal().is({gone + 2, gone + 1, fell + 4}));
    EXPECT_TRUE(frames_are_free());
}

// UP-6: no memory is a failure of the handler, with a name; nothing is run and nothing leaks.
TEST(task, UP_6_no_memory_for_a_frame_is_a_failure_of_the_handler) {
    fixture f;
    frames().refusing = true;
    handled done = f.set.start_handler([] { return noted(1); }, noting(1));
    ASSERT_TRUE(done.what() == handled::kind::failed);
    EXPECT_TRUE(done.why().what == no_frame_memory);
    EXPECT_TRUE(journal().is({fell + 1}));
    frames().refusing = false;

    // The outer one's frame fits, the inner one's does not.
    frames().allowance = 1;
    done = f.set.start_handler(
        []() -> task<> {
            const local here(1);
            co_await noted(2);
            journal().add(99);
        },
        noting(2));
    ASSERT_TRUE(done.what() == handled::kind::failed);
    EXPECT_TRUE(done.why().what == no_frame_memory);
    EXPECT_TRUE(journal().is({gone + 1, fell + 2}));
    EXPECT_TRUE(frames_are_free());
}

// UP-6: frames come from what is bound, innermost binding first, and from nowhere else.
TEST(task, UP_6_frames_come_from_the_memory_that_is_bound) {
    fixture f;
    EXPECT_TRUE(noted(1).empty());  // nothing is bound
    alignas(16) static std::byte bytes[256];
    static test_memory other({bytes, sizeof bytes});
    const coroutine_memory bound(other);
    task<> mine = noted(2);
    EXPECT_EQ(other.live_blocks, 1u);
    {
        const coroutine_memory inner(frames());
        const task<> theirs = noted(3);
        EXPECT_EQ(other.live_blocks, 1u);
        EXPECT_EQ(frames().live_blocks, 1u);
        mine = noted(4);  // from the other: the old frame goes back where it came from
        EXPECT_EQ(other.live_blocks, 0u);
        EXPECT_EQ(frames().live_blocks, 2u);
    }
    mine = noted(5);
    EXPECT_EQ(other.live_blocks, 1u);
    EXPECT_TRUE(frames_are_free());
    EXPECT_EQ(other.wrong_releases, 0u);
    EXPECT_TRUE(journal().is({}));
}
