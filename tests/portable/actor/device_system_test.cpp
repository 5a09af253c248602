// SPDX-License-Identifier: Apache-2.0
//
// Goal: a system in one array: it says what is missing, runs actors and timers by hand, ends, and
// every part of its toolbox can be another (PT-7).
#include <tactus/actor/device_system.hpp>

#include <cstdint>
#include <initializer_list>
#include <string_view>

#include <tactus/actor/actor_selection.hpp>
#include <tactus/dispatch/text_buffer.hpp>
#include <tactus/time/manual_clock.hpp>

#include "kernel_rig.hpp"
#include "log_rig.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using tactus_test::journal;
using tactus_test::ms;

namespace {

constexpr device_config small{.actors_max = 3,
                              .messages_max = 8,
                              .timers_max = 4,
                              .overflow_max = 1,
                              .bytes_per_actor = 70 * sizeof(void*)};
// PT-7: known when compiling.
constexpr std::size_t needed = device_system::required_bytes(small);
constexpr std::size_t needed_for_two =
    device_system::required_bytes({.actors_max = 2,
                                   .messages_max = 8,
                                   .timers_max = 4,
                                   .overflow_max = 1,
                                   .bytes_per_actor = small.bytes_per_actor});
static_assert(needed >= needed_for_two + small.bytes_per_actor + sizeof(slot));

std::span<std::byte> array(std::size_t size = needed, std::size_t offset = 0) {
    alignas(std::max_align_t) static std::byte bytes[needed + alignof(std::max_align_t)];
    return {bytes + offset, size};
}

manual_clock& hand() {
    static manual_clock one{duration::from_ns(1)};
    return one;
}
toolbox tools() {
    journal().clear();
    return {.time = &hand(), .memory = array()};
}

class noter : public actor<int> {
public:
    void on(int v) { journal().add(v); }
};
/// Says its number when its time has come, three times.
class beeper : public actor<int> {
public:
    explicit beeper(int id) : id_(id) {}
    void pre_start() { (void)context().start_timer_at_fixed_rate(1, id_, ms(10 * id_), ms(10)); }
    void on(int id) {
        journal().add(id);
        if (++count_ == 3)
            context().stop();
    }

private:
    int id_;
    int count_ = 0;
};
class failing : public actor<int> {
public:
    std::expected<void, failure> on(int) { return std::unexpected(failure("out of paper")); }
};
supervisor_strategy escalating() {
    return {.decider = [](const failure_cause&) { return directive::escalate; }};
}

}  // namespace

// PT-7: spawn, tell, run.
TEST(device_system, runs_actors_by_hand) {
    auto system = device_system::create("test", tools(), small);
    ASSERT_TRUE(system.has_value());
    EXPECT_TRUE(system->name() == "test");
    const auto who = system->spawn<noter>("who");
    ASSERT_TRUE(who.has_value());
    system->run_until_idle();
    who->tell(1);
    who->tell(2);
    EXPECT_TRUE(journal().is({}));
    EXPECT_TRUE(system->run_once());
    EXPECT_FALSE(system->run_once());
    EXPECT_TRUE(journal().is({1, 2}));
    EXPECT_TRUE(system->select("/user/who").resolve() == any_ref(*who));
    EXPECT_TRUE(system->stop(*who));
    EXPECT_FALSE(system->run_until_idle() == 0);
    EXPECT_FALSE(system->stop(*who));
    const auto twice = system->spawn<noter>("a b");
    ASSERT_TRUE(!twice.has_value());
    EXPECT_TRUE(twice.error().what == spawn_error::kind::name_invalid);
}

// PT-7: timers of the array's wheel, by a clock that is set by hand; run() returns when it would
// wait for that.
TEST(device_system, timers_come_when_the_clock_says_so) {
    auto system = device_system::create("test", tools(), small);
    ASSERT_TRUE(system.has_value());
    ASSERT_TRUE(system->spawn<beeper>("one", 1).has_value());
    ASSERT_TRUE(system->spawn<beeper>("two", 2).has_value());
    system->run();
    EXPECT_TRUE(journal().is({}));
    for (int i = 0; i < 3; ++i) {
        hand().advance(ms(10));
        system->run();
    }
    EXPECT_TRUE(journal().is({1, 1, 2, 2, 1}));
    hand().advance(ms(10));
    system->run();
    EXPECT_TRUE(journal().is({2}));
}

