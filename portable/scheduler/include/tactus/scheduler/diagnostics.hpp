// SPDX-License-Identifier: Apache-2.0
//
// Diagnostics: who looks at what the scheduler does (SD-2, SD-6).
//
// Each subscriber has a queue of its own, of a size it chose, and takes from it when it likes. A
// queue that is full loses its oldest event: publishing never waits and never fails, so looking on
// causes no backpressure. Where nobody listens to a kind, publishing it costs one branch.
//
// What was lost is counted, and told seldom:
//   diagnostics_dropped   a warning for the system's listener {lost so far, capacity}, once until
//                         the queue has been emptied
//   diagnostics_overflow  an event for the subscriber {lost in a row}, once, when as many events
//                         were lost as the queue has room for and none was taken in between. It is
//                         taken first, and comes whatever kinds were asked for
// publish() may be called under a lock of the scheduler, so it tells nothing itself: it returns
// that something is to be told, and the caller does so with tell() when it holds no lock. tell()
// also passes the events of a queue with a reader on to that.
//
// Invariants
//   D1  a kind's bit is set in wanted_ exactly when a queue wants it, and the mark exactly while
//       one wants any; written under the mutex
//   D2  a queue is in queues_ exactly while its subscription lives
//
// Thread safety: any thread. A subscription belongs to one thread at a time, and must be gone
// before the diagnostics are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <utility>

#include <tactus/base/memory_source.hpp>
#include <tactus/port/port.hpp>
#include <tactus/scheduler/scheduler_config.hpp>
#include <tactus/scheduler/scheduler_error.hpp>
#include <tactus/scheduler/scheduler_event.hpp>

namespace tactus::inline v0 {

/// A set of kinds of diagnostics.
class diagnostic_kinds {
public:
    constexpr diagnostic_kinds() = default;
    template <class... Kinds>
    constexpr diagnostic_kinds(diagnostic_kind first, Kinds... more) noexcept  // NOLINT: it is one
        : bits_((bit(first) | ... | bit(more))) {}

    [[nodiscard]] static constexpr diagnostic_kinds all() noexcept {
        diagnostic_kinds kinds;
        kinds.bits_ = (std::uint32_t{1} << diagnostic_kind_count) - 1;
        return kinds;
    }
    [[nodiscard]] constexpr bool has(diagnostic_kind kind) const noexcept {
        return (bits_ & bit(kind)) != 0;
    }
    [[nodiscard]] constexpr std::uint32_t bits() const noexcept { return bits_; }

    friend constexpr bool operator==(diagnostic_kinds, diagnostic_kinds) = default;

private:
    friend class diagnostics;
    [[nodiscard]] static constexpr std::uint32_t bit(diagnostic_kind kind) noexcept {
        return std::uint32_t{1} << static_cast<unsigned>(kind);
    }
    std::uint32_t bits_ = 0;
};

/// Is told events in order, by one thread at a time and under no lock, on a thread that published.
class diagnostic_reader {
public:
    virtual void read(const diagnostic& what) noexcept = 0;

protected:
    ~diagnostic_reader() = default;
};

class diagnostics {
    struct queue;

public:
    static constexpr std::uint32_t default_capacity = scheduler_config{}.diagnostics_capacity;
    static constexpr std::uint32_t capacity_max = 1U << 20;

    /// A bit that is set while there are subscriptions, for who does not look here.
    struct mark {
        port::atomic<std::uint32_t>* word = nullptr;  // null: there is none
        std::uint32_t bit = 0;
    };
    /// Queues are taken of `memory`, when somebody subscribes, and nothing at any other time.
    diagnostics(memory_source& memory, const mark& in_use) noexcept
        : memory_(memory), in_use_(in_use) {}
    explicit diagnostics(memory_source& memory) noexcept : diagnostics(memory, mark()) {}
    diagnostics(const diagnostics&) = delete;
    diagnostics& operator=(const diagnostics&) = delete;
    ~diagnostics();  // check diagnostics:1: all subscriptions are gone

