// SPDX-License-Identifier: Apache-2.0
//
// The weights of the weighted governor.
#include <tactus/dispatch/governor.hpp>

#include <cstddef>

namespace tactus::inline v0 {

const char* name_of(suggestion s) noexcept {
    static constexpr const char* names[] = {"no_preference", "meet_deadlines", "drain_obligations",
                                            "drain_regions"};
    return names[static_cast<std::size_t>(s)];
}

suggestion weighted_governor::suggest(const load_snapshot& snapshot) noexcept {
    // In thousandths, so that milliseconds need no division.
    const std::uint64_t obligations = 5 * snapshot.obligation_age_ms;
    const std::uint64_t regions = 3 * 1'000 * snapshot.stopping_subtrees;
    const std::uint64_t deadlines = 2 * snapshot.deadline_pressure_ms;
    if (obligations == 0 && regions == 0 && deadlines == 0)
        return suggestion::no_preference;
    if (deadlines >= regions && deadlines >= obligations)
        return suggestion::meet_deadlines;
    return regions >= obligations ? suggestion::drain_regions : suggestion::drain_obligations;
}

}  // namespace tactus::inline v0
