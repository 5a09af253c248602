// SPDX-License-Identifier: Apache-2.0
//
// The kernel without the actor layer: two behaviours on slots, run by a pool of two workers.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <semaphore>

#include <tactus/tactus.hpp>

namespace {

using namespace tactus;

struct doubled {
    std::uint64_t value;
};

struct doubler {
    void receive(turn& t, envelope& e) {
        if (auto* n = e.get_if<std::uint64_t>())
            t.reply(doubled{2 * *n});
    }
};

struct asker {
    mailbox_index to;
    std::binary_semaphore* done;
    void receive(turn& t, envelope& e) {
        if (auto* n = e.get_if<std::uint64_t>()) {
            t.send(to, *n);
        } else if (auto* d = e.get_if<doubled>()) {
            std::printf("twice 21 is %llu\n", static_cast<unsigned long long>(d->value));
            done->release();
        }
    }
};

}  // namespace

int main() {
    runtime::scheduler_memory memory;
    runtime::steady_clock time;
    actor_scheduler system(memory.fill({.worker_count = 2, .time = &time}));
    runtime::work_stealing_pool pool(system);

    std::binary_semaphore done(0);
    const mailbox_index to = *system.spawn<doubler>({});
    const mailbox_index who = *system.spawn<asker>({}, to, &done);
    actor_scheduler::tell(who, std::uint64_t{21});
    done.acquire();
    return pool.shut_down(std::chrono::seconds(1)) ? 0 : 1;
}
