// SPDX-License-Identifier: Apache-2.0
//
// Goal: props, deployment, dispatcher and requirements decide in the written order, and whatever
// they choose is checked (DR-2). Method: a table of situations, each under both orders.
#include <tactus/dispatch/builtin_mailboxes.hpp>
#include <tactus/dispatch/resolver.hpp>

#include <cstddef>
#include <string_view>

#include "resolver_rig.hpp"

using namespace tactus_test;
using tactus::capability;
using tactus::capability_set;
using tactus::chosen_by;
using tactus::mailbox_options;
using tactus::resolver;

namespace {

constexpr std::string_view unbounded_dispatcher = "d.unbounded";
constexpr std::string_view bounded_dispatcher = "d.bounded";
constexpr std::string_view requiring_dispatcher = "d.requires-bounded";
constexpr std::string_view shared_dispatcher = "d.requires-multiple";

void add_dispatchers(resolver& names) {
    EXPECT_TRUE(names.add_dispatcher(unbounded_dispatcher, {.mailbox = "unbounded"}));
    EXPECT_TRUE(names.add_dispatcher(bounded_dispatcher, {.mailbox = "bounded"}));
    EXPECT_TRUE(
        names.add_dispatcher(requiring_dispatcher, {.mailbox_requirement = capability::bounded}));
    EXPECT_TRUE(names.add_dispatcher(
        shared_dispatcher,
        {.mailbox_requirement = capability::multiple_consumer | capability::bounded}));
}

enum class under : std::uint8_t { both, props_first, deployment_first };

struct situation {
    under rules;
    tactus::deployment deployed;
    std::string_view props_dispatcher;
    std::string_view props_mailbox;
    capability_set actor_requires;
    // What comes of it: the options of a built-in mailbox and who chose it, or an error.
    std::string_view mailbox;
    chosen_by by = chosen_by::fallback;
    error_kind refused = {};
};

constexpr capability_set nothing{};
constexpr capability_set stash = capability::deque;
constexpr capability_set bounded = capability::bounded;
constexpr capability_set unbounded = capability::unbounded;
constexpr capability_set control_aware = capability::control_aware;
constexpr auto lacks_for_actor = error_kind::mailbox_capability_missing;
constexpr auto lacks_for_dispatcher = error_kind::requirement_mismatch;

constexpr situation situations[] = {
    // rules, deployment {dispatcher, mailbox}, props dispatcher, props mailbox, actor requires
    //     -> mailbox, chosen by, or the error

    // C-AMB-1: nothing said: unbounded.
    {under::both, {}, {}, {}, nothing, "unbounded", chosen_by::fallback},
    // C-AMB-3: the actor requires bounded.
    {under::both, {}, {}, {}, bounded, "bounded", chosen_by::actor_requirement},
    // C-AMB-4: an actor that stashes.
    {under::both, {}, {}, {}, stash, "unbounded-deque", chosen_by::actor_requirement},
    // C-AMB-5: the deployment names the mailbox.
    {under::both, {{}, "bounded"}, {}, {}, nothing, "bounded", chosen_by::deployment},
    {under::both,
     {{}, "unbounded-deque"},
     {},
     {},
     nothing,
     "unbounded-deque",
     chosen_by::deployment},
    {under::both,
     {{}, "bounded-control-aware"},
     {},
     {},
     nothing,
     "bounded-control-aware",
     chosen_by::deployment},
    {under::both,
     {{}, "unbounded-control-aware"},
     {},
     {},
     nothing,
     "unbounded-control-aware",
     chosen_by::deployment},
    // C-AMB-6: the actor requires control messages to pass.
    {under::both,
     {},
     {},
     {},
     control_aware | bounded,
     "bounded-control-aware",
     chosen_by::actor_requirement},
    {under::both,
     {},
     {},
     {},
     control_aware | unbounded,
     "unbounded-control-aware",
     chosen_by::actor_requirement},
    {under::both,
     {},
     {},
     {},
     control_aware,
     "unbounded-control-aware",
     chosen_by::actor_requirement},
    // C-AMB-7: required bounded, deployed with an unbounded deque.
    {under::both, {{}, "unbounded-deque"}, {}, {}, bounded, {}, {}, lacks_for_actor},
    // C-AMB-8: the dispatcher's mailbox.
    {under::both, {}, unbounded_dispatcher, {}, nothing, "unbounded", chosen_by::dispatcher},
    {under::both, {}, bounded_dispatcher, {}, nothing, "bounded", chosen_by::dispatcher},
    // C-AMB-9: the dispatcher's mailbox is not what the actor requires.
    {under::both, {}, unbounded_dispatcher, {}, bounded, {}, {}, lacks_for_actor},
    // C-AMB-10: the deployment's mailbox before the dispatcher's.
    {under::both,
     {unbounded_dispatcher, "bounded"},
     {},
     {},
     nothing,
     "bounded",
     chosen_by::deployment},
    {under::both,
     {bounded_dispatcher, "unbounded"},
     {},
     {},
     nothing,
     "unbounded",
     chosen_by::deployment},
    // C-AMB-12: props and deployment disagree; the preset decides whose word counts.
    {under::deployment_first,
     {bounded_dispatcher, "unbounded"},
     {},
     "unbounded-deque",
     nothing,
     "unbounded",
     chosen_by::deployment},
    {under::props_first,
     {bounded_dispatcher, "unbounded"},
     {},
     "unbounded-deque",
     nothing,
     "unbounded-deque",
     chosen_by::props},
    // C-AMB-13: a dispatcher that requires bounded, an actor that stashes, a bounded deque, said in
    // four ways.
    {under::both,
     {requiring_dispatcher, "bounded-deque"},
     {},
     {},
     stash,
     "bounded-deque",
     chosen_by::deployment},
    {under::both,
     {},
     requiring_dispatcher,
     "bounded-deque",
     stash,
     "bounded-deque",
     chosen_by::props},
    {under::both,
     {{}, "bounded-deque"},
     requiring_dispatcher,
     {},
     stash,
     "bounded-deque",
     chosen_by::deployment},
    {under::both,
     {requiring_dispatcher, {}},
     {},
     "bounded-deque",
     stash,
     "bounded-deque",
     chosen_by::props},
    // C-AMB-14: the same with an unbounded deque.
    {under::both,
     {requiring_dispatcher, "unbounded-deque"},
     {},
     {},
     stash,
     {},
     {},
     lacks_for_dispatcher},
    {under::both, {}, requiring_dispatcher, "unbounded-deque", stash, {}, {}, lacks_for_dispatcher},
    {under::both,
     {{}, "unbounded-deque"},
     requiring_dispatcher,
     {},
     stash,
     {},
     {},
     lacks_for_dispatcher},
    {under::both,
     {requiring_dispatcher, {}},
     {},
     "unbounded-deque",
     stash,
     {},
     {},
     lacks_for_dispatcher},
    // C-AMB-15: the same with no mailbox said: the actor's requirement decides, and does not do.
    {under::both, {requiring_dispatcher, {}}, {}, {}, stash, {}, {}, lacks_for_dispatcher},
    {under::both, {}, requiring_dispatcher, {}, stash, {}, {}, lacks_for_dispatcher},
    // DR-2: the dispatcher's requirement, where nobody else says anything.
    {under::both,
     {},
     requiring_dispatcher,
     {},
     nothing,
     "bounded",
     chosen_by::dispatcher_requirement},
    // PK-CFG-6: nothing is known for the actor's requirement, but for the dispatcher's.
    {under::both,
     {},
     requiring_dispatcher,
     {},
     capability::multiple_consumer,
     {},
     {},
     lacks_for_actor},
    // PK-CFG-10: nothing is known at all.
    {under::both,
     {},
     {},
     {},
     capability::multiple_consumer,
     {},
     {},
     error_kind::requirement_unmapped},
    // C-AMB-16: of a dispatcher whose actors share a mailbox, what the resolver decides: its
    // mailbox is used, and a requirement that no mailbox meets is refused by name.
    {under::both, {unbounded_dispatcher, {}}, {}, {}, nothing, "unbounded", chosen_by::dispatcher},
    {under::both, {bounded_dispatcher, {}}, {}, {}, nothing, "bounded", chosen_by::dispatcher},
    {under::both,
     {shared_dispatcher, {}},
     {},
     {},
     nothing,
     {},
     {},
     error_kind::requirement_unmapped},
    {under::both, {shared_dispatcher, "bounded"}, {}, {}, nothing, {}, {}, lacks_for_dispatcher},
    // What every mailbox can do changes nothing.
    {under::both, {}, {}, {}, capability::mpsc, "unbounded", chosen_by::fallback},
    {under::both,
     {},
     {},
     {},
     stash | capability::mpsc,
     "unbounded-deque",
     chosen_by::actor_requirement},
    // Unknown ids fail, also where another would do.
    {under::both, {{}, "nobody"}, {}, {}, nothing, {}, {}, error_kind::unknown_mailbox},
    {under::both, {"nobody", {}}, {}, {}, nothing, {}, {}, error_kind::unknown_dispatcher},
    {under::both, {}, "nobody", {}, nothing, {}, {}, error_kind::unknown_dispatcher},
    {under::both, {}, {}, "nobody", nothing, {}, {}, error_kind::unknown_mailbox},
};

[[nodiscard]] bool holds(const situation& s, tactus::dispatch_rules rules) {
    resolver_rig rig(rules);
    add_dispatchers(rig.names);
    EXPECT_TRUE(rig.names.add_deployment("/user/a", s.deployed));
    EXPECT_TRUE(rig.names.add_deployment("/user/b", {"nobody", "nobody"}));
    const auto got =
        rig.names.resolve({.path = "/user/a",
                           .choice = {.dispatcher = s.props_dispatcher, .mailbox = s.props_mailbox},
                           .actor_requirement = s.actor_requires});
    if (s.mailbox.empty())
        return refused(got, s.refused);
    return got && got->mailbox == *tactus::builtin_mailbox_options(s.mailbox) &&
           got->mailbox_by == s.by;
}

}  // namespace

