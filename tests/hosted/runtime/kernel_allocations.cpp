// SPDX-License-Identifier: Apache-2.0
//
// Goal: in steady state the message path takes nothing from the system heap (PF-12, MB-9).
// Method: malloc and its kin are replaced by ones that count, as is operator new through them;
// ping-pong, fan-in, spawning and stopping, suspending and signalling are warmed up and then
// counted. A program of its own, so that nothing else allocates meanwhile.
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "pool_rig.hpp"

namespace {

std::atomic<bool> counting{false};
std::atomic<std::uint64_t> allocations{0};

[[maybe_unused]] void note() {
    if (counting.load(std::memory_order_relaxed))
        allocations.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

#if !defined(TACTUS_TEST_SANITIZED)
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);

void* malloc(std::size_t size) {
    note();
    return __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) {
    note();
    return __libc_calloc(count, size);
}
void* realloc(void* block, std::size_t size) {
    note();
    return __libc_realloc(block, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
    note();
    return __libc_memalign(alignment, size);
}
}
#endif

namespace {

using namespace tactus;

struct countdown {
    std::uint32_t left;
};
std::atomic<std::uint32_t> done{0};

struct passer {
    mailbox_index to = {};
    void receive(turn& t, envelope& e) {
        const countdown c = *e.get_if<countdown>();
        const mailbox_index next = to.valid() ? to : t.sender();
        if (c.left == 0)
            done.store(1);
        else
            t.send(next, countdown{c.left - 1});
    }
};
struct spawner {
    struct leaf {
        void receive(turn& t, envelope& e) {
            t.reply(*e.get_if<countdown>());
            t.stop();
        }
    };
    void receive(turn& t, envelope& e) {
        const countdown c = *e.get_if<countdown>();
        if (c.left == 0)
            done.store(1);
        else
            t.send(*t.system().spawn<leaf>({}), countdown{c.left - 1});
    }
};
struct sleeper_actor {
    void receive(turn& t, envelope& e) {
        const countdown c = *e.get_if<countdown>();
        if (c.left == 0) {
            done.store(1);
            return;
        }
        if (!t.suspend(suspend_reason::user_defined, resume_condition::signal(1)))
            std::abort();
        t.send(t.self(), countdown{c.left - 1});
        (void)t.system().signal(1);
    }
};

/// Four sources send to one sink; the last message of the last one is the end.
struct fan_in {
    struct mark {};
    struct sink {
        std::uint32_t ends = 0;
        void receive(turn&, envelope& e) {
            if (e.get_if<countdown>() == nullptr)
                return;
            if (++ends == sources) {
                ends = 0;
                done.store(1);
            }
        }
    };
    struct source {
        mailbox_index to;
        void receive(turn& t, envelope& e) {
            const countdown c = *e.get_if<countdown>();
            if (c.left == 0) {
                t.send(to, c);
                return;
            }
            t.send(to, mark{});
            t.send(t.self(), countdown{c.left - 1});
        }
    };
    static constexpr std::uint32_t sources = 4;
    mailbox_index from[sources];
    void receive(turn& t, envelope& e) {
        for (const mailbox_index s : from)
            t.send(s, countdown{e.get_if<countdown>()->left / sources});
    }
};

void run(mailbox_index to, std::uint32_t rounds) {
    done.store(0);
    actor_scheduler::tell(to, countdown{rounds});
    while (done.load() == 0)
        port::yield();
}

}  // namespace

int main() {
    tactus_test::pool_rig rig(2);
    const mailbox_index echo = *rig.system.spawn<passer>({});
    const mailbox_index ping = *rig.system.spawn<passer>({}, echo);
    const mailbox_index tree = *rig.system.spawn<spawner>({});
    const mailbox_index sleepy = *rig.system.spawn<sleeper_actor>({});
    fan_in many;
    const mailbox_index sink = *rig.system.spawn<fan_in::sink>({});
    for (mailbox_index& source : many.from)
        source = *rig.system.spawn<fan_in::source>({}, sink);
    const mailbox_index fan = *rig.system.spawn<fan_in>({}, many);
    bool good = true;
    // The first round warms everything up; memory that came with it stays.
    for (int round = 0; round < 3; ++round) {
        for (const auto& [name, to] :
             {std::pair{"ping-pong", ping}, std::pair{"fan-in", fan},
              std::pair{"spawn and stop", tree}, std::pair{"suspend and signal", sleepy}}) {
            allocations.store(0);
            counting.store(true);
            run(to, tactus_test::under_sanitizer ? 2'000 : 50'000);
            counting.store(false);
            if (round == 2 && allocations.load() != 0) {
                std::printf("%s: %llu allocations\n", name,
                            static_cast<unsigned long long>(allocations.load()));
                good = false;
            }
        }
    }
#if !defined(TACTUS_TEST_SANITIZED)
    // The hook must be able to see one.
    counting.store(true);
    void* volatile block = ::operator new(100);
    counting.store(false);
    ::operator delete(block);
    if (allocations.load() == 0) {
        std::printf("the hook counts nothing\n");
        good = false;
    }
#endif
    return good ? 0 : 1;
}
