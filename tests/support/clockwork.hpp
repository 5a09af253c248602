// SPDX-License-Identifier: Apache-2.0
//
// An actor with one keyed timer and a receive timeout, each of 10 ms, and the world it lives in:
// time moves by hand, and others take the places that its timers could have.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tactus/actor/actor.hpp>
#include <tactus/scheduler/execution_batch.hpp>

#include "world_rig.hpp"

namespace tactus_test {

enum class want : std::uint8_t { single, rate, delay, idle, nothing_rate, cancel, fail };
struct beat {
    int number;
};

/// Says 1, 2, 3 or 5 by its timers, 4 by the timeout; 100: it was cancelled, 101: there was none.
class clockwork : public tactus::actor<want, beat> {
public:
    static inline std::vector<tactus::execution_batch> batches;
    static inline std::string failed_with;

    void on(want w) {
        switch (w) {
        case want::single:
            EXPECT_TRUE(context().start_single_timer("t", beat{1}, ms(10)));
            break;
        case want::rate:
            EXPECT_TRUE(context().start_timer_at_fixed_rate("t", beat{2}, ms(10)));
            break;
        case want::delay:
            EXPECT_TRUE(context().start_timer_with_fixed_delay("t", beat{3}, ms(10)));
            break;
        case want::idle:
            context().set_receive_timeout(ms(10));
            break;
        case want::nothing_rate:
            EXPECT_TRUE(
                context().start_timer_at_fixed_rate("t", beat{5}, tactus::duration::zero()));
            break;
        case want::cancel:
            journal().add(context().cancel_timer("t") ? 100 : 101);
            context().cancel_receive_timeout();
            break;
        case want::fail:
            context().fail(tactus::failure("as it was told"));
            break;
        }
    }
    void on(const beat& b) {
        journal().add(b.number);
        if (const auto batch = context().scheduler_batch())
            batches.push_back(*batch);
    }
    void on(const tactus::receive_timeout&) { journal().add(4); }
    void pre_restart(const tactus::failure_cause& why) { failed_with = why.text(); }
};

struct clock_rig : world_rig {
    /// `nodes`: see rig_timers.
    explicit clock_rig(tactus::memory_region* nodes = nullptr) : world_rig({}, nullptr, nodes) {
        clockwork::batches.clear();
        clockwork::failed_with.clear();
        who = spawn<clockwork>("c");
        run();
        journal().clear();
    }
    void tell(want w) {
        who.tell(w);
        run();
    }
    [[nodiscard]] tactus::scheduler& timers() { return *timing.service(); }
    /// Others take all places that are left: how many there were.
    unsigned fill() {
        unsigned n = 0;
        while (timers().schedule_once(tactus::duration::from_s(1'000), who.index(), beat{9}))
            ++n;
        return n;
    }
    /// So much later, what is due is on its way; nobody has handled it.
    void fire(int after) {
        time.advance(ms(after));
        timers().run_due(time.now());
    }
    tactus::actor_ref<want, beat> who;
};

}  // namespace tactus_test
