// SPDX-License-Identifier: Apache-2.0
//
// Goal: who is told what, and what subscribe and unsubscribe answer, after any operations (EV-1).
// Method: random ones on a stream and on a naive model, which keeps everything that was ever asked
// for and evaluates the definition:
//
//     a subscription to P passes events of T on, when T is P or below it, and since it was last
//     asked for nobody unsubscribed a channel that T is or is below, and that lies above or below P
//
// An operation changed something exactly when some subscription passes something else on than
// before.
#include <tactus/actor/event_stream.hpp>
#include <tactus/base/det_rng.hpp>
#include <tactus/runtime/heap_memory.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bitset>
#include <cstdint>
#include <optional>
#include <vector>

#include "event_rig.hpp"

using namespace tactus_test;  // NOLINT: the whole vocabulary is used

namespace {

/// The bases of each, itself first, nearest first: by hand, as the comment of the family says.
const std::array<std::vector<family>, family_size> all_above{{
    {is_a},
    {is_b2, is_a},
    {is_b3, is_a},
    {is_c, is_b2, is_a},
    {is_at},
    {is_bt},
    {is_cc},
    {is_ccatbt, is_cc, is_at, is_bt},
    {is_top},
    {is_left, is_top},
    {is_right, is_top},
    {is_bottom, is_left, is_right, is_top},
}};
const std::vector<family>& above(family t) {
    return all_above[static_cast<std::size_t>(t)];
}
bool is_or_below(family t, family other) {
    return std::ranges::find(above(t), other) != above(t).end();
}

class naive_subscriber {
public:
    using passing = std::bitset<family_size * family_size>;

    /// True: something changed.
    bool subscribe(family f) { return add({true, f}); }
    bool unsubscribe(family f) { return add({false, f}); }
    bool forget() {
        const bool some = passes().any();
        asked_.clear();
        return some;
    }
    [[nodiscard]] bool knows() const { return passes().any(); }
    [[nodiscard]] std::optional<family> told_as(family t) const {
        for (const family p : above(t)) {
            if (passes_on(t, p))
                return p;
        }
        return {};
    }

private:
    struct request {
        bool subscribes;
        family channel;
    };
    [[nodiscard]] bool passes_on(family t, family p) const {
        bool on = false;
        for (const request& r : asked_) {
            if (r.subscribes && r.channel == p)
                on = true;
            if (!r.subscribes && is_or_below(t, r.channel) &&
                (is_or_below(r.channel, p) || is_or_below(p, r.channel)))
                on = false;
        }
        return on && is_or_below(t, p);
    }
    [[nodiscard]] passing passes() const {
        passing all;
        for (std::size_t t = 0; t < family_size; ++t) {
            for (std::size_t p = 0; p < family_size; ++p)
                all[t * family_size + p] =
                    passes_on(static_cast<family>(t), static_cast<family>(p));
        }
        return all;
    }
    bool add(request r) {
        const passing before = passes();
        asked_.push_back(r);
        return passes() != before;
    }

    std::vector<request> asked_;
};

/// Three subscribers, in the order in which they are told.
class duel {
public:
    explicit duel(std::uint64_t seed) : random_(seed) {}

    void step() {
        const auto who = static_cast<std::size_t>(random_.below(3));
        const auto f = static_cast<family>(random_.below(family_size));
        const auto listener = static_cast<std::int32_t>(who + 1);
        const bool was_known = naive_[who].knows();
        switch (random_.below(16)) {
        case 0:
            EXPECT_EQ(real_.unsubscribe(listener), naive_[who].forget());
            break;
        case 1:
        case 2:
        case 3:
        case 4:
        case 5:
            EXPECT_EQ(real_.subscribe(listener, f), naive_[who].subscribe(f));
            break;
        case 6:
        case 7:
        case 8:
            EXPECT_EQ(real_.unsubscribe(listener, f), naive_[who].unsubscribe(f));
            break;
        default:
            publish(f);
            break;
        }
        const bool is_known = naive_[who].knows();
        EXPECT_EQ(real_.stream.knows(real_.who[who]), is_known);
        if (was_known != is_known) {
            std::erase(order_, who);
            if (is_known)
                order_.push_back(who);
        }
        EXPECT_EQ(real_.stream.is_empty(), order_.empty());
    }
    [[nodiscard]] std::uint64_t told_count() const { return told_; }

private:
    void publish(family f) {
        real_.publish({f});
        std::vector<std::int32_t> expected;
        for (const std::size_t who : order_) {
            if (const auto as = naive_[who].told_as(f))
                expected.push_back(told(static_cast<std::int32_t>(who + 1), *as, 1));
        }
        std::vector<std::int32_t> seen;
        for (unsigned i = 0; i < journal().count(); ++i)
            seen.push_back(journal().at(i));
        journal().clear();
        EXPECT_EQ(seen, expected);
        told_ += seen.size();
    }

    tactus::det_rng random_;
    event_rig real_;
    std::array<naive_subscriber, 3> naive_;
    std::vector<std::size_t> order_;
    std::uint64_t told_ = 0;
};

}  // namespace

// EV-1, PK-EVT-1, PK-EVT-2, PK-EVT-3
TEST(event_stream_model, EV_1_random_operations_agree_with_the_definition) {
    std::uint64_t told_in_all = 0;
    // Many short ones: the model looks at everything that was ever asked for.
    for (std::uint64_t seed = 1; seed <= 60 && !::testing::Test::HasFailure(); ++seed) {
        duel both(seed);
        for (unsigned n = 0; n < 100 && !::testing::Test::HasFailure(); ++n)
            both.step();
        if (::testing::Test::HasFailure())
            TEST_LOG("event_stream_model: seed", seed);
        told_in_all += both.told_count();
    }
    EXPECT_GT(told_in_all, 1'000u);
}
