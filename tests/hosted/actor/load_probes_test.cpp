// SPDX-License-Identifier: Apache-2.0
//
// Goal: what a hosted system has too much of is told to the scheduler's gauge by its probes, and
// timers are refused until it is gone; a full mailbox refuses those for it alone (BP-5, BP-3).
// Method: real load: a mailbox that fills up, actors that wait for a worker, as many actors as
// there may be. For each the greatest load that is borne, and one more.
#include <tactus/runtime/actor_system.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <latch>
#include <mutex>
#include <optional>
#include <semaphore>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tactus/scheduler/scheduler.hpp>

#include "blocker.hpp"
#include "pool_rig.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using namespace std::chrono_literals;
using tactus_test::block;
using tactus_test::blocker;
using tactus_test::busy_worker;
using tactus_test::until;

namespace {

actor_system::options one_worker() {
    return {.dispatcher = {.workers = 1, .max_workers = 1}, .log_level = log_level::off};
}

/// What becomes of a timer of that priority; nothing: it is accepted. It is gone at once.
std::optional<scheduler_error> refusal(scheduler& timers, timer_priority priority) {
    auto made = timers.add_function(job_request::once(duration::from_s(60), priority),
                                    [](const execution_batch&) {});
    if (!made)
        return made.error();
    (void)made->cancel();
    return std::nullopt;
}

/// Samples at ticks that differ: probes are asked when something is scheduled.
void sample(scheduler& timers, unsigned times) {
    const auto tick_of = [&] {
        return runtime::steady_clock{}.now().ns() /
               static_cast<std::uint64_t>(timers.resolution().ns());
    };
    for (unsigned i = 0; i < times; ++i) {
        (void)refusal(timers, timer_priority::high);
        const auto at = tick_of();
        ASSERT_TRUE(until([&] { return tick_of() != at; }));
    }
}

struct pressed {
    explicit pressed(actor_system& s) : timers(s.scheduler()) {}

    /// The load is there, and stays below what engages the gauge.
    void bears(std::string_view probe, std::uint32_t permille) {
        sample(timers, 4);
        EXPECT_EQ(timers.gauge()->highest().name, probe);
        EXPECT_EQ(timers.gauge()->highest().permille, permille);
        EXPECT_FALSE(timers.gauge()->engaged());
        EXPECT_NE(timers.pressure_now().cause, backpressure_cause::gauge);
    }
    /// Its probe says so, and the scheduler refuses what is not important because of it.
    void engages(std::string_view probe, std::uint32_t permille) {
        EXPECT_TRUE(until([&] {
            (void)refusal(timers, timer_priority::high);
            return timers.gauge()->highest().name == probe &&
                   timers.gauge()->highest().permille >= permille &&
                   timers.pressure_now().state == backpressure_state::backpressure &&
                   timers.pressure_now().cause == backpressure_cause::gauge;
        }));
        // For as long as it is there, not for the moment in which it was noticed.
        sample(timers, 30);
        EXPECT_TRUE(timers.gauge()->engaged());
        for (const auto p : {timer_priority::normal, timer_priority::low}) {
            const auto why = refusal(timers, p);
            ASSERT_TRUE(why.has_value());
            EXPECT_EQ(why->code, scheduler_errc::backpressured);
            EXPECT_EQ(why->cause, backpressure_cause::gauge);
        }
        EXPECT_FALSE(refusal(timers, timer_priority::high).has_value());
    }
    /// It is gone, and so is the pressure.
    void clears() {
        EXPECT_TRUE(until([&] {
            (void)refusal(timers, timer_priority::high);
            return timers.pressure_now().state == backpressure_state::normal &&
                   !timers.gauge()->engaged();
        }));
        EXPECT_LT(timers.gauge()->highest().permille, 800U);
        EXPECT_FALSE(refusal(timers, timer_priority::low).has_value());
    }

    scheduler& timers;
};

/// The same of a timer for an actor.
template <class Ref>
std::optional<scheduler_error> refusal_for(actor_system& system, const Ref& to,
                                           timer_priority priority) {
    auto made = system.timers().schedule_once(duration::from_s(60), to, 1, priority);
    if (!made)
        return made.error();
    (void)made->cancel();
    return std::nullopt;
}

class idle : public actor<int> {
public:
    void on(int) {}
};

/// Which mailbox a change of state is about, and its sentence.
class states final : public world_events {
public:
    void timer_warned(const scheduler_warning& what) noexcept override {
        if (what.kind != scheduler_warning_kind::backpressure_state)
            return;
        char sentence[256];
        const std::lock_guard held(mutex_);
        all_.emplace_back(what.to, describe(what, sentence));
    }
    [[nodiscard]] std::vector<std::pair<mailbox_index, std::string>> told() {
        const std::lock_guard held(mutex_);
        return all_;
    }

private:
    std::mutex mutex_;
    std::vector<std::pair<mailbox_index, std::string>> all_;
};

}  // namespace

