// SPDX-License-Identifier: Apache-2.0
//
// Goal: an index finds exactly one life of one slot, or nothing (RG-1 ... RG-3).
// Method: a random program that remembers every index ever given out; generations near their end.
#include <tactus/base/det_rng.hpp>
#include <tactus/base/memory_region.hpp>
#include <tactus/dispatch/registry.hpp>

#include <cstddef>
#include <cstdint>

#include "portable_test.hpp"

using tactus::mailbox_index;
using tactus::registry;
using tactus::slot;
using tactus::slot_cache;

namespace {

constexpr std::uint32_t capacity = 16;
alignas(slot) alignas(16) std::byte bytes[capacity * sizeof(slot)];

struct no_leftovers {
    template <class T>
    void refused(T&) noexcept {
        EXPECT_TRUE(false);
    }
};

/// What the end of an actor does to its slot.
void end(registry& slots, slot_cache& cache, slot& s) {
    EXPECT_EQ(s.state().request_close(), tactus::mailbox_owed::finalize);
    (void)s.finalize(registry::next_generation(s.generation()), {}, no_leftovers{});
    slots.give(s, cache);
}

struct rig {
    explicit rig(std::uint32_t first_generation = 1, std::uint32_t n = capacity)
        : slots({.memory = &memory,
                 .capacity = n,
                 .magazine_size = 1,
                 .system_number = 5,
                 .first_generation = first_generation}),
          cache(slots.shared()) {}
    slot* open() {
        slot* s = slots.take(cache);
        if (s != nullptr)
            last = slots.open(*s, false);
        return s;
    }
    tactus::fixed_memory memory{bytes};
    registry slots;
    slot_cache cache;
    mailbox_index last;
};

}  // namespace

// RG-1
TEST(registry, the_first_generation_is_1_and_0_finds_nothing) {
    rig r;
    slot* s = r.open();
    EXPECT_EQ(r.last.generation, 1u);
    EXPECT_EQ(r.last.slot_number(), 0u);
    EXPECT_EQ(r.last.system_number(), 5u);
    EXPECT_EQ(r.slots.find(r.last), s);
    EXPECT_EQ(r.slots.find(mailbox_index{}), nullptr);
    EXPECT_EQ(r.slots.find(r.last.with_generation(0)), nullptr);
    EXPECT_EQ(r.slots.find(mailbox_index::make(6, 0, 1)), nullptr);   // another system's
    EXPECT_EQ(r.slots.find(mailbox_index::make(5, 99, 1)), nullptr);  // made up
    EXPECT_EQ(r.slots.find(mailbox_index::make(5, 1, 0)), nullptr);
}

TEST(registry, a_stale_index_finds_nothing_and_the_slot_lives_again) {
    rig r;
    slot* s = r.open();
    const mailbox_index old = r.last;
    end(r.slots, r.cache, *s);
    EXPECT_EQ(r.slots.find(old), nullptr);
    EXPECT_EQ(r.open(), s);  // the one used last is used next
    EXPECT_EQ(r.last, old.with_generation(2));
    EXPECT_EQ(r.slots.find(old), nullptr);
    EXPECT_EQ(r.slots.find(r.last), s);
}

TEST(registry, gives_no_more_than_its_capacity_and_takes_back) {
    rig r;
    slot* all[capacity];
    for (slot*& s : all) {
        s = r.open();
        ASSERT_TRUE(s != nullptr);
    }
    EXPECT_EQ(r.open(), nullptr);
    end(r.slots, r.cache, *all[3]);
    EXPECT_EQ(r.open(), all[3]);
    EXPECT_EQ(r.open(), nullptr);
}

TEST(registry, every_index_ever_given_finds_its_life_or_nothing) {
    constexpr unsigned kept = 64;
    rig r;
    mailbox_index given[kept];
    bool alive[kept] = {};
    unsigned count = 0;
    tactus::det_rng rng(11);
    for (unsigned i = 0; i < 4'000; ++i) {
        if (rng.below(2) == 0) {
            const unsigned at = count % kept;
            if (!alive[at] && r.open() != nullptr) {
                given[at] = r.last;
                alive[at] = true;
                ++count;
            }
        } else {
            const auto at = static_cast<unsigned>(rng.below(kept));
            if (alive[at]) {
                end(r.slots, r.cache, *r.slots.find(given[at]));
                alive[at] = false;
            }
        }
        const auto at = static_cast<unsigned>(rng.below(kept));
        ASSERT_EQ(r.slots.find(given[at]) != nullptr, alive[at]);
        if (alive[at]) {
            ASSERT_EQ(r.slots.index_of(*r.slots.find(given[at])), given[at]);
        }
    }
}

// RG-1: a slot whose generation would wrap is retired.
TEST(registry, a_slot_is_retired_before_its_generation_wraps) {
    constexpr std::uint32_t largest = tactus::registry::generation_max;
    rig r(largest - 1, 2);
    slot* first = r.open();
    EXPECT_EQ(r.last.generation, largest - 1);
    end(r.slots, r.cache, *first);
    EXPECT_EQ(r.open(), first);
    const mailbox_index last = r.last;
    EXPECT_EQ(last.generation, largest);
    end(r.slots, r.cache, *first);
    EXPECT_EQ(r.slots.retired_count(), 1u);
    EXPECT_EQ(r.slots.find(last), nullptr);
    EXPECT_EQ(r.slots.find(last.with_generation(0)), nullptr);
    EXPECT_EQ(r.slots.last_generation(), 0u);  // the system's number is used up with it
    slot* second = r.open();
    ASSERT_TRUE(second != nullptr);
    EXPECT_NE(second, first);
    EXPECT_EQ(r.open(), nullptr);  // the first is gone for good
}

TEST(registry, knows_where_generations_are_at_the_furthest) {
    rig r(7);
    EXPECT_EQ(r.slots.last_generation(), 7u);
    slot* s = r.open();
    for (unsigned i = 0; i < 3; ++i) {
        end(r.slots, r.cache, *s);
        ASSERT_EQ(r.open(), s);
    }
    EXPECT_EQ(r.slots.last_generation(), 10u);
}

// RG-3: cell, mailbox, registry share and user state up to 64 bytes.
TEST(registry, a_slot_has_four_lines) {
    static_assert(tactus::port::cache_line != 64 || sizeof(slot) == 256);
    static_assert(tactus::port::cache_line != 64 || alignof(slot) == 256);
    static_assert(slot::state_size == 64);
    rig r;
    slot* a = r.open();
    slot* b = r.open();
    EXPECT_EQ(reinterpret_cast<std::byte*>(b) - reinterpret_cast<std::byte*>(a),
              static_cast<std::ptrdiff_t>(sizeof(slot)));
    EXPECT_LE(sizeof(slot), 256u);
}
