// SPDX-License-Identifier: Apache-2.0
//
// Delays between attempts.
#include <tactus/actor/backoff.hpp>

namespace tactus::inline v0 {
namespace {

/// `share` of it, in parts of 65,536; does not overflow for shares up to that.
std::int64_t part_of(std::int64_t whole, std::int64_t share) noexcept {
    constexpr std::int64_t parts = 65'536;
    return whole / parts * share + whole % parts * share / parts;
}

}  // namespace

duration backoff_delay(std::uint32_t restarts, duration min, duration max, double random_factor,
                       det_rng& random) noexcept {
    // min * 2^restarts <= max, asked the other way round: nothing overflows.
    const bool below = restarts < 63 && min.ns() <= max.ns() >> restarts;
    const duration base = below ? duration::from_ns(min.ns() << restarts) : max;
    const std::uint64_t drawn = random.next_u32();
    const double factor = random_factor < 0 ? 0 : random_factor > 1 ? 1 : random_factor;
    const auto most = static_cast<std::uint64_t>(factor * 65'536);
    const auto share = static_cast<std::int64_t>((most * drawn) >> 32U);
    return base + duration::from_ns(part_of(base.ns(), share));
}

duration backoff_options::resets_after() const noexcept {
    return reset_after
               ? *reset_after
               : duration::from_ns(min.ns() / 2 + max.ns() / 2 + (min.ns() % 2 + max.ns() % 2) / 2);
}

const char* backoff_options::fault() const noexcept {
    if (!is_on())
        return nullptr;
    if (min <= duration::zero())
        return "the shortest delay of a back-off is more than nothing";
    if (max < min)
        return "the longest delay of a back-off is not less than the shortest";
    if (!(random_factor >= 0 && random_factor <= 1))
        return "the random factor of a back-off is between 0 and 1";
    if (reset_after && *reset_after <= duration::zero())
        return "a back-off is reset after more than no time";
    return nullptr;
}

}  // namespace tactus::inline v0
