// SPDX-License-Identifier: Apache-2.0
//
// Texts of the resolver's errors.
#include <tactus/dispatch/resolve_error.hpp>

namespace tactus::inline v0 {

const char* name_of(resolve_error::kind kind) noexcept {
    static constexpr const char* names[resolve_error::kind_count] = {"unknown_dispatcher",
                                                                     "unknown_mailbox",
                                                                     "duplicate",
                                                                     "alias_conflicts_with_entry",
                                                                     "alias_chain_too_deep",
                                                                     "requirement_mismatch",
                                                                     "mailbox_capability_missing",
                                                                     "requirement_unmapped",
                                                                     "capacity_zero",
                                                                     "in_use",
                                                                     "invalid_id",
                                                                     "full"};
    return names[static_cast<std::size_t>(kind)];
}

resolve_error::resolve_error(kind what, std::initializer_list<std::string_view> parts) noexcept
    : what_(what) {
    for (const std::string_view& part : parts) {
        const std::uint16_t at = size_;
        add(part);
        if (&part == parts.begin() + 1) {
            id_at_ = at;
            id_size_ = static_cast<std::uint16_t>(size_ - at);
        }
    }
}

void resolve_error::add(std::string_view part) noexcept {
    static constexpr std::string_view cut = "...";
    for (const char c : part) {
        if (size_ == text_size_max) {
            for (std::size_t i = 0; i < cut.size(); ++i)
                text_[text_size_max - cut.size() + i] = cut[i];
            return;
        }
        text_[size_++] = c;
    }
}

void resolve_error::add(capability_set set) noexcept {
    bool first = true;
    for (std::size_t i = 0; i < capability_count; ++i) {
        const auto one = static_cast<capability>(1u << i);
        if (!set.has(one))
            continue;
        if (!first)
            add("+");
        add(name_of(one));
        first = false;
    }
}

}  // namespace tactus::inline v0
