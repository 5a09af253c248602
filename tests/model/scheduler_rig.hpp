// SPDX-License-Identifier: Apache-2.0
//
// A whole kernel inside a check: its memory is watched, and what becomes of each message is
// counted.
#pragma once

#include <array>

#include <tactus/dispatch/actor_scheduler.hpp>
#include <tactus/dispatch/turn.hpp>
#include <tactus/port/model.hpp>

#include "model_memory.hpp"

namespace scenario {

/// What actors of the rig understand.
struct note {
    unsigned number;
};

/// Counts dead letters by message number.
class counting_events final : public tactus::kernel_events {
public:
    static constexpr unsigned count_max = 8;

    void dead_letter(tactus::mailbox_index, tactus::envelope& e,
                     tactus::dead_letter_cause) noexcept override {
        if (const note* n = e.get_if<note>())
            dead[n->number].fetch_add(1, std::memory_order_relaxed);
    }
    void message_lost(tactus::mailbox_index, const tactus::message_type&,
                      tactus::dead_letter_cause) noexcept override {
        lost.fetch_add(1, std::memory_order_relaxed);
    }
    void system_dead_letter(tactus::mailbox_index, tactus::system_message&) noexcept override {
        system_dead.fetch_add(1, std::memory_order_relaxed);
    }
    void mailbox_closed(tactus::mailbox_index, std::size_t, std::size_t) noexcept override {
        closed.fetch_add(1, std::memory_order_relaxed);
    }
    void actor_failed(tactus::mailbox_index, const tactus::failure&) noexcept override {}
    void deadline_missed(tactus::mailbox_index, std::int64_t) noexcept override {}

    using count = tactus::port::atomic<unsigned>;
    std::array<count, count_max> dead{count{0}, count{0}, count{0}, count{0},
                                      count{0}, count{0}, count{0}, count{0}};
    count lost{0};
    count system_dead{0};
    count closed{0};
};

class scheduler_rig {
public:
    static constexpr unsigned count_max = counting_events::count_max;

    struct size {
        std::uint32_t workers = 1;
        std::uint32_t slots = 2;
        std::uint32_t envelopes = 4;
        const tactus::clock* time = nullptr;
        tactus::timer_service* timers = nullptr;
    };
    explicit scheduler_rig(size s)
        : slot_memory(s.slots),
          envelope_memory(s.envelopes + 1),
          system({.memory = &memory,
                  .slot_memory = &slot_memory,
                  .envelope_memory = &envelope_memory,
                  .slot_capacity = s.slots,
                  .envelope_capacity = s.envelopes,
                  .reserve_for_system = 1,
                  .slot_magazine = 1,
                  .envelope_magazine = 1,
                  .worker_count = s.workers,
                  .time = s.time,
                  .timers = s.timers,
                  .ring_capacity = 2,
                  .fresh_capacity = 2,
                  .queue_capacity = 2,
                  .keyed_capacity = 1,
                  .events = &events}) {}

    /// Handles notes: each once, one run at a time.
    class actor {
    public:
        explicit actor(scheduler_rig& r) : rig_(&r) {}
        void receive(tactus::turn&, tactus::envelope& e) {
            runs_.write(runs_.read() + 1);  // a race unless runs follow each other
            ++rig_->handled[e.get_if<note>()->number];
        }
        void receive_system(tactus::turn& t, tactus::system_message& m) {
            runs_.write(runs_.read() + 1);
            ++rig_->handled_system;
            if (m.kind == tactus::system_kind::terminate)
                t.stop();
        }

    private:
        tactus::port::plain<unsigned> runs_{0};
        scheduler_rig* rig_;
    };

    [[nodiscard]] tactus::mailbox_index spawn() { return system.spawn<actor>({}, *this).value(); }
    /// As a worker: at most so many dispatches.
    void run(std::uint32_t number, unsigned dispatches) {
        tactus::worker& w = system.worker_at(number);
        const tactus::worker::binding bound(w);
        for (unsigned i = 0; i < dispatches; ++i) {
            if (!system.run_one(w))
                tactus::port::yield();
        }
    }
    /// At the end: what is left, on every worker.
    void run_to_the_end() {
        for (bool any = true; any;) {
            any = false;
            for (std::uint32_t n = 0; n < system.worker_count(); ++n) {
                tactus::worker& w = system.worker_at(n);
                const tactus::worker::binding bound(w);
                while (system.run_one(w))
                    any = true;
            }
        }
    }

    model_memory memory;
    model_region<tactus::slot> slot_memory;
    model_region<tactus::envelope> envelope_memory;
    counting_events events;
    std::array<unsigned, count_max> handled{};
    unsigned handled_system = 0;
    tactus::actor_scheduler system;
};

}  // namespace scenario
