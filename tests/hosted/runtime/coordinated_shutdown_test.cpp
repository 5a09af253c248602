// SPDX-License-Identifier: Apache-2.0
//
// Goal: a shutdown runs its phases once, in order, within its time, and says what became of every
// task (EV-3). Method: phases a, b, c without a system; tasks write down that they ran.
#include <tactus/runtime/coordinated_shutdown.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <semaphore>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace tactus;  // NOLINT: the whole vocabulary is used
using namespace std::chrono_literals;
using state = shutdown_task_state;

namespace {

using list = std::vector<std::string>;
using clock_type = std::chrono::steady_clock;

/// a <- b <- c
std::vector<shutdown_phase> abc(std::chrono::nanoseconds timeout = 10s) {
    return {{.name = "a", .timeout = timeout},
            {.name = "b", .depends_on = {"a"}, .timeout = timeout},
            {.name = "c", .depends_on = {"b"}, .timeout = timeout}};
}

struct rig {
    explicit rig(std::vector<shutdown_phase> phases = abc()) : rig(options_of(std::move(phases))) {}
    explicit rig(const shutdown_options& o)
        : shutdown(o, {.log = [this](log_level level, std::string_view text) {
                       const std::lock_guard held(mutex);
                       if (level <= log_level::info)
                           lines.emplace_back(text);
                   }}) {}
    static shutdown_options options_of(std::vector<shutdown_phase> phases) {
        shutdown_options o;
        o.phases = std::move(phases);
        return o;
    }
    auto noting(std::string what) {
        return [this, what = std::move(what)] { note(what); };
    }
    void note(const std::string& what) {
        const std::lock_guard held(mutex);
        ran.push_back(what);
    }
    shutdown_result run() { return shutdown.run({.name = "test"}).get(); }

    std::mutex mutex;
    list ran;
    list lines;
    coordinated_shutdown shutdown;
};

const shutdown_result::phase& phase_of(const shutdown_result& r, std::string_view name) {
    for (const auto& p : r.phases) {
        if (p.name == name)
            return p;
    }
    throw std::out_of_range(std::string(name));
}

}  // namespace

// C-CSD-4: phases in order; tasks of a phase beside each other, and it waits for the slowest.
TEST(coordinated_shutdown, EV_3_phases_run_in_their_order) {
    rig r;
    std::jthread slow;
    r.shutdown.add_task("c", "c", r.noting("C"));
    r.shutdown.add_task("b", "slow", [&](const shutdown_done& done) {
        slow = std::jthread([&r, done] {
            std::this_thread::sleep_for(100ms);
            r.note("B");
            done();
        });
    });
    r.shutdown.add_task("b", "quick", r.noting("B"));
    r.shutdown.add_task("a", "a", r.noting("A"));
    const shutdown_result all = r.run();
    EXPECT_EQ(r.ran, (list{"A", "B", "B", "C"}));
    EXPECT_TRUE(all.is_clean()) << all.text();
    EXPECT_EQ(all.text(), "shutdown (test): all went well");
    EXPECT_GE(phase_of(all, "b").took, 100ms);
    EXPECT_EQ(phase_of(all, "b").tasks.size(), 2u);
}

// C-CSD-5, PK-CSD-5: what is cancelled does not run; the same task may be there several times.
TEST(coordinated_shutdown, EV_3_tasks_can_be_cancelled) {
    rig r;
    r.shutdown.add_task("a", "1", r.noting("1"));
    auto second = r.shutdown.add_task("a", "2", r.noting("2"));
    auto third = r.shutdown.add_task("a", "3", r.noting("3"));
    list same;
    const auto again = [&] { same.emplace_back("same"); };
    r.shutdown.add_task("b", "same", again);
    auto one = r.shutdown.add_task("b", "same", again);
    r.shutdown.add_task("b", "same", again);
    EXPECT_TRUE(second.cancel());
    EXPECT_TRUE(second.cancel());  // again
    EXPECT_TRUE(one.cancel());
    EXPECT_EQ(third.state(), state::pending);
    const shutdown_result all = r.run();
    EXPECT_EQ(r.ran, (list{"1", "3"}));
    EXPECT_EQ(same.size(), 2u);
    EXPECT_FALSE(third.cancel());
    EXPECT_EQ(third.state(), state::done);
    EXPECT_TRUE(second.cancel());
    EXPECT_TRUE(all.is_clean());
    EXPECT_EQ(phase_of(all, "a").tasks[1].how, state::cancelled);
}

