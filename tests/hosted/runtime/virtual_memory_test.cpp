// SPDX-License-Identifier: Apache-2.0
//
// Virtual memory: grows in place, gives back, refuses beyond its maximum.
#include <tactus/runtime/virtual_memory.hpp>

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <vector>

using tactus::runtime::virtual_memory;

namespace {

/// By a call that reads there: it says so where a look would end the program.
bool is_open(const std::byte* at) {
    int ends[2] = {};
    EXPECT_EQ(pipe(ends), 0);
    const bool is = write(ends[1], at, 1) == 1;
    if (!is) {
        EXPECT_EQ(errno, EFAULT);
    }
    close(ends[0]);
    close(ends[1]);
    return is;
}

}  // namespace

TEST(virtual_memory, grows_without_moving_and_keeps_contents) {
    virtual_memory region(64u << 20);
    ASSERT_GE(region.size_max(), 64u << 20);
    EXPECT_EQ(region.size(), 0u);
    ASSERT_TRUE(region.resize(1000));
    std::byte* const at = region.data();
    at[999] = std::byte{7};
    ASSERT_TRUE(region.resize(32u << 20));
    EXPECT_EQ(region.data(), at);
    EXPECT_EQ(at[999], std::byte{7});
    at[(32u << 20) - 1] = std::byte{9};
}

TEST(virtual_memory, pages_given_back_come_back_empty) {
    virtual_memory region(16u << 20);
    ASSERT_TRUE(region.resize(8u << 20));
    region.data()[7u << 20] = std::byte{1};
    ASSERT_TRUE(region.resize(4096));
    EXPECT_EQ(region.size(), 4096u);
    ASSERT_TRUE(region.resize(8u << 20));
    EXPECT_EQ(region.data()[7u << 20], std::byte{0});
}

TEST(virtual_memory, pages_it_does_not_have_are_closed_and_not_there) {
    constexpr std::size_t large = 8u << 20;
    virtual_memory region(16u << 20);
    ASSERT_GE(region.size_max(), 16u << 20);
    EXPECT_FALSE(is_open(region.data()));
    ASSERT_TRUE(region.resize(large));
    EXPECT_TRUE(is_open(region.data()));
    EXPECT_TRUE(is_open(region.data() + large - 1));
    EXPECT_FALSE(is_open(region.data() + large));
    std::fill_n(region.data(), large, std::byte{1});
    ASSERT_TRUE(region.resize(5000));
    EXPECT_TRUE(is_open(region.data() + 8191));
    EXPECT_FALSE(is_open(region.data() + 8192));
    EXPECT_FALSE(is_open(region.data() + large - 1));
    std::vector<unsigned char> resident(large / 4096);
    ASSERT_EQ(mincore(region.data(), large, resident.data()), 0);
    EXPECT_TRUE(std::all_of(resident.begin() + 2, resident.end(),
                            [](unsigned char c) { return (c & 1U) == 0; }));
    ASSERT_TRUE(region.resize(large));
    EXPECT_TRUE(is_open(region.data() + large - 1));
    EXPECT_EQ(region.data()[8191], std::byte{1});
    EXPECT_EQ(region.data()[8192], std::byte{0});
}

TEST(virtual_memory, forgotten_pages_stay_usable_and_read_as_zeros) {
    virtual_memory region(16u << 20);
    ASSERT_TRUE(region.resize(8u << 20));
    region.data()[4095] = std::byte{1};
    region.data()[4096] = std::byte{2};
    region.data()[7u << 20] = std::byte{3};
    EXPECT_TRUE(region.forget(1000));
    EXPECT_EQ(region.size(), 8u << 20);
    EXPECT_EQ(region.data()[4095], std::byte{1});
    EXPECT_EQ(region.data()[4096], std::byte{0});
    EXPECT_EQ(region.data()[7u << 20], std::byte{0});
    region.data()[7u << 20] = std::byte{4};
    EXPECT_TRUE(region.forget(8u << 20));
    EXPECT_EQ(region.data()[7u << 20], std::byte{4});
}

TEST(virtual_memory, refuses_more_than_its_maximum_and_changes_nothing) {
    virtual_memory region(8192);
    ASSERT_TRUE(region.resize(4096));
    EXPECT_FALSE(region.resize(region.size_max() + 1));
    EXPECT_EQ(region.size(), 4096u);
}

TEST(virtual_memory, an_impossible_reservation_has_no_room_at_all) {
    const virtual_memory region(SIZE_MAX);
    EXPECT_EQ(region.size_max(), 0u);
}

TEST(virtual_memory, large_regions_begin_at_a_huge_page) {
    const virtual_memory region(64u << 20);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(region.data()) % (2u << 20), 0u);
}

// BP-1: all of it is there from the start, and stays.
TEST(virtual_memory, BP_1_pages_taken_at_once_stay) {
    virtual_memory region(8u << 20, virtual_memory::pages::at_once);
    ASSERT_GE(region.size_max(), 8u << 20);
    EXPECT_EQ(region.size(), region.size_max());
    std::vector<unsigned char> resident(region.size() / 4096);
    ASSERT_EQ(mincore(region.data(), region.size(), resident.data()), 0);
    EXPECT_TRUE(std::ranges::all_of(resident, [](unsigned char c) { return (c & 1U) != 0; }));
    region.data()[7u << 20] = std::byte{1};
    EXPECT_TRUE(region.resize(4096));
    EXPECT_EQ(region.size(), region.size_max());
    EXPECT_EQ(region.data()[7u << 20], std::byte{1});
    EXPECT_FALSE(region.resize(region.size_max() + 1));
    EXPECT_FALSE(region.forget(4096));
    EXPECT_EQ(region.data()[7u << 20], std::byte{1});
}
