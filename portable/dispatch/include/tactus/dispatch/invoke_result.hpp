// SPDX-License-Identifier: Apache-2.0
//
// What comes of handling messages: of one (handled), and of one run of a mailbox (invoke_result).
#pragma once

#include <cstdint>

#include <tactus/time/instant.hpp>

namespace tactus::inline v0 {

/// Why a handler failed; a value sent to the supervisor. The hosted world turns exceptions into it.
struct failure {
    const char* what = "";   // for people; static, or owned by `detail`
    void* detail = nullptr;  // the layer above's: an exception, an error object
};

/// Of one message.
struct handled {
    enum class kind : std::uint8_t { ok, failed, deferred };
    kind what = kind::ok;
    failure why;  // failed only

    [[nodiscard]] static constexpr handled ok() noexcept { return {}; }
    [[nodiscard]] static constexpr handled failed(failure f) noexcept { return {kind::failed, f}; }
};

/// Why an actor holds back its user messages (CO-4).
enum class suspend_reason : std::uint8_t { backpressure, await_external, rate_limit, user_defined };
inline constexpr std::size_t suspend_reason_count = 4;
[[nodiscard]] const char* name_of(suspend_reason reason) noexcept;

/// What ends a suspension.
struct resume_condition {
    enum class kind : std::uint8_t { external_signal, after, when_capacity_available };
    kind on = kind::external_signal;
    std::uint64_t key = 0;  // external_signal
    duration delay;         // after

    [[nodiscard]] static constexpr resume_condition signal(std::uint64_t key) noexcept {
        return {kind::external_signal, key, {}};
    }
    [[nodiscard]] static constexpr resume_condition after(duration d) noexcept {
        return {kind::after, 0, d};
    }
    [[nodiscard]] static constexpr resume_condition when_capacity_available() noexcept {
        return {kind::when_capacity_available, 0, {}};
    }
};

/// Of one run (CO-3).
enum class invoke_outcome : std::uint8_t {
    completed,  // nothing is left, or ready_hint says that more came
    yielded,    // the run used up its share; more is left
    suspended,  // user messages are held back
    failed,     // supervision decides
    stopped,    // the mailbox is to be closed
};
[[nodiscard]] const char* name_of(invoke_outcome outcome) noexcept;

struct invoke_result {
    invoke_outcome outcome = invoke_outcome::completed;
    bool ready_hint = false;      // completed: more is left
    std::uint32_t processed = 0;  // user messages

    friend constexpr bool operator==(const invoke_result&, const invoke_result&) = default;
};

}  // namespace tactus::inline v0
