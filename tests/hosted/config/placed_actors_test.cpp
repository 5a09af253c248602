// SPDX-License-Identifier: Apache-2.0
//
// Goal: every way to spawn resolves dispatcher and mailbox in one order (DR-2), each field by
// itself.
#include <tactus/config/system_options.hpp>
#include <tactus/runtime/actor_system.hpp>
#include <tactus/test_kit/virtual_world.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <expected>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pool_rig.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using namespace std::chrono_literals;

namespace {

class plain_actor : public actor<int> {
public:
    void on(int) {}
};
/// Least number first.
struct least_first {
    bool before(envelope& a, envelope& b) { return *a.get_if<int>() < *b.get_if<int>(); }
};

using names_function = std::function<std::expected<void, std::string>(resolver&)>;

actor_system::options options_with(names_function names, system_preset preset = {}) {
    actor_system::options o;
    o.dispatcher = {.workers = 1};
    o.rules = dispatch_rules::of(preset);
    o.names = std::move(names);
    o.log_level = log_level::off;
    return o;
}
std::expected<void, std::string> all_of(std::initializer_list<resolver::result<void>> done) {
    for (const auto& one : done) {
        if (!one)
            return std::unexpected(std::string(one.error().text()));
    }
    return {};
}

std::string dispatcher_of(actor_system& system, any_ref who) {
    return std::string(system.world().dispatcher_of(who.index()));
}
mailbox_options mailbox_of(actor_system& system, any_ref who) {
    const slot* place = system.world().kernel().slots().find(who.index());
    const auto* block = place != nullptr ? place->kind() : nullptr;  // null: the plain one
    return block != nullptr ? block->options() : mailbox_options{};
}

}  // namespace

// DF-13
// What the options do not say is said by the deployment: a mailbox alone leaves the dispatcher, and
// a dispatcher alone leaves the mailbox.
TEST(placed_actors, DF_13_each_field_is_resolved_by_itself) {
    actor_system system(
        "demo", options_with([](resolver& r) {
            return all_of(
                {r.add_dispatcher("other", {.workers = 1}),
                 r.add_dispatcher("third", {.workers = 1}),
                 r.add_mailbox("twenty", {.when_full = overflow::reject, .capacity = 20}),
                 r.add_deployment("/user/*", {.dispatcher = "other", .mailbox = "twenty"})});
        }));
    const auto third = system.dispatchers().find("third");
    ASSERT_TRUE(third);
    const auto own_mailbox = system.try_spawn<plain_actor>("m", {.mailbox = {.capacity = 7}});
    ASSERT_TRUE(own_mailbox) << own_mailbox.error().reason;
    EXPECT_EQ(dispatcher_of(system, *own_mailbox), "other");
    EXPECT_EQ(mailbox_of(system, *own_mailbox).capacity, 7u);
    EXPECT_EQ(mailbox_of(system, *own_mailbox).when_full, overflow::reject);  // not said
    const auto own_kind =
        system.try_spawn<plain_actor>("k", {.mailbox = {.kind = mailbox_kind::control_aware}});
    ASSERT_TRUE(own_kind);
    EXPECT_EQ(mailbox_of(system, *own_kind),
              (mailbox_options{.kind = mailbox_kind::control_aware}));
    EXPECT_EQ(dispatcher_of(system, *own_kind), "other");
    const auto own_dispatcher = system.try_spawn<plain_actor>("d", {.dispatcher = third->number()});
    ASSERT_TRUE(own_dispatcher);
    EXPECT_EQ(dispatcher_of(system, *own_dispatcher), "third");
    EXPECT_EQ(mailbox_of(system, *own_dispatcher).capacity, 20u);
    const auto both = system.try_spawn<plain_actor>(
        "b", {.mailbox = {.pressure_percent = 10, .capacity = 3}, .dispatcher = third->number()});
    ASSERT_TRUE(both);
    EXPECT_EQ(dispatcher_of(system, *both), "third");
    EXPECT_EQ(
        mailbox_of(system, *both),
        (mailbox_options{.when_full = overflow::reject, .pressure_percent = 10, .capacity = 3}));
}