// DR-2, PK-CFG-5, PK-CFG-6, PK-CFG-7; the ids of the cases stand in the table.
TEST(resolver_order, each_situation_ends_as_written) {
    std::size_t row = 0;
    for (const situation& s : situations) {
        const bool by_props = s.rules == under::deployment_first || holds(s, {});
        const bool by_deployment = s.rules == under::props_first || holds(s, pekko);
        EXPECT_TRUE(by_props);
        EXPECT_TRUE(by_deployment);
        if (!by_props || !by_deployment)
            TEST_LOG("situation", row);
        ++row;
    }
}

// C-DCF-7, DR-2, SC-26: props before deployment; with the preset `pekko` the other way round.
TEST(resolver_order, the_dispatcher_of_props_or_deployment) {
    struct choice {
        std::string_view props, deployment, by_default, by_pekko;
    };
    constexpr choice choices[] = {
        {{}, {}, tactus::default_dispatcher_id, tactus::default_dispatcher_id},
        {"d.bounded", {}, "d.bounded", "d.bounded"},
        {{}, "d.bounded", "d.bounded", "d.bounded"},
        {"d.unbounded", "d.bounded", "d.unbounded", "d.bounded"},
    };
    for (const choice& c : choices) {
        for (const bool preset : {false, true}) {
            resolver_rig rig(preset ? pekko : tactus::dispatch_rules{});
            add_dispatchers(rig.names);
            EXPECT_TRUE(rig.names.add_deployment("/user/a", {.dispatcher = c.deployment}));
            const auto got =
                rig.names.resolve({.path = "/user/a", .choice = {.dispatcher = c.props}});
            ASSERT_TRUE(got);
            EXPECT_TRUE(got->dispatcher->id() == (preset ? c.by_pekko : c.by_default));
            // Another path, or none, has no deployment.
            const auto other = rig.names.resolve({.path = "/user/ab"});
            ASSERT_TRUE(other);
            EXPECT_TRUE(other->dispatcher->id() == tactus::default_dispatcher_id);
        }
    }
}

