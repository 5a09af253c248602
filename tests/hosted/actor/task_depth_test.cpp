// SPDX-License-Identifier: Apache-2.0
//
// Goal: a chain of tasks that await each other may be of any depth: beginning it, going on, failing
// and being destroyed take no stack per task (DF-50).
// Method: chains far deeper than the stack of the thread that they are run on has room for.
#include <tactus/actor/coroutine_set.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <vector>

#include <pthread.h>

#include <tactus/runtime/heap_memory.hpp>

#include "pool_rig.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used

namespace {

// With -fsanitize=address a frame of a function is many times as large.
constexpr std::size_t stack_size = std::size_t{1} << 20U;

/// Runs it on a thread with a stack of `stack_size`.
void on_small_stack(std::function<void()> what) {
    pthread_attr_t how;
    ASSERT_EQ(pthread_attr_init(&how), 0);
    ASSERT_EQ(pthread_attr_setstacksize(&how, stack_size), 0);
    pthread_t thread{};
    ASSERT_EQ(pthread_create(
                  &thread, &how,
                  [](void* f) -> void* {
                      (*static_cast<std::function<void()>*>(f))();
                      return nullptr;
                  },
                  &what),
              0);
    EXPECT_EQ(pthread_join(thread, nullptr), 0);
    (void)pthread_attr_destroy(&how);
}

std::vector<std::uint32_t> depths() {
    return {1, 2, 3, 100'000, static_cast<std::uint32_t>(tactus_test::sized(1'000'000, 10))};
}

/// Waits until the set is destroyed.
struct for_ever : detail::frame_awaiter {
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise>) const noexcept {
        frame().run().how = detail::coroutine_run::state::waits;
    }
    void await_resume() const noexcept {}
};

enum class ending : std::uint8_t { returns, waits, fails, throws };

std::uint32_t begun = 0;
std::uint32_t live = 0;
std::uint32_t in_wrong_order = 0;

/// One of each frame. The innermost is destroyed first.
struct level {
    explicit level(std::uint32_t n) : below(n) {
        ++begun;
        ++live;
    }
    ~level() {
        if (live != begun - below)
            ++in_wrong_order;
        --live;
    }
    level(const level&) = delete;
    level& operator=(const level&) = delete;
    std::uint32_t below;
};

task<std::uint32_t> descend(std::uint32_t below, ending how) {
    const level here(below);
    if (below != 0)
        co_return co_await descend(below - 1, how) + 1;
    if (how == ending::waits)
        co_await for_ever();
    if (how == ending::fails)
        co_await fail_with({"at the bottom"});
    if (how == ending::throws)
        throw std::runtime_error("at the bottom");
    co_return 1U;
}

std::uint32_t returned = 0;

task<> handler(std::uint32_t depth, ending how) {
    returned = co_await descend(depth - 1, how);
}

/// Begins a chain of each depth; what is left of it is destroyed with its set.
void run_chains(ending how, const std::function<void(std::uint32_t depth, const handled&)>& seen) {
    for (const std::uint32_t depth : depths()) {
        begun = 0;
        live = 0;
        in_wrong_order = 0;
        returned = 0;
        on_small_stack([&] {
            runtime::heap_memory memory;
            coroutine_set set({}, memory);
            seen(depth, set.start_handler([&] { return handler(depth, how); }));
            EXPECT_EQ(begun, depth);
            EXPECT_EQ(live, how == ending::waits ? depth : 0U);
        });
        EXPECT_EQ(live, 0U) << depth;
        EXPECT_EQ(in_wrong_order, 0U) << depth;
    }
}

}  // namespace

TEST(task_depth, DF_50_a_deep_chain_returns) {
    run_chains(ending::returns, [](std::uint32_t depth, const handled& done) {
        EXPECT_TRUE(done.is_ok());
        EXPECT_EQ(returned, depth);
    });
}

TEST(task_depth, DF_50_a_deep_chain_is_destroyed_while_it_waits) {
    run_chains(ending::waits, [](std::uint32_t, const handled& done) {
        EXPECT_TRUE(done.is_ok());
        EXPECT_EQ(returned, 0U);
    });
}

TEST(task_depth, DF_50_a_deep_chain_fails_from_its_bottom) {
    run_chains(ending::fails, [](std::uint32_t, const handled& done) {
        EXPECT_EQ(done.what(), handled::kind::failed);
        EXPECT_STREQ(done.why().what, "at the bottom");
    });
}

TEST(task_depth, DF_50_what_is_thrown_goes_up_a_deep_chain) {
    run_chains(ending::throws, [](std::uint32_t, const handled& done) {
        EXPECT_EQ(done.what(), handled::kind::failed);
    });
}
