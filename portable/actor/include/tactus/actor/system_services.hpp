// SPDX-License-Identifier: Apache-2.0
//
// System services: what the system guardian does beside guarding. A hosted system has all of them;
// a device names them when it wants them, or their code is not in its image (16 KiB on a Cortex-M).
//
//     device_config{.services = &tactus::all_services}
//
//   dumps by message   dump_request.hpp (OH-5)
//   samples            load_samples.hpp (OH-3)
#pragma once

#include <tactus/actor/event_type.hpp>

namespace tactus::inline v0 {

class actor_world;
struct actor_type;

struct system_services {
    /// What the system guardian is.
    const actor_type& (*guardian)() noexcept;
    /// A subscription was made.
    void (*subscribed)(actor_world& world, const event_type& channel) noexcept;
};

extern const system_services all_services;

}  // namespace tactus::inline v0
