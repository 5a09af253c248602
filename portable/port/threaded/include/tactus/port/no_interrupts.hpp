// SPDX-License-Identifier: Apache-2.0
//
// critical_section of platforms where no interrupt handler shares data with portable code: the host
// and the model. Platforms include this; include <tactus/port/port.hpp>.
#pragma once

namespace tactus::inline v0::port {

inline constexpr bool has_interrupts = false;
[[nodiscard]] constexpr bool in_interrupt() noexcept {
    return false;
}

class critical_section {
public:
    // Written out, or a section that only lives would be warned about as unused.
    critical_section() noexcept {}  // NOLINT(modernize-use-equals-default)
    ~critical_section() {}          // NOLINT(modernize-use-equals-default)
    critical_section(const critical_section&) = delete;
    critical_section& operator=(const critical_section&) = delete;
};

}  // namespace tactus::inline v0::port