// C-CSD-6, C-CSD-13, PK-CSD-4: tasks add to later phases and cancel there; what they add to their
// own phase or an earlier one does not run, and says so.
TEST(coordinated_shutdown, EV_3_tasks_add_and_cancel_tasks_of_later_phases) {
    rig r;
    auto in_b = r.shutdown.add_task("b", "b", r.noting("B"));
    r.shutdown.add_task("a", "a", [&] {
        r.shutdown.add_task("b", "added", [&] {
            r.note("A adds B");
            r.shutdown.add_task("a", "past", r.noting("wrong"));
        });
        if (in_b.cancel())
            r.note("A cancels B");
        auto late = r.shutdown.add_task("a", "own", r.noting("wrong"));
        EXPECT_TRUE(late.cancel());  // it will not run
        const auto refused = r.shutdown.try_add_task("a", "own", [] {});
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().what, shutdown_error::kind::phase_over);
        EXPECT_EQ(refused.error().text, "phase 'a' runs or has run: task 'own' comes too late");
    });
    EXPECT_TRUE(r.run().is_clean());
    EXPECT_EQ(r.ran, (list{"A cancels B", "A adds B"}));
}

// C-CSD-7: cancelled by many threads at once; always true, and the others run with what they add.
TEST(coordinated_shutdown, EV_3_many_threads_cancel) {
    rig r;
    std::atomic<int> ran{0};
    std::vector<shutdown_task> tasks;
    for (int i = 0; i < 20; ++i)
        tasks.push_back(r.shutdown.add_task("a", "task", [&] {
            ++ran;
            r.shutdown.add_task("b", "follow-up", [&] { ++ran; });
        }));
    std::atomic<int> refused{0};
    {
        std::vector<std::jthread> threads;
        for (int t = 0; t < 4; ++t)
            threads.emplace_back([&] {
                for (int n = 0; n < 50; ++n) {
                    for (std::size_t i = 0; i < tasks.size(); i += 2)
                        refused += tasks[i].cancel() ? 0 : 1;
                }
            });
    }
    EXPECT_TRUE(r.run().is_clean());
    EXPECT_EQ(refused.load(), 0);
    EXPECT_EQ(ran.load(), 20);
}

// C-CSD-8: from a phase on.
TEST(coordinated_shutdown, EV_3_it_may_begin_with_a_later_phase) {
    rig r;
    r.shutdown.add_task("a", "a", r.noting("A"));
    r.shutdown.add_task("b", "b", r.noting("B"));
    r.shutdown.add_task("c", "c", r.noting("C"));
    EXPECT_FALSE(r.shutdown.reason());
    const auto nowhere = r.shutdown.run_from("x", {});
    ASSERT_FALSE(nowhere);
    EXPECT_EQ(nowhere.error().what, shutdown_error::kind::unknown_phase);
    EXPECT_FALSE(r.shutdown.reason());
    const shutdown_result all = r.shutdown.run_from("b", {.name = "why"})->get();
    EXPECT_EQ(r.ran, (list{"B", "C"}));
    EXPECT_EQ(all.reason.name, "why");
    EXPECT_EQ(phase_of(all, "a").how, shutdown_result::passed::before_start);
    EXPECT_EQ(phase_of(all, "a").tasks[0].how, state::skipped);
}

// C-CSD-9, PK-CSD-3: once; the first reason stays.
TEST(coordinated_shutdown, EV_3_it_runs_once) {
    rig r;
    r.shutdown.add_task("a", "a", r.noting("A"));
    const auto first = r.shutdown.run({.name = "first"});
    const auto second = r.shutdown.run({.name = "second"});
    EXPECT_EQ(second.get().reason.name, "first");
    EXPECT_EQ(first.get().reason.name, "first");
    EXPECT_EQ(r.shutdown.run_from("b", {})->get().reason.name, "first");
    EXPECT_EQ(r.shutdown.reason()->name, "first");
    EXPECT_EQ(r.ran, (list{"A"}));
}

