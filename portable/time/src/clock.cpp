// SPDX-License-Identifier: Apache-2.0
//
// Texts of the clock kinds.
#include <tactus/time/clock.hpp>

namespace tactus::inline v0 {

const char* to_text(clock_kind kind) noexcept {
    switch (kind) {
    case clock_kind::deterministic:
        return "deterministic";
    case clock_kind::realtime_host:
        return "realtime_host";
    case clock_kind::realtime_hardware:
        return "realtime_hardware";
    }
    return "unknown clock_kind";
}

}  // namespace tactus::inline v0
