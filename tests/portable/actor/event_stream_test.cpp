// SPDX-License-Identifier: Apache-2.0
//
// Goal: who is told which event, and as what (EV-1). Method: the cases of the conformance list that
// need no actor system; where one speaks of watching, "watched" is what event_stream::knows says.
#include <tactus/actor/event_stream.hpp>

#include "event_rig.hpp"

using namespace tactus_test;  // NOLINT: the whole vocabulary is used

namespace {

static_assert(tactus::event<int> && !tactus::event<const int>);
struct only_moved {
    only_moved(only_moved&&) noexcept = default;
};
static_assert(tactus::message<only_moved> && !tactus::event<only_moved>);

/// A base met on two ways is one channel, as near as on the shorter.
struct root {};
struct left : root {
    using event_bases = tactus::bases<root>;
};
struct lower_left : left {
    using event_bases = tactus::bases<left, root>;
};
static_assert(tactus::event_type_of<lower_left>.channels.size() == 3);
static_assert(tactus::event_type_of<lower_left>.channels[2].type == &tactus::message_type_of<root>);

}  // namespace

// EV-1: itself first, then what it declares, then what that declares.
TEST(event_type, EV_1_channels_nearest_first) {
    const auto& c = tactus::event_type_of<event_c>;
    ASSERT_EQ(c.channels.size(), 3u);
    EXPECT_TRUE(c.channels[0].type == &tactus::message_type_of<event_c>);
    EXPECT_TRUE(c.channels[1].type == &tactus::message_type_of<event_b2>);
    EXPECT_TRUE(c.channels[2].type == &tactus::message_type_of<event_a>);
    EXPECT_TRUE(c.is_a(tactus::event_type_of<event_a>));
    EXPECT_FALSE(tactus::event_type_of<event_a>.is_a(c));
    EXPECT_EQ(tactus::event_type_of<event_ccatbt>.channels.size(), 4u);
}

// C-EVT-2: a reference that names nothing is not taken, nor is anything found for it.
TEST(event_stream, C_EVT_2_nobody_cannot_subscribe) {
    event_rig r;
    EXPECT_TRUE(r.stream.subscribe<event_a>({}) == false);
    EXPECT_TRUE(r.stream.unsubscribe<event_a>({}) == false);
    EXPECT_FALSE(r.stream.unsubscribe({}));
    EXPECT_FALSE(r.stream.knows({}));
    EXPECT_TRUE(r.stream.is_empty());
}

// C-EVT-5: subscriptions by subtype, by supertype, and with a subtype taken out (PK-EVT-3).
TEST(event_stream, C_EVT_5_classes) {
    event_rig r;
    EXPECT_TRUE(r.subscribe(1, is_b3));
    r.publish({is_c, is_b3});
    EXPECT_TRUE(journal().is({told(1, is_b3, 2)}));
    EXPECT_TRUE(r.subscribe(1, is_a));
    r.publish({is_c, is_b2});
    EXPECT_TRUE(journal().is({told(1, is_a, 1), told(1, is_a, 2)}));
    EXPECT_TRUE(r.unsubscribe(1, is_b2));
    r.publish({is_c, is_b3, is_a});
    EXPECT_TRUE(journal().is({told(1, is_b3, 2), told(1, is_a, 3)}));
}

// C-EVT-6
TEST(event_stream, C_EVT_6_several_bases) {
    event_rig r;
    const tactus::mailbox_index fourth = r.kernel.spawn<listener>(4);
    EXPECT_TRUE(r.subscribe(1, is_at));
    EXPECT_TRUE(r.subscribe(2, is_bt));
    EXPECT_TRUE(r.subscribe(3, is_cc));
    EXPECT_TRUE(r.stream.subscribe<event_ccatbt>(fourth) == true);
    r.publish({is_cc, is_ccatbt});
    // By listener: the kernel runs one after the other.
    EXPECT_EQ(journal().count(), 5u);
    EXPECT_TRUE(journal().is({told(3, is_cc, 1), told(3, is_cc, 2), told(1, is_at, 2),
                              told(2, is_bt, 2), told(4, is_ccatbt, 2)}));
}