// MB-4: the error has the requirement and names mailbox and, where it is its, dispatcher.
TEST(resolver_order, what_is_missing_is_said) {
    resolver_rig rig;
    add_dispatchers(rig.names);
    const auto for_actor = rig.names.resolve(
        {.choice = {.mailbox = "unbounded"}, .actor_requirement = bounded | stash});
    ASSERT_TRUE(refused(for_actor, lacks_for_actor));
    EXPECT_TRUE(for_actor.error().requirement() == (bounded | stash));
    EXPECT_TRUE(for_actor.error().text() ==
                "mailbox 'unbounded' lacks deque+bounded, which the actor requires");
    const auto for_dispatcher = rig.names.resolve(
        {.choice = {.dispatcher = requiring_dispatcher, .own_mailbox = mailbox_options{}}});
    ASSERT_TRUE(refused(for_dispatcher, lacks_for_dispatcher));
    EXPECT_TRUE(for_dispatcher.error().requirement() == bounded);
    EXPECT_TRUE(for_dispatcher.error().text() ==
                "mailbox '(given in props)' lacks bounded, which dispatcher "
                "'d.requires-bounded' requires");
    const auto unknown = rig.names.resolve({.actor_requirement = capability::multiple_consumer});
    EXPECT_TRUE(says(unknown, "no mailbox is known for the requirement multiple_consumer"));
    EXPECT_TRUE(unknown.error().requirement() == capability::multiple_consumer);
}

