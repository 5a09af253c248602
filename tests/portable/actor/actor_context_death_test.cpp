// SPDX-License-Identifier: Apache-2.0
//
// Goal: a context is its actor's, in its turn (AC-5).
#include <tactus/actor/actor.hpp>

#include "world_rig.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using tactus_test::world_rig;

namespace {

class careless : public actor<int> {
public:
    explicit careless(careless** known = nullptr) {
        if (known != nullptr)
            *known = this;
    }
    void on(int) {
        if (other != nullptr)
            other->look();
    }
    void look() { (void)context().self(); }
    static careless* other;
};
careless* careless::other = nullptr;

}  // namespace

// AC-5
TEST(actor_context_death_test, AC_5_outside_of_a_turn) {
    careless alone;
    EXPECT_DEATH(alone.look(), "actor_context:1");
}

// AC-5
TEST(actor_context_death_test, AC_5_in_the_turn_of_another) {
    world_rig rig;
    careless* one = nullptr;
    (void)rig.spawn<careless>("one", &one);
    const auto two = rig.spawn<careless>("two");
    rig.run();
    careless::other = one;
    two.tell(1);
    EXPECT_DEATH(rig.run(), "actor_context:2");
    careless::other = nullptr;
    rig.run();
    rig.end();
}
