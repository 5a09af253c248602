// SPDX-License-Identifier: Apache-2.0
//
// A test's hand on the clock.
#include <tactus/time/manual_driver.hpp>

#include <limits>
#include <utility>

namespace tactus::inline v0 {

std::expected<void, tick_driver_error> manual_driver::start(tick_host& to) noexcept {
    if (to_ != nullptr)
        return std::unexpected(tick_driver_error::handle_unavailable);
    if (&to.time() != &time_)
        return std::unexpected(tick_driver_error::unsupported_environment);
    if (to.resolution() != time_.resolution())
        return std::unexpected(tick_driver_error::invalid_resolution);
    if (to.ticks() == nullptr && !to.acts())
        return std::unexpected(tick_driver_error::unsupported_executor);
    to_ = &to;
    counted_ = {};
    told_at_ = time_.now();
    return {};
}

tick manual_driver::drive(tick n) noexcept {
    if (to_ == nullptr)
        return n;
    counted_.wakeups += n;
    if (tick_source* const to = to_->ticks()) {
        // The source counts what fits its core at once.
        constexpr tick most = std::numeric_limits<std::uint32_t>::max();
        for (tick left = n; left != 0;) {
            const tick now = left < most ? left : most;
            to->inject_manual_tick(static_cast<std::uint32_t>(now));
            left -= now;
        }
    }
    if (to_->acts() && to_->next_act() <= time_.now() && to_->act(time_.now()))
        ++counted_.acts;
    if (listener_ != nullptr && time_.now() - told_at_ >= duration::from_s(1)) {
        told_at_ = time_.now();
        listener_ = listener_->measured(counted_) ? listener_ : nullptr;
    }
    return n;
}

void manual_driver::break_down(tick_driver_error why) noexcept {
    if (tick_host* const to = std::exchange(to_, nullptr))
        to->driver_stopped(why);
}

}  // namespace tactus::inline v0
