// SPDX-License-Identifier: Apache-2.0
//
// Goal: a placement says what was asked for, is a constant where its parts are, and gives back the
// type it was called on (DR-4).
#include <tactus/dispatch/placement.hpp>

#include <string_view>
#include <type_traits>
#include <utility>

#include "portable_test.hpp"

using tactus::capability;
using tactus::overflow;
using tactus::spawn_choice;

namespace {

constexpr spawn_choice base = spawn_choice().with_dispatcher("x").with_priority(200);
constexpr spawn_choice built =
    base.with_mailbox("y").with_capacity(100).with_overflow(overflow::drop_oldest);
static_assert(built.where().dispatcher == "x" && built.where().mailbox == "y");
static_assert(built.where().capacity == 100 && built.where().priority == 200);
static_assert(built.where().when_full == overflow::drop_oldest);
static_assert(base.where().mailbox.empty() && !base.where().capacity);

/// As props are: they carry something that cannot be copied.
class move_only_props : public tactus::placement_builder<move_only_props> {
public:
    explicit move_only_props(int argument) noexcept : argument_(argument) {}
    move_only_props(move_only_props&&) noexcept = default;
    [[nodiscard]] int argument() const noexcept { return argument_; }

private:
    int argument_;
};

}  // namespace

// DR-4
TEST(placement, what_inherits_the_builder_keeps_its_type) {
    const auto props = move_only_props(42).with_dispatcher("x").with_mailbox("y").with_capacity(1);
    static_assert(std::is_same_v<decltype(props), const move_only_props>);
    EXPECT_EQ(props.argument(), 42);
    EXPECT_TRUE(props.where().mailbox == "y");
}

// DR-4
TEST(placement, the_last_word_counts) {
    const auto named = spawn_choice().with_mailbox({.capacity = 3}).with_mailbox("y");
    EXPECT_TRUE(named.where().mailbox == "y");
    EXPECT_FALSE(named.where().own_mailbox.has_value());
    const auto own = named.with_mailbox({.capacity = 3});
    EXPECT_TRUE(own.where().mailbox.empty());
    EXPECT_EQ(own.where().own_mailbox->capacity, 3u);
    EXPECT_TRUE(named.where().mailbox == "y");
}

// MB-4: requirements add up.
TEST(placement, requirements_add_up) {
    const auto choice =
        spawn_choice().with_requirement(capability::deque).with_requirement(capability::bounded);
    EXPECT_TRUE(choice.where().requirement == (capability::deque | capability::bounded));
    EXPECT_EQ(choice.where().priority, 128u);
}
