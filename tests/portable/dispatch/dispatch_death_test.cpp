// SPDX-License-Identifier: Apache-2.0
//
// Goal: what a caller must not do ends the program with its number.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include <tactus/dispatch/entry_queue.hpp>
#include <tactus/dispatch/run_ring.hpp>

#include "kernel_rig.hpp"
#include "lane_rig.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used

TEST(dispatch_death_test, a_ring_of_a_wrong_size_is_refused) {
    static run_ring::cell cells[4];
    EXPECT_DEATH(run_ring(cells, 3, true), "run_ring:1");
    EXPECT_DEATH(run_ring(cells, 0, true), "run_ring:1");
    EXPECT_DEATH(run_ring(cells, 1U << 16, true), "run_ring:2");
}

TEST(dispatch_death_test, a_queue_that_is_full_of_what_counts_is_a_fault) {
    alignas(16) static std::byte bytes[256];
    tactus_test::test_memory memory(bytes);
    entry_queue queue(memory, 2);
    memory.refusing = true;
    const auto never = [](lane_entry) { return false; };
    queue.push({1, 1}, never);
    queue.push({2, 1}, never);
    EXPECT_DEATH(queue.push({3, 1}, never), "entry_queue:2");
}

// S17
TEST(dispatch_death_test, a_system_without_workers_is_refused) {
    EXPECT_DEATH(tactus_test::kernel_rig([](auto& o) { o.worker_count = 0; }), "coordinator:1");
}

TEST(dispatch_death_test, an_inline_executor_needs_a_system_of_one_worker) {
    EXPECT_DEATH(tactus_test::kernel_rig([](auto& o) { o.worker_count = 2; }), "inline_tick:1");
}

TEST(dispatch_death_test, an_inline_executor_is_not_shut_down_from_within_a_run) {
    EXPECT_DEATH(
        {
            tactus_test::kernel_rig rig;
            worker_task_of t([&] { rig.ticks->shut_down(); });
            (void)rig->execute(t);
            rig.run();
        },
        "inline_tick:2");
}

TEST(dispatch_death_test, a_registry_begins_above_generation_0) {
    alignas(slot) static std::byte bytes[sizeof(slot)];
    fixed_memory memory(bytes);
    EXPECT_DEATH(registry({.memory = &memory, .capacity = 1, .first_generation = 0}), "registry:2");
}

// TC-F12: the coordinator's own checks, and the registry's.
TEST(dispatch_death_test, a_coordinator_without_memory_is_refused) {
    alignas(16) static std::byte bytes[4'096];
    alignas(slot) static std::byte places[sizeof(slot)];
    fixed_memory region(places);
    registry slots({.memory = &region, .capacity = 1, .magazine_size = 1});
    tactus_test::test_memory memory(bytes);
    memory.allowance = 5;  // its lanes are five blocks; then there is none for the workers
    EXPECT_DEATH(coordinator({.memory = &memory, .slots = &slots}), "coordinator:2");
}

// TC-F12
TEST(dispatch_death_test, a_coordinator_takes_as_many_workers_as_were_announced) {
    tactus_test::lane_rig rig({.workers = 2});
    EXPECT_DEATH(rig.order().add_worker(rig.worker(0)), "coordinator:3");
}

// CO-1, TC-F12
TEST(dispatch_death_test, draining_needs_lanes_to_drain_into) {
    tactus_test::lane_rig rig({.visits = tactus_test::lane_rig::visitor::none});
    EXPECT_DEATH((void)rig.order().drain_ready_cycle({}), "coordinator:5");
}

// LN-5, TC-F12
TEST(dispatch_death_test, a_mailbox_is_pinned_to_a_worker_there_is) {
    tactus_test::lane_rig rig({.workers = 2});
    rig.at(1).pin_to(2);
    EXPECT_DEATH(rig.ready(1), "coordinator:6");
}

namespace {

/// Memory that claims to have no end.
class endless_memory final : public memory_region {
public:
    explicit endless_memory(std::span<std::byte> bytes) noexcept {
        data_ = bytes.data();
        size_max_ = ~std::size_t{0};
    }
    [[nodiscard]] bool resize(std::size_t) noexcept override { return false; }
};

}  // namespace

// RG-1, TC-F12
TEST(dispatch_death_test, a_registry_has_one_slot_or_more_but_no_more_than_an_index_can_say) {
    alignas(slot) static std::byte bytes[sizeof(slot)];
    endless_memory memory(bytes);
    EXPECT_DEATH(registry({.memory = &memory, .capacity = 0}), "registry:1");
    constexpr std::uint32_t beyond = mailbox_index::slot_mask + 2;
    EXPECT_DEATH(registry({.memory = &memory, .capacity = beyond}), "registry:1");
}
