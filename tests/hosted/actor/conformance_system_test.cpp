// SPDX-License-Identifier: Apache-2.0
//
// Goal: the cases that need a real system: its end, questions, dispatchers, and threads that block
// (C-DL-2, C-SYS-6, C-ASK-5 to 8, C-SUP-11 to 34, C-TYP-22, C-TYP-23).
#include <tactus/actor/system_events.hpp>
#include <tactus/runtime/actor_system.hpp>
#include <tactus/runtime/ask_future.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <semaphore>
#include <stdexcept>
#include <string>

#include "pool_rig.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using namespace std::chrono_literals;
using tactus_test::until;

namespace {

const actor_system::options quiet{.log_level = log_level::off};

struct letters {
    std::atomic<int> count{0};
    std::atomic<std::uint64_t> to{0};  // of the last
};
[[nodiscard]] std::uint64_t bits_of(any_ref who) {
    return (std::uint64_t{who.index().slot} << 32U) | who.index().generation;
}
/// Counts dead letters.
class postman : public actor<dead_letter> {
public:
    explicit postman(letters* to) : to_(to) {}
    void on(const dead_letter& m) {
        to_->to = bits_of(m.to);
        ++to_->count;
    }

private:
    letters* to_;
};
void deliver_to(actor_system& system, letters& to) {
    const auto p = system.spawn<postman>("postman", &to);
    ASSERT_TRUE(system.world().subscribe<dead_letter>(p).value());
}

struct question {
    actor_ref<std::string> reply_to;
};
const auto ask_it = [](actor_ref<std::string> me) { return question{me}; };
struct crash {};
struct ping {
    actor_ref<int> reply_to;
};

struct path_sink final : text_sink {
    std::string text;
    void write(std::string_view piece) noexcept override { text += piece; }
};

/// Answers with the number of its instance.
class sturdy : public actor<ping, crash> {
public:
    explicit sturdy(std::atomic<int>* lives) : life_(lives->fetch_add(1)) {}
    void on(const ping& m) { m.reply_to.tell(life_); }
    void on(crash) { throw std::runtime_error("crash"); }

private:
    int life_;
};
const auto ping_it = [](actor_ref<int> me) { return ping{me}; };

}  // namespace

// C-DL-2: what is told to nobody, on purpose, is a dead letter to that; from within an actor, too.
TEST(conformance_system, C_DL_2_told_to_the_dead_letters) {
    class teller : public actor<any_ref> {
    public:
        void on(any_ref to) { to.tell(2); }
    };
    letters lost;
    actor_system system("demo", quiet);
    deliver_to(system, lost);
    EXPECT_EQ(system.path_of(system.dead_letters()), "tactus://demo/dead_letters");
    system.dead_letters().tell(1);
    ASSERT_TRUE(until([&] { return lost.count == 1; }));
    EXPECT_EQ(lost.to, bits_of(system.dead_letters()));
    system.spawn<teller>("teller").tell(system.dead_letters());
    ASSERT_TRUE(until([&] { return lost.count == 2; }));
    EXPECT_EQ(lost.to, bits_of(system.dead_letters()));
    // C-ASK-2: who asks it is told at once.
    const auto answer = system.ask<std::string>(system.dead_letters(), ask_it, 10s);
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().what, ask_error::kind::target_terminated);
}

// C-ASK-2: so is who asks by a path at which there is nobody. C-ASK-3: a reference that names
// nobody is refused by a text that names the type of the message, which is not sent.
TEST(conformance_system, C_ASK_2_C_ASK_3_nobody_is_asked) {
    actor_system system("demo", quiet);
    const any_ref nowhere = system.select("/user/unknown").resolve();
    for (const any_ref to : {nowhere, any_ref{}}) {
        const auto begun = std::chrono::steady_clock::now();
        const auto answer = system.ask<int>(to, ping_it, 60s);
        EXPECT_LT(std::chrono::steady_clock::now() - begun, 30s);
        ASSERT_FALSE(answer);
        EXPECT_EQ(answer.error().what, ask_error::kind::target_terminated);
        EXPECT_NE(answer.error().text().find("ping] was not sent"), std::string::npos)
            << answer.error().text();
    }
    const auto resolved = system.resolve(system.select("/user/unknown"), 60s);
    ASSERT_FALSE(resolved);
    EXPECT_EQ(resolved.error().what, ask_error::kind::target_terminated);
}

