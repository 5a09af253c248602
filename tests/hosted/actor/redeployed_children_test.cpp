// SPDX-License-Identifier: Apache-2.0
//
// Goal: a child is placed by its deployment whenever its parent spawns it.
#include <tactus/actor/actor.hpp>
#include <tactus/runtime/actor_system.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <expected>
#include <string>

#include "pool_rig.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used

namespace {

std::atomic<int> starts{0};
std::atomic<std::uint32_t> placed_at[2];

class deployed_child : public actor<int> {
public:
    void on(int) {}
};
/// Spawns its child in pre_start.
class deployed_parent : public actor<int> {
public:
    void pre_start() {
        const auto child = context().try_spawn<deployed_child>("child", {});
        ASSERT_TRUE(child.has_value());
        const int life = starts.load(std::memory_order_relaxed);
        placed_at[life].store(
            context().world().kernel().slots().find(child->index())->dispatcher_number(),
            std::memory_order_relaxed);
        starts.store(life + 1, std::memory_order_release);
    }
    std::expected<void, failure> on(int) { return std::unexpected(failure("told to")); }
};

}  // namespace

// DF-12
TEST(redeployed_children, DF_12_a_child_of_a_restarted_parent_keeps_its_deployment) {
    actor_system::options o;
    o.names = [](resolver& r) -> std::expected<void, std::string> {
        if (!r.add_dispatcher("other", {.workers = 1}) ||
            !r.add_deployment("/user/parent/child", {.dispatcher = "other"}))
            return std::unexpected("other");
        return {};
    };
    actor_system system("demo", o);
    starts.store(0, std::memory_order_relaxed);
    const auto parent = system.try_spawn<deployed_parent>("parent", {});
    ASSERT_TRUE(parent.has_value());
    parent->tell(1);
    EXPECT_TRUE(tactus_test::until([] { return starts.load(std::memory_order_acquire) == 2; }));
    EXPECT_NE(placed_at[0].load(std::memory_order_relaxed), 0u);
    EXPECT_EQ(placed_at[1].load(std::memory_order_relaxed),
              placed_at[0].load(std::memory_order_relaxed));
}
