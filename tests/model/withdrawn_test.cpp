// SPDX-License-Identifier: Apache-2.0
//
// Withdrawn jobs: one-shots that were cancelled and are kept for a few cancels, while another
// thread fires them, looks, cancels others, needs their room, or closes (K1, CN-1 … CN-3, SC-6,
// SH-1).
//
// Each is handled, or its cancel said true; what was cancelled is counted once, and nothing of it
// is found by who looks.
//
// Bounds: a whole scheduler without a quota, and a kernel; two threads with two preemptions.
#include <tactus/scheduler/scheduler.hpp>

#include <array>
#include <cstddef>
#include <memory>
#include <optional>

#include "job_rig.hpp"
#include "scenario.hpp"

namespace model = tactus::port::model;
using scenario::bound;
using scenario::note;
using tactus::cancellable;
using tactus::duration;
using tactus::instant;

namespace {

constexpr duration a_ms = duration::from_ms(1);
constexpr duration far_away = duration::from_ms(100);

/// So many are kept at most.
constexpr unsigned places = 8;

template <std::uint32_t Timers>
class rig : public scenario::job_rig<scenario::shared_clock, bound::none, Timers> {
public:
    [[nodiscard]] std::optional<cancellable> schedule(duration delay, unsigned number) {
        const auto made = this->timers.schedule_once(delay, who_, note{number});
        return made ? std::optional(*made) : std::nullopt;
    }
    /// So many that are over, and kept.
    void withdraw(unsigned count) {
        std::array<std::optional<cancellable>, places> all;
        for (unsigned i = 0; i < count; ++i)
            all[i] = schedule(far_away, 0);
        for (unsigned i = 0; i < count; ++i)
            model::require(this->timers.cancel(*all[i]));
        cancelled_ += count;
    }
    /// Whether it succeeded.
    bool cancel(const cancellable& which) { return this->timers.cancel(which); }

    /// `count` is how many cancels said true in the scenario.
    void require_nothing_left(unsigned count) {
        this->kernel.run_to_the_end();
        model::require(this->timers.counted().cancelled == cancelled_ + count);
        model::require(this->kernel.handled[0] == 0);
        model::require(this->is_empty(), "no cell is left, none was given back twice");
    }

private:
    tactus::mailbox_index who_ = this->kernel.spawn();
    unsigned cancelled_ = 0;
};

}  // namespace

// CN-2: what is kept is not delivered, and what is delivered is not kept.
TACTUS_MODEL_TEST(withdrawn, CN2_cancelled_while_they_are_fired, scenario::preempted(2)) {
    const auto r = std::make_unique<rig<4>>();
    const auto first = r->schedule(a_ms, 1);
    const auto second = r->schedule(a_ms, 2);
    bool one = false;
    bool two = false;
    {
        model::thread firing([&] { r->pass(); });
        two = r->cancel(*second);
        one = r->cancel(*first);
    }
    r->require_nothing_left(unsigned{one} + unsigned{two});
    model::require(r->kernel.handled[1] == (one ? 0U : 1U));
    model::require(r->kernel.handled[2] == (two ? 0U : 1U));
}

// The oldest goes when another comes: that one's cell is given back under the hands of who fires.
TACTUS_MODEL_TEST(withdrawn, CN3_all_places_are_taken_while_one_is_fired, scenario::preempted(2)) {
    const auto r = std::make_unique<rig<12>>();
    const auto due = r->schedule(a_ms, 1);
    const auto not_due = r->schedule(far_away, 2);
    r->withdraw(places);
    bool one = false;
    {
        model::thread firing([&] { r->pass(); });
        one = r->cancel(*due);
        model::require(r->cancel(*not_due));
    }
    r->require_nothing_left(unsigned{one} + 1);
    model::require(r->kernel.handled[1] == (one ? 0U : 1U) && r->kernel.handled[2] == 0);
}

// CN-1: two who cancel: who finds the lock taken leaves its job for the other.
TACTUS_MODEL_TEST(withdrawn, CN1_two_cancel_at_once, scenario::preempted(3)) {
    const auto r = std::make_unique<rig<12>>();
    const auto first = r->schedule(a_ms, 1);
    const auto second = r->schedule(a_ms, 2);
    r->withdraw(places - 1);
    {
        model::thread other([&] { model::require(r->cancel(*first)); });
        model::require(r->cancel(*second));
    }
    r->require_nothing_left(2);
    model::require(!r->cancel(*first) && !r->cancel(*second));
}
TACTUS_MODEL_TEST(withdrawn, CN1_two_cancel_the_same, scenario::preempted(3)) {
    const auto r = std::make_unique<rig<4>>();
    const auto which = r->schedule(a_ms, 1);
    bool did = false;
    bool other_did = false;
    {
        model::thread other([&] { other_did = r->cancel(*which); });
        did = r->cancel(*which);
    }
    model::require(did != other_did);
    r->require_nothing_left(1);
}

// K1: who looks while they are cancelled sees each as it was before, or after, and none of those
// that were cancelled before that.
TACTUS_MODEL_TEST(withdrawn, K1_looked_at_while_they_are_cancelled, scenario::preempted(2)) {
    const auto r = std::make_unique<rig<12>>();
    const auto first = r->schedule(far_away, 1);
    const auto second = r->schedule(far_away, 2);
    r->withdraw(places - 1);
    {
        model::thread looking([&] {
            model::require(r->timers.active_count() <= 2);
            model::require(r->timers.next_deadline() >= instant::epoch() + far_away);
        });
        model::require(r->cancel(*first) && r->cancel(*second));
    }
    r->require_nothing_left(2);
}

// CN-3: who needs the room of what was cancelled gets it; its cell carries the next, and the old
// handle cancels nothing.
TACTUS_MODEL_TEST(withdrawn, CN3_their_room_is_taken_while_they_are_cancelled,
                  scenario::preempted(2)) {
    const auto r = std::make_unique<rig<2>>();
    const auto first = r->schedule(a_ms, 1);
    const auto second = r->schedule(a_ms, 2);
    model::require(first.has_value() && second.has_value());
    std::optional<cancellable> third;
    {
        model::thread registering([&] { third = r->schedule(a_ms, 3); });
        model::require(r->cancel(*first) && r->cancel(*second));
        model::require(!r->cancel(*first) && !r->cancel(*second));
    }
    r->pass();
    r->require_nothing_left(2);
    model::require(r->kernel.handled[3] == (third ? 1U : 0U));
    model::require(r->schedule(a_ms, 4) && r->schedule(a_ms, 5));
    r->pass();
    r->require_nothing_left(2);
    model::require(r->kernel.handled[4] == 1 && r->kernel.handled[5] == 1);
}

// SH-1: cancelled by who may, or by the close; what was kept is not cancelled again.
TACTUS_MODEL_TEST(withdrawn, SH1_cancelled_while_it_closes, scenario::preempted(3)) {
    const auto r = std::make_unique<rig<4>>();
    const auto which = r->schedule(a_ms, 1);
    r->withdraw(2);
    {
        model::thread closing([&] { model::require(r->timers.close()); });
        (void)r->cancel(*which);
    }
    r->require_nothing_left(1);
    model::require(r->kernel.handled[1] == 0);
}
