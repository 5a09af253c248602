// SPDX-License-Identifier: Apache-2.0
//
// Goal: dispatchers by id: made, found, kept alive and ended (DR-3, DR-5, EX-6, EX-9, CO-5).
#include <tactus/runtime/dispatchers.hpp>

#include <tactus/runtime/calling_thread.hpp>
#include <tactus/runtime/heap_memory.hpp>

#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "dispatchers_rig.hpp"
#include "kernel_account.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using namespace std::chrono_literals;
using runtime::dispatcher_error;
using runtime::worker_state;
using tactus_test::counting_actor;
using tactus_test::dispatchers_rig;
using tactus_test::until;

namespace {

/// Tells the name of the thread it runs on.
struct named {
    std::string* name;
    std::atomic<bool>* done;
    void receive(turn&, envelope&) {
        char text[16] = {};
        pthread_getname_np(pthread_self(), text, sizeof text);
        *name = text;
        done->store(true);
    }
};
std::string thread_of(actor_scheduler& system, std::uint32_t dispatcher) {
    std::string name;
    std::atomic<bool> done{false};
    const mailbox_index a = *system.spawn<named>({.dispatcher = dispatcher}, &name, &done);
    actor_scheduler::tell(a, 1);
    EXPECT_TRUE(until([&] { return done.load(); }));
    (void)system.stop(a);
    return name;
}

dispatcher_config config(executor_kind kind, duration shutdown = duration::from_s(1)) {
    return {.executor = kind, .workers = 1, .max_workers = 1, .shutdown_timeout = shutdown};
}

}  // namespace

// EX-9
TEST(dispatchers, EX_9_defaults_follow_the_cores) {
    const std::uint32_t cores = std::thread::hardware_concurrency();
    const dispatcher_config c = runtime::dispatchers::resolved({});
    EXPECT_EQ(c.workers, cores);
    EXPECT_EQ(c.max_workers, 2 * cores);
    EXPECT_EQ(c.starvation_deadline, duration::from_s(1));
    EXPECT_EQ(c.shutdown_timeout, duration::from_s(1));
    const dispatcher_config p = runtime::dispatchers::resolved({.executor = executor_kind::pinned});
    EXPECT_EQ(p.workers, 1u);
    EXPECT_EQ(p.max_workers, 1u);
    const dispatcher_config f =
        runtime::dispatchers::resolved({.executor = executor_kind::foreign, .workers = 3});
    EXPECT_EQ(f.max_workers, 3u);
    EXPECT_EQ(runtime::dispatchers::resolved({.workers = 4, .max_workers = 2}).max_workers, 4u);
}

// DR-5
TEST(dispatchers, DR_5_are_found_by_id_and_added_while_running) {
    dispatchers_rig rig;
    EXPECT_EQ(rig.all->find(default_dispatcher_id)->number(), 0u);
    EXPECT_EQ(rig.all->first().id(), default_dispatcher_id);
    const auto none = rig.all->find("nowhere");
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().what, dispatcher_error::kind::unknown_dispatcher);
    EXPECT_EQ(none.error().id, "nowhere");
    EXPECT_EQ(none.error().text(), "there is no dispatcher 'nowhere'");
    const auto added = rig.all->add({.id = "more", .config = config(executor_kind::thread_pool)});
    ASSERT_TRUE(added);
    EXPECT_EQ(added->number(), 1u);
    EXPECT_EQ(rig.all->find("more")->number(), 1u);
    EXPECT_EQ(rig.all->find("more")->kind(), executor_kind::thread_pool);
    std::atomic<std::uint64_t> count{0};
    actor_scheduler::tell(*rig.system.spawn<counting_actor>({.dispatcher = 1}, &count), 1);
    EXPECT_TRUE(until([&] { return count.load() == 1; }));
}

