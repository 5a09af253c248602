// SPDX-License-Identifier: Apache-2.0
//
// Goal: what a coroutine throws reaches who awaits it, and at last is the failure of the handler
// (SV-3, UP-4). Method: tasks that throw, in a file with exceptions.
#include <gtest/gtest.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "coroutine_rig.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using namespace tactus_test;

namespace {

task<int> throws(const char* what) {
    const local here(1);
    throw std::runtime_error(what);
    co_return 1;
}
task<std::string> says_what_was_thrown(const char* what) {
    try {
        co_return std::to_string(co_await throws(what));
    } catch (const std::runtime_error& e) {
        co_return e.what();
    }
}

/// As code that is compiled without exceptions awaits a task.
template <class T>
class awaited_without_exceptions : public detail::frame_awaiter {
public:
    explicit awaited_without_exceptions(task<T>&& t) noexcept : task_(std::move(t)) {}
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> who) noexcept {
        inner_.emplace(std::move(task_), frame());
        inner_->await_suspend(who);
    }
    T await_resume() { return inner_->await_resume(); }

private:
    task<T> task_;
    std::optional<detail::task_awaiter<T, false>> inner_;
};

struct throws_when_copied {
    throws_when_copied() = default;
    throws_when_copied(const throws_when_copied&) { throw std::logic_error("not copied"); }
    throws_when_copied& operator=(const throws_when_copied&) = default;
    ~throws_when_copied() = default;
};

struct fixture {
    fixture() {
        journal().clear();
        frames().allowance = ~std::size_t{0};
    }
    coroutine_set set{{}, frames()};
};

}  // namespace

// SV-3: an exception surfaces where the task is awaited, when the inner frame's code has gone.
TEST(task_exceptions, SV_3_what_a_task_throws_is_thrown_where_it_is_awaited) {
    fixture f;
    std::string got;
    const auto handler = [](std::string& to) -> task<> {
        to = co_await says_what_was_thrown("inside");
    };
    EXPECT_TRUE(f.set.start_handler([&] { return handler(got); }, noting(1)).is_ok());
    EXPECT_EQ(got, "inside");
    EXPECT_TRUE(journal().is({gone + 1, returned + 1}));
    EXPECT_TRUE(frames_are_free());
}

// SV-3: what leaves the handler is its failure.
TEST(task_exceptions, SV_3_what_leaves_the_handler_is_its_failure) {
    fixture f;
    const handled done = f.set.start_handler(
        []() -> task<> {
            const local outer(2);
            (void)co_await throws("through");
            journal().add(99);
        },
        noting(1));
    ASSERT_TRUE(done.what() == handled::kind::failed);
    EXPECT_STREQ(done.why().what, "through");
    EXPECT_TRUE(journal().is({gone + 1, gone + 2, fell + 1}));
    EXPECT_TRUE(frames_are_free());
}

// UP-4: also while the handler is called: its arguments are copied into the frame then.
TEST(task_exceptions, UP_4_an_argument_that_throws_when_it_is_copied) {
    fixture f;
    const throws_when_copied argument;
    const auto handler = [](throws_when_copied) -> task<> { co_return; };
    const handled done = f.set.start_handler([&] { return handler(argument); }, noting(1));
    EXPECT_TRUE(done.what() == handled::kind::failed);
    EXPECT_TRUE(journal().is({fell + 1}));
    EXPECT_TRUE(frames_are_free());
}

// A result that throws when it is made is the task's exception.
TEST(task_exceptions, a_result_that_throws) {
    fixture f;
    const auto makes = []() -> task<throws_when_copied> {
        const throws_when_copied one;
        co_return one;
    };
    const auto handler = [](auto make) -> task<> {
        try {
            (void)co_await make();
        } catch (const std::logic_error&) {
            journal().add(5);
        }
    };
    EXPECT_TRUE(f.set.start_handler([&] { return handler(makes); }).is_ok());
    EXPECT_TRUE(journal().is({5}));
    EXPECT_TRUE(frames_are_free());
}

// UP-4: who awaits was compiled without exceptions: nobody there could be told, so it is the
// failure of the handler at once.
TEST(task_exceptions, UP_4_an_exception_for_code_that_has_none_ends_the_handler) {
    fixture f;
    const handled done = f.set.start_handler(
        []() -> task<> {
            const local outer(2);
            (void)co_await awaited_without_exceptions<int>(throws("nobody"));
            journal().add(99);
        },
        noting(1));
    ASSERT_TRUE(done.what() == handled::kind::failed);
    EXPECT_STREQ(done.why().what, unknown_exception);
    EXPECT_TRUE(journal().is({gone + 1, gone + 2, fell + 1}));
    EXPECT_TRUE(frames_are_free());
}

// IN-6: an exception after a wait fails the actor.
TEST(task_exceptions, IN_6_an_exception_after_a_wait_fails_the_actor) {
    const signals s;
    kernel_rig rig;
    const mailbox_index who = rig.spawn<coroutine_actor<>>(+[](std::uint32_t n) -> task<> {
        co_await signals::at(n).wait();
        (void)co_await throws("late");
    });
    rig.tell(who, {1});
    rig.run();
    EXPECT_TRUE(journal().is({}));
    signals::at(1).wake();
    rig.run();
    EXPECT_TRUE(journal().is({gone + 1, fell + 1, failed}));
    EXPECT_TRUE(frames_are_free());
}
