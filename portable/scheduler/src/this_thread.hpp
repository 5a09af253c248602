// SPDX-License-Identifier: Apache-2.0
//
// Tells threads apart, by an address of each.
#pragma once

#include <tactus/port/port.hpp>

namespace tactus::inline v0 {

struct thread_identity {
    char unused = 0;
};

[[nodiscard]] inline const void* this_thread() noexcept {
    return &port::thread_instance<thread_identity>();
}

}  // namespace tactus::inline v0
