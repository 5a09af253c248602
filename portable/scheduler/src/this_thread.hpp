// SPDX-License-Identifier: Apache-2.0
//
// Tells threads apart, by an address of each, and says which of them fire.
#pragma once

#include <tactus/port/port.hpp>

#include <cstdint>

namespace tactus::inline v0 {

struct thread_identity {
    std::uint8_t fires = 0;  // schedulers, one within the other
};

[[nodiscard]] inline const void* this_thread() noexcept {
    return &port::thread_instance<thread_identity>();
}

}  // namespace tactus::inline v0
