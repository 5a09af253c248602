// SPDX-License-Identifier: Apache-2.0
//
// DF-9, DF-10, DF-12, DF-42, DF-43. Goal: the table of lives says what an actor does in every state
// at every event.
// Method: every pair is compared with a model of plain fields, which decides as the rules of
// supervision are written; then a cell of random lives follows the model, while its other bits are
// set and cleared.
#include <tactus/actor/cell.hpp>
#include <tactus/actor/lifecycle.hpp>
#include <tactus/base/det_rng.hpp>

#include <cstddef>
#include <cstdint>

#include "portable_test.hpp"

using tactus::cell;
using tactus::det_rng;
using tactus::mailbox_index;
namespace lifecycle = tactus::lifecycle;

namespace {

using lifecycle::action;
using lifecycle::event;
using lifecycle::state;

enum class phase : std::uint8_t { starting, settled, restarting, stopping, ended };

struct naive_life {
    phase at = phase::starting;
    bool failed = false;
    bool instance = false;
    bool had_instance = false;  // of a restart: there was one when it began, and it is destroyed
    bool creating = false;      // of a restart: the new one is being created

    /// What the actor owes; the fields are those of afterwards.
    action apply(event on) noexcept {
        const bool waits = at == phase::restarting && !creating && !had_instance;
        switch (on) {
        case event::created: {
            if (!may_be_created())
                return action::impossible;
            const bool again = at == phase::restarting;
            *this = {.at = phase::settled, .failed = !again && failed, .instance = true};
            return again ? action::finish_restart : action::nothing;
        }
        case event::not_created:
            if (!may_be_created())
                return action::impossible;
            if (at != phase::restarting)
                return action::nothing;
            *this = {.at = phase::settled, .failed = true};
            return action::report_again;
        case event::fails:
            if (failed || at >= phase::stopping)
                return action::drop_suspension;
            failed = true;
            return action::report_failure;
        case event::resume:
            if (!failed || at >= phase::restarting)
                return action::nothing;
            if (!instance)
                return action::restart_instead;
            failed = false;
            return action::forgive;
        case event::restart: {
            if (at >= phase::restarting || (at == phase::starting && !failed))
                return action::nothing;
            const bool own = failed;
            failed = true;
            at = phase::restarting;
            return own ? action::prepare_restart : action::suspend_and_prepare;
        }
        case event::children_gone:
            if ((at == phase::starting && !failed) || at == phase::ended)
                return action::impossible;
            if (at == phase::stopping)
                return instance ? action::run_post_stop : action::close_mailbox;
            return at == phase::restarting && instance ? destroyed() : action::nothing;
        case event::restart_due:
            if (at != phase::restarting || instance)
                return action::impossible;
            creating = true;
            return waits ? action::create : action::recreate;
        case event::stop:
            if (at >= phase::stopping)
                return action::nothing;
            *this = {.at = phase::stopping, .failed = failed || !instance, .instance = instance};
            return action::begin_stop;
        case event::discard:
            return instance ? destroyed() : action::nothing;
        case event::closed:
            if (instance)
                return action::impossible;
            *this = {.at = phase::ended};
            return action::nothing;
        }
        return action::impossible;
    }

    [[nodiscard]] state as_state() const noexcept {
        switch (at) {
        case phase::starting:
        case phase::settled:
            if (instance)
                return failed ? state::failed : state::alive;
            return failed ? state::failed_uncreated : state::starting;
        case phase::restarting:
            if (instance)
                return state::restarting;
            return had_instance || creating ? state::restarting_empty : state::restarting_uncreated;
        case phase::stopping:
            if (instance)
                return failed ? state::stopping_failed : state::stopping;
            return failed ? state::stopping_empty : state::ended;
        case phase::ended:
            break;
        }
        return state::ended;
    }

