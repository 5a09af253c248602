// SPDX-License-Identifier: Apache-2.0
//
// Counting the failures of each actor.
#include "failure_lines.hpp"

#include <new>
#include <utility>

namespace tactus::inline v0::runtime {

failure_lines::record& failure_lines::record_of(mailbox_index who, instant now) {
    const std::uint64_t key = (std::uint64_t{who.generation} << 32U) | who.slot;
    if (const auto known = actors_.find(key); known != actors_.end())
        return known->second;
    if (actors_.size() == actors_max)
        std::erase_if(actors_,
                      [&](const auto& one) { return now - one.second.last >= options_.interval; });
    return actors_.size() < actors_max ? actors_[key] : others_;
}

std::optional<failure_lines::line> failure_lines::count(record& r, instant now) const noexcept {
    if (now - std::exchange(r.last, now) >= options_.interval)
        r.logged = 0;
    if (r.logged >= options_.max && now < r.quiet_until) {
        ++r.not_logged;
        return {};
    }
    if (r.logged < options_.max)
        ++r.logged;
    const bool is_last = r.logged >= options_.max;
    if (is_last)
        r.quiet_until = now + options_.interval;
    return line{.not_logged = std::exchange(r.not_logged, 0), .is_last = is_last};
}

std::optional<failure_lines::line> failure_lines::next(mailbox_index who) noexcept {
    const instant now = options_.time->now();
    const std::lock_guard held(mutex_);
    try {
        return count(record_of(who, now), now);
    } catch (const std::bad_alloc&) {
        return count(others_, now);
    }
}

}  // namespace tactus::inline v0::runtime
