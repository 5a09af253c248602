// SPDX-License-Identifier: Apache-2.0
//
// Timer policies: how a timer behaves when nobody says (SC-5).
//
// Periodic timers have options. Without them the registry supplies a policy by where the timer
// comes from, the most particular first: its dispatcher, its guardian, its subsystem, the default.
// Timers of the runtime itself (asks, delays, receive timeouts, back-off, suspensions) are of high
// priority unless, on a host, a policy for that subsystem says otherwise; those of their dispatcher
// and guardian do not count for them.
//
// Policies are checked when they are set, so what lookup() gives is always valid.
//
// Thread safety: any thread; policies may be set while timers are registered, and hold for those
// that come after.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>

#include <tactus/base/memory_source.hpp>
#include <tactus/port/port.hpp>
#include <tactus/scheduler/execution_batch.hpp>
#include <tactus/scheduler/scheduler_error.hpp>

namespace tactus::inline v0 {

/// What becomes of missed periods (SC-20): one delivery for all, or each in turn.
enum class catch_up_rule : std::uint8_t { fold, each };
inline constexpr std::size_t catch_up_rule_count = 2;
[[nodiscard]] const char* name_of(catch_up_rule rule) noexcept;

/// When the next wait of a fixed delay begins (SC-26).
enum class delay_after : std::uint8_t { handled, sent };
inline constexpr std::size_t delay_after_count = 2;
[[nodiscard]] const char* name_of(delay_after after) noexcept;

/// The default backlog_limit: missed runs fold into one delivery, and the job continues.
inline constexpr std::uint32_t no_backlog_limit = 0xffff'ffff;

struct fixed_rate_options {
    std::uint32_t backlog_limit = no_backlog_limit;  // at least 1; more missed: cancelled (SC-22)
    std::uint32_t burst_threshold = 2;  // 1 … backlog_limit; more missed: warned (SC-21)
    timer_priority priority = timer_priority::normal;
    catch_up_rule catch_up = catch_up_rule::fold;

    friend constexpr bool operator==(const fixed_rate_options&,
                                     const fixed_rate_options&) = default;
};

struct fixed_delay_options {
    timer_priority priority = timer_priority::normal;
    delay_after after = delay_after::handled;
    std::uint64_t metadata = 0;  // the user's own; dumps show it

    friend constexpr bool operator==(const fixed_delay_options&,
                                     const fixed_delay_options&) = default;
};

/// SC-14: invalid_options {field}, or nothing.
[[nodiscard]] std::expected<void, scheduler_error> validate(const fixed_rate_options& o) noexcept;
[[nodiscard]] std::expected<void, scheduler_error> validate(const fixed_delay_options& o) noexcept;

struct timer_policy {
    fixed_rate_options fixed_rate = {};
    fixed_delay_options fixed_delay = {};
    timer_priority one_shot = timer_priority::normal;

    /// The defaults, with one priority for all.
    [[nodiscard]] static constexpr timer_policy of(timer_priority priority) noexcept {
        timer_policy p;
        p.fixed_rate.priority = priority;
        p.fixed_delay.priority = priority;
        p.one_shot = priority;
        return p;
    }
    friend constexpr bool operator==(const timer_policy&, const timer_policy&) = default;
};
[[nodiscard]] std::expected<void, scheduler_error> validate(const timer_policy& p) noexcept;

/// Below which guardian the actor lives that a timer is for.
enum class timer_guardian : std::uint8_t { none, root, user, system };
inline constexpr std::size_t timer_guardian_count = 4;
[[nodiscard]] const char* name_of(timer_guardian guardian) noexcept;
/// What part of a program a timer belongs to. Applications number theirs from `application` on.
enum class timer_subsystem : std::uint16_t { none = 0, runtime = 1, application = 256 };

/// Where a timer comes from, as far as it is known.
struct timer_affinity {
    static constexpr std::uint16_t no_dispatcher = 0xffff;

    std::uint16_t dispatcher = no_dispatcher;  // its number
    timer_guardian guardian = timer_guardian::none;
    timer_subsystem subsystem = timer_subsystem::none;
};

class timer_policies {
public:
    /// All memory is taken here; capacity() is 0 when there was none. It outlives this.
    timer_policies(memory_source& memory, std::uint32_t capacity) noexcept;
    timer_policies(const timer_policies&) = delete;
    timer_policies& operator=(const timer_policies&) = delete;
    ~timer_policies();

    using result = std::expected<void, scheduler_error>;
    /// invalid_options, or capacity_exceeded; what was there before is replaced. `none` of each
    /// names nothing: invalid_options {dispatcher, guardian, subsystem}.
    [[nodiscard]] result set_for_dispatcher(std::uint16_t number, const timer_policy& p) noexcept;
    [[nodiscard]] result set_for(timer_guardian guardian, const timer_policy& p) noexcept;
    [[nodiscard]] result set_for(timer_subsystem subsystem, const timer_policy& p) noexcept;
    [[nodiscard]] result set_default(const timer_policy& p) noexcept;

    /// False when there was none. The runtime's is what it was in the beginning then.
    bool clear_for_dispatcher(std::uint16_t number) noexcept;
    bool clear_for(timer_guardian guardian) noexcept;
    bool clear_for(timer_subsystem subsystem) noexcept;

    [[nodiscard]] timer_policy lookup(const timer_affinity& from) const noexcept;

    [[nodiscard]] std::uint32_t count() const noexcept;
    [[nodiscard]] std::uint32_t capacity() const noexcept { return capacity_; }

private:
    enum class kind : std::uint8_t { dispatcher, guardian, subsystem };
    struct entry {
        kind what{};
        std::uint16_t number = 0;
        timer_policy policy;
    };

    [[nodiscard]] entry* find(kind what, std::uint16_t number) const noexcept;
    [[nodiscard]] result set(kind what, std::uint16_t number, const timer_policy& p) noexcept;
    [[nodiscard]] bool clear(kind what, std::uint16_t number) noexcept;

    // Constant after construction.
    memory_source& memory_;
    entry* entries_;
    std::uint32_t capacity_;

    mutable port::mutex mutex_;
    // Under the lock.
    std::uint32_t count_ = 0;
    timer_policy default_;
};

}  // namespace tactus::inline v0
