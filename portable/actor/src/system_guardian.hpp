// SPDX-License-Identifier: Apache-2.0
//
// The system guardian: parent of what the runtime spawns, and the actor that answers for the
// system: dumps by message (OH-5), and samples for who subscribes them (OH-3).
//
//     state      on                then       does
//     resting    sampling_wanted   taking     the first few
//     resting    sampling_wanted   waiting    a timer: a second after the last samples
//     waiting    sampling_wanted   waiting    nothing
//     waiting    sample_due        taking     the first few, if somebody still subscribes
//     waiting    sample_due        resting    nothing, if nobody does
//     taking     sample_more       taking     the next few
//     taking     the last were     waiting    dispatchers; a timer: in a second
#pragma once

#include <cstdint>
#include <optional>

#include <tactus/actor/actor.hpp>
#include <tactus/actor/dump_request.hpp>
#include <tactus/actor/load_samples.hpp>

namespace tactus::inline v0::detail {

/// Somebody subscribes samples.
struct sampling_wanted {};
struct sample_due {};
struct sample_more {};

class system_guardian : public actor<dump_request, sampling_wanted, sample_due, sample_more> {
public:
    void on(const dump_request& r);
    void on(sampling_wanted);
    void on(sample_due);
    void on(sample_more) {
        if (next_slot_ != 0)
            take();
    }

private:
    // Mailboxes per turn: a device has few envelopes.
    static constexpr std::uint32_t batch = port::cache_line < 8 ? 4 : 256;

    [[nodiscard]] bool wanted() const noexcept;
    void take();
    void begin_after(duration d);

    // Eight bytes, to live in the slot of a device.
    std::uint32_t ended_ms_ = 0;        // when the last samples were taken, modulo 49 days
    std::uint32_t next_slot_ : 30 = 0;  // while taking
    std::uint32_t sampled_ : 1 = 0;     // at all
    std::uint32_t rests_ : 1 = 1;
};

}  // namespace tactus::inline v0::detail
