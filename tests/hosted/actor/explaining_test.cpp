// SPDX-License-Identifier: Apache-2.0
//
// Goal: why an actor is still there can be said (EV-5): its path, its phase, what it waits for.
#include <tactus/actor/ask.hpp>

#include <gtest/gtest.h>

#include <string>

#include "world_rig.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using tactus_test::journal;
using tactus_test::ms;
using tactus_test::world_rig;

namespace {

class text final : public text_sink {
public:
    void write(std::string_view piece) noexcept override { all += piece; }
    std::string all;
};
std::string dump(world_rig& rig, dump_format format = dump_format::text) {
    text to;
    rig.world.dump(to, {.format = format});
    return to.all;
}
/// The line of an actor, by the end of its path.
std::string line_of(const std::string& all, std::string_view path) {
    const std::size_t at = all.find(std::string(path) + "\n");
    if (at == std::string::npos)
        return "none";
    const std::size_t begin = all.rfind('\n', at) + 1;
    return all.substr(begin, all.find('\n', at) - begin);
}

struct never {
    actor_ref<int> reply_to;
};
class silent : public actor<never> {
public:
    void on(const never&) {}
};

enum class what : std::uint8_t { ask, delay, fail, spawn };
class waiter : public actor<what> {
public:
    explicit waiter(actor_ref<never> of) : of_(of) {}
    task<> on(what w) {
        switch (w) {
        case what::ask: {
            const auto r = co_await context().ask<int>(
                of_, [](actor_ref<int> me) { return never{me}; }, ms(10'000));
            journal().add(r.has_value() ? 1 : 0);
            break;
        }
        case what::delay: {
            const auto passed = co_await context().delay(ms(10'000));
            journal().add(passed ? 1 : 0);
            break;
        }
        case what::fail:
            context().fail(failure(1));
            break;
        case what::spawn:
            last_child = context().try_spawn<waiter>("", {}, of_)->any();
            break;
        }
    }
    static inline any_ref last_child;

private:
    actor_ref<never> of_;
};

bool has(const std::string& in, std::string_view piece) {
    return in.find(piece) != std::string::npos;
}

struct stage {
    world_rig rig;
    actor_ref<never> s = rig.spawn<silent>("s");
    actor_ref<what> w = rig.spawn<waiter>("w", s);
    stage() { rig.run(); }
    ~stage() {
        rig.end();
        journal().clear();
    }
    void tell(what m) {
        w.tell(m);
        rig.run();
    }
    std::string line() { return line_of(dump(rig), "tactus://test/user/w"); }
    /// Runs mailbox by mailbox until the line has that. False: it never did.
    bool comes_to_say(std::string_view piece) {
        while (!has(line(), piece)) {
            if (!rig.kernel.ticks->run_once())
                return false;
        }
        return true;
    }
};

}  // namespace

// EV-5: idle actors wait for nothing but messages.
TEST(explaining, EV_5_idle_actors_wait_for_messages) {
    stage t;
    EXPECT_TRUE(has(t.line(), "idle")) << t.line();
    EXPECT_FALSE(has(t.line(), "waits for")) << t.line();
}

// EV-5: what a coroutine waits for.
TEST(explaining, EV_5_a_coroutine_that_asked) {
    stage t;
    t.tell(what::ask);
    EXPECT_TRUE(has(t.line(), "waits for a coroutine that asked and waits for the reply"))
        << t.line();
}
TEST(explaining, EV_5_a_coroutine_that_waits_for_a_time) {
    stage t;
    t.tell(what::delay);
    EXPECT_TRUE(has(t.line(), "waits for a coroutine that waits for a time")) << t.line();
    EXPECT_TRUE(has(t.line(), "suspended")) << t.line();
    const std::string json = dump(t.rig, dump_format::json);
    EXPECT_TRUE(has(json, R"("waits_for":"a coroutine that waits for a time")")) << json;
    EXPECT_TRUE(has(json, R"("path":"tactus://test/user/w")")) << json;
}

// AC-7, EV-5: those without a name have a path, too: their parent's, and a number.
TEST(explaining, AC_7_the_path_of_who_has_no_name) {
    stage t;
    t.tell(what::spawn);
    const mailbox_index child = waiter::last_child.index();
    text path;
    t.rig.world.write_path(child, path);
    EXPECT_EQ(path.all, "tactus://test/user/w/$" + std::to_string(child.slot_number()) + "." +
                            std::to_string(child.generation));
    t.rig.world.stop(child);
    t.rig.run();
    text gone;
    t.rig.world.write_path(child, gone);
    EXPECT_TRUE(gone.all.starts_with("tactus://test/$")) << gone.all;
}

// EV-5: an actor that ends waits for its children.
TEST(explaining, EV_5_who_ends_waits_for_its_children) {
    stage t;
    t.tell(what::spawn);
    t.w.any().tell(poison_pill{});
    EXPECT_TRUE(t.comes_to_say("waits for its children to end"));
    t.rig.run();
}

// EV-5: an actor that failed waits for its parent, and then for its children.
TEST(explaining, EV_5_who_failed_waits_for_its_parent) {
    stage t;
    t.tell(what::spawn);
    t.w.tell(what::fail);
    EXPECT_TRUE(t.comes_to_say("waits for its parent to decide about its failure"));
    EXPECT_TRUE(t.comes_to_say("waits for its children to end, to restart"));
    t.rig.run();
    EXPECT_FALSE(has(t.line(), "waits for")) << t.line();
}
