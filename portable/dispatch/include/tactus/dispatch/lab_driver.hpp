// SPDX-License-Identifier: Apache-2.0
//
// Lab driver: one thread that is all the workers, in the order of the vectors' lab scheduler
// (DT-3).
//
// Each step draws one number. It chooses the worker, and is the hint for every tie-break of the
// step; so a seed is a schedule. The lanes are the coordinator's, in lab mode; what a worker has
// run and ends there goes back to its lanes, also when it was stolen.
//
// Thread safety: none; the one thread is also who submits.
#pragma once

#include <cstdint>

#include <tactus/base/det_rng.hpp>
#include <tactus/dispatch/certificates.hpp>
#include <tactus/dispatch/coordinator.hpp>
#include <tactus/dispatch/registry.hpp>

namespace tactus::inline v0 {

class lab_driver {
public:
    struct options {
        coordinator* lanes = nullptr;  // in lab mode, with all its workers
        const registry* slots = nullptr;
        std::uint64_t seed = 1;
    };
    explicit lab_driver(const options& o) noexcept
        : lanes_(*o.lanes), slots_(*o.slots), draws_(o.seed) {}

    /// Gives a mailbox to the workers in turn. Requires: as coordinator::submit.
    void admit(slot& s, const lane_place& place) noexcept {
        worker_lanes& w = lanes_.worker_at(turn_);
        turn_ = (turn_ + 1) % lanes_.worker_count();
        lanes_.submit(s, &w, place);
    }

    struct choice {
        slot* chosen = nullptr;      // null: nothing was there for this worker, nor to steal
        worker_lanes* by = nullptr;  // who runs it, and ends its run
        std::uint64_t step = 0;
        std::uint64_t drawn = 0;  // enough to follow the schedule without the seed
    };
    /// The next mailbox to run, taken out of its lane.
    [[nodiscard]] choice next() noexcept {
        choice c{.step = ++step_, .drawn = draws_.next_u64()};
        c.by = &lanes_.worker_at(static_cast<std::uint32_t>(c.drawn % lanes_.worker_count()));
        c.chosen = lanes_.next(*c.by, c.drawn);
        // The vectors count generations from 0, slots from 1.
        if (c.chosen != nullptr)
            certificate_.add(slots_.number_of(*c.chosen), c.chosen->generation() - 1,
                             c.by->last_lane(), step_);
        return c;
    }

    /// Of all workers' dispatches.
    [[nodiscard]] const schedule_certificate& certificate() const noexcept { return certificate_; }

private:
    coordinator& lanes_;
    const registry& slots_;
    det_rng draws_;
    schedule_certificate certificate_;
    std::uint64_t step_ = 0;
    std::uint32_t turn_ = 0;
};

}  // namespace tactus::inline v0
