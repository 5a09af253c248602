// SPDX-License-Identifier: Apache-2.0
//
// ME-7. Goal: table, bit code and engine say the same.
// Method: every (state, event) pair is reached and compared at run time; then random sequences of
// events against a model with plain fields.
#include <tactus/base/det_rng.hpp>
#include <tactus/mailbox/state_engine.hpp>
#include <tactus/mailbox/state_table.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "naive_mailbox.hpp"
#include "portable_test.hpp"

using tactus::det_rng;
using tactus::mailbox_event;
using tactus::mailbox_owed;
using tactus::mailbox_state;
using tactus::schedule_hint;
using tactus::state_engine;
using tactus::suspension;
using tactus_test::naive_state;
namespace state_word = tactus::state_word;

namespace {

constexpr suspension kinds[] = {suspension::supervision, suspension::await};

bool is_suspended(mailbox_state s) {
    return s == mailbox_state::suspended || s == mailbox_state::suspended_scheduled;
}
bool is_owned(mailbox_state s) {
    return s == mailbox_state::scheduled || s == mailbox_state::suspended_scheduled ||
           s == mailbox_state::closing;
}

/// Brings a fresh engine into a state, with so many suspensions where the state has them.
void reach(state_engine& engine, mailbox_state wanted, suspension why, unsigned suspensions) {
    if (is_suspended(wanted) || wanted == mailbox_state::closing) {
        for (unsigned i = 0; i < suspensions; ++i)
            (void)engine.suspend(why);
    }
    if (is_owned(wanted)) {
        EXPECT_TRUE(engine.request_schedule(schedule_hint::system));
    }
    if (wanted == mailbox_state::closing || wanted == mailbox_state::closed)
        (void)engine.request_close();
    if (wanted == mailbox_state::closed)
        engine.finish_close();
    EXPECT_EQ(engine.state(), wanted);
}

/// Applies an event to the engine; false when its contract does not allow it there.
bool apply(state_engine& engine, mailbox_event on, suspension why, mailbox_owed& owed) {
    const mailbox_state from = engine.state();
    const auto either = [](bool yes, mailbox_owed then) {
        return yes ? then : mailbox_owed::nothing;
    };
    switch (on) {
    case mailbox_event::user_work:
        owed = either(engine.request_schedule(schedule_hint::user), mailbox_owed::submit);
        return true;
    case mailbox_event::system_work:
        owed = either(engine.request_schedule(schedule_hint::system), mailbox_owed::submit);
        return true;
    case mailbox_event::suspend:
        owed = either(engine.suspend(why), mailbox_owed::changed);
        return true;
    case mailbox_event::resume_one:
    case mailbox_event::resume_last:
        owed = either(engine.resume(why), mailbox_owed::changed);
        return true;
    case mailbox_event::run_ended:
        if (!is_owned(from))
            return false;  // check state_engine:2
        owed = engine.run_ended();
        return true;
    case mailbox_event::request_close:
        owed = engine.request_close();
        return true;
    case mailbox_event::finish_close:
        if (from != mailbox_state::closing)
            return false;  // check state_engine:3
        engine.finish_close();
        owed = mailbox_owed::finished;
        return true;
    }
    return false;
}

state_word::step bit_code(std::uint32_t word, mailbox_event on, suspension why) {
    switch (on) {
    case mailbox_event::user_work:
        return state_word::user_work(word);
    case mailbox_event::system_work:
        return state_word::system_work(word);
    case mailbox_event::suspend:
        return state_word::suspend(word, why);
    case mailbox_event::resume_one:
    case mailbox_event::resume_last:
        return state_word::resume(word, why);
    case mailbox_event::run_ended:
        return state_word::run_ended(word);
    case mailbox_event::request_close:
        return state_word::request_close(word);
    case mailbox_event::finish_close:
        return state_word::finish_close(word);
    }
    return {};
}

}  // namespace

