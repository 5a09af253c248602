// SPDX-License-Identifier: Apache-2.0
//
// A dump shows what the system is doing, and nothing of its messages (OH-4).
#include <tactus/dispatch/dump.hpp>

#include <string_view>

#include "kernel_rig.hpp"

using namespace tactus_test;
using tactus::dump_format;
using tactus::json_writer;

namespace {

template <std::size_t Size>
class text_buffer final : public tactus::text_sink {
public:
    void write(std::string_view piece) noexcept override {
        for (const char c : piece) {
            if (size_ < sizeof text_)
                text_[size_++] = c;
        }
    }
    [[nodiscard]] std::string_view text() const noexcept { return {text_, size_}; }
    [[nodiscard]] bool has(std::string_view part) const noexcept {
        return text().find(part) != std::string_view::npos;
    }
    void clear() noexcept { size_ = 0; }

private:
    char text_[Size];
    std::size_t size_ = 0;
};
using text_memory = text_buffer<board::roomy ? 8'192 : 1'536>;

/// "1:2:3" of an actor, with something before and behind.
class named {
public:
    named(std::string_view before, tactus::mailbox_index who, std::string_view after) noexcept {
        text_.write(before);
        add(who.system_number());
        text_.write(":");
        add(who.slot_number());
        text_.write(":");
        add(who.generation);
        text_.write(after);
    }
    operator std::string_view() const noexcept { return text_.text(); }

private:
    void add(std::uint32_t n) noexcept {
        if (n >= 10)
            add(n / 10);
        const char digit = static_cast<char>('0' + n % 10);
        text_.write({&digit, 1});
    }
    text_buffer<160> text_;
};

text_memory& dumped(kernel_rig& r, dump_format format = dump_format::text,
                    std::uint32_t actors_max = 100) {
    static text_memory out;
    out.clear();
    tactus::dump_dispatchers(*r, out, {.format = format, .actors_max = actors_max});
    return out;
}

}  // namespace

// OH-4: lanes and workers, and each actor with what waits for it.
TEST(dump, shows_lanes_workers_and_actors) {
    kernel_rig r;
    const auto idle = r.spawn();
    const auto busy = r.spawn();
    r.tell(busy, {1, 2});
    const text_memory& out = dumped(r);
    EXPECT_TRUE(
        out.has(" running\ndispatcher 0: queued cancel 0 timed 0 ready 1; workers 1, "
                "running 0, sleeping 0, searching 0, parked 0\n  worker 0: none\n"));
    EXPECT_TRUE(
        out.has(named("\nactor ", idle, " idle, user_len 0, system_len 0, dispatcher 0\n")));
    EXPECT_TRUE(
        out.has(named("\nactor ", busy, " scheduled, user_len 1, system_len 0, dispatcher 0\n")));
    r.run();
    (void)r->stop(idle);
    EXPECT_FALSE(dumped(r).has(named("\nactor ", idle, " ")));
    EXPECT_TRUE(dumped(r).has(named("\nactor ", busy, " idle, user_len 0")));
}

// OH-4: the worker that runs it, from inside a handler, and nobody afterwards.
TEST(dump, names_the_worker_that_runs_an_actor) {
    kernel_rig r;
    static kernel_rig* rig;
    static bool found;
    rig = &r;
    found = false;
    const auto a = r.spawn<plain_actor>([](tactus::turn& t, std::uint32_t) {
        const text_memory& out = dumped(*rig);
        found = out.has(named("  worker 0: ", t.self(), "\n")) && out.has("running 1") &&
                out.has(named("\nactor ", t.self(),
                              " scheduled, user_len 0, system_len 0, dispatcher 0, worker 0\n"));
    });
    r.tell(a, {1});
    r.run();
    EXPECT_TRUE(found);
    EXPECT_FALSE(dumped(r).has(", worker"));
    EXPECT_TRUE(dumped(r).has("  worker 0: none\n"));
}

// OH-4, MB-8: what the last run left, and a bounded mailbox's exact length.
TEST(dump, shows_how_much_waits) {
    kernel_rig r([](kernel_rig::options& o) { o.throughput = 2; });
    const auto a = r.spawn();
    r.tell(a, {1, 2, 3, 4, 5});
    (void)r.run_once();
    EXPECT_TRUE(dumped(r).has(named("\nactor ", a, " scheduled, user_len 3, ")));
    const auto b = *r->spawn<plain_actor>({.mailbox = {.capacity = 10}});
    r.tell(b, {1, 2, 3, 4});
    EXPECT_TRUE(dumped(r).has(named("\nactor ", b, " scheduled, user_len 4, ")));
    r.run();
    EXPECT_TRUE(dumped(r).has(named("\nactor ", a, " idle, user_len 0, ")));
    EXPECT_TRUE(dumped(r).has(named("\nactor ", b, " idle, user_len 0, ")));
}

