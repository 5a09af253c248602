// SPDX-License-Identifier: Apache-2.0
//
// Goal: actors by their paths: absolute, relative, with patterns; nobody is a dead letter (AC-7).
#include <tactus/actor/actor_selection.hpp>

#include <tactus/actor/actor.hpp>
#include <tactus/dispatch/text_buffer.hpp>

#include "world_rig.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using tactus_test::journal;
using tactus_test::world_rig;

namespace {

struct go_and_tell {
    const char* path;
    int value;
};
struct who_is {
    const char* path;
};

/// Writes down which one it is and what it got; has children when told their names.
class node : public actor<int, const char*, go_and_tell, who_is, actor_identity> {
public:
    explicit node(int number) : number_(number) {}
    void on(int v) {
        journal().add(number_ * 100 + v);
        if (sender())
            journal().add(1);
    }
    void on(const char* name) {
        last_child = *context().try_spawn<node>(name, {}, number_ + ++children_);
    }
    void on(const go_and_tell& m) { context().select(m.path).tell(m.value); }
    void on(const who_is& m) { context().select(m.path).identify(9, self()); }
    void on(const actor_identity& m) {
        EXPECT_EQ(m.id, 9u);
        found = m.who;
        ++answers;
    }
    static inline any_ref last_child;
    static inline any_ref found;
    static inline int answers = 0;

private:
    int number_;
    int children_ = 0;
};
using node_ref = detail::ref_of<node>;

/// user/a/{b, bc}, user/d/b: on a small board all that fits.
struct stage : world_rig {
    stage() {
        a = spawn<node>("a", 10);
        run();
        a.tell("b");
        run();
        b = node_ref(node::last_child);
        a.tell("bc");
        run();
        d = spawn<node>("d", 20);
        d.tell("b");
        run();
        db = node_ref(node::last_child);
        journal().clear();
        node::answers = 0;
    }
    [[nodiscard]] any_ref at(std::string_view path) { return world.select(path).resolve(); }
    int count(std::string_view path) {
        int n = 0;
        world.select(path).for_each([&](any_ref) { ++n; });
        return n;
    }
    node_ref a;
    node_ref b;
    node_ref d;
    node_ref db;
};

}  // namespace

// AC-7, C-REF-6: by path, from the root; slashes more or less do not matter.
TEST(actor_selection, C_REF_6_absolute_paths) {
    stage rig;
    for (const char* path : {"/user/a/b", "user/a/b", "tactus://test/user/a/b", "//user//a/b/"})
        EXPECT_TRUE(rig.at(path) == rig.b.any());
    EXPECT_TRUE(rig.at("/user").index() == rig.world.user_guardian());
    EXPECT_TRUE(rig.at("tactus://test").index() == rig.at("/").index());
    for (const char* path :
         {"/user/x", "/user/a/b/c", "tactus://other/user/a", "/a", "tactus://",
          "tactus://tester/user/a", "tactus://testuser", "tactus://test-1/user/a"})
        EXPECT_FALSE(static_cast<bool>(rig.world.select(path)));
    rig.end();
}

// C-REF-6: from an actor on: its children, its parent, its siblings.
TEST(actor_selection, C_REF_6_relative_paths) {
    stage rig;
    const mailbox_index a = rig.a.index();
    EXPECT_TRUE(rig.world.select(a, "b").resolve() == rig.b.any());
    EXPECT_TRUE(rig.world.select(a, "../d/b").resolve() == rig.db.any());
    EXPECT_TRUE(rig.world.select(a, "b/..").resolve() == rig.a.any());
    EXPECT_TRUE(rig.world.select(a, "").resolve() == rig.a.any());
    EXPECT_TRUE(rig.world.select(a, "../../../../user/d").resolve() == rig.d.any());  // no higher
    EXPECT_TRUE(rig.world.select(a, "/user/d").resolve() == rig.d.any());
    EXPECT_FALSE(static_cast<bool>(rig.world.select(a, "x/..")));
    rig.b.tell(go_and_tell{"../../d", 5});
    rig.run();
    EXPECT_TRUE(journal().is({2005, 1}));
    rig.end();
}

// C-REF-6: patterns within a name; all that match are told, each once.
TEST(actor_selection, C_REF_6_patterns) {
    stage rig;
    struct row {
        const char* path;
        int count;
    };
    static constexpr row rows[] = {
        {"/user/*", 2},     {"/user/*/b", 2},    {"/user/a/b*", 2}, {"/user/a/b?", 1},
        {"/user/a/?", 1},   {"/user/a/*c", 1},   {"/user/a/??", 1}, {"/user/*/*", 3},
        {"/*/a/b", 1},      {"/user/**/b", 2},   {"/user/a/x*", 0}, {"/user/a/b*c*", 1},
        {"/user/a/???", 0}, {"/user/*/../a", 2}, {"/u?er/a", 1},    {"/*", 2},
    };
    for (const row& r : rows)
        EXPECT_EQ(rig.count(r.path), r.count);
    rig.world.select("/user/*/b").tell(3);
    rig.run();
    EXPECT_EQ(journal().count(), 2u);
    EXPECT_TRUE(journal().is({1103, 2103}));
    rig.end();
}

