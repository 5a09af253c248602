// SPDX-License-Identifier: Apache-2.0
//
// Goal: handlers that wait: they go on in their actor's turn, once, and are destroyed newest first,
// whatever is on its way to them (AC-2, SQ-4, EX-7). Method: actors of a bare kernel, run step by
// step; the steps of each interleaving one after the other. Threads: see tests/hosted/actor.
#include <tactus/actor/coroutine_set.hpp>

#include <optional>

#include "coroutine_rig.hpp"
#include "portable_test.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using namespace tactus_test;

namespace {

/// Waits for the signal of its number.
task<> waits(std::uint32_t n) {
    const local here(static_cast<std::int32_t>(n));
    journal().add(100 + static_cast<std::int32_t>(n));
    co_await signals::at(n).wait();
    journal().add(200 + static_cast<std::int32_t>(n));
}

task<> waits_within(std::uint32_t n) {
    const local outer(10);
    co_await waits(n);
    journal().add(300);
}

struct node_of_kind : system_message {
    explicit node_of_kind(system_kind k) noexcept { kind = k; }
};

}  // namespace

// AC-2: while one waits the actor handles other messages, and goes on with whichever is woken.
TEST(coroutine_set, AC_2_a_handler_goes_on_when_it_is_woken) {
    const signals s;
    kernel_rig rig;
    const mailbox_index who = rig.spawn<coroutine_actor<>>(waits);
    rig.tell(who, {1, 2});
    rig.run();
    EXPECT_TRUE(journal().is({101, 102}));
    signals::at(2).wake();
    EXPECT_TRUE(journal().is({}));  // never inside the call
    rig.run();
    EXPECT_TRUE(journal().is({202, gone + 2, returned + 2}));
    signals::at(1).wake();
    rig.run();
    EXPECT_TRUE(journal().is({201, gone + 1, returned + 1}));
    EXPECT_TRUE(frames_are_free());
}

// What has happened already is not waited for.
TEST(coroutine_set, what_has_happened_is_not_waited_for) {
    const signals s;
    kernel_rig rig;
    const mailbox_index who = rig.spawn<coroutine_actor<>>(waits);
    signals::at(3).wake();
    signals::at(3).wake();  // again: nothing
    EXPECT_TRUE(signals::at(3).happened());
    rig.tell(who, {3});
    rig.run();
    EXPECT_TRUE(journal().is({103, 203, gone + 3, returned + 3}));
    EXPECT_TRUE(frames_are_free());
}

namespace {

/// Handles nothing else while a handler waits.
class patient_actor {
public:
    handled receive(turn& t, envelope& e) {
        if (!set_)
            set_.emplace(t.self(), frames());
        const std::uint32_t n = e.get_if<number>()->value;
        const handled result = set_->start_handler([n] { return waits(n); });
        if (!set_->empty()) {
            EXPECT_TRUE(t.system().suspend(t.self(), suspension::await));
        }
        return result;
    }
    handled receive_system(turn& t, system_message& m) {
        if (m.kind != system_kind::continuation)
            return handled::ok();
        const handled result = set_->resume(m);
        if (set_->empty()) {
            EXPECT_TRUE(t.system().resume(t.self(), suspension::await));
        }
        return result;
    }

private:
    std::optional<coroutine_set> set_;
};

}  // namespace

// AC-2, SQ-4: not reentrant: user messages wait for the handler, its continuation does not.
TEST(coroutine_set, AC_2_user_messages_can_wait_for_a_handler_that_waits) {
    const signals s;
    kernel_rig rig;
    const mailbox_index who = rig.spawn<patient_actor>();
    rig.tell(who, {1, 2});
    rig.run();
    EXPECT_TRUE(journal().is({101}));
    signals::at(2).wake();
    rig.run();
    EXPECT_TRUE(journal().is({}));
    signals::at(1).wake();
    rig.run();
    EXPECT_TRUE(journal().is({201, gone + 1, 102, 202, gone + 2}));
    EXPECT_TRUE(frames_are_free());
}

// Several wait for one thing: each goes on, in the order they came; one that has left does not.
TEST(coroutine_set, several_wait_for_one_signal) {
    const signals s;
    kernel_rig rig;
    const auto handler = +[](std::uint32_t n) -> task<> {
        co_await signals::at(0).wait();
        journal().add(static_cast<std::int32_t>(n));
    };
    const mailbox_index first = rig.spawn<coroutine_actor<>>(handler);
    const mailbox_index second = rig.spawn<coroutine_actor<>>(handler);
    rig.tell(first, {1, 2});
    rig.tell(second, {9});
    rig.run();
    EXPECT_TRUE(rig->stop(second));
    rig.run();
    EXPECT_TRUE(journal().is({destroyed + 9, closed}));
    signals::at(0).wake();
    rig.run();
    EXPECT_TRUE(journal().is({1, returned + 1, 2, returned + 2}));
    EXPECT_TRUE(frames_are_free());
}