// C-CSD-10, PK-CSD-2: with recover what fails or takes too long is noted, and the rest runs.
TEST(coordinated_shutdown, EV_3_what_fails_or_takes_too_long_does_not_hold_up_the_rest) {
    auto phases = abc();
    phases[1].timeout = 50ms;
    rig r(phases);
    std::vector<shutdown_done> kept;
    r.shutdown.add_task("a", "throws", [] { throw std::runtime_error("no disk"); });
    r.shutdown.add_task("a", "throws a number", [] { throw 5; });  // NOLINT: anything can be thrown
    r.shutdown.add_task("a", "says so", [](const shutdown_done& done) { done.fail("no luck"); });
    r.shutdown.add_task("a", "forgets", [](const shutdown_done&) {});
    r.shutdown.add_task("a", "fine", r.noting("A"));
    r.shutdown.add_task("b", "never", [&](const shutdown_done& done) { kept.push_back(done); });
    r.shutdown.add_task("c", "c", r.noting("C"));
    const auto begin = clock_type::now();
    const shutdown_result all = r.run();
    EXPECT_LT(clock_type::now() - begin, 9s);
    EXPECT_EQ(r.ran, (list{"A", "C"}));
    EXPECT_TRUE(all.completed());
    EXPECT_FALSE(all.is_clean());
    const auto& a = phase_of(all, "a").tasks;
    EXPECT_EQ(a[0].text, "no disk");
    EXPECT_EQ(a[1].text, "exception of unknown type");
    EXPECT_EQ(a[2].text, "no luck");
    EXPECT_EQ(a[3].text, "every copy of its shutdown_done was destroyed without being called");
    EXPECT_EQ(a[4].how, state::done);
    EXPECT_EQ(phase_of(all, "b").tasks[0].how, state::timed_out);
    EXPECT_GE(phase_of(all, "b").took, 50ms);
    kept[0]();  // too late
    kept[0].fail("x");
    ASSERT_EQ(r.lines.size(), 5u);
    EXPECT_EQ(r.lines[0], "shutdown (test): phase 'a': task 'throws' failed: no disk");
    EXPECT_EQ(r.lines[4],
              "shutdown (test): phase 'b': task 'never' timed_out: not done after 50 ms");
}

// C-CSD-11, PK-CSD-2: without recover it ends there.
TEST(coordinated_shutdown, EV_3_without_recover_it_ends_with_the_phase) {
    for (const bool by_timeout : {true, false}) {
        auto phases = abc();
        phases[1].timeout = 50ms;
        phases[1].recover = false;
        rig r(phases);
        std::vector<shutdown_done> kept;
        r.shutdown.add_task("a", "a", r.noting("A"));
        r.shutdown.add_task("b", "b", [&](const shutdown_done& done) {
            if (!by_timeout)
                throw std::runtime_error("x");
            kept.push_back(done);
        });
        r.shutdown.add_task("c", "c", r.noting("C"));
        const shutdown_result all = r.run();
        EXPECT_EQ(r.ran, (list{"A"}));
        EXPECT_FALSE(all.completed());
        EXPECT_EQ(all.failure, "phase 'b' failed, and does not recover");
        EXPECT_EQ(phase_of(all, "b").tasks[0].how, by_timeout ? state::timed_out : state::failed);
        EXPECT_EQ(phase_of(all, "c").how, shutdown_result::passed::not_reached);
        EXPECT_EQ(phase_of(all, "c").tasks[0].how, state::skipped);
    }
}

// C-CSD-12: a disabled phase is skipped, with a line.
TEST(coordinated_shutdown, EV_3_disabled_phases_are_skipped) {
    auto phases = abc();
    phases[1].enabled = false;
    rig r(phases);
    for (const char* phase : {"a", "b", "c"})
        r.shutdown.add_task(phase, phase, r.noting(phase));
    const shutdown_result all = r.run();
    EXPECT_EQ(r.ran, (list{"a", "c"}));
    EXPECT_EQ(phase_of(all, "b").how, shutdown_result::passed::disabled);
    EXPECT_EQ(phase_of(all, "b").tasks[0].how, state::skipped);
    EXPECT_TRUE(all.is_clean());
    EXPECT_EQ(r.lines, (list{"phase 'b' is disabled: 1 tasks are skipped"}));
}

// PK-CSD-4, PK-CSD-7: tasks that cannot be added, and what the timeouts add up to.
TEST(coordinated_shutdown, EV_3_tasks_that_cannot_be_and_the_sum_of_timeouts) {
    auto phases = abc(2s);
    phases[2].enabled = false;
    rig r(phases);
    EXPECT_THROW(r.shutdown.add_task("x", "x", [] {}), std::invalid_argument);
    EXPECT_THROW(r.shutdown.add_task("a", "", [] {}), std::invalid_argument);
    EXPECT_EQ(r.shutdown.try_add_task("a", "", [] {}).error().what,
              shutdown_error::kind::empty_name);
    EXPECT_EQ(r.shutdown.timeout("x").error().what, shutdown_error::kind::unknown_phase);
    EXPECT_EQ(r.shutdown.total_timeout(), 0s);
    r.shutdown.add_task("a", "a", [] {});
    EXPECT_EQ(r.shutdown.total_timeout(), 2s);
    r.shutdown.add_task("b", "b", [] {});
    r.shutdown.add_task("c", "c", [] {});
    EXPECT_EQ(r.shutdown.total_timeout(), 4s);
}

