// SPDX-License-Identifier: Apache-2.0
//
// Dispatch rules: where the system preset `pekko` differs from the defaults, as far as dispatchers
// and mailboxes go (SC-26). Each can be had alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace tactus::inline v0 {

/// Whose word counts when props and the deployment for an actor's path name different ones.
enum class precedence : std::uint8_t { props_first, deployment_first };

enum class system_preset : std::uint8_t { tactus, pekko };
inline constexpr std::size_t system_preset_count = 2;
[[nodiscard]] const char* name_of(system_preset preset) noexcept;

struct dispatch_rules {
    precedence first = precedence::props_first;
    std::optional<std::uint32_t> throughput = {};  // of dispatchers that name none
    std::uint32_t executor_retries = 2;            // after an executor's first refusal (EX-1)

    [[nodiscard]] static constexpr dispatch_rules of(system_preset preset) noexcept {
        if (preset == system_preset::pekko)
            return {precedence::deployment_first, 5, 1};
        return {};
    }
    friend constexpr bool operator==(const dispatch_rules&, const dispatch_rules&) = default;
};

}  // namespace tactus::inline v0
