// SPDX-License-Identifier: Apache-2.0
//
// Goal: a hosted system has complete defaults, and the parts of its toolbox that it can use may be
// others, each alone (PT-7).
#include <tactus/runtime/actor_system.hpp>

#include <atomic>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include <tactus/runtime/steady_clock.hpp>
#include <tactus/time/manual_clock.hpp>
#include <tactus/time/tick_source.hpp>

using namespace tactus;  // NOLINT: the whole vocabulary is used

namespace {

/// Real time, an hour later.
class late_clock final : public clock {
public:
    [[nodiscard]] instant now() const noexcept override {
        return real_.now() + duration::from_s(3'600);
    }
    [[nodiscard]] clock_kind kind() const noexcept override { return clock_kind::realtime_host; }

private:
    runtime::steady_clock real_;
};

struct last_line final : log_sink {
    void write(const log_record& r) noexcept override {
        at = r.at;
        count.fetch_add(1);
    }
    instant at;
    std::atomic<int> count{0};
};

std::string refusal(const toolbox& t) {
    try {
        const actor_system system("test", {.tools = t});
    } catch (const std::invalid_argument& e) {
        return e.what();
    }
    return {};
}

}  // namespace

// PT-7
TEST(toolbox, a_hosted_system_has_all_it_needs) {
    const actor_system system("test");
    const toolbox t = system.tools();
    EXPECT_EQ(t.time->kind(), clock_kind::realtime_host);
    EXPECT_NE(t.log, nullptr);
    EXPECT_EQ(t.local->states().size, 64U);
    EXPECT_EQ(t.seed, 1U);
}

// PT-7
TEST(toolbox, parts_of_a_hosted_system_may_be_others) {
    const late_clock time;
    last_line line;
    port_local_slot<8> local;
    const instant begin = runtime::steady_clock{}.now();
    {
        actor_system one("test", {.tools = {.time = &time}});
        EXPECT_EQ(one.tools().time, &time);
        EXPECT_NE(one.tools().log, nullptr);
    }
    actor_system system("test",
                        {.tools = {.time = &time, .local = &local, .log = &line, .seed = 7}});
    EXPECT_EQ(system.tools().local, &local);
    EXPECT_EQ(system.tools().seed, 7U);
    system.log().write(log_level::error, "x");
    EXPECT_EQ(line.count.load(), 1);
    EXPECT_GE((line.at - begin).ns(), duration::from_s(3'600).ns());
}

// PT-7: what it cannot use is refused, not ignored.
TEST(toolbox, what_a_hosted_system_cannot_use_is_said) {
    std::byte bytes[64];
    EXPECT_NE(refusal({.memory = bytes}).find("device_system"), std::string::npos);
    tick_source ticks;
    EXPECT_NE(refusal({.ticks = &ticks}).find("device_system"), std::string::npos);
    const manual_clock hand;
    EXPECT_NE(refusal({.time = &hand}).find("deterministic"), std::string::npos);
    EXPECT_EQ(refusal({}), "");
}
