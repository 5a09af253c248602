// SPDX-License-Identifier: Apache-2.0
//
// Goal: entries keep their place and their configuration; what may be changed while they are in use
// is changed, what may not is refused (DR-3, DR-5). Memory that ends is an error, not a fault.
#include <tactus/dispatch/builtin_mailboxes.hpp>
#include <tactus/dispatch/resolver.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "resolver_rig.hpp"

using namespace tactus_test;
using namespace tactus::literals;
using tactus::dispatcher_config;
using tactus::duration;
using tactus::mailbox_options;

// C-DCF-1: the throughput and the id as configured.
TEST(resolver_entries, a_dispatcher_is_as_configured) {
    resolver_rig rig;
    const dispatcher_config config{.executor = tactus::executor_kind::pinned,
                                   .throughput = 17,
                                   .throughput_deadline = 2_ms,
                                   .starvation_deadline = 3_s,
                                   .mailbox = "bounded"};
    EXPECT_TRUE(rig.names.add_dispatcher("my.dispatcher", config));
    const auto found = rig.names.resolve_dispatcher("my.dispatcher");
    ASSERT_TRUE(found);
    EXPECT_TRUE((*found)->id() == "my.dispatcher");
    EXPECT_TRUE((*found)->config() == config);
    EXPECT_EQ((*found)->config().throughput, 17u);
    EXPECT_EQ((*found)->number(), 3u);
    EXPECT_EQ(rig.names.dispatcher(3), *found);
    EXPECT_EQ(rig.names.dispatcher(4), nullptr);
    EXPECT_EQ(rig.names.dispatcher_count(), 4u);
}

// DR-3, EX-9: nothing said.
TEST(resolver_entries, the_defaults_of_a_dispatcher) {
    resolver_rig rig;
    const auto found = rig.names.resolve_dispatcher(tactus::default_dispatcher_id);
    ASSERT_TRUE(found);
    EXPECT_TRUE((*found)->config() == dispatcher_config{});
    EXPECT_TRUE(
        (*rig.names.resolve_dispatcher(tactus::blocking_dispatcher_id))->config().executor ==
        tactus::executor_kind::thread_pool);
}

// SC-26: throughput 5 where nothing is said, one retry; each can be had alone.
TEST(resolver_entries, the_preset_pekko) {
    {
        resolver_rig rig(pekko);
        EXPECT_TRUE(rig.names.add_dispatcher("own", {.throughput = 17}));
        EXPECT_EQ(
            (*rig.names.resolve_dispatcher(tactus::default_dispatcher_id))->config().throughput,
            5u);
        EXPECT_EQ((*rig.names.resolve_dispatcher("own"))->config().throughput, 17u);
        EXPECT_EQ(rig.names.rules().executor_retries, 1u);
    }
    EXPECT_EQ(tactus::dispatch_rules{}.executor_retries, 2u);
    const resolver_rig alone({.throughput = 5});
    EXPECT_TRUE(alone.names.rules().first == tactus::precedence::props_first);
    EXPECT_TRUE(tactus::dispatch_rules::of(tactus::system_preset::tactus) ==
                tactus::dispatch_rules{});
}