// PT-7: arena_too_small {needed, given}.
TEST(device_system, an_array_too_small_is_said_with_numbers) {
    toolbox t = tools();
    t.memory = array(needed - 1);
    const auto refused = device_system::create("test", t, small);
    ASSERT_TRUE(!refused.has_value());
    EXPECT_TRUE(refused.error().what == device_error::kind::arena_too_small);
    EXPECT_EQ(refused.error().needed, needed);
    EXPECT_EQ(refused.error().given, needed - 1);
    // Enough is enough, wherever it begins.
    for (const std::size_t offset : {0u, 1u, 8u}) {
        t.memory = array(needed, offset);
        auto system = device_system::create("test", t, small);
        ASSERT_TRUE(system.has_value());
        EXPECT_EQ(system->memory().refused(), 0u);
    }
}

// PT-7
TEST(device_system, what_is_wrong_is_said_by_name) {
    using kind = device_error::kind;
    const auto says = [](kind what, std::string_view name, const toolbox& t,
                         const device_config& c) {
        const auto refused = device_system::create(name, t, c);
        return !refused && refused.error().what == what;
    };
    toolbox t = tools();
    EXPECT_TRUE(says(kind::name_invalid, "a b", t, small));
    t.time = nullptr;
    EXPECT_TRUE(says(kind::no_clock, "test", t, small));
    t.time = &hand();
    EXPECT_TRUE(says(kind::resolution_invalid, "test", t, {.resolution = duration::zero()}));
    EXPECT_TRUE(says(kind::resolution_invalid, "test", t, {.resolution = ms(1'001)}));
    EXPECT_TRUE(says(kind::capacity_invalid, "test", t, {.actors_max = 0}));
    EXPECT_TRUE(says(kind::capacity_invalid, "test", t, {.messages_max = 0}));
    EXPECT_TRUE(says(kind::capacity_invalid, "test", t, {.timers_max = 65'536}));
    EXPECT_TRUE(says(kind::capacity_invalid, "test", t, {.timers_max = 4, .overflow_max = 5}));
    for (std::size_t i = 0; i < device_error_count; ++i) {
        EXPECT_FALSE(std::string_view(name_of(static_cast<kind>(i))).empty());
        EXPECT_FALSE(std::string_view(text_of(static_cast<kind>(i))).empty());
    }
}

// PT-7: as many as the config says, each with a name, arguments and a timer; and one too many is an
// error, not the end.
TEST(device_system, has_room_for_what_its_config_says) {
    auto system = device_system::create("test", tools(), small);
    ASSERT_TRUE(system.has_value());
    char name[] = "beeper-0";
    for (std::uint32_t i = 0; i < small.actors_max; ++i) {
        ++name[sizeof name - 2];
        EXPECT_TRUE(system->spawn<beeper>(name, 1).has_value());
    }
    system->run_until_idle();
    EXPECT_EQ(system->memory().refused(), 0u);
    const auto refused = system->spawn<beeper>("", 1);
    ASSERT_TRUE(!refused.has_value());
    EXPECT_TRUE(refused.error().what == spawn_error::kind::slots_exhausted);
    for (int i = 0; i < 3; ++i) {
        hand().advance(ms(10));
        system->run_until_idle();
    }
    // They have ended, and there is room again.
    EXPECT_TRUE(system->spawn<beeper>("beeper-1", 1).has_value());
}

// PT-7
TEST(device_system, takes_as_many_messages_as_its_config_says) {
    auto system = device_system::create("test", tools(), small);
    ASSERT_TRUE(system.has_value());
    const auto who = system->spawn<noter>("who");
    system->run_until_idle();
    for (std::uint32_t i = 0; i < small.messages_max; ++i)
        EXPECT_TRUE(who->try_tell(static_cast<int>(i)).has_value());
    system->run_until_idle();
    EXPECT_EQ(journal().count(), small.messages_max);
}

// PT-7: without timers there is no wheel, which is most of a small array.
TEST(device_system, without_timers_it_is_smaller) {
    constexpr device_config none{
        .actors_max = 1, .messages_max = 4, .timers_max = 0, .overflow_max = 0};
    static_assert(device_system::required_bytes(none) + sizeof(small_timer_wheel) < needed);
    auto system = device_system::create("test", tools(), none);
    ASSERT_TRUE(system.has_value());
    const auto who = system->spawn<beeper>("who", 1);
    system->run_until_idle();
    who->tell(5);
    system->run_until_idle();
    EXPECT_TRUE(journal().is({5}));
}

// PT-7, EV-3: children before parents; then it says so.
TEST(device_system, ends_when_it_is_told) {
    auto system = device_system::create("test", tools(), small);
    ASSERT_TRUE(system.has_value());
    ASSERT_TRUE(system->spawn<beeper>("one", 1).has_value());
    system->run_until_idle();
    const std::size_t before = system->memory().used();
    EXPECT_FALSE(system->has_ended());
    system->terminate();
    system->run();
    EXPECT_TRUE(system->has_ended());
    EXPECT_TRUE(system->failure_text().empty());
    EXPECT_LT(system->memory().used(), before);
    EXPECT_FALSE(system->spawn<noter>("late").has_value());
}

// PT-7, SV-5: a failure that nobody handles ends the system, and is said.
TEST(device_system, a_failure_of_the_guardian_ends_it) {
    device_config c = small;
    c.guardian_strategy = escalating();
    tactus_test::kept_log lines;
    toolbox t = tools();
    t.log = &lines;
    auto system = device_system::create("test", t, c);
    ASSERT_TRUE(system.has_value());
    const auto who = system->spawn<failing>("who");
    who->tell(1);
    system->run();
    EXPECT_TRUE(system->has_ended());
    EXPECT_TRUE(system->failure_text() == "out of paper");
    EXPECT_EQ(lines.count, 1u);
    EXPECT_TRUE(lines.last.text == "out of paper");
    EXPECT_TRUE(lines.last.level == log_level::error);
}

// PT-7: each part alone.
TEST(device_system, has_the_toolbox_it_was_given) {
    tick_source ticks;
    port_local_slot<16> local;
    toolbox t = tools();
    t.ticks = &ticks;
    t.local = &local;
    t.seed = 42;
    {
        auto system = device_system::create("test", t, small);
        ASSERT_TRUE(system.has_value());
        EXPECT_TRUE(system->tools().local == &local);
        EXPECT_EQ(system->tools().seed, 42u);
        EXPECT_TRUE(system->tools().time == &hand());
        EXPECT_TRUE(system->ticks().state == tick_state::ok);
        ticks.notify_tick(33);  // more than the window
        EXPECT_TRUE(system->ticks().state == tick_state::backpressured);
        system->run();  // takes them
        EXPECT_EQ(system->ticks().ticks, 33u);
        ticks.notify_tick();
        system->run();
        EXPECT_TRUE(system->ticks().state == tick_state::ok);
    }
    // The lease has ended with the system.
    const auto lease = ticks.acquire();
    EXPECT_TRUE(lease.status().state == tick_state::suspended);
}

namespace {

/// Keeps what it is given until the test runs it.
class waiting_room final : public executor {
public:
    [[nodiscard]] bool submit(worker_task& t, const submit_hints&) noexcept override {
        task_ = &t;
        return true;
    }
    void notify_rejected(worker_task&, unsigned) noexcept override {}
    [[nodiscard]] bool withdraw(worker_task& t) noexcept override {
        if (task_ != &t)
            return false;
        task_ = nullptr;
        return true;
    }
    bool run() noexcept {
        worker_task* t = std::exchange(task_, nullptr);
        return t != nullptr && t->run().is_ok();
    }

private:
    worker_task* task_ = nullptr;
};

}  // namespace

// PT-7: another executor runs it; what is left when it ends is closed all the same.
TEST(device_system, runs_on_an_executor_of_its_own) {
    waiting_room outside;
    toolbox t = tools();
    t.runs = &outside;
    auto system = device_system::create("test", t, small);
    ASSERT_TRUE(system.has_value());
    const auto who = system->spawn<noter>("who");
    ASSERT_TRUE(system->spawn<beeper>("one", 1).has_value());
    who->tell(7);
    EXPECT_FALSE(system->run_once());
    EXPECT_EQ(system->run_until_idle(), 0u);
    EXPECT_TRUE(outside.run());
    EXPECT_TRUE(journal().is({7}));
    hand().advance(ms(10));
    system->run();  // who has the ticks says that time has passed
    EXPECT_TRUE(outside.run());
    EXPECT_TRUE(journal().is({1}));
    who->tell(8);
}

// OH-6: text goes to a character sink, piece by piece.
TEST(device_system, dumps_to_any_port) {
    auto system = device_system::create("test", tools(), small);
    ASSERT_TRUE(system.has_value());
    ASSERT_TRUE(system->spawn<noter>("who").has_value());
    system->run_until_idle();
    text_buffer<1'024> text;
    system->dump(text);
    EXPECT_TRUE(text.view().find("tactus://test/user/who") != std::string_view::npos);
    text.clear();
    system->dump(text, {.format = dump_format::json});
    EXPECT_TRUE(text.view().find("\"path\":\"tactus://test/user/who\"") != std::string_view::npos);
}
