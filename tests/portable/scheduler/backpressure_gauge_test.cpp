// SPDX-License-Identifier: Apache-2.0
//
// Backpressure gauge (BP-5): when it engages and clears, what is pushed, and who is asked when.
#include <tactus/scheduler/backpressure_gauge.hpp>

#include <array>
#include <limits>
#include <string_view>

#include <tactus/base/det_rng.hpp>
#include <tactus/dispatch/arena.hpp>

#include "portable_test.hpp"

namespace tactus {
namespace {

struct dial final : backpressure_probe {
    std::uint32_t load = 0;
    unsigned asked = 0;
    bool fails = false;
    backpressure_gauge* inside = nullptr;  // is looked into from the call
    probe_handle self;

    std::optional<std::uint32_t> load_permille() noexcept override {
        ++asked;
        if (inside != nullptr) {
            EXPECT_EQ(inside->sample(1'000'000), inside->engaged());
            EXPECT_TRUE(inside->remove_probe(self));
        }
        return fails ? std::nullopt : std::optional(load);
    }
};

class rig {
public:
    explicit rig(std::uint32_t probes_max = 3) : gauge(memory_, probes_max) {}

    bool next() { return gauge.sample(++now); }
    // True when one of the loads, tick by tick, leaves it engaged.
    bool after(dial& d, std::initializer_list<std::uint32_t> loads) {
        bool engaged = false;
        for (const std::uint32_t load : loads) {
            d.load = load;
            engaged = next();
        }
        return engaged;
    }

private:
    alignas(16) std::array<std::byte, 256> bytes_{};
    arena memory_{bytes_};

public:
    backpressure_gauge gauge;
    tick now = 0;
};

// BP-5
TEST(backpressure_gauge, two_ticks_in_a_row_engage_and_two_clear) {
    rig r;
    dial d;
    ASSERT_TRUE(r.gauge.register_probe("dial", d).has_value());
    EXPECT_FALSE(r.after(d, {799, 799, 799}));
    EXPECT_FALSE(r.after(d, {800}));
    EXPECT_TRUE(r.after(d, {800}));
    EXPECT_TRUE(r.after(d, {0}));
    EXPECT_TRUE(r.after(d, {800}));
    EXPECT_TRUE(r.after(d, {799}));
    EXPECT_FALSE(r.after(d, {799}));
    EXPECT_FALSE(r.after(d, {1'000, 799, 1'000, 0, 800}));
}

// BP-5: the highest of all counts.
TEST(backpressure_gauge, the_highest_load_counts) {
    rig r;
    dial a;
    dial b;
    dial c;
    b.load = 900;
    c.load = 10;
    ASSERT_TRUE(r.gauge.register_probe("a", a).has_value());
    ASSERT_TRUE(r.gauge.register_probe("b", b).has_value());
    ASSERT_TRUE(r.gauge.register_probe("c", c).has_value());
    EXPECT_FALSE(r.next());
    EXPECT_TRUE(r.next());
    EXPECT_EQ(std::string_view(r.gauge.highest().name), std::string_view("b"));
    EXPECT_EQ(r.gauge.highest().permille, 900u);
}

// BP-5: sampled at most once per tick.
TEST(backpressure_gauge, a_probe_is_asked_once_per_tick) {
    rig r;
    dial d;
    d.load = 1'000;
    ASSERT_TRUE(r.gauge.register_probe("dial", d).has_value());
    EXPECT_FALSE(r.gauge.sample(7));
    EXPECT_FALSE(r.gauge.sample(7));
    EXPECT_FALSE(r.gauge.sample(6));
    EXPECT_EQ(d.asked, 1u);
    EXPECT_TRUE(r.gauge.sample(9));
    EXPECT_EQ(d.asked, 2u);
}

// BP-5, SC-38: ticks at which nobody looked were calm. What was high before an idle time is not in
// a row with what is after it, and what is low after two ticks is clear.
TEST(backpressure_gauge, SC_38_ticks_at_which_nobody_looked_were_calm) {
    rig r;
    dial d;
    ASSERT_TRUE(r.gauge.register_probe("dial", d).has_value());
    constexpr tick hour = 3'600'000;
    d.load = 1'000;
    EXPECT_FALSE(r.gauge.sample(1));
    EXPECT_FALSE(r.gauge.sample(1 + hour));
    EXPECT_FALSE(r.gauge.sample(1 + hour + sustained_load::apart_ticks_max + 1));
    EXPECT_TRUE(r.gauge.sample(1 + hour + 2 * sustained_load::apart_ticks_max + 1));
    EXPECT_TRUE(r.gauge.sample(3 * hour));  // it is high again, or still
    d.load = 0;
    EXPECT_TRUE(r.gauge.sample(3 * hour + 1));
    EXPECT_FALSE(r.gauge.sample(3 * hour + 2));
    d.load = 1'000;
    EXPECT_FALSE(r.gauge.sample(3 * hour + 3));
    EXPECT_TRUE(r.gauge.sample(3 * hour + 4));
    d.load = 0;
    EXPECT_FALSE(r.gauge.sample(3 * hour + 6));
}

// BP-5: also at tick 0.
TEST(backpressure_gauge, the_first_tick_is_sampled_whatever_its_number) {
    rig r;
    dial d;
    ASSERT_TRUE(r.gauge.register_probe("dial", d).has_value());
    (void)r.gauge.sample(0);
    EXPECT_EQ(d.asked, 1u);
}

// BP-5: without probes only the driver counts.
TEST(backpressure_gauge, without_probes_nothing_engages_it) {
    rig r;
    for (int i = 0; i < 5; ++i)
        EXPECT_FALSE(r.next());
    EXPECT_EQ(std::string_view(r.gauge.highest().name), std::string_view(""));
}

// BP-5: the last probe's load does not stay when it is gone.
TEST(backpressure_gauge, it_clears_when_its_last_probe_is_removed) {
    rig r;
    dial d;
    const auto handle = r.gauge.register_probe("dial", d);
    ASSERT_TRUE(handle.has_value());
    EXPECT_TRUE(r.after(d, {1'000, 1'000}));
    EXPECT_TRUE(r.gauge.remove_probe(*handle));
    EXPECT_EQ(r.gauge.probe_count(), 0u);
    EXPECT_TRUE(r.next());
    EXPECT_FALSE(r.next());
    EXPECT_EQ(d.asked, 2u);
}

// BP-5
TEST(backpressure_gauge, what_is_pushed_is_applied_at_the_next_tick) {
    rig r;
    dial d;
    ASSERT_TRUE(r.gauge.register_probe("dial", d).has_value());
    (void)r.next();
    r.gauge.push(gauge_event::engage);
    EXPECT_FALSE(r.gauge.engaged());
    EXPECT_FALSE(r.gauge.sample(r.now));
    EXPECT_TRUE(r.next());
    EXPECT_TRUE(r.after(d, {0, 0, 0}));
    r.gauge.push(gauge_event::engage);
    r.gauge.push(gauge_event::clear);
    EXPECT_TRUE(r.gauge.engaged());
    EXPECT_FALSE(r.next());
    EXPECT_TRUE(r.after(d, {900, 900}));
    r.gauge.push(gauge_event::clear);
    EXPECT_TRUE(r.next());
}

// BP-5: also where nothing is measured.
TEST(backpressure_gauge, it_can_be_pushed_without_probes) {
    rig r(0);
    r.gauge.push(gauge_event::engage);
    EXPECT_TRUE(r.next());
    EXPECT_TRUE(r.next());
    r.gauge.push(gauge_event::clear);
    EXPECT_FALSE(r.next());
}

// BP-5, CN-7's rule for this handle: it names one registration.
TEST(backpressure_gauge, places_are_limited_and_handles_are_good_for_one_use) {
    rig r(2);
    dial d;
    EXPECT_EQ(r.gauge.probe_capacity(), 2u);
    const auto a = r.gauge.register_probe("a", d);
    const auto b = r.gauge.register_probe("b", d);
    ASSERT_TRUE(a.has_value());
    ASSERT_TRUE(b.has_value());
    EXPECT_FALSE(r.gauge.register_probe("c", d).has_value());
    EXPECT_TRUE(r.gauge.remove_probe(*a));
    EXPECT_FALSE(r.gauge.remove_probe(*a));
    const auto c = r.gauge.register_probe("c", d);
    ASSERT_TRUE(c.has_value());
    EXPECT_NE(*c, *a);
    EXPECT_FALSE(r.gauge.remove_probe(*a));
    EXPECT_FALSE(r.gauge.remove_probe({}));
    EXPECT_FALSE(r.gauge.remove_probe({2, 1}));
    EXPECT_EQ(r.gauge.probe_count(), 2u);
}

// BP-1's rule: what memory there is is taken at construction.
TEST(backpressure_gauge, without_memory_it_has_no_places) {
    rig r(1'000'000);
    dial d;
    EXPECT_EQ(r.gauge.probe_capacity(), 0u);
    EXPECT_FALSE(r.gauge.register_probe("a", d).has_value());
    EXPECT_FALSE(r.next());
}

// BP-5, UP-4: a probe that fails is no load, and counted.
TEST(backpressure_gauge, a_failing_probe_is_no_load) {
    rig r;
    dial d;
    dial e;
    d.load = 1'000;
    d.fails = true;
    e.load = 5;
    ASSERT_TRUE(r.gauge.register_probe("dial", d).has_value());
    ASSERT_TRUE(r.gauge.register_probe("other", e).has_value());
    EXPECT_FALSE(r.next());
    EXPECT_FALSE(r.next());
    EXPECT_EQ(r.gauge.failure_count(), 2u);
    EXPECT_EQ(std::string_view(r.gauge.highest().name), std::string_view("other"));
}

// SC-10: no lock is held while a probe is called, and it may remove itself.
TEST(backpressure_gauge, a_probe_may_use_the_gauge_and_remove_itself) {
    rig r;
    dial d;
    const auto handle = r.gauge.register_probe("dial", d);
    ASSERT_TRUE(handle.has_value());
    d.inside = &r.gauge;
    d.self = *handle;
    EXPECT_FALSE(r.next());
    EXPECT_FALSE(r.next());
    EXPECT_EQ(d.asked, 1u);
    EXPECT_EQ(r.gauge.probe_count(), 0u);
}

template <class Number>
std::uint32_t permille_of(Number n) {
    backpressure_probe_of probe([n] { return n; });
    return probe.load_permille().value_or(9'999);
}

// BP-5: both faces.
TEST(backpressure_gauge, functions_give_thousandths_or_fractions) {
    EXPECT_EQ(permille_of(0), 0u);
    EXPECT_EQ(permille_of(-1), 0u);
    EXPECT_EQ(permille_of(800), 800u);
    EXPECT_EQ(permille_of(1'001), 1'000u);
    EXPECT_EQ(permille_of(~0ull), 1'000u);
    EXPECT_EQ(permille_of(0.5), 500u);
    EXPECT_EQ(permille_of(0.8), 800u);
    EXPECT_EQ(permille_of(1.5), 1'000u);
    EXPECT_EQ(permille_of(-0.1), 0u);
    EXPECT_EQ(permille_of(std::numeric_limits<double>::quiet_NaN()), 0u);
}

// BP-5: a second implementation that keeps all it has seen.
TEST(backpressure_gauge, random_loads_agree_with_the_sentences) {
    for (std::uint64_t seed = 1; seed <= tactus_test::board::random_operations / 10; ++seed) {
        det_rng rng(seed);
        rig r;
        dial d;
        ASSERT_TRUE(r.gauge.register_probe("dial", d).has_value());
        bool engaged = false;
        bool pushed = false;
        std::uint32_t before = 0;
        bool fresh = true;  // `before` does not count any more: it has changed something
        for (int i = 0; i < 40; ++i) {
            bool push = rng.below(8) == 0;
            bool wanted = rng.next_bool();
            if (push) {
                r.gauge.push(wanted ? gauge_event::engage : gauge_event::clear);
                pushed = wanted;
            }
            d.load = static_cast<std::uint32_t>(600 + rng.below(400));
            const tick gap = rng.below(4) == 0 ? 1 + rng.below(40) : 1;
            r.now += gap - 1;
            const bool got = r.next();
            const bool both_high = !fresh && before >= 800 && d.load >= 800 && gap <= 32;
            const bool both_low = d.load < 800 && (gap > 1 || (!fresh && before < 800));
            engaged = engaged ? !both_low : both_high;
            fresh = false;
            before = d.load;
            if (got != (engaged || pushed))
                TEST_LOG("seed", seed);
            ASSERT_EQ(got, engaged || pushed);
        }
    }
}

}  // namespace
}  // namespace tactus
