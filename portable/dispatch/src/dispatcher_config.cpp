// SPDX-License-Identifier: Apache-2.0
//
// The names of executors, as configuration files and errors spell them.
#include <tactus/dispatch/dispatcher_config.hpp>

namespace tactus::inline v0 {

const char* name_of(executor_kind kind) noexcept {
    static constexpr const char* names[executor_kind_count] = {
        "system_default", "work_stealing_pool", "pinned", "thread_pool",
        "calling_thread", "inline_tick",        "foreign"};
    return names[static_cast<std::size_t>(kind)];
}

}  // namespace tactus::inline v0
