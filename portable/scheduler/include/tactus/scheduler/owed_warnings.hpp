// SPDX-License-Identifier: Apache-2.0
//
// Warnings that came up under the scheduler's lock, to be told when it is free again.
//
// Lies on the stack of who holds the lock. Making one that stays empty is one store.
//
// Thread safety: none.
#pragma once

#include <cstddef>
#include <new>
#include <span>

#include <tactus/base/check.hpp>
#include <tactus/scheduler/scheduler_event.hpp>

namespace tactus::inline v0 {

class owed_warnings {
public:
    // Of one holder: looking at the pressure gives two, and drift one; admitting a timer two, and
    // two more when it is far away.
    static constexpr std::size_t count_max = 4;

    owed_warnings() noexcept {}  // NOLINT: the room is not to be filled
    void add(const scheduler_warning& w) noexcept {
        TACTUS_CHECK(1, count_ < count_max);
        ::new (static_cast<void*>(room_ + count_++ * sizeof(scheduler_warning)))
            scheduler_warning(w);
    }
    [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
    [[nodiscard]] std::span<scheduler_warning> all() noexcept {
        return {std::launder(reinterpret_cast<scheduler_warning*>(room_)), count_};
    }

private:
    TACTUS_CHECK_MODULE("owed_warnings");

    std::size_t count_ = 0;
    alignas(scheduler_warning) std::byte room_[count_max * sizeof(scheduler_warning)];
};

}  // namespace tactus::inline v0
