// SPDX-License-Identifier: Apache-2.0
//
// Scheduler memory: what an actor_scheduler needs on a host, with room to grow.
//
//     runtime::scheduler_memory memory({.actors_max = 1 << 20});
//     actor_scheduler system(memory.fill({.worker_count = 2, .time = &clock}));
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <tactus/dispatch/actor_scheduler.hpp>
#include <tactus/runtime/heap_memory.hpp>
#include <tactus/runtime/virtual_memory.hpp>

namespace tactus::inline v0::runtime {

class scheduler_memory {
public:
    struct options {
        std::uint32_t actors_max = 1U << 22;    // 1 GiB of addresses; memory only for what is used
        std::uint32_t messages_max = 1U << 26;  // in flight at once; 4 GiB of addresses
        std::uint32_t reserve_max = 1'024;      // the largest reserve_for_system
    };
    explicit scheduler_memory(const options& o) noexcept
        : options_(o),
          slots_(std::size_t{o.actors_max} * sizeof(slot)),
          envelopes_((std::size_t{o.messages_max} + o.reserve_max) * sizeof(envelope)),
          usable_(open(slots_, first_slots * sizeof(slot)) &&
                  open(envelopes_, (first_envelopes + o.reserve_max) * sizeof(envelope))) {}
    scheduler_memory() noexcept : scheduler_memory(options{}) {}

    /// False: the system refused the addresses, or the pages that a new system needs.
    [[nodiscard]] bool usable() const noexcept { return usable_; }
    /// The options with the memory filled in. Requires: a reserve_for_system that fits reserve_max
    /// (check scheduler_memory:1).
    [[nodiscard]] actor_scheduler::options fill(actor_scheduler::options o) noexcept {
        if (o.memory == nullptr)
            o.memory = &heap_;
        o.slot_memory = &slots_;
        o.envelope_memory = &envelopes_;
        if (o.large_payloads == nullptr)
            o.large_payloads = &heap_;
        o.slot_capacity = options_.actors_max;
        o.envelope_capacity = options_.messages_max;
        TACTUS_CHECK(1, o.reserve_for_system <= options_.reserve_max);
        return o;
    }

private:
    TACTUS_CHECK_MODULE("scheduler_memory");

    static constexpr std::size_t first_slots = 128;
    static constexpr std::size_t first_envelopes = 1'024;
    [[nodiscard]] static bool open(virtual_memory& memory, std::size_t bytes) noexcept {
        return memory.size_max() != 0 && memory.resize(std::min(bytes, memory.size_max()));
    }

    options options_;
    heap_memory heap_;
    virtual_memory slots_;
    virtual_memory envelopes_;
    bool usable_;
};

}  // namespace tactus::inline v0::runtime