// DR-5: one in use is not replaced; what cannot be is refused by name.
TEST(dispatchers, DR_5_what_cannot_be_is_refused_by_name) {
    dispatchers_rig rig;
    const auto why = [&](const runtime::dispatcher_setup& e) {
        return rig.all->add(e).error().what;
    };
    using kind = dispatcher_error::kind;
    EXPECT_EQ(why({.id = default_dispatcher_id}), kind::duplicate_dispatcher);
    EXPECT_EQ(why({.id = "f", .config = {.executor = executor_kind::foreign}}),
              kind::executor_missing);
    EXPECT_EQ(why({.id = "p", .config = {.executor = executor_kind::pinned, .workers = 2}}),
              kind::executor_unfit);
    for (std::uint32_t i = 1; i < actor_scheduler::dispatchers_max; ++i)
        ASSERT_TRUE(
            rig.all->add({.id = std::to_string(i), .config = config(executor_kind::inline_tick)}));
    EXPECT_EQ(why({.id = "one more"}), kind::too_many_dispatchers);
    EXPECT_TRUE(rig.all->shut_down(10s));
    EXPECT_EQ(why({.id = "late"}), kind::shutting_down);
    EXPECT_EQ(std::string(name_of(kind::shutting_down)), "shutting_down");
}

// DR-5: limits are changed while running, and count from the next run.
TEST(dispatchers, DR_5_limits_are_changed_while_running) {
    dispatchers_rig rig;
    const auto added = rig.all->add(
        {.id = "d", .config = {.executor = executor_kind::thread_pool, .throughput = 3}});
    ASSERT_TRUE(added);
    const dispatcher& where = added->where();
    EXPECT_EQ(where.throughput(), 3u);
    EXPECT_FALSE(where.has_throughput_deadline());
    added->set_throughput(0);
    EXPECT_EQ(where.throughput(), 1u);  // 0 means 1
    added->set_throughput({});
    EXPECT_EQ(where.throughput(), 0u);  // the default rule
    struct row {
        duration said;
        duration kept;
    };
    // Whole microseconds, rounded up: a deadline, not none; 71 minutes and more are none.
    const row table[] = {{duration::from_ms(5), duration::from_ms(5)},
                         {duration::from_ns(1), duration::from_us(1)},
                         {duration::zero(), duration::zero()},
                         {duration::from_ns(-1), duration::zero()},
                         {duration::from_s(71 * 60), duration::from_s(71 * 60)},
                         {duration::from_s(72 * 60), duration::max()},
                         {duration::max(), duration::max()}};
    for (const row& r : table) {
        added->set_throughput_deadline(r.said);
        EXPECT_EQ(where.throughput_deadline(), r.kept);
        EXPECT_EQ(where.has_throughput_deadline(), r.kept != duration::max());
    }
    // From the next run: each of the messages takes longer than the deadline, so each has a run.
    struct slow {
        std::atomic<std::uint64_t>* count;
        void receive(turn&, envelope&) {
            std::this_thread::sleep_for(200us);
            ++*count;
        }
    };
    added->set_throughput_deadline(duration::from_us(100));
    std::atomic<std::uint64_t> count{0};
    const mailbox_index a = *rig.system.spawn<slow>({.dispatcher = added->number()}, &count);
    const std::uint32_t before = added->where().order().progress();
    for (int i = 0; i < 20; ++i)
        actor_scheduler::tell(a, i);
    EXPECT_TRUE(until([&] { return count == 20; }));
    EXPECT_GE(added->where().order().progress() - before, 20u);
}

// DR-1, DR-2, DR-3: what the resolver knows is made when it is first needed, once.
TEST(dispatchers, DR_3_dispatchers_of_the_resolver_are_made_when_needed) {
    runtime::heap_memory heap;
    resolver names({.memory = &heap, .rules = dispatch_rules::of(system_preset::pekko)});
    ASSERT_TRUE(names.add_dispatcher("app.io", config(executor_kind::thread_pool)));
    ASSERT_TRUE(names.add_alias("app.files", "app.io"));
    ASSERT_TRUE(names.add_deployment("/user/reader", {.dispatcher = "app.files"}));
    ASSERT_TRUE(names.add_dispatcher("app.foreign", config(executor_kind::foreign)));
    dispatchers_rig rig({.workers = 1}, {}, "tactus", &names);

    EXPECT_EQ(rig.system.dispatcher_at(1), nullptr);
    const auto by_alias = rig.all->find("app.files");
    ASSERT_TRUE(by_alias);
    EXPECT_EQ(by_alias->number(), 1u);
    EXPECT_EQ(by_alias->id(), "app.io");
    EXPECT_EQ(by_alias->where().throughput(), 5u);  // the preset's
    EXPECT_EQ(rig.all->find("app.io")->number(), 1u);
    EXPECT_EQ(rig.all->find(default_dispatcher_id)->number(), 0u);  // C-DCF-3
    EXPECT_EQ(rig.all->find("nowhere").error().what, dispatcher_error::kind::unknown_dispatcher);
    EXPECT_EQ(rig.all->find("app.foreign").error().what, dispatcher_error::kind::executor_missing);

    const auto where = rig.all->place({.path = "/user/reader"});
    ASSERT_TRUE(where) << text_of(where.error());
    EXPECT_EQ(where->dispatcher, 1u);
    EXPECT_EQ(thread_of(rig.system, where->dispatcher), "tactus-io-0");
}