// C-EVT-7
TEST(event_stream, C_EVT_7_unsubscribed_from_one_or_from_all) {
    event_rig r;
    EXPECT_TRUE(r.subscribe(1, is_at));
    EXPECT_TRUE(r.subscribe(3, is_cc));
    EXPECT_TRUE(r.unsubscribe(3, is_cc));
    r.publish({is_cc, is_ccatbt});
    EXPECT_TRUE(journal().is({told(1, is_at, 2)}));
    EXPECT_TRUE(r.subscribe(3, is_cc));
    EXPECT_TRUE(r.subscribe(3, is_bt));
    EXPECT_TRUE(r.unsubscribe(3));
    EXPECT_FALSE(r.unsubscribe(3));
    r.publish({is_cc, is_ccatbt});
    EXPECT_TRUE(journal().is({told(1, is_at, 2)}));
}

// C-EVT-8
TEST(event_stream, C_EVT_8_an_event_of_no_subscribed_base_reaches_nobody) {
    event_rig r;
    EXPECT_TRUE(r.subscribe(1, is_at));
    EXPECT_TRUE(r.subscribe(2, is_bt));
    r.publish({is_cc, is_a});
    EXPECT_TRUE(journal().is({}));
}

// C-EVT-9: what comes on two ways is cut off on one only.
TEST(event_stream, C_EVT_9_unsubscribing_one_way_leaves_the_other) {
    event_rig r;
    EXPECT_TRUE(r.subscribe(1, is_at));
    EXPECT_TRUE(r.subscribe(2, is_bt));
    EXPECT_TRUE(r.subscribe(2, is_cc));
    EXPECT_TRUE(r.subscribe(3, is_cc));
    EXPECT_TRUE(r.unsubscribe(2, is_cc));
    EXPECT_TRUE(r.unsubscribe(3, is_ccatbt));
    r.publish({is_cc, is_ccatbt});
    EXPECT_TRUE(journal().is({told(3, is_cc, 1), told(1, is_at, 2), told(2, is_bt, 2)}));
}

// C-EVT-10: a subscription counts for types that were published before it.
TEST(event_stream, C_EVT_10_published_first_subscribed_later) {
    event_rig r;
    EXPECT_TRUE(r.subscribe(1, is_cc));
    r.publish({is_ccatbt});
    EXPECT_TRUE(journal().is({told(1, is_cc, 1)}));
    EXPECT_TRUE(r.subscribe(2, is_bt));
    r.publish({is_ccatbt});
    EXPECT_TRUE(journal().is({told(1, is_cc, 1), told(2, is_bt, 1)}));
}

// C-EVT-12: an actor that has ended can subscribe, and is forgotten: then it can again. C-EVT-13
// here: nobody has to be started who forgets them; forgetting twice changes nothing.
TEST(event_stream, C_EVT_12_who_has_ended_is_forgotten) {
    event_rig r;
    EXPECT_TRUE(r.kernel->stop(r.who[0]));
    r.kernel.run();
    EXPECT_TRUE(r.subscribe(1, is_a));
    r.stream.forget(r.who[0]);
    EXPECT_FALSE(r.stream.knows(r.who[0]));
    EXPECT_TRUE(r.subscribe(1, is_a));
    r.stream.forget(r.who[0]);
    r.stream.forget(r.who[0]);
    EXPECT_TRUE(r.stream.is_empty());
    // Who lives in its place since is somebody else.
    EXPECT_TRUE(r.subscribe(1, is_a));
    const auto next = r.who[0].with_generation(r.who[0].generation + 1);
    EXPECT_FALSE(r.stream.knows(next));
    EXPECT_TRUE(r.stream.subscribe<event_a>(next) == true);
    EXPECT_TRUE(r.stream.subscribe<event_a>(next) == false);
    r.stream.forget(r.who[0]);
    EXPECT_TRUE(r.stream.knows(next));
    r.stream.forget(next);
    EXPECT_TRUE(r.stream.is_empty());
}

