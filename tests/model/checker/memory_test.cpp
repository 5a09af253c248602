// SPDX-License-Identifier: Apache-2.0
//
// MC-1: races, and memory that is lost, freed twice or used after it was freed.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <string>

#include <tactus/base/check.hpp>
#include <tactus/port/model.hpp>

namespace port = tactus::port;
namespace model = tactus::port::model;
using std::memory_order_acq_rel;
using std::memory_order_acquire;
using std::memory_order_relaxed;
using std::memory_order_release;

namespace {

TACTUS_CHECK_MODULE("memory_test");

struct counted {
    port::atomic<unsigned> references{2};
    port::plain<unsigned> value{7};
};

}  // namespace

TEST(memory, MC1_unordered_plain_accesses_are_a_race_that_names_both_lines) {
    unsigned first_line = 0;
    unsigned second_line = 0;
    const model::report r = model::check({}, [&] {
        port::plain<unsigned> x{0};
        model::thread other([&] {
            first_line = __LINE__ + 1;
            x.write(1);
        });
        second_line = __LINE__ + 1;
        x.write(2);
    });
    EXPECT_EQ(r.kind, model::failure::race);
    for (const unsigned line : {first_line, second_line})
        EXPECT_NE(r.message.find("memory_test.cpp:" + std::to_string(line)), std::string::npos)
            << r.message;
}

TEST(memory, MC1_reads_race_with_writes_but_not_with_reads) {
    const auto accesses = [](bool writes) {
        return model::check({}, [=] {
            port::plain<unsigned> x{3};
            model::thread other([&] {
                if (writes)
                    x.write(1);
                else
                    static_cast<void>(x.read());
            });
            static_cast<void>(x.read());
        });
    };
    EXPECT_EQ(accesses(true).kind, model::failure::race);
    EXPECT_TRUE(accesses(false).exhaustive);
}

// Making a cell is a write: who gets to know of it by a relaxed store may not use it.
TEST(memory, MC1_a_cell_is_made_before_it_is_used) {
    const auto published = [](std::memory_order order) {
        return model::check({}, [=] {
            port::atomic<counted*> where{nullptr};
            model::thread other([&] { where.store(model::make<counted>(), order); });
            if (counted* c = where.load(memory_order_acquire))
                static_cast<void>(c->references.load(memory_order_relaxed));
            other.join();
            model::dispose(where.load(memory_order_relaxed));
        });
    };
    EXPECT_EQ(published(memory_order_relaxed).kind, model::failure::race);
    EXPECT_TRUE(published(memory_order_release).exhaustive);
}

TEST(memory, MC1_a_leak_is_found_on_the_path_that_leaks) {
    const auto leaking = [](bool leaks) {
        return model::check({}, [=] {
            port::atomic<unsigned> x{0};
            auto* made = model::make<counted>();
            model::thread other([&] { x.store(1, memory_order_relaxed); });
            if (!leaks || x.load(memory_order_relaxed) == 0)
                model::dispose(made);
        });
    };
    const model::report wrong = leaking(true);
    EXPECT_EQ(wrong.kind, model::failure::leak);
    EXPECT_TRUE(leaking(false).exhaustive);
}

TEST(memory, MC1_a_double_free_is_found) {
    const auto last_frees = [](bool one_step) {
        return model::check({}, [=] {
            auto* shared = model::make<counted>();
            const auto drop = [=] {
                bool last = false;
                if (one_step) {
                    last = shared->references.fetch_sub(1, memory_order_acq_rel) == 1;
                } else {
                    const unsigned left = shared->references.load(memory_order_acquire) - 1;
                    shared->references.store(left, memory_order_release);
                    last = left == 0;
                }
                if (last)
                    model::dispose(shared);
            };
            model::thread other(drop);
            drop();
        });
    };
    const model::report wrong = last_frees(false);
    EXPECT_FALSE(wrong.ok);  // a leak, when both see two
    EXPECT_TRUE(last_frees(true).exhaustive);

    const model::report twice = model::check({}, [] {
        auto* made = model::make<counted>();
        port::atomic<unsigned> turn{0};
        model::thread other([&] {
            model::dispose(made);
            turn.store(1, memory_order_release);
        });
        while (turn.load(memory_order_acquire) == 0)
            port::pause();
        model::dispose(made);
    });
    EXPECT_EQ(twice.kind, model::failure::double_free) << twice.text;
}

