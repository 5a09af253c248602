// SPDX-License-Identifier: Apache-2.0
//
// Goal: what moving the message of a watch throws is the cause of the watcher's failure (DF-48).
#include <tactus/actor/actor.hpp>

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <utility>

#include "world_rig.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using tactus_test::world_rig;

namespace {

/// Throws when it is moved for the n-th time; 0: never.
struct bulky {
    static inline int moves_left = 0;
    bulky() = default;
    bulky(const bulky&) { moved(); }
    bulky(bulky&&) { moved(); }  // NOLINT(*noexcept-move*): that is what is tested
    bulky& operator=(const bulky&) = default;
    bulky& operator=(bulky&&) = default;
    ~bulky() = default;
    static void moved() {
        if (moves_left != 0 && --moves_left == 0)
            throw std::runtime_error("too bulky");
    }
};

std::string outcome;

class watcher : public actor<any_ref, bulky> {
public:
    void on(any_ref who) {
        bulky message;
        context().watch_with(who, std::move(message));
    }
    void on(const bulky&) { outcome += "told"; }
    void post_restart(const failure_cause& why) {
        outcome += std::string(name_of(why.kind())) + ": " + std::string(why.text());
        if (!why.is<std::runtime_error>())
            outcome += ", of another type";
    }
};
class watched : public actor<int> {
public:
    void on(int) {}
};

}  // namespace

TEST(watch_with_throwing, DF_48_the_exception_is_the_cause) {
    int failures = 0;
    for (int moves = 1; moves < 8; ++moves) {
        SCOPED_TRACE(moves);
        outcome.clear();
        world_rig rig;
        const auto v = rig.spawn<watched>("v");
        const auto w = rig.spawn<watcher>("w");
        bulky::moves_left = moves;
        w.tell(v.any());
        rig.run();
        EXPECT_TRUE(rig.world.stop(v.index()));
        rig.run();
        const bool has_thrown = bulky::moves_left == 0;
        bulky::moves_left = 0;
        failures += has_thrown ? 1 : 0;
        EXPECT_EQ(outcome, has_thrown ? "exception: too bulky" : "told");
        rig.end();
    }
    // To the argument, to what is kept, to the envelope.
    EXPECT_EQ(failures, 3);
}
