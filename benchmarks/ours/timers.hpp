// SPDX-License-Identifier: Apache-2.0
//
// Our subject of the timer benchmark: the timer wheel in growing memory, as the hosted system uses
// it.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <vector>

#include "permute.hpp"

#include <tactus/runtime/timer_memory.hpp>
#include <tactus/time/timer_wheel.hpp>

namespace bench {

class ours_timers {
public:
    explicit ours_timers(std::size_t n)
        : wheel_(std::make_unique<tactus::timer_wheel>(memory_.options({.retained = n}))),
          handles_(n) {}

    void insert(std::size_t i, std::uint32_t delay_ms) {
        const auto made = wheel_->insert(now_, tactus::duration::from_ms(delay_ms), i);
        if (!made)
            std::abort();
        handles_[i] = *made;
    }
    void cancel(std::size_t i) {
        if (!wheel_->cancel(handles_[i]))
            std::abort();
    }
    void reschedule(std::size_t i, std::uint32_t delay_ms) {
        if (!wheel_->reschedule(handles_[i], now_, tactus::duration::from_ms(delay_ms)))
            std::abort();
    }
    void permute(std::span<const std::uint32_t> order) { bench::permute(handles_, order); }
    void restore() {}
    static constexpr std::size_t handle_bytes = sizeof(tactus::timer_handle);
    std::uint64_t next_deadline() const { return *wheel_->next_deadline(); }
    std::size_t overflow_count() const { return wheel_->overflow_size(); }
    /// Time in which nothing fires.
    void pass(std::uint32_t ms) {
        now_ = now_ + tactus::duration::from_ms(ms);
        if (wheel_->advance(now_, [](const tactus::expired_timer&) {}) != 0u)
            std::abort();
    }

    static bool reaches(std::uint32_t) { return true; }
    std::uint64_t expire_all() {
        std::uint64_t fired = 0;
        std::uint64_t sum = 0;
        while (const auto next = wheel_->next_deadline()) {
            now_ = wheel_->scale().begin_of(*next);
            fired +=
                *wheel_->advance(now_, [&](const tactus::expired_timer& e) { sum += e.payload; });
        }
        const std::uint64_t n = handles_.size();
        if (sum != n * (n - 1) / 2)
            std::abort();
        return fired;
    }

private:
    tactus::runtime::timer_memory memory_;
    std::unique_ptr<tactus::timer_wheel> wheel_;
    std::vector<tactus::timer_handle> handles_;
    tactus::instant now_;
};

}  // namespace bench
