// SPDX-License-Identifier: Apache-2.0
//
// Goal: the name table grows with the names, paths of actors that have ended are known for a while,
// and a path is written without recursion.
#include <tactus/actor/actor.hpp>
#include <tactus/actor/name_table.hpp>
#include <tactus/runtime/actor_system.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <string>
#include <vector>

#include "pool_rig.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using tactus_test::until;

namespace {

class heap final : public memory_source {
public:
    void* allocate(std::size_t size, std::size_t) noexcept override {
        ++live;
        return std::malloc(size);  // NOLINT(cppcoreguidelines-no-malloc)
    }
    void release(void* block, std::size_t, std::size_t) noexcept override {
        --live;
        std::free(block);  // NOLINT(cppcoreguidelines-no-malloc)
    }
    std::size_t live = 0;
};

mailbox_index numbered(std::uint32_t n) {
    return mailbox_index::make(1, n, 1);
}

class leaf : public actor<int> {
public:
    void on(int) {}
};
std::atomic<int> reached{0};

/// A tree of one branch: tells its child what is left.
class branch : public actor<int> {
public:
    void on(int left) {
        if (left == 0) {
            last = context().self();
            reached.store(1, std::memory_order_release);
            return;
        }
        const auto next = context().try_spawn<branch>("b", {});
        ASSERT_TRUE(next.has_value());
        next->tell(left - 1);
    }
    static inline any_ref last;
};

std::size_t parts_of(const std::string& path) {
    std::size_t n = 0;
    for (std::size_t at = path.find("/b"); at != std::string::npos; at = path.find("/b", at + 1))
        ++n;
    return n;
}

}  // namespace

// DF-18
TEST(ended_paths, DF_18_chains_stay_short_however_many_names_there_are) {
    constexpr std::uint32_t count = 200'000;
    heap memory;
    {
        name_table table(memory);
        const mailbox_index parent = numbered(1);
        for (std::uint32_t i = 0; i < count; ++i) {
            const std::string name = "worker-" + std::to_string(i);
            ASSERT_EQ(table.take(parent, name), name_table::taken::done);
            table.bind(parent, name, numbered(i + 2));
        }
        EXPECT_LE(table.longest_chain(), 16u);
        for (std::uint32_t i = 0; i < count; i += 997) {
            const std::string name = "worker-" + std::to_string(i);
            EXPECT_EQ(table.find(parent, name), numbered(i + 2));
            EXPECT_EQ(table.parent_of(numbered(i + 2)), parent);
            table.release(numbered(i + 2));
            EXPECT_EQ(table.find(parent, name), mailbox_index{});
            EXPECT_EQ(table.take(parent, name), name_table::taken::done);
            table.drop(parent, name);
        }
    }
    EXPECT_EQ(memory.live, 0u);
}

// DF-22
TEST(ended_paths, DF_22_the_last_names_of_ended_actors_are_kept) {
    heap memory;
    {
        name_table table(memory);
        table.keep_ended(100);
        const mailbox_index parent = numbered(1);
        for (std::uint32_t i = 0; i < 300; ++i) {
            ASSERT_EQ(table.take(parent, "one"), name_table::taken::done);
            table.bind(parent, "one", numbered(i + 2));
            table.release(numbered(i + 2));
        }
        char text[255];
        mailbox_index above;
        for (std::uint32_t i = 0; i < 300; ++i) {
            EXPECT_EQ(table.name_of(numbered(i + 2), text, above), i < 200 ? 0u : 3u);
            EXPECT_EQ(table.parent_of(numbered(i + 2)), mailbox_index{});
            EXPECT_EQ(table.last_parent_of(numbered(i + 2)), i < 200 ? mailbox_index{} : parent);
        }
        EXPECT_EQ(memory.live, 100u);
        table.forget_ended();
        EXPECT_EQ(memory.live, 0u);
    }
}

TEST(ended_paths, DF_22_the_path_of_an_ended_actor_is_known) {
    actor_system system("demo", {.log_level = log_level::off});
    std::vector<any_ref> all;
    for (int i = 0; i < 100; ++i) {
        const auto made = system.try_spawn<leaf>("leaf-" + std::to_string(i), {});
        ASSERT_TRUE(made.has_value());
        all.emplace_back(*made);
        EXPECT_TRUE(system.world().stop(made->index()));
    }
    // Their names are free again: their parent has looked.
    for (int i = 0; i < 100; ++i) {
        const std::string path = "/user/leaf-" + std::to_string(i);
        EXPECT_TRUE(until([&] { return !system.world().find(path).valid(); }));
        EXPECT_EQ(system.path_of(all[static_cast<std::size_t>(i)]), "tactus://demo" + path);
    }
}

// DF-50
TEST(ended_paths, DF_50_a_deep_path_is_written_without_recursion) {
    for (const int depth : {0, 1, 30, 31, 32, 33, 100, 1'000, 100'000}) {
        SCOPED_TRACE(depth);
        reached.store(0, std::memory_order_relaxed);
        actor_system system("deep", {.log_level = log_level::off});
        const auto top = system.try_spawn<branch>("b", {});
        ASSERT_TRUE(top.has_value());
        top->tell(depth);
        ASSERT_TRUE(until([] { return reached.load(std::memory_order_acquire) == 1; }));
        const std::string path = system.path_of(branch::last);
        EXPECT_TRUE(
            path.starts_with(depth < 1'023 ? "tactus://deep/user/b" : "tactus://deep/.../b"));
        EXPECT_EQ(parts_of(path), depth < 1'023 ? static_cast<std::size_t>(depth) + 1 : 32u);
    }
}
