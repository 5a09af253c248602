// SPDX-License-Identifier: Apache-2.0
//
// Goal: arguments that no constructor of the actor takes are refused where they are given, in a
// line that names their types (DF-39). BY says by which function; without one it compiles.
#include <tactus/runtime/actor_system.hpp>
#include <tactus/test_kit/actor_under_test.hpp>
#include <tactus/test_kit/behavior_kit.hpp>
#include <tactus/test_kit/kit.hpp>
#include <tactus/test_kit/system_kit.hpp>

#define system 1
#define system_by_options 2
#define system_anonymous 3
#define context 4
#define context_by_options 5
#define context_anonymous 6
#define kit 7
#define kit_under_test 8
#define system_kit 9
#define behavior_kit 10
#define nothing 11

#if !defined(BY)
#define BY 0
#endif
enum { by = BY };
#if BY == nothing
#define WITHOUT_ARGUMENTS
#endif
#undef system
#undef context
#undef kit
#undef system_kit
#undef behavior_kit

struct deposit {
    int amount;
};

class account : public tactus::actor<deposit> {
public:
    account(const char* owner, int balance) : owner_(owner), balance_(balance) {}
    void on(const deposit& m) { balance_ += m.amount; }

private:
    const char* owner_;
    int balance_;
};

// What `by` refuses is in a branch of its own; the other branches are not instantiated.
template <int By>
auto balance() {
    if constexpr (By != 0)
        return "much";
    else
        return 100;
}

// The name that compilers show for the lines below.
#line 1 "the_line_that_spawns"
class bank : public tactus::actor<deposit> {
public:
    void on(const deposit&) {
        (void)context().spawn<account>("a", "ann", balance<by == 4>());
        (void)context().try_spawn<account>("a", {}, "ann", balance<by == 5>());
        (void)context().spawn_anonymous<account>("ann", balance<by == 6>());
    }
};

void spawn_all(tactus::actor_system& in, tactus::test::kit& beside,
               tactus::test::system_kit& threads) {
    (void)in.spawn<account>("a", "ann", balance<by == 1>());
    (void)in.try_spawn<account>("a", {}, "ann", balance<by == 2>());
    (void)in.spawn_anonymous<account>("ann", balance<by == 3>());
    (void)in.spawn<bank>("bank");
    (void)beside.spawn<account>("a", "ann", balance<by == 7>());
    (void)beside.spawn_under_test<account>("a", "ann", balance<by == 8>());
    (void)threads.spawn<account>("a", "ann", balance<by == 9>());
    (void)tactus::test::behavior_kit_of<account>("ann", balance<by == 10>());
#if defined(WITHOUT_ARGUMENTS)
    (void)in.spawn<account>("a");
#endif
}