// AC-2: a wait may be deep inside; who awaits goes on behind it.
TEST(coroutine_set, AC_2_a_chain_of_tasks_waits_as_one) {
    const signals s;
    kernel_rig rig;
    const mailbox_index who = rig.spawn<coroutine_actor<>>(waits_within);
    rig.tell(who, {1});
    rig.run();
    signals::at(1).wake();
    rig.run();
    EXPECT_TRUE(journal().is({101, 201, gone + 1, 300, gone + 10, returned + 1}));
    EXPECT_TRUE(frames_are_free());
}

// EX-7: woken on the way into the wait: the wake is a message, and is handled after the suspension.
TEST(coroutine_set, EX_7_a_wake_before_the_suspension_is_not_lost) {
    /// Wakes from inside start().
    struct eager {
        struct request {};
        using result = int;
        eager(request&&, waker& w, mailbox_index) noexcept : to_wake(w) {}
        bool start() noexcept {
            to_wake.wake();
            journal().add(1);
            return true;
        }
        bool give_up() noexcept {
            journal().add(99);  // it has woken: nobody asks
            return false;
        }
        int take() noexcept { return 2; }
        waker& to_wake;
    };
    kernel_rig rig;
    const mailbox_index who = rig.spawn<coroutine_actor<>>(
        +[](std::uint32_t) -> task<> { journal().add(co_await wait_awaiter<eager>({})); });
    rig.tell(who, {5});
    rig.run();
    EXPECT_TRUE(journal().is({1, 2, returned + 5}));
    EXPECT_TRUE(frames_are_free());
}

// AC-2: the actor ends: newest first, each inner frame before its outer one, then what it kept.
TEST(coroutine_set, AC_2_frames_are_destroyed_newest_first) {
    const signals s;
    kernel_rig rig;
    const mailbox_index who = rig.spawn<coroutine_actor<>>(waits_within);
    rig.tell(who, {1, 2, 3});
    rig.run();
    signals::at(2).wake();
    rig.run();
    journal().clear();
    rig.tell(who, {4});
    rig.run();
    EXPECT_TRUE(rig->stop(who));
    rig.run();
    EXPECT_TRUE(journal().is({104, gone + 4, gone + 10, destroyed + 4, gone + 3, gone + 10,
                              destroyed + 3, gone + 1, gone + 10, destroyed + 1, closed}));
    EXPECT_TRUE(frames_are_free());
    signals::at(1).wake();  // nobody waits any more
    EXPECT_EQ(rig.run(), 0u);
}

// SQ-4: a continuation is held while supervision holds the actor. Restarted meanwhile, the frame is
// gone when it comes: nothing happens, and the wait's block goes when it was handled.
TEST(coroutine_set, SQ_4_a_wake_on_its_way_finds_the_frame_gone) {
    const signals s;
    kernel_rig rig;
    const mailbox_index who = rig.spawn<coroutine_actor<>>(waits);
    rig.tell(who, {1, 2});
    rig.run();
    journal().clear();
    EXPECT_TRUE(rig->suspend(who, suspension::supervision));
    signals::at(1).wake();
    rig.run();
    EXPECT_TRUE(journal().is({}));
    node_of_kind restart(system_kind::recreate);
    EXPECT_TRUE(rig->send_system(who, restart));
    rig.run();
    EXPECT_TRUE(journal().is({gone + 2, destroyed + 2, gone + 1, destroyed + 1}));
    EXPECT_TRUE(frames_are_free());
    signals::at(2).wake();
    rig.tell(who, {3});
    rig.run();
    EXPECT_TRUE(journal().is({103}));
    rig.destroy();
    EXPECT_TRUE(frames_are_free());
}

// The actor ended with a wake in its mailbox: it is refused, and frees the block.
TEST(coroutine_set, a_wake_in_the_mailbox_of_an_actor_that_ends_is_refused) {
    const signals s;
    refusals events;
    kernel_rig rig([&](kernel_rig::options& o) { o.events = &events; });
    const mailbox_index who = rig.spawn<coroutine_actor<>>(waits);
    rig.tell(who, {1});
    rig.run();
    EXPECT_TRUE(rig->suspend(who, suspension::supervision));
    signals::at(1).wake();
    rig.run();
    EXPECT_NE(frames().live_blocks, 0u);
    EXPECT_TRUE(rig->stop(who));
    rig.run();
    EXPECT_EQ(events.systems, 1u);
    EXPECT_TRUE(events.last_kind == system_kind::continuation);
    EXPECT_TRUE(frames_are_free());
}

