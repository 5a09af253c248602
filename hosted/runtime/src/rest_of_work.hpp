// SPDX-License-Identifier: Apache-2.0
//
// Rest of work: whether the actors of a system have anything left to handle (CO-5), found by
// looking at them from outside: senders and workers pay nothing for it.
//
// An actor has work while a run of it goes on or waits for a worker, while user messages wait in
// its mailbox (also while it is suspended, or backs off), and while user messages wait for one of
// its coroutines, unless that waits for a message itself. One look over all mailboxes may miss a
// message that moves from one not looked at yet to one behind. So the dispatchers have to be idle
// before and after it, with the same count of runs.
//
// Thread safety: any thread that may wait; requires that senders from outside are refused.
#pragma once

#include <tactus/actor/actor_world.hpp>
#include <tactus/runtime/dispatchers.hpp>
#include <tactus/runtime/drain.hpp>

namespace tactus::inline v0::runtime {

class rest_of_work {
public:
    rest_of_work(actor_world& world, dispatchers& all) noexcept : world_(world), all_(all) {}

    /// Nothing is left. What timers, and replies from outside, will bring is not looked for.
    [[nodiscard]] bool is_done();
    /// Who has work now, into `busy` and `busy_count`. Racy.
    void describe(drain_report& to);

private:
    [[nodiscard]] static bool has_work(slot& s) noexcept;

    actor_world& world_;
    dispatchers& all_;
};

}  // namespace tactus::inline v0::runtime
