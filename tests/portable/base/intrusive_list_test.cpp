// SPDX-License-Identifier: Apache-2.0
//
// Goal: the list keeps its order, and elements can leave and die at any time (L1, L2).
// Method: scripts, and random operations against an array.
#include <tactus/base/det_rng.hpp>
#include <tactus/base/intrusive_list.hpp>

#include <array>
#include <cstddef>
#include <initializer_list>
#include <optional>

#include "portable_test.hpp"

namespace {

struct other_tag {};

struct item : tactus::list_hook<>, tactus::list_hook<other_tag> {
    int value = 0;
    explicit item(int v = 0) : value(v) {}
    bool in_list() const { return tactus::list_hook<>::linked(); }
    void leave() { tactus::list_hook<>::unlink(); }
};

using list = tactus::intrusive_list<item>;
using other_list = tactus::intrusive_list<item, other_tag>;

template <class List>
bool holds(List& l, std::initializer_list<int> expected) {
    auto it = l.begin();
    for (const int value : expected) {
        if (it == l.end() || it->value != value)
            return false;
        ++it;
    }
    return it == l.end() && l.empty() == (expected.size() == 0);
}

}  // namespace

TEST(intrusive_list, starts_empty) {
    list l;
    EXPECT_TRUE(l.empty());
    EXPECT_TRUE(l.pop_front() == nullptr);
    EXPECT_TRUE(l.begin() == l.end());
}

TEST(intrusive_list, keeps_the_order_of_both_ends) {
    item a(1);
    item b(2);
    item c(3);
    list l;
    l.push_back(b);
    EXPECT_TRUE(&l.front() == &b && &l.back() == &b);
    l.push_back(c);
    l.push_front(a);
    EXPECT_TRUE(holds(l, {1, 2, 3}));
    EXPECT_TRUE(&l.front() == &a);
    EXPECT_TRUE(&l.back() == &c);
    EXPECT_TRUE(l.pop_front() == &a);
    EXPECT_FALSE(a.in_list());
    EXPECT_TRUE(holds(l, {2, 3}));
}

TEST(intrusive_list, elements_leave_from_anywhere_and_may_come_back) {
    item items[] = {item(0), item(1), item(2), item(3)};
    list l;
    for (auto& i : items)
        l.push_back(i);
    items[1].leave();
    EXPECT_FALSE(items[1].in_list());
    EXPECT_TRUE(holds(l, {0, 2, 3}));
    items[1].leave();  // no effect
    items[0].leave();
    items[3].leave();
    EXPECT_TRUE(holds(l, {2}));
    l.push_front(items[3]);
    l.push_back(items[0]);
    EXPECT_TRUE(holds(l, {3, 2, 0}));
}

TEST(intrusive_list, an_element_unlinks_itself_when_destroyed) {
    item a(1);
    item c(3);
    list l;
    l.push_back(a);
    {
        item b(2);
        l.push_back(b);
        l.push_back(c);
        EXPECT_TRUE(holds(l, {1, 2, 3}));
    }
    EXPECT_TRUE(holds(l, {1, 3}));
    {
        list gone;
        item d(4);
        gone.push_back(d);
    }
}

TEST(intrusive_list, elements_survive_their_list) {
    item a(1);
    item b(2);
    {
        list l;
        l.push_back(a);
        l.push_back(b);
        EXPECT_TRUE(a.in_list());
    }
    EXPECT_FALSE(a.in_list());
    EXPECT_FALSE(b.in_list());
    list again;
    again.push_back(a);
    EXPECT_TRUE(holds(again, {1}));
    again.clear();
    EXPECT_TRUE(again.empty());
    EXPECT_FALSE(a.in_list());
}

TEST(intrusive_list, splices_all_behind_its_own) {
    item items[] = {item(0), item(1), item(2), item(3)};
    list first;
    list second;
    first.splice_back(second);
    EXPECT_TRUE(first.empty());
    second.push_back(items[2]);
    second.push_back(items[3]);
    first.splice_back(second);
    EXPECT_TRUE(second.empty());
    EXPECT_TRUE(holds(first, {2, 3}));
    second.push_back(items[0]);
    second.push_back(items[1]);
    second.splice_back(first);
    EXPECT_TRUE(first.empty());
    EXPECT_TRUE(holds(second, {0, 1, 2, 3}));
    second.splice_back(first);
    EXPECT_TRUE(holds(second, {0, 1, 2, 3}));
    second.splice_back(second);
    EXPECT_TRUE(holds(second, {0, 1, 2, 3}));
    items[3].leave();
    items[0].leave();
    EXPECT_TRUE(holds(second, {1, 2}));
    first.push_back(items[0]);
    EXPECT_TRUE(holds(first, {0}));
}

// trap S20: two lists need two hooks.
TEST(intrusive_list, an_element_is_in_one_list_per_hook) {
    item a(1);
    item b(2);
    list l;
    other_list o;
    l.push_back(a);
    l.push_back(b);
    o.push_front(a);
    o.push_front(b);
    EXPECT_TRUE(holds(l, {1, 2}));
    EXPECT_TRUE(holds(o, {2, 1}));
    a.leave();
    EXPECT_TRUE(holds(l, {2}));
    EXPECT_TRUE(holds(o, {2, 1}));
}

TEST(intrusive_list, agrees_with_a_naive_model) {
    constexpr std::size_t count = 10;
    std::array<std::optional<item>, count> items;
    for (std::size_t i = 0; i < count; ++i)
        items[i].emplace(static_cast<int>(i));
    // Two lists, and which elements they should hold, in order.
    list lists[2];
    int model[2][count] = {};
    std::size_t sizes[2] = {};
    const auto drop = [&](int value) {
        for (std::size_t l = 0; l < 2; ++l) {
            std::size_t kept = 0;
            for (std::size_t i = 0; i < sizes[l]; ++i) {
                if (model[l][i] != value)
                    model[l][kept++] = model[l][i];
            }
            sizes[l] = kept;
        }
    };
    tactus::det_rng rng(7);
    for (unsigned step = 0; step < 2000; ++step) {
        const auto at = static_cast<std::size_t>(rng.below(count));
        const auto l = static_cast<std::size_t>(rng.below(2));
        item& chosen = *items[at];
        switch (rng.below(6)) {
        case 0:
        case 1:
            if (!chosen.in_list()) {
                lists[l].push_back(chosen);
                model[l][sizes[l]++] = chosen.value;
            }
            break;
        case 2:
            if (!chosen.in_list()) {
                lists[l].push_front(chosen);
                for (std::size_t i = sizes[l]++; i > 0; --i)
                    model[l][i] = model[l][i - 1];
                model[l][0] = chosen.value;
            }
            break;
        case 3:
            chosen.leave();
            drop(chosen.value);
            break;
        case 4:
            items[at].emplace(static_cast<int>(at));  // dies and is born again
            drop(static_cast<int>(at));
            break;
        default:
            if (rng.below(4) == 0) {
                lists[l].splice_back(lists[1 - l]);
                for (std::size_t i = 0; i < sizes[1 - l]; ++i)
                    model[l][sizes[l]++] = model[1 - l][i];
                sizes[1 - l] = 0;
            } else if (item* first = lists[l].pop_front()) {
                EXPECT_EQ(first->value, model[l][0]);
                drop(first->value);
            }
            break;
        }
        for (std::size_t which = 0; which < 2; ++which) {
            std::size_t i = 0;
            for (item& element : lists[which]) {
                ASSERT_LT(i, sizes[which]);
                ASSERT_EQ(element.value, model[which][i]);
                ++i;
            }
            ASSERT_EQ(i, sizes[which]);
        }
    }
}
