// SPDX-License-Identifier: Apache-2.0
//
// Prints what happens to a message that finds a bounded mailbox full, for docs/mailboxes.md: each
// strategy and each way of sending is tried out, and what became of the message is written down
// (MB-1, MB-2).
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>

#include <tactus/dispatch/offer.hpp>
#include <tactus/dispatch/turn.hpp>
#include <tactus/runtime/scheduler_memory.hpp>
#include <tactus/runtime/steady_clock.hpp>

namespace {

using namespace tactus;

/// A message that shows whether its sender has it.
class token {
public:
    explicit token(int value) noexcept : value_(value) {}
    token(token&& from) noexcept : value_(std::exchange(from.value_, 0)) {}
    token& operator=(token&& from) noexcept {
        value_ = std::exchange(from.value_, 0);
        return *this;
    }
    [[nodiscard]] int value() const noexcept { return value_; }

private:
    int value_;
};

struct letters final : kernel_events {
    void dead_letter(mailbox_index, envelope& message, dead_letter_cause cause) noexcept override {
        which = message.get_if<token>()->value();
        named = name_of(cause);
    }
    void message_lost(mailbox_index, const message_type&, dead_letter_cause) noexcept override {}
    void system_dead_letter(mailbox_index, system_message&) noexcept override {}
    void mailbox_closed(mailbox_index, std::size_t, std::size_t) noexcept override {}
    void actor_failed(mailbox_index, const failure&) noexcept override {}
    void deadline_missed(mailbox_index, std::int64_t) noexcept override {}

    int which = 0;
    const char* named = "";
};

struct idle {
    void receive(turn&, envelope&) {}
};

enum class way : std::uint8_t { tell, try_tell, offer, offer_by_worker };

/// Message 3 to a mailbox that holds 1 and 2.
std::string tried(overflow how, way sending) {
    runtime::scheduler_memory memory;
    runtime::steady_clock time;
    letters seen;
    actor_scheduler system(memory.fill({.worker_count = 1, .time = &time, .events = &seen}));
    mailbox_options o = mailbox_options::bounded();
    o.capacity = 2;
    o.when_full = how;
    const mailbox_index to = *system.spawn<idle>({.mailbox = o});
    actor_scheduler::tell(to, token(1));
    actor_scheduler::tell(to, token(2));
    token third(3);
    std::string text;
    switch (sending) {
    case way::tell:
        actor_scheduler::tell(to, std::move(third));
        break;
    case way::try_tell:
        text = name_of(actor_scheduler::try_tell(to, std::move(third)));
        break;
    case way::offer:
        text = name_of(offer(to, std::move(third), duration::from_ms(1)));
        break;
    case way::offer_by_worker: {
        const worker::binding here(system.worker_at(0));
        text = name_of(offer(to, std::move(third), duration::from_ms(1)));
        break;
    }
    }
    if (!text.empty())
        text = "`" + text + "`, ";
    if (seen.which == 1)
        text += "the oldest → `" + std::string(seen.named) + "`";
    else if (seen.which == 3)
        text += "it → `" + std::string(seen.named) + "`";
    else
        text += third.value() == 3 ? "given back" : "delivered";
    return text;
}

}  // namespace

int main() {
    std::printf("| strategy | tell | try_tell | offer, a thread | offer, a worker |\n");
    std::printf("| --- | --- | --- | --- | --- |\n");
    for (std::size_t i = 0; i < overflow_count; ++i) {
        const auto how = static_cast<overflow>(i);
        std::printf("| `%s` |", name_of(how));
        for (const way w : {way::tell, way::try_tell, way::offer, way::offer_by_worker})
            std::printf(" %s |", tried(how, w).c_str());
        std::printf("\n");
    }
    return 0;
}