// DR-1, DR-3: one that is added is known to the resolver, with its rules; a foreign one that the
// resolver knew is entered once. Why an id is not found is said.
TEST(dispatchers, DR_3_added_dispatchers_are_known_to_the_resolver) {
    runtime::heap_memory heap;
    resolver names({.memory = &heap, .rules = dispatch_rules::of(system_preset::pekko)});
    ASSERT_TRUE(names.add_dispatcher("app.foreign", config(executor_kind::foreign)));
    ASSERT_TRUE(names.add_alias("app.files", "io"));
    ASSERT_TRUE(names.add_alias("a", "b"));
    ASSERT_TRUE(names.add_alias("b", "a"));
    runtime::calling_thread here;
    dispatchers_rig rig({.workers = 1}, {}, "tactus", &names);
    const auto io = rig.all->add({.id = "io", .config = config(executor_kind::thread_pool)});
    ASSERT_TRUE(io);
    EXPECT_EQ(io->where().throughput(), 5u);  // the preset's
    for (const std::string_view id : {"io", "app.files"}) {
        const auto where = rig.all->place({.choice = spawn_choice().with_dispatcher(id).where()});
        ASSERT_TRUE(where) << text_of(where.error());
        EXPECT_EQ(where->dispatcher, io->number());
    }
    dispatcher_config own = config(executor_kind::foreign);
    own.throughput = 7;
    const auto foreign = rig.all->add({.id = "app.foreign", .config = own, .foreign = &here});
    ASSERT_TRUE(foreign);
    EXPECT_EQ(foreign->where().throughput(), 7u);
    EXPECT_EQ(rig.all->find("app.foreign")->number(), foreign->number());
    EXPECT_EQ(rig.all->add({.id = "io", .config = config(executor_kind::thread_pool)}).error().what,
              dispatcher_error::kind::duplicate_dispatcher);

    const auto loop = rig.all->find("a");
    ASSERT_FALSE(loop);
    EXPECT_EQ(loop.error().what, dispatcher_error::kind::unknown_dispatcher);
    EXPECT_EQ(loop.error().text().find(
                  "there is no dispatcher 'a': more than 20 aliases, possibly a loop: a -> b"),
              0u)
        << loop.error().text();
    const auto taken = rig.all->add({.id = "b", .config = config(executor_kind::thread_pool)});
    ASSERT_FALSE(taken);
    EXPECT_EQ(taken.error().what, dispatcher_error::kind::id_refused);
    EXPECT_EQ(taken.error().text().find("the resolver refuses the id of dispatcher 'b': "), 0u);
    EXPECT_STREQ(name_of(dispatcher_error::kind::id_refused), "id_refused");
}

