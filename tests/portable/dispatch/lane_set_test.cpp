// SPDX-License-Identifier: Apache-2.0
//
// Goal: within a lane the higher priority first, then the order of registration; default priority
// in its place although it takes a plain queue; deadlines earliest first.
// Method: random programs against a search through an array.
#include <tactus/base/det_rng.hpp>
#include <tactus/dispatch/lane_set.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>

#include "portable_test.hpp"
#include "test_memory.hpp"

using tactus::lane;
using tactus::lane_entry;
using tactus::lane_place;
using tactus::lane_set;

namespace {

constexpr unsigned model_max = 48;
alignas(16) std::byte bytes[tactus_test::board::roomy ? 32'768 : 7'168];

struct fresh_test final : tactus::stale_test {
    [[nodiscard]] bool stale(lane_entry e) const noexcept override { return e.ticket == 2; }
};
constexpr fresh_test staleness;

struct model {
    struct row {
        lane_place place;
        std::uint32_t number;
    };
    row rows[model_max];
    unsigned count = 0;

    static bool before(const row& a, const row& b) {
        if (a.place.where == lane::timed)
            return a.place.deadline != b.place.deadline ? a.place.deadline < b.place.deadline
                                                        : a.number < b.number;
        return a.place.priority != b.place.priority ? a.place.priority > b.place.priority
                                                    : a.number < b.number;
    }
    [[nodiscard]] std::uint32_t size(lane of) const {
        std::uint32_t n = 0;
        for (unsigned i = 0; i < count; ++i)
            n += rows[i].place.where == of ? 1 : 0;
        return n;
    }
    /// The first of a lane, or count.
    [[nodiscard]] unsigned first(lane of) const {
        unsigned found = count;
        for (unsigned i = 0; i < count; ++i) {
            if (rows[i].place.where == of && (found == count || before(rows[i], rows[found])))
                found = i;
        }
        return found;
    }
    std::uint32_t remove(unsigned i) {
        const std::uint32_t number = rows[i].number;
        rows[i] = rows[--count];
        return number;
    }
};

}  // namespace

// LN table, sc-fifo-priority-001, sc-edf-001, sc-edf-fifo-001
TEST(lane_set, orders_each_lane_as_a_search_would) {
    constexpr std::uint8_t priorities[] = {0, 127, 128, 128, 129, 255};
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
        tactus_test::test_memory memory(bytes);
        lane_set set(
            {.memory = &memory, .stale = &staleness, .queue_capacity = 2, .heap_capacity = 2});
        static model expected;
        expected.count = 0;
        tactus::det_rng rng(seed);
        std::uint32_t next = 1;
        for (unsigned i = 0; i < tactus_test::board::random_operations / 10; ++i) {
            const auto where = static_cast<lane>(rng.below(3));
            const auto roll = rng.below(100);
            if (roll < 50 && expected.count < model_max) {
                const lane_place place{where, priorities[rng.below(6)],
                                       static_cast<std::int64_t>(rng.below(4))};
                set.push({next, 1}, place);
                expected.rows[expected.count++] = {place, next++};
            } else if (roll < 60 && where != lane::timed) {
                const unsigned at = expected.first(where);
                const lane_entry e = set.pop_preferred(where);
                if (at == expected.count || expected.rows[at].place.priority <= 128) {
                    ASSERT_FALSE(e.valid());
                } else {
                    ASSERT_EQ(e.slot, expected.remove(at));
                }
            } else {
                const unsigned at = expected.first(where);
                const lane_entry e = roll < 80 ? set.pop(where) : set.try_pop(where);
                ASSERT_EQ(e.valid(), at != expected.count);
                if (e.valid()) {
                    ASSERT_EQ(e.slot, expected.remove(at));
                }
            }
            ASSERT_EQ(set.cancel_count(), expected.size(lane::cancel));
            ASSERT_EQ(set.timed_count(), expected.size(lane::timed));
            ASSERT_EQ(set.ready_count(), expected.size(lane::ready));
            ASSERT_EQ(set.empty(), expected.count == 0);
            ASSERT_EQ(set.urgent(), set.cancel_count() + set.timed_count() != 0);
            const unsigned earliest = expected.first(lane::timed);
            ASSERT_EQ(set.earliest_deadline(), earliest == expected.count
                                                   ? std::numeric_limits<std::int64_t>::max()
                                                   : expected.rows[earliest].place.deadline);
        }
    }
}

TEST(lane_set, counts_what_is_left_after_stale_entries_made_room) {
    tactus_test::test_memory memory(bytes);
    lane_set set({.memory = &memory, .stale = &staleness, .queue_capacity = 4, .heap_capacity = 4});
    memory.refusing = true;
    for (std::uint32_t i = 0; i < 4; ++i)
        set.push({i, 2}, {});
    set.push({4, 1}, {});
    EXPECT_EQ(set.ready_count(), 1u);
    EXPECT_EQ(set.pop(lane::ready).slot, 4u);
    EXPECT_TRUE(set.empty());
}
