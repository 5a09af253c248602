// SPDX-License-Identifier: Apache-2.0
//
// Log flush: before the process ends by force, waits until what was logged has been written.
//
// The log's own thread writes and flushes; the thread that ends the process only waits for it, for
// a bounded time. It takes no lock and allocates nothing, so it may be a signal handler, and may
// have been interrupted within the log.
//
// Each log has an account in static memory, where a signal handler finds it, also one that ends
// meanwhile. A log that finds no free account is not waited for.
//
// Thread safety: an account's begin and end from any thread, `written` from its log's thread; the
// rest from any thread. `wait_for_logs` is async-signal-safe.
#pragma once

#include <atomic>
#include <cstdint>

#include <sys/types.h>

namespace tactus::inline v0::runtime {

/// Counts the records of one log: those whose writing began, those that were handed to its thread,
/// and how many had been when all were written and flushed last.
class log_account {
public:
    /// One that is free; null when there is none. Owes: release.
    [[nodiscard]] static log_account* claim() noexcept;
    void release() noexcept;

    /// A record is about to be handed over; false while the process waits to end: it is lost then.
    [[nodiscard]] bool begin() noexcept;
    void end() noexcept { queued_.fetch_add(1, std::memory_order_release); }
    /// The log's thread has begun: a wait on that thread would be in vain.
    void runs_here() noexcept;

    /// After each record, on the log's thread. When nothing is left in the queue, it flushes.
    template <class IsEmpty, class Flush>
    void written(IsEmpty&& is_empty, Flush&& flush) {
        for (int tries = 0; is_empty(); ++tries) {
            // In this order: equal, all that had begun had been handed over before the queue is
            // looked at again.
            const std::uint32_t queued = queued_.load(std::memory_order_acquire);
            const std::uint32_t begun = begun_.load(std::memory_order_relaxed);
            if (queued != begun && tries < tries_max) {
                pause();  // a writer is between the two counts: for the time of an instruction
                continue;
            }
            if (!is_empty())
                return;
            // Also when it fails: there is nothing more to wait for.
            const struct publish {
                std::atomic<std::uint32_t>& to;
                std::uint32_t count;
                ~publish() { to.store(count, std::memory_order_release); }
            } then{flushed_, queued};
            flush();
            return;
        }
    }

private:
    friend void wait_for_logs() noexcept;
    friend void leave_logs_of_parent() noexcept;
    static constexpr int tries_max = 100;
    static void pause() noexcept;
    /// All that had begun before `count` of them was written.
    [[nodiscard]] bool has_flushed(std::uint32_t count) const noexcept {
        return static_cast<std::int32_t>(flushed_.load(std::memory_order_acquire) - count) >= 0;
    }

    std::atomic<bool> claimed_{false};
    std::atomic<std::uint32_t> begun_{0};
    std::atomic<std::uint32_t> queued_{0};
    std::atomic<std::uint32_t> flushed_{0};
    std::atomic<pid_t> thread_{0};
};

/// Waits until everything that was logged before is written, for a second at most. Records that
/// come meanwhile are lost. Async-signal-safe.
void wait_for_logs() noexcept;

/// After fork(), in the child: the threads of the logs are the parent's, and are not waited for.
void leave_logs_of_parent() noexcept;

/// While one lives, the process waits for its logs before it ends: the last one takes back what the
/// first has installed.
class log_flush {
public:
    struct options {
        bool on_terminate = true;      // std::terminate; the handler that was there is called then
        bool on_fatal_signals = true;  // those that have no handler yet
    };
    explicit log_flush(const options& o);
    ~log_flush();
    log_flush(const log_flush&) = delete;
    log_flush& operator=(const log_flush&) = delete;

private:
    const options how_;
};

}  // namespace tactus::inline v0::runtime
