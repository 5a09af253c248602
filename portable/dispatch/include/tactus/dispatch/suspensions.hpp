// SPDX-License-Identifier: Apache-2.0
//
// Suspensions: actors that hold back their user messages until something happens (CO-4, CO-6).
//
// An actor suspends itself with a reason and a condition: a signal with a key, a time, or room in
// some mailbox. Signals resume all that wait for the key, in the order they suspended themselves; a
// signal that nobody waits for is counted, not stored. A limit may end a suspension by resuming,
// failing or stopping the actor. Records are reused: cycles leave no memory behind; how one is
// found is in suspension_records.
//
// Times and limits wait through the timer service: one timer for each, never early, as exact as its
// ticks. Who ends a suspension takes its record out, under the lock: so it ends once, and a timer
// that comes too late finds nothing. Timers are made and cancelled outside of the lock, since that
// may call others.
//
// Thread safety: any thread, under one lock; the actors are resumed outside of it.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>

#include <tactus/dispatch/invoke_result.hpp>
#include <tactus/dispatch/suspend_limit.hpp>
#include <tactus/dispatch/suspension_records.hpp>
#include <tactus/dispatch/timer_service.hpp>
#include <tactus/mailbox/mailbox_index.hpp>
#include <tactus/time/clock.hpp>

namespace tactus::inline v0 {

/// Carries out what ends a suspension.
class resumer {
public:
    virtual void resume_suspended(mailbox_index who) noexcept = 0;
    virtual void suspension_limit(mailbox_index who, suspend_limit_action action) noexcept = 0;

protected:
    ~resumer() = default;
};

struct suspension_metrics {
    std::uint64_t suspended = 0;  // how often
    std::uint64_t resumed = 0;
    std::uint64_t by_reason[suspend_reason_count] = {};
    std::uint64_t unheard_signals = 0;
    bool measured = false;      // there is a clock; otherwise no durations
    std::uint64_t last_ns = 0;  // of the suspension that ended last
    std::uint64_t total_ns = 0;
};

/// Why an actor cannot be suspended. Nothing is held back then.
enum class suspend_error : std::uint8_t {
    too_often,      // it is held back as often as can be counted
    no_memory,      // for another record
    no_scheduler,   // a time or a limit, and nothing to wait through
    timer_refused,  // by the scheduler: full, under pressure, closed, or the time is too long
};
inline constexpr std::size_t suspend_error_count = 4;
[[nodiscard]] const char* name_of(suspend_error why) noexcept;
[[nodiscard]] const char* text_of(suspend_error why) noexcept;

class suspensions final : private timer_listener {
public:
    struct options {
        memory_source* memory = nullptr;
        const clock* time = nullptr;      // null: no durations
        timer_service* timers = nullptr;  // null: no times; needs `time`, and outlives this
        resumer* to = nullptr;
        std::uint32_t capacity = 8;  // where it starts; a power of two
        bool notes_signals = false;  // somebody traces: see take_signal
    };
    explicit suspensions(const options& o) noexcept;
    /// What it takes when it is built.
    [[nodiscard]] static constexpr memory_plan plan(std::uint32_t capacity,
                                                    bool notes_signals) noexcept {
        memory_plan p = suspension_records::plan(capacity);
        return notes_signals ? p.plus(suspension_records::plan(notes_capacity)) : p;
    }

    /// The actor is held back already. A time that has come meanwhile ends it before this returns.
    [[nodiscard]] std::expected<void, suspend_error> add(mailbox_index who, suspend_reason reason,
                                                         const resume_condition& until,
                                                         const suspend_limit& limit) noexcept;
    /// How many were resumed.
    std::size_t signal(std::uint64_t key) noexcept;
    /// A look: does anybody wait for room?
    [[nodiscard]] bool wants_room() const noexcept {
        return room_count_.load(std::memory_order_relaxed) != 0;
    }
    /// Room has come up somewhere: resumes all that wait for it.
    std::size_t capacity_available() noexcept;
    /// The actor has ended, or was restarted: its suspension with it. False when there was none.
    bool forget(mailbox_index who) noexcept;

    /// The actor is let go by hand, of `count` times it is held back: ends its oldest suspension,
    /// where each of them is one. False when there was none to end.
    bool forget_beyond(mailbox_index who, std::uint32_t count) noexcept;

    /// OH-7: the key of the signal that let the actor go, once; none when something else did, or
    /// there was no memory to note it.
    [[nodiscard]] std::optional<std::uint64_t> take_signal(mailbox_index who) noexcept;

    [[nodiscard]] suspension_metrics metrics() noexcept;
    [[nodiscard]] std::uint32_t waiting_count() noexcept;
    [[nodiscard]] std::uint32_t record_count() noexcept;

    [[nodiscard]] timer_service* timers() const noexcept { return timers_; }

private:
    // Where the notes start. Few wait at once: most are taken by the message that was held back.
    static constexpr std::uint32_t notes_capacity = 1;

    void expired(mailbox_index whose, timer_handle which) noexcept override;
    /// False: there is no memory.
    [[nodiscard]] bool keep(const suspension_record& r, suspend_reason reason) noexcept;
    /// Both give the timer, which is to be cancelled when the lock was let go of.
    timer_handle ended(std::uint32_t at) noexcept;
    timer_handle remove(std::uint32_t at) noexcept;
    void cancel(timer_handle which) noexcept {
        if (which.generation() != 0)
            (void)timers_->cancel(which);
    }
    void let_go_by(mailbox_index who, std::optional<std::uint64_t> key) noexcept;
    std::size_t resume_all(resume_condition::kind on, std::uint64_t key) noexcept;

    const clock* time_;
    timer_service* timers_;
    resumer& to_;

    port::mutex mutex_;
    // Under the lock.
    suspension_records records_;
    // Who was let go by a signal and has not been asked for it: found by actor, in no ring, since
    // its records wait for nothing. The lock orders it: whoever sees that it was let go enters
    // after the note was made.
    std::optional<suspension_records> signalled_;
    suspension_metrics metrics_;

    // How many wait for room; written under the lock, looked at without it. Ordered by the gate
    // (see mailbox_gate::has_room).
    port::atomic<std::uint32_t> room_count_{0};
};

}  // namespace tactus::inline v0