// C-SYS-6: a future of the end, the same each time it is asked for; it outlives the system.
TEST(conformance_system, C_SYS_6_a_future_of_the_end) {
    class slow : public actor<int> {
    public:
        explicit slow(std::binary_semaphore* until) : until_(until) {}
        void on(int) {}
        void post_stop() { until_->acquire(); }

    private:
        std::binary_semaphore* until_;
    };
    std::shared_future<void> first;
    std::shared_future<void> second;
    std::binary_semaphore go(0);
    std::atomic<bool> called{false};
    {
        actor_system system("demo", quiet);
        (void)system.spawn<slow>("slow", &go);
        ASSERT_TRUE(system.on_terminated([&] {
            std::this_thread::sleep_for(5ms);
            called = true;
        }));
        first = system.when_terminated();
        EXPECT_EQ(first.wait_for(0s), std::future_status::timeout);
        system.terminate();
        second = system.when_terminated();
        EXPECT_EQ(second.wait_for(10ms), std::future_status::timeout);
        go.release();
        EXPECT_EQ(first.wait_for(10s), std::future_status::ready);
        EXPECT_TRUE(called);
        EXPECT_TRUE(system.wait(10s));
        EXPECT_EQ(system.when_terminated().wait_for(0s), std::future_status::ready);
    }
    second.get();
    first.get();
}

// C-ASK-5: the text of a question that was not answered has the path of whom it was for, the
// milliseconds, and the type of the message; asked in every way, of one with a name and without.
TEST(conformance_system, C_ASK_5_what_the_text_of_a_timeout_has) {
    class deaf : public actor<question> {
    public:
        void on(const question&) {}
    };
    actor_system system("demo", quiet);
    const auto named = system.spawn<deaf>("deaf");
    const auto nameless = system.spawn_anonymous<deaf>();
    for (const auto& who : {named, nameless}) {
        const auto waited = system.ask<std::string>(who, ask_it, 7ms);
        const auto later = ask_future<std::string>(system, who, ask_it, 7ms).get();
        for (const auto& answer : {waited, later}) {
            ASSERT_FALSE(answer);
            const ask_error& e = answer.error();
            EXPECT_EQ(e.what, ask_error::kind::timeout);
            EXPECT_TRUE(e.target == who.any());
            EXPECT_EQ(e.after, 7ms);
            EXPECT_NE(e.message_type.find("question"), std::string::npos);
            const std::string text = e.text();
            EXPECT_NE(text.find("ask timed out on [" + system.path_of(who) + "] after [7 ms]"),
                      std::string::npos)
                << text;
            EXPECT_NE(text.find("a message of type [" + std::string(e.message_type) + "]"),
                      std::string::npos)
                << text;
        }
    }
}

// C-ASK-7: who asks waits at no name: a reply by a pattern below temp, to a sibling or a child of
// who asked, comes to nobody: a dead letter, and the question times out.
TEST(conformance_system, C_ASK_7_replies_that_go_astray) {
    class astray : public actor<question> {
    public:
        explicit astray(int how) : how_(how) {}
        void on(const question& q) {
            const auto path = [&] {
                path_sink to;
                context().world().write_path(q.reply_to.index(), to);
                return to.text;
            };
            const std::string reply = "lost";
            if (how_ == 0)
                context().world().select("/temp/*").tell(reply, self());
            if (how_ == 1)
                context().select("../nobody").tell(reply, self());
            if (how_ == 2)
                context().world().select(path() + "-sibling").tell(reply, self());
            if (how_ == 3)
                context().world().select(path() + "/child").tell(reply, self());
            if (how_ == 4)
                context().world().select(path()).tell(reply, self());  // C-ASK-6: finds it
        }

    private:
        int how_;
    };
    for (int how = 0; how <= 4; ++how) {
        letters lost;
        actor_system system("demo", quiet);
        deliver_to(system, lost);
        const auto a = system.spawn<astray>("astray", how);
        const auto answer = system.ask<std::string>(a, ask_it, how == 4 ? 10s : 20ms);
        EXPECT_EQ(answer.has_value(), how == 4) << how;
        if (how != 4) {
            EXPECT_EQ(answer.error().what, ask_error::kind::timeout);
            EXPECT_TRUE(until([&] { return lost.count == 1; })) << how;
        }
    }
}

