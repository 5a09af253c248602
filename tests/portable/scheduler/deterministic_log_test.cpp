// SPDX-License-Identifier: Apache-2.0
//
// Goal: a log keeps what happened to jobs, gives the same bytes for the same run on every machine,
// and what is read is what was written, or an error (SD-1, SD-6).
#include <tactus/scheduler/deterministic_log.hpp>
#include <tactus/scheduler/last_batch_holder.hpp>
#include <tactus/scheduler/log_replay.hpp>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "portable_test.hpp"
#include "test_memory.hpp"

namespace tactus {
namespace {

using tactus_test::test_memory;

struct kept_bytes final : byte_sink {
    void write(std::span<const std::byte> piece) noexcept override {
        for (const std::byte b : piece) {
            if (size < bytes.size())
                bytes[size++] = b;
        }
    }
    [[nodiscard]] std::span<const std::byte> written() const {
        return std::span(bytes).first(size);
    }
    std::array<std::byte, 256> bytes{};
    std::size_t size = 0;
};

struct rig {
    alignas(16) std::array<std::byte, 1'024> bytes{};
    test_memory memory{bytes};
    deterministic_log log{memory};

    void record(std::size_t count) {
        for (std::size_t i = 0; i < count; ++i)
            log.record(a_diagnostic(i));
    }
    static diagnostic a_diagnostic(std::size_t i) {
        constexpr diagnostic_kind kinds[] = {diagnostic_kind::schedule, diagnostic_kind::fire,
                                             diagnostic_kind::cancel, diagnostic_kind::on_close};
        return {.kind = kinds[i % 4],
                .mode = static_cast<job_mode>(i % 3),
                .executor = static_cast<std::uint16_t>(0x102 + i),
                .job = 0x1'0000'0000U + i,
                .scheduled_at = i,
                .deadline = ~std::uint64_t{0} - i,
                .at = i * 3,
                .detail = -static_cast<std::int64_t>(i)};
    }
};

// SD-1: off by default.
TEST(deterministic_log, is_off_until_enabled) {
    rig r;
    EXPECT_FALSE(r.log.enabled());
    r.record(1);
    EXPECT_EQ(r.log.records().size(), 0u);
    EXPECT_EQ(r.log.lost(), 0u);
    EXPECT_EQ(r.memory.live_blocks, 0u);
    ASSERT_TRUE(r.log.enable(4).has_value());
    EXPECT_TRUE(r.log.enabled());
    r.record(1);
    EXPECT_EQ(r.log.records().size(), 1u);
    r.log.disable();
    EXPECT_EQ(r.memory.live_blocks, 0u);
    EXPECT_EQ(r.memory.wrong_releases, 0u);
}

// SD-1: schedule, fire, cancel, and the order of closing; nothing that depends on the machine.
TEST(deterministic_log, records_what_happens_to_jobs) {
    rig r;
    ASSERT_TRUE(r.log.enable(8).has_value());
    for (std::size_t i = 0; i < diagnostic_kind_count; ++i)
        r.log.record({.kind = static_cast<diagnostic_kind>(i)});
    constexpr diagnostic_kind wanted[] = {diagnostic_kind::schedule, diagnostic_kind::fire,
                                          diagnostic_kind::cancel, diagnostic_kind::on_close};
    EXPECT_TRUE(std::ranges::equal(r.log.records(), wanted, {},
                                   [](const diagnostic& d) { return d.kind; }));
}

// SD-1: the beginning is kept, the rest is counted.
TEST(deterministic_log, keeps_the_beginning) {
    rig r;
    ASSERT_TRUE(r.log.enable(3).has_value());
    r.record(5);
    ASSERT_EQ(r.log.records().size(), 3u);
    EXPECT_TRUE(r.log.records()[2] == rig::a_diagnostic(2));
    EXPECT_EQ(r.log.lost(), 2u);
    // Enabled again, it begins anew.
    ASSERT_TRUE(r.log.enable(2).has_value());
    EXPECT_EQ(r.log.records().size() + r.log.lost(), 0u);
    EXPECT_EQ(r.memory.live_blocks, 1u);
}

// DF-82, SD-1: a ring keeps the end; what is lost is what is missing before it.
TEST(deterministic_log, DF_82_a_ring_keeps_the_newest) {
    rig r;
    ASSERT_TRUE(r.log.enable(3, log_keeps::newest).has_value());
    r.record(2);
    EXPECT_EQ(r.log.begin_reading().records().size(), 2u);
    r.log.end_reading();
    r.record(5);  // seven in all, of which the last three are 2, 3 and 4
    const auto has_the_end = [](const auto& records) {
        std::size_t i = 2;
        for (const diagnostic& d : records)
            EXPECT_TRUE(d == rig::a_diagnostic(i++));
        EXPECT_EQ(i, 5u);
    };
    const recorded_log read = r.log.begin_reading();
    has_the_end(read.records());
    EXPECT_EQ(read.lost(), 4u);
    EXPECT_TRUE(read.keeps() == log_keeps::newest);
    r.record(1);  // while it is read nothing is overwritten
    has_the_end(read.records());
    kept_bytes to;
    read.write(to);
    r.log.end_reading();
    EXPECT_EQ(r.log.lost(), 5u);
    const auto replay = log_replay::read(to.written());
    ASSERT_TRUE(replay.has_value());
    has_the_end(*replay);
    EXPECT_EQ(replay->lost(), 4u);
    EXPECT_TRUE(replay->keeps() == log_keeps::newest);
    // Enabled again as usual it keeps the beginning.
    ASSERT_TRUE(r.log.enable(2).has_value());
    r.record(3);
    EXPECT_TRUE(r.log.begin_reading().records()[1] == rig::a_diagnostic(1));
    r.log.end_reading();
}

// SC-2, SD-1: what is refused changes nothing.
TEST(deterministic_log, a_log_that_cannot_be_is_refused) {
    rig r;
    ASSERT_TRUE(r.log.enable(3).has_value());
    r.record(1);
    const auto none = r.log.enable(0);
    ASSERT_FALSE(none.has_value());
    EXPECT_TRUE(none.error().code == scheduler_errc::invalid_options && none.error().limit == 1);
    const auto large = r.log.enable(deterministic_log::capacity_max + 1);
    ASSERT_FALSE(large.has_value());
    EXPECT_TRUE(large.error().code == scheduler_errc::invalid_options);
    r.memory.refusing = true;
    const auto refused = r.log.enable(4);
    ASSERT_FALSE(refused.has_value());
    EXPECT_TRUE(refused.error().code == scheduler_errc::capacity_exceeded);
    EXPECT_EQ(refused.error().value, 3);
    EXPECT_EQ(r.log.records().size(), 1u);
}

// SD-1: byte for byte what the layout says, on every machine.
TEST(deterministic_log, is_written_as_the_layout_says) {
    rig r;
    ASSERT_TRUE(r.log.enable(1).has_value());
    r.log.record({.kind = diagnostic_kind::fire,
                  .mode = job_mode::fixed_delay,
                  .executor = 0x0304,
                  .job = 0x1122'3344'5566'7788,
                  .scheduled_at = 5,
                  .deadline = 0x0100,
                  .at = 0x01'0000'0000,
                  .detail = -2});
    r.record(3);
    kept_bytes to;
    r.log.write(to);
    constexpr unsigned char wanted[] = {
        'T',  'A',  'C',  'T',  'L',  'O',  'G',  '\n',  //
        1,    0,    44,   0,    0,    0,    0,    0,     // version, size
        1,    0,    0,    0,    0,    0,    0,    0,     // one record
        3,    0,    0,    0,    0,    0,    0,    0,     // three lost
        1,    2,    4,    3,                             // fire, fixed_delay, executor
        0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11,  // job
        5,    0,    0,    0,    0,    0,    0,    0,     // scheduled_at
        0,    1,    0,    0,    0,    0,    0,    0,     // deadline
        0,    0,    0,    0,    1,    0,    0,    0,     // at
        0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,  // detail
    };
    EXPECT_TRUE(std::ranges::equal(to.written(), std::as_bytes(std::span(wanted))));
}

// SD-1: a replay gives what was recorded, from memory and from bytes.
TEST(log_replay, gives_what_was_recorded) {
    rig r;
    ASSERT_TRUE(r.log.enable(4).has_value());
    r.record(6);
    kept_bytes to;
    r.log.write(to);
    const auto read = log_replay::read(to.written());
    ASSERT_TRUE(read.has_value());
    const log_replay in_memory(r.log);
    for (const log_replay& replay : {in_memory, *read}) {
        EXPECT_EQ(replay.size(), 4u);
        EXPECT_EQ(replay.lost(), 2u);
        std::size_t i = 0;
        for (const diagnostic d : replay)
            EXPECT_TRUE(d == rig::a_diagnostic(i++));
        EXPECT_EQ(i, 4u);
    }
    EXPECT_EQ(log_replay::first_difference(in_memory, *read), 4u);
}

// SD-1: an empty log is one, too.
TEST(log_replay, an_empty_log_can_be_read) {
    rig r;
    kept_bytes to;
    r.log.write(to);
    const auto read = log_replay::read(to.written());
    ASSERT_TRUE(read.has_value());
    EXPECT_TRUE(read->begin() == read->end());
}

// SD-1: where two runs begin to differ.
TEST(log_replay, says_where_two_runs_differ) {
    rig a;
    rig b;
    ASSERT_TRUE(a.log.enable(4).has_value() && b.log.enable(4).has_value());
    a.record(2);
    b.record(2);
    EXPECT_EQ(log_replay::first_difference(log_replay(a.log), log_replay(b.log)), 2u);
    b.log.record(rig::a_diagnostic(0));
    EXPECT_EQ(log_replay::first_difference(log_replay(a.log), log_replay(b.log)), 2u);
    a.log.record(rig::a_diagnostic(3));
    EXPECT_EQ(log_replay::first_difference(log_replay(a.log), log_replay(b.log)), 2u);
    ASSERT_TRUE(b.log.enable(4).has_value());
    b.log.record(rig::a_diagnostic(3));
    EXPECT_EQ(log_replay::first_difference(log_replay(a.log), log_replay(b.log)), 0u);
}

// DF-82: a run is compared with a recorded one, and the first record that differs is told.
TEST(log_replay, DF_82_the_first_difference_is_told_in_words) {
    rig a;
    rig b;
    ASSERT_TRUE(a.log.enable(4).has_value() && b.log.enable(4).has_value());
    a.record(2);
    b.record(1);
    char place[600];
    const auto told = [&] {
        return describe_difference(log_replay(a.log), log_replay(b.log), place);
    };
    const diagnostic fired{.kind = diagnostic_kind::fire,
                           .mode = job_mode::fixed_rate,
                           .executor = 3,
                           .job = 7,
                           .scheduled_at = 1,
                           .deadline = 8,
                           .at = 9,
                           .detail = 2};
    const std::string_view before = told();
    EXPECT_TRUE(before.starts_with("record 1 differs; recorded: tick "));
    EXPECT_TRUE(before.ends_with("; this run: the end"));
    b.log.record(fired);
    EXPECT_TRUE(
        told().ends_with("; this run: tick 9: timer 7 (fixed_rate) fired, due at tick 8, "
                         "scheduled at tick 1 (dispatcher 3, detail 2)"));
    ASSERT_TRUE(b.log.enable(4).has_value());
    b.record(2);
    EXPECT_TRUE(told().empty());
}

// SD-6: bytes that are no log are an error with its numbers; each of them is reached.
TEST(log_replay, what_is_no_log_is_refused) {
    rig r;
    ASSERT_TRUE(r.log.enable(2).has_value());
    r.record(2);
    kept_bytes whole;
    r.log.write(whole);
    EXPECT_EQ(whole.size, 32u + 2 * 44u);
    const auto error_of = [](std::span<const std::byte> bytes) {
        const auto read = log_replay::read(bytes);
        return read ? log_error{static_cast<log_errc>(log_errc_count)} : read.error();
    };
    EXPECT_TRUE(error_of({}) == (log_error{log_errc::not_a_log, 0, 32}));
    // Whatever is cut off is missed.
    for (std::size_t size = 1; size < whole.size; ++size) {
        const log_error wanted{log_errc::truncated, size, size < 32 ? 32u : whole.size};
        EXPECT_TRUE(error_of(std::span(whole.bytes).first(size)) == wanted);
    }
    EXPECT_TRUE(error_of(std::span(whole.bytes).first(whole.size + 1)) ==
                (log_error{log_errc::too_long, whole.size + 1, whole.size}));
    const auto changed = [&](std::size_t at, unsigned char to) {
        kept_bytes other = whole;
        other.bytes[at] = static_cast<std::byte>(to);
        return error_of(other.written());
    };
    EXPECT_TRUE(changed(0, 'X') == (log_error{log_errc::not_a_log, whole.size, 32}));
    EXPECT_TRUE(changed(8, 2) == (log_error{log_errc::wrong_version, 2, 1}));
    EXPECT_TRUE(changed(10, 43) == (log_error{log_errc::not_a_log, whole.size, 32}));
    EXPECT_TRUE(changed(12, 2) == (log_error{log_errc::not_a_log, whole.size, 32}));
    EXPECT_TRUE(changed(16, 1) == (log_error{log_errc::too_long, whole.size, 32 + 44}));
    EXPECT_TRUE(changed(23, 0xff).code == log_errc::truncated);  // more than there can be
    EXPECT_TRUE(changed(32 + 44, 9) == (log_error{log_errc::bad_record, 1, 2}));
    EXPECT_TRUE(changed(32 + 1, 3) == (log_error{log_errc::bad_record, 0, 2}));
}

// SD-5
TEST(log_replay, each_error_has_a_name_and_a_sentence) {
    constexpr std::string_view names[] = {"not_a_log", "wrong_version", "truncated", "too_long",
                                          "bad_record"};
    constexpr std::string_view sentences[] = {
        "1 bytes are no log of a scheduler, which begins with 2 bytes of a header",
        "the log has version 1, this program reads version 2",
        "the log has 1 bytes, its header asks for 2: the end is missing",
        "the log has 1 bytes, its header asks for 2: something follows it",
        "record 1 of 2 is none that a scheduler writes",
    };
    std::array<char, 96> room;
    static_assert(std::size(names) == log_errc_count && std::size(sentences) == log_errc_count);
    for (std::size_t i = 0; i < log_errc_count; ++i) {
        EXPECT_EQ(std::string_view(name_of(static_cast<log_errc>(i))), names[i]);
        EXPECT_EQ(describe(log_error{static_cast<log_errc>(i), 1, 2}, room), sentences[i]);
    }
    EXPECT_EQ(std::string_view(name_of(static_cast<log_errc>(99))), "unknown");
    EXPECT_EQ(describe(log_error{static_cast<log_errc>(99)}, room), "unknown");
}

// SD-6
TEST(last_batch_holder, has_the_last_one_or_none) {
    last_batch_holder holder;
    EXPECT_FALSE(holder.last_batch().has_value());
    const execution_batch first{.runs = 3, .missed_runs = 2, .mode = job_mode::fixed_rate};
    holder.note(first);
    EXPECT_TRUE(holder.last_batch() == first);
    const execution_batch second{.job = 9};
    holder.note(second);
    EXPECT_TRUE(holder.last_batch() == second);
}

}  // namespace
}  // namespace tactus