    static naive_life of(state s) noexcept {
        switch (s) {
        case state::starting:
            return {};
        case state::alive:
            return {.at = phase::settled, .instance = true};
        case state::failed:
            return {.at = phase::settled, .failed = true, .instance = true};
        case state::failed_uncreated:
            return {.failed = true};
        case state::restarting:
            return {.at = phase::restarting, .failed = true, .instance = true};
        case state::restarting_uncreated:
            return {.at = phase::restarting, .failed = true};
        case state::restarting_empty:
            return {.at = phase::restarting, .failed = true, .had_instance = true};
        case state::stopping:
            return {.at = phase::stopping, .instance = true};
        case state::stopping_failed:
            return {.at = phase::stopping, .failed = true, .instance = true};
        case state::stopping_empty:
            return {.at = phase::stopping, .failed = true};
        case state::ended:
            break;
        }
        return {.at = phase::ended};
    }

private:
    [[nodiscard]] bool may_be_created() const noexcept {
        if (at == phase::restarting)
            return !instance && (creating || had_instance);
        return at == phase::starting || (at == phase::settled && failed && !instance);
    }
    action destroyed() noexcept {
        instance = false;
        had_instance = at == phase::restarting;
        if (!had_instance)
            at = failed ? phase::stopping : phase::ended;
        return action::destroy_instance;
    }
};

}  // namespace

TEST(lifecycle, DF_9_every_state_and_event_is_as_the_rules_say) {
    unsigned pairs = 0;
    for (const auto& from : lifecycle::states) {
        for (const auto& on : lifecycle::events) {
            naive_life expected = naive_life::of(from.value);
            EXPECT_TRUE(expected.as_state() == from.value);
            const action owed = expected.apply(on.value);
            const lifecycle::row& found = lifecycle::find(from.value, on.value);
            const bool same = found.from == from.value && found.on == on.value &&
                              found.owed == owed &&
                              (owed == action::impossible || found.to == expected.as_state());
            if (!same) {
                TEST_LOG("the state", from.value);
                TEST_LOG("at the event", on.value);
            }
            EXPECT_TRUE(same);
            if (owed != action::impossible) {
                const lifecycle::step packed = lifecycle::next(from.value, on.value);
                EXPECT_TRUE(packed.to == found.to);
                EXPECT_TRUE(packed.owed == found.owed);
            }
            ++pairs;
        }
    }
    EXPECT_EQ(pairs, 110u);
}

TEST(lifecycle, the_number_of_a_state_says_what_is_true_of_it) {
    for (const auto& s : lifecycle::states) {
        const naive_life same = naive_life::of(s.value);
        EXPECT_EQ(lifecycle::is_failed(s.value), same.failed);
        EXPECT_EQ(lifecycle::has_instance(s.value), same.instance);
        EXPECT_EQ(lifecycle::is_restarting(s.value), same.at == phase::restarting);
        EXPECT_EQ(lifecycle::is_ending(s.value), same.at >= phase::stopping);
    }
}

TEST(lifecycle, a_cell_goes_through_random_lives_and_keeps_its_other_bits) {
    det_rng random(20261119);
    std::uint32_t seen = 0;  // states
    for (unsigned life = 0; life < 200; ++life) {
        cell c(mailbox_index{}, cell::is_named);
        naive_life model;
        std::uint32_t bits = cell::is_named;
        for (unsigned i = 0; i < 40 && model.at != phase::ended; ++i) {
            const std::uint32_t bit = 1U << (random.next_u32() % cell::state_shift);
            if (random.next_bool()) {
                c.set(bit);
                bits |= bit;
            } else {
                c.clear(bit);
                bits &= ~bit;
            }
            const event on = lifecycle::events[random.next_u32() % lifecycle::events.size()].value;
            naive_life next = model;
            if (next.apply(on) == action::impossible)
                continue;
            const action expected = model.apply(on);
            EXPECT_TRUE(c.apply(on) == expected);
            EXPECT_TRUE(c.state() == model.as_state());
            EXPECT_EQ(c.flags() & ((1U << cell::state_shift) - 1), bits);
            seen |= 1U << static_cast<unsigned>(c.state());
            if (model.as_state() == state::ended)
                model.at = phase::ended;
        }
    }
    for (const auto& s : lifecycle::states)
        EXPECT_TRUE((seen & (1U << static_cast<unsigned>(s.value))) != 0);
}