// C-ASK-8: who is to be replied to can be watched, and has ended when it was; its path says the
// same before and after.
TEST(conformance_system, C_ASK_8_the_end_of_who_waits_for_a_reply) {
    struct seen {
        std::atomic<int> ended{0};
        std::string before;
        std::string after;
    };
    class watching : public actor<question> {
    public:
        watching(actor_system* in, seen* to) : in_(in), to_(to) {}
        void on(const question& q) {
            context().watch(q.reply_to);
            to_->before = in_->path_of(q.reply_to);
            q.reply_to.tell(std::string("yes"));
        }
        void on(const terminated& m) {
            to_->after = in_->path_of(m.who);
            ++to_->ended;
        }

    private:
        actor_system* in_;
        seen* to_;
    };
    seen what;
    actor_system system("demo", quiet);
    const auto w = system.spawn<watching>("w", &system, &what);
    EXPECT_EQ(system.ask<std::string>(w, ask_it, 10s), "yes");
    EXPECT_TRUE(until([&] { return what.ended == 1; }));
    EXPECT_EQ(what.before, what.after);
    EXPECT_TRUE(what.before.starts_with("tactus://demo/$")) << what.before;
}

// C-SUP-11 here: a mailbox that cannot be made is an error of who spawns, not an actor that fails:
// from outside and of a child. Nothing is left of the attempt: the name is free.
TEST(conformance_system, C_SUP_11_a_mailbox_that_cannot_be_made) {
    class stashing : public actor<ping>, public with_stash<> {
    public:
        void on(const ping& m) { m.reply_to.tell(1); }
    };
    struct row {
        mailbox_options mailbox;
        spawn_error::kind what;
    };
    static constexpr row rows[] = {
        {{.when_full = overflow::reject, .capacity = 0}, spawn_error::kind::capacity_zero},
        {{.kind = mailbox_kind::priority}, spawn_error::kind::order_missing},
        {{.kind = mailbox_kind::control_aware}, spawn_error::kind::mailbox_unfit},
    };
    class parent : public actor<actor_ref<int>> {
    public:
        void on(const actor_ref<int>& reply_to) {
            int right = 0;
            for (const row& r : rows) {
                const auto made = context().try_spawn<stashing>("child", {.mailbox = r.mailbox});
                right += !made && made.error().what == expected(r) ? 1 : 0;
            }
            right += context().try_spawn<stashing>("child", {}) ? 10 : 0;
            reply_to.tell(right);
        }
        /// A stash needs a deque: that is looked at first.
        static spawn_error::kind expected(const row& r) {
            return r.mailbox.kind == mailbox_kind::fifo ? r.what : spawn_error::kind::mailbox_unfit;
        }
    };
    std::atomic<int> lives{0};
    actor_system system("demo", quiet);
    for (const row& r : rows) {
        if (r.what == spawn_error::kind::mailbox_unfit)
            continue;  // for who stashes
        const auto made = system.try_spawn<sturdy>("top", {.mailbox = r.mailbox}, &lives);
        ASSERT_FALSE(made);
        EXPECT_EQ(made.error().what, r.what);
    }
    EXPECT_EQ(lives, 0);
    EXPECT_TRUE(system.try_spawn<sturdy>("top", {}, &lives));
    const auto p = system.spawn<parent>("parent");
    EXPECT_EQ(system.ask<int>(p, [](auto me) { return me; }, 10s), 13);
}

