// SPDX-License-Identifier: Apache-2.0
//
// Waits of coroutines under those who wake, cancel and end them: what was done before a wake is
// seen after the wait, each coroutine goes on once or is destroyed, and the wait is freed once, by
// whoever is last (AC-2, EX-7, MC-3).
//
// Bounds: without a kernel three threads and every interleaving; with one two threads and two
// preemptions, three and one.
#include <tactus/actor/continuation_waker.hpp>

#include <optional>

#include <tactus/actor/coroutine_set.hpp>
#include <tactus/actor/one_shot_signal.hpp>

#include "scenario.hpp"
#include "scheduler_rig.hpp"

namespace port = tactus::port;
namespace model = tactus::port::model;
using scenario::model_memory;
using tactus::cancel_context;
using tactus::coroutine_end;
using tactus::coroutine_set;
using tactus::one_shot_signal;
using tactus::task;

namespace {

/// Always about to wake: it cannot give up.
class late_source {
public:
    struct request {
        late_source** where;  // it lives in the block of the wait
    };
    using result = unsigned;

    late_source(request&& r, tactus::waker& w, tactus::mailbox_index) noexcept : to_wake_(w) {
        *r.where = this;
    }
    bool start() noexcept { return true; }
    bool give_up() noexcept { return false; }
    unsigned take() noexcept { return value_.read(); }
    /// From any thread.
    void happen() noexcept {
        value_.write(7);
        to_wake_.wake();
    }

private:
    tactus::waker& to_wake_;
    port::plain<unsigned> value_{0};
};
/// A coroutine, and how it ended.
class scene {
public:
    virtual task<> run() = 0;

    [[nodiscard]] tactus::coroutine_keep keep() {
        return {this,
                [](coroutine_set&, const tactus::coroutine_keep& kept, coroutine_end how) noexcept {
                    if (how == coroutine_end::destroyed)
                        ++static_cast<scene*>(kept.what)->destroyed;
                }};
    }
    unsigned came = 0;
    unsigned cancelled = 0;
    unsigned destroyed = 0;

protected:
    ~scene() = default;
};

struct late_scene final : scene {
    task<> run() override {
        model::require(co_await tactus::wait_awaiter<late_source>({&source}) == 7);
        ++came;
    }
    late_source* source = nullptr;
};
struct late_cancelled_scene final : scene {
    task<> run() override {
        const auto result = co_await tactus::wait_awaiter<late_source, tactus::cancel_token>(
            {&source}, context.token());
        model::require(result.has_value() && *result == 7);  // it cannot give up
        ++came;
    }
    cancel_context context;
    late_source* source = nullptr;
};
struct signal_scene final : scene {
    task<> run() override {
        const auto result = co_await signal.wait(context.token());
        if (result) {
            model::require(value.read() == 7);
            ++came;
        } else {
            ++cancelled;
        }
    }
    void happen() noexcept {
        value.write(7);
        signal.wake();
    }
    cancel_context context;
    one_shot_signal signal;
    port::plain<unsigned> value{0};
};

class waiting_actor {
public:
    waiting_actor(model_memory& memory, scene& s) : memory_(&memory), scene_(&s) {}
    tactus::handled receive(tactus::turn& t, tactus::envelope&) {
        set_.emplace(t.self(), *memory_);
        return set_->start_handler([this] { return scene_->run(); }, scene_->keep());
    }
    tactus::handled receive_system(tactus::turn& t, tactus::system_message& m) {
        if (m.kind == tactus::system_kind::continuation)
            return set_->resume(m);
        if (m.kind == tactus::system_kind::terminate)
            t.stop();
        return tactus::handled::ok();
    }

private:
    model_memory* memory_;
    scene* scene_;
    std::optional<coroutine_set> set_;
};

/// Has the actor behind a pointer: it does not fit the slot's line.
class actor_at {
public:
    explicit actor_at(std::optional<waiting_actor>& a) noexcept : it_(&a) {}
    ~actor_at() { it_->reset(); }
    actor_at(const actor_at&) = delete;
    actor_at& operator=(const actor_at&) = delete;
    tactus::handled receive(tactus::turn& t, tactus::envelope& e) { return (*it_)->receive(t, e); }
    tactus::handled receive_system(tactus::turn& t, tactus::system_message& m) {
        return (*it_)->receive_system(t, m);
    }

private:
    std::optional<waiting_actor>* it_;
};

/// A kernel with one actor, which waits.
struct waiting_rig {
    explicit waiting_rig(scene& s) : kernel({.slots = 1, .envelopes = 1}) {
        actor.emplace(frames, s);
        who = kernel.system.spawn<actor_at>({}, actor).value();
        tactus::actor_scheduler::tell(who, scenario::note{0});
        kernel.run_to_the_end();
    }
    model_memory frames;
    std::optional<waiting_actor> actor;
    scenario::scheduler_rig kernel;
    tactus::mailbox_index who;
};

}  // namespace

