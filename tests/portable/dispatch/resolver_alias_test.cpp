// SPDX-License-Identifier: Apache-2.0
//
// Goal: an id means one entry, whichever aliases lead to it, and what leads nowhere is named
// (DR-1). Method: the table of TC-M36; random graphs of aliases against a naive model.
#include <tactus/base/det_rng.hpp>
#include <tactus/dispatch/resolver.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "resolver_rig.hpp"

using namespace tactus_test;
using tactus::resolver;

namespace {

/// "n07": names that differ.
class numbered {
public:
    explicit numbered(unsigned n) noexcept
        : text_{'n', static_cast<char>('0' + n / 10), static_cast<char>('0' + n % 10)} {}
    operator std::string_view() const noexcept { return {text_, 3}; }  // NOLINT: a name

private:
    char text_[3];
};

/// n00 -> n01 -> ... -> the default dispatcher: `length` aliases.
void add_chain(resolver& names, unsigned length, std::string_view end) {
    for (unsigned i = 0; i < length; ++i)
        EXPECT_TRUE(names.add_alias(numbered(i),
                                    i + 1 == length ? end : std::string_view(numbered(i + 1))));
}

}  // namespace

// TC-M36, DR-1, PK-CFG-1
TEST(resolver_alias, twenty_are_followed) {
    resolver_rig rig;
    add_chain(rig.names, 20, tactus::default_dispatcher_id);
    const auto found = rig.names.resolve_dispatcher(numbered(0));
    ASSERT_TRUE(found);
    EXPECT_TRUE((*found)->id() == tactus::default_dispatcher_id);
    // One and the same entry, not another like it.
    EXPECT_EQ(*found, *rig.names.resolve_dispatcher(tactus::default_dispatcher_id));
    EXPECT_EQ(*found, *rig.names.resolve_dispatcher(numbered(19)));
}

// TC-M36
TEST(resolver_alias, twenty_one_are_too_many) {
    resolver_rig rig;
    add_chain(rig.names, 21, tactus::default_dispatcher_id);
    const auto found = rig.names.resolve_dispatcher(numbered(0));
    ASSERT_TRUE(refused(found, error_kind::alias_chain_too_deep));
    EXPECT_EQ(found.error().depth(), 20u);
    EXPECT_TRUE(says(found, "more than 20 aliases", "n00 -> n01 -> n02", "n20"));
    EXPECT_TRUE(rig.names.resolve_dispatcher(numbered(1)));
}

// TC-M36, C-DCF-8: an alias loop is an error that mentions it.
TEST(resolver_alias, a_loop_is_named) {
    resolver_rig rig;
    EXPECT_TRUE(rig.names.add_alias("a", "b"));
    EXPECT_TRUE(rig.names.add_alias("b", "c"));
    EXPECT_TRUE(rig.names.add_alias("c", "b"));
    EXPECT_TRUE(rig.names.add_alias("self", "self"));
    const auto found = rig.names.resolve_dispatcher("a");
    ASSERT_TRUE(refused(found, error_kind::alias_chain_too_deep));
    EXPECT_EQ(found.error().depth(), 20u);
    EXPECT_TRUE(found.error().text() == "more than 20 aliases, possibly a loop: a -> b -> c -> b");
    EXPECT_TRUE(says(rig.names.resolve_mailbox("self"), "loop: self -> self"));
}

// TC-M36, C-DCF-2: unknown ids and aliases to unknown ones; the last is named.
TEST(resolver_alias, what_leads_nowhere_is_unknown_by_its_last_id) {
    resolver_rig rig;
    EXPECT_TRUE(rig.names.add_alias("a", "b"));
    EXPECT_TRUE(rig.names.add_alias("b", "nobody"));
    const auto dispatcher = rig.names.resolve_dispatcher("a");
    EXPECT_TRUE(refused(dispatcher, error_kind::unknown_dispatcher));
    EXPECT_TRUE(dispatcher.error().text() == "unknown dispatcher 'nobody', by alias 'a'");
    const auto mailbox = rig.names.resolve_mailbox("nobody");
    EXPECT_TRUE(refused(mailbox, error_kind::unknown_mailbox));
    EXPECT_TRUE(mailbox.error().text() == "unknown mailbox 'nobody'");
}

// TC-M36: duplicates, and aliases against entries, whichever came first.
TEST(resolver_alias, an_id_has_one_meaning) {
    resolver_rig rig;
    EXPECT_TRUE(rig.names.add_dispatcher("x", {}));
    EXPECT_TRUE(rig.names.add_mailbox("x", {}));  // mailboxes have ids of their own
    EXPECT_TRUE(rig.names.add_mailbox("y", {}));
    EXPECT_TRUE(rig.names.add_alias("z", "x"));
    EXPECT_TRUE(rig.names.add_deployment("/user/a", {.dispatcher = "x"}));
    EXPECT_TRUE(rig.names.map_requirement(tactus::capability::deque, "y"));

    EXPECT_TRUE(refused(rig.names.add_dispatcher("x", {}), error_kind::duplicate));
    EXPECT_TRUE(says(rig.names.add_mailbox("y", {}), "'y' is there already"));
    EXPECT_TRUE(refused(rig.names.add_mailbox("y", {}), error_kind::duplicate));
    EXPECT_TRUE(refused(rig.names.add_alias("z", "y"), error_kind::duplicate));
    EXPECT_TRUE(refused(rig.names.add_deployment("/user/a", {}), error_kind::duplicate));
    EXPECT_TRUE(
        refused(rig.names.map_requirement(tactus::capability::deque, "x"), error_kind::duplicate));
    EXPECT_TRUE(says(rig.names.map_requirement(tactus::capability::deque, "x"), "deque"));

    constexpr auto conflicts = error_kind::alias_conflicts_with_entry;
    EXPECT_TRUE(refused(rig.names.add_alias("x", "y"), conflicts));
    EXPECT_TRUE(refused(rig.names.add_alias("y", "x"), conflicts));
    EXPECT_TRUE(refused(rig.names.add_alias("bounded", "y"), conflicts));
    EXPECT_TRUE(refused(rig.names.add_dispatcher("z", {}), conflicts));
    EXPECT_TRUE(refused(rig.names.add_mailbox("z", {}), conflicts));
    EXPECT_TRUE(says(rig.names.add_mailbox("z", {}), "'z'"));
}

