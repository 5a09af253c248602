// SPDX-License-Identifier: Apache-2.0
//
// Goal: ticks are counted, handed over in one piece, judged by the table in tick_source.hpp, kept
// while suspended, and shut out after a stop, which releases the driver once (TS-4, TS-5, TS-6).
// Method: one thread plays both sides; a counter stands for the driver.
#include <tactus/time/tick_source.hpp>

#include <limits>
#include <string_view>
#include <utility>

#include "portable_test.hpp"

using tactus::tick_chunks;
using tactus::tick_event;
using tactus::tick_mode;
using tactus::tick_source;
using tactus::tick_state;
using tactus::tick_status;

namespace {

struct driver {
    unsigned released = 0;

    static void release(void* self) noexcept { ++static_cast<driver*>(self)->released; }
    tactus::driver_release handle() noexcept { return {&driver::release, this}; }
};

tick_source::options window(std::uint32_t ticks) {
    tick_source::options o;
    o.catch_up_window = ticks;
    return o;
}

// Notifies, pulls, and compares the event and the status after it.
bool pull_gives(tick_source& source, tick_source::lease& lease, std::uint32_t ticks, tick_mode mode,
                tick_status status) {
    source.notify_tick(ticks);
    const auto event = lease.try_pull();
    return event == tick_event{ticks, mode} && lease.status() == status;
}

constexpr tick_status ok{};

constexpr tick_status backpressured(std::uint64_t ticks) {
    return {tick_state::backpressured, ticks};
}
constexpr tick_status stalled(std::uint64_t ticks) {
    return {tick_state::stalled, ticks};
}

}  // namespace

// TS-4
TEST(tick_source, nothing_counted_is_nothing_pulled) {
    tick_source source;
    auto lease = source.acquire();
    EXPECT_FALSE(lease.try_pull().has_value());
    EXPECT_EQ(lease.pending(), 0u);
    EXPECT_TRUE(lease.status() == ok);
}

// TC-S50, TS-4: three ticks are one event of three.
TEST(tick_source, tc_s50_three_ticks_come_as_one_event) {
    tick_source source;
    auto lease = source.acquire();
    source.notify_tick();
    source.notify_tick();
    source.notify_tick();
    EXPECT_EQ(lease.pending(), 3u);
    const auto event = lease.try_pull();
    ASSERT_TRUE(event.has_value());
    EXPECT_EQ(event->ticks, 3u);
    EXPECT_EQ(event->mode, tick_mode::normal);
    EXPECT_EQ(lease.pending(), 0u);
    EXPECT_FALSE(lease.try_pull().has_value());
}

// TS-4
TEST(tick_source, injected_ticks_take_the_same_path) {
    tick_source source;
    auto lease = source.acquire();
    source.inject_manual_tick();
    source.notify_tick(2);
    source.inject_manual_tick(4);
    EXPECT_TRUE(lease.try_pull() == (tick_event{7, tick_mode::normal}));
}

TEST(tick_source, notifying_nothing_counts_nothing) {
    tick_source source;
    auto lease = source.acquire();
    source.notify_tick(0);
    EXPECT_EQ(lease.pending(), 0u);
    EXPECT_FALSE(lease.try_pull().has_value());
}

// TS-4: the table, window 5.
TEST(tick_source, the_backlog_decides_mode_and_status) {
    tick_source source(window(5));
    auto lease = source.acquire();
    EXPECT_TRUE(pull_gives(source, lease, 1, tick_mode::normal, ok));
    EXPECT_TRUE(pull_gives(source, lease, 4, tick_mode::normal, ok));
    EXPECT_TRUE(pull_gives(source, lease, 5, tick_mode::catch_up, ok));
    EXPECT_TRUE(pull_gives(source, lease, 6, tick_mode::catch_up, backpressured(6)));
    EXPECT_TRUE(pull_gives(source, lease, 4, tick_mode::normal, ok));
    EXPECT_TRUE(pull_gives(source, lease, 11, tick_mode::catch_up, backpressured(11)));
    EXPECT_TRUE(pull_gives(source, lease, 11, tick_mode::catch_up, stalled(11)));
    EXPECT_TRUE(pull_gives(source, lease, 20, tick_mode::catch_up, stalled(20)));
    EXPECT_TRUE(pull_gives(source, lease, 10, tick_mode::catch_up, backpressured(10)));
    EXPECT_TRUE(pull_gives(source, lease, 11, tick_mode::catch_up, backpressured(11)));
    EXPECT_TRUE(pull_gives(source, lease, 3, tick_mode::normal, ok));
    EXPECT_TRUE(pull_gives(source, lease, 11, tick_mode::catch_up, backpressured(11)));
}

