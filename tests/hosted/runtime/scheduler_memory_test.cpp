// SPDX-License-Identifier: Apache-2.0
//
// Goal: small pools can be used nearly to the last, whoever freed what; the reserve is what was
// asked for (MB-9, UP-6, SQ-5).
// Method: a system of two workers driven by hand, so that each of them frees a known part.
#include <tactus/runtime/scheduler_memory.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include <tactus/dispatch/turn.hpp>

using namespace tactus;  // NOLINT: the whole vocabulary is used

namespace {

struct silent {
    void receive(turn&, envelope&) {}
};

/// As one of the workers: until nothing is ready, at most so often.
void run(actor_scheduler& system, std::uint32_t worker_number, unsigned max = 1'000) {
    worker& w = system.worker_at(worker_number);
    const worker::binding bound(w);
    for (unsigned i = 0; i < max && system.run_one(w); ++i) {
    }
}

}  // namespace

// MB-9: at most a quarter lies with threads that do not need it.
TEST(scheduler_memory, MB_9_three_quarters_of_a_small_pool_can_be_used_by_anybody) {
    for (const std::uint32_t messages : {1u, 2u, 5u, 15u, 16u, 31u, 32u, 64u, 100u, 1'000u}) {
        runtime::scheduler_memory memory({.actors_max = 8, .messages_max = messages});
        actor_scheduler system(memory.fill({.worker_count = 2, .throughput = 1}));
        const mailbox_index a = *system.spawn<silent>({});
        const mailbox_index b = *system.spawn<silent>({});
        for (unsigned round = 0; round < 3; ++round) {
            std::uint32_t taken = 0;
            while (actor_scheduler::try_tell(taken % 2 == 0 ? a : b, 1) == sent::accepted)
                ++taken;
            EXPECT_LE(taken, messages);
            EXPECT_GE(taken, messages - messages / 4);
            run(system, 0, taken / 2);
            run(system, 1);
            run(system, 0);
        }
    }
}

TEST(scheduler_memory, three_quarters_of_a_few_slots_can_be_used_by_anybody) {
    for (const std::uint32_t actors : {1u, 2u, 8u, 15u, 16u, 40u}) {
        runtime::scheduler_memory memory({.actors_max = actors, .messages_max = 64});
        actor_scheduler system(memory.fill({.worker_count = 2}));
        for (unsigned round = 0; round < 3; ++round) {
            std::vector<mailbox_index> alive;
            for (;;) {
                const auto made = system.spawn<silent>({});
                if (!made) {
                    EXPECT_EQ(made.error().what, spawn_error::kind::slots_exhausted);
                    break;
                }
                alive.push_back(*made);
            }
            EXPECT_LE(alive.size(), actors);
            EXPECT_GE(alive.size(), actors - actors / 4);
            for (std::size_t i = 0; i < alive.size(); ++i) {
                const worker::binding bound(system.worker_at(static_cast<std::uint32_t>(i % 2)));
                EXPECT_TRUE(system.stop(alive[i]));
            }
        }
    }
}

// SQ-5
TEST(scheduler_memory, SQ_5_the_reserve_is_what_was_asked_for) {
    for (const std::uint32_t reserve : {0u, 10u, 1'024u, 3'000u}) {
        runtime::scheduler_memory memory(
            {.actors_max = 8, .messages_max = 64, .reserve_max = reserve});
        actor_scheduler system(memory.fill({.reserve_for_system = reserve}));
        EXPECT_EQ(system.envelopes().reserve_count(), reserve);
    }
}

TEST(scheduler_memory_death_test, a_reserve_beyond_what_there_is_room_for_is_refused) {
    runtime::scheduler_memory memory({.actors_max = 8, .messages_max = 64});
    EXPECT_DEATH((void)memory.fill({.reserve_for_system = 1'025}), "scheduler_memory:1");
}
