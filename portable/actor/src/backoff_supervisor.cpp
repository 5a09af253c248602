// SPDX-License-Identifier: Apache-2.0
//
// What a back-off supervisor counts.
#include <tactus/actor/backoff_supervisor.hpp>

namespace tactus::inline v0 {

const char* backoff_supervisor_options::fault() const noexcept {
    const backoff_options delays{.min = min, .max = max, .random_factor = random_factor};
    if (!delays.is_on())
        return "a back-off supervisor needs the shortest and the longest delay";
    if (const char* why = delays.fault())
        return why;
    if (reset_after && (*reset_after < min || *reset_after > max))
        return "a back-off supervisor forgets after a time between its shortest and longest delay";
    return nullptr;
}

namespace detail {

void backoff_retries::look(instant now) noexcept {
    if (how_.forgets == backoff_forgets::by_itself &&
        now - started_ >= how_.reset_after.value_or(how_.min))
        count_ = 0;
}

bool backoff_retries::allows(instant now) noexcept {
    if (!how_.max_retries)
        return true;
    if (!how_.within)
        return count_ < *how_.max_retries;
    const bool allowed =
        window_.allows({.max_restarts = how_.max_retries, .within = how_.within}, now);
    if (window_.count() == 1)
        count_ = 0;  // a new window
    return allowed;
}

duration backoff_retries::next(duration at_least, det_rng& random) noexcept {
    const duration delay = backoff_delay(count_, how_.min, how_.max, how_.random_factor, random);
    ++count_;
    return delay < at_least ? at_least : delay;
}

}  // namespace detail

}  // namespace tactus::inline v0
