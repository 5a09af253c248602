// SPDX-License-Identifier: Apache-2.0
//
// Deterministic log: what happened to every job, in order, for comparing two runs (SD-1).
//
// Of a program in a deterministic world two runs give the same records, and the same bytes when
// written (layout in log_replay.hpp): ticks and numbers of jobs, no addresses, no times of day.
// Recorded are schedule, fire and cancel, and on_close for the order of closing; what depends on
// how fast the machine is (drift, driver_status, driver_metrics) is not.
//
// A log keeps the beginning: once full it takes nothing more and counts what is lost, because the
// first difference of two runs is what one looks for. One that keeps the newest is a ring: for the
// end of a run that went wrong.
//
// Off until enabled, at the cost of one branch. Memory is taken by enable() alone.
//
// What was recorded does not change while it is read, so that more can be recorded behind it: a
// recorded_log is what there was when it was taken. A ring that is full loses what comes meanwhile.
//
// Thread safety: none; the scheduler's owner records. A recorded_log may be read by another thread
// until end_reading().
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>

#include <tactus/base/memory_source.hpp>
#include <tactus/scheduler/scheduler_error.hpp>
#include <tactus/scheduler/scheduler_event.hpp>

namespace tactus::inline v0 {

/// Takes bytes, piece by piece.
class byte_sink {
public:
    virtual void write(std::span<const std::byte> piece) noexcept = 0;

protected:
    ~byte_sink() = default;
};

/// What a log loses once it is full: what comes then, or what is oldest.
enum class log_keeps : std::uint8_t { oldest, newest };

/// Records up to some moment. Refers to the log they are in.
class recorded_log {
public:
    /// In the order in which they happened; of a ring once begin_reading() was called.
    [[nodiscard]] std::span<const diagnostic> records() const noexcept { return {records_, size_}; }
    /// What came when it was full; of a ring what is missing before the first record.
    [[nodiscard]] std::uint64_t lost() const noexcept { return lost_; }
    [[nodiscard]] log_keeps keeps() const noexcept { return keeps_; }
    /// The bytes that log_replay reads.
    void write(byte_sink& to) const noexcept;

protected:
    diagnostic* records_ = nullptr;
    std::uint32_t size_ = 0;
    std::uint64_t lost_ = 0;
    log_keeps keeps_ = log_keeps::oldest;
};

class deterministic_log : public recorded_log {
public:
    static constexpr std::uint32_t capacity_max = 1U << 24;

    explicit deterministic_log(memory_source& memory) noexcept : memory_(memory) {}
    deterministic_log(const deterministic_log&) = delete;
    deterministic_log& operator=(const deterministic_log&) = delete;
    ~deterministic_log() { disable(); }

    /// Begins an empty log of so many records. `invalid_options {capacity}`, or `capacity_exceeded
    /// {log}` without memory or while somebody reads; a log that was there goes on then.
    [[nodiscard]] std::expected<void, scheduler_error> enable(
        std::uint32_t capacity, log_keeps keeps = log_keeps::oldest) noexcept;
    /// Gives the memory back, with what was recorded. Requires: nobody reads.
    void disable() noexcept;
    [[nodiscard]] bool enabled() const noexcept { return records_ != nullptr; }

    void record(const diagnostic& what) noexcept {
        if (records_ != nullptr) [[unlikely]]
            keep(what);
    }

    /// What there is now; it stays until as many have ended reading as have begun.
    [[nodiscard]] recorded_log begin_reading() noexcept;
    void end_reading() noexcept { --readers_; }

private:
    void keep(const diagnostic& what) noexcept;

    memory_source& memory_;
    std::uint32_t capacity_ = 0;
    std::uint32_t readers_ = 0;
    std::uint32_t oldest_ = 0;  // of a ring
};

}  // namespace tactus::inline v0
