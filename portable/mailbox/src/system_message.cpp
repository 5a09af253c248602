// SPDX-License-Identifier: Apache-2.0
//
// Names of the system message kinds, and the lists that are not on the hot path.
#include <tactus/mailbox/system_message.hpp>

#include <array>

namespace tactus::inline v0 {

const char* name_of(system_kind kind) noexcept {
    static constexpr std::array<const char*, system_kind_count> names{
        "create",          "recreate",     "suspend", "resume", "terminate",
        "supervise",       "watch",        "unwatch", "failed", "death_watch_notification",
        "receive_timeout", "continuation", "go_on"};
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

void system_ring::push(system_message& m) noexcept {
    system_message* oldest = &m;
    if (newest_ != nullptr) {
        oldest = newest_->next.read();
        newest_->next.write(&m);
    }
    m.next.write(oldest);
    newest_ = &m;
}

system_message& system_ring::pop() noexcept {
    system_message& oldest = *newest_->next.read();
    if (&oldest == newest_)
        newest_ = nullptr;
    else
        newest_->next.write(oldest.next.read());
    oldest.next.write(nullptr);
    oldest.linked = false;
    return oldest;
}

oldest_first system_ring::take_onto(oldest_first rest) noexcept {
    if (empty())
        return rest;
    const oldest_first all(newest_->next.read());
    newest_->next.write(rest.head());
    newest_ = nullptr;
    return all;
}

}  // namespace tactus::inline v0
