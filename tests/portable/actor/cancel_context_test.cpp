// SPDX-License-Identifier: Apache-2.0
//
// Goal: who cancels, who is told, and why it was (CH-15).
#include <tactus/actor/cancel_context.hpp>

#include "portable_test.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used

namespace {

unsigned order = 0;

struct note final : cancel_callback {
    void context_cancelled() noexcept override { called = ++order; }
    unsigned called = 0;
};

}  // namespace

// CH-15: the first cause stays, and is what checkpoint says.
TEST(cancel_context, CH_15_the_first_cause_stays) {
    cancel_context c;
    const cancel_token token = c.token();
    EXPECT_FALSE(token.checkpoint().has_value());
    EXPECT_TRUE(c.cancel({cancel_kind::deadline_miss, "too late"}));
    EXPECT_FALSE(c.cancel({cancel_kind::user, "again"}));
    ASSERT_TRUE(token.checkpoint().has_value());
    EXPECT_TRUE(*token.checkpoint() == (cancelled{cancel_kind::deadline_miss, "too late"}));
    // One of no context is never cancelled, nor is a context made of it.
    EXPECT_FALSE(cancel_token().checkpoint().has_value());
    cancel_context alone{cancel_token()};
    EXPECT_FALSE(alone.checkpoint().has_value());
    EXPECT_TRUE(alone.cancel({}));
    EXPECT_TRUE(alone.checkpoint().has_value());
}

// CH-15: children inherit, at once and when they are made later; parents and siblings do not.
TEST(cancel_context, CH_15_children_inherit) {
    cancel_context root;
    cancel_context child(root.token());
    cancel_context sibling(root.token());
    cancel_context grandchild(child.token());
    EXPECT_TRUE(child.cancel({cancel_kind::user, "enough"}));
    EXPECT_TRUE(grandchild.checkpoint() == (cancelled{cancel_kind::parent, "enough"}));
    EXPECT_FALSE(root.checkpoint().has_value());
    EXPECT_FALSE(sibling.checkpoint().has_value());
    const cancel_context late(child.token());
    EXPECT_TRUE(late.checkpoint() == (cancelled{cancel_kind::parent, "enough"}));
    EXPECT_TRUE(root.cancel({cancel_kind::shutdown, "end"}));
    EXPECT_TRUE(sibling.checkpoint() == (cancelled{cancel_kind::parent, "end"}));
    EXPECT_TRUE(child.checkpoint() == (cancelled{cancel_kind::user, "enough"}));
    EXPECT_TRUE(grandchild.checkpoint() == (cancelled{cancel_kind::parent, "enough"}));
}

// A child may go before its parent is cancelled.
TEST(cancel_context, a_child_that_has_gone_is_not_told) {
    cancel_context root;
    {
        cancel_context child(root.token());
        cancel_context grandchild(child.token());
        EXPECT_FALSE(grandchild.checkpoint().has_value());
    }
    cancel_context other(root.token());
    EXPECT_TRUE(root.cancel({}));
    EXPECT_TRUE(other.checkpoint().has_value());
}

// CH-15: each callback once, parents' before children's, in the order they came.
TEST(cancel_context, CH_15_callbacks_run_once_and_in_order) {
    order = 0;
    cancel_context root;
    cancel_context child(root.token());
    note of_child;
    note first;
    note second;
    note stopped;
    EXPECT_TRUE(child.watch(of_child));
    EXPECT_TRUE(root.watch(first));
    EXPECT_TRUE(root.watch(stopped));
    EXPECT_TRUE(root.watch(second));
    EXPECT_TRUE(root.unwatch(stopped));
    EXPECT_TRUE(root.cancel({}));
    EXPECT_EQ(first.called, 1u);
    EXPECT_EQ(second.called, 2u);
    EXPECT_EQ(of_child.called, 3u);
    EXPECT_EQ(stopped.called, 0u);
    EXPECT_FALSE(root.unwatch(first));  // it was called
    note late;
    EXPECT_FALSE(root.watch(late));
    EXPECT_EQ(late.called, 0u);
}

// CH-10: a callback may use the context it was called by: no lock is held.
TEST(cancel_context, CH_10_callbacks_run_under_no_lock) {
    struct curious final : cancel_callback {
        void context_cancelled() noexcept override {
            seen = of->checkpoint().has_value();
            again = of->cancel({});
        }
        cancel_context* of = nullptr;
        bool seen = false;
        bool again = true;
    } c;
    cancel_context root;
    c.of = &root;
    EXPECT_TRUE(root.watch(c));
    EXPECT_TRUE(root.cancel({}));
    EXPECT_TRUE(c.seen);
    EXPECT_FALSE(c.again);
}

TEST(cancel_context, every_kind_has_a_name_of_its_own) {
    for (std::size_t i = 0; i < cancel_kind_count; ++i) {
        for (std::size_t k = 0; k < i; ++k)
            EXPECT_NE(name_of(static_cast<cancel_kind>(i)), name_of(static_cast<cancel_kind>(k)));
    }
}
