// SPDX-License-Identifier: Apache-2.0
//
// The table, and what moves it.
#include <tactus/actor/circuit_breaker.hpp>

#include <tactus/base/check.hpp>

#include <algorithm>

namespace tactus::inline v0 {
namespace {

TACTUS_CHECK_MODULE("circuit_breaker");

}  // namespace

const char* name_of(breaker_state s) noexcept {
    static constexpr const char* names[breaker_state_count] = {"closed", "open", "half_open"};
    return names[static_cast<std::size_t>(s)];
}

constinit const circuit_breaker::row circuit_breaker::rows[] = {
    // from                  on               to
    {breaker_state::closed, event::success, breaker_state::closed},
    {breaker_state::closed, event::failure, breaker_state::closed},
    {breaker_state::closed, event::too_many, breaker_state::open},
    {breaker_state::open, event::due, breaker_state::half_open},
    {breaker_state::half_open, event::success, breaker_state::closed},
    {breaker_state::half_open, event::failure, breaker_state::open},
};
constinit const std::size_t circuit_breaker::row_count = sizeof rows / sizeof rows[0];

circuit_breaker::circuit_breaker(const options& o) noexcept : options_(o), reset_(o.reset_timeout) {
    TACTUS_CHECK(1, o.time != nullptr);
}

circuit_breaker::news circuit_breaker::move(event on, instant now) noexcept {
    const row* found = nullptr;
    for (const row& r : rows) {
        if (r.from == state_ && r.on == on)
            found = &r;
    }
    TACTUS_CHECK(2, found != nullptr);
    if (found->to == state_)
        return news::none;
    const bool again = state_ == breaker_state::half_open;
    state_ = found->to;
    ++epoch_;
    trial_ = false;
    failures_ = 0;
    switch (state_) {
    case breaker_state::closed:
        reset_ = options_.reset_timeout;
        return news::closed;
    case breaker_state::half_open:
        return news::half_opened;
    case breaker_state::open:
        break;
    }
    if (again)
        reset_ = std::min(reset_ * options_.reset_factor, options_.reset_timeout_max);
    reopens_ = now + reset_;
    return news::opened;
}

/// What the time alone brings about.
circuit_breaker::news circuit_breaker::look(instant now) noexcept {
    if (state_ == breaker_state::open && now >= reopens_)
        return move(event::due, now);
    // The trial's caller may never come back.
    if (state_ == breaker_state::half_open && trial_ && now - trial_since_ > options_.call_timeout)
        return move(event::failure, now);
    return news::none;
}

circuit_breaker::news circuit_breaker::note(bool well, instant now) noexcept {
    if (state_ == breaker_state::open)
        return news::none;
    if (well) {
        failures_ = 0;
        return move(event::success, now);
    }
    ++failures_;
    const bool limit = state_ == breaker_state::closed && failures_ >= options_.max_failures;
    return move(limit ? event::too_many : event::failure, now);
}

void circuit_breaker::tell(news what) noexcept {
    if (options_.events == nullptr)
        return;
    switch (what) {
    case news::none:
        break;
    case news::opened:
        options_.events->opened();
        break;
    case news::half_opened:
        options_.events->half_opened();
        break;
    case news::closed:
        options_.events->closed();
        break;
    }
}

std::expected<circuit_breaker::call, breaker_open> circuit_breaker::try_call() noexcept {
    const instant now = options_.time->now();
    news what = news::none;
    std::uint32_t epoch = 0;
    duration remaining = duration::zero();
    bool passes = false;
    {
        const port::lock_guard held(mutex_);
        what = look(now);
        passes = state_ == breaker_state::closed || (state_ == breaker_state::half_open && !trial_);
        if (state_ == breaker_state::open)
            remaining = reopens_ - now;
        if (passes && state_ == breaker_state::half_open) {
            trial_ = true;
            trial_since_ = now;
        }
        epoch = epoch_;
    }
    tell(what);
    if (passes)
        return call(*this, epoch, now);
    if (options_.events != nullptr)
        options_.events->call_refused(remaining);
    return std::unexpected(breaker_open{remaining});
}

void circuit_breaker::ended(std::uint32_t epoch, instant since, bool well) noexcept {
    const instant now = options_.time->now();
    const duration took = now - since;
    const bool late = took > options_.call_timeout;
    news what = news::none;
    {
        const port::lock_guard held(mutex_);
        if (epoch == epoch_)
            what = note(well && !late, now);
    }
    if (options_.events != nullptr) {
        if (late)
            options_.events->call_timed_out(took);
        else if (well)
            options_.events->call_succeeded(took);
        else
            options_.events->call_failed(took);
    }
    tell(what);
}

void circuit_breaker::say(bool well) noexcept {
    const instant now = options_.time->now();
    news due = news::none;
    news what = news::none;
    {
        const port::lock_guard held(mutex_);
        due = look(now);
        what = note(well, now);
    }
    tell(due);
    tell(what);
}

breaker_state circuit_breaker::state() noexcept {
    const instant now = options_.time->now();
    news what = news::none;
    breaker_state is = breaker_state::closed;
    {
        const port::lock_guard held(mutex_);
        what = look(now);
        is = state_;
    }
    tell(what);
    return is;
}

std::uint32_t circuit_breaker::failure_count() noexcept {
    const port::lock_guard held(mutex_);
    return failures_;
}

}  // namespace tactus::inline v0
