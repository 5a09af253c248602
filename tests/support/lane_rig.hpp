// SPDX-License-Identifier: Apache-2.0
//
// A coordinator with its registry and workers' lanes, driven by one thread, and a script language:
// `ready(3)` makes mailbox 3 wait, `takes(w, {3, 1})` says what must come out, in order.
//
// Mailboxes are opened and not fresh, so that they go where any other actor goes; `fresh(n)` makes
// one new again. One rig at a time: the memory is static, as a board has little.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <new>
#include <optional>

#include <tactus/base/memory_region.hpp>
#include <tactus/dispatch/coordinator.hpp>

#include "portable_test.hpp"
#include "test_memory.hpp"

namespace tactus_test {

inline constexpr unsigned rig_slots = board::roomy ? 80 : 24;

class lane_rig {
public:
    static constexpr unsigned workers_max = 4;
    static constexpr std::uint32_t ring_capacity = 16;
    static constexpr std::uint32_t fresh_capacity = 8;
    static constexpr std::uint32_t later_capacity = 16;
    /// Whose lanes drain_ready_cycle uses.
    enum class visitor : std::uint8_t { first_worker, own_lanes, none };
    struct options {
        std::uint32_t workers = 1;  // and a visitor's own lanes: at most workers_max together
        std::uint32_t cancel_limit = 16;
        std::uint32_t timed_limit = 64;
        std::uint32_t steal_batch = 4;
        std::uint64_t seed = 1;
        tactus::clock* time = nullptr;
        tactus::timer_phase* timers = nullptr;
        tactus::tick_driver* driver = nullptr;
        tactus::governor* advice = nullptr;
        tactus::load_probe* load = nullptr;
        tactus::kernel_events* events = nullptr;
        const tactus::worker_task_queue* tasks = nullptr;
        visitor visits = visitor::first_worker;
        bool certify = false;
        tactus::lane_mode mode = tactus::lane_mode::standard;
        tactus::suggestion suggested = tactus::suggestion::no_preference;
    };

    lane_rig() noexcept : lane_rig(options{}) {}
    explicit lane_rig(const options& o) noexcept
        : memory_({heap(), heap_size}),
          region_({places(), rig_slots * sizeof(tactus::slot)}),
          slots_({.memory = &region_, .capacity = rig_slots, .magazine_size = 1}),
          cache_(slots_.shared()),
          order_({.memory = &memory_,
                  .slots = &slots_,
                  .time = o.time,
                  .timers = o.timers,
                  .driver = o.driver,
                  .advice = o.advice,
                  .load = o.load,
                  .events = o.events,
                  .tasks = o.tasks,
                  .worker_count = o.workers,
                  .cancel_streak_limit = o.cancel_limit,
                  .timed_streak_limit = o.timed_limit,
                  .steal_batch = o.steal_batch,
                  .queue_capacity = rig_slots,
                  .keyed_capacity = rig_slots,
                  .mode = o.mode,
                  .certify_schedule = o.certify}) {
        for (std::uint32_t i = 0; i < o.workers; ++i) {
            make_lanes(o, i);
            order_.add_worker(*lanes_[i]);
        }
        if (o.visits == visitor::own_lanes)
            make_lanes(o, o.workers);  // numbered behind the workers
        if (o.visits != visitor::none)
            order_.set_visitor(*lanes_[o.visits == visitor::own_lanes ? o.workers : 0]);
        for (unsigned i = 0; i < rig_slots; ++i) {
            tactus::slot* s = slots_.take(cache_);
            s->set_traits(tactus::default_priority, false);
            (void)slots_.open(*s, false);
        }
    }

    [[nodiscard]] tactus::coordinator& order() noexcept { return order_; }
    [[nodiscard]] tactus::registry& slots() noexcept { return slots_; }
    [[nodiscard]] test_memory& memory() noexcept { return memory_; }
    [[nodiscard]] tactus::worker_lanes& worker(unsigned n = 0) noexcept { return *lanes_[n]; }
    [[nodiscard]] tactus::slot& at(unsigned n) noexcept { return slots_.at(n); }
    [[nodiscard]] tactus::mailbox_index index(unsigned n) noexcept {
        return slots_.index_of(slots_.at(n));
    }

