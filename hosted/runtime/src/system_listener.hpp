// SPDX-License-Identifier: Apache-2.0
//
// What a hosted system says in its log by itself: messages that nobody handled, a few at a time
// (EV-2), how actors that failed are handled, a few lines per actor (SV-5; see failure_lines.hpp),
// and what the kernel warns of, each kind once per second at most (EV-1).
//
//     decision    level
//     resume      warning
//     others      error
//     warnings    warning
//
// Thread safety: any thread.
#pragma once

#include "failure_lines.hpp"

#include <tactus/actor/actor_world.hpp>
#include <tactus/actor/dead_letter_log.hpp>
#include <tactus/time/clock.hpp>

#include <cstdint>
#include <optional>
#include <utility>

namespace tactus::inline v0::runtime {

/// Lets a line pass once per second, and counts what does not.
class line_limit {
public:
    /// How many there are to be told of, with this one; 0: not now.
    [[nodiscard]] std::uint64_t next(const clock* time) noexcept {
        const instant now = time != nullptr ? time->now() : instant();
        const port::lock_guard held(mutex_);
        ++count_;
        if (told_at_ && now - *told_at_ < duration::from_s(1))
            return 0;
        told_at_ = now;
        return std::exchange(count_, 0);
    }

private:
    port::mutex mutex_;
    std::uint64_t count_ = 0;
    std::optional<instant> told_at_;
};

class system_listener {
public:
    system_listener(logger& to, const dead_letter_log::options& letters,
                    const failure_lines::options& failures) noexcept
        : to_(to), time_(letters.time), letters_(letters), failures_(failures), hooks_(failures) {}

    void lost(actor_world& world, any_ref to, any_ref from, const message_type& type,
              dead_letter_cause cause) noexcept;
    /// `each`: with a line of the level debug for every one (C-EVT-3).
    void unhandled(actor_world& world, any_ref who, envelope& message, bool each) noexcept;
    void supervised(actor_world& world, const world_events::decision& d) noexcept;
    void hook_failed(actor_world& world, any_ref who, const char* hook,
                     const failure_cause& why) noexcept;
    void guardian_failed(const failure_cause& why) noexcept;
    void pressure(actor_world& world, const mailbox_pressure& what) noexcept;
    void pool_exhausted(std::uint32_t refused) noexcept;
    void deadline_missed(actor_world& world, any_ref who, duration late) noexcept;
    void starved(std::string_view dispatcher, std::uint32_t waiting, std::uint32_t busy) noexcept;
    void handler_slow(actor_world& world, any_ref who, std::string_view dispatcher,
                      std::uint32_t worker, duration running) noexcept;
    void user_code_failed(user_code where, const failure& why) noexcept;
    void timer_warned(const scheduler_warning& what) noexcept;
    /// Of a shutdown that ends the system.
    void begin_shutdown() noexcept { letters_.begin_shutdown(); }

private:
    void note(actor_world& world, any_ref to, any_ref from, const lost_message& what) noexcept;

    enum warning : std::uint8_t { filling, exhausted, late_run, threw, starving, slow };
    static constexpr std::size_t warning_count = 6;
    /// True: a line is to be written; `more` were not.
    [[nodiscard]] bool warns(warning what, std::uint64_t& more) noexcept;

    logger& to_;
    const clock* time_;
    line_limit limits_[warning_count];
    line_limit timers_[scheduler_warning_count];
    dead_letter_log letters_;
    failure_lines failures_;
    failure_lines hooks_;
};

}  // namespace tactus::inline v0::runtime
