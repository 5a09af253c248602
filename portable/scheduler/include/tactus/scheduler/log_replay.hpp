// SPDX-License-Identifier: Apache-2.0
//
// Replay: goes through a deterministic log, in memory or as bytes that were written (SD-1, SD-6).
//
// Layout, numbers in little-endian, the same on every machine:
//
//   header    0  8  "TACTLOG\n"         record    0  1  kind of diagnostic
//             8  2  version, 1                    1  1  mode of the job
//            10  2  size of a record              2  2  executor
//            12  4  1 if it keeps the newest      4  8  job
//            16  8  records that follow          12  8  scheduled_at
//            24  8  records that were lost       20  8  deadline
//                                                28  8  at
//                                                36  8  detail
//
// Bytes are checked as a whole when they are read, so that going through them cannot fail.
//
// Thread safety: none. What is gone through must stay.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <iterator>
#include <span>
#include <string_view>

#include <tactus/scheduler/deterministic_log.hpp>
#include <tactus/scheduler/scheduler_event.hpp>

namespace tactus::inline v0 {

// The comment says what `value` and `limit` of the error hold.
enum class log_errc : std::uint8_t {
    not_a_log,      // bytes given | bytes of a header
    wrong_version,  // version found | version known
    truncated,      // bytes given | bytes the header asks for, at least
    too_long,       // bytes given | bytes the header asks for
    bad_record,     // its number | how many there are
};
inline constexpr std::size_t log_errc_count = 5;
[[nodiscard]] const char* name_of(log_errc code) noexcept;

struct log_error {
    log_errc code{};
    std::uint64_t value = 0;
    std::uint64_t limit = 0;

    friend constexpr bool operator==(const log_error&, const log_error&) = default;
};
/// Writes a sentence such as "the log has version 2, this program reads version 1".
std::string_view describe(const log_error& error, std::span<char> out) noexcept;

class log_replay {
public:
    static constexpr std::uint16_t version = 1;
    static constexpr std::size_t header_size = 32;
    static constexpr std::size_t record_size = 44;

    explicit log_replay(const recorded_log& log) noexcept
        : records_(log.records()), size_(records_.size()), lost_(log.lost()), keeps_(log.keeps()) {}
    /// Over bytes that recorded_log::write has written.
    [[nodiscard]] static std::expected<log_replay, log_error> read(
        std::span<const std::byte> bytes) noexcept;

    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] std::uint64_t lost() const noexcept { return lost_; }
    /// Whether they were lost after the last record, or before the first.
    [[nodiscard]] log_keeps keeps() const noexcept { return keeps_; }
    /// Requires: i < size().
    [[nodiscard]] diagnostic operator[](std::size_t i) const noexcept {
        return bytes_.empty() ? records_[i] : decoded(i);
    }

    /// Gives records by value.
    class iterator {
    public:
        using value_type = diagnostic;
        using difference_type = std::ptrdiff_t;

        iterator() = default;
        iterator(const log_replay& of, std::size_t at) noexcept : of_(&of), at_(at) {}

        [[nodiscard]] diagnostic operator*() const noexcept { return (*of_)[at_]; }
        iterator& operator++() noexcept {
            ++at_;
            return *this;
        }
        iterator operator++(int) noexcept {
            const iterator before = *this;
            ++at_;
            return before;
        }
        friend bool operator==(const iterator& a, const iterator& b) noexcept {
            return a.at_ == b.at_;
        }

    private:
        const log_replay* of_ = nullptr;
        std::size_t at_ = 0;
    };
    static_assert(std::input_iterator<iterator>);
    [[nodiscard]] iterator begin() const noexcept { return {*this, 0}; }
    [[nodiscard]] iterator end() const noexcept { return {*this, size_}; }

    /// Where two runs begin to differ: the number of a record, or the size of both.
    [[nodiscard]] static std::size_t first_difference(const log_replay& a,
                                                      const log_replay& b) noexcept;

private:
    log_replay() = default;
    [[nodiscard]] diagnostic decoded(std::size_t i) const noexcept;

    std::span<const diagnostic> records_;
    std::span<const std::byte> bytes_;  // of the records; empty: they are in memory
    std::size_t size_ = 0;
    std::uint64_t lost_ = 0;
    log_keeps keeps_ = log_keeps::oldest;
};

/// Writes where this run leaves the recorded one, such as "record 2 differs; recorded: tick 9:
/// timer 7 (one_shot) fired, due at tick 8, scheduled at tick 1 (dispatcher 0, detail 1); this run:
/// the end". Empty: they are the same.
std::string_view describe_difference(const log_replay& recorded, const log_replay& this_run,
                                     std::span<char> out) noexcept;

}  // namespace tactus::inline v0
