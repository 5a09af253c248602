// SPDX-License-Identifier: Apache-2.0
//
// Prints the names of all errors as the code says them, one line each: the enumeration and the
// name. troubleshooting.py compares them with the enumerations and with docs/troubleshooting.md.
#include <cstddef>
#include <cstdio>

#include <tactus/actor/actor_name.hpp>
#include <tactus/actor/ask_source.hpp>
#include <tactus/actor/cancel_context.hpp>
#include <tactus/actor/device_system.hpp>
#include <tactus/actor/event_stream.hpp>
#include <tactus/actor/failure_cause.hpp>
#include <tactus/actor/next_message.hpp>
#include <tactus/dispatch/events.hpp>
#include <tactus/dispatch/resolve_error.hpp>
#include <tactus/dispatch/sent.hpp>
#include <tactus/dispatch/spawn_options.hpp>
#include <tactus/dispatch/suspensions.hpp>
#include <tactus/mailbox/mailbox_block.hpp>
#include <tactus/runtime/dispatchers.hpp>
#include <tactus/runtime/scheduler_log_file.hpp>
#include <tactus/runtime/shutdown_phases.hpp>
#include <tactus/runtime/shutdown_task.hpp>
#include <tactus/scheduler/log_replay.hpp>
#include <tactus/scheduler/scheduler_event.hpp>
#include <tactus/time/tick_driver.hpp>
#include <tactus/time/tick_source.hpp>
#include <tactus/time/timer_error.hpp>

using namespace tactus;  // NOLINT: a list of everything

namespace {

template <class E>
void print(const char* enumeration, std::size_t count, const char* (*name)(E) noexcept) {
    for (std::size_t i = 0; i < count; ++i)
        std::printf("%s %s\n", enumeration, name(static_cast<E>(i)));
}
/// Where nobody counts: up to the last one.
template <class E>
void print(const char* enumeration, E last, const char* (*name)(E) noexcept) {
    print(enumeration, static_cast<std::size_t>(last) + 1, name);
}

}  // namespace

int main() {
    print<sent>("sent", sent_result_count, &name_of);
    print<dead_letter_cause>("dead_letter_cause", dead_letter_cause_count, &name_of);
    print<spawn_error::kind>("spawn_error::kind", spawn_error_count, &name_of);
    print<name_fault>("name_fault", name_fault_count, &name_of);
    print<ask_fault>("ask_fault", ask_fault_count, &name_of);
    print<device_error::kind>("device_error::kind", device_error_count, &name_of);
    print<next_error>("next_error", next_error_count, &name_of);
    print<suspend_error>("suspend_error", suspend_error_count, &name_of);
    print<failure_kind>("failure_kind", failure_kind_count, &name_of);
    print<cancel_kind>("cancel_kind", cancel_kind_count, &name_of);
    print<prepended>("prepended", prepended_count, &name_of);
    print<event_error>("event_error", event_error_count, &name_of);
    print<user_code>("user_code", user_code::kernel_events, &name_of);
    print<resolve_error::kind>("resolve_error::kind", resolve_error::kind_count, &name_of);
    print<runtime::dispatcher_error::kind>(
        "dispatcher_error::kind", runtime::dispatcher_error::kind::id_refused, &runtime::name_of);
    print<shutdown_error::kind>("shutdown_error::kind", shutdown_error_count, &name_of);
    print<shutdown_task_state>("shutdown_task_state", shutdown_task_state_count, &name_of);
    print<timer_errc>("timer_errc", timer_errc::time_went_back, &to_text);
    print<tick_state>("tick_state", tick_state::suspended, &to_text);
    print<tick_driver_error>("tick_driver_error", tick_driver_error_count, &name_of);
    print<scheduler_errc>("scheduler_errc", scheduler_errc_count, &name_of);
    print<scheduler_config_errc>("scheduler_config_errc", scheduler_config_errc_count, &name_of);
    print<scheduler_warning_kind>("scheduler_warning_kind", scheduler_warning_count, &name_of);
    print<backpressure_cause>("backpressure_cause", backpressure_cause_count, &name_of);
    print<log_errc>("log_errc", log_errc_count, &name_of);
    print<runtime::log_file_error::kind>("log_file_error::kind", runtime::log_file_error_count,
                                         &runtime::name_of);
    return 0;
}
