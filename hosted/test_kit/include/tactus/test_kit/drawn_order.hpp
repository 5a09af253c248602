// SPDX-License-Identifier: Apache-2.0
//
// Drawn order: runs the actions of a test in many orders, with drawn pauses in virtual time between
// them. One seed gives one order. A script that breaks a rule is shrunk: actions are left out for
// as long as a rule is still broken.
//
//     test::check_orders<action>(actions, play, name_of);
//
// `play` makes a kit (test::kit), performs the actions of a script, and after each one gives the
// pause to run(); it returns the rule that was broken as a text, or an empty text. A failure names
// the seed and the shortest script. TACTUS_SEED=7 in the environment runs the order of that seed
// alone.
//
// Thread safety: none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <source_location>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <tactus/test_kit/failure_handler.hpp>
#include <tactus/test_kit/kit.hpp>

namespace tactus::inline v0::test {

/// The pause after an action: messages that are handled, then time that passes.
struct interlude {
    std::uint32_t steps = 0;  // messages; `all_steps`: until the world is idle
    std::uint32_t ms = 0;
    static constexpr std::uint32_t all_steps = ~0U;
};

template <class Action>
struct drawn_step {
    Action what;
    interlude then;
};
template <class Action>
using script = std::vector<drawn_step<Action>>;

/// How many orders are drawn, and from which seed on.
struct drawn_orders {
    std::uint64_t first_seed = 0;
    std::uint32_t count = 50;

    /// These, or the one that TACTUS_SEED names.
    [[nodiscard]] drawn_orders or_of_environment() const;
};

/// Handles so many messages, then lets the time pass.
void run(virtual_world& world, const interlude& pause);
void run(kit& kit, const interlude& pause);

/// Such as "3 steps 5 ms ", "idle " or "".
[[nodiscard]] std::string to_text(const interlude& pause);

/// The actions in a drawn order, with drawn pauses. The same on every machine.
template <class Action>
[[nodiscard]] script<Action> draw_script(std::vector<Action> actions, std::uint64_t seed) {
    std::mt19937_64 draw(seed);
    for (std::size_t i = actions.size(); i > 1; --i)
        std::swap(actions[i - 1], actions[draw() % i]);
    script<Action> out;
    for (const Action& a : actions) {
        interlude then;
        switch (draw() % 4) {
        case 0:
            then.steps = static_cast<std::uint32_t>(draw() % 5);
            break;
        case 1:
            then.steps = interlude::all_steps;
            break;
        case 2:
            then.steps = interlude::all_steps;
            then.ms = static_cast<std::uint32_t>(1 + draw() % 6);
            break;
        default:
            break;  // the next action at once
        }
        out.push_back({a, then});
    }
    return out;
}

/// `play` gives the broken rule, or an empty text. The result breaks a rule, too, and does not when
/// any single step is left out. Requires: `failing` breaks a rule.
template <class Action>
[[nodiscard]] script<Action> shrink(
    script<Action> failing,
    const std::type_identity_t<std::function<std::string(const script<Action>&)>>& play) {
    for (std::size_t i = 0; i < failing.size();) {
        script<Action> without = failing;
        without.erase(without.begin() + static_cast<std::ptrdiff_t>(i));
        if (play(without).empty()) {
            ++i;
        } else {
            failing = std::move(without);
            i = 0;
        }
    }
    return failing;
}

/// Such as "[boil] 3 steps [wait] idle 5 ms ". `name_of(action)` is a text.
template <class Action, class NameOf>
[[nodiscard]] std::string to_text(const script<Action>& steps, NameOf&& name_of) {
    std::string text;
    for (const drawn_step<Action>& s : steps) {
        text += '[';
        text += name_of(s.what);
        text += "] ";
        text += to_text(s.then);
    }
    return text;
}

/// Plays the actions in so many orders. The first that breaks a rule is shrunk and told to
/// test::fail, with its seed.
template <class Action, class NameOf>
void check_orders(
    const std::vector<Action>& actions,
    const std::type_identity_t<std::function<std::string(const script<Action>&)>>& play,
    NameOf&& name_of, const drawn_orders& wanted = {},
    const std::source_location& where = std::source_location::current()) {
    const drawn_orders orders = wanted.or_of_environment();
    for (std::uint32_t i = 0; i < orders.count; ++i) {
        const std::uint64_t seed = orders.first_seed + i;
        const script<Action> steps = draw_script(actions, seed);
        if (play(steps).empty())
            continue;
        const script<Action> shortest = shrink(steps, play);
        fail(play(shortest) + "\n  TACTUS_SEED=" + std::to_string(seed) + "\n  " +
                 to_text(shortest, name_of),
             where);
    }
}

}  // namespace tactus::inline v0::test
