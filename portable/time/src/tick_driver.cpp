// SPDX-License-Identifier: Apache-2.0
//
// What is wrong with a driver, for people.
#include <tactus/time/tick_driver.hpp>

#include <array>

namespace tactus::inline v0 {
namespace {

struct driver_error_text {
    tick_driver_error error;
    const char* name;
    const char* text;
};

constexpr auto texts = std::to_array<driver_error_text>({
    {tick_driver_error::spawn_failed, "spawn_failed",
     "its thread could not be started: the process or the machine has no room for another"},
    {tick_driver_error::handle_unavailable, "handle_unavailable",
     "what it drives with is not running, or belongs to another driver"},
    {tick_driver_error::unsupported_environment, "unsupported_environment",
     "it cannot drive a system with a clock of this kind: give the system the clock it belongs to"},
    {tick_driver_error::unsupported_executor, "unsupported_executor",
     "the system cannot be driven in its way: one that counts needs a tick source, one with a "
     "thread a system whose timers any thread may run"},
    {tick_driver_error::invalid_resolution, "invalid_resolution",
     "it does not tick with the resolution of the system: let them be equal"},
    {tick_driver_error::driver_stopped, "driver_stopped", "it has ended"},
    {tick_driver_error::drift_exceeded, "drift_exceeded",
     "it woke later than it is allowed to: the machine is busy, or the limit too tight"},
});

constexpr bool in_order() {
    for (std::size_t i = 0; i < texts.size(); ++i) {
        if (static_cast<std::size_t>(texts[i].error) != i)
            return false;
    }
    return true;
}
static_assert(texts.size() == tick_driver_error_count && in_order());

}  // namespace

const char* name_of(tick_driver_error error) noexcept {
    const auto i = static_cast<std::size_t>(error);
    return i < texts.size() ? texts[i].name : "unknown";
}

const char* text_of(tick_driver_error error) noexcept {
    const auto i = static_cast<std::size_t>(error);
    return i < texts.size() ? texts[i].text : "unknown";
}

}  // namespace tactus::inline v0
