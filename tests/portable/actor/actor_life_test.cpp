// SPDX-License-Identifier: Apache-2.0
//
// Goal: an actor's life: handlers, hooks in order, children, names, ends (AC-1, AC-6, AC-7, AC-8).
#include <tactus/actor/actor.hpp>

#include "world_rig.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using tactus_test::journal;
using tactus_test::world_rig;

namespace {

struct add {
    int value;
};
struct total {
    actor_ref<int> reply_to;
};

/// The first program of the README.
class sum : public actor<add, total> {
public:
    void on(const add& m) { total_ += m.value; }
    void on(const total& m) { m.reply_to.tell(total_); }

private:
    int total_ = 0;
};
class noter : public actor<int> {
public:
    void on(int v) { journal().add(v); }
};

enum : std::int32_t { born = 100, begun = 101, over = 102, gone = 103 };

/// Says what happens to it.
class talker : public actor<int> {
public:
    talker() { journal().add(born); }
    talker(const talker&) = delete;
    talker& operator=(const talker&) = delete;
    ~talker() { journal().add(gone); }
    void pre_start() { journal().add(begun); }
    void post_stop() { journal().add(over); }
    void on(int v) {
        journal().add(v);
        if (v == 7)
            context().stop();
    }
};

/// A message that can only be moved, taken by rvalue, value and const reference.
struct cargo {
    explicit cargo(int v) noexcept : value(v) {}
    cargo(cargo&& other) noexcept : value(other.value) { other.value = 0; }
    cargo& operator=(cargo&&) = delete;
    ~cargo() { journal().add(value == 0 ? -1 : -2); }
    int value;
};
class by_value : public actor<cargo> {
public:
    void on(cargo c) { journal().add(c.value); }
};
class by_rvalue : public actor<cargo> {
public:
    void on(cargo&& c) { journal().add(c.value); }
};
class by_reference : public actor<cargo> {
public:
    void on(const cargo& c) { journal().add(c.value); }
};

}  // namespace

// AC-1: handlers are called with what was told, in order.
TEST(actor_life, AC_1_the_first_program) {
    world_rig rig;
    const actor_ref<add, total> s = rig.spawn<sum>("sum");
    const actor_ref<int> to = rig.spawn<noter>("noter");
    for (int i = 1; i <= 10; ++i)
        s.tell(add{i});
    s.tell(total{to});
    rig.run();
    EXPECT_TRUE(journal().is({55}));
    rig.end();
}

// AC-1, AC-11: by value, rvalue and const reference; a message that can only be moved ends once.
TEST(actor_life, AC_11_messages_that_can_only_be_moved) {
    world_rig rig;
    const auto v = rig.spawn<by_value>("v");
    const auto r = rig.spawn<by_rvalue>("r");
    const auto c = rig.spawn<by_reference>("c");
    rig.run();
    journal().clear();
    v.tell(cargo(5));
    EXPECT_TRUE(journal().is({-1}));  // the one moved from
    rig.run();
    EXPECT_TRUE(journal().is({5, -2, -1}));
    r.tell(cargo(6));
    rig.run();
    EXPECT_TRUE(journal().is({-1, 6, -2}));
    c.tell(cargo(8));
    rig.run();
    EXPECT_TRUE(journal().is({-1, 8, -2}));
    rig.end();
}

// AC-6, C-SUP-30: constructor, pre_start, messages, post_stop, destructor. What is stopped does not
// handle what waits; that goes to dead letters.
TEST(actor_life, AC_6_hooks_of_an_actor_that_is_never_restarted) {
    world_rig rig;
    const auto a = rig.spawn<talker>("a");
    EXPECT_TRUE(journal().is({}));  // in its own turn, not in the spawner's
    a.tell(1);
    rig.run();
    EXPECT_TRUE(journal().is({born, begun, 1}));
    a.tell(7);
    a.tell(8);
    rig.run();
    EXPECT_TRUE(journal().is({7, over, gone}));
    EXPECT_EQ(rig.said.dead_letters, 1u);
    a.tell(9);
    EXPECT_EQ(rig.said.dead_letters, 2u);
    rig.end();
}

// AC-8: a poison pill is handled at its turn, after what was sent before.
TEST(actor_life, AC_8_a_poison_pill_comes_after_what_was_sent_before) {
    world_rig rig;
    const auto a = rig.spawn<talker>("a");
    a.tell(1);
    a.tell(2);
    a.any().tell(poison_pill{});
    a.tell(3);
    rig.run();
    EXPECT_TRUE(journal().is({born, begun, 1, 2, over, gone}));
    EXPECT_EQ(rig.said.dead_letters, 1u);
    rig.end();
}

// AC-8: stopping from outside comes before what waits.
TEST(actor_life, AC_8_stop_comes_before_what_waits) {
    world_rig rig;
    const auto a = rig.spawn<talker>("a");
    rig.run();
    journal().clear();
    a.tell(1);
    EXPECT_TRUE(rig.world.stop(a.index()));
    rig.run();
    EXPECT_TRUE(journal().is({over, gone}));
    EXPECT_FALSE(rig.world.stop(a.index()));
    rig.end();
}

