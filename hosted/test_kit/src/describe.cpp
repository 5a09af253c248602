// SPDX-License-Identifier: Apache-2.0
//
// Times and references as people read them.
#include <tactus/test_kit/describe.hpp>

#include <iterator>

namespace tactus::inline v0::test {

std::string describe(duration d) {
    struct unit {
        std::int64_t ns;
        const char* name;
    };
    static constexpr unit units[] = {{1'000'000'000, " s"}, {1'000'000, " ms"}, {1'000, " us"}};
    // Digits below a thousandth of it say nothing to people.
    std::int64_t ns = d.ns();
    for (std::size_t i = 0; i + 1 < std::size(units); ++i) {
        if (ns >= units[i].ns || ns <= -units[i].ns) {
            ns -= ns % units[i + 1].ns;
            break;
        }
    }
    for (const unit& u : units) {
        if (ns % u.ns == 0)
            return std::to_string(ns / u.ns) + u.name;
    }
    return std::to_string(ns) + " ns";
}

std::string describe(timer_mode mode) {
    switch (mode) {
    case timer_mode::single:
        return "single";
    case timer_mode::fixed_delay:
        return "fixed delay";
    case timer_mode::fixed_rate:
        return "fixed rate";
    }
    return {};
}

std::string describe(any_ref who) {
    if (!who)
        return "nobody";
    return "$" + std::to_string(who.index().slot_number()) + "." +
           std::to_string(who.index().generation);
}

}  // namespace tactus::inline v0::test
