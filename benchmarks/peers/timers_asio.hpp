// SPDX-License-Identifier: Apache-2.0
//
// Boost.Asio's timer queue (a heap with back links), driven directly in virtual time: no
// io_context, no reactor.
#pragma once

#include <boost/asio/detail/timer_queue.hpp>
#include <boost/asio/detail/wait_op.hpp>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "permute.hpp"

namespace bench {

struct asio_virtual_time {
    using time_type = std::int64_t;
    using duration_type = std::int64_t;
    static inline time_type current = 0;
    static time_type now() { return current; }
    static time_type add(time_type t, duration_type d) { return t + d; }
    static duration_type subtract(time_type a, time_type b) { return a - b; }
    static bool less_than(time_type a, time_type b) { return a < b; }
    struct posix_time_duration {
        std::int64_t ms;
        [[nodiscard]] std::int64_t ticks() const { return ms; }
        [[nodiscard]] std::int64_t total_milliseconds() const { return ms; }
        [[nodiscard]] std::int64_t total_microseconds() const { return ms * 1000; }
    };
    static posix_time_duration to_posix_duration(duration_type d) { return {d}; }
};

class asio_timers {
    using queue = boost::asio::detail::timer_queue<asio_virtual_time>;

    struct operation : boost::asio::detail::wait_op {
        operation() : wait_op(&done) {}
        static void done(void*, boost::asio::detail::scheduler_operation*,
                         const boost::system::error_code&, std::size_t) {}
        std::uint64_t payload = 0;
    };
    struct timer {
        queue::per_timer_data data;
        operation op;
    };

public:
    explicit asio_timers(std::size_t n) : timers_(n), handles_(n) {
        asio_virtual_time::current = 0;
        restore();
    }

    void insert(std::size_t i, std::uint32_t delay_ms) {
        timer& t = *handles_[i];
        t.op.payload = i;
        queue_.enqueue_timer(asio_virtual_time::current + delay_ms, t.data, &t.op);
    }
    void cancel(std::size_t i) {
        boost::asio::detail::op_queue<boost::asio::detail::scheduler_operation> ops;
        if (queue_.cancel_timer(handles_[i]->data, ops) != 1)
            std::abort();
        ops.pop();
    }
    // Asio has no move of a pending wait: expires_after() cancels and the caller waits again.
    void reschedule(std::size_t i, std::uint32_t delay_ms) {
        cancel(i);
        insert(i, delay_ms);
    }
    void permute(std::span<const std::uint32_t> order) { bench::permute(handles_, order); }
    void restore() {
        for (std::size_t i = 0; i < timers_.size(); ++i)
            handles_[i] = &timers_[i];
    }
    static constexpr std::size_t handle_bytes = sizeof(timer*);
    std::uint64_t next_deadline() const {
        return static_cast<std::uint64_t>(asio_virtual_time::current +
                                          queue_.wait_duration_msec(1L << 30));
    }
    static bool reaches(std::uint32_t) { return true; }
    std::uint64_t expire_all() {
        std::uint64_t fired = 0;
        std::uint64_t sum = 0;
        while (!queue_.empty()) {
            asio_virtual_time::current = static_cast<std::int64_t>(next_deadline());
            boost::asio::detail::op_queue<boost::asio::detail::scheduler_operation> ops;
            queue_.get_ready_timers(ops);
            while (auto* op = ops.front()) {
                ops.pop();
                sum += static_cast<operation*>(op)->payload;
                ++fired;
            }
        }
        const std::uint64_t n = timers_.size();
        if (sum != n * (n - 1) / 2)
            std::abort();
        return fired;
    }

private:
    queue queue_;
    std::vector<timer> timers_;
    std::vector<timer*> handles_;
};

}  // namespace bench