// C-REF-6: nobody: a dead letter; who asks who it is, is answered.
TEST(actor_selection, C_REF_6_nobody_is_a_dead_letter) {
    stage rig;
    rig.world.select("/user/x").tell(5);
    EXPECT_EQ(rig.said.dead_letters, 1u);
    EXPECT_EQ(rig.said.dead_numbers[0], 5);
    rig.world.select("/user/x/*").tell(6);
    EXPECT_EQ(rig.said.dead_letters, 2u);
    actor_selection{}.tell(7);  // of no world
    EXPECT_EQ(rig.said.dead_letters, 2u);
    rig.a.tell(who_is{"nobody"});
    rig.run();
    EXPECT_EQ(node::answers, 1);
    EXPECT_FALSE(static_cast<bool>(node::found));
    rig.a.tell(who_is{"b"});
    rig.run();
    EXPECT_TRUE(node::found == rig.b.any());
    rig.a.tell(who_is{"*"});
    rig.run();
    EXPECT_EQ(node::answers, 4);
    EXPECT_EQ(rig.said.dead_letters, 2u);
    rig.end();
}

// C-REF-4, C-REF-6: forwarding keeps the sender.
TEST(actor_selection, C_REF_4_forwarding) {
    stage rig;
    rig.world.select("/user/d").tell(1, rig.a);
    rig.world.select("/user/d").tell(2, any_ref{});
    rig.run();
    EXPECT_TRUE(journal().is({2001, 1, 2002}));
    rig.end();
}

// C-REF-6: equal is who has the same path from the same anchor; another life is another actor.
TEST(actor_selection, C_REF_6_equality_and_lives) {
    stage rig;
    const actor_selection one = rig.world.select("/user/a");
    EXPECT_TRUE(one == rig.world.select("user//a"));
    EXPECT_TRUE(one == rig.world.select("tactus://test/user/a"));
    EXPECT_FALSE(one == rig.world.select("/user/d"));
    EXPECT_FALSE(rig.world.select(rig.a.index(), "b") == rig.world.select(rig.d.index(), "b"));
    EXPECT_TRUE(one.path() == "user/a");
    const any_ref before = one.resolve();
    (void)rig.world.stop(before.index());
    rig.run();
    EXPECT_FALSE(static_cast<bool>(one));
    (void)rig.spawn<node>("a", 30);
    rig.run();
    EXPECT_TRUE(static_cast<bool>(one));
    EXPECT_TRUE(one.resolve() != before);
    rig.end();
}

// AC-7: those without a name are found by the path they have.
TEST(actor_selection, AC_7_who_has_no_name) {
    stage rig;
    rig.b.tell("");
    rig.run();
    const any_ref child = node::last_child;
    // As write_path says it.
    text_buffer<40> path;
    path.add("/user/a/b/$").add(child.index().slot_number()).add(".").add(child.index().generation);
    EXPECT_TRUE(rig.at(path.view()) == child);
    EXPECT_TRUE(rig.world.select(child.index(), "../../bc").resolve() == rig.at("/user/a/bc"));
    // Under another parent, another life, nonsense: nobody.
    EXPECT_FALSE(static_cast<bool>(rig.world.select(path.add("x").view())));
    path.clear();
    path.add("/user/a/$").add(child.index().slot_number()).add(".").add(child.index().generation);
    EXPECT_FALSE(static_cast<bool>(rig.world.select(path.view())));
    for (const char* wrong : {"/user/$1", "/user/$", "/user/$.1", "/user/$1.", "/user/$0.1",
                              "/user/$99999999999.1", "/user/$1.99999999999", "/user/$67108863.1"})
        EXPECT_FALSE(static_cast<bool>(rig.world.select(wrong)));
    (void)rig.world.stop(child.index());
    rig.run();
    EXPECT_FALSE(static_cast<bool>(rig.world.select(child.index(), "..")));
    rig.end();
}

// A path that is too long selects nobody, and says so.
TEST(actor_selection, a_path_that_is_too_long) {
    stage rig;
    char path[actor_selection::path_size_max + 2];
    for (char& c : path)
        c = 'a';
    const actor_selection fits = rig.world.select({path, actor_selection::path_size_max});
    EXPECT_EQ(fits.path().size(), actor_selection::path_size_max);
    const actor_selection too_long = rig.world.select({path, actor_selection::path_size_max + 1});
    EXPECT_FALSE(static_cast<bool>(too_long.anchor()));
    EXPECT_FALSE(static_cast<bool>(too_long));
    rig.end();
}
