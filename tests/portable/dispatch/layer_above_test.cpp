// SPDX-License-Identifier: Apache-2.0
//
// Goal: what the kernel does for the layer above: a first run, envelopes that a handler keeps,
// slots that stay, messages in envelopes of their own.
#include "kernel_rig.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using tactus_test::journal;
using tactus_test::kernel_rig;
using tactus_test::number;

namespace {

constexpr std::int32_t began = 60'000;
envelope* kept = nullptr;
bool fails_to_begin = false;

const behaviour& keeping() {
    static constexpr behaviour table{
        .receive = [](turn& t, void*, envelope& e) noexcept -> handled {
            const number* n = e.get_if<number>();
            journal().add(static_cast<std::int32_t>(n->value));
            if (n->value == 1) {
                kept = &e;
                t.keep();
                return handled::kept();
            }
            if (n->value == 2) {
                kept = &e;
                t.keep();
                return handled::failed({"two"});
            }
            if (n->value == 3)
                t.stop();
            return handled::ok();
        },
        .destroy = [](slot&) noexcept { journal().add(tactus_test::ended); },
        .start = [](turn& t, void*) noexcept -> handled {
            EXPECT_TRUE(turn::current() == &t);
            journal().add(began);
            return fails_to_begin ? handled::failed({"no"}) : handled::ok();
        },
        .keeps_slot = true,
    };
    return table;
}

struct above_rig : kernel_rig {
    above_rig() {
        who = *kernel->spawn_as(keeping(), {}, [](slot& s) { s.set_extras(&kept); });
    }
    mailbox_index who;
};

}  // namespace

// The first run comes without a message, once, and before every message.
TEST(layer_above, a_first_run_begins) {
    fails_to_begin = false;
    above_rig rig;
    EXPECT_TRUE(journal().is({}));
    rig.tell(rig.who, {5});
    rig.run();
    EXPECT_TRUE(journal().is({began, 5}));
    rig.tell(rig.who, {6});
    rig.run();
    EXPECT_TRUE(journal().is({6}));
    EXPECT_TRUE(turn::current() == nullptr);
}

// IN-6: who fails to begin is held back as any that failed.
TEST(layer_above, who_fails_to_begin_is_held_back) {
    fails_to_begin = true;
    above_rig rig;
    rig.tell(rig.who, {5});
    rig.run();
    EXPECT_TRUE(journal().is({began, tactus_test::failed}));
    (void)rig->resume(rig.who, suspension::supervision);
    rig.run();
    EXPECT_TRUE(journal().is({5}));
    fails_to_begin = false;
}

// An envelope that a handler keeps is not disposed of, be the handler well or failed.
TEST(layer_above, an_envelope_that_is_kept_stays_as_it_is) {
    above_rig rig;
    rig.run();
    journal().clear();
    rig.tell(rig.who, {1, 5});
    rig.run();
    EXPECT_TRUE(journal().is({1, 5}));
    EXPECT_EQ(kept->get_if<number>()->value, 1u);
    rig->dispose_kept(*kept);
    rig.tell(rig.who, {2});
    rig.run();
    EXPECT_TRUE(journal().is({2, tactus_test::failed}));
    EXPECT_EQ(kept->get_if<number>()->value, 2u);
    rig->dispose_kept(*kept);
}

// A slot that is kept is nobody else's until it is given back.
TEST(layer_above, a_slot_that_is_kept_is_not_used_again) {
    above_rig rig;
    rig.run();
    journal().clear();
    slot& place = rig.at(rig.who);
    rig.tell(rig.who, {3});
    rig.run();
    EXPECT_TRUE(journal().is({3, tactus_test::ended, tactus_test::closed}));
    EXPECT_TRUE(place.extras() == &kept);
    EXPECT_EQ(rig->live_count(), 0u);
    const auto next = rig.kernel->spawn_as(keeping(), {}, [](slot&) {});
    EXPECT_NE(next->slot_number(), rig.who.slot_number());
    rig->release(place);
    bool again = false;
    for (unsigned i = 0; i < tactus_test::kernel_slots && !again; ++i) {
        const auto other = rig.kernel->spawn_as(keeping(), {}, [](slot&) {});
        again = other.has_value() && other->slot_number() == rig.who.slot_number();
    }
    EXPECT_TRUE(again);
}

// A message in an envelope of its own; null when there is none.
TEST(layer_above, messages_are_wrapped_for_who_handles_them_itself) {
    above_rig rig;
    rig.run();
    envelope* e = rig->wrap(rig.who, number{9}, rig.who);
    EXPECT_TRUE(e != nullptr);
    EXPECT_EQ(e->get_if<number>()->value, 9u);
    EXPECT_TRUE(e->sender.read() == rig.who);
    EXPECT_EQ(e->generation(), rig.who.generation);
    rig->dispose_kept(*e);
    unsigned taken = 0;
    static envelope* all[tactus_test::kernel_envelopes] = {};
    while (envelope* one = rig->wrap(rig.who, number{1}))
        all[taken++] = one;
    EXPECT_TRUE(taken > 0);
    while (taken > 0)
        rig->dispose_kept(*all[--taken]);
}
