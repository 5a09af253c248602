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
#include <tactus/actor/ask_source.hpp>

namespace tactus::inline v0 {

struct ask_error {
    using kind = ask_fault;
    kind what;
    any_ref target;
    std::chrono::nanoseconds after{};
    std::string_view message_type;
    std::string target_path;

    /// One line for people.
    [[nodiscard]] std::string text() const;
};

}  // namespace tactus::inline v0
