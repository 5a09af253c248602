// SPDX-License-Identifier: Apache-2.0
//
// Built-in mailboxes: ids that every system knows without adding them, and which of them satisfies
// which requirement (PK-CFG-9, PK-CFG-10). Constants: they take no memory of the resolver.
//
// Beside the table there is `bounded-capacity:<n>`, for any capacity from 1: senders do not wait.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include <tactus/mailbox/mailbox_options.hpp>

namespace tactus::inline v0 {

struct builtin_mailbox {
    std::string_view id;
    mailbox_options options;
};
[[nodiscard]] std::span<const builtin_mailbox> builtin_mailboxes() noexcept;

struct builtin_requirement {
    capability_set required;
    std::string_view mailbox;
};
[[nodiscard]] std::span<const builtin_requirement> builtin_requirements() noexcept;

inline constexpr std::string_view bounded_capacity_prefix = "bounded-capacity:";

/// Nobody else may have such an id, well formed or not.
[[nodiscard]] bool is_reserved_mailbox(std::string_view id) noexcept;
/// What a built-in id means; a capacity of 0 is left for the caller to refuse.
[[nodiscard]] std::optional<mailbox_options> builtin_mailbox_options(std::string_view id) noexcept;

}  // namespace tactus::inline v0
