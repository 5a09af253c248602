// SPDX-License-Identifier: Apache-2.0
//
// Goal: a dispatcher that starves and a handler that does not return are said in the log and
// published, by default, without a clock on the message path (DF-33, EX-5).
#include <tactus/actor/system_events.hpp>
#include <tactus/runtime/actor_system.hpp>
#include <tactus/runtime/blocking_section.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <semaphore>
#include <string>
#include <string_view>
#include <thread>

#include "pool_rig.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using namespace std::chrono_literals;
using tactus_test::until;

namespace {

class text_log final : public log_sink {
public:
    void write(const log_record& r) noexcept override {
        const std::lock_guard held(mutex_);
        text_ += std::string(r.from.actor) + " " + std::string(r.text) + "\n";
    }
    bool has(std::string_view part) const {
        const std::lock_guard held(mutex_);
        return text_.find(part) != std::string::npos;
    }

private:
    mutable std::mutex mutex_;
    std::string text_;
};

using gate = std::counting_semaphore<8>;

class waiter_actor : public actor<gate*> {
public:
    void on(gate* until_then) { until_then->acquire(); }
};
class careful_waiter : public actor<gate*> {
public:
    void on(gate* until_then) {
        const runtime::blocking_section section;
        until_then->acquire();
    }
};
class watcher : public actor<slow_handler_warning, starvation_warning> {
public:
    watcher(std::atomic<int>* slow, std::atomic<int>* starved) : slow_(*slow), starved_(*starved) {}
    void pre_start() {
        EXPECT_TRUE(context().world().subscribe<slow_handler_warning>(self()).value());
        EXPECT_TRUE(context().world().subscribe<starvation_warning>(self()).value());
    }
    void on(const slow_handler_warning&) { ++slow_; }
    void on(const starvation_warning&) { ++starved_; }

private:
    std::atomic<int>& slow_;
    std::atomic<int>& starved_;
};

actor_system::options with(text_log& log, std::uint32_t workers) {
    actor_system::options o;
    o.dispatcher = {
        .workers = workers, .max_workers = workers, .starvation_deadline = duration::from_ms(40)};
    o.tools.log = &log;
    o.slow_handler_after = 40ms;
    return o;
}

}  // namespace

TEST(late_work, DF_33_a_slow_handler_and_starvation_are_logged) {
    text_log log;
    gate go{0};
    actor_system system("demo", with(log, 1));
    const auto slow = system.spawn<waiter_actor>("slow");
    const auto waits = system.spawn<waiter_actor>("waits");
    slow.tell(&go);
    EXPECT_TRUE(until([&] { return log.has("/user/slow has been in a handler for"); }));
    waits.tell(&go);
    EXPECT_TRUE(until([&] { return log.has("is starved: 1 mailboxes"); }));
    go.release();
    go.release();
}

TEST(late_work, DF_33_they_are_events_and_blocking_sections_are_none) {
    text_log log;
    gate go{0};
    gate go_too{0};
    std::atomic<int> slow{0};
    std::atomic<int> starved{0};
    actor_system system("demo", with(log, 3));
    (void)system.spawn<watcher>("watcher", &slow, &starved);
    EXPECT_TRUE(until([&] { return system.dump().find("watcher") != std::string::npos; }));
    system.spawn<careful_waiter>("careful").tell(&go_too);
    system.spawn<waiter_actor>("slow").tell(&go);
    EXPECT_TRUE(until([&] { return slow > 0; }));
    EXPECT_FALSE(log.has("/user/careful has been"));
    EXPECT_EQ(starved, 0);  // a worker was free, and the watcher ran
    system.spawn<waiter_actor>("third").tell(&go);
    system.spawn<waiter_actor>("waits").tell(&go);
    EXPECT_TRUE(until([&] { return log.has("is starved"); }));
    go.release(3);
    go_too.release();
    EXPECT_TRUE(until([&] { return starved > 0; }));  // it needs a worker, too
    EXPECT_FALSE(log.has("/user/careful has been"));
}
