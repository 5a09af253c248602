// SPDX-License-Identifier: Apache-2.0
//
// Failure lines: how many lines the failures of one actor get in the log.
//
// The first `max` failures of an actor have a line each, then one line per interval, which says how
// many failures were not logged. An actor that did not fail for an interval starts again.
//
// Actors are remembered while they fail, at most actors_max of them: those that fail beyond it
// share one count.
//
// Thread safety: any thread.
#pragma once

#include <tactus/mailbox/mailbox_index.hpp>
#include <tactus/time/clock.hpp>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <unordered_map>

namespace tactus::inline v0::runtime {

class failure_lines {
public:
    static constexpr std::size_t actors_max = 1'024;

    struct options {
        const clock* time = nullptr;  // required
        std::uint32_t max = 10;
        duration interval = duration::from_s(10);
    };
    explicit failure_lines(const options& o) noexcept : options_(o) {}

    /// What a line says beside the failure.
    struct line {
        std::uint64_t not_logged = 0;  // failures of this actor since its last line
        bool is_last = false;          // no more in this interval
    };
    /// Counts a failure. Nothing: it has no line.
    [[nodiscard]] std::optional<line> next(mailbox_index who) noexcept;
    [[nodiscard]] duration interval() const noexcept { return options_.interval; }

private:
    struct record {
        std::uint32_t logged = 0;
        std::uint64_t not_logged = 0;
        instant last = {};
        instant quiet_until = {};
    };
    [[nodiscard]] record& record_of(mailbox_index who, instant now);
    [[nodiscard]] std::optional<line> count(record& r, instant now) const noexcept;

    const options options_;
    std::mutex mutex_;
    // Under it
    std::unordered_map<std::uint64_t, record> actors_;  // order unseen
    record others_;
};

}  // namespace tactus::inline v0::runtime
