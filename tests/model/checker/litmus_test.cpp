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

// Message passing: the payload is seen, and without the edge its use is a race.
TEST(litmus, MC1_message_passing_needs_release_and_acquire) {
    const auto passing = [](std::memory_order store, std::memory_order load) {
        return model::check(unbounded, [=] {
            port::plain<unsigned> payload{0};
            port::atomic<bool> ready{false};
            model::thread sender([&] {
                payload.write(42);
                ready.store(true, store);
            });
            if (ready.load(load))
                model::require(payload.read() == 42);
        });
    };
    const model::report right = passing(memory_order_release, memory_order_acquire);
    EXPECT_TRUE(right.ok && right.exhaustive) << right.text;
    EXPECT_EQ(passing(memory_order_relaxed, memory_order_acquire).kind, model::failure::race);
    EXPECT_EQ(passing(memory_order_release, memory_order_relaxed).kind, model::failure::race);
    EXPECT_EQ(passing(memory_order_relaxed, memory_order_relaxed).kind, model::failure::race);
}

TEST(litmus, MC1_a_relaxed_message_may_be_stale) {
    const auto stale = [](std::memory_order store, std::memory_order load) {
        return model::check(unbounded, [=] {
            port::atomic<unsigned> payload{0};
            port::atomic<bool> ready{false};
            model::thread sender([&] {
                payload.store(42, memory_order_relaxed);
                ready.store(true, store);
            });
            if (ready.load(load))
                model::require(payload.load(memory_order_relaxed) == 42);
        });
    };
    EXPECT_TRUE(stale(memory_order_release, memory_order_acquire).exhaustive);
    EXPECT_EQ(stale(memory_order_relaxed, memory_order_acquire).kind, model::failure::assertion);
    EXPECT_EQ(stale(memory_order_release, memory_order_relaxed).kind, model::failure::assertion);
}

TEST(litmus, MC1_load_buffering_is_seen_with_future_reads_only) {
    const auto buffering = [](bool future, std::memory_order load, std::memory_order store) {
        std::set<pair> outcomes;
        model::options how = unbounded;
        how.future_reads = future;
        const model::report r = model::check(how, [&] {
            port::atomic<unsigned> x{0};
            port::atomic<unsigned> y{0};
            unsigned left = 0;
            unsigned right = 0;
            {
                model::thread a([&] {
                    left = x.load(load);
                    y.store(1, store);
                });
                model::thread b([&] {
                    right = y.load(load);
                    x.store(1, store);
                });
            }
            outcomes.insert({left, right});
        });
        EXPECT_TRUE(r.ok && r.exhaustive) << r.text;
        EXPECT_EQ(r.discarded > 0, future && load == memory_order_relaxed);
        return outcomes;
    };
    const std::set<pair> ordered{{0, 0}, {0, 1}, {1, 0}};
    const std::set<pair> all{{0, 0}, {0, 1}, {1, 0}, {1, 1}};
    EXPECT_EQ(buffering(false, memory_order_relaxed, memory_order_relaxed), ordered);
    EXPECT_EQ(buffering(true, memory_order_relaxed, memory_order_relaxed), all);
    EXPECT_EQ(buffering(true, memory_order_acquire, memory_order_relaxed), ordered);
    EXPECT_EQ(buffering(true, memory_order_acquire, memory_order_release), ordered);
}

// A failure that rests on a read of the future counts only when the read comes true.
TEST(litmus, MC1_a_future_that_does_not_come_true_fails_nothing) {
    model::options how = unbounded;
    how.future_reads = true;
    const auto value_seen = [&](bool dependent) {
        return model::check(how, [=] {
            port::atomic<unsigned> x{0};
            port::atomic<unsigned> y{0};
            model::thread a([&] {
                const unsigned seen = x.load(memory_order_relaxed);
                y.store(dependent ? seen : 1, memory_order_relaxed);
                model::require(seen != 1);
            });
            model::thread b([&] { x.store(y.load(memory_order_relaxed), memory_order_relaxed); });
        });
    };
    EXPECT_TRUE(value_seen(true).ok);  // out of thin air
    EXPECT_EQ(value_seen(false).kind, model::failure::assertion);
}

