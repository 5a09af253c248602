// SPDX-License-Identifier: Apache-2.0
//
// How long a suspension may last, and what happens then (CO-6): said with the suspension itself, or
// of an actor when it is spawned.
#pragma once

#include <cstdint>

#include <tactus/time/instant.hpp>

namespace tactus::inline v0 {

enum class suspend_limit_action : std::uint8_t { resume, fail, stop };

/// The longest time: no limit.
struct suspend_limit {
    duration after = duration::max();
    suspend_limit_action action = suspend_limit_action::resume;

    friend constexpr bool operator==(const suspend_limit&, const suspend_limit&) = default;
};

}  // namespace tactus::inline v0
