// SPDX-License-Identifier: Apache-2.0
//
// On-close tasks: order, failing, cancelling, capacity, closing, and the time they have.
#include <tactus/scheduler/on_close_tasks.hpp>

#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include <tactus/base/det_rng.hpp>
#include <tactus/dispatch/arena.hpp>

#include "portable_test.hpp"

namespace tactus {
namespace {

constexpr auto critical = close_priority::system_critical;
constexpr auto runtime = close_priority::runtime;
constexpr auto user = close_priority::user;

class hand_clock final : public clock {
public:
    instant at = instant::from_ns(1'000);
    [[nodiscard]] instant now() const noexcept override { return at; }
    [[nodiscard]] clock_kind kind() const noexcept override { return clock_kind::deterministic; }
};

struct ear final : scheduler_listener, close_observer {
    unsigned failures = 0;
    unsigned ran = 0;
    scheduler_warning last;
    close_result last_run;
    void warned(const scheduler_warning& what) noexcept override {
        ++failures;
        last = what;
    }
    void task_ran(const close_result& what) noexcept override {
        ++ran;
        last_run = what;
    }
};

struct rig {
    explicit rig(std::uint32_t capacity = 8) : tasks(memory, capacity) {}

    // A task that writes its letter down.
    auto letter(char c) {
        return [this, c] { write(c); };
    }
    void write(char c) {
        if (written < sizeof text)
            text[written++] = c;
    }
    close_report run(duration timeout = 5_s) { return tasks.run(time, timeout, &heard, &heard); }
    std::string_view order() const { return {text, written}; }

