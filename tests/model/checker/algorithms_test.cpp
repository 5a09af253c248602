// SPDX-License-Identifier: Apache-2.0
//
// MC-1: known algorithms, each with a planted bug that must be found and without it, which must
// pass exhaustively.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>

#include <tactus/port/model.hpp>

namespace port = tactus::port;
namespace model = tactus::port::model;
using std::memory_order_acq_rel;
using std::memory_order_acquire;
using std::memory_order_relaxed;
using std::memory_order_release;
using std::memory_order_seq_cst;

namespace {

// Dekker's entry: of two threads at most one goes in.
model::report dekker(std::memory_order store, std::memory_order load) {
    return model::check({}, [=] {
        std::array<port::atomic<unsigned>, 2> wants{port::atomic<unsigned>{0},
                                                    port::atomic<unsigned>{0}};
        port::plain<unsigned> inside{0};
        const auto enter = [&](unsigned self) {
            wants[self].store(1, store);
            if (wants[1 - self].load(load) == 0)
                inside.write(inside.read() + 1);
        };
        model::thread other([&] { enter(1); });
        enter(0);
    });
}

model::report peterson(std::memory_order order) {
    return model::check({}, [=] {
        std::array<port::atomic<unsigned>, 2> wants{port::atomic<unsigned>{0},
                                                    port::atomic<unsigned>{0}};
        port::atomic<unsigned> turn{0};
        port::plain<unsigned> inside{0};
        const bool strong = order == memory_order_seq_cst;
        const std::memory_order store = strong ? order : memory_order_release;
        const std::memory_order load = strong ? order : memory_order_acquire;
        const auto enter = [&](unsigned self) {
            wants[self].store(1, store);
            turn.store(1 - self, store);
            while (wants[1 - self].load(load) == 1 && turn.load(load) == 1 - self)
                port::pause();
            inside.write(inside.read() + 1);
            wants[self].store(0, memory_order_release);
        };
        {
            model::thread other([&] { enter(1); });
            enter(0);
        }
        model::require(inside.read() == 2);
    });
}

// A Treiber stack of nodes from a fixed array; a head is an index, with a count above it or not.
struct stack {
    static constexpr std::uint32_t none = 0xff;
    explicit stack(bool counts) : counts_(counts) {}

    void push(std::uint32_t node) {
        std::uint32_t seen = head_.load(memory_order_relaxed);
        do {
            next_[node].store(seen & 0xff, memory_order_relaxed);
        } while (!head_.compare_exchange_weak(seen, above(seen) | node, memory_order_release,
                                              memory_order_relaxed));
    }
    std::uint32_t pop() {
        std::uint32_t seen = head_.load(memory_order_acquire);
        for (;;) {
            const std::uint32_t node = seen & 0xff;
            if (node == none)
                return none;
            const std::uint32_t next = next_[node].load(memory_order_relaxed);
            if (head_.compare_exchange_weak(seen, above(seen) | next, memory_order_acq_rel,
                                            memory_order_acquire))
                return node;
        }
    }

private:
    [[nodiscard]] std::uint32_t above(std::uint32_t seen) const {
        return counts_ ? (seen & ~0xffu) + 0x100 : 0;
    }

    bool counts_;
    port::atomic<std::uint32_t> head_{none};
    std::array<port::atomic<std::uint32_t>, 3> next_{port::atomic<std::uint32_t>{none},
                                                     port::atomic<std::uint32_t>{none},
                                                     port::atomic<std::uint32_t>{none}};
};

model::report treiber(bool counts) {
    return model::check({}, [=] {
        stack s(counts);
        s.push(0);
        s.push(1);
        std::array<unsigned, 3> owned{};
        const auto take = [&](std::uint32_t node) {
            if (node != stack::none)
                model::require(++owned[node] == 1, "a node is popped twice");
        };
        model::thread other([&] {
            const std::uint32_t first = s.pop();
            const std::uint32_t second = s.pop();
            take(second);
            if (first != stack::none)
                s.push(first);  // the address that comes again
        });
        const std::uint32_t mine = s.pop();
        other.join();
        take(mine);
        for (std::uint32_t left = s.pop(); left != stack::none; left = s.pop())
            take(left);
    });
}

}  // namespace

TEST(algorithms, MC1_dekker_needs_seq_cst) {
    EXPECT_EQ(dekker(memory_order_release, memory_order_acquire).kind, model::failure::race);
    EXPECT_EQ(dekker(memory_order_relaxed, memory_order_relaxed).kind, model::failure::race);
    EXPECT_EQ(dekker(memory_order_seq_cst, memory_order_acquire).kind, model::failure::race);
    const model::report right = dekker(memory_order_seq_cst, memory_order_seq_cst);
    EXPECT_TRUE(right.ok && right.exhaustive) << right.text;
}

TEST(algorithms, MC1_peterson_needs_seq_cst) {
    EXPECT_EQ(peterson(memory_order_acq_rel).kind, model::failure::race);
    const model::report right = peterson(memory_order_seq_cst);
    EXPECT_TRUE(right.ok && right.exhaustive) << right.text;
}

TEST(algorithms, MC1_a_stack_without_a_count_suffers_from_aba) {
    const model::report wrong = treiber(false);
    EXPECT_EQ(wrong.kind, model::failure::assertion) << wrong.text;
    const model::report right = treiber(true);
    EXPECT_TRUE(right.ok && right.exhaustive) << right.text;
}

TEST(algorithms, MC1_a_spin_lock_excludes_and_publishes) {
    const auto spin_lock = [](std::memory_order unlock) {
        return model::check({}, [=] {
            port::atomic<bool> held{false};
            port::plain<unsigned> counted{0};
            const auto count = [&] {
                while (held.exchange(true, memory_order_acquire))
                    port::pause();
                counted.write(counted.read() + 1);
                held.store(false, unlock);
            };
            {
                model::thread other(count);
                count();
            }
            model::require(counted.read() == 2);
        });
    };
    const model::report right = spin_lock(memory_order_release);
    EXPECT_TRUE(right.ok && right.exhaustive) << right.text;
    EXPECT_EQ(spin_lock(memory_order_relaxed).kind, model::failure::race);
}