TEST(memory, MC1_a_use_after_free_is_found_in_either_order) {
    const auto use = [](bool synchronizes) {
        return model::check({}, [=] {
            auto* made = model::make<counted>();
            port::atomic<unsigned> done{0};
            model::thread other([&] {
                static_cast<void>(made->references.load(memory_order_relaxed));
                done.store(1, synchronizes ? memory_order_release : memory_order_relaxed);
            });
            while (done.load(memory_order_acquire) == 0)
                port::pause();
            model::dispose(made);
        });
    };
    const model::report wrong = use(false);
    EXPECT_EQ(wrong.kind, model::failure::use_after_free) << wrong.text;
    EXPECT_TRUE(use(true).exhaustive);

    const model::report later = model::check({}, [] {
        auto* made = model::make<counted>();
        model::dispose(made);
        static_cast<void>(made->value.read());
    });
    EXPECT_EQ(later.kind, model::failure::use_after_free);
    EXPECT_NE(later.message.find("memory_test.cpp"), std::string::npos) << later.message;
}

// The acq_rel of a last reference is needed: with release alone, the free is not ordered.
TEST(memory, MC1_reference_counting_needs_acquire_before_the_free) {
    const auto dropping = [](std::memory_order order) {
        return model::check({}, [=] {
            auto* shared = model::make<counted>();
            const auto drop = [=] {
                static_cast<void>(shared->value.read());
                if (shared->references.fetch_sub(1, order) == 1)
                    model::dispose(shared);
            };
            model::thread other(drop);
            drop();
        });
    };
    EXPECT_TRUE(dropping(memory_order_acq_rel).exhaustive);
    EXPECT_EQ(dropping(memory_order_release).kind, model::failure::use_after_free);
    EXPECT_EQ(dropping(memory_order_acquire).kind, model::failure::use_after_free);
}

// UP-6: what a slab poisons is not to be used until it is given out again.
TEST(memory, MC1_poisoned_cells_are_not_used) {
    EXPECT_FALSE(port::poisoning());
    const auto pool = [](bool keeps) {
        return model::check({}, [=] {
            model::require(port::poisoning());
            std::array<port::plain<unsigned>, 2> cells;
            port::poison(&cells, sizeof cells);
            port::unpoison(cells.data() + 1, sizeof cells[1]);
            cells[1].write(1);
            if (!keeps)
                cells[0].write(1);
        });
    };
    EXPECT_TRUE(pool(true).exhaustive);
    EXPECT_EQ(pool(false).kind, model::failure::use_after_free);
}

// A failed check of the code under test ends the execution, not the program.
TEST(memory, MC1_a_failed_check_is_a_failure_of_the_execution) {
    const model::report r = model::check({}, [] {
        port::atomic<unsigned> x{0};
        model::thread other([&] { x.store(1, memory_order_relaxed); });
        TACTUS_CHECK(12, x.load(memory_order_relaxed) == 0);
    });
    EXPECT_EQ(r.kind, model::failure::assertion);
    EXPECT_NE(r.message.find("memory_test:12"), std::string::npos) << r.message;
}

TEST(memory, MC1_an_exception_that_leaves_a_thread_is_a_failure) {
    const model::report r =
        model::check({}, [] { model::thread other([] { throw std::string("thrown"); }); });
    EXPECT_EQ(r.kind, model::failure::assertion);
}

TEST(memory, MC1_outside_of_a_check_everything_is_an_ordinary_value) {
    auto* made = model::make<counted>();
    EXPECT_EQ(made->references.fetch_add(3, memory_order_relaxed), 2u);
    EXPECT_EQ(made->value.read(), 7u);
    model::dispose(made);
    port::mutex lock;
    lock.lock();
    lock.unlock();
    EXPECT_TRUE(lock.try_lock());
    lock.unlock();
    port::condition c;
    c.notify_all();
    port::atomic<std::uint32_t> word{1};
    EXPECT_TRUE(port::wait_on(word, 0, 5));
    EXPECT_FALSE(port::wait_on(word, 1, 5));
    EXPECT_TRUE(port::wait_on(word, 1, -1));
    port::wake_one(word);
    port::pause();
    port::yield();
}
