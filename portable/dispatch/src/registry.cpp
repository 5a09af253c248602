// SPDX-License-Identifier: Apache-2.0
//
// Generations over the life of a system, and what is poisoned in a free slot.
#include <tactus/dispatch/registry.hpp>

namespace tactus::inline v0 {

registry::registry(const options& o) noexcept
    : depot_({.memory = o.memory, .capacity = o.capacity, .magazine_size = o.magazine_size}),
      system_number_(o.system_number),
      first_generation_(o.first_generation),
      poisons_(port::poisoning()) {
    TACTUS_CHECK(1, o.capacity > 0 && o.capacity - 1 <= mailbox_index::slot_mask);
    TACTUS_CHECK(2, o.first_generation != 0);
}

registry::~registry() {
    if (poisons_)
        port::unpoison(depot_.data(), depot_.constructed_count() * sizeof(slot));
}

std::uint32_t registry::last_generation() const noexcept {
    if (retired_count() != 0)
        return 0;  // some slot has gone all the way round
    std::uint32_t last = first_generation_;
    for (std::uint32_t i = 0; i < depot_.constructed_count(); ++i) {
        const std::uint32_t generation = depot_.data()[i].generation();
        if (generation > last)  // 0: constructed with its magazine, and never used
            last = generation;
    }
    return last;
}

// The links at the start of the user state stay usable, its end stays readable for dumps, and the
// senders' and state lines belong to every holder of a reference.
void registry::poison(slot& s) noexcept {
    constexpr std::size_t links = 2 * sizeof(slot*);
    port::poison(static_cast<std::byte*>(s.user_state()) + links,
                 slot::state_size - links - slot::readable_size);
}
void registry::unpoison(slot& s) noexcept {
    port::unpoison(s.user_state(), slot::state_size);
}

}  // namespace tactus::inline v0
