// SPDX-License-Identifier: Apache-2.0
//
// The names of mailbox options, as configuration files and errors spell them.
#include <tactus/mailbox/mailbox_options.hpp>

#include <tactus/mailbox/mailbox_block.hpp>

#include <bit>

namespace tactus::inline v0 {

const char* name_of(mailbox_kind kind) noexcept {
    static constexpr const char* names[mailbox_kind_count] = {"fifo", "deque", "priority",
                                                              "stable_priority", "control_aware"};
    return names[static_cast<std::size_t>(kind)];
}

const char* name_of(overflow strategy) noexcept {
    static constexpr const char* names[overflow_count] = {"drop_oldest", "drop_newest", "reject",
                                                          "dead_letter", "block"};
    return names[static_cast<std::size_t>(strategy)];
}

const char* name_of(capability c) noexcept {
    static constexpr const char* names[capability_count] = {
        "mpsc", "deque", "blocking", "multiple_consumer", "bounded", "control_aware", "unbounded"};
    return names[std::countr_zero(static_cast<unsigned>(c))];
}

const char* name_of(prepended result) noexcept {
    static constexpr const char* names[prepended_count] = {"done", "not_a_deque", "full",
                                                           "no_memory"};
    return names[static_cast<std::size_t>(result)];
}

}  // namespace tactus::inline v0
