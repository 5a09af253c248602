// SPDX-License-Identifier: Apache-2.0
//
// Goal: a handle names exactly one use of one cell, for as long as the slab lives (S1 … S3).
// Method: a naive model that remembers every handle ever given out; small generation counts so that
// cells retire; a region that gives memory back.
#include <tactus/base/det_rng.hpp>
#include <tactus/base/slab.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "portable_test.hpp"

using tactus::slab_handle;

namespace {

struct cell {
    std::uint32_t generation;
    std::uint16_t next;
    std::uint16_t value;
};
using small_slab = tactus::slab<cell, std::uint16_t>;
using tiny_slab = tactus::slab<cell, std::uint8_t>;

alignas(16) std::byte bytes[128 * sizeof(cell)];

class shrinking_memory final : public tactus::memory_region {
public:
    shrinking_memory() noexcept {
        data_ = bytes;
        size_max_ = sizeof bytes;
    }
    [[nodiscard]] bool resize(std::size_t count) noexcept override {
        if (count > size_max_)
            return false;
        // What is given back is gone: whoever still relied on it sees rubbish.
        for (std::size_t i = count; i < size_; ++i)
            bytes[i] = std::byte{0xA5};
        size_ = count;
        return true;
    }
};

}  // namespace

TEST(slab, gives_every_cell_once_and_then_none) {
    tactus::fixed_memory memory(bytes);
    small_slab cells({.memory = &memory, .capacity = 5});
    bool seen[5] = {};
    for (int i = 0; i < 5; ++i) {
        const auto index = cells.acquire();
        ASSERT_LT(index, 5u);
        EXPECT_FALSE(seen[index]);
        seen[index] = true;
    }
    EXPECT_EQ(cells.acquire(), small_slab::none);
    EXPECT_EQ(cells.live_count(), 5u);
    EXPECT_EQ(cells.capacity(), 5u);
    cells.release(3);
    EXPECT_EQ(cells.live_count(), 4u);
    EXPECT_EQ(cells.acquire(), 3u);
    EXPECT_EQ(cells.acquire(), small_slab::none);
}

// S2: what was given back last comes first, and what is named ahead comes soon.
TEST(slab, wide_indices_are_a_stack_too) {
    struct wide_cell {
        std::uint32_t generation;
        std::uint32_t next;
    };
    using wide_slab = tactus::slab<wide_cell, std::uint32_t>;
    constexpr std::uint32_t count = 11;
    static_assert(count * sizeof(wide_cell) <= sizeof bytes);
    tactus::fixed_memory memory(bytes);
    wide_slab cells({.memory = &memory, .capacity = count});
    for (std::uint32_t given = 1; given <= count; ++given) {
        std::uint32_t taken[count] = {};
        for (std::uint32_t i = 0; i < count; ++i)
            taken[i] = cells.acquire();
        EXPECT_EQ(cells.acquire(), wide_slab::none);
        for (std::uint32_t i = 0; i < given; ++i)
            cells.release(taken[(i * 7) % count]);
        for (std::uint32_t i = given; i-- > 0;) {
            EXPECT_EQ(cells.acquire(), taken[(i * 7) % count]);
            const std::uint32_t ahead = cells.ahead();
            EXPECT_EQ(ahead, i < 4 ? wide_slab::none : taken[((i - 4) * 7) % count]);
        }
        for (const std::uint32_t index : taken)
            cells.release(index);
    }
}

TEST(slab, a_handle_is_good_for_one_use) {
    tactus::fixed_memory memory(bytes);
    small_slab cells({.memory = &memory, .capacity = 5});
    const auto index = cells.acquire();
    const slab_handle first = cells.handle_of(index);
    EXPECT_EQ(first.generation % 2, 1u);
    EXPECT_EQ(cells.find(first), index);
    cells.release(index);
    EXPECT_EQ(cells.find(first), small_slab::none);
    EXPECT_EQ(cells.acquire(), index);
    const slab_handle second = cells.handle_of(index);
    EXPECT_FALSE(first == second);
    EXPECT_EQ(cells.find(first), small_slab::none);
    EXPECT_EQ(cells.find(second), index);
}

