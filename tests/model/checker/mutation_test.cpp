// SPDX-License-Identifier: Apache-2.0
//
// MC-4: each end of a named edge can be weakened, and a test that needs it fails.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include <tactus/port/model.hpp>

namespace port = tactus::port;
namespace model = tactus::port::model;
using model::edge_end;

namespace {

struct channel {
    static constexpr port::edge published{"test-published"};
    static constexpr port::edge dropped{"test-dropped"};
    static constexpr port::edge decided{"test-decided"};
};

void message_passing() {
    port::plain<unsigned> payload{0};
    port::atomic<bool> ready{false};
    model::thread sender([&] {
        payload.write(1);
        ready.store(true, channel::published.release());
    });
    if (ready.load(channel::published.acquire()))
        model::require(payload.read() == 1);
}

void reference_counting() {
    struct counted {
        port::atomic<unsigned> references{2};
        port::plain<unsigned> value{0};
    };
    auto* shared = model::make<counted>();
    const auto drop = [=] {
        static_cast<void>(shared->value.read());
        if (shared->references.fetch_sub(1, channel::dropped.acq_rel()) == 1)
            model::dispose(shared);
    };
    model::thread other(drop);
    drop();
}

void mutual_exclusion() {
    port::atomic<unsigned> mine{0};
    port::atomic<unsigned> yours{0};
    port::plain<unsigned> inside{0};
    const auto enter = [&](auto& own, auto& other) {
        own.store(1, channel::decided.seq_cst());
        if (other.load(channel::decided.seq_cst()) == 0)
            inside.write(1);
    };
    model::thread other([&] { enter(yours, mine); });
    enter(mine, yours);
}

struct case_of_edge {
    const char* name;
    void (*body)();
    std::vector<edge_end> ends;
};

const case_of_edge cases[] = {
    {"test-published", message_passing, {edge_end::acquire, edge_end::release}},
    {"test-dropped", reference_counting, {edge_end::acq_rel_acquire, edge_end::acq_rel_release}},
    {"test-decided", mutual_exclusion, {edge_end::seq_cst, edge_end::seq_cst_whole}},
};

}  // namespace

TEST(mutation, MC4_every_end_is_seen_and_its_mutation_is_found) {
    for (const case_of_edge& c : cases) {
        model::forget_edges_seen();
        const model::report whole = model::check({}, c.body);
        EXPECT_TRUE(whole.ok && whole.exhaustive) << whole.text;
        const std::vector<model::edge_use> seen = model::edges_seen();
        ASSERT_EQ(seen.size(), c.ends.size());
        for (std::size_t i = 0; i < seen.size(); ++i) {
            EXPECT_EQ(seen[i].name, c.name);
            EXPECT_EQ(seen[i].end, c.ends[i]);
            ASSERT_FALSE(seen[i].places.empty());
            EXPECT_EQ(seen[i].places[0].rfind("mutation_test.cpp:", 0), 0u);
            const model::mutation weaker(seen[i].name, seen[i].end);
            const model::report r = model::check({}, c.body);
            EXPECT_FALSE(r.ok) << c.name << " lost its " << model::to_text(seen[i].end);
            EXPECT_GT(weaker.uses(), 0u);
        }
        EXPECT_TRUE(model::check({}, c.body).ok);
    }
}

// A release that is not needed hides behind one that is, until each place is weakened alone.
TEST(mutation, MC4_one_place_alone_can_be_weakened) {
    const auto body = [] {
        port::plain<unsigned> payload{0};
        port::atomic<unsigned> ready{0};
        model::thread sender([&] {
            ready.store(1, channel::published.release());  // nobody learns anything from it
            payload.write(1);
            ready.store(2, channel::published.release());
        });
        if (ready.load(channel::published.acquire()) == 2)
            model::require(payload.read() == 1);
    };
    model::forget_edges_seen();
    EXPECT_TRUE(model::check({}, body).ok);
    const std::vector<model::edge_use> seen = model::edges_seen();
    ASSERT_EQ(seen.size(), 2u);
    ASSERT_EQ(seen[1].places.size(), 2u);
    for (std::size_t i = 0; i < 2; ++i) {
        const model::mutation weaker(seen[1].name, seen[1].end, seen[1].places[i]);
        EXPECT_EQ(model::check({}, body).ok, i == 0) << seen[1].places[i];
        EXPECT_GT(weaker.uses(), 0u);
    }
}

TEST(mutation, MC4_another_edge_is_left_alone) {
    const model::mutation other("test-dropped", edge_end::acquire);
    EXPECT_TRUE(model::check({}, message_passing).ok);
    EXPECT_EQ(other.uses(), 0u);
}

// Outside of a check, edges give their orders and are not recorded.
TEST(mutation, MC4_an_edge_is_its_order) {
    model::forget_edges_seen();
    EXPECT_EQ(channel::published.acquire(), std::memory_order_acquire);
    EXPECT_EQ(channel::published.release(), std::memory_order_release);
    EXPECT_EQ(channel::published.acq_rel(), std::memory_order_acq_rel);
    EXPECT_EQ(channel::published.seq_cst(), std::memory_order_seq_cst);
    EXPECT_TRUE(model::edges_seen().empty());
}
