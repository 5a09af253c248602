// SPDX-License-Identifier: Apache-2.0
//
// Goal: with real threads no message is lost, none is seen twice, each sender's order is kept, and
// there is one owner at a time (M1, M3; TC-M30, TC-M31, C-MBX-20, ME-3, ME-5).
// Method: two workers take turns in running one mailbox; whoever wins the scheduled bit says whose
// turn it is. All bookkeeping is plain memory of the owner: under ThreadSanitizer the state word
// alone orders it.
#include <tactus/mailbox/mailbox.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <thread>
#include <vector>

using tactus::enqueued;
using tactus::envelope;
using tactus::mailbox_owed;
using tactus::system_message;

namespace {

constexpr unsigned producers = 4;

struct numbered_system : system_message {
    unsigned producer = 0;
    unsigned number = 0;
};
struct numbered_envelope : envelope {
    unsigned producer_id = 0;
    unsigned number = 0;
    unsigned fate = 0;  // how often it was handled, refused or finalized
    void begin(unsigned p, unsigned i) {
        producer_id = p;
        number = i;
        fate = 0;
    }
};

/// What the owner of the mailbox keeps: plain, so that a missing edge is a reported race.
struct owner_notes {
    std::array<unsigned, producers> next_number{};  // what each producer's next message has
    std::size_t handled = 0;
    std::size_t finalized = 0;
    unsigned turn = 0;
    bool in_order = true;
    bool inside = false;
};

class rig {
public:
    rig() { box.open(1, false); }

    tactus::mailbox box;
    owner_notes notes;
    std::size_t expected = 0;
    std::atomic<bool> done{false};
    std::array<unsigned, 2> runs{};

    /// Called by who won the scheduled bit: it is the owner until the worker is told.
    void submit() {
        notes.turn ^= 1;
        lanes_[notes.turn].store(true, std::memory_order_release);
    }
    void settle(enqueued result) {
        if (result == enqueued::submit)
            submit();
    }

    /// Runs the mailbox whenever it is this worker's turn.
    template <class Run>
    void work(unsigned me, Run run) {
        while (!done.load(std::memory_order_acquire)) {
            if (!lanes_[me].exchange(false, std::memory_order_acquire)) {
                std::this_thread::yield();
                continue;
            }
            ++runs[me];
            EXPECT_FALSE(notes.inside);  // M1
            notes.inside = true;
            run();
            notes.inside = false;
            const bool all = notes.handled == expected;
            const enqueued end = box.end_run();
            if (end == enqueued::submit)
                submit();
            else if (end == enqueued::closed)
                finalize();
            if (all && expected != 0)
                done.store(true, std::memory_order_release);
        }
    }

    void note(unsigned producer, unsigned number) {
        notes.in_order = notes.in_order && notes.next_number[producer] == number;
        notes.next_number[producer] = number + 1;
        ++notes.handled;
    }
    void run_system() {
        tactus::oldest_first list = box.drain_system();
        while (system_message* m = list.pop()) {
            const auto& numbered = static_cast<const numbered_system&>(*m);
            note(numbered.producer, numbered.number);
        }
    }
    void run_users(unsigned at_most) {
        for (; at_most > 0 && box.state().should_process(); --at_most) {
            envelope* e = box.next_user();
            if (e == nullptr)
                return;
            auto& numbered = static_cast<numbered_envelope&>(*e);
            ++numbered.fate;
            note(numbered.producer_id, numbered.number);
        }
    }
    /// By the elected one.
    void finalize() {
        struct sink {
            rig& r;
            void refused(envelope& e) {
                ++static_cast<numbered_envelope&>(e).fate;
                ++r.notes.finalized;
            }
            void refused(system_message&) { ++r.notes.finalized; }
        };
        EXPECT_FALSE(notes.inside);
        (void)box.finalize(2, {}, sink{*this});
        done.store(true, std::memory_order_release);
    }

private:
    std::array<std::atomic<bool>, 2> lanes_{};
};

/// Producers and workers, begun together; the current thread waits. `produce` sends one message.
template <class Produce, class Run>
void race(rig& r, unsigned each, Produce produce, Run run) {
    std::vector<std::thread> threads;
    std::atomic<unsigned> awaited{producers + 2};
    const auto together = [&awaited] {
        awaited.fetch_sub(1, std::memory_order_relaxed);
        while (awaited.load(std::memory_order_relaxed) != 0)
            std::this_thread::yield();
    };
    for (unsigned w = 0; w < 2; ++w) {
        threads.emplace_back([&, w] {
            together();
            r.work(w, run);
        });
    }
    for (unsigned p = 0; p < producers; ++p) {
        threads.emplace_back([&, p] {
            together();
            for (unsigned i = 0; i < each; ++i) {
                produce(p, i);
                if (i % 16 == p)
                    std::this_thread::yield();  // there may be fewer cores than threads
            }
        });
    }
    for (std::thread& t : threads)
        t.join();
}

}  // namespace

