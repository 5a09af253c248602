// SPDX-License-Identifier: Apache-2.0
//
// Observability hub: the only place that measures (OH-1). The kernel calls its hooks and holds no
// metric code.
//
// Without a sink a hook is a look at one pointer, and nothing else exists. With one, each worker
// has a shard, written by it alone, and all other threads have one together, on lines of its own;
// none takes a lock. Who collects sums them up.
//
// What costs nothing per message (MB-8, PF-13): a run's sends and messages are counted by the run
// anyway, so the hooks "enqueued" and "dequeued" are told at its end how many. After every 256
// messages a worker handled, its next run is a sample: it is timed, and the first message it sends
// is stamped with the time, of which the receiver makes the wait time; so is every 256th message of
// a run that sends many. Runs are the dispatches that certificates count.
//
// A shard stays once it was made, until the system ends: a hook that began before the sink was
// removed still writes there.
//
// Invariants
//   H1  a worker's shard is written by its thread alone: a load and a store make an addition
//   H2  user messages: enqueued = dequeued + discarded + still there, at rest, while the sink was
//       the same from the start
//
// The hub stands between the kernel and kernel_events: what is told to the one above comes by here.
//
// Thread safety: hooks from any thread that has the place it passes; the rest from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include <tactus/base/memory_source.hpp>
#include <tactus/dispatch/events.hpp>
#include <tactus/dispatch/metrics.hpp>
#include <tactus/dispatch/sent.hpp>
#include <tactus/dispatch/worker_lanes.hpp>
#include <tactus/port/port.hpp>
#include <tactus/time/clock.hpp>

namespace tactus::inline v0 {

/// Where each hook counts, in every shard.
struct hub_layout {
    // Where each hook counts.
    static constexpr std::size_t enqueued = 0;
    static constexpr std::size_t dequeued = 1;
    static constexpr std::size_t discarded = 2;
    static constexpr std::size_t resumed = 3;
    static constexpr std::size_t escalated = 4;
    static constexpr std::size_t executor_rejected = 5;
    static constexpr std::size_t deadline_misses = 6;
    static constexpr std::size_t system_dead_letters = 7;
    static constexpr std::size_t executor_retried = 8;
    static constexpr std::size_t dispatches = 9;  // by lane
    static constexpr std::size_t fairness_yields = dispatches + 3;
    static constexpr std::size_t exceedances = fairness_yields + 1;
    static constexpr std::size_t suspended = exceedances + 1;  // by reason
    static constexpr std::size_t refused = suspended + held_reason_count;
    static constexpr std::size_t dead_letters = refused + sent_result_count;
    static constexpr std::size_t latency = dead_letters + dead_letter_cause_count;  // buckets, us
    static constexpr std::size_t duration = latency + duration_buckets::count + 1;
    static constexpr std::size_t count = duration + duration_buckets::count + 1;
};

/// A number that one thread writes and others look at, as wide as a pointer: the widest there is.
/// Who collects unfolds it where that is 32 bits.
class hub_count {
public:
    using number = std::uintptr_t;

    [[nodiscard]] number read() const noexcept {
        return reinterpret_cast<number>(n_.load(std::memory_order_relaxed));
    }
    void write(number n) noexcept {
        n_.store(reinterpret_cast<counted*>(n), std::memory_order_relaxed);  // orders nothing
    }

private:
    struct counted;  // a pointer that points nowhere
    port::atomic<counted*> n_{nullptr};
};

/// How long a worker has had work, in one word, so that who looks needs no lock: while it is idle
/// the sum so far; while it works when it would have begun, had it worked without a break. The
/// change from one to the other is the same both ways. Wraps with the word: what counts is the
/// difference of two looks.
class work_time {
public:
    using number = hub_count::number;
    static constexpr std::uint64_t unit_ns = sizeof(number) < sizeof(std::uint64_t) ? 1'000 : 1;

    // The worker; or who places it, before it is found.
    void begin(instant now, bool works) noexcept {
        word_.write(0);
        if (works)
            change(now);
    }
    [[nodiscard]] bool works() const noexcept { return (word_.read() & 1U) != 0; }
    void change(instant now) noexcept {
        const number seen = word_.read();
        word_.write(((units(now) - (seen >> 1U)) << 1U) | (~seen & 1U));
    }

    struct look {
        number sum;
        instant at;
    };
    /// Any thread. The word is read first: a change after that makes the sum too large, by what
    /// passes between the two, and never too small.
    [[nodiscard]] look look_at(const clock& time) const noexcept {
        const number seen = word_.read();
        const instant now = time.now();
        return {(seen & 1U) != 0 ? (units(now) - (seen >> 1U)) & mask : seen >> 1U, now};
    }
    /// From one sum to that of a later look, which may be smaller (see above).
    [[nodiscard]] static number between(number earlier, number later) noexcept {
        const number n = (later - earlier) & mask;
        return n > mask / 2 ? 0 : n;
    }

private:
    static constexpr number mask = ~number{0} >> 1U;

