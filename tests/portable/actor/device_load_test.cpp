// SPDX-License-Identifier: Apache-2.0
//
// Goal: what a device with services has too much of is told to the scheduler's gauge, and timers
// are refused until it is gone; a full mailbox refuses those for it alone (BP-5, BP-3).
// Method: a mailbox that fills up, then messages that are nearly all there may be. Time is moved by
// hand, nobody runs meanwhile, and a timer that is asked for at every tick makes somebody look.
#include <tactus/actor/device_system.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <tactus/scheduler/scheduler_services.hpp>
#include <tactus/time/manual_clock.hpp>

#include "portable_test.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used

namespace {

constexpr device_config config{.actors_max = 2,
                               .messages_max = 20,
                               .timers_max = 4,
                               .overflow_max = 1,
                               .spare_bytes = 64 * sizeof(void*)};
alignas(16) std::byte room[device_system::required_bytes(config)];
alignas(16) std::byte services_room[1'024];

class idle : public actor<int> {
public:
    void on(int) {}
};

/// Hears of mailboxes that fill up.
struct heard final : world_events {
    void pressure(const mailbox_pressure& what) noexcept override { capacity = what.capacity; }
    void timer_warned(const scheduler_warning& what) noexcept override {
        if (what.kind == scheduler_warning_kind::backpressure_state) {
            last = what;
            ++count;
        }
    }
    std::uint32_t capacity = 0;
    std::uint32_t count = 0;
    scheduler_warning last;
};

struct rig {
    rig() {
        c.timer_services = &services;
        c.events = &events;
    }
    /// Two ticks: what becomes of a timer then.
    [[nodiscard]] std::expected<void, scheduler_error> after_two_ticks(device_system& system) {
        return after_two_ticks(system, [](scheduler& timers) {
            return timers.schedule_once_fn(duration::from_s(1), [](const execution_batch&) {});
        });
    }
    template <class Schedule>
    [[nodiscard]] std::expected<void, scheduler_error> after_two_ticks(device_system& system,
                                                                       Schedule&& schedule) {
        scheduler& timers = *system.world().timers();
        std::expected<void, scheduler_error> last;
        for (unsigned i = 0; i < 2; ++i) {
            (void)time.advance(duration::from_ms(1));
            auto made = schedule(timers);
            last = {};
            if (made)
                (void)made->cancel();
            else
                last = std::unexpected(made.error());
        }
        return last;
    }

    arena memory{services_room};
    full_scheduler_services services{
        {.memory = &memory, .tasks_max = 1, .probes_max = 2, .policies_max = 1}};
    manual_clock time;
    heard events;
    device_config c = config;
};

}  // namespace

// BP-5, MB-5
TEST(device_load, DF_30_a_full_mailbox_refuses_only_timers_for_it) {
    rig r;
    auto system = device_system::create("test", {.time = &r.time, .memory = room}, r.c);
    ASSERT_TRUE(system.has_value());
    const auto full = system->try_spawn<idle>(
        "full", {.mailbox = {.when_full = overflow::reject, .capacity = 10}});
    ASSERT_TRUE(full.has_value());
    (void)system->run_until_idle();
    backpressure_gauge& gauge = r.services.gauge();
    EXPECT_EQ(gauge.probe_count(), 2u);
    for (int i = 0; i < 8; ++i)
        full->tell(i);
    EXPECT_EQ(r.events.capacity, 10u);
    const auto for_it = [&](scheduler& timers) {
        return timers.schedule_once(duration::from_s(1), full->any().index(), 1, {},
                                    timer_priority::normal);
    };
    // At the second tick: the first is not yet in a row with another.
    scheduler& timers = *system->world().timers();
    (void)r.time.advance(duration::from_ms(1));
    EXPECT_TRUE(for_it(timers).value().cancel());
    EXPECT_EQ(r.events.count, 0u);
    const auto refused = r.after_two_ticks(*system, for_it);
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code, scheduler_errc::backpressured);
    EXPECT_EQ(refused.error().cause, backpressure_cause::mailbox);
    EXPECT_EQ(refused.error().value, 8);
    EXPECT_EQ(refused.error().limit, 10);
    EXPECT_EQ(r.events.count, 1u);
    EXPECT_TRUE(r.events.last.cause == backpressure_cause::mailbox);
    EXPECT_TRUE(r.events.last.to == full->any().index());
    EXPECT_EQ(r.events.last.value, 1);
    EXPECT_EQ(r.events.last.limit, 800);
    EXPECT_FALSE(gauge.engaged());
    EXPECT_TRUE(r.after_two_ticks(*system).has_value());
    (void)system->run_until_idle();
    EXPECT_TRUE(r.after_two_ticks(*system, for_it).has_value());
    EXPECT_EQ(r.events.count, 2u);
    EXPECT_EQ(r.events.last.value, 0);
}

// BP-5: a device has as many actors as it was made for; what it can run out of are messages. Its
// services may serve another system after it.
TEST(device_load, BP_5_nearly_as_many_messages_as_there_may_be) {
    rig r;
    backpressure_gauge& gauge = r.services.gauge();
    for (unsigned again = 0; again < 2; ++again) {
        auto system = device_system::create("test", {.time = &r.time, .memory = room}, r.c);
        ASSERT_TRUE(system.has_value());
        EXPECT_EQ(gauge.probe_count(), 2u);
        const auto one = system->spawn<idle>("one");
        ASSERT_TRUE(one.has_value() && system->spawn<idle>("two").has_value());
        (void)system->run_until_idle();
        EXPECT_TRUE(r.after_two_ticks(*system).has_value());
        for (int i = 0; i < 15; ++i)
            one->tell(i);
        EXPECT_TRUE(r.after_two_ticks(*system).has_value());
        EXPECT_TRUE(std::string_view(gauge.highest().name) == "runtime");
        EXPECT_TRUE(gauge.highest().permille < 800u);
        for (int i = 0; i < 3; ++i)
            one->tell(i);
        EXPECT_FALSE(r.after_two_ticks(*system).has_value());
        EXPECT_TRUE(std::string_view(gauge.highest().name) == "runtime");
        (void)system->run_until_idle();
        EXPECT_TRUE(r.after_two_ticks(*system).has_value());
    }
}
