// SPDX-License-Identifier: Apache-2.0
//
// Actor under test: an actor of a kit whose instance the test can see (C-TST-6).
//
//     auto counted = kit.spawn_under_test<counter>("counter");
//     counted.tell(add{2});                     // handled before tell returns
//     EXPECT_EQ(counted.underlying().total(), 2);
//     EXPECT_THROW(counted.receive(add{-1}), std::invalid_argument);
//
// What a handler throws reaches the test from receive(), after the supervisor has decided: with the
// default strategy the instance seen then is a new one.
#pragma once

#include <new>
#include <string>
#include <utility>

#include <tactus/test_kit/kit.hpp>

namespace tactus::inline v0::test {

template <class A>
class actor_under_test {
public:
    using reference = tactus::detail::ref_of<A>;

    actor_under_test(kit& in, reference who) : in_(in), who_(who) { in_.run_until_idle(); }

    [[nodiscard]] reference ref() const noexcept { return who_; }
    [[nodiscard]] bool is_alive() const noexcept { return in_.is_alive(who_); }
    /// Handled when this returns, with everything that comes of it now.
    template <class M>
    void tell(M&& message, any_ref sender = {},
              std::source_location where = std::source_location::current()) {
        who_.any().tell(std::forward<M>(message), sender);
        in_.run_until_idle(where);
    }
    /// As tell; what the handler threw is thrown. A failure that is none: actor_failure.
    template <class M>
    void receive(M&& message, any_ref sender = {},
                 std::source_location where = std::source_location::current()) {
        (void)in_.inside().take_failure(who_);
        tell(std::forward<M>(message), sender, where);
        in_.inside().rethrow_failure(who_);
    }
    /// The instance there is now. Requires: it is alive, which is expected.
    [[nodiscard]] A& underlying(
        std::source_location where = std::source_location::current()) const {
        slot* place = in_.world().kernel().slots().find(who_.index());
        if (place == nullptr || !cell::of(*place).has_instance())
            fail("the actor under test has no instance: it has ended, or did not begin" +
                     in_.take_recent_failures(),
                 where);
        return *std::launder(static_cast<A*>(actor_world::instance_of(*place)));
    }
    A* operator->() const { return &underlying(); }

private:
    kit& in_;
    reference who_;
};

}  // namespace tactus::inline v0::test
