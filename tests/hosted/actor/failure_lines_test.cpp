// SPDX-License-Identifier: Apache-2.0
//
// Goal: an actor that fails in a loop does not fill the log: a few lines, then one per interval
// that counts the others.
#include <tactus/runtime/actor_system.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include "pool_rig.hpp"
#include "still_time.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using namespace std::chrono_literals;
using tactus_test::still_clock;
using tactus_test::until;

namespace {

class lines final : public log_sink {
public:
    void write(const log_record& r) noexcept override {
        const std::lock_guard held(mutex_);
        all_.push_back(std::string(r.from.actor) + " " + std::string(r.text));
    }
    std::vector<std::string> of(std::string_view actor) const {
        const std::lock_guard held(mutex_);
        std::vector<std::string> found;
        for (const std::string& one : all_) {
            if (one.starts_with(actor))
                found.push_back(one.substr(actor.size() + 1));
        }
        return found;
    }

private:
    mutable std::mutex mutex_;
    std::vector<std::string> all_;
};

struct settled {
    actor_ref<int> reply_to;
};
class failing : public actor<int, settled> {
public:
    void on(int) { throw std::runtime_error("no disk"); }
    void on(const settled& m) { m.reply_to.tell(1); }
};

class crash_loop {
public:
    crash_loop() : system_("demo", options()) {}

    /// Returns when all of them were handled.
    void fail(const char* name, int times) {
        auto ref = actor_named(name);
        for (int i = 0; i < times; ++i)
            ref.tell(i);
        EXPECT_TRUE(system_.ask<int>(ref, [](auto me) { return settled{me}; }, 60s));
    }
    std::vector<std::string> lines_of(const char* name) const {
        return log_.of("tactus://demo/user/" + std::string(name));
    }
    still_clock time;

private:
    actor_system::options options() {
        actor_system::options o;
        o.tools.log = &log_;
        o.tools.time = &time;
        o.failures = {.max = 3, .interval = 10s};
        o.guardian_strategy = {};  // the clock stands still: nothing may wait
        return o;
    }
    actor_ref<int, settled> actor_named(const char* name) {
        if (std::string_view(name) == "a")
            return a_ ? *a_ : a_.emplace(system_.spawn<failing>(name));
        return b_ ? *b_ : b_.emplace(system_.spawn<failing>(name));
    }

    lines log_;
    actor_system system_;
    std::optional<actor_ref<int, settled>> a_;
    std::optional<actor_ref<int, settled>> b_;
};

const std::string plain = "failed (exception): no disk; restart";

}  // namespace

// DF-37
TEST(failure_lines, DF_37_a_crash_loop_has_a_few_lines_and_a_summary_per_interval) {
    crash_loop loop;
    loop.fail("a", 500);
    EXPECT_EQ(loop.lines_of("a"),
              (std::vector{plain, plain,
                           plain + "; more of this actor are not logged in the next 10 s"}));
    // Another actor has lines of its own.
    loop.fail("b", 1);
    EXPECT_EQ(loop.lines_of("b"), std::vector{plain});

    loop.time.advance(duration::from_s(9));
    loop.fail("a", 2);
    EXPECT_EQ(loop.lines_of("a").size(), 3u);
    loop.time.advance(duration::from_s(1));
    loop.fail("a", 100);
    ASSERT_EQ(loop.lines_of("a").size(), 4u);
    EXPECT_EQ(loop.lines_of("a").back(),
              plain +
                  "; 499 more were not logged; more of this actor are not logged in the next "
                  "10 s");

    // After an interval without a failure it starts again.
    loop.time.advance(duration::from_s(10));
    loop.fail("a", 2);
    ASSERT_EQ(loop.lines_of("a").size(), 6u);
    EXPECT_EQ(loop.lines_of("a")[4], plain + "; 99 more were not logged");
    EXPECT_EQ(loop.lines_of("a")[5], plain);
}
