// SPDX-License-Identifier: Apache-2.0
//
// Dispatcher configuration: where actors run, and how much one run may do (DR-3, EX-9).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include <tactus/mailbox/mailbox_options.hpp>
#include <tactus/time/instant.hpp>

namespace tactus::inline v0 {

/// Which executor supplies the workers (EX-2).
enum class executor_kind : std::uint8_t {
    system_default,      // what the system was given to run on; otherwise a work_stealing_pool
    work_stealing_pool,  // a worker per core
    pinned,              // a thread for one actor
    thread_pool,         // for handlers that block: a shared queue, grows up to max_workers
    calling_thread,      // on the thread that sends; for tests
    inline_tick,         // when the program's own loop says so; bare metal
    foreign,             // an executor of the application: Boost.Asio
};
inline constexpr std::size_t executor_kind_count = 7;
[[nodiscard]] const char* name_of(executor_kind kind) noexcept;

struct dispatcher_config {
    executor_kind executor = executor_kind::system_default;
    std::uint32_t workers = 0;      // 0: as many as there are cores
    std::uint32_t max_workers = 0;  // 0: twice the workers; extra ones when it starves
    std::optional<std::uint32_t> throughput =
        {};  // messages per run, exactly; none: the default rule
    duration throughput_deadline = duration::max();
    duration starvation_deadline = duration::from_s(1);
    duration shutdown_timeout = duration::from_s(1);  // without actors its threads end after this
    std::string_view mailbox = {};            // id of the mailbox its actors get; empty: none
    capability_set mailbox_requirement = {};  // what the mailboxes of its actors must be able to do

    friend constexpr bool operator==(const dispatcher_config&, const dispatcher_config&) = default;
};

// DR-3
inline constexpr std::string_view default_dispatcher_id = "tactus.default-dispatcher";
inline constexpr std::string_view internal_dispatcher_id = "tactus.internal-dispatcher";
inline constexpr std::string_view blocking_dispatcher_id = "tactus.blocking-dispatcher";
inline constexpr std::string_view default_mailbox_id = "tactus.default-mailbox";

[[nodiscard]] constexpr bool is_builtin_dispatcher(std::string_view id) noexcept {
    return id == default_dispatcher_id || id == internal_dispatcher_id ||
           id == blocking_dispatcher_id;
}
/// What a dispatcher of this id is unless it is said otherwise.
[[nodiscard]] constexpr dispatcher_config builtin_dispatcher_config(std::string_view id) noexcept {
    dispatcher_config config;
    if (id == blocking_dispatcher_id)
        config.executor = executor_kind::thread_pool;
    return config;
}

}  // namespace tactus::inline v0
