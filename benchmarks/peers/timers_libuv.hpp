// SPDX-License-Identifier: Apache-2.0
//
// libuv's timers (a pairing of heap nodes inside uv_timer_t). libuv has no virtual time: to fire
// everything at once, the loop's cached time is set back before the timers are started, so that all
// of them are due when the loop runs.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "permute.hpp"

#include <uv.h>

namespace bench {

class libuv_timers {
public:
    explicit libuv_timers(std::size_t n) : timers_(n), handles_(n) {
        restore();
        if (uv_loop_init(&loop_) != 0)
            std::abort();
        uv_update_time(&loop_);
        start_ = uv_now(&loop_);
        loop_.time = past();
        for (std::size_t i = 0; i < n; ++i) {
            uv_timer_init(&loop_, &timers_[i]);
            timers_[i].data = this;
        }
    }
    ~libuv_timers() {
        for (auto& t : timers_)
            uv_close(reinterpret_cast<uv_handle_t*>(&t), nullptr);
        uv_run(&loop_, UV_RUN_DEFAULT);
        uv_loop_close(&loop_);
    }
    libuv_timers(const libuv_timers&) = delete;
    libuv_timers& operator=(const libuv_timers&) = delete;

    void insert(std::size_t i, std::uint32_t delay_ms) {
        if (uv_timer_start(handles_[i], &fire, delay_ms, 0) != 0)
            std::abort();
    }
    void cancel(std::size_t i) { uv_timer_stop(handles_[i]); }
    void reschedule(std::size_t i, std::uint32_t delay_ms) { insert(i, delay_ms); }
    void permute(std::span<const std::uint32_t> order) { bench::permute(handles_, order); }
    void restore() {
        for (std::size_t i = 0; i < timers_.size(); ++i)
            handles_[i] = &timers_[i];
    }
    static constexpr std::size_t handle_bytes = sizeof(uv_timer_t*);
    // The public way to the nearest deadline.
    std::uint64_t next_deadline() const {
        return static_cast<std::uint64_t>(uv_backend_timeout(&loop_));
    }

    // Timers farther away than the machine has been up cannot be made due.
    [[nodiscard]] bool reaches(std::uint32_t delay_ms) const { return start_ - past() > delay_ms; }
    std::uint64_t expire_all() {
        fired_ = 0;
        sum_ = 0;
        const std::uint64_t n = timers_.size();
        while (fired_ < n)
            uv_run(&loop_, UV_RUN_NOWAIT);
        loop_.time = past();
        if (sum_ != n * (n - 1) / 2)
            std::abort();
        return fired_;
    }

private:
    // Two hours before now: further than any delay of the benchmark. The clock counts from boot, so
    // take care of zero.
    [[nodiscard]] std::uint64_t past() const { return start_ > 7'200'000 ? start_ - 7'200'000 : 0; }

    static void fire(uv_timer_t* t) {
        auto* self = static_cast<libuv_timers*>(t->data);
        self->sum_ += static_cast<std::uint64_t>(t - self->timers_.data());
        ++self->fired_;
    }

    uv_loop_t loop_{};
    std::vector<uv_timer_t> timers_;
    std::vector<uv_timer_t*> handles_;
    std::uint64_t start_ = 0;
    std::uint64_t fired_ = 0;
    std::uint64_t sum_ = 0;
};

}  // namespace bench