// DR-2, PK-CFG-10: mappings of one's own come before the built-in ones.
TEST(resolver_order, a_requirement_can_be_mapped_anew) {
    resolver_rig rig;
    EXPECT_TRUE(
        rig.names.add_mailbox("small", {.kind = tactus::mailbox_kind::deque, .capacity = 7}));
    EXPECT_TRUE(rig.names.map_requirement(stash | capability::mpsc, "other"));
    EXPECT_TRUE(says(rig.names.resolve({.actor_requirement = stash}), "unknown mailbox 'other'"));
    EXPECT_TRUE(rig.names.add_alias("other", "small"));
    const auto got = rig.names.resolve({.actor_requirement = stash});
    ASSERT_TRUE(got);
    EXPECT_EQ(got->mailbox.capacity, 7u);
}

// DR-4, MB-12: capacity and overflow of props hold for whichever mailbox it is.
TEST(resolver_order, capacity_and_overflow_of_props) {
    using tactus::overflow;
    using tactus::spawn_choice;
    resolver_rig rig;
    EXPECT_TRUE(
        rig.names.add_mailbox("big", {.kind = tactus::mailbox_kind::deque, .capacity = 5'000}));
    const auto with = [&](const spawn_choice& c, capability_set required = {}) {
        return rig.names.resolve({.choice = c.where(), .actor_requirement = required});
    };
    const auto plain = with(spawn_choice().with_capacity(100));
    ASSERT_TRUE(plain);
    EXPECT_TRUE((plain->mailbox == mailbox_options{.capacity = 100}));
    const auto dropping = with(spawn_choice().with_overflow(overflow::drop_oldest));
    ASSERT_TRUE(dropping);  // asks for a bound
    EXPECT_TRUE((dropping->mailbox ==
                 mailbox_options{.when_full = overflow::drop_oldest, .capacity = 1'000}));
    const auto both = with(spawn_choice().with_capacity(3).with_overflow(overflow::reject), stash);
    ASSERT_TRUE(both);
    EXPECT_TRUE((both->mailbox == mailbox_options{.kind = tactus::mailbox_kind::deque,
                                                  .when_full = overflow::reject,
                                                  .capacity = 3}));
    const auto named = with(spawn_choice().with_mailbox("big").with_overflow(overflow::block));
    ASSERT_TRUE(named);
    EXPECT_EQ(named->mailbox.capacity, 5'000u);
    EXPECT_TRUE(named->mailbox.when_full == overflow::block);
    // A bound where none is allowed.
    EXPECT_TRUE(refused(with(spawn_choice().with_capacity(9), unbounded), lacks_for_actor));
    EXPECT_TRUE(with(spawn_choice().with_capacity(9).with_requirement(bounded)));
    EXPECT_TRUE(refused(with(spawn_choice().with_mailbox("unbounded").with_requirement(bounded)),
                        lacks_for_actor));
    EXPECT_TRUE(refused(with(spawn_choice().with_capacity(0)), error_kind::capacity_zero));
    EXPECT_TRUE(refused(with(spawn_choice().with_mailbox(mailbox_options{.capacity = 0})),
                        error_kind::capacity_zero));
}

// SC-26: with the preset, what a deployment says about the mailbox is all there is.
TEST(resolver_order, the_preset_takes_the_mailbox_of_the_deployment_as_it_is) {
    for (const bool preset : {false, true}) {
        resolver_rig rig(preset ? pekko : tactus::dispatch_rules{});
        EXPECT_TRUE(rig.names.add_deployment("/user/a", {.mailbox = "bounded"}));
        const auto choice = tactus::spawn_choice().with_capacity(9);
        const auto deployed = rig.names.resolve({.path = "/user/a", .choice = choice.where()});
        const auto elsewhere = rig.names.resolve({.path = "/user/b", .choice = choice.where()});
        ASSERT_TRUE(deployed && elsewhere);
        EXPECT_EQ(deployed->mailbox.capacity, preset ? 1'000u : 9u);
        EXPECT_EQ(elsewhere->mailbox.capacity, 9u);
    }
}

// C-SYS-7: in the path of a deployment `*` stands for one name, `**` at its end for any path below.
// The first name that differs decides which one counts, in whatever order they were added.
TEST(resolver_order, C_SYS_7_deployments_for_many_paths) {
    struct row {
        std::string_view path;
        std::string_view dispatcher;
    };
    constexpr row deployed[] = {
        {"/user/shop/**", "below"}, {"/user/shop/*", "one"},        {"/user/shop/till", "itself"},
        {"/user/*/till", "till"},   {"/user/shop/*/drawer", "two"}, {"/user/bank/*", "bank"},
    };
    constexpr row wanted[] = {
        {"/user/shop/till", "itself"},
        {"/user/shop/door", "one"},
        {"/user/shop/a/b", "below"},
        {"/user/shop/a/b/c", "below"},
        {"/user/shop/a/drawer", "two"},
        {"/user/shop/till/drawer", "two"},
        {"/user/bank/till", "bank"},
        {"/user/inn/till", "till"},
        {"/user/shop", ""},
        {"/user/inn/door", ""},
        {"/user/bank/a/b", ""},
        {"/user", ""},
        {"/user/shop/tills", "one"},
        {"/user/shop/a/drawers", "below"},
    };
    for (const bool backwards : {false, true}) {
        resolver_rig rig;
        constexpr std::size_t count = sizeof deployed / sizeof deployed[0];
        for (std::size_t i = 0; i < count; ++i) {
            const row& r = deployed[backwards ? count - 1 - i : i];
            EXPECT_TRUE(rig.names.add_dispatcher(r.dispatcher, {}));
            EXPECT_TRUE(rig.names.add_deployment(r.path, {.dispatcher = r.dispatcher}));
        }
        for (const row& r : wanted) {
            const auto got = rig.names.resolve({.path = r.path});
            ASSERT_TRUE(got.has_value());
            EXPECT_TRUE(got->dispatcher->id() ==
                        (r.dispatcher.empty() ? tactus::default_dispatcher_id : r.dispatcher));
        }
    }
    // What makes no sense is refused.
    resolver_rig rig;
    EXPECT_TRUE(refused(rig.names.add_deployment("/user/**/a", {}), error_kind::invalid_id));
    EXPECT_TRUE(refused(rig.names.add_deployment("", {}), error_kind::invalid_id));
    EXPECT_TRUE(rig.names.add_deployment("/user/a/*", {.mailbox = "bounded-capacity:3"}));
    const auto boxed = rig.names.resolve({.path = "/user/a/b"});
    ASSERT_TRUE(boxed.has_value());
    EXPECT_EQ(boxed->mailbox.capacity, 3u);
    EXPECT_TRUE(boxed->mailbox_by == tactus::chosen_by::deployment);
    EXPECT_TRUE(rig.names.resolve({.path = "/user/a/b/c"})->mailbox_by ==
                tactus::chosen_by::fallback);
}
