// SPDX-License-Identifier: Apache-2.0
//
// Goal: two systems in one process: messages pass between them, and what one system cannot know of
// an actor of the other is refused, not answered wrongly (AC-7, AC-8, DW-1, EV-1, DF-46).
#include <tactus/actor/receptionist.hpp>
#include <tactus/actor/system_events.hpp>
#include <tactus/actor/topic.hpp>
#include <tactus/runtime/actor_system.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "pool_rig.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using namespace std::chrono_literals;
using tactus_test::until;

namespace {

struct count {
    actor_ref<int> reply_to;
};
/// Counts the ints it was told.
class counter : public actor<int, count> {
public:
    void on(int) { ++n_; }
    void on(const count& m) { m.reply_to.tell(n_); }

private:
    int n_ = 0;
};
int counted(actor_system& of, actor_ref<int, count> who) {
    return of.ask<int>(who, [](auto me) { return count{me}; }, 5s).value();
}

struct watch_it {
    any_ref who;
    bool with_a_message;
};
class watcher : public actor<watch_it> {
public:
    explicit watcher(std::shared_ptr<std::promise<std::string>> told) : told_(std::move(told)) {}
    void on(const watch_it& m) {
        if (m.with_a_message)
            context().watch_with(m.who, watch_it{});
        else
            context().watch(m.who);
    }
    void on(const terminated&) { told_->set_value("terminated"); }

private:
    std::shared_ptr<std::promise<std::string>> told_;
};
/// Tells why its child failed.
class parent : public actor<watch_it> {
public:
    explicit parent(std::shared_ptr<std::promise<std::string>> told) : told_(std::move(told)) {}
    void pre_start() { child_ = context().spawn<watcher>("watcher", told_); }
    void on(const watch_it& m) { child_.tell(m); }
    directive decide(any_ref, const failure_cause& why) {
        told_->set_value(std::string(why.text()));
        return directive::stop;
    }

private:
    std::shared_ptr<std::promise<std::string>> told_;
    actor_ref<watch_it> child_;
};

struct stop_it {
    any_ref who;
    actor_ref<bool> reply_to;
};
class stopper : public actor<stop_it> {
public:
    task<> on(stop_it m) {
        m.reply_to.tell(co_await context().graceful_stop(m.who, duration::from_s(60)));
    }
};

struct two_systems : testing::Test {
    actor_system here{"here"};
    actor_system there{"there"};
    actor_ref<int, count> foreign = there.spawn<counter>("far");

    void expect_alive() { EXPECT_EQ(counted(there, foreign), 0); }
};

}  // namespace

TEST_F(two_systems, AC_1_messages_pass) {
    foreign.tell(1);
    EXPECT_EQ(counted(here, foreign), 1);
}

// DW-1: a notification of its end cannot come, and `terminated` would not be true.
TEST_F(two_systems, DW_1_watching_an_actor_of_the_other_fails_the_watcher) {
    for (const bool with_a_message : {false, true}) {
        const auto told = std::make_shared<std::promise<std::string>>();
        auto said = told->get_future();
        const auto p = here.spawn_anonymous<parent>(told);
        p.tell(watch_it{foreign, with_a_message});
        ASSERT_EQ(said.wait_for(10s), std::future_status::ready);
        EXPECT_EQ(said.get(), "it watches an actor of another system");
    }
    expect_alive();
}

// AC-8: nobody here learns of its end; it is not told to end.
TEST_F(two_systems, AC_8_graceful_stop_of_an_actor_of_the_other_is_refused) {
    EXPECT_FALSE(here.graceful_stop(foreign, 1h));
    expect_alive();
    const auto s = here.spawn_anonymous<stopper>();
    const auto ended = here.ask<bool>(s, [&](auto me) { return stop_it{foreign, me}; }, 10s);
    ASSERT_TRUE(ended) << ended.error().text();
    EXPECT_FALSE(*ended);
    expect_alive();
    EXPECT_TRUE(there.graceful_stop(foreign, 10s));
}