    // What waits where. From outside, unless a worker is named.
    void wait(unsigned n, const tactus::lane_place& place,
              tactus::worker_lanes* from = nullptr) noexcept {
        const auto hint = place.where == tactus::lane::cancel ? tactus::schedule_hint::system
                                                              : tactus::schedule_hint::user;
        const bool pinned = at(n).pinned();
        const std::uint32_t home = pinned ? at(n).home() : 0;
        at(n).set_traits(place.priority, at(n).fresh());
        if (pinned)
            at(n).pin_to(home);
        EXPECT_TRUE(at(n).state().request_schedule(hint));
        order_.submit(at(n), from, place);
    }
    void ready(unsigned n, tactus::worker_lanes* from = nullptr,
               std::uint8_t priority = tactus::default_priority) noexcept {
        wait(n, {tactus::lane::ready, priority, 0}, from);
    }
    void cancel(unsigned n, tactus::worker_lanes* from = nullptr,
                std::uint8_t priority = tactus::default_priority) noexcept {
        wait(n, {tactus::lane::cancel, priority, 0}, from);
    }
    void timed(unsigned n, std::int64_t deadline, tactus::worker_lanes* from = nullptr) noexcept {
        wait(n, {tactus::lane::timed, tactus::default_priority, deadline}, from);
    }
    void fresh(unsigned n) noexcept { at(n).set_traits(tactus::default_priority, true); }

    static constexpr int nothing = -1;
    /// Which mailbox runs next on a worker; it runs, and is idle again.
    [[nodiscard]] int take(unsigned worker_number = 0) noexcept {
        tactus::slot* s = order_.next(*lanes_[worker_number]);
        if (s == nullptr)
            return nothing;
        if (s->fresh())
            s->end_fresh();
        EXPECT_EQ(s->state().run_ended(), tactus::mailbox_owed::look_again);
        return static_cast<int>(slots_.number_of(*s));
    }
    /// True when exactly these come out, in this order.
    bool takes(std::initializer_list<int> expected, unsigned worker_number = 0) noexcept {
        bool good = true;
        for (const int n : expected) {
            const int found = take(worker_number);
            if (found != n) {
                TEST_LOG("expected", n);
                TEST_LOG("   found", found);
                good = false;
            }
        }
        return good;
    }
    bool idle(unsigned worker_number = 0) noexcept { return takes({nothing}, worker_number); }

    [[nodiscard]] const tactus::fairness_certificate& certificate(unsigned n = 0) noexcept {
        return lanes_[n]->certificate();
    }

private:
    void make_lanes(const options& o, std::uint32_t number) noexcept {
        lanes_[number].emplace(
            tactus::worker_lanes::options{.memory = &memory_,
                                          .stale = &order_.staleness(),
                                          .ring_capacity = ring_capacity,
                                          .fresh_capacity = fresh_capacity,
                                          .later_capacity = later_capacity,
                                          .keyed_capacity = 8,
                                          .number = number,
                                          .shared = o.workers > 1 || o.visits == visitor::own_lanes,
                                          .seed = seed_of(o, number),
                                          .mode = o.mode,
                                          .suggested = o.suggested,
                                          .cancel_streak_limit = o.cancel_limit});
    }
    // The vectors' workers are seeded with their numbers.
    [[nodiscard]] static std::uint64_t seed_of(const options& o, std::uint32_t worker) noexcept {
        return o.mode == tactus::lane_mode::standard ? o.seed : worker;
    }

    static constexpr std::size_t heap_size = board::roomy ? 64 * 1024 : 7 * 1024;
    [[nodiscard]] static std::byte* heap() noexcept {
        alignas(16) static std::byte bytes[heap_size];
        return bytes;
    }
    [[nodiscard]] static std::byte* places() noexcept {
        alignas(tactus::slot) alignas(16) static std::byte bytes[rig_slots * sizeof(tactus::slot)];
        return bytes;
    }

    test_memory memory_;
    tactus::fixed_memory region_;
    tactus::registry slots_;
    tactus::slot_cache cache_;
    tactus::coordinator order_;
    std::optional<tactus::worker_lanes> lanes_[workers_max];
};

}  // namespace tactus_test