// DR-4: what props say about dispatcher, mailbox, priority and deadline reaches the actor.
TEST(dispatchers, DR_4_an_actor_is_placed_as_its_props_say) {
    runtime::heap_memory heap;
    resolver names({.memory = &heap});
    dispatchers_rig rig({.workers = 1}, {}, "tactus", &names);
    const auto where = rig.all->place(
        {.choice = spawn_choice()
                       .with_dispatcher(blocking_dispatcher_id)
                       .with_mailbox("bounded")
                       .with_capacity(7)
                       .with_priority(9)
                       .with_deadline(duration::from_ms(3))
                       .with_suspend_limit(duration::from_ms(4), suspend_limit_action::stop)
                       .where()});
    ASSERT_TRUE(where) << text_of(where.error());
    EXPECT_EQ(where->dispatcher, 1u);
    EXPECT_EQ(where->mailbox.capacity, 7u);
    EXPECT_EQ(where->priority, 9u);
    EXPECT_EQ(where->deadline, duration::from_ms(3));
    EXPECT_EQ(where->suspending,  // CO-6
              (suspend_limit{duration::from_ms(4), suspend_limit_action::stop}));
    std::atomic<std::uint64_t> count{0};
    actor_scheduler::tell(*rig.system.spawn<counting_actor>(*where, &count), 1);
    EXPECT_TRUE(until([&] { return count == 1; }));

    // Nothing said: the first, and a plain mailbox.
    const auto plain = rig.all->place({});
    ASSERT_TRUE(plain);
    EXPECT_EQ(plain->dispatcher, 0u);
    EXPECT_TRUE(plain->mailbox.is_plain());

    const auto unknown = rig.all->place({.choice = {.mailbox = "app.nothing"}});
    ASSERT_FALSE(unknown);
    EXPECT_NE(text_of(unknown.error()).find("app.nothing"), std::string::npos);
}

// Many who need the same dispatcher at once get one.
TEST(dispatchers, a_dispatcher_of_the_resolver_is_made_once) {
    runtime::heap_memory heap;
    resolver names({.memory = &heap});
    dispatchers_rig rig({.workers = 1}, {}, "tactus", &names);
    std::atomic<unsigned> wrong{0};
    {
        std::vector<std::jthread> all;
        for (unsigned t = 0; t < 4; ++t) {
            all.emplace_back([&] {
                const auto found = rig.all->find(blocking_dispatcher_id);
                if (!found || found->number() != 1)
                    ++wrong;
            });
        }
    }
    EXPECT_EQ(wrong, 0u);
    EXPECT_EQ(rig.system.dispatcher_at(2), nullptr);
}

// C-DCF-6, C-DSP-14, UP-7: names of threads carry the system and the dispatcher.
TEST(dispatchers, C_DCF_6_thread_names_carry_system_and_dispatcher) {
    using runtime::worker_thread_name;
    EXPECT_EQ(worker_thread_name("shop", "tactus.default-dispatcher", 0), "shop-default-0");
    EXPECT_EQ(worker_thread_name("a-long-system", "a-long-dispatcher", 12), "a-long-a-lon-12");
    EXPECT_EQ(worker_thread_name("x", "tactus.blocking-dispatcher", 3), "x-blocking-3");
    EXPECT_EQ(worker_thread_name("x", "abcdefghijklmnop", 3), "x-abcdefghijk-3");
    EXPECT_EQ(worker_thread_name("x", "-dispatcher", 3), "x--dispatcher-3");
    EXPECT_EQ(worker_thread_name("x", "", 3), "x-3");
    dispatchers_rig rig({.workers = 1}, {}, "shop");
    EXPECT_EQ(thread_of(rig.system, 0), "shop-default-0");
    ASSERT_TRUE(rig.all->add({.id = "my.own", .config = config(executor_kind::pinned)}));
    EXPECT_EQ(thread_of(rig.system, 1), "shop-own-0");
    ASSERT_TRUE(rig.all->add({.id = "io", .config = config(executor_kind::thread_pool)}));
    EXPECT_EQ(thread_of(rig.system, 2), "shop-io-0");
}

// TC-M39: a pinned dispatcher belongs to one actor.
TEST(dispatchers, TC_M39_a_second_owner_of_a_pinned_one_is_refused) {
    dispatchers_rig rig;
    const std::uint32_t n =
        rig.all->add({.id = "p", .config = config(executor_kind::pinned)})->number();
    std::atomic<std::uint64_t> count{0};
    const mailbox_index a = *rig.system.spawn<counting_actor>({.dispatcher = n}, &count);
    const auto second = rig.system.spawn<counting_actor>({.dispatcher = n}, &count);
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().what, spawn_error::kind::dispatcher_already_owned);
    // The same one again, and one that fails to be built, change nothing.
    EXPECT_TRUE(rig.system.dispatcher_at(n)->attach(a.slot_number()));
    EXPECT_EQ(rig.system.dispatcher_at(n)->inhabitants(), 1u);
    actor_scheduler::tell(a, 1);
    EXPECT_TRUE(until([&] { return count.load() == 1; }));
    EXPECT_TRUE(rig.system.stop(a));
    EXPECT_TRUE(until([&] { return rig.system.dispatcher_at(n)->inhabitants() == 0; }));
    struct fails {
        fails() { throw std::runtime_error("no"); }
        void receive(turn&, envelope&) {}
    };
    EXPECT_EQ(rig.system.spawn<fails>({.dispatcher = n}).error().what,
              spawn_error::kind::constructor_failed);
    const auto third = rig.system.spawn<counting_actor>({.dispatcher = n}, &count);
    ASSERT_TRUE(third);
    actor_scheduler::tell(*third, 1);
    EXPECT_TRUE(until([&] { return count.load() == 2; }));
}

