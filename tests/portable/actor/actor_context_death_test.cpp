// SPDX-License-Identifier: Apache-2.0
//
// Goal: a context is its actor's, in its turn (AC-5): whoever else asks for it ends the program,
// and the name of the check says how it went wrong.
#include <tactus/actor/actor.hpp>

#include <thread>

#include "world_rig.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using tactus_test::world_rig;

namespace {

class careless : public actor<int> {
public:
    explicit careless(careless** known = nullptr) {
        if (known != nullptr)
            *known = this;
    }
    void on(int) {
        if (other != nullptr)
            other->look();
    }
    void look() { (void)context().self(); }
    static careless* other;
};
careless* careless::other = nullptr;

/// Asks for its context when it is made.
class eager : public actor<int> {
public:
    eager() { (void)context().self(); }
    void on(int) {}
};
/// Makes another actor as if it was any object.
enum class making : std::uint8_t { in_its_constructor, in_a_handler };
class maker : public actor<int> {
public:
    explicit maker(making when) {
        if (when == making::in_its_constructor)
            make();
    }
    void on(int) { make(); }

private:
    static void make() { eager one; }
};

/// Lets another thread look while it is in its turn; or has a child that does, in its own.
struct by_thread {};
struct by_child {};
struct by_adapter {};
class watched_closely : public actor<int, by_thread, by_child, by_adapter> {
public:
    explicit watched_closely(watched_closely** known) { *known = this; }
    void on(int) { ++handled; }
    void on(by_thread) {
        std::thread([this] { look(); }).join();
    }
    void on(by_child) {
        const auto child = context().try_spawn(
            behavior<int>([above = this](auto&, const int&) { above->look(); }));
        child->tell(1);
    }
    void on(by_adapter) {
        context()
            .message_adapter<char>([this](char c) {
                look();
                return int{c};
            })
            .tell('a');
    }
    void look() { (void)context().child_count(); }
    int handled = 0;
};

}  // namespace

// AC-5, C-SUP-34, C-TX-17: nobody's turn.
TEST(actor_context_death_test, AC_5_outside_of_a_turn) {
    careless alone;
    EXPECT_DEATH(alone.look(), "actor_context:1");
}

// AC-5
TEST(actor_context_death_test, AC_5_in_the_turn_of_another) {
    world_rig rig;
    careless* one = nullptr;
    (void)rig.spawn<careless>("one", &one);
    const auto two = rig.spawn<careless>("two");
    rig.run();
    careless::other = one;
    two.tell(1);
    EXPECT_DEATH(rig.run(), "actor_context:2");
    careless::other = nullptr;
    rig.run();
    rig.end();
}

// C-REF-1 here: an actor that is made as any object has no context: nobody's turn; or that of who
// makes it, in its constructor or in a handler, which is not its own. Whoever is spawned after that
// has one.
TEST(actor_context_death_test, C_REF_1_an_actor_that_was_not_spawned) {
    EXPECT_DEATH(eager(), "actor_context:1");
    for (const making when : {making::in_its_constructor, making::in_a_handler}) {
        EXPECT_DEATH(
            {
                world_rig rig;
                rig.spawn<maker>("maker", when).tell(1);
                rig.run();
            },
            "actor_context:2");
    }
    world_rig rig;
    (void)rig.spawn<eager>("eager");
    rig.run();
    EXPECT_TRUE(rig.world.find("/user/eager").valid());
    rig.end();
}

// C-TYP-21, C-TX-17 here: from outside, from another thread while a message is handled and after
// that, from a child; allowed in an adapter's function, which runs in the actor's turn.
TEST(actor_context_death_test, C_TYP_21_C_TX_17_a_foreign_thread) {
    watched_closely* it = nullptr;
    world_rig rig;
    const auto w = rig.spawn<watched_closely>("w", &it);
    EXPECT_TRUE(it == nullptr);
    rig.run();
    EXPECT_DEATH(it->look(), "actor_context:1");
    EXPECT_DEATH(std::thread([&] { it->look(); }).join(), "actor_context:1");
    EXPECT_DEATH(
        {
            w.tell(by_thread{});
            rig.run();
        },
        "actor_context:1");
    EXPECT_DEATH(
        {
            w.tell(by_child{});
            rig.run();
        },
        "actor_context:2");
    w.tell(by_adapter{});
    rig.run();
    EXPECT_EQ(it->handled, 1);
    rig.end();
}
