// SPDX-License-Identifier: Apache-2.0
//
// What people write first: a std::priority_queue with lazy cancellation, and a std::multimap.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <map>
#include <numeric>
#include <queue>
#include <span>
#include <vector>

#include "permute.hpp"

namespace bench {

/// Cancelled entries stay in the heap until they come to the top: cancelling is cheap, memory and
/// expiry pay for it. A version per timer tells the living entry from its predecessors, the
/// sequence keeps first-in-first-out.
class priority_queue_timers {
public:
    explicit priority_queue_timers(std::size_t n) : version_(n), handles_(n) { restore(); }

    void insert(std::size_t i, std::uint32_t delay_ms) {
        ++pending_;
        reschedule(i, delay_ms);
    }
    void cancel(std::size_t i) {
        ++version_[handles_[i]];
        if (--pending_ == 0)
            queue_ = {};  // all are gone: a program that measures itself would start over
    }
    void reschedule(std::size_t i, std::uint32_t delay_ms) {
        const std::uint32_t timer = handles_[i];
        queue_.push({now_ + delay_ms, sequence_++, timer, ++version_[timer], i});
    }
    void permute(std::span<const std::uint32_t> order) { bench::permute(handles_, order); }
    void restore() { std::iota(handles_.begin(), handles_.end(), 0u); }
    static constexpr std::size_t handle_bytes = sizeof(std::uint32_t);
    std::uint64_t next_deadline() {
        drop_dead();
        return queue_.top().deadline;
    }
    static bool reaches(std::uint32_t) { return true; }
    std::uint64_t expire_all() {
        std::uint64_t fired = 0;
        std::uint64_t sum = 0;
        for (drop_dead(); !queue_.empty(); drop_dead()) {
            now_ = queue_.top().deadline;
            sum += queue_.top().payload;
            ++version_[queue_.top().index];
            --pending_;
            queue_.pop();
            ++fired;
        }
        const std::uint64_t n = version_.size();
        if (sum != n * (n - 1) / 2)
            std::abort();
        return fired;
    }

private:
    struct entry {
        std::uint64_t deadline;
        std::uint64_t sequence;
        std::uint32_t index;
        std::uint32_t version;
        std::uint64_t payload;
        bool operator<(const entry& other) const {
            return deadline != other.deadline ? deadline > other.deadline
                                              : sequence > other.sequence;
        }
    };
    void drop_dead() {
        while (!queue_.empty() && version_[queue_.top().index] != queue_.top().version)
            queue_.pop();
    }

    std::priority_queue<entry> queue_;
    std::vector<std::uint32_t> version_;
    std::vector<std::uint32_t> handles_;
    std::size_t pending_ = 0;
    std::uint64_t sequence_ = 0;
    std::uint64_t now_ = 0;
};

class multimap_timers {
public:
    explicit multimap_timers(std::size_t n) : where_(n) {}

    void insert(std::size_t i, std::uint32_t delay_ms) {
        where_[i] = map_.emplace(now_ + delay_ms, i);
    }
    void cancel(std::size_t i) { map_.erase(where_[i]); }
    void reschedule(std::size_t i, std::uint32_t delay_ms) {
        auto node = map_.extract(where_[i]);
        node.key() = now_ + delay_ms;
        where_[i] = map_.insert(std::move(node));
    }
    void permute(std::span<const std::uint32_t> order) { bench::permute(where_, order); }
    void restore() {}
    static constexpr std::size_t handle_bytes = sizeof(std::multimap<int, int>::iterator);
    std::uint64_t next_deadline() const { return map_.begin()->first; }
    static bool reaches(std::uint32_t) { return true; }
    std::uint64_t expire_all() {
        std::uint64_t fired = 0;
        std::uint64_t sum = 0;
        while (!map_.empty()) {
            now_ = map_.begin()->first;
            sum += map_.begin()->second;
            map_.erase(map_.begin());
            ++fired;
        }
        const std::uint64_t n = where_.size();
        if (sum != n * (n - 1) / 2)
            std::abort();
        return fired;
    }

private:
    std::multimap<std::uint64_t, std::uint64_t> map_;
    std::vector<std::multimap<std::uint64_t, std::uint64_t>::iterator> where_;
    std::uint64_t now_ = 0;
};

}  // namespace bench