// TC-M38, EX-6: without actors its threads end after the timeout; one that comes before cancels it.
TEST(dispatchers, TC_M38_threads_end_without_actors_and_start_again) {
    dispatchers_rig rig;
    const auto d = *rig.all->add(
        {.id = "d", .config = config(executor_kind::thread_pool, duration::from_ms(600))});
    std::atomic<std::uint64_t> count{0};
    const auto spawn = [&] {
        return *rig.system.spawn<counting_actor>({.dispatcher = d.number()}, &count);
    };
    const mailbox_index a = spawn();
    const mailbox_index b = spawn();
    EXPECT_EQ(d.report().inhabitants, 2u);
    EXPECT_EQ(d.report().threads, 1u);
    (void)rig.system.stop(a);
    (void)rig.system.stop(b);
    ASSERT_TRUE(until([&] { return d.report().inhabitants == 0; }));
    std::this_thread::sleep_for(100ms);
    const mailbox_index c = spawn();  // in time
    std::this_thread::sleep_for(800ms);
    EXPECT_EQ(d.report().stops, 0u);
    EXPECT_EQ(d.report().threads, 1u);
    (void)rig.system.stop(c);
    EXPECT_TRUE(until([&] { return d.report().stops == 1; }));
    EXPECT_TRUE(until([&] { return d.report().threads == 0; }));
    EXPECT_EQ(d.state_of(0), worker_state::stopped);
    const mailbox_index e = spawn();  // attach starts it again
    EXPECT_TRUE(until([&] { return d.report().threads == 1; }));
    actor_scheduler::tell(e, 1);
    EXPECT_TRUE(until([&] { return count.load() == 1; }));
    std::this_thread::sleep_for(800ms);
    EXPECT_EQ(d.report().stops, 1u);  // it is lived in
}

// C-DSP-1: tasks bring the threads of an empty dispatcher back, too, and they end again.
TEST(dispatchers, C_DSP_1_tasks_start_the_threads_of_an_empty_dispatcher) {
    dispatchers_rig rig;
    const auto d = *rig.all->add(
        {.id = "d", .config = config(executor_kind::work_stealing_pool, duration::from_ms(100))});
    std::atomic<std::uint64_t> count{0};
    const mailbox_index a = *rig.system.spawn<counting_actor>({.dispatcher = d.number()}, &count);
    EXPECT_EQ(d.report().stops, 0u);
    (void)rig.system.stop(a);
    EXPECT_EQ(d.report().stops, 0u);
    ASSERT_TRUE(until([&] { return d.report().stops == 1; }));
    std::atomic<int> ran{0};
    worker_task_of t([&] { ++ran; });
    for (int i = 0; i < 10; ++i) {
        ASSERT_TRUE(d.execute(t));
        ASSERT_TRUE(until([&] { return ran.load() == i + 1; }));
    }
    ASSERT_TRUE(until([&] { return d.report().stops == 2; }));
    const mailbox_index b = *rig.system.spawn<counting_actor>({.dispatcher = d.number()}, &count);
    ASSERT_TRUE(d.execute(t));
    ASSERT_TRUE(until([&] { return ran.load() == 11; }));
    std::this_thread::sleep_for(250ms);
    EXPECT_EQ(d.report().stops, 2u);
    (void)rig.system.stop(b);
    EXPECT_TRUE(until([&] { return d.report().stops == 3; }));
}

