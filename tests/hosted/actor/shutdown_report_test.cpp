// SPDX-License-Identifier: Apache-2.0
//
// Goal: a shutdown that cannot end says who is left and what each waits for, and ends within its
// limit (EV-5, UP-2).
#include <tactus/runtime/actor_system.hpp>

#include <tactus/actor/one_shot_signal.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <semaphore>
#include <string>
#include <thread>

using namespace tactus;  // NOLINT: the whole vocabulary is used
using namespace std::chrono_literals;

namespace {

/// What blocks until the test says so.
struct gate {
    std::binary_semaphore entered{0};
    std::binary_semaphore open{0};
};

struct block {
    gate* at;
};
class blocker : public actor<block> {
public:
    void on(const block& m) {
        m.at->entered.release();
        m.at->open.acquire();
        m.at->entered.release();
    }
};
class parent : public actor<block> {
public:
    void pre_start() { child_ = *context().try_spawn<blocker>("child", {}); }
    void on(const block& m) { child_.tell(m); }

private:
    actor_ref<block> child_;
};
class dozer : public actor<gate*> {
public:
    task<> on(gate* at) {
        at->entered.release();
        co_await never.wait();
    }
    static inline one_shot_signal never;
};

bool has(const std::string& in, std::string_view piece) {
    return in.find(piece) != std::string::npos;
}
/// The line that ends so.
std::string line_of(const std::string& all, const std::string& end) {
    const std::size_t at = all.find(end + "\n");
    if (at == std::string::npos)
        return "no line of " + end + " in\n" + all;
    const std::size_t begin = all.rfind('\n', at) + 1;
    return all.substr(begin, all.find('\n', at) - begin);
}

struct outcome {
    std::string report;
    std::chrono::nanoseconds took;
};
/// Ends a system while `name` is in a handler that does not return.
template <class A>
outcome end_while_blocked(gate& g, const char* name) {
    testing::internal::CaptureStderr();
    const auto begin = std::chrono::steady_clock::now();
    {
        actor_system system("stuck", {.shutdown_limit = 200ms, .log_level = log_level::off});
        system.spawn<A>(name).tell(block{&g});
        g.entered.acquire();
    }
    const auto took = std::chrono::steady_clock::now() - begin;
    return {testing::internal::GetCapturedStderr(), took};
}
/// Its thread is still there: it is let go, and waited for.
void let_go(gate& g) {
    g.open.release();
    g.entered.acquire();
    std::this_thread::sleep_for(20ms);
}

}  // namespace

// EV-5: a handler that never returns: it runs, on a worker.
TEST(shutdown_report, EV_5_an_actor_that_never_returns) {
    gate g;
    const outcome o = end_while_blocked<blocker>(g, "busy");
    EXPECT_LT(o.took, 2s);
    EXPECT_TRUE(has(o.report, "system 'stuck' did not end within its limit")) << o.report;
    EXPECT_TRUE(has(line_of(o.report, "tactus://stuck/user/busy"), "worker")) << o.report;
    EXPECT_TRUE(has(line_of(o.report, "tactus://stuck/user"), "waits for its children to end"))
        << o.report;
    let_go(g);
}

// EV-5: a child that never stops: its parent waits for it.
TEST(shutdown_report, EV_5_a_child_that_never_stops) {
    gate g;
    const outcome o = end_while_blocked<parent>(g, "top");
    EXPECT_LT(o.took, 2s);
    EXPECT_TRUE(has(line_of(o.report, "tactus://stuck/user/top"), "waits for its children to end"))
        << o.report;
    EXPECT_TRUE(has(line_of(o.report, "tactus://stuck/user/top/child"), "worker")) << o.report;
    let_go(g);
}

// EV-5, AC-2: a coroutine that never goes on is destroyed with its actor, and keeps nobody; while
// it waits, the dump says so.
TEST(shutdown_report, EV_5_a_coroutine_that_never_resumes_keeps_nobody) {
    gate g;
    const auto begin = std::chrono::steady_clock::now();
    {
        actor_system system("still", {.shutdown_limit = 5s});
        system.spawn<dozer>("s").tell(&g);
        g.entered.acquire();
        std::string line;
        for (int i = 0; i < 200 && !has(line, "waits for"); ++i) {
            std::this_thread::sleep_for(5ms);
            line = line_of(system.dump(), "tactus://still/user/s");
        }
        EXPECT_TRUE(has(line, "waits for a coroutine that waits for a signal")) << line;
    }
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 4s);
}
