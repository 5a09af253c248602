// SPDX-License-Identifier: Apache-2.0
//
// Goal: what is sent without the short way is sent as by tell: traced, with the receiver's
// deadline, and a dead letter when nobody takes it; what is not taken is the sender's again.
#include <tactus/dispatch/actor_scheduler.hpp>
#include <tactus/dispatch/parcel.hpp>

#include <cstdint>
#include <utility>

#include "kernel_rig.hpp"
#include "portable_test.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using tactus_test::journal;
using tactus_test::kernel_rig;
using tactus_test::number;

namespace {

class span_count final : public tracer {
public:
    [[nodiscard]] std::int64_t begin(mailbox_index, mailbox_index,
                                     const message_type&) noexcept override {
        return ++begun;
    }
    void mark(std::int64_t, point, mailbox_index) noexcept override {}
    std::int64_t begun = 0;
};

/// Moved from: 0.
struct movable {
    explicit movable(std::uint32_t v) noexcept : value(v) {}
    movable(movable&& from) noexcept : value(std::exchange(from.value, 0U)) {}
    movable& operator=(movable&& from) noexcept {
        value = std::exchange(from.value, 0U);
        return *this;
    }
    std::uint32_t value;
};
/// It can be made, and not given back.
struct kept {
    kept(kept&& from) noexcept : value(std::exchange(from.value, 0U)) {}
    kept& operator=(kept&&) = delete;
    std::uint32_t value;
};

template <class M>
constexpr bool comes_back = detail::parcel_kind_of<M>.take_back != nullptr;
// What is copied, or moved as its bytes are, never left.
static_assert(comes_back<movable> && !comes_back<kept> && !comes_back<number>);
static_assert(!comes_back<const number&> && !comes_back<number&> && !comes_back<const number>);

}  // namespace

// IN-7, LN-8: from outside, and from a worker.
TEST(sending, LN_8_what_is_sent_rarely_has_a_span_and_a_deadline) {
    span_count spans;
    kernel_rig rig([&](kernel_rig::options& o) { o.trace = &spans; });
    static mailbox_index to;
    to = *rig->spawn<tactus_test::plain_actor>({.deadline = duration::from_ms(5)});
    actor_scheduler::tell_rarely(to, number{1});
    EXPECT_EQ(spans.begun, 1);
    rig.time.advance(duration::from_ms(7));
    rig.run();
    EXPECT_EQ(rig.events.missed, 1u);
    EXPECT_EQ(rig.events.last_late_ns, 2'000'000);
    EXPECT_TRUE(journal().is({1}));

    const mailbox_index from =
        rig.spawn(+[](turn&, std::uint32_t n) { actor_scheduler::tell_rarely(to, number{n + 1}); });
    rig.tell(from, {2});
    EXPECT_TRUE(rig.run_once());
    EXPECT_EQ(spans.begun, 3);
    rig.time.advance(duration::from_ms(8));
    rig.run();
    EXPECT_EQ(rig.events.missed, 2u);
    EXPECT_EQ(rig.events.last_late_ns, 3'000'000);
    EXPECT_TRUE(journal().is({2, 3}));
}

// UP-1: nothing comes back to who sent it.
TEST(sending, what_is_sent_rarely_to_nobody_is_a_dead_letter_once) {
    kernel_rig rig;
    static mailbox_index gone;
    gone = rig.spawn();
    EXPECT_TRUE(rig->stop(gone));
    rig.run();
    journal().clear();
    actor_scheduler::tell_rarely(gone, number{4});
    EXPECT_TRUE(journal().is({tactus_test::dead + 4}));
    const mailbox_index from =
        rig.spawn(+[](turn&, std::uint32_t n) { actor_scheduler::tell_rarely(gone, number{n}); });
    rig.tell(from, {5});
    rig.run();
    EXPECT_TRUE(journal().is({5, tactus_test::dead + 5}));
    EXPECT_EQ(rig.events.count(dead_letter_cause::recipient_terminated), 2u);
    const auto refused = system_table::refused_count();
    actor_scheduler::tell_rarely({}, number{6});
    EXPECT_EQ(system_table::refused_count(), refused + 1);
}

// UP-4: a parcel makes a message of the sender's one, moves it back, and can make it again.
TEST(sending, a_parcel_that_came_back_can_be_sent_again) {
    movable mine(7);
    const auto p = detail::parcel::of<movable>(mine);
    EXPECT_TRUE(&p.type() == &message_type_of<movable>);
    for (int round = 0; round < 2; ++round) {
        alignas(movable) std::byte place[sizeof(movable)];
        ASSERT_TRUE(p.make_at(place));
        auto* made = reinterpret_cast<movable*>(place);
        EXPECT_EQ(made->value, 7u);
        EXPECT_EQ(mine.value, 0u);
        p.take_back(made);
        EXPECT_EQ(mine.value, 7u);
        made->~movable();
    }
}