// TC-M30
TEST(mailbox_stress, TC_M30_system_messages_of_4_producers_and_2_workers) {
    constexpr unsigned each = 200;
    static std::array<std::array<numbered_system, each>, producers> messages;
    std::array<unsigned, 2> runs{};
    for (int round = 0; round < 50; ++round) {
        rig r;
        r.expected = std::size_t{producers} * each;
        const auto produce = [&r](unsigned p, unsigned i) {
            messages[p][i].producer = p;
            messages[p][i].number = i;
            const enqueued result = r.box.enqueue_system(messages[p][i]);
            EXPECT_NE(result, enqueued::closed);
            r.settle(result);
        };
        race(r, each, produce, [&r] { r.run_system(); });
        ASSERT_EQ(r.notes.handled, r.expected);
        ASSERT_TRUE(r.notes.in_order);
        ASSERT_FALSE(r.box.has_system_messages());
        for (unsigned w = 0; w < 2; ++w)
            runs[w] += r.runs[w];
    }
    EXPECT_GT(runs[0], 0u);  // both took part
    EXPECT_GT(runs[1], 0u);
}

// TC-M31, C-MBX-20: runs of 3, so that there are many ends of a run to lose a wake-up at.
TEST(mailbox_stress, TC_M31_users_of_4_producers_and_2_workers) {
    constexpr unsigned each = 200;
    static std::array<std::array<numbered_envelope, each>, producers> envelopes;
    for (int round = 0; round < 50; ++round) {
        rig r;
        r.expected = std::size_t{producers} * each;
        const auto produce = [&r](unsigned p, unsigned i) {
            numbered_envelope& e = envelopes[p][i];
            e.begin(p, i);
            const enqueued result = r.box.enqueue(e);
            EXPECT_NE(result, enqueued::closed);
            r.settle(result);
        };
        race(r, each, produce, [&r] { r.run_users(3); });
        ASSERT_EQ(r.notes.handled, r.expected);
        ASSERT_TRUE(r.notes.in_order);
        ASSERT_FALSE(r.box.has_user_messages());
        ASSERT_GT(r.runs[0], 0u);
        ASSERT_GT(r.runs[1], 0u);
    }
}

// TC-M31, TC-M25, ME-5: the close comes at another moment each round.
TEST(mailbox_stress, TC_M31_a_close_racing_4_producers_leaves_no_residue) {
    constexpr unsigned each = 500;
    static std::array<std::array<numbered_envelope, each>, producers> envelopes;
    std::size_t refused_at_all = 0;
    std::size_t finalized_at_all = 0;
    std::size_t handled_at_all = 0;
    constexpr unsigned rounds = 50;
    for (unsigned round = 0; round < rounds; ++round) {
        rig r;
        std::atomic<unsigned> sent{0};
        std::atomic<unsigned> refused{0};
        const auto produce = [&](unsigned p, unsigned i) {
            numbered_envelope& e = envelopes[p][i];
            e.begin(p, i);
            const enqueued result = r.box.enqueue(e);
            if (result == enqueued::closed) {
                ++e.fate;  // still the sender's
                refused.fetch_add(1, std::memory_order_relaxed);
            }
            r.settle(result);
            sent.fetch_add(1, std::memory_order_relaxed);
        };
        std::thread closer([&r, &sent, round] {
            while (sent.load(std::memory_order_relaxed) < round * (producers * each) / rounds)
                std::this_thread::yield();
            if (r.box.state().request_close() == mailbox_owed::finalize)
                r.finalize();
            EXPECT_EQ(r.box.state().request_close(), mailbox_owed::nothing);
        });
        race(r, each, produce, [&r] { r.run_users(5); });
        closer.join();
        for (const auto& of_producer : envelopes) {
            for (const numbered_envelope& e : of_producer)
                ASSERT_EQ(e.fate, 1u);
        }
        ASSERT_EQ(r.notes.handled + r.notes.finalized + refused.load(),
                  std::size_t{producers} * each);
        ASSERT_TRUE(r.notes.in_order);
        // No residue.
        ASSERT_TRUE(r.box.state().closed());
        ASSERT_FALSE(r.box.has_user_messages());
        ASSERT_EQ(r.box.next_user(), nullptr);
        handled_at_all += r.notes.handled;
        finalized_at_all += r.notes.finalized;
        refused_at_all += refused.load();
    }
    EXPECT_GT(handled_at_all, 0u);
    EXPECT_GT(refused_at_all, 0u);
    std::printf("close: %zu handled, %zu finalized, %zu refused\n", handled_at_all,
                finalized_at_all, refused_at_all);
}

// ME-3, ME-4: suspensions come and go while messages arrive; no wake-up is lost, no batch is
// forgotten.
TEST(mailbox_stress, ME_3_suspending_and_resuming_loses_nothing) {
    constexpr unsigned each = 400;
    static std::array<std::array<numbered_envelope, each>, producers> envelopes;
    for (int round = 0; round < 20; ++round) {
        rig r;
        r.expected = std::size_t{producers} * each;
        const auto produce = [&r](unsigned p, unsigned i) {
            envelopes[p][i].begin(p, i);
            r.settle(r.box.enqueue(envelopes[p][i]));
        };
        std::thread toggler([&r] {
            for (unsigned n = 0; !r.done.load(std::memory_order_acquire); ++n) {
                (void)r.box.state().suspend(tactus::suspension::await);
                if (n % 8 == 0)
                    std::this_thread::yield();
                if (r.box.state().resume(tactus::suspension::await) && r.box.offer_work())
                    r.submit();
                std::this_thread::yield();
            }
        });
        race(r, each, produce, [&r] { r.run_users(3); });
        toggler.join();
        ASSERT_EQ(r.notes.handled, r.expected);
        ASSERT_TRUE(r.notes.in_order);
        for (const auto& of_producer : envelopes) {
            for (const numbered_envelope& e : of_producer)
                ASSERT_EQ(e.fate, 1u);
        }
    }
}
