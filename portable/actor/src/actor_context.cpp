// SPDX-License-Identifier: Apache-2.0
//
// Which turn a context is used in.
#include <tactus/actor/actor_context.hpp>

namespace tactus::inline v0 {

turn& actor_context::in() const noexcept {
    turn* t = turn::current();
    TACTUS_CHECK(3, t != nullptr);
    // When it ends, its slot may have the generation of the next life.
    TACTUS_CHECK(4, &t->place() == place_ &&
                        (place_->generation() == generation_ ||
                         life_of(t->system().slots(), t->place()).generation == generation_));
    TACTUS_CHECK(5, cell::of(t->place()).instance == instance_);
    return *t;
}

}  // namespace tactus::inline v0
