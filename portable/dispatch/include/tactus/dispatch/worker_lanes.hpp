// SPDX-License-Identifier: Apache-2.0
//
// Worker lanes: what waits for one worker, and its account of fairness.
//
//   next      one entry: what was made ready last. Not stolen, wakes no worker (LN-11)
//   fresh     spawned and never run: newest first, shared when somebody has nothing to do
//   ring      ready, default priority, in order; thieves take half
//   later     made ready by a run that has sent hundreds of messages already: put into the ring at
//             its end, or every some thousand sends. A thief that takes each receiver after its
//             first message makes every message cross the cores alone; so they get a batch
//   urgent    cancel, default priority, in order
//   keyed     everything with a deadline or a priority
//   pinned    what must run on this worker (LN-5): thieves never look there
//
// In parity mode all that is local waits in keyed: its heaps, and its deque for what has the
// default priority; next, fresh, later, ring and urgent stay empty.
//
// next, fresh and later are kept: only the worker takes from them. While a run goes on, another
// thread may read them and move what waits there to the global lane (coordinator::share_kept).
//
// Owner thread only, except what thieves may do: ring, urgent and keyed say so themselves; anybody
// may put something into pinned, and read what is kept.
#pragma once

#include <cstdint>

#include <tactus/base/memory_source.hpp>
#include <tactus/base/random_streams.hpp>
#include <tactus/dispatch/certificates.hpp>
#include <tactus/dispatch/governor.hpp>
#include <tactus/dispatch/idle_workers.hpp>
#include <tactus/dispatch/lane_set.hpp>
#include <tactus/dispatch/run_ring.hpp>

namespace tactus::inline v0 {

/// A place for one entry that its owner writes and takes from, and that any thread may read.
///
/// The two words are written one after the other, so a reader may see the slot of one entry and the
/// ticket of another. It must check the ticket of the slot before it does anything (see
/// coordinator::share): such a pair is the present registration of that slot, or nothing.
class kept_entry {
public:
    // The owner.
    [[nodiscard]] std::uint32_t ticket() const noexcept {
        return ticket_.load(std::memory_order_relaxed);
    }
    [[nodiscard]] std::uint32_t slot() const noexcept {
        return slot_.load(std::memory_order_relaxed);
    }
    [[nodiscard]] bool valid() const noexcept { return ticket() != 0; }
    [[nodiscard]] lane_entry read() const noexcept { return {slot(), ticket()}; }
    void write(lane_entry e) noexcept {
        // One core has no other reader.
        slot_.store(e.slot, port::has_interrupts ? std::memory_order_relaxed : shown.release());
        ticket_.store(e.ticket, std::memory_order_relaxed);
    }
    void clear() noexcept { ticket_.store(0, std::memory_order_relaxed); }

    /// From any thread.
    [[nodiscard]] lane_entry look() const noexcept {
        const std::uint32_t t = ticket_.load(std::memory_order_relaxed);
        const std::uint32_t s = slot_.load(shown.acquire());
        return s == nothing_yet ? lane_entry{} : lane_entry{s, t};
    }

private:
    // "kept-shown": the making of a slot -> the reader of an entry that names it.
    static constexpr port::edge shown{"kept-shown"};
    static constexpr std::uint32_t nothing_yet = ~std::uint32_t{0};
    port::atomic<std::uint32_t> slot_{nothing_yet};
    port::atomic<std::uint32_t> ticket_{0};
};

/// A bounded deque of entries: pushed and popped at the new end, shared from the old one. Owner
/// only, except look.
class fresh_stack {
public:
    /// Requires: `capacity` is a power of two (check fresh_stack:1).
    fresh_stack(kept_entry* entries, std::uint32_t capacity) noexcept
        : entries_(entries), mask_(capacity - 1) {
        TACTUS_CHECK(1, capacity > 0 && (capacity & (capacity - 1)) == 0);
    }

    [[nodiscard]] std::uint32_t size() const noexcept { return top() - bottom(); }
    [[nodiscard]] bool empty() const noexcept { return top() == bottom(); }
    [[nodiscard]] bool full() const noexcept { return size() > mask_; }
    void push(lane_entry e) noexcept {
        const std::uint32_t at = top();
        entries_[at & mask_].write(e);
        top_.store(at + 1, port::has_interrupts ? std::memory_order_relaxed : pushed.release());
    }
    [[nodiscard]] lane_entry pop_newest() noexcept {
        const std::uint32_t at = top() - 1;
        top_.store(at, std::memory_order_relaxed);
        return entries_[at & mask_].read();
    }
    [[nodiscard]] lane_entry pop_oldest() noexcept {
        const std::uint32_t at = bottom();
        bottom_.store(at + 1, std::memory_order_relaxed);
        return entries_[at & mask_].read();
    }

