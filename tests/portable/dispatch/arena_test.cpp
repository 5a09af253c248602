// SPDX-License-Identifier: Apache-2.0
//
// Goal: blocks of an arena are apart, aligned, and found again; and a system takes of it exactly
// what its plan says (PT-7).
#include <tactus/dispatch/arena.hpp>

#include <array>
#include <cstdint>

#include "kernel_rig.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used

namespace {

constexpr std::size_t granule = memory_plan::granule;

struct room {
    alignas(64) std::byte bytes[1'024];
};
room& place() {
    static room one;
    return one;
}

bool aligned(const void* p, std::size_t to) {
    return reinterpret_cast<std::uintptr_t>(p) % to == 0;
}

}  // namespace

// PT-7
TEST(arena, blocks_are_apart_and_all_of_it_can_be_had) {
    arena a(place().bytes);
    void* blocks[8];
    for (void*& b : blocks)
        b = a.allocate(128, granule);
    for (std::size_t i = 0; i < 8; ++i)
        EXPECT_TRUE(blocks[i] == place().bytes + i * 128);
    EXPECT_TRUE(a.allocate(1, 1) == nullptr);
    EXPECT_EQ(a.refused(), 1u);
    EXPECT_EQ(a.used(), sizeof(room));
    // In an order in which each of the ways to join is needed.
    for (const std::size_t i : {1U, 3U, 2U, 0U, 7U, 5U, 6U, 4U})
        a.release(blocks[i], 128, granule);
    EXPECT_EQ(a.used(), 0u);
    EXPECT_EQ(a.peak(), sizeof(room));
    EXPECT_TRUE(a.allocate(sizeof(room), granule) == place().bytes);
}

// PT-7
TEST(arena, the_first_gap_with_room_is_taken_and_its_rest_stays) {
    arena a(place().bytes);
    void* first = a.allocate(4 * granule, 1);
    void* second = a.allocate(granule, 1);
    a.release(first, 4 * granule, 1);
    EXPECT_TRUE(a.allocate(granule, 1) == first);
    EXPECT_TRUE(a.allocate(2 * granule, 1) == static_cast<std::byte*>(first) + granule);
    // One granule is left there: two are behind the second block.
    EXPECT_TRUE(a.allocate(2 * granule, 1) == static_cast<std::byte*>(second) + granule);
    EXPECT_TRUE(a.allocate(1, 1) == static_cast<std::byte*>(first) + 3 * granule);
}

// PT-7
TEST(arena, large_alignments_leave_what_lies_before_to_others) {
    arena a(place().bytes);
    void* small = a.allocate(1, 1);
    void* large = a.allocate(64, 64);
    EXPECT_TRUE(aligned(large, 64));
    EXPECT_TRUE(large == place().bytes + 64);
    EXPECT_TRUE(a.allocate(64 - granule, 1) == static_cast<std::byte*>(small) + granule);
    a.release(large, 64, 64);
    EXPECT_TRUE(a.allocate(64, 64) == large);
}

// PT-7
TEST(arena, what_is_not_aligned_or_too_small_is_left_out) {
    arena odd({place().bytes + 1, 3 * granule});
    EXPECT_EQ(odd.size(), 2 * granule);
    EXPECT_TRUE(odd.allocate(0, 1) != odd.allocate(0, 1));
    arena none({place().bytes, granule - 1});
    EXPECT_EQ(none.size(), 0u);
    EXPECT_TRUE(none.allocate(1, 1) == nullptr);
    EXPECT_TRUE(none.allocate(~std::size_t{0}, 1) == nullptr);
}

// PT-7: the plan is made when compiling; a system takes no block that is not in it.
TEST(arena, a_system_takes_what_its_plan_says) {
    constexpr actor_scheduler::options small{.worker_count = 1,
                                             .ring_capacity = 4,
                                             .fresh_capacity = 2,
                                             .queue_capacity = 4,
                                             .keyed_capacity = 1,
                                             .suspension_capacity = 1};
    constexpr std::size_t planned = actor_scheduler::plan(small).bytes();
    alignas(64) static std::byte bytes[planned];
    arena memory(bytes);
    {
        const tactus_test::kernel_rig rig([&](actor_scheduler::options& o) {
            o.memory = &memory;
            o.worker_count = small.worker_count;
            o.ring_capacity = small.ring_capacity;
            o.fresh_capacity = small.fresh_capacity;
            o.queue_capacity = small.queue_capacity;
            o.keyed_capacity = small.keyed_capacity;
            o.suspension_capacity = small.suspension_capacity;
        });
        EXPECT_EQ(memory.refused(), 0u);
        // What alignments may cost is planned for the worst.
        constexpr std::size_t lost = alignof(worker) > granule ? alignof(worker) - granule : 0;
        EXPECT_EQ(planned, memory.used() + lost);
    }
    EXPECT_EQ(memory.used(), 0u);
}
