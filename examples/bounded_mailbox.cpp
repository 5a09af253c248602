// SPDX-License-Identifier: Apache-2.0
//
// Back-pressure between a fast writer and a slow reader: eight lines wait at the most. Where there
// is no room, the writer's coroutine waits for it; no thread does.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>

#include <tactus/tactus.hpp>

namespace {

using namespace tactus;
using namespace std::chrono_literals;

struct line {
    std::uint32_t number;
};
struct the_end {
    actor_ref<std::uint32_t> reply_to;
};
struct write_lines {
    std::uint32_t count;
    actor_ref<std::uint32_t> reply_to;
};

std::atomic<std::uint32_t> lines_read{0};

/// Slow: a millisecond for a line.
class reader : public actor<line, the_end> {
public:
    task<> on(line l) {
        const auto passed = co_await context().delay(1_ms);
        if (passed && l.number == lines_read + 1)
            ++lines_read;
    }
    void on(const the_end& m) { m.reply_to.tell(lines_read.load()); }
};

class writer : public actor<write_lines> {
public:
    explicit writer(actor_ref<line, the_end> to) : to_(to) {}
    task<> on(write_lines m) {
        std::uint32_t refused = 0;
        std::uint32_t ahead = 0;
        for (std::uint32_t i = 1; i <= m.count; ++i) {
            const auto told = to_.try_tell(line{i});  // never waits: says mailbox_full
            if (!told) {
                ++refused;
                const sent result = co_await context().offer(to_, line{i});  // waits for room
                if (result != sent::accepted)
                    context().fail({name_of(result)});
            }
            ahead = std::max(ahead, i - lines_read);
        }
        std::printf("the writer %s for room, %s than 9 lines ahead\n",
                    refused > 0 ? "waited" : "did not wait",
                    ahead <= 9 ? "never more" : "once more");  // eight wait, one is being read
        const sent last = co_await context().offer(to_, the_end{m.reply_to});
        if (last != sent::accepted)
            context().fail({name_of(last)});
    }

private:
    actor_ref<line, the_end> to_;
};

}  // namespace

int main() {
    actor_system system{"books"};
    mailbox_options small = mailbox_options::bounded();
    small.capacity = 8;
    small.when_full = overflow::block;
    const auto to = system.try_spawn<reader>("reader", {.mailbox = small}).value();
    const auto from = system.spawn<writer>("writer", to);
    const auto read =
        system.ask<std::uint32_t>(from, [](auto me) { return write_lines{100, me}; }, 10s);
    std::printf("%u lines in order through a mailbox of %u\n", read.value(), small.capacity);
    return 0;
}
