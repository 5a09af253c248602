// SPDX-License-Identifier: Apache-2.0
//
// Goal: certificates are the same for the same facts, in every build (DT-2, LN-6, INV-SC-06).
// Method: the vectors, and each field and each decision changed by itself.
#include <tactus/dispatch/certificates.hpp>

#include "portable_test.hpp"
#include "vectors.hpp"

namespace vectors = tactus_test::vectors;
using tactus::fairness_certificate;
using tactus::schedule_certificate;

namespace {

fairness_certificate from(const std::uint64_t (&f)[12]) {
    return {f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7], f[8], f[9], f[10] != 0, f[11]};
}

}  // namespace

// DT-2
TEST(certificates, the_witness_equals_every_vector) {
    for (const auto& row : vectors::witness) {
        const fairness_certificate c = from(row.fields);
        EXPECT_EQ(c.witness(), row.hash);
        EXPECT_EQ(c.holds(), row.holds);
        EXPECT_EQ(c.stall_bound(), row.fields[1] + 1);
    }
}

// DT-2: eleven integers little-endian in 8 bytes each, the flag in one. (The vectors' notes speak
// of 97 bytes; twelve such fields are 89, and their hashes are those of 89.)
TEST(certificates, the_witness_is_the_hash_of_twelve_fields_in_89_bytes) {
    for (const auto& row : vectors::witness) {
        tactus::det_hasher h;
        unsigned count = 0;
        const auto feed = [&](std::uint64_t byte) {
            h.add_byte(static_cast<std::uint8_t>(byte & 0xff));
            ++count;
        };
        for (unsigned i = 0; i < 12; ++i) {
            const unsigned width = i == 10 ? 1 : 8;
            for (unsigned b = 0; b < width; ++b)
                feed(row.fields[i] >> (8 * b));
        }
        EXPECT_EQ(count, 89u);
        EXPECT_EQ(h.finish(), from(row.fields).witness());
    }
}

// DT-2: the original's later layout puts four fields behind fairness_yields, the gap in one byte,
// which makes 114. Ours stays the one above; the same hasher and the same facts give those hashes,
// too. The facts are those of the third certificate, from which these differ in the four alone.
TEST(certificates, the_later_layout_is_hashed_alike) {
    const auto& facts = vectors::witness[2];
    for (const auto& row : vectors::later_witness) {
        tactus::det_hasher h;
        for (unsigned i = 0; i < 12; ++i) {
            if (i == 7) {
                h.add(row.ready_stall);
                h.add(row.timed_stall);
                h.add(row.inversions);
                h.add(row.gap);
            }
            if (i == 10)
                h.add(facts.fields[i] != 0);
            else
                h.add(facts.fields[i]);
        }
        EXPECT_EQ(h.finish(), row.hash);
        EXPECT_EQ(from(facts.fields).holds() && row.inversions == 0, row.holds);
    }
}

// sc-certificate-001, INV-SC-06
TEST(certificates, every_field_counts_and_equal_ones_agree) {
    std::uint64_t fields[12] = {16, 16, 3, 9, 2, 5, 1, 1, 0, 0, 0, 16};
    const fairness_certificate before = from(fields);
    EXPECT_EQ(before.witness(), from(fields).witness());
    for (unsigned i = 0; i < 12; ++i) {
        fields[i] ^= 1;
        EXPECT_NE(from(fields).witness(), before.witness());
        EXPECT_FALSE(from(fields) == before);
        fields[i] ^= 1;
    }
    EXPECT_TRUE(from(fields) == before);
}

// LN-6
TEST(certificates, hold_exactly_when_the_streak_kept_the_limit_in_force) {
    fairness_certificate c{};
    c.base_limit = 4;
    c.effective_limit = 8;
    c.observed_max_cancel_streak = 8;
    c.base_limit_exceedances = 4;  // allowed while a governor drains
    EXPECT_TRUE(c.holds());
    c.observed_max_cancel_streak = 9;
    EXPECT_FALSE(c.holds());
    c.observed_max_cancel_streak = 8;
    c.effective_limit_exceedances = 1;
    EXPECT_FALSE(c.holds());
}

// DT-2
TEST(certificates, the_schedule_hash_equals_the_vectors) {
    schedule_certificate c;
    std::uint64_t decisions = 0;
    for (const auto& row : vectors::schedule) {
        c.add(row.slot, row.generation, row.lane, row.step);
        EXPECT_EQ(c.hash(), row.hash);
        EXPECT_EQ(c.decisions(), ++decisions);
    }
}

// DT-2: sensitive to the order, and to each part of a decision.
TEST(certificates, the_schedule_hash_tells_orders_and_decisions_apart) {
    const auto of = [](auto... rows) {
        schedule_certificate c;
        (c.add(rows.slot, rows.generation, rows.lane, rows.step), ...);
        return c;
    };
    using row = vectors::schedule_row;
    const row a{1, 1, 0, 1, 0};
    const row b{2, 1, 0, 1, 0};
    EXPECT_TRUE(of(a, b) == of(a, b));
    EXPECT_NE(of(a, b).hash(), of(b, a).hash());
    EXPECT_NE(of(a).hash(), of(a, a).hash());
    EXPECT_NE(of(a).hash(), of(b).hash());
    EXPECT_NE(of(a).hash(), of(row{1, 2, 0, 1, 0}).hash());
    EXPECT_NE(of(a).hash(), of(row{1, 1, 3, 1, 0}).hash());
    EXPECT_NE(of(a).hash(), of(row{1, 1, 0, 2, 0}).hash());
}
