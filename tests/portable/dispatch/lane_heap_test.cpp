// SPDX-License-Identifier: Apache-2.0
//
// Goal: the least key first, equal keys in the order of their numbers (INV-SC-02, INV-SC-03).
// Method: random programs against a search through an array.
#include <tactus/base/det_rng.hpp>
#include <tactus/dispatch/lane_heap.hpp>

#include <cstddef>
#include <cstdint>

#include "portable_test.hpp"
#include "test_memory.hpp"

using tactus::keyed_entry;
using tactus::lane_entry;
using tactus::lane_heap;

namespace {

constexpr unsigned model_max = 64;
alignas(16) std::byte bytes[model_max * 2 * sizeof(keyed_entry)];
constexpr auto never = [](lane_entry) { return false; };

struct model {
    keyed_entry entries[model_max];
    unsigned count = 0;

    void push(const keyed_entry& e) { entries[count++] = e; }
    keyed_entry pop() {
        unsigned least = 0;
        for (unsigned i = 1; i < count; ++i) {
            const keyed_entry& a = entries[i];
            const keyed_entry& b = entries[least];
            if (a.key < b.key || (a.key == b.key && a.number < b.number))
                least = i;
        }
        const keyed_entry first = entries[least];
        entries[least] = entries[--count];
        return first;
    }
    void drop_odd() {
        unsigned kept = 0;
        for (unsigned i = 0; i < count; ++i) {
            if (entries[i].entry.slot % 2 == 0)
                entries[kept++] = entries[i];
        }
        count = kept;
    }
};

}  // namespace

TEST(lane_heap, gives_the_least_key_and_equals_in_the_order_they_came) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        tactus_test::test_memory memory(bytes);
        {
            lane_heap heap(memory, 2);
            static model expected;
            expected.count = 0;
            tactus::det_rng rng(seed);
            std::uint64_t number = 0;
            for (unsigned i = 0; i < tactus_test::board::random_operations / 10; ++i) {
                const auto roll = rng.below(100);
                if (roll < 52 && expected.count < model_max) {
                    // Few keys, so that many are equal; negative ones too.
                    const keyed_entry e{static_cast<std::int64_t>(rng.below(6)) - 3,
                                        number,
                                        {static_cast<std::uint32_t>(number), 1}};
                    ++number;
                    heap.push(e, never);
                    expected.push(e);
                } else if (roll < 54) {
                    heap.drop_if([](lane_entry e) { return e.slot % 2 != 0; });
                    expected.drop_odd();
                } else if (expected.count > 0) {
                    const keyed_entry e = expected.pop();
                    ASSERT_EQ(heap.top().number, e.number);
                    const keyed_entry found = heap.pop();
                    ASSERT_EQ(found.number, e.number);
                    ASSERT_EQ(found.key, e.key);
                    ASSERT_EQ(found.entry.slot, e.entry.slot);
                }
                ASSERT_EQ(heap.size(), expected.count);
            }
        }
        EXPECT_EQ(memory.live_bytes, 0u);
        EXPECT_EQ(memory.wrong_releases, 0u);
    }
}

// LN-2, DF-49: whatever its key; the others keep their order.
TEST(lane_heap, DF_49_gives_the_oldest) {
    tactus_test::test_memory memory(bytes);
    lane_heap heap(memory, 8);
    constexpr std::int64_t keys[] = {55, 200, 55, 0, 127, 200};
    for (const std::uint32_t start : {0u, 1u, 5u, 1'000u}) {
        for (std::uint32_t i = 0; i < 6; ++i)
            heap.push({keys[i], i, {i, 1}}, never);
        EXPECT_EQ(heap.pop_oldest(start).slot, 0u);
        EXPECT_EQ(heap.pop_oldest(start).slot, 1u);
        for (const std::uint32_t n : {3u, 2u, 4u, 5u})
            EXPECT_EQ(heap.pop().entry.slot, n);
    }
}

TEST(lane_heap, drops_stale_entries_when_it_cannot_grow) {
    tactus_test::test_memory memory(bytes);
    lane_heap heap(memory, 4);
    memory.refusing = true;
    for (std::uint32_t i = 0; i < 4; ++i)
        heap.push({4 - std::int64_t{i}, i, {i, 1}}, never);
    heap.push({0, 9, {9, 1}}, [](lane_entry e) { return e.slot == 1 || e.slot == 2; });
    EXPECT_EQ(heap.size(), 3u);
    for (const std::uint32_t n : {9u, 3u, 0u})
        EXPECT_EQ(heap.pop().entry.slot, n);
}

// DT-3: of the first and its equals, in the order they came, the one at the hint; stale ones do not
// count, and the others keep their places.
TEST(lane_heap, chooses_among_equals_as_a_search_would) {
    constexpr auto odd_ticket = [](lane_entry e) { return e.ticket % 2 != 0; };
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        tactus_test::test_memory memory(bytes);
        lane_heap heap(memory, 4);
        static model expected;
        expected.count = 0;
        tactus::det_rng rng(seed);
        std::uint32_t number = 0;
        for (unsigned i = 0; i < tactus_test::board::random_operations / 10; ++i) {
            if (rng.below(100) < 55 && expected.count < model_max / 2) {
                const bool stale = rng.below(4) == 0;
                const keyed_entry e{
                    static_cast<std::int64_t>(rng.below(3)), number, {number, stale ? 1u : 2u}};
                ++number;
                heap.push(e, never);
                expected.push(e);
                continue;
            }
            // Everything of the least key that is not stale, in order.
            keyed_entry equals[model_max];
            unsigned count = 0;
            while (expected.count > 0) {
                const keyed_entry e = expected.pop();
                if (odd_ticket(e.entry))
                    continue;
                if (count > 0 && e.key != equals[0].key) {
                    expected.push(e);
                    break;
                }
                equals[count++] = e;
            }
            const std::uint64_t hint = rng.next_u64();
            const lane_entry found = heap.pop_equal(hint, odd_ticket);
            ASSERT_EQ(found.valid(), count > 0);
            for (unsigned k = 0; k < count; ++k) {
                if (k == hint % count) {
                    ASSERT_EQ(found.slot, equals[k].entry.slot);
                } else {
                    expected.push(equals[k]);
                }
            }
        }
    }
}
