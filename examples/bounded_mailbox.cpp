// SPDX-License-Identifier: Apache-2.0
//
// A bounded mailbox that its senders wait for: a slow reader, a fast writer, eight messages between
// them at the most.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <semaphore>

#include <tactus/tactus.hpp>

namespace {

using namespace tactus;

struct line {
    std::uint32_t number;
};

struct reader {
    std::uint32_t expected;
    std::binary_semaphore* done;
    void receive(turn&, envelope& e) {
        if (auto* l = e.get_if<line>(); l != nullptr && l->number == expected)
            ++expected;
        if (expected == 1'000)
            done->release();
    }
};

}  // namespace

int main() {
    runtime::scheduler_memory memory;
    runtime::steady_clock time;
    actor_scheduler system(memory.fill({.worker_count = 1, .time = &time}));
    runtime::work_stealing_pool pool(system);

    std::binary_semaphore done(0);
    mailbox_options small = mailbox_options::bounded();
    small.capacity = 8;
    small.when_full = overflow::block;
    const mailbox_index to = *system.spawn<reader>({.mailbox = small}, 0U, &done);
    for (std::uint32_t i = 0; i < 1'000; ++i) {
        const sent result = offer(to, line{i});  // waits for room, ten seconds at the most
        if (result != sent::accepted) {
            std::printf("line %u: %s\n", i, name_of(result));
            return 1;
        }
    }
    done.acquire();
    std::printf("1000 lines in order through a mailbox of %u\n", small.capacity);
    return pool.shut_down(std::chrono::seconds(1)) ? 0 : 1;
}
