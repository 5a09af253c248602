// SPDX-License-Identifier: Apache-2.0
//
// UP-6 under AddressSanitizer: memory of a free envelope must not be touched, from the first byte
// of its payload to the last, and is usable again when the envelope or the pool's memory is.
#include <tactus/mailbox/envelope_pool.hpp>

#include <gtest/gtest.h>
#include <sanitizer/asan_interface.h>

#include <array>
#include <cstddef>
#include <cstring>

using tactus::envelope;
using tactus::envelope_cache;
using tactus::envelope_pool;

namespace {

struct full {
    std::byte bytes[envelope::inside_size];
};

alignas(64) std::array<std::byte, 16 * sizeof(envelope)> bytes;

}  // namespace

// UP-6
TEST(envelope_poison, UP_6_touching_a_freed_payload_is_reported) {
    tactus::fixed_memory memory(bytes);
    envelope_pool pool(
        {.memory = &memory, .capacity = 4, .reserve_for_system = 1, .magazine_size = 2});
    EXPECT_TRUE(pool.poisons());
    envelope_cache cache(pool);
    envelope* e = cache.take();
    ASSERT_TRUE(e->emplace<full>(full{}, nullptr));
    const full* kept = e->get_if<full>();
    cache.dispose(*e);
    for (const std::byte& each : kept->bytes)
        EXPECT_TRUE(__asan_address_is_poisoned(&each));
    EXPECT_TRUE(__asan_address_is_poisoned(&e->type));
    EXPECT_TRUE(__asan_address_is_poisoned(&e->tag));
    const volatile std::byte* first = &kept->bytes[0];
    const volatile std::byte* last = &kept->bytes[envelope::inside_size - 1];
    EXPECT_DEATH((void)*first, "use-after-poison");
    EXPECT_DEATH((void)*last, "use-after-poison");
    EXPECT_DEATH((void)e->get_if<full>(), "use-after-poison");

    // The same one comes back, and is whole again.
    ASSERT_EQ(cache.take(), e);
    EXPECT_EQ(__asan_region_is_poisoned(e, sizeof(envelope)), nullptr);
    ASSERT_TRUE(e->emplace<full>(full{}, nullptr));
}

// UP-6: wherever a free one is, in a cache, in a full magazine or loose in the depot.
TEST(envelope_poison, UP_6_free_envelopes_are_poisoned_in_caches_and_in_the_depot) {
    tactus::fixed_memory memory(bytes);
    envelope_pool pool(
        {.memory = &memory, .capacity = 9, .reserve_for_system = 0, .magazine_size = 2});
    envelope_cache cache(pool);
    std::array<envelope*, 9> all{};
    std::array<const int*, 9> payloads{};
    for (std::size_t i = 0; i < all.size(); ++i) {
        all[i] = cache.take();
        ASSERT_TRUE(all[i]->emplace<int>(1, nullptr));
        payloads[i] = all[i]->get_if<int>();
    }
    const auto all_poisoned = [&payloads] {
        for (const int* p : payloads)
            EXPECT_TRUE(__asan_address_is_poisoned(p));
    };
    for (envelope* e : all)
        cache.dispose(*e);
    all_poisoned();
    cache.flush();
    all_poisoned();
    for (int i = 0; i < 9; ++i) {
        envelope* e = cache.take();
        ASSERT_NE(e, nullptr);
        EXPECT_EQ(__asan_region_is_poisoned(e, sizeof(envelope)), nullptr);
    }
}

// UP-6, SQ-5
TEST(envelope_poison, UP_6_the_reserve_is_poisoned_until_taken) {
    tactus::fixed_memory memory(bytes);
    envelope_pool pool(
        {.memory = &memory, .capacity = 1, .reserve_for_system = 1, .magazine_size = 1});
    envelope& e = pool.take_for_system();
    EXPECT_EQ(__asan_region_is_poisoned(&e, sizeof(envelope)), nullptr);
    ASSERT_TRUE(e.emplace<int>(1, nullptr, envelope::from_reserve));
    const int* kept = e.get_if<int>();
    pool.give_for_system(e);
    EXPECT_TRUE(__asan_address_is_poisoned(kept));
    EXPECT_EQ(&pool.take_for_system(), &e);
    EXPECT_FALSE(__asan_address_is_poisoned(kept));
}

// The memory was only given: its owner gets it back usable.
TEST(envelope_poison, memory_is_usable_when_the_pool_is_gone) {
    {
        tactus::fixed_memory memory(bytes);
        envelope_pool pool(
            {.memory = &memory, .capacity = 4, .reserve_for_system = 4, .magazine_size = 2});
        envelope_cache cache(pool);
        cache.give(*cache.take());
    }
    EXPECT_EQ(__asan_region_is_poisoned(bytes.data(), bytes.size()), nullptr);
    std::memset(bytes.data(), 0, bytes.size());
}
