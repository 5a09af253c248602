// SPDX-License-Identifier: Apache-2.0
//
// Between a driver, the kernel it drives, and who looks after it.
#include "system_driver.hpp"

#include <tactus/runtime/actor_system.hpp>
#include <tactus/scheduler/scheduler.hpp>

#include <algorithm>
#include <utility>

namespace tactus::inline v0 {

driver_exception::driver_exception(tick_driver_error why, std::string_view driver)
    : std::runtime_error("the tick driver '" + std::string(driver) + "' does not start (" +
                         name_of(why) + "): " + text_of(why)),
      why_(why) {}

namespace runtime {
namespace {

/// How long after a deadline the driver comes at most where a worker keeps the time.
constexpr duration backup_max = duration::from_ms(2);

}  // namespace

system_driver::system_driver(options o) : how_(std::move(o)), built_(how_.time->now()) {
    tick_driver* driver = how_.given;
    if (driver == nullptr && how_.config.use == scheduler_use::production)
        driver = &own_.emplace();
    if (driver != nullptr)
        keeper_.emplace(driver_keeper::options{
            .driver = driver, .host = this, .policy = how_.policy, .listener = how_.told});
}

system_driver::~system_driver() {
    stop();
}

void system_driver::start(actor_scheduler& kernel, housekeeper& tends) {
    kernel_ = &kernel;
    tends_ = &tends;
    if (!keeper_)
        return;
    // SC-33: it is asked for when it is known; until then nobody is late.
    kernel.timers()->as_scheduler()->set_jitter(duration::from_s(3'600));
    if (const auto begun = keeper_->start(); !begun)
        throw driver_exception(begun.error(), keeper_->driver().name());
}

void system_driver::look_after() {
    if (keeper_)
        tends_->add(*this);
}

void system_driver::stop() noexcept {
    if (keeper_)
        keeper_->stop();
}

driver_view system_driver::view() const noexcept {
    if (keeper_)
        return keeper_->view();
    return {.name = "none",
            .kind = name_of(runner_mode_of(how_.config.clock)),
            .resolution = how_.config.resolution,
            .since = built_,
            .restarts = 0};
}

// Measured by now: it asks what to do, or acts, for the first time after that.
void system_driver::learn_jitter() noexcept {
    if (!std::exchange(knows_jitter_, true))
        kernel_->timers()->as_scheduler()->set_jitter(keeper().driver().jitter());
}

instant system_driver::next_act() noexcept {
    timer_service& timers = *kernel_->timers();
    learn_jitter();
    const instant at = timers.next_deadline();
    // Nobody sleeps until a time that is set by hand.
    const bool kept =
        how_.config.clock != clock_kind::deterministic && kernel_->order().idle().time_kept();
    // Not with the ticks: there a worker that keeps the next one would be at it, too.
    const std::int64_t tick_ns = how_.config.resolution.ns();
    const duration after = std::min(duration::from_ns(tick_ns + tick_ns / 2), backup_max);
    return kept && at != instant::never() ? at + after : at;
}

bool system_driver::act(instant now) noexcept {
    timer_service& timers = *kernel_->timers();
    learn_jitter();
    if (timers.next_deadline() > now)
        return false;  // a worker was there first
    timers.run_due(now);
    return true;
}

void system_driver::driver_stopped(tick_driver_error why) noexcept {
    knows_jitter_ = false;  // the next one measures anew
    (void)keeper().stopped(why);
    tends_->wake();
}

instant system_driver::tend(instant now) {
    const instant here = how_.time->now();
    const instant next = keeper().tend(here);
    if (keeper().now() == driver_keeper::state::given_up && !std::exchange(told_, true))
        how_.gave_up("the tick driver '" + std::string(keeper().driver().name()) + "' stopped (" +
                     name_of(keeper().cause()) + ") and is not started again");
    // By the housekeeper's clock. Who sets a clock by hand tells nobody here: until it has moved,
    // it is looked at so often.
    return next == instant::never() ? next : now + (next - here);
}

}  // namespace runtime
}  // namespace tactus::inline v0
