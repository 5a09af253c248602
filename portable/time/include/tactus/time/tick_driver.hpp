// SPDX-License-Identifier: Apache-2.0
//
// Tick driver: who makes time pass for a system (TS-7, TS-8). A thread that sleeps until something
// is due, an interrupt that counts, a test that says so, something of the user's: all are equal,
// and a system is given one.
//
// There are two ways to drive. One that has a thread of its own asks its host when to act, and acts
// then. One that must not run anything, an interrupt, counts on the host's tick source; whoever
// runs the system pulls. A host offers one of them, or both.
//
// A driver that stops by itself tells its host, once, and does nothing from then on: the host may
// start it again (driver_keeper).
//
// Thread safety: start and stop by the host, one at a time; the rest from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>

#include <tactus/time/clock.hpp>
#include <tactus/time/instant.hpp>
#include <tactus/time/tick_source.hpp>

namespace tactus::inline v0 {

/// Why a driver did not start, or stopped.
enum class tick_driver_error : std::uint8_t {
    spawn_failed,             // no thread
    handle_unavailable,       // what it drives with is not there, or somebody else's
    unsupported_environment,  // not with a clock of this kind
    unsupported_executor,     // the host is not driven in its way
    invalid_resolution,       // it cannot tick so
    driver_stopped,           // it has ended
    drift_exceeded,           // it came later than it was allowed to
};
inline constexpr std::size_t tick_driver_error_count = 7;
[[nodiscard]] const char* name_of(tick_driver_error error) noexcept;
/// A line for people that says what to do.
[[nodiscard]] const char* text_of(tick_driver_error error) noexcept;

/// What a driver has done since it was started.
struct tick_driver_metrics {
    std::uint64_t wakeups = 0;  // of its thread; ticks, where it counts
    std::uint64_t calls = 0;    // of those: called early, for a nearer deadline
    std::uint64_t acts = 0;     // of those: there was something due
    duration jitter = {};       // how late it wakes under no load, measured when it started
    duration lateness = {};     // how late it woke last, when the time came
    duration lateness_max = {};
    duration lateness_recent = {};  // the most since a listener was told, or began to listen

    friend constexpr bool operator==(const tick_driver_metrics&,
                                     const tick_driver_metrics&) = default;
};

/// Who makes the ticks of a system (TS-9).
struct driver_view {
    const char* name = "";
    const char* kind = "";  // manual, async_host, hardware
    duration resolution = {};
    instant since = {};
    std::uint32_t restarts = 0;
};
/// Who knows.
class driver_source {
public:
    /// Any thread. Without a name: there is none.
    [[nodiscard]] virtual driver_view view() const noexcept = 0;

protected:
    ~driver_source() = default;
};

/// Who is told what a driver does, once a second.
class driver_listener {
public:
    /// On the driver's thread; must not block, nor call the driver. False: that was enough, as if
    /// nobody listened from now on.
    [[nodiscard]] virtual bool measured(const tick_driver_metrics& what) noexcept = 0;

protected:
    ~driver_listener() = default;
};

/// What is driven.
class tick_host {
public:
    [[nodiscard]] virtual const clock& time() const noexcept = 0;
    [[nodiscard]] virtual duration resolution() const noexcept = 0;

    /// Where a driver counts that must not run anything; null: nobody pulls.
    [[nodiscard]] virtual tick_source* ticks() noexcept { return nullptr; }

    /// False: it is not driven by calls of the next two.
    [[nodiscard]] virtual bool acts() const noexcept { return true; }
    /// When act() is next to be called; instant::never() until somebody calls deadline_added.
    [[nodiscard]] virtual instant next_act() noexcept { return instant::never(); }
    /// Does what is due; false when there was nothing.
    virtual bool act(instant now) noexcept {
        (void)now;
        return false;
    }

    /// It has stopped by itself. Once per start, from any thread of the driver's but not within
    /// start, stop and act; it is not to be stopped or started within this.
    virtual void driver_stopped(tick_driver_error why) noexcept = 0;

protected:
    ~tick_host() = default;
};

class tick_driver {
public:
    tick_driver(const tick_driver&) = delete;
    tick_driver& operator=(const tick_driver&) = delete;

    /// A constant, for people.
    [[nodiscard]] virtual const char* name() const noexcept = 0;
    [[nodiscard]] virtual clock_kind kind() const noexcept = 0;

    /// Drives `to` from now on, until it is stopped or stops by itself. Requires: `to` outlives the
    /// next stop. One that is started, and was not stopped, says handle_unavailable.
    [[nodiscard]] virtual std::expected<void, tick_driver_error> start(tick_host& to) noexcept = 0;
    /// When this returns all its threads have ended, and the host is called no more. Also when it
    /// is not started.
    virtual void stop() noexcept = 0;

    /// Something is due at `at`, earlier than anything the host had before. Whoever says so did add
    /// it before: either the driver sees it when it asks, or it is called here.
    virtual void deadline_added(instant at) noexcept { (void)at; }

    /// How late it wakes under no load, as measured when it started; nothing where it does not
    /// sleep.
    [[nodiscard]] virtual duration jitter() const noexcept { return {}; }
    [[nodiscard]] virtual tick_driver_metrics metrics() const noexcept { return {}; }
    /// Tells `to` once a second from now on; null: nobody. When this returns, who was told before
    /// is not being told any more.
    virtual void listen(driver_listener* to) noexcept { (void)to; }
    /// `who` is not told any more when this returns. Nothing happens where somebody else listens;
    /// one that does not tell them apart tells nobody.
    virtual void forget(driver_listener& who) noexcept {
        (void)who;
        listen(nullptr);
    }

protected:
    tick_driver() = default;
    ~tick_driver() = default;  // never deleted through this type
};

}  // namespace tactus::inline v0