// C-DSP-5: waves of actors that count down and stop; the threads end once per wave.
TEST(dispatchers, C_DSP_5_waves_of_actors_all_end) {
    struct counts_down {
        void receive(turn& t, envelope& e) {
            const int left = *e.get_if<int>();
            if (left == 0)
                t.stop();
            else
                t.send(t.self(), left - 1);
        }
    };
    tactus_test::loss_counter closed;
    const std::uint64_t wave = tactus_test::sized(10'000, 10);
    dispatchers_rig rig({.workers = 1}, {.events = &closed});
    const auto d = *rig.all->add(
        {.id = "d",
         .config = {.workers = 2, .max_workers = 2, .shutdown_timeout = duration::from_ms(100)}});
    for (std::uint64_t w = 1; w <= 3; ++w) {
        for (std::uint64_t i = 0; i < wave; ++i)
            actor_scheduler::tell(*rig.system.spawn<counts_down>({.dispatcher = d.number()}), 10);
        ASSERT_TRUE(until([&] { return closed.closed.load() == w * wave; }));
        ASSERT_TRUE(until([&] { return d.report().stops == w; }));
    }
    EXPECT_EQ(d.report().inhabitants, 0u);
}

// DR-5: throughput applies from the next run.
TEST(dispatchers, DR_5_throughput_changes_while_running) {
    static std::vector<int> log;  // of the one worker
    static std::atomic<bool> go{false};
    static std::atomic<int> done{0};
    struct logging {
        int name;
        void receive(turn&, envelope&) {
            while (!go.load())
                std::this_thread::sleep_for(1ms);
            log.push_back(name);
            ++done;
        }
    };
    dispatchers_rig rig({.workers = 1, .max_workers = 1});
    rig.all->first().set_throughput(1);
    const mailbox_index a = *rig.system.spawn<logging>({}, 1);
    const mailbox_index b = *rig.system.spawn<logging>({}, 2);
    actor_scheduler::tell(a, 0);
    std::this_thread::sleep_for(20ms);
    actor_scheduler::tell(b, 0);
    actor_scheduler::tell(b, 0);
    actor_scheduler::tell(a, 0);
    go = true;
    EXPECT_TRUE(until([&] { return done.load() == 4; }));
    EXPECT_TRUE(rig.all->shut_down(10s));
    EXPECT_EQ(log, (std::vector<int>{1, 2, 1, 2}));
}

// CO-5: everything that is queued anywhere is processed; then everything is closed.
TEST(dispatchers, CO_5_all_dispatchers_are_drained_and_stopped) {
    std::atomic<std::uint64_t> count{0};
    dispatchers_rig rig;
    const executor_kind kinds[] = {executor_kind::thread_pool, executor_kind::pinned,
                                   executor_kind::calling_thread, executor_kind::inline_tick};
    std::vector<mailbox_index> actors{*rig.system.spawn<counting_actor>({}, &count)};
    for (const executor_kind k : kinds) {
        const auto d = rig.all->add({.id = name_of(k), .config = config(k)});
        ASSERT_TRUE(d);
        actors.push_back(*rig.system.spawn<counting_actor>({.dispatcher = d->number()}, &count));
    }
    for (int i = 0; i < 1'000; ++i) {
        for (const mailbox_index a : actors)
            actor_scheduler::tell(a, i);
    }
    EXPECT_TRUE(rig.all->shut_down(30s));
    EXPECT_EQ(count.load(), 5'000u);
    EXPECT_EQ(rig.system.phase(), system_phase::stopped);
    EXPECT_EQ(rig.system.live_count(), 0u);
    EXPECT_EQ(rig.all->first().state_of(0), worker_state::stopped);
    EXPECT_TRUE(rig.all->shut_down(1s));  // again: nothing to do
}

// CO-5: a limit ends the draining, whatever hangs.
TEST(dispatchers, CO_5_a_limit_ends_the_draining) {
    struct slow {
        void receive(turn&, envelope&) { std::this_thread::sleep_for(1ms); }
    };
    dispatchers_rig rig;
    ASSERT_TRUE(rig.all->add({.id = "io", .config = config(executor_kind::thread_pool)}));
    const mailbox_index a = *rig.system.spawn<slow>({.dispatcher = 1});
    for (int i = 0; i < 10'000; ++i)
        actor_scheduler::tell(a, i);
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_FALSE(rig.all->shut_down(20ms));
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 5s);
    EXPECT_EQ(rig.system.live_count(), 0u);
}
