// SPDX-License-Identifier: Apache-2.0
//
// MC-1: litmus tests of the memory model. Each says which outcomes C++ allows, and the checker must
// reach those and no others.
#include <gtest/gtest.h>

#include <set>
#include <tuple>
#include <utility>

#include <tactus/port/model.hpp>

namespace port = tactus::port;
namespace model = tactus::port::model;
using std::memory_order_acq_rel;
using std::memory_order_acquire;
using std::memory_order_relaxed;
using std::memory_order_release;
using std::memory_order_seq_cst;

namespace {

constexpr model::options unbounded{.preemption_bound = {}};

using pair = std::pair<unsigned, unsigned>;

std::set<pair> store_buffering(std::memory_order store, std::memory_order load) {
    std::set<pair> outcomes;
    const model::report r = model::check(unbounded, [&] {
        port::atomic<unsigned> x{0};
        port::atomic<unsigned> y{0};
        unsigned left = 0;
        unsigned right = 0;
        {
            model::thread a([&] {
                x.store(1, store);
                left = y.load(load);
            });
            model::thread b([&] {
                y.store(1, store);
                right = x.load(load);
            });
        }
        outcomes.insert({left, right});
    });
    EXPECT_TRUE(r.ok && r.exhaustive) << r.text;
    return outcomes;
}

}  // namespace

TEST(litmus, MC1_store_buffering_is_seen_unless_all_is_seq_cst) {
    const std::set<pair> all{{0, 0}, {0, 1}, {1, 0}, {1, 1}};
    EXPECT_EQ(store_buffering(memory_order_relaxed, memory_order_relaxed), all);
    EXPECT_EQ(store_buffering(memory_order_release, memory_order_acquire), all);
    EXPECT_EQ(store_buffering(memory_order_release, memory_order_seq_cst), all);
    EXPECT_EQ(store_buffering(memory_order_seq_cst, memory_order_acquire), all);
    const std::set<pair> ordered{{0, 1}, {1, 0}, {1, 1}};
    EXPECT_EQ(store_buffering(memory_order_seq_cst, memory_order_seq_cst), ordered);
}
