// SPDX-License-Identifier: Apache-2.0
//
// Tick source: counts ticks where they happen, hands them over where they are processed (TS-4 …
// TS-6).
//
// The notifying side (a thread, an interrupt, a test) does one atomic addition and nothing else.
// The pulling side, one owner at a time, takes all that accumulated as one event and cuts it into
// chunks; nothing is dropped, however late it comes (on 32-bit cores it must ask at least once in
// 2^32 ticks, suspended or not). From the size of what it found it judges how far behind it is
// (backlog_judge).
//
// Who owns the pulling side holds the lease. stop_and_flush() ends it for good: what was counted
// before is returned, what is notified later is never seen, and the driver is told to stop, once.
// The lease does so when destroyed.
//
// Thread safety: notify_tick and inject_manual_tick from anywhere; everything else by the lease's
// holder.
#pragma once

#include <cstdint>
#include <optional>

#include <tactus/port/port.hpp>
#include <tactus/time/backlog_judge.hpp>
#include <tactus/time/tick_scale.hpp>

namespace tactus::inline v0 {

/// Ticks taken from the source: all that accumulated since the last pull.
struct tick_event {
    std::uint64_t ticks = 0;
    tick_mode mode = tick_mode::normal;

    friend constexpr bool operator==(const tick_event&, const tick_event&) = default;
};

/// How to tell whoever produces the ticks that nobody wants them any more.
struct driver_release {
    void (*release)(void* driver) noexcept = nullptr;
    void* driver = nullptr;
};

class tick_source {
public:
    struct options {
        std::uint32_t catch_up_window = 32;  // ticks; at least 1 (check tick_source:1)
        driver_release driver = {};
        port::event_count::word first_count =
            0;  // where the counter starts; tests start it near its maximum
    };

    explicit tick_source(const options& o) noexcept;
    tick_source() noexcept : tick_source(options{}) {}
    tick_source(const tick_source&) = delete;
    tick_source& operator=(const tick_source&) = delete;
    ~tick_source();  // check tick_source:3: the lease is gone

    /// Counts `n` ticks: one atomic addition. From any thread or interrupt. After a stop it has no
    /// effect.
    void notify_tick(std::uint32_t n = 1) noexcept { counted_.add(n); }
    /// The same path, for tests and simulation.
    void inject_manual_tick(std::uint32_t n = 1) noexcept { notify_tick(n); }

    class lease;
    /// The pulling side. Requires: no other lease of this source is alive (check tick_source:2).
    [[nodiscard]] lease acquire() noexcept;
    /// The same for who has a window of its own, at least 1 (check tick_source:4), by which ticks
    /// are judged from now on.
    [[nodiscard]] lease acquire(std::uint32_t catch_up_window) noexcept;

private:
    enum class phase : std::uint8_t { running, suspended, over };

    [[nodiscard]] std::uint64_t pending() const noexcept;
    [[nodiscard]] std::optional<tick_event> try_pull() noexcept;
    [[nodiscard]] tick_status status() const noexcept;
    std::uint64_t stop_and_flush() noexcept;

    // Shared: notifiers add, the lease's holder reads. E-tick in <tactus/port/port.hpp>.
    port::event_count counted_;

    // Lease's holder only.
    port::counter64 taken_;
    std::uint64_t kept_ = 0;  // taken while suspended
    backlog_judge judge_;     // looks at what each pull found
    driver_release driver_;
    phase phase_ = phase::running;
    bool leased_ = false;
};

/// The right to take ticks. Moves; ends the source's service when destroyed.
class tick_source::lease {
public:
    lease(lease&& other) noexcept : source_(other.source_) { other.source_ = nullptr; }
    lease& operator=(lease&&) = delete;
    ~lease();

    /// What accumulated since the last pull, or nothing. Nothing while suspended: the ticks are
    /// kept.
    [[nodiscard]] std::optional<tick_event> try_pull() noexcept { return source_->try_pull(); }
    /// The worse of what the last pull found and what waits now; suspended also after a stop.
    [[nodiscard]] tick_status status() const noexcept { return source_->status(); }
    /// Ticks counted and not yet pulled.
    [[nodiscard]] std::uint64_t pending() const noexcept { return source_->pending(); }

    /// While suspended ticks are counted and kept, and status() says so. No effect after a stop.
    void suspend() noexcept;
    void resume() noexcept;

    /// Takes what was counted, shuts out what comes later, releases the driver. A second call
    /// returns 0.
    std::uint64_t stop_and_flush() noexcept { return source_->stop_and_flush(); }

private:
    friend class tick_source;
    explicit lease(tick_source& source) noexcept : source_(&source) {}
    tick_source* source_;  // nullptr after a move
};

/// Cuts a number of ticks into chunks: `while (const auto n = chunks.next()) run(n);`
class tick_chunks {
public:
    /// Requires: chunk is at least 1 (check tick_chunks:1).
    tick_chunks(std::uint64_t ticks, std::uint32_t chunk) noexcept;
    /// The size of the next chunk; 0 when all is cut.
    [[nodiscard]] std::uint32_t next() noexcept;

private:
    std::uint64_t rest_;
    std::uint32_t chunk_;
};

}  // namespace tactus::inline v0