// EV-3: bounded, even when a task does not return: its phase ends, and the next one runs.
TEST(coordinated_shutdown, EV_3_a_task_that_does_not_return_is_left_behind) {
    auto phases = abc();
    phases[0].timeout = 50ms;
    const auto stuck = std::make_shared<std::binary_semaphore>(0);
    const auto left = std::make_shared<std::binary_semaphore>(0);
    {
        rig r(phases);
        r.shutdown.add_task("a", "stuck", [=] {
            stuck->acquire();
            left->release();
        });
        r.shutdown.add_task("a", "behind", r.noting("wrong"));
        r.shutdown.add_task("b", "b", r.noting("B"));
        const shutdown_result all = r.run();
        EXPECT_EQ(r.ran, (list{"B"}));
        const auto& a = phase_of(all, "a").tasks;
        EXPECT_EQ(a[0].how, state::timed_out);
        EXPECT_EQ(a[1].how, state::timed_out);
        EXPECT_EQ(a[1].text, "not started: a task before it did not return");
    }
    stuck->release();  // the shutdown is gone
    left->acquire();
}

// EV-3: a limit for the whole; only the actors are still ended.
TEST(coordinated_shutdown, EV_3_the_whole_has_a_limit) {
    shutdown_options o = rig::options_of(abc());
    o.limit = 50ms;
    std::vector<shutdown_done> kept;
    std::atomic<bool> terminated{false};
    coordinated_shutdown shutdown(o, {.terminate = [&](const shutdown_done& done) {
                                      terminated = true;
                                      done();
                                  }});
    bool ran = false;
    shutdown.add_task("a", "slow", [&](const shutdown_done& done) { kept.push_back(done); });
    shutdown.add_task("b", "b", [&] { ran = true; });
    EXPECT_EQ(shutdown.total_timeout(), 50ms);
    const auto begin = clock_type::now();
    const shutdown_result all = shutdown.run({}).get();
    EXPECT_LT(clock_type::now() - begin, 9s);
    EXPECT_TRUE(all.limit_exceeded);
    EXPECT_FALSE(all.is_clean());
    EXPECT_FALSE(ran);
    EXPECT_TRUE(terminated.load());
    EXPECT_NE(all.text().find("the limit was over"), std::string::npos);
    EXPECT_EQ(phase_of(all, "b").tasks[0].how, state::skipped);
}

// C-CSD-15: 0, or what the options or the reason say; the process is ended with it if asked for.
TEST(coordinated_shutdown, EV_3_exit_codes) {
    struct row {
        int of_options;
        std::optional<int> of_reason;
        int wanted;
    };
    for (const row& r : {row{0, {}, 0}, row{3, {}, 3}, row{3, -1, -1}, row{0, 0, 0}}) {
        for (const bool exits : {true, false}) {
            std::optional<int> ended_with;
            {
                coordinated_shutdown shutdown({.exit = exits, .exit_code = r.of_options},
                                              {.exit = [&](int code) { ended_with = code; }});
                EXPECT_EQ(shutdown.exit_code(), r.of_options);
                shutdown.run({.name = "downing", .exit_code = r.of_reason}).wait();
                EXPECT_EQ(shutdown.exit_code(), r.wanted);
            }
            EXPECT_EQ(ended_with, exits ? std::optional(r.wanted) : std::nullopt);
        }
    }
    EXPECT_EQ(shutdown_reason::guardian_failed().exit_code, 70);
}

// Phases of one's own: the one that ends the actors is there all the same, and comes last.
TEST(coordinated_shutdown, EV_3_the_last_phase_ends_the_actors) {
    list order;
    {
        coordinated_shutdown shutdown(
            rig::options_of(abc()),
            {.begins = [&](bool ends) { order.emplace_back(ends ? "begins" : "wrong"); },
             .terminate =
                 [&](const shutdown_done& done) {
                     order.emplace_back("terminate");
                     done();
                 },
             .over = [&] { order.emplace_back("over"); }});
        shutdown.add_task("c", "c", [&] { order.emplace_back("C"); });
        EXPECT_EQ(shutdown.all_phases().back().name, phases::actor_system_terminate);
        EXPECT_EQ(shutdown.run({}).get().phases.size(), 4u);
    }
    EXPECT_EQ(order, (list{"begins", "C", "terminate", "over"}));
}