// DR-5, C-DCF-8: what nobody has yet may be replaced, the internal dispatcher for one.
TEST(resolver_entries, what_is_not_in_use_can_be_replaced) {
    resolver_rig rig;
    EXPECT_TRUE(rig.names.replace_dispatcher(tactus::internal_dispatcher_id,
                                             {.throughput = 9, .mailbox = "bounded"}));
    EXPECT_TRUE(rig.names.replace_mailbox(tactus::default_mailbox_id, {.capacity = 8}));
    const auto got = rig.names.resolve({.choice = {.dispatcher = tactus::internal_dispatcher_id}});
    ASSERT_TRUE(got);
    EXPECT_EQ(got->dispatcher->config().throughput, 9u);
    EXPECT_TRUE(got->dispatcher->config().mailbox == "bounded");
    EXPECT_EQ(got->mailbox.capacity, 1'000u);
    EXPECT_EQ(rig.names.resolve({})->mailbox.capacity, 8u);
}

// DR-5
TEST(resolver_entries, what_is_in_use_cannot_be_replaced) {
    resolver_rig rig;
    EXPECT_TRUE(rig.names.add_dispatcher("a", {.throughput = 1}));
    EXPECT_TRUE(rig.names.add_dispatcher("b", {}));
    EXPECT_TRUE(rig.names.add_mailbox("m", {.capacity = 1}));
    EXPECT_TRUE(rig.names.add_mailbox("n", {.capacity = 1}));
    // A question that is refused hands out nothing.
    EXPECT_TRUE(refused(rig.names.resolve({.choice = {.dispatcher = "a", .mailbox = "m"},
                                           .actor_requirement = tactus::capability::unbounded}),
                        error_kind::mailbox_capability_missing));
    EXPECT_TRUE(rig.names.replace_dispatcher("a", {.throughput = 2}));
    EXPECT_TRUE(rig.names.replace_mailbox("m", {.capacity = 2}));

    EXPECT_TRUE(rig.names.resolve({.choice = {.dispatcher = "a", .mailbox = "m"}}));
    EXPECT_TRUE(rig.names.resolve_mailbox("n"));
    EXPECT_NE(rig.names.dispatcher(4), nullptr);
    for (const char* id : {"a", "b"}) {
        const auto done = rig.names.replace_dispatcher(id, {.throughput = 3});
        EXPECT_TRUE(refused(done, error_kind::in_use));
        EXPECT_TRUE(says(done, id));
    }
    for (const char* id : {"m", "n"})
        EXPECT_TRUE(refused(rig.names.replace_mailbox(id, {}), error_kind::in_use));
    EXPECT_EQ((*rig.names.resolve_dispatcher("a"))->config().throughput, 2u);
    EXPECT_EQ(rig.names.resolve_mailbox("m")->capacity, 2u);
}

TEST(resolver_entries, only_what_is_there_can_be_replaced) {
    resolver_rig rig;
    EXPECT_TRUE(refused(rig.names.replace_dispatcher("x", {}), error_kind::unknown_dispatcher));
    EXPECT_TRUE(refused(rig.names.replace_mailbox("x", {}), error_kind::unknown_mailbox));
    EXPECT_TRUE(refused(rig.names.replace_mailbox("bounded", {}), error_kind::unknown_mailbox));
    EXPECT_TRUE(refused(rig.names.replace_mailbox(tactus::default_mailbox_id, {.capacity = 0}),
                        error_kind::capacity_zero));
}

// PK-CFG-9: ids that are there without being added, and that nobody else can have.
TEST(resolver_entries, built_in_mailboxes) {
    resolver_rig rig;
    EXPECT_TRUE(*rig.names.resolve_mailbox("unbounded") == mailbox_options{});
    // MB-12
    const auto bounded = rig.names.resolve_mailbox("bounded");
    ASSERT_TRUE(bounded);
    EXPECT_EQ(bounded->capacity, 1'000u);
    EXPECT_TRUE(bounded->when_full == tactus::overflow::dead_letter);
    EXPECT_TRUE(bounded->push_timeout == 10_s);
    EXPECT_EQ(bounded->stash_capacity, mailbox_options::unbounded);
    EXPECT_EQ(bounded->pressure_percent, 75u);

    const auto seven = rig.names.resolve_mailbox("bounded-capacity:7");
    ASSERT_TRUE(seven);
    EXPECT_TRUE((*seven == mailbox_options{.capacity = 7, .push_timeout = duration::zero()}));
    EXPECT_TRUE(says(rig.names.resolve_mailbox("bounded-capacity:0"), "bounded-capacity:0"));
    EXPECT_TRUE(
        refused(rig.names.resolve_mailbox("bounded-capacity:0"), error_kind::capacity_zero));
    for (const char* id : {"bounded-capacity:", "bounded-capacity:x", "bounded-capacity:7x",
                           "bounded-capacity:-7", "bounded-capacity:+7", "bounded-capacity: 7",
                           "bounded-capacity:4294967295", "bounded-capacity:4294967296"})
        EXPECT_TRUE(refused(rig.names.resolve_mailbox(id), error_kind::unknown_mailbox));
    for (const tactus::builtin_mailbox& m : tactus::builtin_mailboxes()) {
        EXPECT_TRUE(*rig.names.resolve_mailbox(m.id) == m.options);
        EXPECT_TRUE(refused(rig.names.add_mailbox(m.id, {}), error_kind::duplicate));
    }
    EXPECT_TRUE(says(rig.names.add_mailbox("bounded-capacity:7", {}), "is built in"));
    EXPECT_TRUE(rig.names.add_dispatcher("bounded", {}));  // no mailbox
}

// DR-1: what could never hold a message, or never be asked for, is refused when it is added.
TEST(resolver_entries, senseless_entries_are_refused) {
    resolver_rig rig;
    char long_id[tactus::resolver::id_size_max + 1];
    for (char& c : long_id)
        c = 'x';
    const std::string_view too_long(long_id, sizeof long_id);
    const std::string_view longest(long_id, sizeof long_id - 1);
    EXPECT_TRUE(refused(rig.names.add_mailbox("m", {.capacity = 0}), error_kind::capacity_zero));
    EXPECT_TRUE(says(rig.names.add_mailbox("m", {.capacity = 0}), "'m'"));
    for (const std::string_view id : {std::string_view(), too_long}) {
        EXPECT_TRUE(refused(rig.names.add_mailbox(id, {}), error_kind::invalid_id));
        EXPECT_TRUE(refused(rig.names.add_dispatcher(id, {}), error_kind::invalid_id));
        EXPECT_TRUE(refused(rig.names.add_alias(id, "x"), error_kind::invalid_id));
        EXPECT_TRUE(refused(rig.names.add_alias("x", id), error_kind::invalid_id));
    }
    EXPECT_TRUE(refused(rig.names.add_deployment("", {}), error_kind::invalid_id));
    EXPECT_TRUE(rig.names.add_mailbox(longest, {}));
    EXPECT_TRUE(rig.names.add_alias("x", longest));
    EXPECT_TRUE(rig.names.resolve_mailbox("x"));
}

// The text of an error is cut where its room ends, and says so.
TEST(resolver_entries, a_long_text_is_cut) {
    resolver_rig rig;
    char from[100];
    char to[100];
    for (std::size_t i = 0; i < sizeof from; ++i)
        from[i] = to[i] = 'y';
    for (char c = 'a'; c <= 'd'; ++c) {
        from[0] = c;
        to[0] = c == 'd' ? 'a' : static_cast<char>(c + 1);
        EXPECT_TRUE(rig.names.add_alias({from, sizeof from}, {to, sizeof to}));
    }
    const auto looped = rig.names.resolve_mailbox({from, sizeof from});
    ASSERT_TRUE(refused(looped, error_kind::alias_chain_too_deep));
    EXPECT_EQ(looped.error().text().size(), tactus::resolve_error::text_size_max);
    EXPECT_TRUE(looped.error().text().ends_with("yyy..."));
}

// Names live in the resolver: what was handed in may go.
TEST(resolver_entries, names_are_copied) {
    resolver_rig rig;
    char text[] = "dm/ptq";
    const std::string_view all(text, 6);
    EXPECT_TRUE(rig.names.add_dispatcher(all.substr(0, 1), {.mailbox = all.substr(1, 1)}));
    EXPECT_TRUE(rig.names.add_mailbox(all.substr(1, 1), {.capacity = 11}));
    EXPECT_TRUE(rig.names.add_deployment(all.substr(2, 2), {.dispatcher = all.substr(4, 1)}));
    EXPECT_TRUE(rig.names.add_alias(all.substr(4, 1), all.substr(0, 1)));
    EXPECT_TRUE(rig.names.map_requirement(tactus::capability::deque, all.substr(5, 1)));
    for (char& c : text)
        c = '?';
    const auto got = rig.names.resolve({.path = "/p"});
    ASSERT_TRUE(got);
    EXPECT_TRUE(got->dispatcher->id() == "d");
    EXPECT_EQ(got->mailbox.capacity, 11u);
    EXPECT_TRUE(says(rig.names.resolve({.actor_requirement = tactus::capability::deque}), "'q'"));
}

// Memory that ends: refused, and what was there before stays whole; all of it is given back.
TEST(resolver_entries, a_full_memory_refuses) {
    tactus_test::test_memory memory{resolver_rig::bytes};
    {
        tactus::resolver names({.memory = &memory, .bucket_count = 1, .chunk_size = 64});
        EXPECT_TRUE(names.add_mailbox("m", {.capacity = 3}));
        memory.refusing = true;
        // What is left of the last chunk may still hold something small.
        (void)names.add_alias("fill", "m");
        (void)names.add_alias("fill2", "m");
        const auto alias = names.add_alias("an.alias.too.many", "m");
        EXPECT_TRUE(refused(alias, error_kind::full));
        EXPECT_TRUE(says(alias, "an.alias.too.many"));
        EXPECT_TRUE(refused(names.add_dispatcher("d", {}), error_kind::full));
        EXPECT_TRUE(refused(names.add_mailbox("n", {}), error_kind::full));
        EXPECT_TRUE(refused(names.add_deployment("/user/a", {}), error_kind::full));
        EXPECT_TRUE(refused(names.replace_dispatcher(tactus::default_dispatcher_id,
                                                     {.mailbox = "a.mailbox.with.a.long.name."
                                                                 "of.more.than.what.is.left"}),
                            error_kind::full));
        EXPECT_EQ(names.resolve_mailbox("m")->capacity, 3u);
        EXPECT_TRUE(refused(names.resolve_dispatcher("d"), error_kind::unknown_dispatcher));
        memory.refusing = false;
        EXPECT_TRUE(names.add_dispatcher("d", {}));
        EXPECT_EQ((*names.resolve_dispatcher("d"))->number(), 3u);
    }
    EXPECT_EQ(memory.live_blocks, 0u);
    EXPECT_EQ(memory.wrong_releases, 0u);
}

TEST(resolver_entries, every_kind_has_a_name) {
    for (std::size_t i = 0; i < tactus::resolve_error::kind_count; ++i)
        EXPECT_FALSE(std::string_view(name_of(static_cast<error_kind>(i))).empty());
    EXPECT_TRUE(std::string_view(name_of(error_kind::full)) == "full");
    EXPECT_TRUE(std::string_view(name_of(tactus::chosen_by::fallback)) == "fallback");
    EXPECT_TRUE(std::string_view(name_of(tactus::system_preset::pekko)) == "pekko");
}
