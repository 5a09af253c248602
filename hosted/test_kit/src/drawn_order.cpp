// SPDX-License-Identifier: Apache-2.0
//
// What drawn orders need and does not depend on the type of the actions.
#include <tactus/test_kit/drawn_order.hpp>

#include <cstdlib>

namespace tactus::inline v0::test {

drawn_orders drawn_orders::or_of_environment() const {
    const char* const seed = std::getenv("TACTUS_SEED");
    return seed != nullptr ? drawn_orders{std::strtoull(seed, nullptr, 10), 1} : *this;
}

void run(virtual_world& world, const interlude& pause) {
    if (pause.steps == interlude::all_steps) {
        world.run_until_idle();
    } else {
        std::uint32_t left = pause.steps;
        (void)world.run_until(world.now(), [&] { return left-- == 0; });
    }
    if (pause.ms != 0)
        (void)world.run_until(world.now() + duration::from_ms(pause.ms), {});
}

void run(kit& kit, const interlude& pause) {
    run(kit.inside(), pause);
}

std::string to_text(const interlude& pause) {
    std::string text;
    if (pause.steps == interlude::all_steps)
        text += "idle ";
    else if (pause.steps != 0)
        text += std::to_string(pause.steps) + " steps ";
    if (pause.ms != 0)
        text += std::to_string(pause.ms) + " ms ";
    return text;
}

}  // namespace tactus::inline v0::test
