// SPDX-License-Identifier: Apache-2.0
//
// Memory of a worker's lanes.
#include <tactus/dispatch/worker_lanes.hpp>

#include <new>

namespace tactus::inline v0 {
namespace {

TACTUS_CHECK_MODULE("worker_lanes");

template <class T>
T* make_array(memory_source& memory, std::uint32_t count) noexcept {
    void* block = memory.allocate(count * sizeof(T), alignof(T));
    TACTUS_CHECK(1, block != nullptr);
    return ::new (block) T[count];
}

}  // namespace

worker_lanes::worker_lanes(const options& o) noexcept
    : memory_(*o.memory),
      ring_capacity_(o.ring_capacity),
      fresh_capacity_(o.fresh_capacity),
      later_capacity_(o.later_capacity),
      ring_cells_(make_array<run_ring::cell>(*o.memory, o.ring_capacity)),
      urgent_cells_(make_array<run_ring::cell>(*o.memory, o.ring_capacity)),
      fresh_entries_(make_array<kept_entry>(*o.memory, o.fresh_capacity)),
      later_entries_(make_array<kept_entry>(*o.memory, o.later_capacity)),
      suggestion_(o.suggested),
      fresh_(fresh_entries_, o.fresh_capacity),
      later_(later_entries_, o.later_capacity),
      streams_(o.seed, o.number),
      number_(o.number),
      shared_(o.shared),
      ring_(ring_cells_, o.ring_capacity, o.shared),
      urgent_(urgent_cells_, o.ring_capacity, o.shared),
      keyed_({.memory = o.memory,
              .stale = o.stale,
              .queue_capacity = 1,
              .heap_capacity = o.keyed_capacity,
              .keyed_only = o.mode != lane_mode::standard}),
      pinned_({.memory = o.memory,
               .stale = o.stale,
               .queue_capacity = o.pinned_capacity,
               .heap_capacity = o.pinned_capacity}) {
    if (o.mode != lane_mode::standard)
        streams_[random_stream::scheduling] = det_rng(o.seed);
    certificate_.base_limit = o.cancel_streak_limit;
    certificate_.effective_limit = o.cancel_streak_limit;
    certificate_.adaptive_current_limit = o.cancel_streak_limit;
}

worker_lanes::~worker_lanes() {
    memory_.release(ring_cells_, ring_capacity_ * sizeof(run_ring::cell), alignof(run_ring::cell));
    memory_.release(urgent_cells_, ring_capacity_ * sizeof(run_ring::cell),
                    alignof(run_ring::cell));
    memory_.release(fresh_entries_, fresh_capacity_ * sizeof(kept_entry), alignof(kept_entry));
    memory_.release(later_entries_, later_capacity_ * sizeof(kept_entry), alignof(kept_entry));
}

}  // namespace tactus::inline v0
