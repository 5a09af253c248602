// SPDX-License-Identifier: Apache-2.0
//
// Timers for kernels that are tested without a scheduler: due to the nanosecond, in a list that is
// looked through from end to end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include <tactus/dispatch/actor_scheduler.hpp>
#include <tactus/dispatch/timer_service.hpp>
#include <tactus/time/clock.hpp>

namespace tactus_test {

template <std::size_t Capacity = 8>
class naive_timers final : public tactus::timer_service {
public:
    explicit naive_timers(const tactus::clock* time = nullptr) noexcept : time_(time) {}
    void set_clock(const tactus::clock* time) noexcept { time_ = time; }

    [[nodiscard]] std::optional<tactus::timer_handle> arm(
        tactus::timer_target& to, tactus::duration delay) noexcept override {
        const tactus::instant due = time_->now() + delay;
        bool is_earliest = false;
        std::optional<tactus::timer_handle> made;
        {
            const tactus::port::lock_guard held(mutex_);
            is_earliest = due < earliest();
            for (std::uint32_t i = 0; i < Capacity && !made; ++i) {
                if (all_[i].is_set)
                    continue;
                all_[i] = {due, to, next_number_++, true};
                made = tactus::timer_handle(i, all_[i].number);
            }
        }
        if (made && is_earliest && kernel_ != nullptr)
            kernel_->deadline_added(due);
        return made;
    }
    bool cancel(tactus::timer_handle which) noexcept override {
        const tactus::port::lock_guard held(mutex_);
        const bool is_there = is_set(which);
        if (is_there)
            all_[which.index()].is_set = false;
        return is_there;
    }
    [[nodiscard]] bool pending(tactus::timer_handle which) noexcept override {
        const tactus::port::lock_guard held(mutex_);
        return is_set(which);
    }
    void attach(tactus::actor_scheduler& kernel) noexcept override { kernel_ = &kernel; }

    [[nodiscard]] tactus::instant next_deadline() noexcept override {
        const tactus::port::lock_guard held(mutex_);
        return earliest();
    }
    void run_due(tactus::instant now) noexcept override {
        clear_due();
        while (const auto next = take(now))
            tell(*next);
    }
    [[nodiscard]] std::size_t active_count() noexcept {
        const tactus::port::lock_guard held(mutex_);
        std::size_t count = 0;
        for (const row& r : all_)
            count += r.is_set ? 1U : 0U;
        return count;
    }

private:
    struct row {
        tactus::instant due;
        tactus::timer_target to;
        std::uint32_t number = 0;  // in the order of arming
        bool is_set = false;
    };
    struct taken {
        tactus::timer_target to;
        tactus::timer_handle which;
    };

    [[nodiscard]] bool is_set(tactus::timer_handle which) const noexcept {
        const row& r = all_[which.index()];
        return r.is_set && r.number == which.generation();
    }
    [[nodiscard]] const row* first() const noexcept {
        const row* found = nullptr;
        for (const row& r : all_) {
            if (r.is_set && (found == nullptr || r.due < found->due ||
                             (r.due == found->due && r.number < found->number)))
                found = &r;
        }
        return found;
    }
    [[nodiscard]] tactus::instant earliest() const noexcept {
        const row* const r = first();
        return r != nullptr ? r->due : tactus::instant::never();
    }
    [[nodiscard]] std::optional<taken> take(tactus::instant now) noexcept {
        const tactus::port::lock_guard held(mutex_);
        const row* const r = first();
        if (r == nullptr || r->due > now)
            return std::nullopt;
        const auto at = static_cast<std::uint32_t>(r - all_);
        all_[at].is_set = false;
        return taken{r->to, tactus::timer_handle(at, r->number)};
    }
    static void tell(const taken& t) noexcept {
        if (t.to.listener != nullptr)
            t.to.listener->expired(t.to.who, t.which);
        else if (t.to.wake != nullptr)
            t.to.wake->wake();
        else
            tactus::actor_scheduler::tell(t.to.who, tactus::timer_due{t.which});
    }

    const tactus::clock* time_;
    tactus::actor_scheduler* kernel_ = nullptr;
    tactus::port::mutex mutex_;
    // Under the lock.
    row all_[Capacity] = {};
    std::uint32_t next_number_ = 1;
};

}  // namespace tactus_test