// AC-8: who is asked who it is says so; for who has ended, the runtime answers.
TEST(actor_life, AC_8_identify_is_answered_always) {
    class asker : public actor<actor_identity> {
    public:
        void on(const actor_identity& i) {
            journal().add(static_cast<std::int32_t>(i.id) + (i.who ? 1'000 : 0));
        }
    };
    world_rig rig;
    const auto a = rig.spawn<noter>("a");
    const auto q = rig.spawn<asker>("q");
    a.any().tell(identify{5, q});
    rig.run();
    (void)rig.world.stop(a.index());
    rig.run();
    a.any().tell(identify{6, q});
    rig.run();
    EXPECT_TRUE(journal().is({1'005, 6}));
    rig.end();
}

// AC-7: names are unique among siblings, paths find actors, a name is free again after the end.
TEST(actor_life, AC_7_names_and_paths) {
    struct text final : text_sink {
        void write(std::string_view piece) noexcept override {
            for (const char c : piece)
                all[size++] = c;
        }
        char all[100] = {};
        std::size_t size = 0;
    };
    world_rig rig;
    const auto a = rig.spawn<talker>("a");
    EXPECT_TRUE(rig.try_spawn<talker>("a").error().what == spawn_error::kind::name_taken);
    EXPECT_TRUE(rig.try_spawn<talker>("a/b").error().what == spawn_error::kind::name_invalid);
    EXPECT_TRUE(rig.try_spawn<talker>("$a").error().what == spawn_error::kind::name_invalid);
    for (const char* path : {"/user/a", "user/a", "tactus://test/user/a"})
        EXPECT_TRUE(rig.world.find(path) == a.index());
    for (const char* path : {"/user/b", "/system/a", "tactus://other/user/a", "/user/a/b"})
        EXPECT_FALSE(rig.world.find(path).valid());
    text t;
    rig.world.write_path(a.index(), t);
    EXPECT_TRUE(std::string_view(t.all, t.size) == "tactus://test/user/a");
    (void)rig.world.stop(a.index());
    EXPECT_TRUE(rig.try_spawn<talker>("a").error().what == spawn_error::kind::name_taken);
    rig.run();
    EXPECT_FALSE(rig.world.find("/user/a").valid());
    const auto again = rig.try_spawn<talker>("a");
    EXPECT_TRUE(again.has_value());
    EXPECT_TRUE(again->index() != a.index());
    rig.end();
}

namespace {

struct start_children {};
/// Children say when they go; the parent goes after them.
class leaf : public actor<int> {
public:
    explicit leaf(int number) : number_(number) {}
    void on(int v) { journal().add(number_ * 10 + v); }
    void post_stop() { journal().add(number_); }

private:
    int number_;
};
class branch : public actor<start_children, int> {
public:
    void on(start_children) {
        first_ = *context().try_spawn<leaf>("one", {}, 1);
        second_ = *context().try_spawn<leaf>("two", {}, 2);
        journal().add(static_cast<std::int32_t>(context().child_count()));
        EXPECT_TRUE(context().child("one") == first_.any());
        EXPECT_FALSE(context().child("three"));
    }
    void on(int v) {
        first_.tell(v);
        second_.tell(v);
    }
    void post_stop() { journal().add(3); }

private:
    actor_ref<int> first_;
    actor_ref<int> second_;
};

}  // namespace

// AC-5, PK-SUP-15: children end before their parent; both find their parent.
TEST(actor_life, AC_5_children_end_before_their_parent) {
    world_rig rig;
    const auto b = rig.spawn<branch>("b");
    b.tell(start_children{});
    b.tell(4);
    rig.run();
    EXPECT_EQ(journal().count(), 3u);
    EXPECT_EQ(journal().at(0), 2);
    EXPECT_EQ(journal().at(1) + journal().at(2), 14 + 24);  // in either order
    journal().clear();
    EXPECT_TRUE(rig.world.find("/user/b/two").valid());
    (void)rig.world.stop(b.index());
    rig.run();
    EXPECT_TRUE(journal().is({1, 2, 3}));
    rig.end();
}

// AC-4: what an actor does not take is unhandled, and published.
TEST(actor_life, AC_4_unknown_messages_are_unhandled) {
    world_rig rig;
    const auto a = rig.spawn<talker>("a");
    a.any().tell(add{1});
    a.any().tell(3);
    rig.run();
    EXPECT_EQ(rig.said.unhandled_count, 1u);
    EXPECT_TRUE(journal().is({born, begun, 3}));
    rig.end();
    journal().clear();
}

// AC-4, AC-11: a message is sent as what it is when the actor takes that, with a sender given, too.
TEST(actor_life, AC_11_a_message_is_sent_as_what_it_is) {
    class both : public actor<long, int> {
    public:
        void on(long) { journal().add(1); }
        void on(int) { journal().add(sender() ? 3 : 2); }
    };
    world_rig rig;
    const auto b = rig.spawn<both>("b");
    b.tell(5);
    b.tell(5, b);
    b.tell(5L);
    EXPECT_TRUE(b.try_tell(5).has_value());
    rig.run();
    EXPECT_TRUE(journal().is({2, 3, 1, 2}));
    rig.end();
}
