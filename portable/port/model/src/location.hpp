// SPDX-License-Identifier: Apache-2.0
//
// Locations: what one execution knows of an atomic, a plain cell, a mutex or a condition.
//
// An atomic is the list of its stores in modification order, which here is the order of execution,
// and what each thread has seen of it. A load may return any store from its floor upwards: the
// floor is the newest store that the loading thread, or anything in its past, has read or written
// (coherence), and for a seq_cst load also the newest that any seq_cst access has met.
//
// Locations are used again for every execution: clear() keeps the memory of the lists.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "clock.hpp"
#include "operation.hpp"

namespace tactus::inline v0::port::model::detail {

enum class location_kind : std::uint8_t { atomic, plain, mutex, condition, threads };

struct store_record {
    std::uint64_t value = 0;
    std::uint32_t event = 0;  // of the reduction that stored it, + 1
    bool releases = false;    // heads or continues a release sequence
    vector_clock published;   // what an acquire load of it learns, when it releases
};

/// One thread's knowledge: at its step `step` it read or wrote store number `index`.
struct observation {
    std::uint8_t thread;
    std::uint32_t step;
    std::uint32_t index;
};

struct access {
    std::uint32_t step = 0;
    where at{};
};

struct location {
    location_kind kind = location_kind::atomic;
    bool from_outside = false;  // made before the execution: put back afterwards
    bool is_pointer = false;
    cell memory{};
    const char* name = nullptr;
    std::uint64_t identity = 0;     // the same in every execution, whatever the schedule
    std::uint64_t saved_value = 0;  // from outside: the value before, or where a longer one is kept
    unsigned maker = no_thread;
    access made;

    // Atomics
    std::vector<store_record> stores;
    std::vector<observation> seen;
    std::array<std::uint32_t, thread_count_max> last_seen{};  // store number + 1
    std::array<std::uint32_t, thread_count_max> rereads{};    // reads of that one, in a row
    std::uint32_t seq_cst_floor = 0;

    // All cells: the last use by each thread; plain ones: the last write, and reads after it
    std::array<access, thread_count_max> used{};
    thread_mask users = 0;
    unsigned writer = no_thread;
    access written;

    // Mutexes and sleepers
    unsigned owner = no_thread;
    vector_clock released;
    thread_mask sleepers = 0;

    // Reduction: for each way of touching, the past of its operations and the last of each thread
    std::array<vector_clock, touch_way_count> past{};
    std::array<std::array<std::uint32_t, thread_count_max>, touch_way_count> last{};  // event + 1
    std::array<thread_mask, touch_way_count> touchers{};

    void clear() noexcept {
        std::vector<store_record> kept_stores = std::move(stores);
        std::vector<observation> kept_seen = std::move(seen);
        *this = location{};
        stores = std::move(kept_stores);
        seen = std::move(kept_seen);
        stores.clear();
        seen.clear();
    }

    [[nodiscard]] std::uint32_t newest() const noexcept {
        return static_cast<std::uint32_t>(stores.size() - 1);
    }

    /// The oldest store that a thread with this past may read.
    [[nodiscard]] std::uint32_t floor(const vector_clock& past_of_thread) const noexcept {
        std::uint32_t best = 0;
        for (const observation& o : seen)
            if (o.index > best && past_of_thread.covers(o.thread, o.step))
                best = o.index;
        return best;
    }

    void observe(unsigned thread, std::uint32_t step, std::uint32_t index) {
        if (last_seen[thread] == index + 1)
            return;  // the earlier observation says more
        last_seen[thread] = index + 1;
        seen.push_back({static_cast<std::uint8_t>(thread), step, index});
    }

    void use(unsigned thread, std::uint32_t step, where at) noexcept {
        used[thread] = {step, at};
        users |= bit(thread);
    }
};

}  // namespace tactus::inline v0::port::model::detail