// TC-M36: +1 per call, whether it finds something or not.
TEST(resolver_alias, every_question_is_counted) {
    resolver_rig rig;
    add_chain(rig.names, 3, tactus::default_dispatcher_id);
    EXPECT_EQ(rig.names.resolve_count(), 0u);
    (void)rig.names.resolve_dispatcher(numbered(0));
    EXPECT_EQ(rig.names.resolve_count(), 1u);
    (void)rig.names.resolve_mailbox("nobody");
    EXPECT_EQ(rig.names.resolve_count(), 2u);
    (void)rig.names.resolve({});
    EXPECT_EQ(rig.names.resolve_count(), 3u);
    (void)rig.names.resolve({.choice = {.dispatcher = "nobody"}});
    EXPECT_EQ(rig.names.resolve_count(), 4u);
}

// TC-M37, DR-3, C-DCF-3: the default ids; "default" alone is nothing.
TEST(resolver_alias, the_default_ids_are_there) {
    resolver_rig rig;
    unsigned number = 0;
    for (const char* id : {"tactus.default-dispatcher", "tactus.internal-dispatcher",
                           "tactus.blocking-dispatcher"}) {
        const auto found = rig.names.resolve_dispatcher(id);
        ASSERT_TRUE(found);
        EXPECT_TRUE((*found)->id() == id);
        EXPECT_EQ((*found)->number(), number++);
    }
    EXPECT_TRUE(rig.names.resolve_mailbox("tactus.default-mailbox"));
    EXPECT_TRUE(refused(rig.names.resolve_dispatcher("default"), error_kind::unknown_dispatcher));
    EXPECT_TRUE(refused(rig.names.resolve_mailbox("default"), error_kind::unknown_mailbox));
    const auto plain = rig.names.resolve({.path = "/user/a"});
    ASSERT_TRUE(plain);
    EXPECT_EQ(plain->dispatcher, *rig.names.resolve_dispatcher("tactus.default-dispatcher"));
}

namespace {

/// Aliases as an array: what the resolver must agree with.
struct naive_names {
    static constexpr unsigned count = board::roomy ? 30 : 14;
    enum class meaning : std::uint8_t { nothing, entry, alias };

    struct answer {
        bool found;
        error_kind why;
        unsigned at;
    };
    [[nodiscard]] answer resolve(unsigned id) const {
        for (unsigned hops = 0;; ++hops) {
            if (hops > 20)
                return {false, error_kind::alias_chain_too_deep, id};
            if (means[id] == meaning::entry)
                return {true, {}, id};
            if (means[id] == meaning::nothing)
                return {false, error_kind::unknown_dispatcher, id};
            id = target[id];
        }
    }
    meaning means[count] = {};
    unsigned target[count] = {};
};

void random_graph(std::uint64_t seed) {
    using enum naive_names::meaning;
    tactus::det_rng rng(seed);
    resolver_rig rig;
    naive_names naive;
    // Long chains are rare among random targets: most name the next id.
    const std::uint64_t strays = 1 + rng.below(8);
    for (unsigned step = 0; step < 2 * naive_names::count; ++step) {
        const auto id = static_cast<unsigned>(rng.below(naive_names::count));
        const auto expected = [&](naive_names::meaning wanted) {
            if (naive.means[id] == nothing)
                return error_kind{};
            return naive.means[id] == wanted ? error_kind::duplicate
                                             : error_kind::alias_conflicts_with_entry;
        };
        const bool entry = rng.below(10) == 0;
        unsigned to = id + 1 == naive_names::count ? 0 : id + 1;
        if (rng.below(8) < strays)
            to = static_cast<unsigned>(rng.below(naive_names::count));
        const auto added = entry ? rig.names.add_dispatcher(numbered(id), {})
                                 : rig.names.add_alias(numbered(id), numbered(to));
        EXPECT_EQ(added.has_value(), naive.means[id] == nothing);
        if (!added) {
            EXPECT_EQ(added.error().what(), expected(entry ? naive_names::meaning::entry : alias));
            continue;
        }
        naive.means[id] = entry ? naive_names::meaning::entry : alias;
        naive.target[id] = to;
    }
    for (unsigned id = 0; id < naive_names::count; ++id) {
        const auto wanted = naive.resolve(id);
        const auto found = rig.names.resolve_dispatcher(numbered(id));
        EXPECT_EQ(found.has_value(), wanted.found);
        if (found) {
            EXPECT_TRUE((*found)->id() == std::string_view(numbered(wanted.at)));
        } else {
            EXPECT_EQ(found.error().what(), wanted.why);
            EXPECT_TRUE(wanted.why == error_kind::alias_chain_too_deep ||
                        says(found, std::string_view(numbered(wanted.at))));
        }
    }
    EXPECT_EQ(rig.names.resolve_count(), naive_names::count);
}

}  // namespace

// DR-1
TEST(resolver_alias, random_graphs_agree_with_a_naive_model) {
    for (std::uint64_t seed = 1; seed <= (board::roomy ? 300 : 20); ++seed)
        random_graph(seed);
}