    class subscription;
    /// Events from now on, of these kinds. `invalid_options {capacity}`, or `capacity_exceeded
    /// {subscription}` when there is no memory for the queue. With a reader nothing is polled: it
    /// outlives the subscription, which ends when nothing is published any more.
    [[nodiscard]] std::expected<subscription, scheduler_error> subscribe(
        diagnostic_kinds kinds, std::uint32_t capacity = default_capacity,
        diagnostic_reader* reader = nullptr) noexcept;
    /// Bytes of one block that a queue takes.
    [[nodiscard]] static std::size_t queue_bytes(std::uint32_t capacity) noexcept;

    /// Somebody listens to this kind. For those who would have to find out what to publish.
    [[nodiscard]] bool wants(diagnostic_kind kind) const noexcept {
        // Relaxed: the queues themselves are looked at under the mutex. Who subscribed before, as
        // far as this thread knows, is seen.
        return (wanted_.load(std::memory_order_relaxed) & diagnostic_kinds::bit(kind)) != 0;
    }
    /// Puts it into the queue of everybody who wants it. True: call tell(), under no lock.
    [[nodiscard]] bool publish(const diagnostic& what) noexcept {
        return wants(what.kind) && deliver(what);
    }
    /// Tells what was lost, if that has not been told, and calls readers.
    void tell(scheduler_listener& whom, instant now) noexcept;

    /// For dumps.
    struct subscriber {
        std::uint32_t number = 0;  // counts subscriptions, from 1
        diagnostic_kinds kinds;
        std::uint32_t waiting = 0;
        std::uint32_t capacity = 0;
        std::uint64_t dropped = 0;
    };
    struct counts {
        std::uint32_t subscribers = 0;
        std::uint64_t dropped = 0;  // by all there ever were
    };
    /// Fills in as many as there is room for, in the order in which they subscribed.
    counts look(std::span<subscriber> into = {}) noexcept;

private:
    bool deliver(const diagnostic& what) noexcept;
    [[nodiscard]] std::optional<scheduler_warning> take_warning() noexcept;
    void remove(queue& q) noexcept;
    void note_wanted() noexcept;
    /// Calls readers.
    void pass_on() noexcept;

    memory_source& memory_;
    const mark in_use_;
    port::mutex mutex_;
    port::atomic<std::uint32_t> wanted_{0};  // D1
    // Under the mutex.
    queue* queues_ = nullptr;  // in the order of subscribing
    std::uint32_t subscriptions_ = 0;
    std::uint64_t dropped_ = 0;
};

/// The right to take what was published. Moves; frees the queue when destroyed.
class diagnostics::subscription {
public:
    subscription() = default;
    subscription(subscription&& other) noexcept
        : from_(std::exchange(other.from_, nullptr)),
          queue_(std::exchange(other.queue_, nullptr)) {}
    subscription& operator=(subscription&& other) noexcept {
        std::swap(from_, other.from_);
        std::swap(queue_, other.queue_);
        return *this;
    }
    ~subscription();

    /// False: moved from.
    [[nodiscard]] explicit operator bool() const noexcept { return queue_ != nullptr; }
    /// The oldest that waits.
    [[nodiscard]] std::optional<diagnostic> poll() noexcept;
    /// As many as wait and fit, the oldest first; how many.
    std::size_t drain(std::span<diagnostic> into) noexcept;
    /// From now on these kinds. From any thread, and by its reader, too.
    void want(diagnostic_kinds kinds) noexcept;
    /// How many were lost, since it was subscribed.
    [[nodiscard]] std::uint64_t dropped() const noexcept;

private:
    friend class diagnostics;
    subscription(diagnostics& from, queue& q) noexcept : from_(&from), queue_(&q) {}

    diagnostics* from_ = nullptr;
    queue* queue_ = nullptr;
};

}  // namespace tactus::inline v0