TEST(slab, default_and_made_up_handles_name_nothing) {
    tactus::fixed_memory memory(bytes);
    small_slab cells({.memory = &memory, .capacity = 5});
    EXPECT_EQ(cells.find({}), small_slab::none);
    EXPECT_FALSE(cells.may_have_issued({}));
    const auto index = cells.acquire();
    const slab_handle handle = cells.handle_of(index);
    EXPECT_EQ(cells.find({}), small_slab::none);
    EXPECT_EQ(cells.find({handle.index, handle.generation + 1}), small_slab::none);
    EXPECT_EQ(cells.find({handle.index + 1, handle.generation}), small_slab::none);
    EXPECT_EQ(cells.find({70'000, handle.generation}), small_slab::none);
    EXPECT_EQ(cells.find({handle.index + 65'536, handle.generation}), small_slab::none);
    cells.release(index);
    // The generation of a free cell is even, and no handle with an even one matches.
    EXPECT_EQ(cells.find({handle.index, handle.generation + 1}), small_slab::none);
}

TEST(slab, tells_stale_handles_from_foreign_ones) {
    tactus::fixed_memory memory(bytes);
    small_slab cells({.memory = &memory, .capacity = 5, .first_generation = 100});
    const auto index = cells.acquire();
    const slab_handle handle = cells.handle_of(index);
    EXPECT_EQ(handle.generation, 101u);
    EXPECT_TRUE(cells.may_have_issued(handle));
    EXPECT_FALSE(cells.may_have_issued({handle.index, 103}));
    EXPECT_FALSE(cells.may_have_issued({handle.index, 99}));
    EXPECT_FALSE(cells.may_have_issued({handle.index, 100}));
    EXPECT_FALSE(cells.may_have_issued({handle.index + 1, 101}));
    cells.release(index);
    EXPECT_TRUE(cells.may_have_issued(handle));
    EXPECT_FALSE(cells.may_have_issued({handle.index, 103}));
    EXPECT_EQ(cells.acquire(), index);
    EXPECT_TRUE(cells.may_have_issued({handle.index, 103}));
    EXPECT_TRUE(cells.may_have_issued(handle));
}

// A cell whose generation would come back to where it started is never used again.
TEST(slab, used_up_cells_retire) {
    tactus::fixed_memory memory(bytes);
    small_slab cells({.memory = &memory, .capacity = 1, .generation_count = 6});
    slab_handle seen[3] = {};
    for (auto& handle : seen) {
        const auto index = cells.acquire();
        ASSERT_EQ(index, 0u);
        handle = cells.handle_of(index);
        cells.release(index);
    }
    EXPECT_FALSE(seen[0] == seen[1]);
    EXPECT_FALSE(seen[1] == seen[2]);
    EXPECT_FALSE(seen[0] == seen[2]);
    EXPECT_EQ(cells.retired_count(), 1u);
    EXPECT_EQ(cells.live_count(), 0u);
    EXPECT_EQ(cells.acquire(), small_slab::none);
    for (const auto handle : seen) {
        EXPECT_EQ(cells.find(handle), small_slab::none);
        EXPECT_TRUE(cells.may_have_issued(handle));
    }
}

// The generation wraps through zero and goes on until it would meet its start.
TEST(slab, generations_wrap_through_zero) {
    tactus::fixed_memory memory(bytes);
    small_slab cells({.memory = &memory,
                      .capacity = 1,
                      .first_generation = UINT32_MAX - 3,
                      .generation_count = 10});
    std::array<slab_handle, 5> seen{};
    for (std::size_t i = 0; i < seen.size(); ++i) {
        const auto index = cells.acquire();
        ASSERT_EQ(index, 0u);
        seen[i] = cells.handle_of(index);
        for (std::size_t j = 0; j < i; ++j) {
            EXPECT_FALSE(seen[i] == seen[j]);
            EXPECT_EQ(cells.find(seen[j]), small_slab::none);
            EXPECT_TRUE(cells.may_have_issued(seen[j]));
        }
        EXPECT_EQ(cells.find(seen[i]), 0u);
        cells.release(index);
    }
    EXPECT_EQ(cells.retired_count(), 1u);
    EXPECT_EQ(cells.acquire(), small_slab::none);
}

TEST(slab, the_narrowest_index_names_all_its_cells) {
    if constexpr (tactus_test::board::roomy) {
        alignas(16) static std::byte room[255 * sizeof(cell)];
        tactus::fixed_memory memory(room);
        tiny_slab cells({.memory = &memory, .capacity = tiny_slab::capacity_limit});
        for (unsigned i = 0; i < 255; ++i)
            ASSERT_NE(cells.acquire(), tiny_slab::none);
        EXPECT_EQ(cells.acquire(), tiny_slab::none);
        EXPECT_EQ(cells.live_count(), 255u);
        for (unsigned i = 0; i < 255; ++i)
            EXPECT_EQ(cells.find(cells.handle_of(static_cast<std::uint8_t>(i))), i);
    }
}

TEST(slab, grows_as_needed_and_gives_memory_back) {
    shrinking_memory memory;
    small_slab cells({.memory = &memory, .capacity = 100});
    EXPECT_EQ(cells.usable_count(), 0u);
    for (int i = 0; i < 100; ++i)
        ASSERT_NE(cells.acquire(), small_slab::none);
    EXPECT_EQ(cells.usable_count(), 100u);
    EXPECT_EQ(cells.acquire(), small_slab::none);
    for (std::uint16_t i = 0; i < 100; ++i)
        cells.release(i);
    cells.release_memory(10);
    EXPECT_EQ(cells.usable_count(), 10u);
    EXPECT_EQ(memory.size(), 10 * sizeof(cell));
    for (int i = 0; i < 100; ++i)
        EXPECT_NE(cells.acquire(), small_slab::none);
    EXPECT_EQ(cells.acquire(), small_slab::none);
}

// S3
TEST(slab, release_memory_never_brings_a_handle_back) {
    shrinking_memory memory;
    small_slab cells({.memory = &memory, .capacity = 6});
    static slab_handle old[80];
    std::size_t count = 0;
    for (unsigned round = 0; round < 8; ++round) {
        const std::size_t first = count;
        for (unsigned i = 0; i < 6; ++i) {
            const auto index = cells.acquire();
            ASSERT_NE(index, small_slab::none);
            old[count++] = cells.handle_of(index);
        }
        for (std::size_t i = 0; i < first; ++i)
            EXPECT_EQ(cells.find(old[i]), small_slab::none);
        for (std::size_t i = first; i < count; ++i) {
            EXPECT_EQ(cells.find(old[i]), old[i].index);
            cells.release(static_cast<std::uint16_t>(old[i].index));
        }
        // Some cells are used more often than others.
        for (unsigned i = 0; i < round; ++i) {
            const auto index = cells.acquire();
            ASSERT_NE(index, small_slab::none);
            old[count++] = cells.handle_of(index);
            cells.release(index);
        }
        cells.release_memory(round % 3 * 2);
        for (std::size_t i = 0; i < count; ++i) {
            EXPECT_EQ(cells.find(old[i]), small_slab::none);
            EXPECT_TRUE(cells.may_have_issued(old[i]));
        }
    }
}

// Forgetting a retired cell would bring its generations back.
TEST(slab, release_memory_keeps_retired_cells_retired) {
    shrinking_memory memory;
    small_slab cells({.memory = &memory, .capacity = 2, .generation_count = 4});
    const auto a = cells.acquire();
    const auto b = cells.acquire();
    const slab_handle old = cells.handle_of(b);
    cells.release(b);
    EXPECT_EQ(cells.acquire(), b);
    const slab_handle last = cells.handle_of(b);
    cells.release(b);
    EXPECT_EQ(cells.retired_count(), 1u);
    cells.release(a);
    cells.release_memory(0);
    for (unsigned i = 0; i < 4; ++i) {
        const auto index = cells.acquire();
        if (index == small_slab::none)
            break;
        EXPECT_FALSE(cells.handle_of(index) == old);
        EXPECT_FALSE(cells.handle_of(index) == last);
        cells.release(index);
    }
    EXPECT_EQ(cells.find(old), small_slab::none);
    EXPECT_EQ(cells.find(last), small_slab::none);
}

// Random use against a model that remembers which handles live.
TEST(slab, agrees_with_a_naive_model) {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        shrinking_memory memory;
        constexpr std::size_t capacity = 12;
        small_slab cells({.memory = &memory,
                          .capacity = capacity,
                          .first_generation = static_cast<std::uint32_t>(0u - 2 * seed)});
        slab_handle live[capacity] = {};
        std::uint16_t values[capacity] = {};
        slab_handle dead[32] = {};
        std::size_t live_count = 0;
        std::size_t dead_count = 0;
        tactus::det_rng rng(seed);
        for (std::uint16_t step = 0; step < 600; ++step) {
            if (rng.next_bool()) {
                const auto index = cells.acquire();
                ASSERT_EQ(index == small_slab::none, live_count == capacity);
                if (index == small_slab::none)
                    continue;
                cells[index].value = step;
                values[live_count] = step;
                live[live_count++] = cells.handle_of(index);
            } else if (live_count > 0) {
                const auto at = static_cast<std::size_t>(rng.below(live_count));
                const auto index = cells.find(live[at]);
                ASSERT_NE(index, small_slab::none);
                EXPECT_EQ(cells[index].value, values[at]);
                cells.release(index);
                dead[dead_count++ % 32] = live[at];
                live[at] = live[--live_count];
                values[at] = values[live_count];
            }
            if (live_count == 0)
                cells.release_memory(static_cast<std::size_t>(rng.below(8)));
            EXPECT_EQ(cells.live_count(), live_count);
            for (std::size_t i = 0; i < live_count; ++i)
                EXPECT_EQ(cells.find(live[i]), live[i].index);
            for (std::size_t i = 0; i < dead_count && i < 32; ++i) {
                EXPECT_EQ(cells.find(dead[i]), small_slab::none);
                EXPECT_TRUE(cells.may_have_issued(dead[i]));
            }
        }
    }
}

// A cell that was used up stays retired, and what lies beyond it is given back all the same.
TEST(slab, memory_beyond_a_retired_cell_is_given_back) {
    shrinking_memory memory;
    small_slab cells({.memory = &memory, .capacity = 100, .generation_count = 8});
    for (int i = 0; i < 4; ++i)
        cells.release(cells.acquire());
    EXPECT_EQ(cells.retired_count(), 1u);
    std::array<std::uint16_t, 90> taken{};
    for (auto& index : taken)
        index = cells.acquire();
    for (const auto index : taken)
        cells.release(index);
    cells.release_memory(4);
    EXPECT_EQ(cells.usable_count(), 4u);
    EXPECT_EQ(cells.retired_count(), 1u);
    for (int i = 0; i < 99; ++i)
        EXPECT_NE(cells.acquire(), small_slab::none);
    EXPECT_EQ(cells.acquire(), small_slab::none);
}

// One hot cell does not age the others away: memory is kept rather than their generations lost.
TEST(slab, giving_memory_back_does_not_use_up_the_cells) {
    shrinking_memory memory;
    small_slab cells({.memory = &memory, .capacity = 64, .generation_count = 40});
    for (int round = 0; round < 6; ++round) {
        std::array<std::uint16_t, 60> taken{};
        for (auto& index : taken) {
            index = cells.acquire();
            ASSERT_NE(index, small_slab::none);
        }
        for (std::size_t i = taken.size(); i-- > 0;)
            cells.release(taken[i]);
        for (int i = 0; i < 3; ++i) {  // the last one released is the hot one
            const auto hot = cells.acquire();
            cells.release(hot);
        }
        cells.release_memory(4);
    }
    EXPECT_LE(cells.retired_count(), 4u);
}