// DF-13
TEST(placed_actors, DF_13_under_the_preset_a_deployment_counts_more_than_options) {
    actor_system system(
        "demo", options_with(
                    [](resolver& r) {
                        return all_of({r.add_dispatcher("other", {.workers = 1}),
                                       r.add_dispatcher("third", {.workers = 1}),
                                       r.add_deployment("/user/a", {.dispatcher = "other",
                                                                    .mailbox = "bounded"})});
                    },
                    system_preset::pekko));
    const auto third = system.dispatchers().find("third");
    ASSERT_TRUE(third);
    const spawn_options how{.mailbox = {.capacity = 7}, .dispatcher = third->number()};
    const auto deployed = system.try_spawn<plain_actor>("a", how);
    ASSERT_TRUE(deployed);
    EXPECT_EQ(dispatcher_of(system, *deployed), "other");
    EXPECT_EQ(mailbox_of(system, *deployed).capacity, 1'000u);
    const auto elsewhere = system.try_spawn<plain_actor>("elsewhere", how);
    ASSERT_TRUE(elsewhere);
    EXPECT_EQ(dispatcher_of(system, *elsewhere), "third");
    EXPECT_EQ(mailbox_of(system, *elsewhere).capacity, 7u);
}

// DF-13
// Of a dispatcher that was added, of one the resolver has, and of the default one.
TEST(placed_actors, DF_13_a_dispatcher_gives_its_mailbox) {
    actor_system::options o = options_with([](resolver& r) {
        return all_of({r.add_dispatcher("other", {.workers = 1, .mailbox = "bounded"})});
    });
    o.dispatcher.mailbox = "bounded-control-aware";
    actor_system system("demo", o);
    const auto other = system.dispatchers().find("other");
    const auto added = system.dispatchers().add(
        {.id = "added", .config = {.workers = 1, .mailbox = "bounded-deque"}});
    ASSERT_TRUE(other && added);
    for (const char* name : {"named", ""}) {
        SCOPED_TRACE(name);
        const std::string prefix = name;
        const auto called = [&](const char* suffix) {
            return prefix.empty() ? std::string() : prefix + suffix;
        };
        const auto a = system.try_spawn<plain_actor>(called("a"), {.dispatcher = other->number()});
        const auto b = system.try_spawn<plain_actor>(called("b"), {.dispatcher = added->number()});
        const auto c = system.try_spawn<plain_actor>(called("c"), {});
        ASSERT_TRUE(a && b && c);
        EXPECT_EQ(mailbox_of(system, *a).kind, mailbox_kind::fifo);
        EXPECT_EQ(mailbox_of(system, *a).capacity, 1'000u);
        EXPECT_EQ(mailbox_of(system, *b).kind, mailbox_kind::deque);
        EXPECT_EQ(mailbox_of(system, *c).kind, mailbox_kind::control_aware);
    }
}

// DF-13
// A file names the kind, the program gives the order.
TEST(placed_actors, DF_13_a_priority_mailbox_of_a_file_takes_the_order_of_the_options) {
    const auto read = config::parse_settings(R"(
[dispatchers."app.files"]
executor = "thread_pool"
workers = 1
[mailboxes."app.urgent"]
kind = "stable_priority"
[deployment."/user/a"]
dispatcher = "app.files"
mailbox = "app.urgent"
)",
                                             config::format::toml, "app.toml");
    ASSERT_TRUE(read) << read.error().message();
    auto o = config::system_options(*read);
    ASSERT_TRUE(o);
    o->log_level = log_level::off;
    least_first user;
    message_order_of<least_first> order(user);
    actor_system system("demo", *o);
    const auto a = system.try_spawn<plain_actor>("a", {.order = &order});
    ASSERT_TRUE(a) << a.error().reason;
    EXPECT_EQ(dispatcher_of(system, *a), "app.files");
    EXPECT_EQ(mailbox_of(system, *a).kind, mailbox_kind::stable_priority);
    const auto without = system.try_spawn<plain_actor>("b", {.order = &order});
    ASSERT_TRUE(without);  // an order that is not needed
    EXPECT_EQ(mailbox_of(system, *without), mailbox_options{});
}

// DF-55
TEST(placed_actors, DF_55_actors_without_a_name_are_placed) {
    actor_system system(
        "demo", options_with([](resolver& r) {
            return all_of({r.add_dispatcher("other", {.workers = 1}),
                           r.add_dispatcher("third", {.workers = 1, .mailbox = "bounded-deque"}),
                           r.replace_mailbox(default_mailbox_id, {.capacity = 50}),
                           r.add_deployment("/user/shop/*", {.dispatcher = "other"}),
                           r.add_deployment("/user/bank/**", {.dispatcher = "third"})});
        }));
    class parent : public actor<int> {
    public:
        explicit parent(std::atomic<std::uint32_t>* at) : at_(at) {}
        void pre_start() {
            const any_ref child(context().spawn_anonymous<plain_actor>());
            const slot* place = context().world().kernel().slots().find(child.index());
            at_->store(place->dispatcher_number());
        }
        void on(int) {}

    private:
        std::atomic<std::uint32_t>* at_;
    };
    const std::uint32_t other = system.dispatchers().find("other")->number();
    const std::uint32_t third = system.dispatchers().find("third")->number();
    const any_ref top(system.spawn_anonymous<plain_actor>());
    EXPECT_EQ(mailbox_of(system, top).capacity, 50u);
    EXPECT_EQ(dispatcher_of(system, top), default_dispatcher_id);
    const auto own = system.try_spawn<plain_actor>("", {.dispatcher = third});
    ASSERT_TRUE(own);
    EXPECT_EQ(mailbox_of(system, *own).kind, mailbox_kind::deque);
    for (const auto& [name, expected] : {std::pair("shop", other), std::pair("bank", third)}) {
        SCOPED_TRACE(name);
        std::atomic<std::uint32_t> at{77};
        (void)system.spawn<parent>(name, &at);
        EXPECT_TRUE(tactus_test::until([&] { return at.load() != 77; }));
        EXPECT_EQ(at.load(), expected);
    }
}

// DF-13
// Ids, aliases of them and of built-in mailboxes, in every way to spawn with options.
TEST(placed_actors, DF_13_options_name_dispatcher_and_mailbox_by_id) {
    actor_system system(
        "demo", options_with([](resolver& r) {
            return all_of({r.add_dispatcher("other", {.workers = 1}), r.add_alias("files", "other"),
                           r.add_mailbox("twenty", {.kind = mailbox_kind::deque, .capacity = 20}),
                           r.add_alias("inbox", "twenty"),
                           r.add_deployment("/user/deployed", {.dispatcher = "nowhere"})});
        }));
    class parent : public actor<int> {
    public:
        explicit parent(std::atomic<std::uint32_t>* at) : at_(at) {}
        void pre_start() {
            const auto child = context().try_spawn<plain_actor>(
                "", {.dispatcher_id = "files", .mailbox_id = "bounded"});
            ASSERT_TRUE(child) << child.error().reason;
            const slot* place = context().world().kernel().slots().find(child->index());
            at_->store(place->dispatcher_number() * 10'000 + place->kind()->options().capacity);
        }
        void on(int) {}

    private:
        std::atomic<std::uint32_t>* at_;
    };
    const auto a =
        system.try_spawn<plain_actor>("a", {.dispatcher_id = "files", .mailbox_id = "inbox"});
    ASSERT_TRUE(a) << a.error().reason;
    EXPECT_EQ(dispatcher_of(system, *a), "other");
    EXPECT_EQ(mailbox_of(system, *a),
              (mailbox_options{.kind = mailbox_kind::deque, .capacity = 20}));
    // Fields of the mailbox hold for the one that is named, too; an id is before the number.
    const auto b = system.try_spawn<plain_actor>("b", {.mailbox = {.stash_capacity = 4},
                                                       .dispatcher = 77,
                                                       .dispatcher_id = default_dispatcher_id,
                                                       .mailbox_id = "bounded-capacity:9"});
    ASSERT_TRUE(b) << b.error().reason;
    EXPECT_EQ(dispatcher_of(system, *b), default_dispatcher_id);
    EXPECT_EQ(mailbox_of(system, *b).capacity, 9u);
    EXPECT_EQ(mailbox_of(system, *b).stash_capacity, 4u);
    // What the options say is before the deployment, which is not looked up then.
    const auto deployed = system.try_spawn<plain_actor>("deployed", {.dispatcher_id = "other"});
    ASSERT_TRUE(deployed);
    EXPECT_EQ(dispatcher_of(system, *deployed), "other");
    std::atomic<std::uint32_t> at{0};
    (void)system.spawn<parent>("parent", &at);
    EXPECT_TRUE(tactus_test::until([&] { return at.load() != 0; }));
    EXPECT_EQ(at.load(), system.dispatchers().find("other")->number() * 10'000 + 1'000);
    for (const char* name : {"left", ""}) {
        EXPECT_FALSE(system.try_spawn<plain_actor>(name, {.dispatcher_id = "nowhere"}));
        EXPECT_FALSE(system.try_spawn<plain_actor>(name, {.mailbox_id = "nothing"}));
    }
    EXPECT_TRUE(system.try_spawn<plain_actor>("left", {}));  // the name is free again
}

// DF-13
// A system that was given no names has those that are always there.
TEST(placed_actors, DF_13_ids_need_no_names_function) {
    actor_system::options o;
    o.dispatcher = {.workers = 1};
    o.log_level = log_level::off;
    actor_system system("demo", o);
    const auto a = system.try_spawn<plain_actor>(
        "a", {.dispatcher_id = blocking_dispatcher_id, .mailbox_id = "bounded-deque"});
    ASSERT_TRUE(a) << a.error().reason;
    EXPECT_EQ(dispatcher_of(system, *a), blocking_dispatcher_id);
    EXPECT_EQ(mailbox_of(system, *a).kind, mailbox_kind::deque);
    EXPECT_EQ(mailbox_of(system, *a).capacity, 1'000u);
}

// DF-13
// A world without a resolver does not overlook an id.
TEST(placed_actors, DF_13_ids_are_refused_where_nothing_resolves_them) {
    test::virtual_world world({});
    for (const spawn_options& how : {spawn_options{.dispatcher_id = default_dispatcher_id},
                                     spawn_options{.mailbox_id = "bounded"}}) {
        auto r = detail::request_for<plain_actor>(world.world().memory(), "a", how);
        ASSERT_TRUE(r);
        const auto made = world.world().spawn_top(*r);
        ASSERT_FALSE(made);
        EXPECT_EQ(made.error().what, spawn_error::kind::refused);
    }
    EXPECT_TRUE(world.end());
}

namespace {

class stashing_actor : public actor<int>, public with_stash<> {
public:
    void on(int) {}
};

}  // namespace

// DF-14
// What the class requires is mapped as [requirements] says; its dispatcher's requirement as well.
TEST(placed_actors, DF_14_requirements_of_a_file_have_an_effect) {
    const auto read = config::parse_settings(R"(
[dispatchers."app.bounded"]
executor = "thread_pool"
workers = 1
mailbox_requirement = ["bounded"]
[mailboxes."app.stash"]
kind = "deque"
capacity = 40
[mailboxes."app.small"]
capacity = 30
[requirements]
deque = "app.stash"
bounded = "app.small"
)",
                                             config::format::toml, "app.toml");
    ASSERT_TRUE(read) << read.error().message();
    auto o = config::system_options(*read);
    ASSERT_TRUE(o);
    o->log_level = log_level::off;
    actor_system system("demo", *o);
    for (const char* name : {"a", ""}) {
        SCOPED_TRACE(name);
        const auto stashes = system.try_spawn<stashing_actor>(name, {});
        ASSERT_TRUE(stashes) << stashes.error().reason;
        EXPECT_EQ(mailbox_of(system, *stashes),
                  (mailbox_options{.kind = mailbox_kind::deque, .capacity = 40}));
    }
    // What the options say of the mailbox does not say its kind.
    const auto seven = system.try_spawn<stashing_actor>("seven", {.mailbox = {.capacity = 7}});
    ASSERT_TRUE(seven) << seven.error().reason;
    EXPECT_EQ(mailbox_of(system, *seven),
              (mailbox_options{.kind = mailbox_kind::deque, .capacity = 7}));
    const auto there = system.try_spawn<plain_actor>("there", {.dispatcher_id = "app.bounded"});
    ASSERT_TRUE(there) << there.error().reason;
    EXPECT_EQ(mailbox_of(system, *there).capacity, 30u);
}

// DF-14
// A mailbox that cannot do what is required is refused, whatever named it; none is made another.
TEST(placed_actors, DF_14_a_mailbox_that_lacks_what_is_required_is_refused) {
    actor_system system(
        "demo", options_with([](resolver& r) {
            return all_of(
                {r.add_dispatcher("fifo", {.workers = 1, .mailbox = "bounded"}),
                 r.add_dispatcher("patient",
                                  {.workers = 1, .mailbox_requirement = capability::blocking}),
                 r.add_deployment("/user/deployed", {.mailbox = "bounded"})});
        }));
    const auto refused = [&](std::string_view name, const spawn_options& how) {
        const auto made = system.try_spawn<stashing_actor>(name, how);
        return !made && made.error().what == spawn_error::kind::mailbox_unfit;
    };
    EXPECT_TRUE(refused("deployed", {}));
    EXPECT_TRUE(refused("a", {.dispatcher_id = "fifo"}));
    EXPECT_TRUE(refused("a", {.mailbox_id = "unbounded"}));
    EXPECT_TRUE(refused("a", {.mailbox = {.kind = mailbox_kind::control_aware}}));
    EXPECT_TRUE(refused("", {.mailbox_id = "unbounded"}));
    EXPECT_FALSE(
        system.try_spawn<plain_actor>("b", {.dispatcher_id = "patient", .mailbox_id = "bounded"}));
    const auto blocking = system.try_spawn<plain_actor>("b", {.dispatcher_id = "patient"});
    ASSERT_TRUE(blocking) << blocking.error().reason;
    EXPECT_EQ(mailbox_of(system, *blocking).when_full, overflow::block);
    EXPECT_TRUE(system.try_spawn<stashing_actor>("deployed", {.mailbox_id = "bounded-deque"}));
}

// DF-56
// The text names what is missing and what named it; the exception has it, too.
TEST(placed_actors, DF_56_a_refused_spawn_says_what_was_refused) {
    actor_system system(
        "demo", options_with([](resolver& r) {
            return all_of({r.add_dispatcher("other", {.workers = 1, .mailbox = "nothing"}),
                           r.add_mailbox("small", {.capacity = 5}),
                           r.add_deployment("/user/lost", {.dispatcher = "nowhere"}),
                           r.add_deployment("/user/box", {.mailbox = "nothing"}),
                           r.add_deployment("/user/fifo", {.mailbox = "small"})});
        }));
    struct row {
        const char* name;
        spawn_options how;
        const char* text;
    };
    const row rows[] = {
        {"lost", {}, "unknown dispatcher 'nowhere', which deployment '/user/lost' names"},
        {"box", {}, "unknown mailbox 'nothing', which deployment '/user/box' names"},
        {"a",
         {.dispatcher_id = "other"},
         "unknown mailbox 'nothing', which dispatcher 'other' names"},
        {"a", {.dispatcher_id = "no"}, "unknown dispatcher 'no'"},
        {"a", {.dispatcher = 77}, "there is no dispatcher '77'"},
        {"fifo", {}, "mailbox 'small' lacks deque, which the actor requires"},
        {"", {.mailbox_id = "small"}, "mailbox 'small' lacks deque, which the actor requires"},
    };
    for (const row& r : rows) {
        SCOPED_TRACE(r.text);
        const auto made = system.try_spawn<stashing_actor>(r.name, r.how);
        ASSERT_FALSE(made);
        EXPECT_STREQ(made.error().reason, r.text);
    }
    try {
        (void)system.spawn<plain_actor>("lost");
        ADD_FAILURE();
    } catch (const spawn_exception& e) {
        EXPECT_STREQ(e.what(),
                     "cannot spawn an actor named 'lost': unknown dispatcher 'nowhere', "
                     "which deployment '/user/lost' names");
    }
}

// DF-56
// Kind, id and requirement can be asked for. The error may be kept, also beyond its system.
TEST(placed_actors, DF_56_the_error_of_a_spawn_has_the_resolvers) {
    struct row {
        const char* name;
        spawn_options how;
        spawn_error::kind what;
        resolve_error::kind by_resolver;
        const char* id;
        capability_set requirement;
    };
    using kind = spawn_error::kind;
    using why = resolve_error::kind;
    const capability_set stash = capability::deque;
    const row rows[] = {
        {"lost", {}, kind::unknown_dispatcher, why::unknown_dispatcher, "nowhere", {}},
        {"a", {.mailbox_id = "no"}, kind::unknown_mailbox, why::unknown_mailbox, "no", {}},
        {"a", {.mailbox_id = "x"}, kind::alias_chain_too_deep, why::alias_chain_too_deep, "x", {}},
        {"a",
         {.mailbox_id = "bounded"},
         kind::mailbox_unfit,
         why::mailbox_capability_missing,
         "bounded",
         stash},
        {"a",
         {.dispatcher_id = "strict", .mailbox_id = "unbounded-deque"},
         kind::mailbox_unfit,
         why::requirement_mismatch,
         "unbounded-deque",
         capability::bounded},
        {"a",
         {.requirement = capability::multiple_consumer},
         kind::mailbox_unfit,
         why::requirement_unmapped,
         "",
         stash | capability::multiple_consumer},
        {"a",
         {.mailbox = {.capacity = 0}},
         kind::capacity_zero,
         why::capacity_zero,
         "unbounded-deque",
         {}},
    };
    std::vector<spawn_error> kept;
    {
        actor_system system(
            "demo", options_with([](resolver& r) {
                return all_of(
                    {r.add_dispatcher("strict",
                                      {.workers = 1, .mailbox_requirement = capability::bounded}),
                     r.add_alias("x", "y"), r.add_alias("y", "x"),
                     r.add_deployment("/user/lost", {.dispatcher = "nowhere"})});
            }));
        for (const row& r : rows) {
            const auto made = system.try_spawn<stashing_actor>(r.name, r.how);
            ASSERT_FALSE(made);
            kept.push_back(made.error());
        }
        const auto unmade = system.try_spawn<plain_actor>("a", {.dispatcher = 77});
        ASSERT_FALSE(unmade);
        EXPECT_EQ(unmade.error().what, kind::unknown_dispatcher);
        EXPECT_EQ(unmade.error().resolver_error, nullptr);  // the resolver was not asked
        // The same again is the same text.
        const auto again = system.try_spawn<stashing_actor>("lost", {});
        ASSERT_FALSE(again);
        EXPECT_EQ(again.error().reason, kept[0].reason);
    }
    for (std::size_t i = 0; i < std::size(rows); ++i) {
        SCOPED_TRACE(kept[i].reason);
        EXPECT_EQ(kept[i].what, rows[i].what);
        const resolve_error* said = kept[i].resolver_error;
        ASSERT_NE(said, nullptr);
        EXPECT_EQ(said->what(), rows[i].by_resolver);
        EXPECT_EQ(said->id(), rows[i].id);
        EXPECT_TRUE(said->requirement() == rows[i].requirement);
        EXPECT_EQ(said->text(), kept[i].reason);
    }
}

// DF-56
// A dispatcher that cannot be made names itself; a parent that needs the child fails with the text.
TEST(placed_actors, DF_56_a_dispatcher_that_cannot_be_made_is_named) {
    struct seen final : world_events {
        void supervised(const decision& d) noexcept override {
            const std::lock_guard held(mutex);
            text = d.why->text();
        }
        std::string last() {
            const std::lock_guard held(mutex);
            return text;
        }
        std::mutex mutex;
        std::string text;
    } events;
    class parent : public actor<int> {
    public:
        void on(int) { (void)context().spawn<plain_actor>("child"); }
    };
    actor_system::options o = options_with([](resolver& r) {
        return all_of({r.add_dispatcher("foreign", {.executor = executor_kind::foreign}),
                       r.add_deployment("/user/parent/child", {.dispatcher = "foreign"})});
    });
    o.events = &events;
    actor_system system("demo", o);
    const auto made = system.try_spawn<plain_actor>("a", {.dispatcher_id = "foreign"});
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().what, spawn_error::kind::dispatcher_unavailable);
    EXPECT_STREQ(made.error().reason, "a foreign dispatcher needs an executor 'foreign'");
    system.spawn<parent>("parent").tell(1);
    EXPECT_TRUE(tactus_test::until([&] { return !events.last().empty(); }));
    EXPECT_EQ(events.last(),
              "cannot spawn 'child': a foreign dispatcher needs an executor 'foreign'");
}

namespace {

class controlled : public actor<int> {
public:
    using requires_mailbox = requirements<capability::bounded, capability::control_aware>;
    void on(int) {}
};
class bounded_stash : public actor<int>, public with_stash<> {
public:
    using requires_mailbox = requirements<capability::bounded>;
    void on(int) {}
};
class waiting_room : public actor<int> {
public:
    using requires_mailbox = requirements<capability::blocking>;
    void on(int) {}
};
class unlimited : public actor<int> {
public:
    using requires_mailbox = requirements<capability::unbounded>;
    void on(int) {}
};
class shared_queue : public actor<int> {
public:
    using requires_mailbox = requirements<capability::multiple_consumer>;
    void on(int) {}
};
class nothing_required : public actor<int> {
public:
    using requires_mailbox = requirements<>;
    void on(int) {}
};

}  // namespace

// DF-59
// A class declares any requirement; it adds to that of a stash, and is resolved and verified.
TEST(placed_actors, DF_59_a_class_declares_what_its_mailbox_must_do) {
    actor_system system(
        "demo", options_with([](resolver& r) {
            return all_of({r.add_deployment("/user/small", {.mailbox = "bounded"}),
                           r.add_deployment("/user/mapped", {.mailbox = "bounded-control-aware"})});
        }));
    const mailbox_options bounded = mailbox_options::bounded();
    const auto c = system.try_spawn<controlled>("", {});
    const auto s = system.try_spawn<bounded_stash>("s", {});
    const auto w = system.try_spawn<waiting_room>("w", {});
    const auto u = system.try_spawn<unlimited>("u", {});
    const auto n = system.try_spawn<nothing_required>("n", {});
    ASSERT_TRUE(c && s && w && u && n);
    EXPECT_EQ(mailbox_of(system, *c),
              (mailbox_options{.kind = mailbox_kind::control_aware, .capacity = bounded.capacity}));
    EXPECT_EQ(mailbox_of(system, *s),
              (mailbox_options{.kind = mailbox_kind::deque, .capacity = bounded.capacity}));
    EXPECT_EQ(mailbox_of(system, *w),
              (mailbox_options{.when_full = overflow::block, .capacity = bounded.capacity}));
    EXPECT_EQ(mailbox_of(system, *u), mailbox_options{});
    EXPECT_EQ(mailbox_of(system, *n), mailbox_options{});
    const auto five = system.try_spawn<controlled>("five", {.mailbox = {.capacity = 5}});
    ASSERT_TRUE(five);
    EXPECT_EQ(mailbox_of(system, *five),
              (mailbox_options{.kind = mailbox_kind::control_aware, .capacity = 5}));
    EXPECT_TRUE(system.try_spawn<controlled>("mapped", {}));
    for (const auto& refused :
         {system.try_spawn<controlled>("small", {}),
          system.try_spawn<controlled>("x", {.mailbox_id = "unbounded-control-aware"}),
          system.try_spawn<controlled>("x", {.mailbox = {.kind = mailbox_kind::deque}})}) {
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().what, spawn_error::kind::mailbox_unfit);
    }
    EXPECT_FALSE(system.try_spawn<unlimited>("x", {.mailbox = {.capacity = 5}}));
    const auto none = system.try_spawn<shared_queue>("x", {});
    ASSERT_FALSE(none);
    EXPECT_STREQ(none.error().reason, "no mailbox is known for the requirement multiple_consumer");
}