// The wake, the cancellation and the end of the frame at once, each the last to know of the wait.
// No kernel: the system of its actor is gone, so who sends finds nobody.
TACTUS_MODEL_TEST(continuation_waker, AC2_whoever_is_last_frees_the_wait, scenario::preempted(3)) {
    model_memory frames;
    late_cancelled_scene s;
    coroutine_set set({}, frames);
    (void)set.start_handler([&] { return s.run(); }, s.keep());
    {
        model::thread waker([source = s.source] { source->happen(); });
        model::thread canceller([&] { (void)s.context.cancel({}); });
        set.destroy_all();
    }
    model::require(s.destroyed == 1 && s.came == 0);
}
TACTUS_MODEL_TEST(continuation_waker, AC2_a_wake_and_the_end, scenario::every_interleaving()) {
    model_memory frames;
    late_scene s;
    coroutine_set set({}, frames);
    (void)set.start_handler([&] { return s.run(); }, s.keep());
    {
        model::thread waker([source = s.source] { source->happen(); });
        set.destroy_all();
    }
    model::require(s.destroyed == 1 && s.came == 0);
}
TACTUS_MODEL_TEST(continuation_waker, AC2_a_signal_a_cancellation_and_the_end,
                  scenario::preempted(2)) {
    model_memory frames;
    signal_scene s;
    coroutine_set set({}, frames);
    (void)set.start_handler([&] { return s.run(); }, s.keep());
    {
        model::thread waker([&] { s.happen(); });
        model::thread canceller([&] { (void)s.context.cancel({}); });
        set.destroy_all();
    }
    model::require(s.destroyed == 1 && s.came + s.cancelled == 0);
}

// EX-7: a wake is never lost, and what was done before it is seen.
TACTUS_MODEL_TEST(continuation_waker, EX7_a_wake_resumes_once, scenario::preempted(2)) {
    late_scene s;
    waiting_rig r(s);
    {
        model::thread waker([source = s.source] { source->happen(); });
        r.kernel.run(0, 1);
    }
    r.kernel.run_to_the_end();
    model::require(s.came == 1 && s.destroyed == 0);
}
// A wake against the actor's end: it goes on or is destroyed.
TACTUS_MODEL_TEST(continuation_waker, AC2_a_wake_against_the_actors_end, scenario::preempted(2)) {
    late_scene s;
    waiting_rig r(s);
    {
        model::thread waker([source = s.source] { source->happen(); });
        model::require(r.kernel.system.stop(r.who));
        r.kernel.run(0, 1);
    }
    r.kernel.run_to_the_end();
    model::require(s.came + s.destroyed == 1);
}
// CH-15: a wake and a cancellation: one of them ends the wait, once.
TACTUS_MODEL_TEST(continuation_waker, CH15_a_wake_and_a_cancellation, scenario::preempted(1)) {
    signal_scene s;
    waiting_rig r(s);
    {
        model::thread waker([&] { s.happen(); });
        model::thread canceller([&] { (void)s.context.cancel({}); });
        r.kernel.run(0, 2);
    }
    r.kernel.run_to_the_end();
    model::require(s.came + s.cancelled == 1 && s.destroyed == 0);
}

// CH-15: a context that is cancelled while a child is made, watched and given up: who was not
// told not to call is called once.
TACTUS_MODEL_TEST(cancel_context, CH15_a_child_against_the_cancellation,
                  scenario::every_interleaving()) {
    struct counted final : tactus::cancel_callback {
        void context_cancelled() noexcept override { calls.write(calls.read() + 1); }
        port::plain<unsigned> calls{0};
    } c;
    cancel_context root;
    bool watched = false;
    bool stopped = false;
    {
        cancel_context child(root.token());
        model::thread canceller([&] { (void)root.cancel({}); });
        watched = child.watch(c);
        stopped = watched && child.unwatch(c);
        model::require(watched || child.checkpoint().has_value());
        canceller.join();
    }
    model::require(c.calls.read() == (watched && !stopped ? 1U : 0U));
}
