// SPDX-License-Identifier: Apache-2.0
//
// Suspensions: actors that hold back their user messages until something happens (CO-4, CO-6).
//
// An actor suspends itself with a reason and a condition: a signal with a key, a time, or room in
// some mailbox. Signals resume all that wait for the key, in the order they suspended themselves; a
// signal that nobody waits for is counted, not stored. A limit may end a suspension by resuming,
// failing or stopping the actor. Records are reused: cycles leave no memory behind.
//
// Thread safety: any thread, under one lock; the actors are resumed outside of it.
#pragma once

#include <cstdint>

#include <tactus/dispatch/invoke_result.hpp>
#include <tactus/dispatch/lane_heap.hpp>
#include <tactus/dispatch/timer_phase.hpp>
#include <tactus/mailbox/mailbox_index.hpp>
#include <tactus/time/clock.hpp>

namespace tactus::inline v0 {

enum class suspend_limit_action : std::uint8_t { resume, fail, stop };

/// How long a suspension may last; the action says what happens then.
struct suspend_limit {
    duration after = duration::max();
    suspend_limit_action action = suspend_limit_action::resume;
};

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

class suspensions final : public timer_phase {
public:
    struct options {
        memory_source* memory = nullptr;
        const clock* time = nullptr;  // null: no durations, and `after` is refused
        resumer* to = nullptr;
        std::uint32_t capacity = 16;  // where it starts
    };
    explicit suspensions(const options& o) noexcept;
    ~suspensions();

    /// False when it cannot be kept: no memory, or `after` without a clock. The actor is not to be
    /// suspended then.
    [[nodiscard]] bool add(mailbox_index who, suspend_reason reason, const resume_condition& until,
                           const suspend_limit& limit) noexcept;
    /// How many were resumed.
    std::size_t signal(std::uint64_t key) noexcept;
    /// Room has come up somewhere: resumes all that wait for it.
    std::size_t capacity_available() noexcept;
    /// The actor has ended, or was restarted: its suspension with it. False when there was none.
    bool forget(mailbox_index who) noexcept;

    [[nodiscard]] suspension_metrics metrics() noexcept;
    [[nodiscard]] std::uint32_t waiting_count() noexcept;
    [[nodiscard]] std::uint32_t record_count() noexcept;

    [[nodiscard]] instant next_deadline() noexcept override;
    void run_due(instant now) noexcept override;

private:
    TACTUS_CHECK_MODULE("suspensions");

    static constexpr std::uint32_t none = 0xffff'ffff;
    static constexpr std::uint32_t bucket_count = 16;

    struct record {
        mailbox_index who;
        std::uint64_t key = 0;
        std::uint64_t since_ns = 0;
        std::uint32_t stamp = 1;    // raised when the record is freed: entries of the heap go stale
        std::uint32_t next = none;  // in its list, or the free list
        std::uint32_t list = 0;
        resume_condition::kind on = resume_condition::kind::external_signal;
        suspend_limit_action action = suspend_limit_action::resume;
        bool live = false;
    };
    struct chain {
        std::uint32_t first = none;
        std::uint32_t last = none;
    };
    // Lists: buckets of signals, then the two others.
    static constexpr std::uint32_t capacity_list = bucket_count;
    static constexpr std::uint32_t timed_list = bucket_count + 1;

    [[nodiscard]] std::uint32_t take_record() noexcept;
    void free_record(std::uint32_t index) noexcept;
    void unlink(std::uint32_t index) noexcept;
    /// Takes out the first of a list that waits for `key`; none when there is none.
    [[nodiscard]] std::uint32_t find_in(std::uint32_t list, std::uint64_t key,
                                        bool any_key) noexcept;
    void ended(std::uint32_t index) noexcept;
    std::size_t resume_all(std::uint32_t list, std::uint64_t key, bool any_key) noexcept;
    void drop_stale_deadlines() noexcept;

    memory_source& memory_;
    const clock* time_;
    resumer& to_;

    port::mutex mutex_;
    // Under the lock.
    record* records_ = nullptr;
    std::uint32_t capacity_ = 0;
    std::uint32_t used_ = 0;
    std::uint32_t free_ = none;
    std::uint32_t live_ = 0;
    std::uint64_t next_number_ = 0;
    chain lists_[bucket_count + 2];
    lane_heap deadlines_;
    suspension_metrics metrics_;
    // A look without the lock: something has a deadline.
    port::atomic<std::uint32_t> timed_count_{0};
};

}  // namespace tactus::inline v0
