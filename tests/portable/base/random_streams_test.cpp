// SPDX-License-Identifier: Apache-2.0
//
// Goal: one seed, and streams that have nothing to do with each other (DT-4).
// Method: SplitMix64's published numbers; every pair of streams; drawing from one, looking at the
// others.
#include <tactus/base/random_streams.hpp>

#include <cstdint>

#include "portable_test.hpp"

using tactus::random_stream;
using tactus::random_streams;

namespace {

constexpr random_stream all[] = {random_stream::scheduling, random_stream::faults,
                                 random_stream::user, random_stream::jitter};
static_assert(std::size(all) == tactus::random_stream_count);

}  // namespace

// DT-4: the reference's first outputs for seed 1234567.
TEST(random_streams, seeds_are_mixed_by_split_mix_64) {
    constexpr std::uint64_t published[] = {6'457'827'717'110'365'317u, 3'203'168'211'198'807'973u,
                                           9'817'491'932'198'370'423u, 4'593'380'528'125'082'431u,
                                           16'408'922'859'458'223'821u};
    for (unsigned i = 0; i < std::size(published); ++i)
        EXPECT_EQ(tactus::split_mix(1'234'567, i), published[i]);
}

// DT-4: also of workers 0 and 1, whose streams are the same in parity mode.
TEST(random_streams, no_two_streams_of_any_worker_are_alike) {
    constexpr unsigned workers = 4;
    for (const std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{1}, ~std::uint64_t{0}}) {
        std::uint64_t firsts[workers * std::size(all)];
        unsigned count = 0;
        for (std::uint32_t w = 0; w < workers; ++w) {
            random_streams streams(seed, w);
            for (const random_stream which : all)
                firsts[count++] = streams[which].next_u64();
        }
        for (unsigned i = 0; i < count; ++i) {
            for (unsigned j = i + 1; j < count; ++j)
                EXPECT_NE(firsts[i], firsts[j]);
        }
    }
}

// DT-4: drawing from one does not move another.
TEST(random_streams, drawing_from_one_moves_no_other) {
    for (const random_stream drawn : all) {
        random_streams streams(42, 3);
        const random_streams before = streams;
        for (unsigned i = 0; i < 10; ++i)
            (void)streams[drawn].next_u64();
        for (const random_stream other : all)
            EXPECT_EQ(streams[other].state() == before[other].state(), other != drawn);
    }
}

// DT-4: the same on every machine, and from seed and number alone.
TEST(random_streams, a_seed_and_a_worker_are_the_whole_stream) {
    for (const random_stream which : all) {
        random_streams a(7, 2);
        random_streams b(7, 2);
        EXPECT_EQ(a[which].next_u64(), b[which].next_u64());
        EXPECT_EQ(a[which].state(), tactus::det_rng(tactus::stream_seed(7, 2, which)).next_u64());
        EXPECT_NE(tactus::stream_seed(7, 2, which), tactus::stream_seed(8, 2, which));
    }
}
