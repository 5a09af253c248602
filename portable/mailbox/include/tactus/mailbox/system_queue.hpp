// SPDX-License-Identifier: Apache-2.0
//
// System queue: system messages of one mailbox, unbounded, never refused for want of room (SQ).
//
// The same closable stack as the inbox: push at the head, drain swaps the head and reverses. Closed
// is a state of the head, so nothing slips into a closed queue: the sender gets `closed` back and
// sends the message to dead letters. Emptiness is decided by the head, never by a counter.
#pragma once

#include <tactus/base/check.hpp>
#include <tactus/mailbox/inbox.hpp>
#include <tactus/mailbox/system_message.hpp>

namespace tactus::inline v0 {

class system_queue {
public:
    /// Callable from any thread. Requires: `m` is in no queue (check system_queue:1).
    [[nodiscard]] pushed push(system_message& m) noexcept {
        TACTUS_CHECK(1, !m.linked);
        m.linked = true;
        const pushed result = stack_.push(m);
        if (result == pushed::closed) {
            m.next.write(nullptr);
            m.linked = false;
        }
        return result;
    }

    /// Callable from any thread; false when closed.
    [[nodiscard]] bool has_messages() const noexcept { return !stack_.looks_empty(); }
    [[nodiscard]] bool closed() const noexcept { return stack_.closed(); }

    /// Everything there is, the oldest first. Owner only.
    [[nodiscard]] oldest_first drain() noexcept { return oldest_first(stack_.take_all()); }
    /// Refuses everybody from now on; what was there, the oldest first. Owner only.
    [[nodiscard]] oldest_first close() noexcept { return oldest_first(stack_.close()); }
    /// Owner only. Requires: closed.
    void open() noexcept { stack_.open(); }

private:
    TACTUS_CHECK_MODULE("system_queue");

    closable_stack<system_message> stack_;
};

}  // namespace tactus::inline v0
