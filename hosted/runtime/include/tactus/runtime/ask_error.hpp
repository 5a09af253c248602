// SPDX-License-Identifier: Apache-2.0
//
// Why a question was not answered (AS-1).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <tactus/actor/actor_ref.hpp>

namespace tactus::inline v0 {

struct ask_error {
    enum class kind : std::uint8_t {
        timeout,             // no reply within the time given
        target_terminated,   // it had ended before it was asked
        invalid_timeout,     // not positive: nothing was sent
        would_block_worker,  // asked on a worker's thread, which must not wait (UP-3)
        refused,             // the target's mailbox did not take it
        no_room,             // no actor could be made for the reply
    };
    kind what;
    any_ref target;
    std::chrono::nanoseconds after{};
    std::string_view message_type;
    std::string target_path;

    /// One line for people.
    [[nodiscard]] std::string text() const;
};
inline constexpr std::size_t ask_error_count = 6;
[[nodiscard]] const char* name_of(ask_error::kind what) noexcept;

}  // namespace tactus::inline v0
