// SPDX-License-Identifier: Apache-2.0
//
// A delay and who tells it.
#include <tactus/scheduler/pending_delay.hpp>

namespace tactus::inline v0 {

const detail::cargo_type pending_delay::tells{.message = nullptr,
                                              .destroy = nullptr,
                                              .moved = nullptr,
                                              .copied = nullptr,
                                              .run = nullptr,
                                              .cancelled = &pending_delay::was_cancelled,
                                              .size = 0,
                                              .alignment = 1};

pending_delay::pending_delay(scheduler& timers, duration d, waker* to_wake, bool goes_on) noexcept
    : timers_(timers), to_wake_(to_wake), made_(timers.schedule_wake(d, *this, tells, goes_on)) {}

pending_delay::~pending_delay() {
    if (!made_)
        return;
    // Relaxed: who tells decides by it what it does here, which is over before this is.
    const std::uint32_t before = word_.fetch_or(is_dropped, std::memory_order_relaxed);
    if ((before & what) == waiting)
        (void)timers_.cancel(*made_);
    for (;;) {
        const std::uint32_t now = word_.load(detail::job::state.acquire());
        if ((now & what) != waiting && (now & telling) == 0)
            return;  // D1
        port::yield();
    }
}

void pending_delay::was_cancelled(void* self) noexcept {
    auto& me = static_cast<pending_delay&>(*static_cast<waker*>(self));
    me.tell(me.timers_.has_closed() ? closed : no_memory);
}

void pending_delay::tell(state how) noexcept {
    // Relaxed: there is nothing else to be seen here.
    const std::uint32_t before = word_.fetch_or(how | telling, std::memory_order_relaxed);
    if (to_wake_ != nullptr && (before & is_dropped) == 0)
        to_wake_->wake();
    (void)word_.fetch_and(~std::uint32_t{telling}, detail::job::state.release());
}

std::optional<pending_delay::result> pending_delay::poll() const noexcept {
    if (!made_)
        return std::unexpected(made_.error());
    switch (word_.load(std::memory_order_relaxed) & what) {
    case due:
        return execution_batch{.job = made_->id()};
    case closed:
        return std::unexpected(scheduler_error{.code = scheduler_errc::closed});
    case no_memory:
        return std::unexpected(scheduler_error{.code = scheduler_errc::capacity_exceeded});
    default:
        return std::nullopt;
    }
}

}  // namespace tactus::inline v0
