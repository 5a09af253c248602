// SPDX-License-Identifier: Apache-2.0
//
// Goal: who is late does nothing to the next life of a slot, and what is held back is not stranded.
// Method: the steps of the interleaving one after the other, on the state engine and on a system.
#include "kernel_rig.hpp"
#include "portable_test.hpp"

using namespace tactus;
using namespace tactus_test;

// RG-2: the state word names the life that is meant.
TEST(life, RG_2_a_late_stop_suspend_or_resume_does_nothing_to_the_next_life) {
    state_engine engine;
    engine.open(false, life::state_mark(7));
    const std::uint32_t old = life::state_mark(6);
    EXPECT_TRUE(engine.request_close(old) == mailbox_owed::nothing);
    EXPECT_FALSE(engine.closing());
    EXPECT_FALSE(engine.suspend(suspension::supervision, old));
    EXPECT_FALSE(engine.suspended());
    EXPECT_TRUE(engine.suspend(suspension::supervision, life::state_mark(7)));
    EXPECT_FALSE(engine.resume(suspension::supervision, old));
    EXPECT_TRUE(engine.suspended());
    EXPECT_TRUE(engine.resume(suspension::supervision, life::state_mark(7)));
    EXPECT_TRUE(engine.request_close(life::state_mark(7)) == mailbox_owed::finalize);
}

// SQ-4: suspended by both, a continuation is held; ending the supervision lets it go, though the
// await it belongs to goes on.
TEST(life, SQ_4_a_continuation_held_by_supervision_is_not_stranded_by_an_await) {
    kernel_rig rig;
    const mailbox_index who = *rig->spawn<system_actor>({});
    EXPECT_TRUE(rig->suspend(who, suspension::await));
    EXPECT_TRUE(rig->suspend(who, suspension::supervision));
    signal_node node(system_kind::continuation, 3);
    EXPECT_TRUE(rig->send_system(who, node));
    while (rig.ticks->run_once()) {
    }
    EXPECT_TRUE(journal().is({}));
    EXPECT_TRUE(rig->resume(who, suspension::supervision));
    while (rig.ticks->run_once()) {
    }
    EXPECT_TRUE(journal().is({tactus_test::system + 3}));
}

// EX-3, LN-4: tasks that submit themselves do not keep actors from running.
TEST(life, a_task_that_comes_back_at_once_leaves_room_for_actors) {
    kernel_rig rig;
    const mailbox_index who = *rig->spawn<plain_actor>({});
    struct again final : worker_task {
        actor_scheduler* on = nullptr;
        unsigned runs = 0;
        [[nodiscard]] handled run() noexcept override {
            if (++runs < 100) {
                EXPECT_TRUE(on->execute(*this));
            }
            return handled::ok();
        }
    } t;
    t.on = &*rig;
    EXPECT_TRUE(rig->execute(t));
    actor_scheduler::tell(who, number{5});
    for (int i = 0; i < 4; ++i)
        EXPECT_TRUE(rig.ticks->run_once());
    EXPECT_TRUE(journal().is({5}));
    while (rig.ticks->run_once()) {
    }
    EXPECT_EQ(t.runs, 100u);
}

// CO-1: what waits for the next run of the one thread there is counts as work.
TEST(life, CO_1_polling_sees_what_the_last_run_made_ready) {
    kernel_rig rig;
    struct silent final : waker {
        void wake() noexcept override {}
    } w;
    const mailbox_index to = *rig->spawn<plain_actor>({});
    static mailbox_index target;
    target = to;
    const mailbox_index from =
        *rig->spawn<plain_actor>({}, [](turn& t, std::uint32_t) { t.send(target, number{2}); });
    actor_scheduler::tell(from, number{1});
    EXPECT_TRUE(rig.ticks->run_once());
    EXPECT_TRUE(rig->order().poll_wait_signal(w));
    while (rig.ticks->run_once()) {
    }
    EXPECT_TRUE(journal().is({1, 2}));
    EXPECT_FALSE(rig->order().poll_wait_signal(w));
}