    [[nodiscard]] static number units(instant at) noexcept {
        return static_cast<number>(at.ns() / unit_ns);
    }
    hub_count word_;
};

/// What a worker has counted.
struct alignas(2 * port::cache_line) hub_shard : hub_layout {
    using number = hub_count::number;

    hub_count values[count];
    hub_count max_streak;
    work_time work;

    // The worker's own.
    std::int32_t until_sample = 0;  // messages; 0 and below: the run going on is one, or the next
    bool times_run = false;         // the run going on
    instant begun;

    hub_shard* next = nullptr;  // under the hub's lock

    // Of who feeds the sink: the last look at `work`.
    instant looked_at;
    work_time::number work_then = 0;
    std::uint32_t busy_ratio = 0;

    void add(std::size_t what, number n) noexcept { values[what].write(values[what].read() + n); }
    void add_duration(std::size_t histogram, std::uint64_t ns) noexcept {
        add(histogram + duration_buckets::of(ns), 1);
        add(histogram + duration_buckets::count, static_cast<number>(ns / 1'000));
    }
};

/// What all other threads have counted.
struct alignas(2 * port::cache_line) hub_outside_shard : hub_layout {
    port::event_count values[count];
    port::atomic<std::uint32_t> sends{0};
};

/// Where a thread finds its shard; there is none while nobody measures.
template <class Shard>
class shard_place {
public:
    [[nodiscard]] bool on() const noexcept {
        return at_.load(std::memory_order_relaxed) != nullptr;
    }
    /// Null while nobody measures.
    [[nodiscard]] Shard* shard() const noexcept { return at_.load(placed.acquire()); }

private:
    friend class hub;

    // "placed": a shard is made before it is found.
    static constexpr port::edge placed{"hub-placed"};
    port::atomic<Shard*> at_{nullptr};
    Shard* made_ = nullptr;  // under the hub's lock
};

/// A worker's.
class hub_place : public shard_place<hub_shard> {
public:
    /// The worker's thread: the hub wants to know when the next run begins, since it is a sample or
    /// ends an idle time.
    [[nodiscard]] bool begins_specially() const noexcept { return begins_specially_; }
    [[nodiscard]] bool is_idle() const noexcept {
        return idle_.load(std::memory_order_relaxed) != 0;
    }

private:
    friend class hub;

    // The worker's own; a byte, which every run looks at.
    bool begins_specially_ = true;
    bool samples_next_ = false;
    // Written by the worker, measured or not; who turns it on has a look. It has done nothing yet.
    port::atomic<std::uint32_t> idle_{1};
};

class hub final : public kernel_events {
public:
    static constexpr std::uint32_t sample_interval = 256;  // MB-8

    struct options {
        memory_source* memory = nullptr;
        const clock* time = nullptr;  // null: nothing is timed
        kernel_events* to = nullptr;  // who is told; null: nobody
    };
    explicit hub(const options& o) noexcept : memory_(*o.memory), time_(o.time), to_(o.to) {}
    ~hub();
    hub(const hub&) = delete;
    hub& operator=(const hub&) = delete;

    // ---- hooks of a run; the worker's thread

    /// "invoke begin", of a run that begins specially. A sample is timed, and the first message it
    /// sends is stamped.
    void begin_run(hub_place& own, worker_lanes& lanes) noexcept;
    /// After a run that handled `processed` messages; `lanes` has counted what was sent since the
    /// last one.
    void invoke_ends(hub_shard& s, hub_place& own, worker_lanes& lanes,
                     std::uint32_t processed) noexcept {
        s.until_sample -= static_cast<std::int32_t>(processed);
        if (s.until_sample <= 0) [[unlikely]] {
            end_sample(s, own, lanes, processed);
            return;
        }
        s.add(hub_layout::enqueued, lanes.sends());
        s.add(hub_layout::dequeued, processed);
    }
    /// A worker has nothing to do, or has done something else: what it sent meanwhile.
    void between_runs(hub_place& own, worker_lanes& lanes) noexcept;
    /// A worker that has found nothing for the first time, and one that has something again.
    void goes_idle(hub_place& own) noexcept;
    void leaves_idle(hub_place& own) noexcept;

    // ---- hooks of messages; `own` is null for who is no worker of this system

    /// A message is about to be pushed by somebody who is no worker: true when it is counted, and
    /// `stamp` when it is to be stamped.
    [[nodiscard]] bool sends_outside(bool& stamp) noexcept;
    /// What sends_outside counted was refused after all.
    void unsent_outside() noexcept;
    /// A worker's send that is counted by its lanes: true when it is to be stamped.
    [[nodiscard]] bool stamps(hub_place& own) noexcept;
    void enqueued(hub_place* own) noexcept { count(own, hub_layout::enqueued, 1); }
    void refused(hub_place* own, sent why) noexcept {
        count(own, hub_layout::refused + static_cast<std::size_t>(why), 1);
    }
    /// A message that had been accepted was taken out, or found to be for another life.
    void discarded(hub_place* own, std::size_t n) noexcept { count(own, hub_layout::discarded, n); }
    /// A stamped message reached its handler.
    void waited(hub_place& own, std::int64_t since_ns) noexcept;

    // ---- hooks of actors and executors

    void executor_rejected() noexcept { count(nullptr, hub_layout::executor_rejected, 1); }
    void executor_retried() noexcept { count(nullptr, hub_layout::executor_retried, 1); }

    // ---- hooks that others hear of, too

    void dead_letter(mailbox_index to, envelope& message,
                     dead_letter_cause cause) noexcept override;
    void message_lost(mailbox_index to, const message_type& type,
                      dead_letter_cause cause) noexcept override;
    void system_dead_letter(mailbox_index to, system_message& message) noexcept override;
    void mailbox_closed(mailbox_index who, std::size_t system_drained,
                        std::size_t user_drained) noexcept override;
    void actor_failed(mailbox_index who, const failure& why) noexcept override;
    bool stops_at_limit(mailbox_index who) noexcept override;
    void deadline_missed(mailbox_index who, std::int64_t late_ns) noexcept override;
    void pressure(const mailbox_pressure& what) noexcept override;
    void suspended(mailbox_index who, held_reason why) noexcept override;
    void resumed(mailbox_index who) noexcept override;
    void pool_exhausted(std::uint32_t refused) noexcept override;
    void user_code_failed(user_code where, const failure& why) noexcept override;
    /// Somebody wants to see dead letters, not only their number.
    [[nodiscard]] bool shows() const noexcept { return to_ != nullptr; }

    // ---- for the system

    [[nodiscard]] bool on() const noexcept { return outside_.on(); }
    [[nodiscard]] port::mutex& lock() noexcept { return mutex_; }
    [[nodiscard]] bool has_time() const noexcept { return time_ != nullptr; }
    [[nodiscard]] std::int64_t now_ns() const noexcept {
        return time_ != nullptr ? static_cast<std::int64_t>(time_->now().ns()) : 0;
    }
    // Under the lock.

    /// Replaces the sink; false when the old one is being fed just now.
    [[nodiscard]] bool set_sink(metrics_sink* to, actor_labels* labels) noexcept;
    /// Gives a worker, or all other threads, a shard; false when there is no memory.
    [[nodiscard]] bool turn_on(hub_place& at) noexcept;
    [[nodiscard]] bool turn_on_outside() noexcept;
    void turn_off(hub_place& at) noexcept;
    void turn_off_outside() noexcept;
    /// The sink, to be fed with the sums, without the lock; null when there is none, or somebody
    /// feeds it already. Owes: end_feeding.
    [[nodiscard]] metrics_sink* begin_feeding() noexcept;
    void end_feeding() noexcept;
    /// Waits until nobody feeds the sink, or some time. Without the lock.
    void await_feeding() noexcept;

    // Who feeds the sink.

    /// What the sums say.
    void feed(metrics_sink& to) const noexcept;
    /// OH-2: the share of the time since the last look, in millionths, in which a worker had work;
    /// none without a clock, or where it is not measured.
    [[nodiscard]] std::optional<std::uint32_t> busy_ratio(const hub_place& at) const noexcept;
    /// Null: nobody is measured by name.
    [[nodiscard]] actor_labels* labels() const noexcept { return labels_; }

private:
    /// Of all shards since they were made.
    struct sums {
        std::uint64_t totals[hub_layout::count] = {};
        std::uint64_t max_streak = 0;
    };
    void add_up() noexcept;
    void feed(metrics_sink& to, metric what, std::size_t first) const noexcept;
    template <class Shard>
    [[nodiscard]] bool make(shard_place<Shard>& at) noexcept;
    template <class Shard>
    static void publish(shard_place<Shard>& at) noexcept;
    void begin_sample(hub_place& own, worker_lanes& lanes) noexcept;
    void end_sample(hub_shard& s, hub_place& own, worker_lanes& lanes,
                    std::uint32_t processed) noexcept;
    void found_working(hub_shard& s) noexcept;
    static void copy_certificate(hub_shard& s, const worker_lanes& lanes) noexcept;
    void count(hub_place* own, std::size_t what, std::size_t n) noexcept;
    void count_here(mailbox_index who, std::size_t what, std::size_t n) noexcept;

    memory_source& memory_;
    const clock* time_;
    kernel_events* to_;
    shard_place<hub_outside_shard> outside_;
    port::mutex mutex_;
    // Under the lock.
    hub_shard* shards_ = nullptr;
    metrics_sink* sink_ = nullptr;
    actor_labels* labels_ = nullptr;  // constant while the sink is fed
    // Written under the lock; who waits for its end sleeps on it. Ordered by the lock.
    port::atomic<std::uint32_t> feeding_{0};
    sums* sums_ = nullptr;  // there when a shard is; of who feeds
};

}  // namespace tactus::inline v0