// ME-7
TEST(state_table, ME_7_every_pair_of_state_and_event_does_what_its_row_says) {
    unsigned pairs = 0;
    unsigned through_engine = 0;
    for (std::size_t s = 0; s < tactus::mailbox_state_count; ++s) {
        for (std::size_t e = 0; e < tactus::mailbox_event_count; ++e) {
            const auto from = static_cast<mailbox_state>(s);
            const auto on = static_cast<mailbox_event>(e);
            const tactus::mailbox_row* row = tactus::find_row(from, on);
            const bool open_unsuspended =
                from == mailbox_state::idle || from == mailbox_state::scheduled;
            if (on == mailbox_event::resume_one && open_unsuspended) {
                EXPECT_TRUE(row == nullptr);  // there is no reason to lose one of
                continue;
            }
            ASSERT_TRUE(row != nullptr);
            ++pairs;
            for (const suspension why : kinds) {
                state_engine engine;
                reach(engine, from, why, on == mailbox_event::resume_last ? 1 : 2);
                const state_word::step done = bit_code(engine.word(), on, why);
                EXPECT_EQ(state_word::state_of(done.word), row->to);
                EXPECT_EQ(done.owed, row->owed);
                mailbox_owed owed = mailbox_owed::nothing;
                if (!apply(engine, on, why, owed))
                    continue;
                ++through_engine;
                EXPECT_EQ(owed, row->owed);
                EXPECT_EQ(engine.state(), row->to);
            }
        }
    }
    EXPECT_EQ(pairs, 46u);
    EXPECT_EQ(pairs, tactus::mailbox_rows.size());
    // All but run_ended in three states and finish_close in five.
    EXPECT_EQ(through_engine, 2u * (46u - 8u));
}

// ME-7: what people read is complete and without doubles.
TEST(state_table, ME_7_states_events_and_dues_have_different_names) {
    const auto differ = [](auto count, auto name) {
        for (std::size_t i = 0; i < count; ++i) {
            EXPECT_FALSE(std::string_view(name(i)).empty());
            for (std::size_t j = 0; j < i; ++j)
                EXPECT_TRUE(std::string_view(name(i)) != std::string_view(name(j)));
        }
    };
    differ(tactus::mailbox_state_count,
           [](std::size_t i) { return tactus::name_of(static_cast<mailbox_state>(i)); });
    differ(tactus::mailbox_event_count,
           [](std::size_t i) { return tactus::name_of(static_cast<mailbox_event>(i)); });
    differ(std::size_t{6},
           [](std::size_t i) { return tactus::name_of(static_cast<mailbox_owed>(i)); });
    EXPECT_TRUE(std::string_view(tactus::name_of(mailbox_state::suspended_scheduled)) ==
                "suspended_scheduled");
    EXPECT_TRUE(std::string_view(tactus::name_of(mailbox_event::finish_close)) == "finish_close");
    EXPECT_TRUE(std::string_view(tactus::name_of(mailbox_owed::finished)) == "finished");
}

// ME-1, ME-2, ME-6, ME-7: random events; the model has plain fields and no bits.
TEST(state_table, ME_7_random_events_agree_with_a_model_of_plain_fields) {
    const std::uint64_t seed = 0x5eed'0007;
    TEST_LOG("state_table: seed", seed);
    det_rng rng(seed);
    constexpr unsigned operations = tactus_test::board::random_operations;
    state_engine engine;
    naive_state model;
    bool ended = false;  // a closing runner ends its run once
    unsigned lives = 0;
    for (unsigned n = 0; n < operations; ++n) {
        const suspension why = kinds[rng.below(2)];
        mailbox_owed got = mailbox_owed::nothing;
        mailbox_owed expected = mailbox_owed::nothing;
        // Closing is rare, so that there is time for the rest.
        const std::uint64_t drawn = rng.below(64);
        const auto on = drawn < 60                    ? static_cast<mailbox_event>(drawn % 6)
                        : drawn < 61 || model.closing ? mailbox_event::finish_close
                                                      : mailbox_event::request_close;
        switch (on) {
        case mailbox_event::user_work:
            expected = model.user_work();
            break;
        case mailbox_event::system_work:
            expected = model.system_work();
            break;
        case mailbox_event::suspend:
            expected = model.suspend(why);
            break;
        case mailbox_event::resume_one:
        case mailbox_event::resume_last:
            expected = model.resume(why);
            break;
        case mailbox_event::run_ended:
            if (!model.scheduled || ended)
                continue;
            ended = model.closing;
            expected = model.run_ended();
            break;
        case mailbox_event::request_close:
            expected = model.request_close();
            ended = expected == mailbox_owed::finalize;  // the caller is elected instead
            break;
        case mailbox_event::finish_close:
            if (model.closed && rng.below(4) == 0) {
                engine.open(false);
                model = {};
                ended = false;
                ++lives;
            }
            if (!model.closing || !ended)
                continue;
            model.finish_close();
            expected = mailbox_owed::finished;
            break;
        }
        ASSERT_TRUE(apply(engine, on, why, got));
        ASSERT_EQ(got, expected);
        ASSERT_EQ(engine.state(), model.state());
        ASSERT_EQ(engine.should_process(), model.should_process());
        ASSERT_EQ(engine.suspend_count(suspension::supervision), model.suspensions[0]);
        ASSERT_EQ(engine.suspend_count(suspension::await), model.suspensions[1]);
    }
    EXPECT_GT(lives, 2u);
}