// C++20: a relaxed read-modify-write continues the release sequence, a relaxed store does not.
TEST(litmus, MC1_a_release_sequence_goes_on_through_read_modify_writes) {
    const auto sequence = [](bool by_store) {
        return model::check(unbounded, [=] {
            port::plain<unsigned> payload{0};
            port::atomic<unsigned> state{0};
            model::thread sender([&] {
                payload.write(1);
                state.store(1, memory_order_release);
            });
            model::thread between([&] {
                unsigned seen = 1;
                if (by_store) {
                    if (state.load(memory_order_relaxed) == 1)
                        state.store(2, memory_order_relaxed);
                } else {
                    static_cast<void>(state.compare_exchange_strong(seen, 2, memory_order_relaxed,
                                                                    memory_order_relaxed));
                }
            });
            if (state.load(memory_order_acquire) == 2)
                static_cast<void>(payload.read());
        });
    };
    EXPECT_TRUE(sequence(false).exhaustive);
    EXPECT_EQ(sequence(true).kind, model::failure::race);
}

TEST(litmus, MC1_coherence_no_thread_reads_backwards) {
    std::set<pair> outcomes;
    const model::report r = model::check(unbounded, [&] {
        port::atomic<unsigned> x{0};
        unsigned first = 0;
        unsigned second = 0;
        {
            model::thread writer([&] {
                x.store(1, memory_order_relaxed);
                x.store(2, memory_order_relaxed);
            });
            model::thread reader([&] {
                first = x.load(memory_order_relaxed);
                second = x.load(memory_order_relaxed);
            });
        }
        model::require(first <= second);
        outcomes.insert({first, second});
    });
    EXPECT_TRUE(r.ok && r.exhaustive) << r.text;
    EXPECT_EQ(outcomes, (std::set<pair>{{0, 0}, {0, 1}, {0, 2}, {1, 1}, {1, 2}, {2, 2}}));
}

// What one thread has read, a thread that knows of it does not read older.
TEST(litmus, MC1_coherence_holds_across_threads_that_synchronize) {
    const model::report r = model::check(unbounded, [] {
        port::atomic<unsigned> x{0};
        port::atomic<unsigned> told{0};
        model::thread writer([&] { x.store(1, memory_order_relaxed); });
        model::thread first([&] {
            if (x.load(memory_order_relaxed) == 1)
                told.store(1, memory_order_release);
        });
        if (told.load(memory_order_acquire) == 1)
            model::require(x.load(memory_order_relaxed) == 1);
    });
    EXPECT_TRUE(r.ok && r.exhaustive) << r.text;
}

// Two readers see two independent writes in different orders, unless all is seq_cst.
TEST(litmus, MC1_independent_reads_of_independent_writes) {
    const auto disagree = [](std::memory_order store, std::memory_order load) {
        bool found = false;
        const model::report r = model::check(unbounded, [&] {
            port::atomic<unsigned> x{0};
            port::atomic<unsigned> y{0};
            unsigned seen[4] = {};
            {
                model::thread a([&] { x.store(1, store); });
                model::thread b([&] { y.store(1, store); });
                model::thread c([&] {
                    seen[0] = x.load(load);
                    seen[1] = y.load(load);
                });
                model::thread d([&] {
                    seen[2] = y.load(load);
                    seen[3] = x.load(load);
                });
            }
            found = found || (seen[0] == 1 && seen[1] == 0 && seen[2] == 1 && seen[3] == 0);
        });
        EXPECT_TRUE(r.ok && r.exhaustive) << r.text;
        return found;
    };
    EXPECT_TRUE(disagree(memory_order_release, memory_order_acquire));
    EXPECT_FALSE(disagree(memory_order_seq_cst, memory_order_seq_cst));
}

// A failing compare-exchange is a load: it may fail by an old value, with the failure order.
TEST(litmus, MC1_a_compare_exchange_may_fail_by_an_old_store_but_succeeds_on_the_newest) {
    std::set<pair> outcomes;
    const model::report r = model::check(unbounded, [&] {
        port::atomic<unsigned> x{0};
        port::atomic<unsigned> stored{0};
        model::thread writer([&] {
            x.store(1, memory_order_relaxed);
            stored.store(1, memory_order_relaxed);
        });
        const unsigned after = stored.load(memory_order_relaxed);
        unsigned seen = 1;
        const bool swapped =
            x.compare_exchange_strong(seen, 2, memory_order_relaxed, memory_order_relaxed);
        model::require(swapped || seen == 0);
        outcomes.insert({after, swapped ? 1 : 0});
    });
    EXPECT_TRUE(r.ok && r.exhaustive) << r.text;
    EXPECT_EQ(outcomes, (std::set<pair>{{0, 0}, {0, 1}, {1, 0}, {1, 1}}));
}