// DF-59
// A test kit has no resolver: the class gets what it requires all the same, or is refused.
TEST(placed_actors, DF_59_a_requirement_is_met_without_a_resolver) {
    test::virtual_world virtual_system({});
    actor_world& world = virtual_system.world();
    const auto spawned = [&]<class A>(const A*, const spawn_options& how) {
        return detail::spawn_by<A>(
            world, [&](const actor_world::spawn_request& r) { return world.spawn_top(r); }, "",
            how);
    };
    const auto mailbox = [&](const auto& made) {
        return world.kernel().slots().find(made->index())->kind()->options();
    };
    const auto c = spawned(static_cast<controlled*>(nullptr), {});
    const auto s = spawned(static_cast<bounded_stash*>(nullptr), {.mailbox = {.capacity = 9}});
    const auto w = spawned(static_cast<waiting_room*>(nullptr), {.mailbox = {.capacity = 3}});
    ASSERT_TRUE(c && s && w);
    EXPECT_EQ(mailbox(c).kind, mailbox_kind::control_aware);
    EXPECT_EQ(mailbox(c).capacity, 1'000u);
    EXPECT_EQ(mailbox(s).kind, mailbox_kind::deque);
    EXPECT_EQ(mailbox(s).capacity, 9u);
    EXPECT_EQ(mailbox(w).when_full, overflow::block);
    const auto none = spawned(static_cast<shared_queue*>(nullptr), {});
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().what, spawn_error::kind::mailbox_unfit);
    EXPECT_TRUE(virtual_system.end());
}

// DF-56
// Ids that differ each time do not fill the memory: a thousand are kept by the process, and the
// text of others by the thread. The last test of this file: the next errors are others.
TEST(placed_actors, DF_56_kept_refusals_are_bounded) {
    actor_system system("demo", options_with([](resolver&) { return all_of({}); }));
    std::set<const char*> texts;
    for (int i = 0; i < 1'100; ++i) {
        const std::string id = "none-" + std::to_string(i);
        const auto made = system.try_spawn<plain_actor>("a", {.dispatcher_id = id});
        ASSERT_FALSE(made);
        EXPECT_EQ(made.error().what, spawn_error::kind::unknown_dispatcher);
        EXPECT_EQ(made.error().reason, "unknown dispatcher '" + id + "'");
        texts.insert(made.error().reason);
    }
    EXPECT_LE(texts.size(), 1'004u);
    EXPECT_TRUE(system.try_spawn<plain_actor>("a", {}));
}
