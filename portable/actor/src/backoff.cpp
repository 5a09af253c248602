// SPDX-License-Identifier: Apache-2.0
//
// Delays between attempts.
#include <tactus/actor/backoff.hpp>

#include <bit>
#include <limits>

namespace tactus::inline v0 {
namespace {

constexpr std::int64_t parts = 65'536;

/// `share` of it, in parts; does not overflow for shares up to all of them.
std::int64_t part_of(std::int64_t whole, std::int64_t share) noexcept {
    return whole / parts * share + whole % parts * share / parts;
}

/// How many parts a number between 0 and 1 is, rounded down; nothing for other numbers and for what
/// is none. Of its bits: a core without floating point would have 4 KiB of library for this alone.
constexpr std::optional<std::uint32_t> parts_in(double share) noexcept {
    static_assert(std::numeric_limits<double>::is_iec559 && sizeof(double) == 8);
    const auto bits = std::bit_cast<std::uint64_t>(share);
    if (bits << 1U == 0)
        return 0;  // zero, with either sign
    // Positive numbers are ordered as their bits are; negative ones, and what is none, lie above.
    if (bits > std::bit_cast<std::uint64_t>(1.0))
        return std::nullopt;
    constexpr unsigned digits = 52;
    constexpr unsigned exponent_of_one = 1'023;
    const std::uint64_t digit_mask = (std::uint64_t{1} << digits) - 1;
    const std::uint64_t mantissa = (bits & digit_mask) | (digit_mask + 1);
    const auto shift = exponent_of_one - static_cast<unsigned>(bits >> digits) + digits - 16;
    return shift < 64 ? static_cast<std::uint32_t>(mantissa >> shift) : 0;
}
static_assert(parts_in(1.0) == parts && parts_in(0.5) == parts / 2 &&
              parts_in(-1.0) == std::nullopt);

}  // namespace

duration backoff_delay(std::uint32_t restarts, duration min, duration max, double random_factor,
                       det_rng& random) noexcept {
    // min * 2^restarts <= max, asked the other way round: nothing overflows.
    const bool below = restarts < 63 && min.ns() <= max.ns() >> restarts;
    const duration base = below ? duration::from_ns(min.ns() << restarts) : max;
    const std::uint64_t drawn = random.next_u32();
    const bool negative = (std::bit_cast<std::uint64_t>(random_factor) >> 63U) != 0;
    const std::uint64_t most =
        parts_in(random_factor).value_or(negative ? 0 : static_cast<std::uint32_t>(parts));
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
    if (!parts_in(random_factor))
        return "the random factor of a back-off is between 0 and 1";
    if (reset_after && *reset_after <= duration::zero())
        return "a back-off is reset after more than no time";
    return nullptr;
}

}  // namespace tactus::inline v0