// UP-2, RG-1: a spawn that the end of the system overtakes is refused, and its state ended once.
TEST(life, a_constructor_that_stops_the_system_gets_no_actor) {
    kernel_rig rig;
    struct stopping {
        explicit stopping(actor_scheduler& s) noexcept { s.begin_stop(); }
        ~stopping() { journal().add(ended); }
        stopping(const stopping&) = delete;
        stopping& operator=(const stopping&) = delete;
        void receive(turn&, envelope&) {}
    };
    const auto made = rig->spawn<stopping>({}, *rig);
    EXPECT_FALSE(made.has_value());
    EXPECT_TRUE(made.error().what == spawn_error::kind::shutting_down);
    EXPECT_TRUE(journal().is({ended}));
    rig.ticks->shut_down();
    EXPECT_EQ(rig->live_count(), 0u);
    EXPECT_TRUE(journal().is({}));
}

// EX-7: a waker submits its task, three times if it must, and says when that was in vain.
TEST(life, EX_7_a_waker_submits_its_task_or_tells_of_the_rejection) {
    struct picky final : executor {
        unsigned refusals = 0;
        unsigned submissions = 0;
        unsigned told = 0;
        [[nodiscard]] bool submit(worker_task&, const submit_hints& hints) noexcept override {
            ++submissions;
            last = hints.where;
            return submissions > refusals;
        }
        void notify_rejected(worker_task&, unsigned attempts) noexcept override { told = attempts; }
        lane last = lane::ready;
    } on;
    worker_task_of nothing([] {});
    task_waker w(on, nothing, {.where = lane::cancel});
    on.refusals = 2;
    w.wake();
    EXPECT_EQ(on.submissions, 3u);
    EXPECT_EQ(on.told, 0u);
    EXPECT_TRUE(on.last == lane::cancel);
    on.submissions = 0;
    on.refusals = 9;
    w.wake();
    EXPECT_EQ(on.submissions, 3u);  // TC-M34
    EXPECT_EQ(on.told, 3u);

    kernel_rig rig;
    unsigned ran = 0;
    worker_task_of counts([&ran] { ++ran; });
    task_waker own(*rig.ticks, counts);
    own.wake();
    EXPECT_EQ(ran, 0u);  // never inside the call
    while (rig.ticks->run_once()) {
    }
    EXPECT_EQ(ran, 1u);
}

// LN-3, LN-8: one that waits in cancel keeps its place unless its priority rises.
TEST(life, LN_3_a_terminating_actor_passes_others_that_wait_in_cancel) {
    kernel_rig rig;
    const mailbox_index low = *rig->spawn<system_actor>({.priority = 1});
    const mailbox_index high = *rig->spawn<system_actor>({.priority = 200});
    signal_node first(system_kind::watch, 1);
    signal_node second(system_kind::watch, 2);
    signal_node last(system_kind::terminate, 3);
    EXPECT_TRUE(rig->send_system(low, first));
    EXPECT_TRUE(rig->send_system(high, second));
    EXPECT_TRUE(rig->send_system(low, last));
    while (rig.ticks->run_once()) {
    }
    EXPECT_TRUE(journal().is(
        {tactus_test::system + 1, tactus_test::system + 3, closed, tactus_test::system + 2}));
}

// LN-3, LN-8: who is to end waits before everybody, once: asking again does not move it.
TEST(life, a_second_stop_does_not_lose_the_place) {
    kernel_rig rig;
    mailbox_index who[3];
    for (mailbox_index& w : who) {
        w = rig.spawn();
        rig.tell(w, {1});
    }
    for (const mailbox_index w : {who[0], who[1], who[2], who[0]})
        (void)rig->stop(w);
    for (const mailbox_index w : who) {
        EXPECT_TRUE(rig.run_once());
        EXPECT_EQ(rig.events.last_closed, w);
    }
    EXPECT_EQ(rig.run(), 0u);
    EXPECT_EQ(rig->worker_at(0).lanes().stale_count(), 3u);  // where they waited before
}
