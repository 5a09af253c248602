// SPDX-License-Identifier: Apache-2.0
//
// The policy of a driver that stops; the table is in the header.
#include <tactus/scheduler/driver_keeper.hpp>

#include <tactus/base/check.hpp>
#include <tactus/scheduler/scheduler_config.hpp>

namespace tactus::inline v0 {

driver_keeper::~driver_keeper() {
    TACTUS_CHECK(1, state_ == state::off);
}

std::expected<void, tick_driver_error> driver_keeper::start() noexcept {
    const port::lock_guard changing(changing_);
    {
        // Before it is started: it may stop before this returns.
        const port::lock_guard held(mutex_);
        state_ = state::on;
        since_ = options_.host->time().now();
    }
    auto begun = options_.driver->start(*options_.host);
    if (!begun) {
        const port::lock_guard held(mutex_);
        state_ = state::off;
        cause_ = begun.error();
    }
    return begun;
}

void driver_keeper::stop() noexcept {
    const port::lock_guard changing(changing_);
    {
        const port::lock_guard held(mutex_);
        if (state_ == state::off)
            return;
        state_ = state::off;
    }
    options_.driver->stop();
}

scheduler_warning driver_keeper::broke(tick_driver_error why, instant now) noexcept {
    const bool retries = options_.policy.what == driver_policy::kind::retry;
    cause_ = why;
    state_ = retries && attempts_ < options_.policy.attempts ? state::broken : state::given_up;
    // At once, and then at intervals. Whoever gives up is tended, too: somebody is to learn of it.
    next_ = state_ == state::broken && attempts_ != 0 ? now + options_.policy.apart : now;
    scheduler_warning w;
    w.kind = scheduler_warning_kind::driver_stopped;
    w.value = restarts_;
    w.limit = retries ? options_.policy.attempts : 0;
    w.about = options_.driver->name();
    w.text = name_of(why);
    w.at = now;
    return w;
}

instant driver_keeper::stopped(tick_driver_error why) noexcept {
    const instant now = options_.host->time().now();
    scheduler_warning w;
    instant next = instant::never();
    {
        const port::lock_guard held(mutex_);
        if (state_ != state::on)
            return next;  // it is being stopped
        if (now - since_ >= settled)
            attempts_ = 0;
        w = broke(why, now);
        next = next_;
    }
    publish(w);
    return next;
}

instant driver_keeper::tend(instant now) noexcept {
    scheduler_warning w;
    const tended next = restart(now, w);
    if (next.refused)
        publish(w);  // under no lock: who is told may stop it
    return next.at;
}

driver_keeper::tended driver_keeper::restart(instant now, scheduler_warning& why) noexcept {
    const port::lock_guard changing(changing_);
    {
        const port::lock_guard held(mutex_);
        if (state_ != state::broken)
            return {};
        if (now < next_)
            return {.at = next_};
        ++attempts_;
        ++restarts_;
        state_ = state::on;
        since_ = now;
    }
    options_.driver->stop();  // ends what is left of it
    const auto begun = options_.driver->start(*options_.host);
    const port::lock_guard held(mutex_);
    if (begun)  // if it has stopped again already, that was said
        return {.at = state_ == state::broken ? next_ : instant::never()};
    --restarts_;
    why = broke(begun.error(), now);
    return {.at = state_ == state::broken ? next_ : instant::never(), .refused = true};
}

driver_keeper::state driver_keeper::now() const noexcept {
    const port::lock_guard held(mutex_);
    return state_;
}

tick_driver_error driver_keeper::cause() const noexcept {
    const port::lock_guard held(mutex_);
    return cause_;
}

driver_view driver_keeper::view() const noexcept {
    const port::lock_guard held(mutex_);
    return {.name = options_.driver->name(),
            .kind = name_of(runner_mode_of(options_.driver->kind())),
            .resolution = options_.host->resolution(),
            .since = since_,
            .restarts = restarts_};
}

}  // namespace tactus::inline v0
