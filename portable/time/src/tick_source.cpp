// SPDX-License-Identifier: Apache-2.0
//
// Tick source: the pulling side.
#include <tactus/time/tick_source.hpp>

#include <tactus/base/check.hpp>

#include <utility>

namespace tactus::inline v0 {

TACTUS_CHECK_MODULE("tick_source");

const char* to_text(tick_state state) noexcept {
    switch (state) {
    case tick_state::ok:
        return "ok";
    case tick_state::backpressured:
        return "backpressured";
    case tick_state::stalled:
        return "stalled";
    case tick_state::suspended:
        return "suspended";
    }
    return "unknown tick_state";
}

tick_source::tick_source(const options& o) noexcept
    : counted_(o.first_count), taken_(o.first_count), judge_(o.catch_up_window), driver_(o.driver) {
    TACTUS_CHECK(1, o.catch_up_window >= 1);
}

tick_source::~tick_source() {
    TACTUS_CHECK(3, !leased_);
}

tick_source::lease tick_source::acquire() noexcept {
    TACTUS_CHECK(2, !leased_);
    leased_ = true;
    return lease(*this);
}

tick_source::lease tick_source::acquire(std::uint32_t catch_up_window) noexcept {
    TACTUS_CHECK(4, catch_up_window >= 1);
    judge_ = backlog_judge(catch_up_window);
    return acquire();
}

std::uint64_t tick_source::pending() const noexcept {
    if (phase_ == phase::over)
        return 0;
    port::counter64 ahead = taken_;
    return kept_ + ahead.fold(counted_.read());
}

std::optional<tick_event> tick_source::try_pull() noexcept {
    if (phase_ == phase::over)
        return std::nullopt;
    // Also while suspended: a 32-bit counter must be read before it comes round.
    kept_ += taken_.fold(counted_.read());
    if (phase_ == phase::suspended)
        return std::nullopt;
    const std::uint64_t ticks = std::exchange(kept_, 0);
    judge_.look(ticks);
    if (ticks == 0)
        return std::nullopt;
    return tick_event{ticks, judge_.mode()};
}

tick_status tick_source::status() const noexcept {
    if (phase_ != phase::running)
        return {tick_state::suspended, 0};
    return judge_.status_with(pending());
}

std::uint64_t tick_source::stop_and_flush() noexcept {
    if (phase_ == phase::over)
        return 0;
    // The driver goes first: what it still counts while stopping belongs to the rest, not to
    // nobody.
    if (driver_.release != nullptr)
        driver_.release(driver_.driver);
    const std::uint64_t rest = std::exchange(kept_, 0) + taken_.fold(counted_.read());
    phase_ = phase::over;
    judge_.forget();
    return rest;
}

tick_source::lease::~lease() {
    if (source_ == nullptr)
        return;
    source_->stop_and_flush();
    source_->leased_ = false;
}

void tick_source::lease::suspend() noexcept {
    if (source_->phase_ == phase::running)
        source_->phase_ = phase::suspended;
}

void tick_source::lease::resume() noexcept {
    if (source_->phase_ == phase::suspended)
        source_->phase_ = phase::running;
}

namespace {

std::uint32_t checked_chunk(std::uint32_t chunk) noexcept {
    constexpr auto tactus_check_module = "tick_chunks";
    TACTUS_CHECK(1, chunk >= 1);
    return chunk;
}

}  // namespace

tick_chunks::tick_chunks(std::uint64_t ticks, std::uint32_t chunk) noexcept
    : rest_(ticks), chunk_(checked_chunk(chunk)) {}

std::uint32_t tick_chunks::next() noexcept {
    const std::uint32_t size = rest_ < chunk_ ? static_cast<std::uint32_t>(rest_) : chunk_;
    rest_ -= size;
    return size;
}

}  // namespace tactus::inline v0
