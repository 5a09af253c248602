// SPDX-License-Identifier: Apache-2.0
//
// What comes of handling messages: of one (handled), and of one run of a mailbox (invoke_result).
#pragma once

#include <cstddef>
#include <cstdint>

#include <tactus/port/port.hpp>
#include <tactus/time/instant.hpp>

namespace tactus::inline v0 {

/// Why a handler failed; a value sent to the supervisor. The hosted world turns exceptions into it.
struct failure {
    constexpr failure() noexcept = default;
    // NOLINTNEXTLINE(google-explicit-constructor): a handler returns what went wrong
    constexpr failure(const char* text, void* more = nullptr) noexcept : what(text), detail(more) {}
    explicit constexpr failure(std::int32_t number) noexcept : what("failure"), code(number) {}
    constexpr failure(std::int32_t number, const char* text) noexcept : what(text), code(number) {}

    // For people: static, owned by `detail`, or the thread's for a while (thrown_texts.hpp).
    const char* what = "";
    void* detail = nullptr;                   // the layer above's: an exception, an error object
    std::int32_t code = 0;                    // the user's own
    duration retry_after = duration::zero();  // SV-4: a hint to who restarts it
};

/// Of one message. One word, since every handler returns it: what failed is kept by the thread,
/// until its next failure.
class handled {
public:
    enum class kind : std::uint8_t {
        ok,
        failed,
        deferred,
        kept,  // ok, but the envelope has a new owner, who disposes of it
    };

    constexpr handled() noexcept = default;
    [[nodiscard]] static constexpr handled ok() noexcept { return {}; }
    [[nodiscard]] static handled failed(const failure& why) noexcept {
        auto& kept = port::thread_instance<failure>();
        kept = why;
        return handled(&kept);
    }
    [[nodiscard]] static handled deferred() noexcept { return handled(&deferral); }
    [[nodiscard]] static handled kept() noexcept { return handled(&keeping); }

    [[nodiscard]] constexpr bool is_ok() const noexcept { return why_ == nullptr; }
    [[nodiscard]] kind what() const noexcept {
        if (why_ == nullptr)
            return kind::ok;
        return why_ == &deferral ? kind::deferred : why_ == &keeping ? kind::kept : kind::failed;
    }
    /// Requires: failed.
    [[nodiscard]] failure why() const noexcept { return *why_; }

private:
    static constexpr failure deferral{};
    static constexpr failure keeping{};

    explicit constexpr handled(const failure* why) noexcept : why_(why) {}

    const failure* why_ = nullptr;  // null: ok
};

/// Why an actor holds back its user messages (CO-4).
enum class suspend_reason : std::uint8_t { backpressure, await_external, rate_limit, user_defined };
inline constexpr std::size_t suspend_reason_count = 4;
[[nodiscard]] const char* name_of(suspend_reason reason) noexcept;

/// The same, and what holds an actor back that did not ask for it.
enum class held_reason : std::uint8_t {
    backpressure,
    await_external,
    rate_limit,
    user_defined,
    supervision,
};
inline constexpr std::size_t held_reason_count = suspend_reason_count + 1;
[[nodiscard]] const char* name_of(held_reason reason) noexcept;
[[nodiscard]] constexpr held_reason held_by(suspend_reason reason) noexcept {
    return static_cast<held_reason>(reason);
}

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

/// Two registers wide, since every run returns one.
struct invoke_result {
    invoke_outcome outcome = invoke_outcome::completed;
    bool ready_hint = false;                               // completed: more is left
    suspend_reason reason = suspend_reason::user_defined;  // suspended
    // Suspended, failed, stopped: the run has seen to it itself, as the invoker does: the actor is
    // held back and whoever ends that knows of it, supervision was told, the close is requested.
    bool arranged = false;
    std::uint32_t processed = 0;  // user messages
    // Suspended: what ends it; read by who is given the result, and not kept. Null: only a resume.
    const resume_condition* resume_on = nullptr;

    friend constexpr bool operator==(const invoke_result&, const invoke_result&) = default;
};

}  // namespace tactus::inline v0
