// SPDX-License-Identifier: Apache-2.0
//
// What the resolver can refuse, with a text that names the ids (DR-1). The text is the error's own:
// it may outlive the ids that were asked for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>

#include <tactus/mailbox/mailbox_options.hpp>

namespace tactus::inline v0 {

class resolve_error {
public:
    enum class kind : std::uint8_t {
        unknown_dispatcher,
        unknown_mailbox,
        duplicate,                   // an id, alias, path or requirement is there already
        alias_conflicts_with_entry,  // an alias would hide an entry, or an entry an alias
        alias_chain_too_deep,        // more than `depth` aliases one after the other; or a loop
        requirement_mismatch,        // the mailbox lacks what the dispatcher requires
        mailbox_capability_missing,  // the mailbox lacks what the actor requires
        requirement_unmapped,        // no mailbox is known for what is required
        capacity_zero,               // a mailbox that could not hold a message
        in_use,                      // to be replaced, but somebody has it
        invalid_id,                  // empty or too long
        full,                        // the resolver's memory
    };
    static constexpr std::size_t kind_count = 12;
    static constexpr std::size_t text_size_max = 320;

    /// A text of these parts, cut to what there is room for. The second is the id.
    resolve_error(kind what, std::initializer_list<std::string_view> parts) noexcept;

    [[nodiscard]] kind what() const noexcept { return what_; }
    [[nodiscard]] std::string_view text() const noexcept { return {text_, size_}; }
    /// The dispatcher, mailbox, alias or path that it is about; empty: none. Cut with the text.
    [[nodiscard]] std::string_view id() const noexcept { return {text_ + id_at_, id_size_}; }
    /// Of alias_chain_too_deep: how many are followed.
    [[nodiscard]] std::uint32_t depth() const noexcept { return depth_; }
    /// Of requirement_mismatch, mailbox_capability_missing, requirement_unmapped.
    [[nodiscard]] capability_set requirement() const noexcept { return requirement_; }

private:
    friend class resolver;

    void add(std::string_view part) noexcept;
    void add(capability_set set) noexcept;

    kind what_;
    capability_set requirement_;
    std::uint16_t size_ = 0;
    std::uint16_t id_at_ = 0;
    std::uint16_t id_size_ = 0;
    std::uint32_t depth_ = 0;
    char text_[text_size_max] = {};
};
[[nodiscard]] const char* name_of(resolve_error::kind kind) noexcept;

}  // namespace tactus::inline v0