// C-EVT-14, C-EVT-15: known exactly while there is a subscription.
TEST(event_stream, C_EVT_14_15_known_while_subscribed) {
    event_rig r;
    EXPECT_FALSE(r.stream.knows(r.who[0]));
    EXPECT_TRUE(r.subscribe(1, is_a));
    EXPECT_TRUE(r.subscribe(1, is_cc));
    EXPECT_TRUE(r.subscribe(2, is_a));
    EXPECT_TRUE(r.stream.knows(r.who[0]));
    EXPECT_TRUE(r.unsubscribe(1, is_a));
    EXPECT_TRUE(r.stream.knows(r.who[0]));
    EXPECT_TRUE(r.unsubscribe(1, is_cc));
    EXPECT_FALSE(r.stream.knows(r.who[0]));
    EXPECT_FALSE(r.unsubscribe(1, is_cc));
    EXPECT_TRUE(r.stream.knows(r.who[1]));
    // What was taken out goes with the subscription.
    EXPECT_TRUE(r.unsubscribe(2, is_c));
    EXPECT_TRUE(r.unsubscribe(2, is_a));
    EXPECT_FALSE(r.stream.knows(r.who[1]));
    EXPECT_TRUE(r.stream.is_empty());
}

// PK-EVT-2, PK-EVT-3: true exactly when something changed.
TEST(event_stream, PK_EVT_2_3_results_say_whether_something_changed) {
    event_rig r;
    EXPECT_TRUE(r.subscribe(1, is_a));
    EXPECT_FALSE(r.subscribe(1, is_a));
    EXPECT_FALSE(r.unsubscribe(1, is_cc));
    EXPECT_TRUE(r.unsubscribe(1, is_c));
    EXPECT_FALSE(r.unsubscribe(1, is_c));
    EXPECT_TRUE(r.unsubscribe(1, is_b2));  // and b2 itself
    EXPECT_FALSE(r.unsubscribe(1, is_c));  // a part of it
    EXPECT_TRUE(r.subscribe(1, is_a));     // whole again
    r.publish({is_c, is_b2, is_b3});
    EXPECT_TRUE(journal().is({told(1, is_a, 1), told(1, is_a, 2), told(1, is_a, 3)}));
    EXPECT_TRUE(r.subscribe(1, is_c));    // nearer than a
    EXPECT_TRUE(r.unsubscribe(1, is_a));  // and all below
    EXPECT_TRUE(r.stream.is_empty());
}

// PK-EVT-1: once, however many channels match, and as the nearest of them.
TEST(event_stream, PK_EVT_1_told_once_as_the_nearest) {
    event_rig r;
    for (const family f : {is_a, is_b2, is_bt, is_cc})
        EXPECT_TRUE(r.subscribe(1, f));
    r.publish({is_c, is_b3, is_ccatbt});
    EXPECT_TRUE(journal().is({told(1, is_b2, 1), told(1, is_a, 2), told(1, is_cc, 3)}));
}

// PK-EVT-4: each is told on the publishing thread, in the order they came to be subscribers, also
// when they are more than one look at the list finds.
TEST(event_stream, PK_EVT_4_many_are_told_in_order) {
    event_rig r;
    constexpr std::int32_t many = board::roomy ? 56 : 6;
    static_assert(!board::roomy || many > 3 * 16);
    for (std::int32_t i = 0; i < many; ++i) {
        const tactus::mailbox_index who = r.kernel.spawn<listener>(i + 4);
        EXPECT_TRUE(r.stream.subscribe<event_a>(who) == true);
        if (i % 3 == 0) {
            EXPECT_TRUE(r.stream.unsubscribe<event_b3>(who) == true);
        }
    }
    r.publish({is_b3});
    std::int32_t expected = 0;
    unsigned at = 0;
    for (; expected < many; ++expected) {
        if (expected % 3 == 0)
            continue;
        ASSERT_LT(at, journal().count());
        EXPECT_EQ(journal().at(at), told(expected + 4, is_a, 1));
        ++at;
    }
    EXPECT_EQ(journal().count(), at);
}

