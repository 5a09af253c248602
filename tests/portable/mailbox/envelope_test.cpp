// SPDX-License-Identifier: Apache-2.0
//
// Envelope: what fits lies inside, what does not is a block of a source, and every payload ends
// exactly once.
#include <tactus/mailbox/envelope.hpp>
#include <tactus/mailbox/message_type.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "mailbox_memory.hpp"
#include "portable_test.hpp"

using tactus::envelope;
using tactus_test::counted;
using tactus_test::lives;
using tactus_test::one_block_source;

namespace {

// One cache line where there is a cache.
static_assert(tactus::port::cache_line < 64 || (sizeof(envelope) == 64 && alignof(envelope) == 64));
static_assert(sizeof(envelope) <= 64);

static_assert(tactus::message<int> && tactus::message<counted<8>>);
static_assert(!tactus::message<const int> && !tactus::message<int[2]> && !tactus::message<int&>);
static_assert(!tactus::message<void> && !tactus::message<int()>);

bool is_inside(const envelope& e, const void* payload) {
    const auto* begin = reinterpret_cast<const std::byte*>(&e);
    const auto* at = static_cast<const std::byte*>(payload);
    return at >= begin && at < begin + sizeof(envelope);
}

/// Puts a message in and ends it; says whether it lay inside. Everything in between is checked.
template <std::size_t Size>
bool lies_inside(std::uint32_t extras) {
    lives::reset();
    one_block_source source;
    envelope e;
    bool inside = false;
    {
        counted<Size> value(7);
        EXPECT_TRUE(e.emplace<counted<Size>>(std::move(value), &source, extras));
        EXPECT_EQ(value.mark(), 0);
    }
    EXPECT_EQ(lives::begun, 2u);
    EXPECT_EQ(lives::ended, 1u);
    if ((extras & envelope::has_deadline) != 0)
        e.set_deadline(0x7123'4567'89ab'cdef);
    if ((extras & envelope::has_span) != 0)
        e.set_span(-0x7edc'ba98'7654'3210);
    counted<Size>* message = e.get_if<counted<Size>>();
    EXPECT_TRUE(message != nullptr);
    if (message != nullptr) {
        EXPECT_EQ(message->mark(), 7);  // untouched by the extras
        inside = is_inside(e, message);
        EXPECT_EQ(inside, !source.owns(message));
    }
    if ((extras & envelope::has_deadline) != 0) {
        EXPECT_EQ(e.deadline(), 0x7123'4567'89ab'cdef);
    }
    if ((extras & envelope::has_span) != 0) {
        EXPECT_EQ(e.span(), -0x7edc'ba98'7654'3210);
    }
    EXPECT_EQ(e.flags(), extras | (inside ? 0u : std::uint32_t{envelope::boxed}));
    EXPECT_EQ(source.asked, inside ? 0u : 1u);
    e.destroy_payload();
    EXPECT_EQ(lives::ended, 2u);
    EXPECT_EQ(source.released, source.asked);
    EXPECT_TRUE(source.good);
    EXPECT_FALSE(source.in_use);
    return inside;
}

}  // namespace

TEST(envelope, up_to_32_bytes_lie_inside_and_more_in_a_block) {
    EXPECT_TRUE(lies_inside<1>(0));
    EXPECT_TRUE(lies_inside<31>(0));
    EXPECT_TRUE(lies_inside<32>(0));
    EXPECT_FALSE(lies_inside<33>(0));
    EXPECT_FALSE(lies_inside<256>(0));
}

TEST(envelope, a_deadline_takes_8_bytes_of_the_inside) {
    EXPECT_TRUE(lies_inside<24>(envelope::has_deadline));
    EXPECT_FALSE(lies_inside<25>(envelope::has_deadline));
    EXPECT_FALSE(lies_inside<32>(envelope::has_deadline));
}

// The span's place is before the deadline's, whether there is a deadline or not.
TEST(envelope, a_span_takes_16_bytes_of_the_inside_with_or_without_a_deadline) {
    EXPECT_TRUE(lies_inside<16>(envelope::has_span));
    EXPECT_FALSE(lies_inside<17>(envelope::has_span));
    EXPECT_TRUE(lies_inside<16>(envelope::has_span | envelope::has_deadline));
    EXPECT_FALSE(lies_inside<17>(envelope::has_span | envelope::has_deadline));
    EXPECT_FALSE(lies_inside<100>(envelope::has_span | envelope::has_deadline));
}

TEST(envelope, what_needs_more_alignment_goes_to_a_block) {
    struct alignas(32) wide {
        std::uint8_t byte;
    };
    one_block_source source;
    envelope e;
    ASSERT_TRUE(e.emplace<wide>(wide{5}, &source));
    EXPECT_EQ(source.asked, 1u);
    wide* message = e.get_if<wide>();
    ASSERT_TRUE(message != nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(message) % 32, 0u);
    EXPECT_EQ(message->byte, 5);
    e.destroy_payload();  // no destructor, but a block
    EXPECT_EQ(source.released, 1u);
    EXPECT_TRUE(source.good);
}

namespace {

/// Who is asked, and told.
class note_recorder final : public tactus::note_reader {
public:
    bool begins(const tactus::envelope_note& what,
                tactus::envelope_guard::scope&) noexcept override {
        ++asked;
        good = good && is_ours(what);
        return answer;
    }
    void ended(const tactus::envelope_note& what, bool was_begun) noexcept override {
        ++told;
        good = good && is_ours(what);
        begun = was_begun;
    }
    [[nodiscard]] tactus::envelope_note note() noexcept { return {this, {1, 0xffff'fffe, 3}}; }
    [[nodiscard]] bool is_ours(const tactus::envelope_note& n) const noexcept {
        return n.reader == this && n.words[0] == 1 && n.words[1] == 0xffff'fffe && n.words[2] == 3;
    }

    bool answer = true;
    bool begun = false;
    bool good = true;
    unsigned asked = 0;
    unsigned told = 0;
};

/// As lies_inside, with a note whose reader is asked and told once each.
template <std::size_t Size>
bool lies_inside_noted(std::uint32_t extras) {
    lives::reset();
    one_block_source source;
    note_recorder reader;
    envelope e;
    EXPECT_TRUE(e.emplace<counted<Size>>(counted<Size>(7), &source, extras | envelope::has_note));
    e.set_note(reader.note());
    if ((extras & envelope::has_deadline) != 0)
        e.set_deadline(-1);
    if ((extras & envelope::has_span) != 0)
        e.set_span(-1);
    const counted<Size>* message = e.get_if<counted<Size>>();
    EXPECT_EQ(message->mark(), 7);
    const bool inside = is_inside(e, message);
    EXPECT_EQ(source.asked, inside ? 0u : 1u);
    tactus::envelope_guard::scope during;
    reader.answer = false;
    EXPECT_FALSE(e.begin(during));
    reader.answer = true;
    EXPECT_TRUE(e.begin(during));
    EXPECT_EQ(reader.asked, 2u);
    EXPECT_EQ(message->mark(), 7);
    e.destroy_payload();
    EXPECT_EQ(reader.told, 1u);
    EXPECT_TRUE(reader.begun);
    EXPECT_TRUE(reader.good);
    EXPECT_EQ(lives::ended, 2u);
    EXPECT_EQ(source.released, source.asked);
    EXPECT_TRUE(source.good);
    return inside;
}

}  // namespace

// BT-2, BT-3
TEST(envelope, BT_3_a_note_lies_behind_the_message_or_in_front_of_its_block) {
    constexpr std::size_t room = envelope::inside_size - tactus::envelope_note::size;
    EXPECT_TRUE(lies_inside_noted<1>(0));
    EXPECT_TRUE(lies_inside_noted<room>(0));
    EXPECT_FALSE(lies_inside_noted<room + 1>(0));
    EXPECT_FALSE(lies_inside_noted<40>(0));
    EXPECT_TRUE(lies_inside_noted<room - 8>(envelope::has_deadline));
    EXPECT_FALSE(lies_inside_noted<room - 7>(envelope::has_deadline));
    EXPECT_FALSE(lies_inside_noted<room>(envelope::has_span));
    EXPECT_FALSE(lies_inside_noted<40>(envelope::has_span | envelope::has_deadline));
}

// BT-2: also of one without a destructor, whose handler never began.
TEST(envelope, BT_2_who_wrote_a_note_is_told_of_the_end_in_any_case) {
    note_recorder reader;
    envelope e;
    ASSERT_TRUE(e.emplace<int>(5, nullptr, envelope::has_note));
    e.set_note(reader.note());
    EXPECT_FALSE(e.ends_plainly());
    e.destroy_payload();
    EXPECT_EQ(reader.told, 1u);
    EXPECT_FALSE(reader.begun);
    EXPECT_TRUE(reader.good);
}

TEST(envelope, room_that_is_not_used_is_given_back) {
    one_block_source source;
    envelope e;
    const tactus::message_type& large = tactus::message_type_of<counted<40>>;
    EXPECT_TRUE(e.make_room(large, nullptr, 0) == nullptr);
    source.refuses = true;
    EXPECT_TRUE(e.make_room(large, &source, 0) == nullptr);
    EXPECT_EQ(e.flags(), 0u);
    source.refuses = false;
    void* place = e.make_room(large, &source, envelope::has_deadline);
    EXPECT_FALSE(is_inside(e, place));
    EXPECT_EQ(e.flags(), std::uint32_t{envelope::boxed} | envelope::has_deadline);
    e.drop_room();
    EXPECT_EQ(source.released, 1u);
    EXPECT_TRUE(source.good);
    EXPECT_EQ(e.flags(), 0u);
    EXPECT_TRUE(e.get_if<counted<40>>() == nullptr);
    EXPECT_TRUE(is_inside(e, e.make_room(tactus::message_type_of<counted<8>>, &source, 0)));
    e.drop_room();
    EXPECT_EQ(source.asked, 2u);
    EXPECT_EQ(source.released, 1u);
    EXPECT_TRUE(e.get_if<counted<8>>() == nullptr);
}

TEST(envelope, without_memory_nothing_happens_and_the_value_is_untouched) {
    one_block_source source;
    source.refuses = true;
    lives::reset();
    {
        envelope e;
        counted<40> value(9);
        EXPECT_FALSE(e.emplace<counted<40>>(std::move(value), &source));
        EXPECT_EQ(value.mark(), 9);
        EXPECT_FALSE(e.emplace<counted<40>>(std::move(value), nullptr));
        EXPECT_EQ(value.mark(), 9);
        EXPECT_TRUE(e.get_if<counted<40>>() == nullptr);
        EXPECT_EQ(lives::begun, 1u);
        // It can be used afterwards.
        source.refuses = false;
        EXPECT_TRUE(e.emplace<counted<40>>(std::move(value), &source));
        EXPECT_EQ(value.mark(), 0);
        e.destroy_payload();
    }
    EXPECT_EQ(lives::begun, 2u);
    EXPECT_EQ(lives::ended, 2u);
    EXPECT_EQ(source.asked, 2u);
    EXPECT_EQ(source.released, 1u);
}

TEST(envelope, an_envelope_is_used_again_with_another_type_and_place) {
    one_block_source source;
    lives::reset();
    envelope e;
    for (unsigned round = 0; round < 4; ++round) {
        EXPECT_TRUE(e.emplace<counted<64>>(counted<64>(3), &source, envelope::has_deadline));
        EXPECT_TRUE(e.get_if<counted<8>>() == nullptr);
        e.destroy_payload();
        EXPECT_TRUE(e.emplace<counted<8>>(counted<8>(4), &source));
        EXPECT_TRUE(e.get_if<counted<64>>() == nullptr);
        EXPECT_EQ(e.get_if<counted<8>>()->mark(), 4);
        e.destroy_payload();
        EXPECT_TRUE(e.emplace<int>(12, nullptr));  // nothing to do at its end
        EXPECT_EQ(*e.get_if<int>(), 12);
        e.destroy_payload();
    }
    EXPECT_EQ(lives::begun, lives::ended);
    EXPECT_EQ(lives::begun, 16u);
    EXPECT_EQ(source.released, 4u);
    EXPECT_TRUE(source.good);
}

TEST(envelope, a_value_that_is_kept_is_copied) {
    struct point {
        int x;
        int y;
    };
    const point p{1, 2};
    envelope e;
    ASSERT_TRUE(e.emplace<point>(p, nullptr));
    EXPECT_EQ(e.get_if<point>()->x, 1);
    EXPECT_EQ(e.get_if<point>()->y, 2);
    EXPECT_TRUE(e.payload() == e.get_if<point>());
    e.destroy_payload();
}

TEST(message_type, each_type_has_one_descriptor_with_its_name_and_measures) {
    const auto& number = tactus::message_type_of<int>;
    EXPECT_TRUE(number.name == std::string_view("int"));
    EXPECT_EQ(number.size, sizeof(int));
    EXPECT_EQ(number.alignment, alignof(int));
    EXPECT_TRUE(number.destroy == nullptr);
    const auto& counting = tactus::message_type_of<counted<40>>;
    EXPECT_EQ(counting.size, 40u);
    EXPECT_EQ(counting.alignment, 1u);
    EXPECT_TRUE(counting.destroy != nullptr);
    EXPECT_TRUE(counting.name.find("tactus_test::counted<40") != std::string_view::npos);
    EXPECT_TRUE(&counting != &tactus::message_type_of<counted<41>>);
    EXPECT_NE(counting.name_hash, number.name_hash);
    // FNV-1a of "a", published; the empty string gives its start value.
    EXPECT_EQ(tactus::detail::name_hash("a"), 0xe40c292cu);
    EXPECT_EQ(tactus::detail::name_hash(""), 0x811c9dc5u);
}

// RG-1: the parts of an index come back, and none of them reaches into another.
TEST(mailbox_index, parts_are_kept_apart) {
    using tactus::mailbox_index;
    const auto full = mailbox_index::make(63, (1u << 26) - 1, 0xffff'ffffu);
    EXPECT_EQ(full.system_number(), 63u);
    EXPECT_EQ(full.slot_number(), (1u << 26) - 1);
    EXPECT_TRUE(full.valid());
    EXPECT_EQ(mailbox_index::make(1, 1u << 26, 1).slot_number(), 0u);
    EXPECT_EQ(mailbox_index::make(1, 1u << 26, 1).system_number(), 1u);
    EXPECT_FALSE(mailbox_index().valid());
    EXPECT_TRUE(mailbox_index::make(2, 3, 4) == mailbox_index::make(2, 3, 4));
    EXPECT_FALSE(mailbox_index::make(2, 3, 4) == mailbox_index::make(2, 3, 5));
    EXPECT_FALSE(mailbox_index::make(2, 3, 4) == mailbox_index::make(1, 3, 4));
}

namespace {
struct urgent : tactus::control_message {};
struct farewell : tactus::dead_letter_suppression {};
struct heartbeat : tactus::not_influence_receive_timeout {
    std::uint32_t number;
};
struct all_of_them : urgent, farewell, heartbeat {};
static_assert(sizeof(heartbeat) == 4, "a marker takes no room in a message");

bool is_marked(const tactus::message_type& t, bool control, bool suppressed, bool keeps) {
    return t.is_control == control && t.is_suppressed == suppressed &&
           t.keeps_receive_timeout == keeps;
}
}  // namespace

// EV-2, TM-2: who has only the descriptor knows what a message is marked with.
TEST(message_type, EV_2_TM_2_markers_are_seen_at_run_time) {
    using tactus::message_type_of;
    EXPECT_TRUE(is_marked(message_type_of<int>, false, false, false));
    EXPECT_TRUE(is_marked(message_type_of<urgent>, true, false, false));
    EXPECT_TRUE(is_marked(message_type_of<farewell>, false, true, false));
    EXPECT_TRUE(is_marked(message_type_of<heartbeat>, false, false, true));
    EXPECT_TRUE(is_marked(message_type_of<all_of_them>, true, true, true));
}
