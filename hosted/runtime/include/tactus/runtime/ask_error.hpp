// SPDX-License-Identifier: Apache-2.0
//
// Why a question from outside was not answered (AS-1): as ask_failure, with a path and a text that
// outlive the system.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <tactus/actor/actor_ref.hpp>
#include <tactus/actor/ask_failure.hpp>
#include <tactus/dispatch/sent.hpp>

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

namespace detail {

/// Of a question that was not sent.
[[nodiscard]] constexpr ask_fault fault_of(sent why) noexcept {
    return why == sent::recipient_terminated || why == sent::no_system || why == sent::shutdown
               ? ask_fault::target_terminated
           : why == sent::construction_failed ? ask_fault::question_failed
           : why == sent::forked_child        ? ask_fault::forked_child
           : why == sent::draining            ? ask_fault::draining
                                              : ask_fault::refused;
}

}  // namespace detail

}  // namespace tactus::inline v0
