// SPDX-License-Identifier: Apache-2.0
//
// The program with GoogleTest of docs/testing.md, compiled and run.
#include <tactus/test_kit/kit.hpp>

#include <gtest/gtest.h>

#include <chrono>

using namespace std::chrono_literals;

namespace {

struct tick {};
struct report {
    tactus::actor_ref<int> to;
};
/// Counts seconds.
class stopwatch : public tactus::actor<tick, report> {
public:
    void pre_start() { (void)context().start_timer_at_fixed_rate("tick", tick{}, 1s); }
    void on(tick) { ++seconds_; }
    void on(const report& m) { m.to.tell(seconds_); }

private:
    int seconds_ = 0;
};

}  // namespace

TEST(stopwatch, counts_seconds) {
    tactus::test::kit kit;
    auto probe = kit.create_probe<int>();
    auto watch = kit.spawn<stopwatch>("watch");
    kit.advance(1h);
    watch.tell(report{probe.ref()});
    EXPECT_EQ(probe.receive(), 3'600);
}
