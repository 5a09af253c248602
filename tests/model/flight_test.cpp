// SPDX-License-Identifier: Apache-2.0
//
// Flights: a message on its way names its job, and holds nothing of it. Whose a job is that waits
// for its message, while that is sent, handled, cancelled and closed: it is armed again once, or
// ended once, after its last use, and the end of an old message is nothing to who has its cell now
// (BP-2, BT-2, CN-2 to CN-7, SC-24, SH-1, K2, K3).
//
// Bounds: a whole scheduler and kernel; two threads with one to three preemptions.
#include <memory>
#include <optional>

#include "job_rig.hpp"
#include "scenario.hpp"

namespace port = tactus::port;
namespace model = tactus::port::model;
using scenario::note;
using tactus::cancellable;
using tactus::duration;
using tactus::job_mode;
using tactus::job_request;
using tactus::job_state;
using rig = scenario::job_rig<>;

namespace {

constexpr duration a_ms = duration::from_ms(1);

job_request every_ms(tactus::mailbox_index to) {
    return {.mode = job_mode::fixed_delay, .first = a_ms, .period = a_ms, .to = to};
}

/// What is sent again and again: copies read where the end of the original writes.
class original {
public:
    explicit original(port::plain<unsigned>& ends) noexcept : ends_(&ends) {}
    original(const original& other) noexcept : ends_(other.ends_), is_copy_(true) {
        model::require(ends_->read() == 0, "it is copied before its end");
    }
    original(original&& other) noexcept
        : ends_(other.ends_), is_copy_(std::exchange(other.is_copy_, true)) {}
    original& operator=(const original&) = delete;
    ~original() {
        if (!is_copy_)
            ends_->write(ends_->read() + 1);
    }

private:
    port::plain<unsigned>* ends_;
    bool is_copy_ = false;
};

/// One that is due is fired by another thread while `meanwhile` ends it.
template <class Meanwhile>
void fired_while(Meanwhile&& meanwhile) {
    const auto r = std::make_unique<rig>();
    port::plain<unsigned> ends{0};
    const auto made =
        r->timers.add(every_ms(r->kernel.system.spawn<scenario::deaf>({}).value()), original(ends));
    model::require(made.has_value());
    {
        model::thread firing([&] { r->pass(); });
        meanwhile(*r, *made);
    }
    model::require(r->timers.active_count() == 0);
    model::require(ends.read() == 1, "it has ended, though its message may wait");
    model::require(r->timers.cell_count() <= 1, "its message's");
    r->kernel.run_to_the_end();
    model::require(r->is_empty());
}

}  // namespace

// K2, CN-3: ended by who fires it, or by who cancels it.
TACTUS_MODEL_TEST(flight, K2_a_delay_is_cancelled_while_it_is_fired, scenario::preempted(3)) {
    fired_while([](rig& r, const cancellable& which) { model::require(r.timers.cancel(which)); });
}
TACTUS_MODEL_TEST(flight, SH1_a_delay_is_closed_while_it_is_fired, scenario::preempted(3)) {
    fired_while([](rig& r, const cancellable& which) {
        model::require(r.timers.close());
        model::require(r.timers.state_of(which) == job_state::cancelled);
    });
}

// SC-24: handled before who sent it is done: armed again all the same, and once.
TACTUS_MODEL_TEST(flight, SC24_a_delay_is_handled_while_it_is_fired, scenario::preempted(3)) {
    const auto r = std::make_unique<rig>();
    const auto made = r->timers.add(every_ms(r->kernel.spawn()), note{1});
    model::require(made.has_value());
    {
        model::thread worker([&] { r->kernel.run(0, 2); });
        r->pass();
    }
    r->kernel.run_to_the_end();
    model::require(r->kernel.handled[1] == 1);
    model::require(r->timers.state_of(*made) == job_state::scheduled);
    r->pass();
    r->kernel.run_to_the_end();
    model::require(r->kernel.handled[1] == 2);
    model::require(r->timers.cancel(*made) && r->is_empty());
}

// CN-6: cancelled while its message is sent and handled.
TACTUS_MODEL_TEST(flight, CN6_a_delay_is_fired_and_cancelled_while_it_is_handled,
                  scenario::preempted(3)) {
    const auto r = std::make_unique<rig>();
    const auto made = r->timers.add(every_ms(r->kernel.spawn()), note{1});
    model::require(made.has_value());
    {
        model::thread worker([&] { r->kernel.run(0, 2); });
        r->pass();
        model::require(r->timers.cancel(*made));
    }
    model::require(r->timers.active_count() == 0);
    r->kernel.run_to_the_end();
    r->pass();
    r->kernel.run_to_the_end();
    model::require(r->kernel.handled[1] <= 1 && r->is_empty());
}

// CN-7, K3: the message of a cancelled job ends while another has its cell, whose own waits.
TACTUS_MODEL_TEST(flight, CN7_the_end_of_a_message_is_nothing_to_the_next_job,
                  scenario::preempted(1)) {
    const auto r = std::make_unique<rig>();
    const auto to = r->kernel.spawn();
    const auto other = r->kernel.spawn();
    const auto made = r->timers.add(every_ms(to), note{1});
    model::require(made.has_value());
    r->pass();
    std::optional<cancellable> next;
    {
        model::thread worker([&] { r->kernel.run(0, 1); });
        model::require(r->timers.cancel(*made));
        const auto again = r->timers.add(every_ms(other), note{2});
        model::require(again.has_value());
        next = *again;
        r->pass();  // executing, as the one before was
    }
    model::require(r->timers.state_of(*next) ==
                   (r->kernel.handled[2] == 0 ? job_state::executing : job_state::scheduled));
    r->kernel.run_to_the_end();
    model::require(r->kernel.handled[1] <= 1 && r->kernel.handled[2] == 1);
    model::require(r->timers.state_of(*next) == job_state::scheduled);
    model::require(r->timers.cancel(*next) && r->is_empty());
}

// SH-1: closed while its message is handled.
TACTUS_MODEL_TEST(flight, SH1_a_delay_is_closed_while_it_is_handled, scenario::preempted(3)) {
    const auto r = std::make_unique<rig>();
    const auto made = r->timers.add(every_ms(r->kernel.spawn()), note{1});
    model::require(made.has_value());
    r->pass();
    {
        model::thread worker([&] { r->kernel.run(0, 2); });
        model::require(r->timers.close());
    }
    r->kernel.run_to_the_end();
    model::require(r->kernel.handled[1] <= 1 && r->is_empty());
    model::require(r->timers.state_of(*made) == job_state::cancelled);
}
