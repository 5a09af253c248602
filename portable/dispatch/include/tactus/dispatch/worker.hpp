// SPDX-License-Identifier: Apache-2.0
//
// Worker: everything one thread needs to run actors without asking anybody: its lanes, its
// envelopes, its slots, and the way of a message from here (the fast path of send).
//
// Owner thread only.
#pragma once

#include <cstdint>
#include <utility>

#include <tactus/dispatch/coordinator.hpp>
#include <tactus/dispatch/hub.hpp>
#include <tactus/dispatch/registry.hpp>
#include <tactus/dispatch/sent.hpp>
#include <tactus/dispatch/worker_lanes.hpp>
#include <tactus/mailbox/envelope_pool.hpp>

namespace tactus::inline v0 {

class actor_scheduler;
class dispatcher;
class turn;

struct send_options {
    mailbox_index sender = {};
    std::int64_t deadline = 0;  // nanoseconds of the system's clock; 0: none (LN-8)
};

class worker {
public:
    /// `shared_queue`: what it makes ready goes where every worker looks.
    worker(actor_scheduler& system, dispatcher& home, const worker_lanes::options& lanes,
           bool shared_queue) noexcept;
    worker(const worker&) = delete;
    worker& operator=(const worker&) = delete;

    [[nodiscard]] worker_lanes& lanes() noexcept { return lanes_; }
    [[nodiscard]] const worker_lanes& lanes() const noexcept { return lanes_; }
    [[nodiscard]] actor_scheduler& system() const noexcept { return system_; }
    [[nodiscard]] dispatcher& home() const noexcept { return home_; }
    [[nodiscard]] envelope_cache& envelopes() noexcept { return envelopes_; }
    [[nodiscard]] slot_cache& slots() noexcept { return slots_; }
    [[nodiscard]] std::uint32_t system_number() const noexcept {
        return first_slot_ >> mailbox_index::slot_bits;
    }
    [[nodiscard]] hub_place& measured() noexcept { return measured_; }
    /// The slot it runs, or ran last and nothing since; null when it found nothing to run. A look,
    /// from any thread.
    [[nodiscard]] const slot* running() const noexcept {
        return running_.load(std::memory_order_relaxed);
    }

    /// The worker whose thread this is; null elsewhere.
    [[nodiscard]] static worker* current() noexcept {
        return port::thread_instance<thread_state>().current;
    }

    /// After fork(): the worker is the parent's, and this thread is no worker's.
    static void leave_thread() noexcept { port::thread_instance<thread_state>().current = nullptr; }

    /// This thread is the worker's while this lives.
    class binding {
    public:
        explicit binding(worker& w) noexcept
            : before_(std::exchange(port::thread_instance<thread_state>().current, &w)) {}
        ~binding() { port::thread_instance<thread_state>().current = before_; }
        binding(const binding&) = delete;
        binding& operator=(const binding&) = delete;

    private:
        worker* before_;
    };

private:
    friend class actor_scheduler;
    friend class invoker;
    friend class turn;

    struct thread_state {
        worker* current = nullptr;
    };

    // What every send reads, together.
    actor_scheduler& system_;
    dispatcher& home_;
    slot* slot_base_;
    std::uint32_t first_slot_;    // the slot word of slot 0
    std::uint32_t plain_traits_;  // of actors whose turn it may keep to itself; no actor's: none
    std::uint32_t dispatcher_number_;
    worker_lanes* kept_;  // its lanes, or null when it keeps nothing to itself
    hub_place measured_;
    port::atomic<slot*> running_{nullptr};  // written by the owner, for who looks
    turn* turn_ = nullptr;                  // while it runs one
    worker_lanes lanes_;
    envelope_cache envelopes_;
    slot_cache slots_;
    bool task_turn_ = false;    // the last thing run was a task
    mailbox_index refused_by_;  // the mailbox that was full for it last
    // Written by the owner, read by anybody who counts.
    port::atomic<std::uint32_t> spawned_{0};
    port::atomic<std::uint32_t> ended_{0};
};

}  // namespace tactus::inline v0
