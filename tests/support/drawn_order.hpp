// SPDX-License-Identifier: Apache-2.0
//
// Drawn order: runs a script of actions against actors in virtual time, with drawn pauses between
// the actions. One seed gives one order of events. A script that breaks a rule is shrunk by leaving
// out actions for as long as a rule is still broken.
//
// `ordered_world` is all that a script needs of the runtime, so a simulation can stand in for the
// test kit's virtual world.
//
// Thread safety: none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <tactus/test_kit/virtual_world.hpp>

namespace tactus_test {

/// How much the world runs after an action.
struct interlude {
    std::uint32_t steps = 0;  // messages; `all_steps`: until it is idle
    std::uint32_t ms = 0;     // then so much time passes
    static constexpr std::uint32_t all_steps = ~0U;
};

class ordered_world {
public:
    explicit ordered_world(tactus::test::virtual_world::options o) : world_(std::move(o)) {}

    [[nodiscard]] tactus::actor_world& actors() noexcept { return world_.world(); }
    [[nodiscard]] std::uint64_t now_ms() const noexcept {
        return static_cast<std::uint64_t>((world_.now() - tactus::instant{}).ns()) / 1'000'000;
    }
    void run(const interlude& p) {
        if (p.steps == interlude::all_steps) {
            world_.run_until_idle();
        } else {
            std::uint32_t left = p.steps;
            (void)world_.run_until(world_.now(), [&] { return left-- == 0; });
        }
        if (p.ms != 0)
            (void)world_.run_until(world_.now() + tactus::duration::from_ms(p.ms), {});
    }
    /// False: an actor has not ended.
    [[nodiscard]] bool end() { return world_.ended() || world_.end(); }
    [[nodiscard]] bool lives(tactus::any_ref who) noexcept { return world_.lives(who); }

private:
    tactus::test::virtual_world world_;
};

template <class Action>
struct drawn_step {
    Action what;
    interlude then;
};
template <class Action>
using script = std::vector<drawn_step<Action>>;

/// The actions in a drawn order, with drawn pauses.
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

/// `run` gives the broken rule, or an empty text. A script that breaks a rule and has no step that
/// could be left out.
template <class Action>
[[nodiscard]] script<Action> shrink(script<Action> failing,
                                    const std::function<std::string(const script<Action>&)>& run) {
    for (std::size_t i = 0; i < failing.size();) {
        script<Action> without = failing;
        without.erase(without.begin() + static_cast<std::ptrdiff_t>(i));
        if (run(without).empty()) {
            ++i;
        } else {
            failing = std::move(without);
            i = 0;
        }
    }
    return failing;
}

}  // namespace tactus_test