    /// The position of the oldest, from any thread.
    [[nodiscard]] std::uint32_t bottom() const noexcept {
        return bottom_.load(std::memory_order_relaxed);
    }
    /// From any thread: calls `out(entry)` for what is there from position `from` on, oldest first.
    /// Returns the position behind. What the owner takes meanwhile may be seen, and what it pushes
    /// instead of that.
    template <class Out>
    std::uint32_t look(std::uint32_t from, Out&& out) const noexcept {
        const std::uint32_t end = top_.load(pushed.acquire());
        std::uint32_t at = bottom();
        if (end - at > mask_ + 1)
            return from;  // the two are of different times
        if (from - at <= end - at)
            at = from;
        for (; at != end; ++at)
            out(entries_[at & mask_].look());
        return end;
    }

private:
    TACTUS_CHECK_MODULE("fresh_stack");

    [[nodiscard]] std::uint32_t top() const noexcept {
        return top_.load(std::memory_order_relaxed);
    }

    kept_entry* entries_;
    std::uint32_t mask_;
    // "kept-pushed": the owner's write of an entry -> look, which sees each at least once.
    static constexpr port::edge pushed{"kept-pushed"};
    // Written by the owner, read by look.
    port::atomic<std::uint32_t> bottom_{0};
    port::atomic<std::uint32_t> top_{0};
};

/// How far coordinator::share_kept has looked at a worker.
struct kept_look {
    std::uint32_t step = 0;  // of the worker, at the last look
    // Positions in fresh and later: what lies before was looked at in this run.
    std::uint32_t fresh = 0;
    std::uint32_t later = 0;
};

class worker_lanes {
public:
    struct options {
        memory_source* memory = nullptr;
        const stale_test* stale = nullptr;
        std::uint32_t ring_capacity = 256;  // powers of two
        std::uint32_t fresh_capacity = 256;
        std::uint32_t later_capacity = 1'024;  // 1 where there is one worker
        std::uint32_t keyed_capacity = 16;
        std::uint32_t pinned_capacity = 1;  // fixed memory: as many as will be pinned here
        std::uint32_t number = 0;
        bool shared = true;      // there are other workers
        std::uint64_t seed = 1;  // of all workers' streams; parity: of this worker's, unmixed
        lane_mode mode = lane_mode::standard;              // as the coordinator's
        suggestion suggested = suggestion::no_preference;  // until a governor is asked
        std::uint32_t cancel_streak_limit = 16;
    };
    explicit worker_lanes(const options& o) noexcept;
    ~worker_lanes();
    worker_lanes(const worker_lanes&) = delete;
    worker_lanes& operator=(const worker_lanes&) = delete;
    /// What it takes when it is built.
    [[nodiscard]] static constexpr memory_plan plan(const options& o) noexcept {
        return memory_plan()
            .array<run_ring::cell>(o.ring_capacity)
            .array<run_ring::cell>(o.ring_capacity)
            .array<kept_entry>(o.fresh_capacity)
            .array<kept_entry>(o.later_capacity)
            .plus(lane_set::plan(1, o.keyed_capacity))
            .plus(lane_set::plan(o.pinned_capacity, o.pinned_capacity));
    }

