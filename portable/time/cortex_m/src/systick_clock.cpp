// SPDX-License-Identifier: Apache-2.0
//
// SysTick clock. Cycles become nanoseconds by a multiplication: these cores divide 64 bits slowly.
#include <tactus/time/systick_clock.hpp>

#include <tactus/base/check.hpp>
#include <tactus/port/systick.hpp>

namespace tactus::inline v0 {

namespace {

TACTUS_CHECK_MODULE("systick_clock");

constexpr std::uint64_t ns_per_s = 1'000'000'000;
// As many as the counter has, so that rounding the factor costs less than a nanosecond per tick.
constexpr unsigned fraction_bits = 24;
static_assert(port::systick::cycles_per_tick_max <= std::uint32_t{1} << fraction_bits);
static_assert(ns_per_s < ~std::uint64_t{0} >> fraction_bits, "1 Hz fits the factor");

duration checked_resolution(const systick_clock::options& o) noexcept {
    TACTUS_CHECK(1, o.resolution > duration::zero());
    return o.resolution;
}

// 0, which the driver refuses, for what does not fit its counter.
std::uint32_t cycles_per_tick(const systick_clock::options& o) noexcept {
    const std::uint64_t cycles_e9 = saturating_mul<std::uint64_t>(
        o.core_clock_hz, static_cast<std::uint64_t>(o.resolution.ns()));
    TACTUS_CHECK(2, cycles_e9 % ns_per_s == 0);
    const std::uint64_t cycles = cycles_e9 / ns_per_s;
    return cycles > port::systick::cycles_per_tick_max ? 0 : static_cast<std::uint32_t>(cycles);
}

void notify(void* source) noexcept {
    static_cast<tick_source*>(source)->notify_tick();
}

}  // namespace

systick_clock::systick_clock(const options& o) noexcept
    : scale_(checked_resolution(o)),
      ns_per_cycle_(o.core_clock_hz == 0 ? 0 : (ns_per_s << fraction_bits) / o.core_clock_hz),
      ticks_(o.first_count) {
    port::systick::start({.cycles_per_tick = cycles_per_tick(o),
                          .on_tick = {o.ticks == nullptr ? nullptr : notify, o.ticks},
                          .first_count = o.first_count});
}

systick_clock::~systick_clock() {
    port::systick::stop();
}

std::uint64_t systick_clock::ticks() const noexcept {
    ticks_.fold(port::systick::read().ticks);
    return ticks_.value();
}

instant systick_clock::now() const noexcept {
    const port::systick::reading at = port::systick::read();
    ticks_.fold(at.ticks);
    const std::uint64_t fraction = (at.cycles * ns_per_cycle_) >> fraction_bits;  // C2
    const instant read =
        scale_.begin_of(ticks_.value()) + duration::from_ns(static_cast<std::int64_t>(fraction));
    if (read > last_)
        last_ = read;  // C1
    return last_;
}

}  // namespace tactus::inline v0