// OH-4: why an actor is held back, and since when.
TEST(dump, shows_suspensions) {
    kernel_rig r;
    const auto a = r.spawn<plain_actor>([](tactus::turn& t, std::uint32_t) {
        EXPECT_TRUE(
            t.suspend(tactus::suspend_reason::backpressure, tactus::resume_condition::signal(1)));
    });
    r.time.advance(tactus::duration::from_ms(41));
    r.tell(a, {1});
    r.run();
    r.time.advance(tactus::duration::from_s(7));
    EXPECT_TRUE(dumped(r).has(named("\nactor ", a,
                                    " suspended, user_len 0, system_len 0, dispatcher 0, "
                                    "suspended by backpressure since 40 ms\n")));
    (void)r->signal(1);
    (void)r->suspend(a, tactus::suspension::supervision);
    EXPECT_TRUE(dumped(r).has("suspended by supervision since 7040 ms\n"));
    (void)r->resume(a, tactus::suspension::supervision);
    EXPECT_FALSE(dumped(r).has("suspended by"));
    // Since is kept in 29 bits of 8 ms, which is 49 days.
    r.time.advance(tactus::duration::from_s(60LL * 86'400));
    (void)r->suspend(a, tactus::suspension::supervision);
    EXPECT_TRUE(dumped(r).has("supervision since 5184007040 ms\n"));
}

// DF-64: as many system messages as wait: sent and not handled, or held until supervision decides.
TEST(dump, DF_64_shows_how_many_system_messages_wait) {
    kernel_rig r;
    const auto a = r.spawn();
    tactus_test::signal_node watches[] = {{tactus::system_kind::watch, 1},
                                          {tactus::system_kind::watch, 2}};
    tactus_test::signal_node coroutines[] = {{tactus::system_kind::continuation, 3},
                                             {tactus::system_kind::continuation, 4}};
    (void)r->suspend(a, tactus::suspension::supervision);
    for (auto& m : watches)
        EXPECT_TRUE(r->send_system(a, m));
    for (auto& m : coroutines)
        EXPECT_TRUE(r->send_system(a, m));
    const bool counts = tactus::port::cache_line >= 64;  // elsewhere there is no room to count
    EXPECT_TRUE(dumped(r).has(counts ? "user_len 0, system_len 4, " : "system_len 1, "));
    EXPECT_TRUE(
        dumped(r, dump_format::json).has(counts ? "\"system_len\":4," : "\"system_len\":1,"));
    r.run();  // continuations wait for supervision
    EXPECT_TRUE(dumped(r).has(counts ? "system_len 2, " : "system_len 0, "));
    (void)r->resume(a, tactus::suspension::supervision);
    r.run();
    EXPECT_TRUE(dumped(r).has("user_len 0, system_len 0, "));
}

// DF-64: a message that finds its receiver gone does not count, nor what a stop leaves behind.
TEST(dump, DF_64_no_system_message_waits_in_the_next_life) {
    kernel_rig r;
    const auto a = r.spawn();
    tactus_test::signal_node nodes[] = {{tactus::system_kind::watch, 1},
                                        {tactus::system_kind::watch, 2},
                                        {tactus::system_kind::watch, 3}};
    tactus_test::signal_node end(tactus::system_kind::terminate, 4);
    EXPECT_TRUE(r->send_system(a, nodes[0]));
    EXPECT_TRUE(r->send_system(a, end));
    EXPECT_TRUE(r->send_system(a, nodes[1]));
    r.run();
    EXPECT_FALSE(r->send_system(a, nodes[2]));
    const tactus::slot& s = r->slots().at(a.slot_number());
    EXPECT_EQ(s.system_length(), 0U);
}

// OH-4: as many actors as asked for; the others are counted.
TEST(dump, lists_no_more_actors_than_it_is_told) {
    kernel_rig r;
    for (unsigned i = 0; i < 4; ++i)
        (void)r.spawn();
    EXPECT_TRUE(dumped(r, dump_format::text, 1).has("and 3 more actors\n"));
    EXPECT_TRUE(dumped(r, dump_format::json, 1).has("\"actor_count\":4}"));
}

// OH-4, OH-6: the same as JSON. That it is well-formed is tested on the host.
TEST(dump, speaks_json) {
    kernel_rig r;
    const auto a = r.spawn();
    const text_memory& out = dumped(r, dump_format::json);
    EXPECT_TRUE(
        out.has("\"dispatchers\":[{\"dispatcher\":0,\"queued\":{\"cancel\":0,\"timed\":0,"
                "\"ready\":0},\"running\":0,\"sleeping\":0,\"searching\":0,\"parked\":0,"
                "\"workers\":[{\"worker\":0,\"runs\":null}]}]"));
    EXPECT_TRUE(out.has(named("\"actor\":\"", a, "\"")));
    EXPECT_TRUE(
        out.has("\"user_len\":0,\"system_len\":0,\"state\":\"idle\",\"dispatcher\":0,"
                "\"worker\":null,\"suspended\":null}]"));
}

// OH-4: names may hold anything.
TEST(dump, json_escapes_what_it_must) {
    text_buffer<160> out;
    json_writer w(out);
    w.begin_array().value(std::string_view("a\"b\\c\n\x1f\xc3\xa4")).value(true).null();
    w.value(~std::uint64_t{0}).begin_object().end_object().end_array();
    EXPECT_TRUE(out.text() ==
                "[\"a\\\"b\\\\c\\u000a\\u001f\xc3\xa4\",true,null,18446744073709551615,{}]");
}

// OH-4: held back twice: the reason that still holds, and its time.
TEST(dump, the_reason_shown_is_one_that_holds) {
    kernel_rig r;
    const auto a = r.spawn(+[](tactus::turn& t, std::uint32_t) {
        (void)t.suspend(tactus::suspend_reason::backpressure, tactus::resume_condition::signal(1));
    });
    r.time.advance(tactus::duration::from_ms(800));
    r.tell(a, {1});
    r.run();
    r.time.advance(tactus::duration::from_ms(800));
    (void)r->suspend(a, tactus::suspension::supervision);
    EXPECT_TRUE(dumped(r).has("supervision"));
    (void)r->resume(a, tactus::suspension::supervision);
    EXPECT_TRUE(dumped(r).has("backpressure"));
    EXPECT_FALSE(dumped(r).has("supervision"));
    EXPECT_TRUE(dumped(r).has("800"));
}