    [[nodiscard]] const fairness_certificate& certificate() const noexcept { return certificate_; }
    [[nodiscard]] const schedule_certificate& schedule() const noexcept { return schedule_; }
    [[nodiscard]] std::uint32_t number() const noexcept { return number_; }
    /// Dispatches since the start.
    [[nodiscard]] std::uint64_t dispatch_count() const noexcept {
        return certificate_.cancel_dispatches + certificate_.timed_dispatches +
               certificate_.ready_dispatches;
    }
    /// Counts what the run going on has sent; true when counted_send is to be called.
    [[nodiscard]] bool count_send() noexcept { return (++sends_ & (look_interval - 1)) == 0; }
    /// The rest of count_send: true when it is time to publish what the run made ready.
    [[nodiscard]] bool counted_send() noexcept {
        if (armed_) {
            armed_ = false;
            sends_ = 1;
            return false;
        }
        return (sends_ & (publish_interval - 1)) == 0;
    }
    /// The message counted last was refused.
    void uncount_send() noexcept { --sends_; }
    void reset_sends() noexcept { sends_ = 0; }
    /// As reset_sends, and the next send is one that counted_send is called for. It begins where
    /// the run's share of sends is not touched (see invoker).
    void arm() noexcept {
        armed_ = true;
        sends_ = look_interval - 1;
    }
    [[nodiscard]] std::uint32_t sends() const noexcept { return sends_; }
    /// DT-4: the streams of what runs here. Owner only; scheduling is drawn from by the
    /// coordinator.
    [[nodiscard]] random_streams& streams() noexcept { return streams_; }
    [[nodiscard]] const random_streams& streams() const noexcept { return streams_; }
    /// Cancel dispatches in a row.
    [[nodiscard]] std::uint32_t cancel_streak() const noexcept { return cancel_streak_; }
    /// The lane of the last dispatch, as schedule certificates number it; of those alone that did
    /// not go the short way. Parity mode has no short way.
    [[nodiscard]] std::uint8_t last_lane() const noexcept { return last_lane_; }
    /// How many have been sent since the last reset_sends or arm; and not armed any more.
    [[nodiscard]] std::uint32_t sent() noexcept {
        const std::uint32_t n = armed_ ? 0 : sends_;
        armed_ = false;
        return n;
    }
    /// Entries found out of date; they are not dispatches.
    [[nodiscard]] std::uint64_t stale_count() const noexcept { return stale_count_; }
    /// How often it has looked for work; any thread may ask.
    [[nodiscard]] std::uint32_t step() const noexcept {
        return step_.load(std::memory_order_relaxed);
    }

private:
    friend class coordinator;

    static constexpr std::uint32_t look_interval = 256;       // sends between two looks
    static constexpr std::uint32_t publish_at_once = 256;     // sends of one run
    static constexpr std::uint32_t publish_interval = 8'192;  // beyond, every so many

    memory_source& memory_;
    std::uint32_t ring_capacity_;
    std::uint32_t fresh_capacity_;
    std::uint32_t later_capacity_;
    run_ring::cell* ring_cells_;
    run_ring::cell* urgent_cells_;
    kept_entry* fresh_entries_;
    kept_entry* later_entries_;

    kept_entry next_;  // read by share_kept
    // Owner only.
    std::uint32_t next_streak_ = 0;    // dispatches in a row from next and fresh
    std::uint32_t cancel_streak_ = 0;  // dispatches in a row from cancel
    std::uint32_t timed_streak_ = 0;
    // Written by the owner, read by who samples progress (EX-5).
    port::atomic<std::uint32_t> step_{0};
    std::uint64_t long_step_ = 0;  // the same in certificates, where it must not come round
    std::uint32_t governor_step_ = 0;
    // Whatever keeps the short way of coordinator::next from being right; 0 nearly always.
    enum special : std::uint32_t {
        local_urgent = 1,    // urgent or keyed may have cancel or timed entries
        local_keyed = 2,     // keyed may have ready entries
        searching = 4,       // counted as such in idle_workers
        in_streak = 8,       // the last dispatch was from cancel or timed
        always_slowly = 16,  // a governor is asked, schedules are certified, or not standard mode
        owes_time = 32       // was the timekeeper, or has a deadline nobody waits for yet
    };
    std::uint32_t special_ = 0;
    [[nodiscard]] bool is(special what) const noexcept { return (special_ & what) != 0; }
    void set(special what, bool on) noexcept {
        special_ = on ? special_ | what : special_ & ~std::uint32_t{what};
    }
    bool woken_by_time_ = false;  // and not by anybody since
    bool new_deadline_ = false;   // owes_time: the timekeeper there is does not know of it
    suggestion suggestion_;
    std::uint8_t block_ = 0;   // of steps: the last one that began with a turn of next_aged
    std::uint32_t sends_ = 0;  // in the run going on
    bool armed_ = false;       // see arm
    std::uint8_t turn_ = 0;    // which place next_aged asked first
    fresh_stack fresh_;
    fresh_stack later_;
    fairness_certificate certificate_;
    schedule_certificate schedule_;
    std::uint64_t stale_count_ = 0;
    port::atomic<std::uint32_t> deadline_misses_{0};  // written by the owner, read by anybody
    random_streams streams_;
    std::uint64_t hint_ = 0;  // lab: what was drawn for this step
    std::uint8_t last_lane_ = 0;
    std::uint32_t number_;
    bool shared_;

    // Shared with thieves.
    alignas(2 * port::cache_line) run_ring ring_;
    alignas(2 * port::cache_line) run_ring urgent_;
    alignas(2 * port::cache_line) lane_set keyed_;
    lane_set pinned_;
    sleeper sleeper_;
};

}  // namespace tactus::inline v0