// EV-1: nothing changes when there is no memory, and everything is given back.
TEST(event_stream, EV_1_no_memory_is_an_error_and_changes_nothing) {
    event_rig r;
    const std::size_t blocks = r.kernel.memory.live_blocks;
    {
        tactus::event_stream stream(r.kernel.memory);
        r.kernel.memory.refusing = true;
        const auto without = stream.subscribe<event_a>(r.who[0]);
        ASSERT_FALSE(without.has_value());
        EXPECT_TRUE(without.error() == tactus::event_error::no_memory);
        EXPECT_TRUE(stream.is_empty());
        r.kernel.memory.refusing = false;
        // Four entries fit the first block.
        EXPECT_TRUE(stream.subscribe<event_b3>(r.who[0]) == true);
        EXPECT_TRUE(stream.subscribe<event_b2>(r.who[0]) == true);
        EXPECT_TRUE(stream.subscribe<event_a>(r.who[0]) == true);
        EXPECT_TRUE(stream.subscribe<event_cc>(r.who[1]) == true);
        r.kernel.memory.refusing = true;
        EXPECT_FALSE(stream.unsubscribe<event_ccatbt>(r.who[1]).has_value());
        EXPECT_FALSE(stream.subscribe<event_cc>(r.who[2]).has_value());
        stream.publish(event_ccatbt{{7}, {7}, {7}});
        r.kernel.run();
        EXPECT_TRUE(journal().is({told(2, is_cc, 7)}));
        // As many end here as are needed.
        EXPECT_TRUE(stream.unsubscribe<event_b2>(r.who[0]) == true);
        stream.publish(event_c{{{8}}});
        stream.publish(event_b3{{9}});
        r.kernel.run();
        EXPECT_TRUE(journal().is({told(1, is_b3, 9)}));
        r.kernel.memory.refusing = false;
        EXPECT_TRUE(stream.unsubscribe<event_ccatbt>(r.who[1]) == true);
        EXPECT_EQ(r.kernel.memory.live_blocks, blocks + 1);
    }
    EXPECT_EQ(r.kernel.memory.live_blocks, blocks);
    EXPECT_EQ(r.kernel.memory.wrong_releases, 0u);
}

// EV-1: a channel taken out takes the place of those below it that were: entries are as few as say
// the same. (V3)
TEST(event_stream, EV_1_what_is_taken_out_twice_is_kept_once) {
    event_rig r;
    EXPECT_TRUE(r.subscribe(1, is_a));
    r.kernel.memory.refusing = true;  // from here on what fits the first block must do
    EXPECT_TRUE(r.unsubscribe(1, is_c));
    EXPECT_TRUE(r.unsubscribe(1, is_b2));
    EXPECT_TRUE(r.unsubscribe(1, is_b3));
    EXPECT_TRUE(r.subscribe(2, is_a));
    EXPECT_FALSE(r.stream.subscribe<event_a>(r.who[2]).has_value());
    EXPECT_TRUE(r.subscribe(1, is_a));
    EXPECT_TRUE(r.subscribe(3, is_a));
    r.publish({is_c});
    EXPECT_TRUE(journal().is({told(1, is_a, 1), told(2, is_a, 1), told(3, is_a, 1)}));
    r.kernel.memory.refusing = false;
}

namespace {

/// Publishes an event for every dead letter, as a system does.
class republisher final : public tactus::kernel_events {
public:
    void dead_letter(tactus::mailbox_index, tactus::envelope& message,
                     tactus::dead_letter_cause) noexcept override {
        ++letters;
        if (message.get_if<event_cc>() == nullptr)
            stream->publish(event_cc{5});
    }
    void message_lost(tactus::mailbox_index, const tactus::message_type&,
                      tactus::dead_letter_cause) noexcept override {}
    void system_dead_letter(tactus::mailbox_index, tactus::system_message&) noexcept override {}
    void mailbox_closed(tactus::mailbox_index, std::size_t, std::size_t) noexcept override {}
    void actor_failed(tactus::mailbox_index, const tactus::failure&) noexcept override {}
    void deadline_missed(tactus::mailbox_index, std::int64_t) noexcept override {}

    tactus::event_stream* stream = nullptr;
    unsigned letters = 0;
};

}  // namespace

// EV-1: telling who has ended makes a dead letter, which is an event: published within the first.
TEST(event_stream, EV_1_an_event_may_lead_to_the_next) {
    republisher events;
    event_rig r([&](kernel_rig::options& o) { o.events = &events; });
    events.stream = &r.stream;
    EXPECT_TRUE(r.subscribe(1, is_a));
    EXPECT_TRUE(r.subscribe(1, is_cc));
    EXPECT_TRUE(r.subscribe(2, is_a));
    EXPECT_TRUE(r.subscribe(2, is_cc));
    EXPECT_TRUE(r.kernel->stop(r.who[0]));
    r.kernel.run();
    r.publish({is_a});
    // The first listener's dead letter came before the second was told the event itself.
    EXPECT_TRUE(journal().is({told(2, is_cc, 5), told(2, is_a, 1)}));
    EXPECT_EQ(events.letters, 2u);
}
