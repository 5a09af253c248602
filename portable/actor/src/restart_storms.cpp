// SPDX-License-Identifier: Apache-2.0
//
// Bounds of restarts that follow each other. A program that has no restart_pacing, as most firmware
// does not, links none of it.
#include <tactus/actor/actor_world.hpp>

namespace tactus::inline v0 {

duration restart_count::pause(const restart_pacing& by, instant now) noexcept {
    // A window from the first of those that take place at once; then from the last that waited.
    if (!since_ || now - *since_ > by.within) {
        since_ = now;
        count_ = 0;
    }
    if (count_ < by.restarts) {
        ++count_;
        return duration::zero();
    }
    // min * 2^n <= max, asked the other way round: nothing overflows.
    const std::uint32_t n = count_ - by.restarts;
    const bool below = n < 63 && by.min.ns() <= by.max.ns() >> n;
    if (below)
        ++count_;
    const duration waits = below ? duration::from_ns(by.min.ns() << n) : by.max;
    since_ = now + waits;
    return waits;
}

// A restart that is on its way already was counted. Without memory to count one takes place at
// once.
duration detail::count_restarts(const restart_pacing& by, const void* parent, slot& first,
                                const slot& last, slot& failed) noexcept {
    const auto& s = *static_cast<const actor_world::self*>(parent);
    actor_world& world = s.world;
    const clock* time = world.kernel_->time();
    if (world.timers_ == nullptr || time == nullptr)
        return duration::zero();
    const instant now = time->now();
    duration waits;
    for (slot* child = &first;;) {
        child_record* r =
            cell::of(*child).is(cell::restart_ordered) ? nullptr : world.record_of(s, *child);
        const duration own = r != nullptr ? r->restarts.pause(by, now) : duration::zero();
        if (child == &failed)
            waits = own;
        if (child == &last)
            return waits;
        const actor_world::family_lock held(world, s.c);
        child = &world.kernel_->slots().at(cell::of(*child).next_sibling);
    }
}

}  // namespace tactus::inline v0