    alignas(16) std::array<std::byte, 1'600> bytes{};
    arena memory{bytes};
    hand_clock time;
    ear heard;
    char text[64] = {};
    std::size_t written = 0;
    on_close_tasks tasks;
};

// TC-S32, SH-2
TEST(on_close_tasks, run_by_priority_then_in_the_order_of_registration) {
    rig r;
    EXPECT_TRUE(r.tasks.add(r.letter('u'), user).has_value());
    EXPECT_TRUE(r.tasks.add(r.letter('r'), runtime).has_value());
    EXPECT_TRUE(r.tasks.add(r.letter('c'), critical).has_value());
    EXPECT_TRUE(r.tasks.add(r.letter('v'), user).has_value());
    EXPECT_TRUE(r.tasks.add(r.letter('s'), runtime).has_value());
    EXPECT_TRUE(r.tasks.add(r.letter('d'), critical).has_value());
    EXPECT_EQ(r.tasks.count(), 6u);
    const close_report report = r.run();
    EXPECT_EQ(r.order(), std::string_view("cdrsuv"));
    EXPECT_EQ(report.succeeded, 6u);
    EXPECT_EQ(report.failed, 0u);
    EXPECT_EQ(report.not_begun, 0u);
    EXPECT_EQ(std::string_view(report.unfinished), std::string_view(""));
    EXPECT_EQ(report.unfinished_number, 0u);
    EXPECT_TRUE(report.is_clean());
    EXPECT_EQ(r.heard.ran, 6u);
    EXPECT_EQ(r.heard.last_run.number, 4u);
    EXPECT_EQ(r.tasks.count(), 0u);
}

// TC-S33, SH-2
TEST(on_close_tasks, beyond_the_capacity_they_are_refused) {
    rig r(1);
    EXPECT_EQ(r.tasks.capacity(), 1u);
    EXPECT_TRUE(r.tasks.add(r.letter('a'), user).has_value());
    const auto second = r.tasks.add(r.letter('b'), critical);
    ASSERT_FALSE(second.has_value());
    EXPECT_EQ(second.error().code, scheduler_errc::task_run_capacity_exceeded);
    EXPECT_EQ(second.error().value, 1);
    EXPECT_EQ(second.error().limit, 1);
    EXPECT_EQ(r.run().succeeded, 1u);
    EXPECT_EQ(r.order(), std::string_view("a"));
}

// TC-S33: a cancelled task gives its place back.
TEST(on_close_tasks, a_place_can_be_used_again) {
    rig r(1);
    for (int i = 0; i < 5; ++i) {
        const auto one = r.tasks.add(r.letter('a'), user);
        ASSERT_TRUE(one.has_value());
        EXPECT_EQ(r.tasks.add(r.letter('b'), user).error().value, 1);
        EXPECT_TRUE(r.tasks.cancel(*one));
    }
    EXPECT_TRUE(r.run().empty());
}

// TC-S34, SH-2, C-SCH-37: the rest go on.
TEST(on_close_tasks, a_failing_task_is_counted_and_told) {
    rig r;
    EXPECT_TRUE(r.tasks.add([] { return failure("no disk"); }, critical, "save").has_value());
    EXPECT_TRUE(r.tasks
                    .add(
                        [&r] {
                            r.time.at = r.time.at + 2_s;
                            return handled::failed("no net");
                        },
                        runtime)
                    .has_value());
    EXPECT_TRUE(r.tasks.add([] { return handled::ok(); }, user).has_value());
    const close_report report = r.run();
    EXPECT_EQ(report.succeeded, 1u);
    EXPECT_EQ(report.failed, 2u);
    EXPECT_EQ(r.heard.failures, 2u);
    EXPECT_EQ(r.heard.last.kind, scheduler_warning_kind::task_run_failed);
    EXPECT_EQ(r.heard.last.value, 2);
    EXPECT_EQ(std::string_view(r.heard.last.text), std::string_view("no net"));
    EXPECT_EQ(r.heard.last.at, r.time.now());
    EXPECT_EQ(r.heard.ran, 3u);
    EXPECT_EQ(r.heard.last_run.error, nullptr);
}

// TC-S34: nobody need listen.
TEST(on_close_tasks, nobody_need_listen) {
    rig r;
    EXPECT_TRUE(r.tasks.add([] { return failure("x"); }, user).has_value());
    EXPECT_EQ(r.tasks.run(r.time, 1_s, nullptr).failed, 1u);
}

// TC-S35, SH-1
TEST(on_close_tasks, a_second_run_is_empty) {
    rig r;
    EXPECT_TRUE(r.tasks.add(r.letter('a'), user).has_value());
    EXPECT_FALSE(r.run().empty());
    EXPECT_TRUE(r.run().empty());
    EXPECT_EQ(r.order(), std::string_view("a"));
    EXPECT_EQ(r.tasks.progress().succeeded, 1u);
}

// SH-1: also from inside a task.
TEST(on_close_tasks, a_run_inside_a_run_is_empty) {
    rig r;
    bool empty = false;
    EXPECT_TRUE(r.tasks.add([&] { empty = r.run().empty(); }, user).has_value());
    EXPECT_TRUE(r.tasks.add(r.letter('a'), user).has_value());
    EXPECT_EQ(r.run().succeeded, 2u);
    EXPECT_TRUE(empty);
}

// SH-2, SH-4
TEST(on_close_tasks, nothing_can_be_registered_once_closed) {
    rig r;
    EXPECT_TRUE(r.tasks.is_open());
    EXPECT_TRUE(r.tasks.add(r.letter('a'), user).has_value());
    r.tasks.close();
    EXPECT_FALSE(r.tasks.is_open());
    const auto late = r.tasks.add(r.letter('b'), critical);
    ASSERT_FALSE(late.has_value());
    EXPECT_EQ(late.error().code, scheduler_errc::closed);
    EXPECT_EQ(r.run().succeeded, 1u);
    r.tasks.close();
    EXPECT_EQ(r.tasks.add(r.letter('b'), critical).error().code, scheduler_errc::closed);
    EXPECT_EQ(r.order(), std::string_view("a"));
}

// SH-2: a task that registers another while they run is refused.
TEST(on_close_tasks, a_task_cannot_register_another) {
    rig r;
    bool refused = false;
    EXPECT_TRUE(
        r.tasks.add([&] { refused = !r.tasks.add(r.letter('b'), user).has_value(); }, critical)
            .has_value());
    (void)r.run();
    EXPECT_TRUE(refused);
    EXPECT_EQ(r.order(), std::string_view(""));
}

// SH-2, C-SCH-37, PK-SCH-29: a cancelled task is not run; the first cancel wins.
TEST(on_close_tasks, a_cancelled_task_does_not_run) {
    rig r(3);
    const auto a = r.tasks.add(r.letter('a'), user);
    const auto b = r.tasks.add(r.letter('b'), user);
    const auto c = r.tasks.add(r.letter('c'), user);
    ASSERT_TRUE(a.has_value() && b.has_value() && c.has_value());
    EXPECT_TRUE(r.tasks.cancel(*b));
    EXPECT_FALSE(r.tasks.cancel(*b));
    const auto d = r.tasks.add(r.letter('d'), user);
    ASSERT_TRUE(d.has_value());
    EXPECT_FALSE(r.tasks.cancel(*b));  // CN-7: its place has another one now
    EXPECT_FALSE(r.tasks.cancel({}));
    EXPECT_TRUE(r.tasks.cancel(*a));
    EXPECT_TRUE(r.tasks.cancel(*d));
    EXPECT_EQ(r.run().succeeded, 1u);
    EXPECT_EQ(r.order(), std::string_view("c"));
    EXPECT_FALSE(r.tasks.cancel(*c));
}

// SH-2: one that runs may cancel one that waits, and itself no more.
TEST(on_close_tasks, a_task_may_cancel_a_later_one) {
    rig r;
    on_close_tasks::handle self;
    on_close_tasks::handle later;
    bool others = false;
    bool own = true;
    auto cancels = [&] {
        others = r.tasks.cancel(later);
        own = r.tasks.cancel(self);
    };
    const auto first = r.tasks.add([&cancels] { cancels(); }, critical);
    const auto second = r.tasks.add(r.letter('x'), user);
    ASSERT_TRUE(first.has_value() && second.has_value());
    self = *first;
    later = *second;
    EXPECT_EQ(r.run().succeeded, 1u);
    EXPECT_TRUE(others);
    EXPECT_FALSE(own);
    EXPECT_EQ(r.order(), std::string_view(""));
}

// SH-5: those not begun in time are left out and named; the one that took it all is named first.
TEST(on_close_tasks, time_is_over_for_all_of_them_together) {
    rig r;
    const auto takes = [&r](duration d) { return [&r, d] { r.time.at = r.time.at + d; }; };
    EXPECT_TRUE(r.tasks.add(takes(2_s), critical, "quick").has_value());
    EXPECT_TRUE(r.tasks.add(takes(4_s), runtime, "slow").has_value());
    EXPECT_TRUE(r.tasks.add(takes(0_s), runtime, "third").has_value());
    EXPECT_TRUE(r.tasks.add(takes(0_s), user, "fourth").has_value());
    const close_report report = r.run(5_s);
    EXPECT_EQ(report.succeeded, 2u);
    EXPECT_EQ(report.not_begun, 2u);
    EXPECT_EQ(report.elapsed, 6_s);
    EXPECT_EQ(std::string_view(report.unfinished), std::string_view("slow"));
    const char* names[3] = {"", "", ""};
    EXPECT_EQ(r.tasks.waiting_names(names), 2u);
    EXPECT_EQ(std::string_view(names[0]), std::string_view("third"));
    EXPECT_EQ(std::string_view(names[1]), std::string_view("fourth"));
    EXPECT_EQ(r.tasks.waiting_names(std::span(names).first(1)), 2u);
}

// SH-5: exactly the time there is is in time.
TEST(on_close_tasks, one_that_ends_in_time_is_finished) {
    rig r;
    const auto takes = [&r](duration d) { return [&r, d] { r.time.at = r.time.at + d; }; };
    EXPECT_TRUE(r.tasks.add(takes(5_s - 1_ns), critical, "one").has_value());
    EXPECT_TRUE(r.tasks.add(takes(1_ns), runtime, "two").has_value());
    EXPECT_TRUE(r.tasks.add(takes(0_s), user, "three").has_value());
    const close_report report = r.run(5_s);
    EXPECT_EQ(report.succeeded, 2u);
    EXPECT_EQ(report.not_begun, 1u);
    EXPECT_EQ(report.elapsed, 5_s);
    EXPECT_EQ(std::string_view(report.unfinished), std::string_view("three"));
}

// SH-5: who gives up waiting can ask what runs.
TEST(on_close_tasks, progress_names_the_one_that_runs) {
    rig r;
    close_report seen;
    EXPECT_TRUE(r.tasks.add(r.letter('a'), critical, "done").has_value());
    EXPECT_TRUE(r.tasks.add([&] { seen = r.tasks.progress(); }, user, "stuck").has_value());
    EXPECT_TRUE(r.tasks.add(r.letter('b'), user, "behind it").has_value());
    (void)r.run();
    EXPECT_EQ(seen.succeeded, 1u);
    EXPECT_EQ(seen.not_begun, 1u);
    EXPECT_EQ(std::string_view(seen.unfinished), std::string_view("stuck"));
    EXPECT_EQ(seen.unfinished_number, 2u);
    EXPECT_EQ(seen.still_running, 1u);
    EXPECT_EQ(std::string_view(r.tasks.progress().unfinished), std::string_view(""));
}

/// Runs tasks here, but keeps the one with this number, as if it did not come back.
struct keeper final : close_runner {
    explicit keeper(unsigned n) : kept_number(n) {}
    outcome run(close_call&& what) noexcept override {
        close_call mine(std::move(what));
        EXPECT_TRUE(what.empty());  // NOLINT(bugprone-use-after-move): nothing is left of it
        if (++ran != kept_number)
            return {.is_over = true, .error = mine()};
        kept.emplace(std::move(mine));
        return {};
    }
    unsigned kept_number;
    unsigned ran = 0;
    std::optional<close_call> kept;
};

// SH-5: what does not come back is left behind and named; none begins after it.
TEST(on_close_tasks, SH_5_one_that_does_not_come_back_is_left_behind) {
    keeper runner(3);
    char late = '-';
    {
        rig r;
        EXPECT_TRUE(r.tasks.add(r.letter('a'), critical, "a").has_value());
        EXPECT_TRUE(r.tasks.add([] { return failure("no"); }, critical, "b").has_value());
        EXPECT_TRUE(r.tasks.add([&late] { late = 's'; }, runtime, "stuck").has_value());
        EXPECT_TRUE(r.tasks.add(r.letter('d'), user, "d").has_value());
        const close_report report = r.tasks.run(r.time, 5_s, &r.heard, &r.heard, &runner);
        EXPECT_EQ(report.succeeded, 1u);
        EXPECT_EQ(report.failed, 1u);
        EXPECT_EQ(report.still_running, 1u);
        EXPECT_EQ(report.not_begun, 1u);
        EXPECT_EQ(std::string_view(report.unfinished), std::string_view("stuck"));
        EXPECT_EQ(report.unfinished_number, 3u);
        EXPECT_FALSE(report.is_clean());
        EXPECT_EQ(r.tasks.progress().still_running, 1u);
        EXPECT_EQ(r.heard.ran, 2u);
        EXPECT_EQ(r.heard.failures, 1u);
        EXPECT_EQ(r.order(), std::string_view("a"));
        EXPECT_TRUE(r.run().empty());
    }
    // The tasks are gone: it holds what it needs.
    ASSERT_TRUE(runner.kept.has_value());
    EXPECT_EQ((*runner.kept)(), nullptr);
    EXPECT_EQ(late, 's');
}

// SH-5: also one that has no name, and the text says which.
TEST(on_close_tasks, SH_5_one_without_a_name_has_a_number) {
    char text[200];
    keeper runner(2);
    rig r;
    EXPECT_TRUE(r.tasks.add(r.letter('a'), user).has_value());
    EXPECT_TRUE(r.tasks.add(r.letter('b'), user).has_value());
    const close_report left = r.tasks.run(r.time, 5_s, nullptr, nullptr, &runner);
    EXPECT_EQ(left.unfinished_number, 2u);
    EXPECT_EQ(describe(left, text),
              std::string_view("on-close tasks: 1 done, 0 failed, 0 not begun, in 0 us, time was "
                               "over for number 2, which has no name: it still runs, and is left "
                               "behind"));
    rig late;
    EXPECT_TRUE(late.tasks.add([&] { late.time.at = late.time.at + 2_s; }, user).has_value());
    EXPECT_TRUE(late.tasks.add(late.letter('b'), user, "b").has_value());
    const close_report over = late.run(1_s);
    EXPECT_EQ(over.unfinished_number, 1u);
    EXPECT_EQ(over.still_running, 0u);
    EXPECT_FALSE(over.is_clean());
    EXPECT_EQ(describe(over, text),
              std::string_view("on-close tasks: 1 done, 0 failed, 1 not begun, in 2000000 us, time "
                               "was over for number 1, which has no name"));
    EXPECT_EQ(describe(close_report{.succeeded = 2, .elapsed = 3_us}, text),
              std::string_view("on-close tasks: 2 done, 0 failed, 0 not begun, in 3 us"));
}

struct counted {
    explicit counted(int& n) noexcept : living(&n) { ++*living; }
    counted(const counted& o) noexcept : living(o.living) { ++*living; }
    ~counted() { --*living; }
    counted& operator=(const counted&) = delete;
    void operator()() const {}
    int* living;
};

// SH-2: a task's captures end with it: run, cancelled, refused, or left over.
TEST(on_close_tasks, what_a_task_holds_is_destroyed_once) {
    int living = 0;
    {
        rig r(3);
        const auto a = r.tasks.add(counted(living), user);
        EXPECT_EQ(living, 1);
        ASSERT_TRUE(a.has_value());
        EXPECT_TRUE(r.tasks.cancel(*a));
        EXPECT_EQ(living, 0);
        EXPECT_TRUE(r.tasks.add(counted(living), critical).has_value());
        EXPECT_TRUE(r.tasks.add([&r] { r.time.at = r.time.at + 9_s; }, runtime).has_value());
        EXPECT_TRUE(r.tasks.add(counted(living), user).has_value());
        EXPECT_FALSE(r.tasks.add(counted(living), user).has_value());
        EXPECT_EQ(living, 2);
        (void)r.run(1_s);
        EXPECT_EQ(living, 1);
        EXPECT_FALSE(r.tasks.add(counted(living), user).has_value());
        EXPECT_EQ(living, 1);
    }
    EXPECT_EQ(living, 0);
}

// SH-2: also when it closes while the task is being made.
TEST(on_close_tasks, a_task_made_while_it_closes_is_refused) {
    struct closing {
        explicit closing(on_close_tasks& of) noexcept : tasks(&of) {}
        closing(const closing& o) noexcept : tasks(o.tasks) { tasks->close(); }
        closing& operator=(const closing&) = delete;
        ~closing() = default;
        void operator()() const {}
        on_close_tasks* tasks;
    };
    rig r;
    const auto late = r.tasks.add(closing(r.tasks), user);
    ASSERT_FALSE(late.has_value());
    EXPECT_EQ(late.error().code, scheduler_errc::closed);
    EXPECT_TRUE(r.run().empty());
}

// BP-1: the unbounded profile grows, as far as there is memory.
TEST(on_close_tasks, it_grows_where_it_may) {
    if (!tactus_test::board::roomy)
        return;
    static std::array<std::byte, tactus_test::board::roomy ? 32'768 : 16> bytes alignas(16);
    arena memory(bytes);
    {
        on_close_tasks tasks(memory, scheduler_capacity::unlimited);
        EXPECT_EQ(memory.used(), 0u);
        unsigned ran = 0;
        unsigned added = 0;
        for (;;) {
            const auto one = tasks.add([&ran] { ++ran; }, user);
            if (!one) {
                EXPECT_EQ(one.error().code, scheduler_errc::task_run_capacity_exceeded);
                EXPECT_EQ(one.error().value, added);
                break;
            }
            ++added;
        }
        EXPECT_GT(added, 128u);
        hand_clock time;
        EXPECT_EQ(tasks.run(time, 1_s, nullptr).succeeded, added);
        EXPECT_EQ(ran, added);
    }
    EXPECT_EQ(memory.used(), 0u);
    on_close_tasks bounded(memory, 1);  // although there is memory
    EXPECT_TRUE(bounded.add([] {}, user).has_value());
    EXPECT_FALSE(bounded.add([] {}, user).has_value());
}

// BP-1: where memory is refused there is room for none.
TEST(on_close_tasks, without_memory_there_is_room_for_none) {
    rig r(1'000);
    EXPECT_EQ(r.tasks.capacity(), 0u);
    EXPECT_FALSE(r.tasks.add([] {}, user).has_value());
    EXPECT_TRUE(r.run().empty());
}

// SH-2: random registering and cancelling, compared with a plain list.
TEST(on_close_tasks, random_programs_agree_with_a_list) {
    struct entry {
        on_close_tasks::handle handle;
        unsigned id;
        close_priority priority;
        bool lives;
    };
    for (std::uint64_t seed = 1; seed <= tactus_test::board::random_operations / 20; ++seed) {
        det_rng rng(seed);
        rig r(6);
        std::array<entry, 24> all{};
        std::array<unsigned, 8> ran{};
        std::size_t ran_count = 0;
        std::size_t made = 0;
        unsigned living = 0;
        bool right = true;
        for (int i = 0; i < 24; ++i) {
            if (made > 0 && rng.below(3) == 0) {
                entry& e = all[static_cast<std::size_t>(rng.below(made))];
                right = right && r.tasks.cancel(e.handle) == e.lives;
                living -= e.lives ? 1 : 0;
                e.lives = false;
                continue;
            }
            const auto priority = static_cast<close_priority>(rng.below(3));
            const auto id = static_cast<unsigned>(i);
            const auto one = r.tasks.add([&, id] { ran[ran_count++ % ran.size()] = id; }, priority);
            right = right && one.has_value() == (living < 6);
            if (one) {
                all[made++] = {*one, id, priority, true};
                ++living;
            }
        }
        right = right && r.run().succeeded == living && ran_count == living;
        std::size_t at = 0;
        for (const close_priority p : {critical, runtime, user}) {
            for (std::size_t i = 0; i < made; ++i) {
                if (all[i].lives && all[i].priority == p)
                    right = right && ran[at++] == all[i].id;
            }
        }
        if (!right)
            TEST_LOG("seed", seed);
        ASSERT_TRUE(right);
    }
}

}  // namespace
}  // namespace tactus
