// SPDX-License-Identifier: Apache-2.0
//
// A hook of the interrupt's.
#include <tactus/time/systick_driver.hpp>

#include <tactus/port/systick.hpp>

namespace tactus::inline v0 {
namespace {

void count(void* source) noexcept {
    static_cast<tick_source*>(source)->notify_tick();
}

}  // namespace

std::expected<void, tick_driver_error> systick_driver::start(tick_host& to) noexcept {
    if (&to.time() != &time_)
        return std::unexpected(tick_driver_error::unsupported_environment);
    if (to.resolution() != time_.resolution())
        return std::unexpected(tick_driver_error::invalid_resolution);
    if (to.ticks() == nullptr)
        return std::unexpected(tick_driver_error::unsupported_executor);
    if (!port::systick::attach({count, to.ticks()}))
        return std::unexpected(tick_driver_error::handle_unavailable);
    started_ = true;
    first_ = time_.ticks();
    return {};
}

void systick_driver::stop() noexcept {
    if (started_) {
        port::systick::detach();
        counted_ = time_.ticks() - first_;
    }
    started_ = false;
}

tick_driver_metrics systick_driver::metrics() const noexcept {
    tick_driver_metrics m;
    m.wakeups = started_ ? time_.ticks() - first_ : counted_;
    return m;
}

}  // namespace tactus::inline v0
