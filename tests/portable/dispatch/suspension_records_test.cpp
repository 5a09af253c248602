// SPDX-License-Identifier: Apache-2.0
//
// Goal: a record is found by its actor, its condition and its timer, and by nothing else, in the
// order of adding (CO-4, CO-6).
// Method: by hand where order shows; random programs beside a model that looks at everything.
#include <tactus/dispatch/suspension_records.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

#include <tactus/base/det_rng.hpp>

#include "portable_test.hpp"
#include "test_memory.hpp"

using tactus::mailbox_index;
using tactus::suspension_record;
using tactus::suspension_records;
using tactus::timer_handle;
using kind = tactus::resume_condition::kind;

namespace {

constexpr std::uint32_t none = suspension_records::none;
constexpr unsigned count_max = tactus_test::board::roomy ? 64 : 12;

suspension_record for_signal(std::uint32_t who, std::uint64_t key) {
    return {.who = {who, 1}, .key = key, .on = kind::external_signal};
}
suspension_record until(std::uint32_t who, timer_handle timer) {
    return {.who = {who, 1}, .timer = timer, .on = kind::after};
}

/// What is live, in the order it was added; every question looks at all of it.
class naive_records {
public:
    struct row {
        std::uint32_t at;
        suspension_record r;
    };
    void add(std::uint32_t at, const suspension_record& r) { rows_[count_++] = {at, r}; }
    void remove(std::uint32_t at) {
        unsigned i = 0;
        while (rows_[i].at != at)
            ++i;
        for (--count_; i < count_; ++i)
            rows_[i] = rows_[i + 1];
    }
    [[nodiscard]] unsigned count() const { return count_; }
    [[nodiscard]] const row& at(unsigned i) const { return rows_[i]; }
    [[nodiscard]] std::uint32_t oldest(kind on, std::uint64_t key) const {
        for (unsigned i = 0; i < count_; ++i) {
            if (rows_[i].r.on == on && rows_[i].r.key == key)
                return rows_[i].at;
        }
        return none;
    }
    [[nodiscard]] bool has(mailbox_index who) const {
        for (unsigned i = 0; i < count_; ++i) {
            if (rows_[i].r.who == who)
                return true;
        }
        return false;
    }

private:
    row rows_[count_max] = {};
    unsigned count_ = 0;
};

class duel {
public:
    explicit duel(std::uint64_t seed) : rng_(seed) {}

    void step() {
        if (naive_.count() == count_max || (naive_.count() != 0 && rng_.below(5) < 2))
            remove_some();
        else
            add_some();
        EXPECT_EQ(records_.size(), naive_.count());
        for (unsigned i = 0; i < naive_.count(); ++i) {
            const suspension_record& r = naive_.at(i).r;
            EXPECT_EQ(records_.of_timer(r.who, r.timer), naive_.at(i).at);
            EXPECT_EQ(records_.of_timer({r.who.slot + actors, 1}, r.timer), none);
        }
        for (std::uint64_t key = 0; key < keys; ++key)
            EXPECT_EQ(records_.oldest(kind::external_signal, key),
                      naive_.oldest(kind::external_signal, key));
        EXPECT_EQ(records_.oldest(kind::when_capacity_available, 0),
                  naive_.oldest(kind::when_capacity_available, 0));
        for (std::uint32_t slot = 0; slot < actors; ++slot) {
            const mailbox_index who{slot, 1};
            const std::uint32_t found = records_.of_actor(who);
            EXPECT_EQ(found != none, naive_.has(who));
            if (found != none) {
                EXPECT_EQ(records_[found].who, who);
            }
        }
    }
    [[nodiscard]] std::uint32_t used() const { return records_.used(); }
    [[nodiscard]] std::size_t live_blocks() const { return memory_.live_blocks; }

private:
    static constexpr std::uint64_t keys = 6;
    static constexpr std::uint32_t actors = 9;

    void add_some() {
        suspension_record r{.who = {static_cast<std::uint32_t>(rng_.below(actors)), 1}};
        r.on = static_cast<kind>(rng_.below(3));
        if (r.on == kind::external_signal)
            r.key = rng_.below(keys);
        r.timer = timer_handle(1, ++last_timer_);
        const std::uint32_t at = records_.add(r);
        ASSERT_NE(at, none);
        naive_.add(at, r);
    }
    void remove_some() {
        std::uint32_t at = none;
        switch (rng_.below(3)) {
        case 0:
            at = records_.oldest(kind::external_signal, rng_.below(keys));
            break;
        case 1:
            at = records_.of_actor({static_cast<std::uint32_t>(rng_.below(actors)), 1});
            break;
        default:
            at = naive_.at(static_cast<unsigned>(rng_.below(naive_.count()))).at;
            break;
        }
        if (at == none)
            return;
        records_.remove(at);
        naive_.remove(at);
    }

