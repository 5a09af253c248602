// SPDX-License-Identifier: Apache-2.0
//
// What a sink is given.
#include <tactus/actor/log.hpp>

namespace tactus::inline v0 {

const char* name_of(log_level level) noexcept {
    static constexpr const char* names[log_level_count] = {"off", "error", "warning", "info",
                                                           "debug"};
    return names[static_cast<std::size_t>(level)];
}

void logger::write_passed(log_level record, std::string_view text,
                          const log_origin& from) noexcept {
    const instant at = time_ != nullptr ? time_->now() : instant::epoch();
    sink_->write({.level = record, .text = text, .from = from, .at = at});
}

}  // namespace tactus::inline v0