// C-SUP-15: a failure on a dispatcher of one actor, and on others: restarted, and answering.
TEST(conformance_system, C_SUP_15_restarts_on_every_dispatcher) {
    actor_system system("demo", quiet);
    for (const auto kind : {executor_kind::pinned, executor_kind::thread_pool,
                            executor_kind::work_stealing_pool, executor_kind::system_default}) {
        const std::string id = "d-" + std::to_string(static_cast<int>(kind));
        std::uint32_t number = 0;
        if (kind != executor_kind::system_default) {
            const auto made =
                system.dispatchers().add({.id = id, .config = {.executor = kind, .workers = 1}});
            ASSERT_TRUE(made) << id;
            number = made->number();
        }
        std::atomic<int> lives{0};
        const auto a = *system.try_spawn<sturdy>(id, {.dispatcher = number}, &lives);
        EXPECT_EQ(system.ask<int>(a, ping_it, 10s), 0);
        a.tell(crash{});
        EXPECT_EQ(system.ask<int>(a, ping_it, 10s), 1) << id;
        a.tell(crash{});
        EXPECT_EQ(system.ask<int>(a, ping_it, 10s), 2) << id;
        EXPECT_EQ(system.world().kernel().slots().find(a.index())->dispatcher_number(), number);
        EXPECT_TRUE(system.graceful_stop(a, 10s));
    }
}

namespace {

struct chain {
    std::binary_semaphore decide{0};
    std::atomic<bool> deciding{false};
    std::atomic<int> lives{0};
    actor_ref<ping, crash> middle;
    actor_ref<ping, crash> worker;
    std::atomic<bool> ready{false};
};
class foreman : public sturdy {
public:
    explicit foreman(chain* c) : sturdy(&c->lives), c_(c) {}
    void pre_start() {
        c_->worker = *context().try_spawn<sturdy>("worker", {}, &c_->lives);
        c_->ready = true;
    }

private:
    chain* c_;
};
class boss : public actor<int> {
public:
    explicit boss(chain* c) : c_(c) {}
    void pre_start() { c_->middle = *context().try_spawn<foreman>("middle", {}, c_); }
    void on(int) {}
    directive decide(any_ref, const failure_cause&) {
        c_->deciding = true;
        c_->decide.acquire();
        return directive::resume;
    }

private:
    chain* c_;
};

}  // namespace

// C-SUP-24: while the one above decides, everybody below who failed is held back: a question waits.
// Then it goes on, and the question is answered.
TEST(conformance_system, C_SUP_24_a_decider_that_takes_long) {
    chain c;
    actor_system::options o = quiet;
    o.dispatcher.workers = 3;
    actor_system system("demo", o);
    (void)system.spawn<boss>("boss", &c);
    ASSERT_TRUE(until([&] { return c.ready.load(); }));
    EXPECT_TRUE(system.ask<int>(c.worker, ping_it, 10s));
    c.middle.tell(crash{});
    ASSERT_TRUE(until([&] { return c.deciding.load(); }));
    auto of_worker = ask_future<int>(system, c.worker, ping_it, 1min);
    auto of_middle = ask_future<int>(system, c.middle, ping_it, 1min);
    EXPECT_EQ(of_worker.wait_for(50ms), std::future_status::timeout);
    EXPECT_EQ(of_middle.wait_for(0s), std::future_status::timeout);
    EXPECT_NE(system.dump().find("an ancestor that failed"), std::string::npos);
    c.decide.release();
    EXPECT_TRUE(of_worker.get());
    EXPECT_TRUE(of_middle.get());
    EXPECT_EQ(c.lives, 2);
}

// C-SUP-34 here: what may be kept of a context is good after the actor's end: its reference, its
// log, its world. (Asking for the context itself is not: see actor_context_death_test.)
TEST(conformance_system, C_SUP_34_what_is_kept_of_a_context) {
    class keeper : public actor<std::promise<actor_log>*> {
    public:
        void on(std::promise<actor_log>* to) { to->set_value(context().log()); }
    };
    letters lost;
    std::promise<actor_log> given;
    actor_system system("demo", quiet);
    deliver_to(system, lost);
    const auto k = system.spawn<keeper>("keeper");
    k.tell(&given);
    const actor_log log = given.get_future().get();
    EXPECT_TRUE(system.graceful_stop(k, 10s));
    std::thread([&] {
        log.error("after the end");
        k.tell(nullptr);
    }).join();
    EXPECT_TRUE(until([&] { return lost.count == 1; }));
    EXPECT_EQ(lost.to, bits_of(k));
}

