// SPDX-License-Identifier: Apache-2.0
//
// Goal: the delays of a back-off, and which options make one (SV-4).
#include <tactus/actor/backoff.hpp>
#include <tactus/actor/supervision.hpp>

#include <limits>

#include "portable_test.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used

namespace {

constexpr duration days(std::int64_t n) {
    return duration::from_s(n * 86'400);
}

}  // namespace

// SV-4, C-BKO-7, PK-BKO-1: twice as long each time, up to the limit; nothing overflows.
TEST(backoff, C_BKO_7_the_table_of_delays) {
    struct row {
        std::uint32_t restarts;
        duration min;
        duration max;
        duration delay;
    };
    static constexpr row rows[] = {
        {0, {}, {}, {}},
        {0, 5_min, 7_min, 5_min},
        {2, 5_s, 7_s, 7_s},
        {2, 5_s, days(7), 20_s},
        {29, 5_min, 10_min, 10_min},
        {29, days(10'000), days(10'000), days(10'000)},
        {0x7fff'ffff, days(10'000), days(10'000), days(10'000)},
        {62, 1_ns, duration::max(), duration::from_ns(std::int64_t{1} << 62)},
        {63, 1_ns, duration::max(), duration::max()},
        {64, 1_ns, 5_s, 5_s},
    };
    det_rng random(1);
    for (const row& r : rows)
        EXPECT_EQ(backoff_delay(r.restarts, r.min, r.max, 0, random).ns(), r.delay.ns());
}

// SV-4, PK-BKO-1: the random part is less than the factor says, comes from the generator, and may
// exceed the limit; it does not overflow either.
TEST(backoff, SV_4_the_random_part) {
    det_rng random(7);
    det_rng again(7);
    duration least = duration::max();
    duration most = duration::zero();
    for (int i = 0; i < 200; ++i) {
        const duration d = backoff_delay(3, 1_s, 4_s, 0.5, random);
        EXPECT_EQ(d.ns(), backoff_delay(3, 1_s, 4_s, 0.5, again).ns());
        EXPECT_TRUE(d >= 4_s && d < 6_s);
        least = d < least ? d : least;
        most = d > most ? d : most;
    }
    EXPECT_TRUE(least < 4100_ms);
    EXPECT_TRUE(most > 5900_ms);
    EXPECT_EQ(backoff_delay(70, 1_s, duration::max(), 1, random).ns(), duration::max().ns());
    // One draw, whatever the factor.
    det_rng once(7);
    (void)backoff_delay(0, 1_s, 1_s, 0, once);
    det_rng other(7);
    (void)other.next_u32();
    EXPECT_EQ(once.state(), other.state());
}

// SV-4: the factor is read from its bits; it means what arithmetic says it does.
TEST(backoff, SV_4_the_factor_is_what_arithmetic_makes_of_it) {
    static constexpr double factors[] = {0,    -0.0, 5e-324, 1e-9, 1.0 / 65'537, 1.0 / 65'536,
                                         0.01, 0.1,  0.2,    0.25, 0.3,          0.75,
                                         0.9,  1,    1.5,    1e9,  -0.5,         -1e300};
    det_rng random(3);
    det_rng again(3);
    for (const double f : factors) {
        const double clamped = f < 0 ? 0 : f > 1 ? 1 : f;
        const auto most = static_cast<std::uint64_t>(clamped * 65'536);
        for (int i = 0; i < 20; ++i) {
            const std::uint64_t more = (most * again.next_u32()) >> 32U;
            EXPECT_EQ(backoff_delay(0, 65'536_ns, 1_s, f, random).ns(),
                      65'536 + static_cast<std::int64_t>(more));
        }
        const backoff_options o{.min = 1_s, .max = 1_s, .random_factor = f};
        EXPECT_EQ(o.fault() == nullptr, f >= 0 && f <= 1);
    }
    const backoff_options none{
        .min = 1_s, .max = 1_s, .random_factor = std::numeric_limits<double>::quiet_NaN()};
    EXPECT_TRUE(none.fault() != nullptr);
}

// PK-BKO-1: what is no back-off says why. C-TX-36: the default reset lies in the middle.
TEST(backoff, PK_BKO_1_options_are_checked) {
    EXPECT_FALSE(backoff_options{}.is_on());
    EXPECT_TRUE(backoff_options{}.fault() == nullptr);
    const backoff_options good{.min = 100_ms, .max = 1_s};
    EXPECT_TRUE(good.is_on());
    EXPECT_TRUE(good.fault() == nullptr);
    EXPECT_EQ(good.resets_after().ns(), (550_ms).ns());
    const backoff_options odd{.min = 1_ns, .max = 3_ns, .reset_after = 5_s};
    EXPECT_EQ(odd.resets_after().ns(), (5_s).ns());
    EXPECT_EQ((backoff_options{.min = 1_ns, .max = 3_ns}.resets_after().ns()), 2);
    const backoff_options bad[] = {
        {.min = 0_s, .max = 1_s},
        {.min = duration::from_s(-1), .max = 1_s},
        {.min = 2_s, .max = 1_s},
        {.min = 1_s, .max = 1_s, .random_factor = -0.1},
        {.min = 1_s, .max = 1_s, .random_factor = 1.1},
        {.min = 1_s, .max = 1_s, .reset_after = 0_s},
    };
    for (const backoff_options& b : bad)
        EXPECT_TRUE(b.fault() != nullptr);
}
