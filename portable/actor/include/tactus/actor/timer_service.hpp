// SPDX-License-Identifier: Apache-2.0
//
// Timer service: who wakes actors when time has passed (TM-1, TM-2). A small interface over a timer
// wheel: what an actor's timer means, its actor knows; the service says that one is due, by a
// message to its mailbox.
//
// Thread safety: any thread; run_due by workers. A timer may be armed or cancelled by whoever is
// told of one, at once.
#pragma once

#include <cstdint>
#include <optional>
#include <type_traits>

#include <tactus/dispatch/actor_scheduler.hpp>
#include <tactus/dispatch/job_delivery.hpp>
#include <tactus/dispatch/timer_phase.hpp>
#include <tactus/dispatch/timer_service.hpp>
#include <tactus/dispatch/waker.hpp>
#include <tactus/port/port.hpp>
#include <tactus/time/clock.hpp>
#include <tactus/time/timer_wheel.hpp>

namespace tactus::inline v0 {

template <class Wheel>
class wheel_timers final : public timer_service {
public:
    /// Both outlive this.
    wheel_timers(Wheel& wheel, const clock& time) noexcept : wheel_(wheel), time_(time) {}

    void attach(actor_scheduler& kernel) noexcept override { kernel_ = &kernel; }

    [[nodiscard]] std::optional<timer_handle> arm(timer_target& to,
                                                  duration delay) noexcept override {
        std::optional<timer_handle> made;
        bool nearer = false;
        {
            const guard held(*this);
            const auto before = wheel_.next_deadline();
            const auto h = wheel_.insert(time_.now(), delay, reinterpret_cast<std::uintptr_t>(&to));
            if (h)
                made = *h;
            nearer = h && wheel_.next_deadline() != before;  // only a nearer one changes that
        }
        if (nearer)
            kernel_->deadline_added();
        return made;
    }
    bool cancel(timer_handle which) noexcept override {
        const guard held(*this);
        return wheel_.cancel(which);
    }
    [[nodiscard]] bool pending(timer_handle which) noexcept override {
        const guard held(*this);
        return wheel_.pending(which);
    }

    [[nodiscard]] instant next_deadline() noexcept override {
        const guard held(*this);
        const auto next = wheel_.next_deadline();
        return next ? wheel_.scale().begin_of(*next) : instant::never();
    }
    void run_due(instant now) noexcept override {
        clear_due();
        const guard held(*this);
        if (held.nested())
            return;
        // Time that went back is the clock's fault; the next look has a later one.
        (void)wheel_.advance(now, [](const expired_timer& t) {
            const auto& to =
                *reinterpret_cast<const timer_target*>(static_cast<std::uintptr_t>(t.payload));
            // OH-7: for timer_due, and for what is sent by who is woken.
            const job_delivery delivers(job_of(t.handle));
            if (to.wake != nullptr)
                to.wake->wake();
            else
                actor_scheduler::tell(to.who, timer_due{t.handle});
        });
    }

private:
    struct identity {
        char unused = 0;
    };
    /// The lock, unless this thread has it: who is told of a timer may arm another.
    class guard {
    public:
        explicit guard(wheel_timers& of) noexcept
            : of_(of), nested_(of.owner_.load(std::memory_order_relaxed) == me()) {
            // Relaxed: only this thread writes its own name there.
            if (nested_)
                return;
            of_.mutex_.lock();
            of_.owner_.store(me(), std::memory_order_relaxed);
        }
        ~guard() {
            if (nested_)
                return;
            of_.owner_.store(nullptr, std::memory_order_relaxed);
            of_.mutex_.unlock();
        }
        guard(const guard&) = delete;
        guard& operator=(const guard&) = delete;
        [[nodiscard]] bool nested() const noexcept { return nested_; }

    private:
        [[nodiscard]] static const void* me() noexcept {
            return &port::thread_instance<identity>();
        }
        wheel_timers& of_;
        bool nested_;
    };

    Wheel& wheel_;
    const clock& time_;
    actor_scheduler* kernel_ = nullptr;
    port::mutex mutex_;  // of the wheel
    port::atomic<const void*> owner_{nullptr};
};

}  // namespace tactus::inline v0
