// SPDX-License-Identifier: Apache-2.0
//
// Certificates: what a worker can show for its fairness, and for its order (DT-2).
//
// The fairness certificate counts dispatches by lane and how the cancel streak was kept; its
// witness hash is the same for the same counts in every build. The schedule certificate chains a
// hash over every dispatch, so it also tells one order from another.
#pragma once

#include <cstdint>

#include <tactus/base/det_hasher.hpp>

namespace tactus::inline v0 {

/// Twelve fields, hashed in this order: eleven numbers of 8 bytes and one flag of 1, 89 bytes.
/// (Where 97 are spoken of, the hashes of the vectors are those of these 89.)
struct fairness_certificate {
    std::uint64_t base_limit = 0;
    std::uint64_t effective_limit = 0;
    std::uint64_t observed_max_cancel_streak = 0;
    std::uint64_t cancel_dispatches = 0;
    std::uint64_t timed_dispatches = 0;
    std::uint64_t ready_dispatches = 0;
    std::uint64_t fairness_yields = 0;
    std::uint64_t fallback_cancel_dispatches = 0;
    std::uint64_t base_limit_exceedances = 0;
    std::uint64_t effective_limit_exceedances = 0;
    bool adaptive_enabled = false;
    std::uint64_t adaptive_current_limit = 0;

    /// LN-6: the streak never passed the limit that was in force.
    [[nodiscard]] constexpr bool holds() const noexcept {
        return effective_limit_exceedances == 0 && observed_max_cancel_streak <= effective_limit;
    }
    /// Other work waits at most this many dispatches.
    [[nodiscard]] constexpr std::uint64_t stall_bound() const noexcept {
        return effective_limit + 1;
    }
    [[nodiscard]] constexpr std::uint64_t witness() const noexcept {
        det_hasher h;
        for (const std::uint64_t field :
             {base_limit, effective_limit, observed_max_cancel_streak, cancel_dispatches,
              timed_dispatches, ready_dispatches, fairness_yields, fallback_cancel_dispatches,
              base_limit_exceedances, effective_limit_exceedances})
            h.add(field);
        h.add(adaptive_enabled);
        h.add(adaptive_current_limit);
        return h.finish();
    }

    friend constexpr bool operator==(const fairness_certificate&,
                                     const fairness_certificate&) = default;
};

/// A chained hash of every dispatch.
class schedule_certificate {
public:
    /// `lane_number`: cancel 0, timed 1, ready 2, stolen 3. Stolen is ready work alone: a cancel or
    /// timed mailbox is of its lane, whoever runs it.
    constexpr void add(std::uint32_t slot, std::uint32_t generation, std::uint8_t lane_number,
                       std::uint64_t step) noexcept {
        det_hasher h;
        h.add(hash_);
        h.add(slot);
        h.add(generation);
        h.add(std::uint64_t{lane_number});
        h.add(step);
        hash_ = h.finish();
        ++decisions_;
    }

    [[nodiscard]] constexpr std::uint64_t hash() const noexcept { return hash_; }
    [[nodiscard]] constexpr std::uint64_t decisions() const noexcept { return decisions_; }
    friend constexpr bool operator==(const schedule_certificate&,
                                     const schedule_certificate&) = default;

private:
    std::uint64_t hash_ = 0;
    std::uint64_t decisions_ = 0;
};

}  // namespace tactus::inline v0
