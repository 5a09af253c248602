// SPDX-License-Identifier: Apache-2.0
//
// Goal: a periodic message that cannot be copied is refused when it is compiled, with a line that
// says what to do (SC-4, SC-14). FACE says by which call.
#include <tactus/actor/typed_scheduler.hpp>

using namespace tactus;  // NOLINT: the whole vocabulary is used

struct parcel_to_move {
    parcel_to_move() = default;
    parcel_to_move(parcel_to_move&&) = default;
    parcel_to_move& operator=(parcel_to_move&&) = default;
};

void use(scheduler& untyped, const typed_scheduler& typed, const actor_ref<parcel_to_move>& to) {
    constexpr duration second = duration::from_s(1);
    (void)untyped.schedule_once(second, to.index(), parcel_to_move());
    (void)typed.schedule_once(second, to, parcel_to_move());
#if FACE == 1
    (void)untyped.schedule_at_fixed_rate(second, second, to.index(), parcel_to_move());
#elif FACE == 2
    (void)untyped.schedule_with_fixed_delay(second, second, to.index(), parcel_to_move());
#elif FACE == 3
    (void)typed.schedule_at_fixed_rate(second, second, to, parcel_to_move());
#elif FACE == 4
    (void)typed.schedule_with_fixed_delay(second, second, to, parcel_to_move());
#endif
}
