// SPDX-License-Identifier: Apache-2.0
//
// The program of the firmware example, for a board and for the host: three stations in a ring, each
// with a timer of its own, each of which sends a hundred readings to the next (PT-5).
//
// The periods differ, so the order in which readings arrive is that of the timers. The witness is a
// hash of this order: a board that keeps up with its ticks has the same as a simulation.
#pragma once

#include <cstdint>
#include <string_view>

#include <tactus/actor/device_system.hpp>
#include <tactus/base/det_hasher.hpp>

namespace relay {

inline constexpr std::uint32_t stations = 3;
inline constexpr std::uint32_t readings = 100;
inline constexpr std::uint64_t witness = 7330749473867935421U;
/// Room for eight actors, though three are there, and for six timers, of which each has one. The
/// stations take less memory beside their slots than actors usually do.
inline constexpr tactus::device_config config{
    .timers_max = 6, .overflow_max = 1, .bytes_per_actor = 30 * sizeof(void*)};

struct score {
    tactus::det_hasher order;
    std::uint32_t handled = 0;
};

struct reading {
    std::uint32_t from;
    std::uint32_t number;
};
struct beat {};
struct meet {
    tactus::actor_ref<reading> next;
};

class station : public tactus::actor<meet, beat, reading> {
public:
    station(score* all, std::uint32_t id) : all_(all), id_(id) {}

    void on(const meet& m) {
        next_ = m.next;
        constexpr int periods_ms[stations] = {2, 3, 5};
        const auto period = tactus::duration::from_ms(periods_ms[id_]);
        if (!context().start_timer_at_fixed_rate("beat", beat{}, period))
            context().fail({"no timer"});
    }
    void on(const beat&) {
        next_.tell(reading{id_, ++sent_});
        if (sent_ == readings)
            context().cancel_timers();
    }
    void on(const reading& r) {
        all_->order.add(id_);
        all_->order.add(r.from);
        all_->order.add(r.number);
        if (++all_->handled == stations * readings)
            context().world().terminate();
    }

private:
    score* all_;
    tactus::actor_ref<reading> next_;
    std::uint32_t id_;
    std::uint32_t sent_ = 0;
};

/// False: something did not fit.
inline bool begin(tactus::device_system& system, score& all) {
    static constexpr std::string_view names[stations] = {"north", "east", "west"};
    tactus::actor_ref<meet, beat, reading> refs[stations];
    for (std::uint32_t i = 0; i < stations; ++i) {
        const auto made = system.spawn<station>(names[i], &all, i);
        if (!made)
            return false;
        refs[i] = *made;
    }
    for (std::uint32_t i = 0; i < stations; ++i)
        refs[i].tell(meet{refs[(i + 1) % stations]});
    return true;
}

}  // namespace relay