namespace {

/// Cannot be told to give up: its wake is always about to come.
struct stubborn {
    struct request {};
    using result = void;
    stubborn(request&&, waker& w, mailbox_index) noexcept { to_wake = &w; }
    bool start() noexcept { return true; }
    bool give_up() noexcept { return false; }
    void take() noexcept {}
    static inline waker* to_wake = nullptr;
};

}  // namespace

// The source was about to wake when the actor ended, and does so after it, or after the system.
TEST(coroutine_set, a_wake_after_the_end_frees_the_wait) {
    refusals events;
    kernel_rig rig([&](kernel_rig::options& o) { o.events = &events; });
    const auto handler = +[](std::uint32_t) -> task<> { co_await wait_awaiter<stubborn>({}); };
    const mailbox_index first = rig.spawn<coroutine_actor<>>(handler);
    rig.tell(first, {1});
    rig.run();
    EXPECT_TRUE(rig->stop(first));
    rig.run();
    EXPECT_EQ(frames().live_blocks, 1u);  // the wait
    stubborn::to_wake->wake();
    EXPECT_EQ(events.systems, 1u);
    EXPECT_TRUE(frames_are_free());

    const mailbox_index second = rig.spawn<coroutine_actor<>>(handler);
    rig.tell(second, {2});
    rig.run();
    rig.destroy();
    EXPECT_EQ(frames().live_blocks, 1u);
    stubborn::to_wake->wake();
    EXPECT_TRUE(frames_are_free());
}

// UP-6: no memory for a co_await is a failure of the handler; the frames go.
TEST(coroutine_set, UP_6_no_memory_to_wait_is_a_failure_of_the_handler) {
    const signals s;
    kernel_rig rig;
    const mailbox_index who = rig.spawn<coroutine_actor<>>(waits);
    frames().allowance = 1;
    rig.tell(who, {1});
    rig.run();
    EXPECT_TRUE(journal().is({101, gone + 1, fell + 1, failed}));
    EXPECT_TRUE(rig.events.last_what == no_wait_memory);
    frames().allowance = ~std::size_t{0};
    EXPECT_TRUE(frames_are_free());
}

// IN-6: a handler that fails after it has waited fails its actor, as one that fails at once.
TEST(coroutine_set, IN_6_a_failure_after_a_wait_is_the_actors) {
    const signals s;
    kernel_rig rig;
    const mailbox_index who =
        rig.spawn<coroutine_actor<failure>>(+[](std::uint32_t n) -> task<failure> {
            co_await waits(n);
            co_return failure{"at last"};
        });
    rig.tell(who, {1});
    rig.run();
    EXPECT_EQ(rig.events.failed_count, 0u);
    signals::at(1).wake();
    rig.run();
    EXPECT_EQ(rig.events.failed_count, 1u);
    EXPECT_EQ(rig.events.last_what[0], 'a');
    EXPECT_TRUE(journal().is({101, 201, gone + 1, fell + 1, failed}));
    EXPECT_TRUE(frames_are_free());
}

// Two waits of one expression: the first one's awaiter lives on while the second one waits.
TEST(coroutine_set, several_waits_of_one_expression) {
    struct counted {
        struct request {
            std::uint32_t at;
        };
        using result = int;
        counted(request&& r, waker& w, mailbox_index who) noexcept
            : wait({&signals::at(r.at)}, w, who), at(static_cast<int>(r.at)) {}
        bool start() noexcept { return wait.start(); }
        bool give_up() noexcept { return wait.give_up(); }
        int take() noexcept { return at; }
        one_shot_signal::source wait;
        int at;
    };
    const signals s;
    kernel_rig rig;
    const mailbox_index who = rig.spawn<coroutine_actor<>>(+[](std::uint32_t) -> task<> {
        journal().add(co_await wait_awaiter<counted>({1}) + co_await wait_awaiter<counted>({2}));
    });
    rig.tell(who, {7});
    rig.run();
    signals::at(1).wake();
    signals::at(2).wake();
    rig.run();
    EXPECT_TRUE(journal().is({3, returned + 7}));
    EXPECT_TRUE(frames_are_free());
}
