// SPDX-License-Identifier: Apache-2.0
//
// Waiting for work without being a worker: who polls in vain is woken when something is submitted,
// by a waker that it prepared before (CO-4, LN-7, MC-3). A lost signal is a deadlock.
//
// Bounds: two threads with three preemptions, three with two.
#include <tactus/dispatch/coordinator.hpp>

#include <array>

#include "model_memory.hpp"
#include "scenario.hpp"

namespace port = tactus::port;
namespace model = tactus::port::model;
using tactus::mailbox_index;

namespace {

class sleeping_waker final : public tactus::waker {
public:
    void prepare() { prepared_.write(1); }
    void wake() noexcept override {
        model::require(prepared_.read() == 1);
        woken_.store(1, std::memory_order_release);
        port::wake_one(woken_);
    }
    void wait() {
        while (woken_.load(std::memory_order_acquire) == 0)
            (void)port::wait_on(woken_, 0, -1);
        woken_.store(0, std::memory_order_relaxed);
    }

private:
    port::plain<unsigned> prepared_{0};
    port::atomic<std::uint32_t> woken_{0};
};

class rig {
public:
    rig() {
        order.add_worker(lanes_);
        order.set_visitor(lanes_);
        tactus::slot_cache cache(slots.shared());
        for (mailbox_index& index : actors) {
            tactus::slot* s = slots.take(cache);
            s->set_traits(tactus::default_priority, false);
            index = slots.open(*s, false);
        }
    }
    /// Waits for `count` dispatches.
    void wait_for(unsigned count, sleeping_waker& w) {
        for (unsigned done = 0; done < count;) {
            if (!order.poll_wait_signal(w)) {
                w.wait();
                continue;
            }
            mailbox_index some[2];
            const std::size_t found = order.drain_ready_cycle(some);
            for (std::size_t i = 0; i < found; ++i)
                model::require(order.handle_invoke_result(some[i], {}));
            done += static_cast<unsigned>(found);
        }
    }

private:
    scenario::model_memory memory_;
    scenario::model_region<tactus::slot> slot_memory_{2};

public:
    tactus::registry slots{{.memory = &slot_memory_, .capacity = 2, .magazine_size = 1}};
    tactus::coordinator order{{.memory = &memory_,
                               .slots = &slots,
                               .worker_count = 1,
                               .queue_capacity = 2,
                               .keyed_capacity = 1}};
    std::array<mailbox_index, 2> actors;

private:
    tactus::worker_lanes lanes_{{.memory = &memory_,
                                 .stale = &order.staleness(),
                                 .ring_capacity = 2,
                                 .fresh_capacity = 2,
                                 .later_capacity = 1,
                                 .keyed_capacity = 1,
                                 .shared = false}};
};

}  // namespace

TACTUS_MODEL_TEST(coordinator, CO4_a_submission_wakes_who_polled_in_vain,
                  scenario::every_interleaving()) {
    rig r;
    sleeping_waker w;
    w.prepare();
    model::thread submitter([&] { model::require(r.order.register_ready(r.actors[0])); });
    r.wait_for(1, w);
}

TACTUS_MODEL_TEST(coordinator, CO4_two_submissions, scenario::preempted(2)) {
    rig r;
    sleeping_waker w;
    w.prepare();
    model::thread a([&] { model::require(r.order.register_ready(r.actors[0])); });
    model::thread b([&] { model::require(r.order.register_ready(r.actors[1])); });
    r.wait_for(2, w);
}

// A later one replaces it, also between the look at the waiter and its wake-up.
TACTUS_MODEL_TEST(coordinator, CO4_the_waker_is_replaced_under_a_submission,
                  scenario::preempted(3)) {
    rig r;
    std::array<sleeping_waker, 2> wakers;
    const auto poll = [&](sleeping_waker& w) {
        w.prepare();
        (void)r.order.poll_wait_signal(w);
    };
    model::thread a([&] { poll(wakers[0]); });
    model::thread b([&] { poll(wakers[1]); });
    model::require(r.order.register_ready(r.actors[0]));
}

// CO-1: who withdraws its waker may end it: nobody wakes it any more, and a wake that was under way
// is over. The waker's memory is watched.
TACTUS_MODEL_TEST(coordinator, CO1_a_withdrawn_waker_is_not_woken, scenario::every_interleaving()) {
    rig r;
    auto* w = model::make<sleeping_waker>();
    w->prepare();
    model::thread submitter([&] { model::require(r.order.register_ready(r.actors[0])); });
    (void)r.order.poll_wait_signal(*w);
    (void)r.order.withdraw_signal(*w);
    model::dispose(w);
}

// CO-1: also when another has replaced it meanwhile, and when both are withdrawn at once.
TACTUS_MODEL_TEST(coordinator, CO1_two_withdraw_under_two_submissions, scenario::preempted(2)) {
    rig r;
    const auto poll_and_withdraw = [&] {
        auto* w = model::make<sleeping_waker>();
        w->prepare();
        (void)r.order.poll_wait_signal(*w);
        (void)r.order.withdraw_signal(*w);
        model::dispose(w);
    };
    model::thread a(poll_and_withdraw);
    model::thread b(poll_and_withdraw);
    model::thread submitter([&] { model::require(r.order.register_ready(r.actors[0])); });
    model::require(r.order.register_ready(r.actors[1]));
}

// The waker is made, used and gone before the next one; none is woken when its owner has left.
TACTUS_MODEL_TEST(coordinator, CO4_a_waker_made_in_another_thread, scenario::every_interleaving()) {
    rig r;
    auto* late = model::make<sleeping_waker>();
    late->prepare();
    {
        model::thread poller([&] {
            sleeping_waker w;
            w.prepare();
            r.wait_for(1, w);
        });
        model::require(r.order.register_ready(r.actors[0]));
    }
    if (r.order.poll_wait_signal(*late))
        model::require(false, "nothing waits any more");
    model::require(r.order.register_ready(r.actors[1]));
    late->wait();
    model::dispose(late);
}

// CO-1, LN-3, TC-F12: promoted between the look at its ticket and taking it, it is looked at again;
// whichever entry is left behind brings nothing in.
TACTUS_MODEL_TEST(coordinator, CO1_unregistered_under_a_promotion, scenario::every_interleaving()) {
    rig r;
    model::require(r.order.register_ready(r.actors[0]));
    {
        model::thread promoter(
            [&] { r.order.promote(r.slots.at(r.actors[0].slot_number()), r.actors[0], nullptr); });
        model::require(r.order.unregister(r.actors[0]) == tactus::unregistered::idle);
    }
    std::array<mailbox_index, 2> some;
    model::require(r.order.drain_ready_cycle(some) == 0, "it was taken out");
    model::require(r.order.register_ready(r.actors[0]), "idle, so it can be registered again");
}
