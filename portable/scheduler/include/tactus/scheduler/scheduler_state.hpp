// SPDX-License-Identifier: Apache-2.0
//
// Scheduler state: what a scheduler is made of, by who may touch it. What it does with it, and the
// invariants, are in scheduler.hpp.
#pragma once

#include <cstdint>
#include <type_traits>

#include <tactus/base/memory_source.hpp>
#include <tactus/dispatch/actor_scheduler.hpp>
#include <tactus/dispatch/task_local_slot.hpp>
#include <tactus/port/port.hpp>
#include <tactus/scheduler/backpressure.hpp>
#include <tactus/scheduler/command_lock.hpp>
#include <tactus/scheduler/job.hpp>
#include <tactus/scheduler/job_store.hpp>
#include <tactus/scheduler/last_batch_holder.hpp>
#include <tactus/scheduler/scheduler_config.hpp>
#include <tactus/scheduler/scheduler_error.hpp>
#include <tactus/scheduler/scheduler_event.hpp>
#include <tactus/scheduler/scheduler_facts.hpp>
#include <tactus/scheduler/scheduler_options.hpp>
#include <tactus/scheduler/scheduler_services.hpp>
#include <tactus/scheduler/timer_policy.hpp>
#include <tactus/scheduler/withdrawn_jobs.hpp>
#include <tactus/time/clock.hpp>
#include <tactus/time/tick_scale.hpp>
#include <tactus/time/timer_wheel.hpp>

namespace tactus::inline v0 {

/// Few timers and narrow links on devices.
using scheduler_wheel = std::conditional_t<port::has_interrupts, small_timer_wheel, timer_wheel>;

namespace detail {

class scheduler_state {
protected:
    scheduler_state(const scheduler_options& o, scheduler& of) noexcept;
    ~scheduler_state() = default;

    static constexpr std::uint32_t spares = port::has_interrupts ? 0 : 32;
    /// What is remembered of a look: where its tick ends or, where an address is too small for
    /// that, the low half of its number.
    static constexpr bool looks_by_time = sizeof(std::uintptr_t) >= sizeof(std::uint64_t);
    using look_word = const struct look_bits*;

    // Constant.
    const clock& time_;
    const tick_scale scale_;
    const duration maximum_delay_;
    memory_source* const memory_;
    task_local_slot* const slot_;
    scheduler_listener* const listener_;
    scheduler_services* const services_;
    const duration shutdown_timeout_;
    const std::uint32_t diagnostics_capacity_;
    const std::uint32_t serial_;
    const std::uint32_t quota_;
    const std::uint32_t timers_limit_;    // so many have a node
    const std::uint32_t overflow_limit_;  // unlimited: grows
    const zero_delay_rule zero_delay_;
    const clock_kind clock_kind_;
    const bool fixed_rate_;
    const bool fixed_delay_;
    actor_scheduler* kernel_ = nullptr;

    command_lock<job> lock_;
    // Under the lock.
    scheduler_wheel wheel_;
    job_store store_;
    backpressure pressure_;
    // Those on their way among them, but not yet what was registered with a spare cell since spares
    // were last put aside. While they are fewer than sure_below_, all together have a place.
    std::uint32_t active_ = 0;
    std::uint32_t sure_below_ = 0;
    std::uint32_t periodic_ = 0;           // of those
    std::uint32_t overflow_reserved_ = 0;  // for jobs that are on their way into the wheel
    std::uint64_t sequence_ = 0;
    tick observed_at_ = 0;           // the last look at the pressure
    tick noted_at_ = 0;              // the last note, for whose order it is
    std::uint64_t ticks_taken_ = 0;  // when ticks were last taken
    std::uint64_t ticks_taken_peak_ = 0;
    std::uint64_t catch_ups_ = 0;
    scheduler_counts counts_;
    // A device has no room for more; what it refuses is counted to 2^32.
    std::conditional_t<port::has_interrupts, std::uint32_t, std::uint64_t>
        rejected_[scheduler_errc_count] = {};
    last_batch_holder last_;
    static constexpr std::uint32_t withdrawn_places = port::has_interrupts ? 0 : 8;
    [[no_unique_address]] detail::withdrawn_jobs<withdrawn_places> withdrawn_;
    job* doomed_ = nullptr;  // their cargo is to be ended, and their loss told, without the lock
    // Who keeps the time was told of this deadline, or took it when it asked last; after that it
    // asks again. So only an earlier one is news. When it is cancelled it stays until it has
    // passed: they wake once in vain, and are not woken by each that is the only one for a moment.
    instant kept_ = instant::never();
    bool is_nearer_ = false;   // somebody must be told of an earlier deadline
    bool is_lossy_ = false;    // diagnostics have something to tell
    bool is_filling_ = false;  // overflow has risen to three quarters, to `filled_to_`: to be told
    std::uint32_t filled_to_ = 0;
    // Pending, of who found no place or a closed scheduler: who fires next wakes them.
    job* unwoken_ = nullptr;
    bool is_closed_ = false;
    port::atomic<std::uint32_t> closed_{0};  // for who looks without the lock: a hint
    // Hints of the same kind: not normal; the tick in which somebody looked.
    port::atomic<std::uint32_t> pressed_{0};
    port::atomic<look_word> looked_{nullptr};

    // Who delivers: nobody, somebody, somebody who is to look again. "fired": what one has done is
    // done before the next one begins, and who looks again sees the time, and the jobs, of who
    // asked for it.
    enum firing_state : std::uint32_t { nobody, somebody, again };
    static constexpr port::edge fired_before{"scheduler-firing"};
    port::atomic<std::uint32_t> firing_{nobody};
    // Relaxed: a thread only looks for itself.
    port::atomic<const void*> firing_thread_{nullptr};
    port::plain<bool> more_due_{false};  // the last chunk was not all; of the firing thread
    job* waits_left_ = nullptr;  // of one that is closed: who waits, to be told; of who closed it
    // Counted while firing, or by who is told; relaxed, for people.
    port::atomic<std::uint32_t> dropped_{0};
    port::atomic<std::uint32_t> fired_{0};
    port::atomic<std::uint32_t> missed_{0};
};

}  // namespace detail

}  // namespace tactus::inline v0
