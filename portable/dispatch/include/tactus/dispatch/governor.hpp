// SPDX-License-Identifier: Apache-2.0
//
// Governor: may suggest an order of the lanes, never decides about correctness (LN-1, LN-10).
//
// A worker asks it every 32nd step and keeps the answer until the next. It is given integers only,
// so that its answers are the same everywhere.
#pragma once

#include <cstdint>

namespace tactus::inline v0 {

enum class suggestion : std::uint8_t {
    no_preference,
    meet_deadlines,     // timed before cancel
    drain_obligations,  // the cancel-streak limit is doubled
    drain_regions,      // the cancel-streak limit is doubled
};
[[nodiscard]] const char* name_of(suggestion s) noexcept;

/// What the governor is asked about.
struct load_snapshot {
    std::uint64_t live_actors = 0;
    std::uint64_t open_obligations = 0;
    std::uint64_t obligation_age_ms = 0;  // sum over all open ones
    std::uint64_t stopping_subtrees = 0;
    std::uint64_t deadline_pressure_ms = 0;  // sum of max(0, 1 s - slack) over pending deadlines
};

/// Measures; whoever knows the numbers.
class load_probe {
public:
    /// Callable from every worker at once.
    [[nodiscard]] virtual load_snapshot measure() noexcept = 0;

protected:
    ~load_probe() = default;
};

class governor {
public:
    /// Callable from every worker at once.
    [[nodiscard]] virtual suggestion suggest(const load_snapshot& snapshot) noexcept = 0;

protected:
    ~governor() = default;
};

/// Suggests what weighs most: 5 per second of obligation age, 3 per stopping subtree, 2 per second
/// of deadline pressure. Equal weights: deadlines before subtrees before obligations. Nothing of
/// the three: no preference.
class weighted_governor final : public governor {
public:
    [[nodiscard]] suggestion suggest(const load_snapshot& snapshot) noexcept override;
};

}  // namespace tactus::inline v0
