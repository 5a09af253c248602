// SPDX-License-Identifier: Apache-2.0
//
// Manual clock. The remainder below a tick is not kept apart: it is what `now_` has beyond its
// tick.
#include <tactus/time/manual_clock.hpp>

#include <tactus/base/check.hpp>

namespace tactus::inline v0 {

TACTUS_CHECK_MODULE("manual_clock");

namespace {

duration checked_resolution(duration resolution) noexcept {
    TACTUS_CHECK(1, resolution > duration::zero());
    return resolution;
}

}  // namespace

manual_clock::manual_clock(duration resolution, instant start) noexcept
    : scale_(checked_resolution(resolution)), now_(start) {}

tick manual_clock::advance(duration d) noexcept {
    if (d <= duration::zero())
        return 0;
    return advance_to(now_ + d);
}

tick manual_clock::advance_to(instant t) noexcept {
    if (paused_ || t <= now_)
        return 0;
    const tick before = ticks();
    now_ = t;
    return ticks() - before;
}

}  // namespace tactus::inline v0