// TS-4: exactly two windows is not more than two.
TEST(tick_source, two_windows_exactly_never_stall) {
    tick_source source(window(5));
    auto lease = source.acquire();
    for (int i = 0; i < 4; ++i)
        EXPECT_TRUE(pull_gives(source, lease, 10, tick_mode::catch_up, backpressured(10)));
}

// TS-4: the default window is 32: 0.8 of it are 25.6.
TEST(tick_source, the_default_window_is_32) {
    tick_source source;
    auto lease = source.acquire();
    EXPECT_TRUE(pull_gives(source, lease, 25, tick_mode::normal, ok));
    EXPECT_TRUE(pull_gives(source, lease, 26, tick_mode::catch_up, ok));
    EXPECT_TRUE(pull_gives(source, lease, 32, tick_mode::catch_up, ok));
    EXPECT_TRUE(pull_gives(source, lease, 33, tick_mode::catch_up, backpressured(33)));
    EXPECT_TRUE(pull_gives(source, lease, 65, tick_mode::catch_up, backpressured(65)));
    EXPECT_TRUE(pull_gives(source, lease, 65, tick_mode::catch_up, stalled(65)));
}

// TS-4: the smallest and the largest window.
TEST(tick_source, windows_of_one_and_of_the_maximum_work) {
    {
        tick_source source(window(1));
        auto lease = source.acquire();
        EXPECT_TRUE(pull_gives(source, lease, 1, tick_mode::catch_up, ok));
        EXPECT_TRUE(pull_gives(source, lease, 2, tick_mode::catch_up, backpressured(2)));
        EXPECT_TRUE(pull_gives(source, lease, 3, tick_mode::catch_up, backpressured(3)));
        EXPECT_TRUE(pull_gives(source, lease, 3, tick_mode::catch_up, stalled(3)));
    }
    tick_source source(window(UINT32_MAX));
    auto lease = source.acquire();
    EXPECT_TRUE(pull_gives(source, lease, 3'435'973'836, tick_mode::normal, ok));
    EXPECT_TRUE(pull_gives(source, lease, 3'435'973'837, tick_mode::catch_up, ok));
}

// TS-4: what waits counts before it is pulled.
TEST(tick_source, status_sees_what_waits) {
    tick_source source(window(5));
    auto lease = source.acquire();
    source.notify_tick(5);
    EXPECT_TRUE(lease.status() == ok);
    source.notify_tick();
    EXPECT_TRUE(lease.status() == backpressured(6));
    EXPECT_EQ(lease.pending(), 6u);
    EXPECT_TRUE(lease.try_pull().has_value());
    EXPECT_TRUE(lease.status() == backpressured(6));
    EXPECT_FALSE(lease.try_pull().has_value());
    EXPECT_TRUE(lease.status() == ok);
}

// TS-4
TEST(tick_source, suspension_keeps_the_ticks) {
    tick_source source(window(5));
    auto lease = source.acquire();
    source.notify_tick(2);
    lease.suspend();
    EXPECT_EQ(lease.status().state, tick_state::suspended);
    EXPECT_FALSE(lease.try_pull().has_value());
    source.notify_tick(2);
    EXPECT_FALSE(lease.try_pull().has_value());
    EXPECT_EQ(lease.pending(), 4u);
    lease.suspend();
    lease.resume();
    EXPECT_TRUE(lease.status() == ok);
    EXPECT_TRUE(lease.try_pull() == (tick_event{4, tick_mode::normal}));
    lease.resume();
    EXPECT_FALSE(lease.try_pull().has_value());
}

// TS-4
TEST(tick_source, stop_and_flush_returns_the_rest_and_shuts_out_what_comes_later) {
    driver d;
    auto o = window(5);
    o.driver = d.handle();
    tick_source source(o);
    {
        auto lease = source.acquire();
        source.notify_tick(2);
        EXPECT_TRUE(lease.try_pull().has_value());
        source.notify_tick(7);
        EXPECT_EQ(d.released, 0u);
        EXPECT_EQ(lease.stop_and_flush(), 7u);
        EXPECT_EQ(d.released, 1u);
        source.notify_tick(5);
        source.inject_manual_tick(5);
        EXPECT_FALSE(lease.try_pull().has_value());
        EXPECT_EQ(lease.pending(), 0u);
        EXPECT_EQ(lease.stop_and_flush(), 0u);
        EXPECT_EQ(d.released, 1u);
        lease.suspend();
        lease.resume();
        EXPECT_FALSE(lease.try_pull().has_value());
    }
    EXPECT_EQ(d.released, 1u);
}

// TS-4
TEST(tick_source, a_stop_while_suspended_returns_what_was_kept) {
    driver d;
    auto o = window(5);
    o.driver = d.handle();
    tick_source source(o);
    auto lease = source.acquire();
    source.notify_tick(3);
    lease.suspend();
    source.notify_tick(4);
    EXPECT_EQ(lease.stop_and_flush(), 7u);
    EXPECT_EQ(d.released, 1u);
}

// TS-4
TEST(tick_source, the_lease_releases_the_driver_when_destroyed) {
    driver d;
    auto o = window(5);
    o.driver = d.handle();
    tick_source source(o);
    {
        auto lease = source.acquire();
        source.notify_tick(3);
        EXPECT_EQ(d.released, 0u);
    }
    EXPECT_EQ(d.released, 1u);
}

// TS-4: a moved lease ends the service once.
TEST(tick_source, a_moved_lease_is_one_lease) {
    driver d;
    auto o = window(5);
    o.driver = d.handle();
    tick_source source(o);
    {
        auto first = source.acquire();
        source.notify_tick(3);
        {
            auto second = std::move(first);
            EXPECT_TRUE(second.try_pull() == (tick_event{3, tick_mode::normal}));
            EXPECT_EQ(d.released, 0u);
        }
        EXPECT_EQ(d.released, 1u);
    }
    EXPECT_EQ(d.released, 1u);
}

// TS-4: a second lease may follow the first; the service stays ended, the driver is not released
// again.
TEST(tick_source, a_later_lease_does_not_revive_a_stopped_source) {
    driver d;
    auto o = window(5);
    o.driver = d.handle();
    tick_source source(o);
    {
        auto lease = source.acquire();
        EXPECT_EQ(lease.stop_and_flush(), 0u);
    }
    auto again = source.acquire();
    source.notify_tick(4);
    EXPECT_FALSE(again.try_pull().has_value());
    EXPECT_EQ(again.stop_and_flush(), 0u);
    EXPECT_EQ(d.released, 1u);
}

// TS-5: the word wraps, the count does not.
TEST(tick_source, a_counter_near_its_maximum_goes_on) {
    using word = tactus::port::event_count::word;
    auto o = window(5);
    o.first_count = std::numeric_limits<word>::max() - 2;
    tick_source source(o);
    auto lease = source.acquire();
    EXPECT_EQ(lease.pending(), 0u);
    EXPECT_FALSE(lease.try_pull().has_value());
    EXPECT_TRUE(pull_gives(source, lease, 2, tick_mode::normal, ok));
    EXPECT_TRUE(pull_gives(source, lease, 4, tick_mode::normal, ok));
    source.notify_tick(3);
    EXPECT_EQ(lease.pending(), 3u);
    EXPECT_EQ(lease.stop_and_flush(), 3u);
}

// TS-5: the counter is wider than what one notification can add.
TEST(tick_source, large_notifications_add_up) {
    tick_source source(window(5));
    auto lease = source.acquire();
    std::uint64_t sum = 0;
    for (int i = 0; i < 8; ++i) {
        source.notify_tick(UINT32_MAX / 2);
        const auto event = lease.try_pull();
        ASSERT_TRUE(event.has_value());
        sum += event->ticks;
    }
    EXPECT_EQ(sum, std::uint64_t{UINT32_MAX / 2} * 8);
}

// TS-6
TEST(tick_source, two_sources_are_independent) {
    driver d1;
    driver d2;
    auto o1 = window(5);
    o1.driver = d1.handle();
    auto o2 = window(9);
    o2.driver = d2.handle();
    tick_source first(o1);
    tick_source second(o2);
    auto lease1 = first.acquire();
    auto lease2 = second.acquire();
    first.notify_tick(6);
    EXPECT_EQ(lease2.pending(), 0u);
    EXPECT_FALSE(lease2.try_pull().has_value());
    EXPECT_TRUE(lease1.status() == backpressured(6));
    EXPECT_TRUE(lease2.status() == ok);
    second.notify_tick(6);
    EXPECT_EQ(lease1.stop_and_flush(), 6u);
    EXPECT_EQ(d1.released, 1u);
    EXPECT_EQ(d2.released, 0u);
    EXPECT_TRUE(lease2.try_pull() == (tick_event{6, tick_mode::normal}));
}

// TS-4
TEST(tick_source, every_state_has_its_name) {
    EXPECT_TRUE(std::string_view(to_text(tick_state::ok)) == "ok");
    EXPECT_TRUE(std::string_view(to_text(tick_state::backpressured)) == "backpressured");
    EXPECT_TRUE(std::string_view(to_text(tick_state::stalled)) == "stalled");
    EXPECT_TRUE(std::string_view(to_text(tick_state::suspended)) == "suspended");
}

// TS-4: the runner cuts events into chunks.
TEST(tick_chunks, cut_everything_and_nothing_more) {
    tick_chunks chunks(11, 5);
    EXPECT_EQ(chunks.next(), 5u);
    EXPECT_EQ(chunks.next(), 5u);
    EXPECT_EQ(chunks.next(), 1u);
    EXPECT_EQ(chunks.next(), 0u);
    EXPECT_EQ(chunks.next(), 0u);
    tick_chunks exact(10, 5);
    EXPECT_EQ(exact.next(), 5u);
    EXPECT_EQ(exact.next(), 5u);
    EXPECT_EQ(exact.next(), 0u);
    tick_chunks none(0, 5);
    EXPECT_EQ(none.next(), 0u);
    tick_chunks fewer(3, 5);
    EXPECT_EQ(fewer.next(), 3u);
    EXPECT_EQ(fewer.next(), 0u);
}

// TS-5
TEST(tick_chunks, numbers_beyond_32_bits_are_cut_right) {
    tick_chunks chunks((std::uint64_t{1} << 33) + 7, UINT32_MAX);
    EXPECT_EQ(chunks.next(), UINT32_MAX);
    EXPECT_EQ(chunks.next(), UINT32_MAX);
    EXPECT_EQ(chunks.next(), 9u);
    EXPECT_EQ(chunks.next(), 0u);
}

// TS-5: also while suspended a counter of 32 bits does not come round unseen.
TEST(tick_source, a_long_suspension_loses_nothing) {
    tactus::tick_source source;
    auto lease = source.acquire();
    lease.suspend();
    for (int i = 0; i < 4; ++i) {
        source.notify_tick(0x8000'0000u);
        EXPECT_FALSE(lease.try_pull().has_value());
    }
    EXPECT_EQ(lease.pending(), 0x2'0000'0000u);
    lease.resume();
    const auto event = lease.try_pull();
    ASSERT_TRUE(event.has_value());
    EXPECT_EQ(event->ticks, 0x2'0000'0000u);
}