// C-TYP-22: a message that is sent before an actor has begun is kept; a top-level actor ends when
// it says so, and the system goes on; terminate calls post_stop; the name is the system's.
TEST(conformance_system, C_TYP_22_the_system_and_its_first_actors) {
    struct seen {
        std::binary_semaphore begin{0};
        std::atomic<int> handled{0};
        std::atomic<int> stopped{0};
    };
    class slow_to_begin : public actor<int> {
    public:
        explicit slow_to_begin(seen* to) : to_(to) { to_->begin.acquire(); }
        void on(int v) {
            to_->handled += v;
            if (v == 100)
                context().stop();
        }
        void post_stop() { ++to_->stopped; }

    private:
        seen* to_;
    };
    seen what;
    actor_system system("demo", quiet);
    EXPECT_EQ(system.name(), "demo");
    const auto first = system.spawn<slow_to_begin>("first", &what);
    first.tell(1);
    first.tell(2);
    EXPECT_EQ(what.handled, 0);
    what.begin.release(2);
    ASSERT_TRUE(until([&] { return what.handled == 3; }));
    first.tell(100);
    ASSERT_TRUE(until([&] { return what.stopped == 1; }));
    EXPECT_EQ(system.when_terminated().wait_for(0s), std::future_status::timeout);
    const auto second = system.spawn<slow_to_begin>("second", &what);
    second.tell(1);
    ASSERT_TRUE(until([&] { return what.handled == 104; }));
    EXPECT_TRUE(system.terminate_and_wait(10s));
    EXPECT_EQ(what.stopped, 2);
    EXPECT_EQ(system.exit_code(), 0);
}

// C-TYP-23: mailbox and dispatcher of an actor: the default, those of its options, both together,
// its parent's, its parent's parent's, and one there is not.
TEST(conformance_system, C_TYP_23_selectors_of_mailbox_and_dispatcher) {
    struct where {
        std::uint32_t dispatcher;
        mailbox_kind mailbox;
        std::uint32_t capacity;
    };
    struct whereabouts {
        actor_ref<where> reply_to;
        int below = 0;  // of that many generations
    };
    class located : public actor<whereabouts> {
    public:
        void on(const whereabouts& m) {
            if (m.below > 0) {
                const auto child =
                    context().try_spawn<located>("", {.dispatcher = context().dispatcher()});
                child->tell(whereabouts{m.reply_to, m.below - 1});
                return;
            }
            const auto* block = context().in().place().kind();  // null: the plain one
            const mailbox_options box = block != nullptr ? block->options() : mailbox_options{};
            m.reply_to.tell(where{context().dispatcher(), box.kind, box.capacity});
        }
    };
    actor_system system("demo", quiet);
    const std::uint32_t other =
        system.dispatchers()
            .add({.id = "other", .config = {.executor = executor_kind::thread_pool, .workers = 1}})
            ->number();
    const auto ask = [&](const actor_ref<whereabouts>& a, int below = 0) {
        return system.ask<where>(a, [&](auto me) { return whereabouts{me, below}; }, 10s).value();
    };
    const where plain = ask(system.spawn<located>("plain"));
    EXPECT_EQ(plain.dispatcher, 0u);
    EXPECT_EQ(plain.mailbox, mailbox_kind::fifo);
    EXPECT_EQ(plain.capacity, mailbox_options::unbounded);
    const auto a = *system.try_spawn<located>(
        "a", {.mailbox = {.kind = mailbox_kind::deque, .capacity = 7}, .dispatcher = other});
    const where both = ask(a);
    EXPECT_EQ(both.dispatcher, other);
    EXPECT_EQ(both.mailbox, mailbox_kind::deque);
    EXPECT_EQ(both.capacity, 7u);
    EXPECT_EQ(ask(a, 1).dispatcher, other);
    EXPECT_EQ(ask(a, 2).dispatcher, other);
    EXPECT_EQ(ask(system.spawn<located>("b"), 2).dispatcher, 0u);
    const auto unknown = system.try_spawn<located>("c", {.dispatcher = 77});
    ASSERT_FALSE(unknown);
    EXPECT_EQ(unknown.error().what, spawn_error::kind::unknown_dispatcher);
}