// BP-5, MB-5: it told at 75 % that it fills up, and no more; how full it is now is what counts. It
// concerns only timers for it.
TEST(load_probes, DF_30_a_full_mailbox_refuses_only_timers_for_it) {
    std::latch in(1);
    std::counting_semaphore<> go(0);
    states heard;
    actor_system::options o = one_worker();
    o.events = &heard;
    actor_system system("test", o);
    pressed timers(system);
    const auto full = system.try_spawn<blocker>(
        "full", {.mailbox = {.when_full = overflow::reject, .capacity = 64}}, &in, &go);
    ASSERT_TRUE(full);
    const actor_ref<int> other = system.spawn<idle>("other");
    full->tell(block{});
    in.wait();
    const auto fill = [&](std::uint32_t depth) {
        actor_scheduler& kernel = system.world().kernel();
        while (kernel.depth_of(full->any().index()).value_or(depth) < depth)
            full->tell(1);
    };
    fill(51);  // 797 thousandths
    sample(timers.timers, 4);
    EXPECT_FALSE(refusal_for(system, *full, timer_priority::low));
    fill(64);
    ASSERT_TRUE(until([&] { return refusal_for(system, *full, timer_priority::normal); }));
    sample(timers.timers, 30);
    for (const auto p : {timer_priority::normal, timer_priority::low}) {
        const auto why = refusal_for(system, *full, p);
        ASSERT_TRUE(why.has_value());
        EXPECT_EQ(why->code, scheduler_errc::backpressured);
        EXPECT_STREQ(name_of(why->cause), "mailbox");
        EXPECT_EQ(why->value, 64);
        EXPECT_EQ(why->limit, 64);
        EXPECT_FALSE(refusal_for(system, other, p));
        EXPECT_FALSE(refusal(timers.timers, p));
        EXPECT_FALSE(refusal_for(system, system.spawn_anonymous<idle>(), p));
    }
    EXPECT_FALSE(refusal_for(system, *full, timer_priority::high));
    EXPECT_FALSE(timers.timers.gauge()->engaged());
    EXPECT_EQ(timers.timers.pressure_now().state, backpressure_state::normal);
    ASSERT_EQ(heard.told().size(), 1U);
    EXPECT_EQ(heard.told()[0].first, full->any().index());
    EXPECT_EQ(
        heard.told()[0].second,
        "the mailbox of tactus://test/user/full is filled to 100 %: timers for it are refused, "
        "but for those of priority high");
    EXPECT_GE(timers.timers.metrics()
                  .backpressured[static_cast<std::size_t>(backpressure_cause::mailbox)],
              3U);

    go.release();
    EXPECT_TRUE(until([&] { return !refusal_for(system, *full, timer_priority::low); }));
    ASSERT_EQ(heard.told().size(), 2U);
    EXPECT_EQ(heard.told()[1].second,
              "the mailbox of tactus://test/user/full is filled to 0 %: timers for it are accepted "
              "again");
}

// BP-5: of more mailboxes than are looked at none that is full is forgotten for one that is not,
// and one that has ended is not full.
TEST(load_probes, DF_30_the_full_ones_of_many_mailboxes) {
    busy_worker busy;
    std::vector<actor_ref<int>> all;
    actor_system system("test", one_worker());
    // The only worker is held up, so all of them stay as they are.
    busy.begin(system);
    const auto add = [&](std::uint32_t messages) {
        const auto made = system.try_spawn<idle>(
            "", {.mailbox = {.when_full = overflow::reject, .capacity = 100}});
        ASSERT_TRUE(made);
        for (std::uint32_t i = 0; i < messages; ++i)
            made->tell(1);
        all.push_back(*made);
    };
    add(95);
    EXPECT_TRUE(until([&] { return refusal_for(system, all[0], timer_priority::normal); }));
    for (int i = 0; i < 20; ++i)
        add(i % 2 == 0 ? 76 : 90);
    EXPECT_TRUE(until([&] { return refusal_for(system, all[2], timer_priority::normal); }));
    sample(system.scheduler(), 4);
    EXPECT_TRUE(refusal_for(system, all[0], timer_priority::normal));
    EXPECT_FALSE(refusal_for(system, all[1], timer_priority::normal));
    (void)system.stop(all[0].any());
    busy.end();
    EXPECT_TRUE(until([&] {
        return !refusal_for(system, all[0], timer_priority::normal) &&
               !refusal_for(system, all[2], timer_priority::normal);
    }));
}

// BP-5, DF-77: mailboxes that wait for a worker, 4,096 each being as much as it can bear. Not
// refused tasks, as in the origin (docs/deviations.md).
TEST(load_probes, BP_5_a_busy_dispatcher) {
    busy_worker busy;
    std::vector<actor_ref<int>> all;
    actor_system system("test", one_worker());
    pressed timers(system);
    for (int i = 0; i < 3'300; ++i)
        all.push_back(system.spawn_anonymous<idle>());
    busy.begin(system);
    // Whoever was not yet begun when it was held up waits already.
    const auto waiting = [&] { return system.world().kernel().order().waiting_count(); };
    std::size_t told = 0;
    const auto fill = [&](std::uint32_t count) {
        for (; told < all.size() && waiting() < count; ++told)
            all[told].tell(1);
        return waiting();
    };
    ASSERT_EQ(fill(3'276), 3'276U);  // of 4,096: 799 thousandths
    timers.bears("dispatcher", 799);
    ASSERT_EQ(fill(3'277), 3'277U);
    timers.engages("dispatcher", 800);
    busy.end();
    timers.clears();
}

// BP-5, DF-77: actors alive, of as many as there may be. Not the backlog of the driver, as in the
// origin (docs/deviations.md).
TEST(load_probes, BP_5_as_many_actors_as_there_may_be) {
    actor_system::options few = one_worker();
    few.actors_max = 1'000;
    actor_system system("test", few);
    pressed timers(system);
    actor_scheduler& kernel = system.world().kernel();
    std::vector<actor_ref<int>> all;
    while (kernel.live_count() < 799)
        all.push_back(system.spawn_anonymous<idle>());
    timers.bears("runtime", 799);
    all.push_back(system.spawn_anonymous<idle>());
    timers.engages("runtime", 800);
    (void)system.stop(all.back().any());
    timers.clears();
    EXPECT_LT(kernel.live_count(), 800U);
}