// AC-7
TEST_F(two_systems, AC_7_paths_of_actors_of_the_other_are_its_own) {
    EXPECT_EQ(here.path_of(foreign), "tactus://there/user/far");
    EXPECT_EQ(here.path_of(any_ref{}), "");
    auto third = std::make_unique<actor_system>("third");
    const any_ref gone = third->spawn<counter>("gone");
    third.reset();
    EXPECT_EQ(here.path_of(gone), "");
}

TEST_F(two_systems, AC_8_stop_ends_actors_of_the_other) {
    EXPECT_TRUE(here.stop(foreign));
    EXPECT_TRUE(until([&] { return !there.select("/user/far"); }));
    auto third = std::make_unique<actor_system>("third");
    const any_ref gone = third->spawn<counter>("gone");
    third.reset();
    EXPECT_FALSE(here.stop(gone));
    EXPECT_FALSE(here.stop(any_ref{}));
}

// EV-1: the end of a subscriber of the other would not be learned of.
TEST_F(two_systems, EV_1_subscribers_of_the_other_are_refused) {
    const auto done = here.world().subscribe<actor_started>(foreign);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error(), event_error::another_system);
    EXPECT_STREQ(name_of(done.error()), "another_system");
}

TEST_F(two_systems, AC_8_a_topic_and_the_receptionist_refuse_actors_of_the_other) {
    const auto news = here.spawn<topic<int>>("news");
    const auto near = here.spawn<counter>("near");
    news.tell(subscribe_to<int>(foreign));
    news.tell(subscribe_to<int>(near));
    news.tell(1);
    ASSERT_TRUE(until([&] { return counted(here, near) == 1; }));
    expect_alive();

    const service_key<int> key("counters");
    const auto desk = receptionist_of(here.world());
    desk.tell(register_service(key, actor_ref<int>(foreign)));
    desk.tell(register_service(key, actor_ref<int>(near)));
    const auto found =
        here.ask<listing<int>>(desk, [&](auto me) { return find_services(key, me); }, 10s);
    ASSERT_TRUE(found) << found.error().text();
    ASSERT_EQ(found->refs().size(), 1u);
    EXPECT_TRUE(found->refs()[0].any() == near.any());
}

// SH-2: it cannot learn of the end, so the task fails at once instead of being done.
TEST_F(two_systems, AC_8_a_termination_task_for_an_actor_of_the_other_fails) {
    (void)here.add_actor_termination_task("before-service-unbind", "far", foreign);
    const auto result = here.shutdown().run(shutdown_reason::drain());
    ASSERT_EQ(result.wait_for(20s), std::future_status::ready);
    bool seen = false;
    for (const auto& p : result.get().phases) {
        for (const auto& t : p.tasks) {
            if (t.name != "far")
                continue;
            seen = true;
            EXPECT_EQ(t.how, shutdown_task_state::failed);
        }
    }
    EXPECT_TRUE(seen);
    expect_alive();
}

// DF-46: a process has numbers for 63 systems; one more is refused, and those that are there go on.
TEST(many_systems, DF_46_one_too_many_is_thrown) {
    std::vector<std::unique_ptr<actor_system>> all;
    try {
        for (;;)
            all.push_back(std::make_unique<actor_system>(
                "s", actor_system::options{.dispatcher = {.workers = 1},
                                           .actors_max = 64,
                                           .messages_max = 64,
                                           .timers_max = 64}));
    } catch (const std::system_error& e) {
        EXPECT_EQ(e.code().value(), EAGAIN);
        EXPECT_NE(std::string(e.what()).find("63"), std::string::npos) << e.what();
    }
    // In one process with other tests a system of theirs may be left.
    EXPECT_LE(all.size(), 63u);
    ASSERT_GE(all.size(), 50u);
    all.pop_back();
    EXPECT_NO_THROW(actor_system("again"));
    EXPECT_EQ(counted(*all[0], all[0]->spawn<counter>("c")), 0);
}

// AC-8, SC-3: beyond what a timer can count the calling thread counts.
TEST(long_waits, AC_8_graceful_stop_waits_longer_than_any_timer) {
    actor_system system("long");
    const auto limit = std::chrono::nanoseconds(system.scheduler().maximum_delay().ns()) + 24h;
    const auto c = system.spawn<counter>("c");
    EXPECT_TRUE(system.graceful_stop(c, limit));
}
