// SPDX-License-Identifier: Apache-2.0
//
// Names of the system message kinds, and the lists that are not on the hot path.
#include <tactus/mailbox/system_message.hpp>

#include <array>

namespace tactus::inline v0 {

const char* name_of(system_kind kind) noexcept {
    static constexpr std::array<const char*, system_kind_count> names{
        "create",          "recreate",    "suspend", "resume", "terminate",
        "supervise",       "watch",       "unwatch", "failed", "death_watch_notification",
        "receive_timeout", "continuation"};
    return names[static_cast<std::size_t>(kind)];
}

std::size_t oldest_first::size() const noexcept {
    std::size_t count = 0;
    for (const system_message* at = head_; at != nullptr; at = at->next.read())
        ++count;
    return count;
}

void newest_first::push(system_message& m) noexcept {
    TACTUS_CHECK(1, m.next.read() == nullptr);
    m.next.write(head_);
    head_ = &m;
}

oldest_first newest_first::reverse_onto(oldest_first rest) noexcept {
    system_message* done = rest.head();
    while (head_ != nullptr) {
        system_message* older = head_->next.read();
        head_->next.write(done);
        done = head_;
        head_ = older;
    }
    return oldest_first(done);
}

}  // namespace tactus::inline v0
