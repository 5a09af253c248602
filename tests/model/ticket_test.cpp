// SPDX-License-Identifier: Apache-2.0
//
// Tickets: one dispatch per registration, whoever takes, promotes or withdraws it, and who gets it
// sees what the registering thread did (LN-3, CO-2, MC-3).
//
// Bounds: two threads without a bound, three with three preemptions.
#include <tactus/dispatch/ticket.hpp>

#include "scenario.hpp"

namespace port = tactus::port;
namespace model = tactus::port::model;
namespace ticket = tactus::ticket;
using tactus::lane;

namespace {

struct rig {
    ticket::word word{0};
    port::plain<unsigned> state{0};  // the owner's
    unsigned dispatched = 0;

    void take(std::uint32_t entry) {
        if (ticket::take(word, entry))
            own();
    }
    void own() {
        state.write(state.read() + 1);
        ++dispatched;
    }
    /// The ticket that waits now, whichever it is. The load is relaxed: what the registering
    /// thread did must be visible through the promotion itself.
    [[nodiscard]] std::uint32_t promote() {
        for (;;) {
            const std::uint32_t seen = word.load(std::memory_order_relaxed);
            if (!ticket::can_rise(seen, false))
                return 0;
            if (const std::uint32_t t = ticket::promote(word, seen, false); t != 0)
                return t;
        }
    }
};

}  // namespace

TACTUS_MODEL_TEST(ticket, LN3_two_workers_one_dispatch, scenario::every_interleaving()) {
    rig r;
    r.state.write(1);
    const std::uint32_t entry = ticket::issue(r.word, lane::ready);
    {
        model::thread other([&] { r.take(entry); });
        r.take(entry);
    }
    model::require(r.dispatched == 1);
}

// The entry travels through a queue that orders nothing: the ticket alone hands the state over.
TACTUS_MODEL_TEST(ticket, LN3_what_the_registering_thread_did_is_seen,
                  scenario::every_interleaving()) {
    rig r;
    port::atomic<std::uint32_t> queue{0};
    {
        model::thread worker([&] {
            if (const std::uint32_t entry = queue.load(std::memory_order_relaxed); entry != 0)
                r.take(entry);
        });
        r.state.write(1);
        queue.store(ticket::issue(r.word, lane::ready), std::memory_order_relaxed);
    }
    model::require(r.dispatched + (ticket::withdraw(r.word) ? 1u : 0u) == 1);
}

TACTUS_MODEL_TEST(ticket, LN3_promoted_while_two_workers_take, scenario::preempted(3)) {
    rig r;
    port::atomic<std::uint32_t> queue{0};
    std::uint32_t promoted = 0;
    {
        model::thread worker([&] {
            const std::uint32_t entry = queue.load(std::memory_order_relaxed);
            if (entry != 0)
                r.take(entry);
        });
        model::thread other([&] {
            // It was told of the registration by nothing but the word.
            promoted = r.promote();
            if (promoted != 0) {
                model::require(r.state.read() == 1, "the place is read between the two entries");
                r.take(promoted);
            }
        });
        r.state.write(1);
        queue.store(ticket::issue(r.word, lane::ready), std::memory_order_relaxed);
    }
    model::require(r.dispatched + (ticket::withdraw(r.word) ? 1u : 0u) == 1);
    model::require(promoted == 0 || (promoted & ticket::phase_mask) == ticket::urgent);
}

// What was done before a promotion is seen by the run that it brings forward.
TACTUS_MODEL_TEST(ticket, LN3_what_who_promotes_did_is_seen, scenario::every_interleaving()) {
    rig r;
    port::plain<unsigned> request{0};
    port::atomic<std::uint32_t> queue{0};
    const std::uint32_t entry = ticket::issue(r.word, lane::ready);
    {
        model::thread worker([&] {
            r.take(entry);
            const std::uint32_t again = queue.load(std::memory_order_relaxed);
            if (again != 0 && ticket::take(r.word, again)) {
                r.own();
                model::require(request.read() == 1);
            }
        });
        request.write(1);
        const std::uint32_t promoted = r.promote();
        queue.store(promoted, std::memory_order_relaxed);
    }
    model::require(r.dispatched + (ticket::withdraw(r.word) ? 1u : 0u) == 1);
}

TACTUS_MODEL_TEST(ticket, LN3_withdrawn_while_a_worker_takes, scenario::preempted(3)) {
    rig r;
    port::atomic<std::uint32_t> queue{0};
    {
        model::thread worker([&] {
            const std::uint32_t entry = queue.load(std::memory_order_relaxed);
            if (entry != 0)
                r.take(entry);
        });
        model::thread other([&] {
            if (ticket::withdraw(r.word))
                r.own();
        });
        r.state.write(1);
        queue.store(ticket::issue(r.word, lane::ready), std::memory_order_relaxed);
    }
    if (ticket::withdraw(r.word))
        r.own();
    model::require(r.dispatched == 1);
}

// An entry of an earlier registration takes nothing.
TACTUS_MODEL_TEST(ticket, LN3_an_old_entry_takes_nothing, scenario::every_interleaving()) {
    rig r;
    const std::uint32_t old = ticket::issue(r.word, lane::ready);
    model::require(ticket::take(r.word, old));
    const std::uint32_t entry = ticket::issue(r.word, lane::cancel);
    bool stale_taken = false;
    {
        model::thread other([&] { stale_taken = ticket::take(r.word, old); });
        r.take(entry);
    }
    model::require(!stale_taken && r.dispatched == 1);
}

// Weak exchanges that fail for no reason, and loads that come early.
TACTUS_MODEL_TEST(ticket, LN3_promoted_on_a_weak_machine, scenario::weakest(3)) {
    rig r;
    r.state.write(1);
    const std::uint32_t entry = ticket::issue(r.word, lane::ready);
    {
        model::thread worker([&] { r.take(entry); });
        if (const std::uint32_t promoted = r.promote(); promoted != 0)
            r.take(promoted);
    }
    model::require(r.dispatched == 1);
}