    [[nodiscard]] static std::span<std::byte> bytes() {
        alignas(16) static std::byte some[count_max * 4 * 160];
        return some;
    }

    tactus::det_rng rng_;
    std::uint32_t last_timer_ = 0;
    tactus_test::test_memory memory_{bytes()};
    suspension_records records_{memory_, 2};
    naive_records naive_;
};

struct small_records {
    alignas(16) std::byte bytes[3'072] = {};
    tactus_test::test_memory memory{bytes};
    suspension_records records{memory, 4};
};

}  // namespace

// CO-6
TEST(suspension_records, random_programs_agree_with_a_list) {
    constexpr unsigned steps = tactus_test::board::random_operations / 20;
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
        duel d(seed);
        for (unsigned i = 0; i < steps; ++i)
            d.step();
        EXPECT_LE(d.used(), count_max);
        EXPECT_EQ(d.live_blocks(), 1u);
    }
}

// CO-6: in the order of suspension, though the first leaves, or one in the middle, or the last.
TEST(suspension_records, who_waits_for_a_key_is_found_in_order) {
    for (unsigned leaves = 0; leaves < 4; ++leaves) {
        small_records s;
        std::uint32_t at[4];
        for (unsigned i = 0; i < 4; ++i)
            at[i] = s.records.add(for_signal(i, 7));
        s.records.remove(at[leaves]);
        for (unsigned i = 0; i < 4; ++i) {
            if (i == leaves)
                continue;
            EXPECT_EQ(s.records.oldest(kind::external_signal, 7), at[i]);
            s.records.remove(at[i]);
        }
        EXPECT_EQ(s.records.oldest(kind::external_signal, 7), none);
        EXPECT_EQ(s.records.size(), 0u);
    }
}

// CO-4: one actor's records are told apart by their timers; a stale timer is nobody's.
TEST(suspension_records, CO_4_a_timer_names_one_record_of_its_actor) {
    small_records s;
    const std::uint32_t a = s.records.add(until(1, {5, 1}));
    const std::uint32_t b = s.records.add(until(1, {6, 1}));
    const std::uint32_t c = s.records.add(until(2, {5, 2}));
    EXPECT_EQ(s.records.of_timer({1, 1}, {5, 1}), a);
    EXPECT_EQ(s.records.of_timer({1, 1}, {6, 1}), b);
    EXPECT_EQ(s.records.of_timer({2, 1}, {5, 2}), c);
    EXPECT_EQ(s.records.of_timer({2, 1}, {5, 1}), none);
    EXPECT_EQ(s.records.of_timer({1, 2}, {5, 1}), none);
    s.records.remove(a);
    EXPECT_EQ(s.records.of_timer({1, 1}, {5, 1}), none);
    EXPECT_EQ(s.records.of_timer({1, 1}, {6, 1}), b);
}

// The same actor in another life is another.
TEST(suspension_records, an_actor_is_slot_and_generation) {
    small_records s;
    const std::uint32_t at = s.records.add(for_signal(1, 7));
    EXPECT_EQ(s.records.of_actor({1, 2}), none);
    EXPECT_EQ(s.records.of_actor({2, 1}), none);
    EXPECT_EQ(s.records.of_actor({1, 1}), at);
}

TEST(suspension_records, what_is_there_survives_growing_and_growing_in_vain) {
    small_records s;
    for (std::uint32_t i = 0; i < 8; ++i)
        EXPECT_NE(s.records.add(for_signal(i, i % 2)), none);
    s.memory.refusing = true;
    EXPECT_EQ(s.records.add(until(9, {1, 1})), none);
    EXPECT_EQ(s.records.size(), 8u);
    for (std::uint32_t i = 0; i < 8; ++i) {
        const std::uint32_t at = s.records.oldest(kind::external_signal, i % 2);
        EXPECT_EQ(s.records[at].who.slot, i);
        EXPECT_EQ(s.records.of_actor({i, 1}), at);
        s.records.remove(at);
    }
    s.memory.refusing = false;
    EXPECT_EQ(s.memory.live_blocks, 1u);
}
