// SPDX-License-Identifier: Apache-2.0
//
// Phases of a coordinated shutdown and their order (EV-3): a graph, sorted once.
//
// A phase runs after those it depends on. The order is that of the declaration as far as the
// dependencies allow it, so it is the same from run to run. A phase that is only named as a
// dependency exists, too, as one that says nothing about itself.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tactus::inline v0 {

struct shutdown_phase {
    std::string name;
    std::vector<std::string> depends_on = {};
    std::optional<std::chrono::nanoseconds> timeout = {};  // none: that of the options
    bool recover = true;                                   // false: what fails ends the shutdown
    bool enabled = true;                                   // false: its tasks are skipped
};

/// What is wrong with phases, options or a task; `text` is one line for people.
struct shutdown_error {
    enum class kind : std::uint8_t {
        empty_name,       // a phase or a task has none
        duplicate_phase,  // two phases of one name
        invalid_timeout,  // not positive
        cycle,            // phases depend on each other
        contradiction,    // terminate() would not terminate
        unknown_phase,    // no phase has that name
        phase_over,       // it runs, or has run: a task is too late
    };
    kind what;
    std::string text;
};
inline constexpr std::size_t shutdown_error_count = 7;
[[nodiscard]] const char* name_of(shutdown_error::kind what) noexcept;

/// The twelve that are there unless others are given (PK-CSD-1).
namespace phases {
inline constexpr std::string_view before_service_unbind = "before-service-unbind";
inline constexpr std::string_view service_unbind = "service-unbind";
inline constexpr std::string_view service_requests_done = "service-requests-done";
inline constexpr std::string_view service_stop = "service-stop";
inline constexpr std::string_view before_cluster_shutdown = "before-cluster-shutdown";
inline constexpr std::string_view cluster_sharding_shutdown_region =
    "cluster-sharding-shutdown-region";
inline constexpr std::string_view cluster_leave = "cluster-leave";
inline constexpr std::string_view cluster_exiting = "cluster-exiting";
inline constexpr std::string_view cluster_exiting_done = "cluster-exiting-done";
inline constexpr std::string_view cluster_shutdown = "cluster-shutdown";
inline constexpr std::string_view before_actor_system_terminate = "before-actor-system-terminate";
inline constexpr std::string_view actor_system_terminate = "actor-system-terminate";
}  // namespace phases
[[nodiscard]] std::vector<shutdown_phase> default_shutdown_phases();

/// The phases, dependencies first. Near linear in phases and dependencies, however deep they are.
[[nodiscard]] std::expected<std::vector<shutdown_phase>, shutdown_error> in_order(
    const std::vector<shutdown_phase>& all);

namespace detail {

/// Like in_order; adds the comparisons of names to `comparisons`, for tests of its cost.
[[nodiscard]] std::expected<std::vector<shutdown_phase>, shutdown_error> in_order(
    const std::vector<shutdown_phase>& all, std::size_t& comparisons);

}  // namespace detail

}  // namespace tactus::inline v0
