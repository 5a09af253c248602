// SPDX-License-Identifier: Apache-2.0
//
// Goal: what is put into the task-local slot is there until its lease ends, also when leases nest;
// and who has none, or one that is too small, is told so (PT-8, BT-3).
#include <tactus/dispatch/task_local_slot.hpp>

#include <cstdint>

#include "portable_test.hpp"

using tactus::port_local_slot;
using tactus::task_local_slot;

namespace {

struct batch {
    std::uint32_t runs;
    std::uint32_t missed;
};
struct trace {
    std::uint8_t id;
};

std::uint32_t runs_in(task_local_slot& slot) {
    batch b{};
    return slot.get(b) ? b.runs : 0;
}

}  // namespace

// PT-8
TEST(task_local_slot, states_its_size_and_whether_interrupts_may_use_it) {
    const port_local_slot<8> slot;
    EXPECT_EQ(slot.states().size, 8u);
    EXPECT_EQ(slot.states().from_interrupt, tactus::port::has_interrupts);
}

// PT-8
TEST(task_local_slot, leases_nest) {
    port_local_slot<8> slot;
    EXPECT_EQ(runs_in(slot), 0u);
    {
        const task_local_slot::lease<batch> outer(slot, {1, 10});
        EXPECT_EQ(runs_in(slot), 1u);
        {
            const task_local_slot::lease<batch> inner(slot, {2, 20});
            EXPECT_EQ(runs_in(slot), 2u);
            {
                // Of another type, and shorter: it hides what is there, and leaves it as it was.
                const task_local_slot::lease<trace> other(slot, {7});
                EXPECT_EQ(runs_in(slot), 0u);
                trace t{};
                EXPECT_TRUE(slot.get(t));
                EXPECT_EQ(t.id, 7u);
            }
            EXPECT_EQ(runs_in(slot), 2u);
        }
        batch b{};
        EXPECT_TRUE(slot.get(b));
        EXPECT_EQ(b.runs, 1u);
        EXPECT_EQ(b.missed, 10u);
    }
    EXPECT_EQ(runs_in(slot), 0u);
}

// PT-8, BT-3: the choice between slot and envelope.
TEST(task_local_slot, too_small_or_absent_means_the_envelope) {
    const port_local_slot<8> enough;
    const port_local_slot<7> small;
    EXPECT_TRUE(task_local_slot::holds<batch>(&enough));
    EXPECT_FALSE(task_local_slot::holds<batch>(&small));
    EXPECT_FALSE(task_local_slot::holds<batch>(nullptr));
}
