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
        return "realtime host";
    case clock_kind::realtime_hardware:
        return "realtime hardware";
    }
    return "unknown clock kind";
}

}  // namespace tactus::inline v0
