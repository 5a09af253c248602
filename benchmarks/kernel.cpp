// SPDX-License-Identifier: Apache-2.0
//
// Question: what does the bare message path cost, without the actor layer? (PF-29 … PF-31, and the
// kernel's share of PF-1 … PF-7)
//
// Handlers are behaviours on slots: no typed references, no supervision. One worker or two; CPU
// time of the whole process, so a worker that spins is paid for.
//
//   ping-pong    two actors, per round trip
//   ring         503 actors, one token, per hop
//   4:1          four producers, 1,000 sends per turn, one consumer, per message
//   fan-out      one handler sends 1,000 messages to each of 1,000 actors, per message
//   random pairs 64 actors, each pings another at random when its pong came, per ping and pong
//   spawn        a tree of ten children each, 10^6 leaves: spawn, reply, end, per actor
//
// Each case runs once to warm the pools, then once measured.
//
// usage: kernel SUBJECT N WORKERS      SUBJECT: ours; N scales the number of messages
#include <sched.h>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include <tactus/base/det_rng.hpp>
#include <tactus/dispatch/turn.hpp>
#include <tactus/runtime/scheduler_memory.hpp>
#include <tactus/runtime/steady_clock.hpp>
#include <tactus/runtime/work_stealing_pool.hpp>

#include "kernel_rig.hpp"
#include "measure.hpp"

namespace {

using namespace tactus;
using namespace bench;

// ---- ping-pong and ring: pass a countdown on

struct passer {
    mailbox_index to;
    void receive(turn& t, envelope& e) {
        if (auto* m = e.get_if<mailbox_index>()) {
            to = *m;
        } else if (auto* n = e.get_if<number>()) {
            if (n->value == 0)
                done.set();
            else
                t.send(to, number{n->value - 1});
        }
    }
};

void measure_ring(system_rig& rig, const char* id, const char* name, std::uint32_t actors,
                  std::uint64_t hops, std::uint64_t hops_per_operation) {
    std::vector<mailbox_index> ring;
    for (std::uint32_t i = 0; i < actors; ++i)
        ring.push_back(*rig.system.spawn<passer>({}));
    for (std::uint32_t i = 0; i < actors; ++i)
        actor_scheduler::tell(ring[i], mailbox_index(ring[(i + 1) % actors]));
    const auto once = [&](std::uint64_t n) {
        actor_scheduler::tell(ring[0], number{n});
        done.wait();
    };
    once(hops / 10);
    bench::report(id, name, hops, bench::measure(hops / hops_per_operation, [&] { once(hops); }));
    for (const mailbox_index m : ring)
        rig.system.stop(m);
}

// ---- four to one

struct consumer {
    std::uint64_t left = 0;
    void receive(turn&, envelope& e) {
        if (auto* n = e.get_if<go>())
            left = n->count;
        else if (e.get_if<number>() != nullptr && --left == 0)
            done.set();
    }
};
struct producer {
    mailbox_index to;
    static constexpr std::uint64_t per_turn = 1'000;
    void receive(turn& t, envelope& e) {
        auto* m = e.get_if<go>();
        if (m == nullptr)
            return;
        for (std::uint64_t i = 0; i < per_turn; ++i)
            t.send(to, number{i});
        if (m->count > per_turn)
            t.send(t.self(), go{m->count - per_turn});
    }
};

void run_many_to_one(system_rig& rig, std::uint64_t messages) {
    const mailbox_index to = *rig.system.spawn<consumer>({});
    std::vector<mailbox_index> from;
    for (int i = 0; i < 4; ++i)
        from.push_back(*rig.system.spawn<producer>({}, to));
    const auto once = [&](std::uint64_t each) {
        actor_scheduler::tell(to, go{4 * each});
        for (const mailbox_index p : from)
            actor_scheduler::tell(p, go{each});
        done.wait();
    };
    const std::uint64_t each = messages / 4 / producer::per_turn * producer::per_turn;
    once(each);
    bench::report("PF-2", "4 producers to 1", messages,
                  bench::measure(4 * each, [&] { once(each); }));
}

// ---- fan-out

struct fan {
    const std::vector<mailbox_index>* to;
    void receive(turn& t, envelope& e) {
        auto* m = e.get_if<go>();
        if (m == nullptr)
            return;
        for (std::uint64_t i = 0; i < m->count; ++i) {
            for (const mailbox_index a : *to)
                t.send(a, number{i});
        }
    }
};
struct counting {
    std::atomic<std::uint64_t>* actors_left;
    std::uint64_t each;
    std::uint64_t left;
    counting(std::atomic<std::uint64_t>* l, std::uint64_t n) : actors_left(l), each(n), left(n) {}
    void receive(turn&, envelope& e) {
        if (e.get_if<number>() != nullptr && --left == 0) {
            left = each;
            if (actors_left->fetch_sub(1) == 1)
                done.set();
        }
    }
};

void run_fan_out(system_rig& rig, std::uint64_t rounds) {
    constexpr std::uint64_t actors = 1'000;
    std::atomic<std::uint64_t> actors_left{0};
    std::vector<mailbox_index> to;
    for (std::uint64_t i = 0; i < actors; ++i)
        to.push_back(*rig.system.spawn<counting>({}, &actors_left, rounds));
    const mailbox_index f = *rig.system.spawn<fan>({}, &to);
    const auto once = [&] {
        actors_left.store(actors);
        actor_scheduler::tell(f, go{rounds});
        done.wait();
    };
    once();
    once();
    bench::report("PF-4", "fan-out 1,000 x 1,000", actors * rounds,
                  bench::measure(actors * rounds, once));
}

// ---- random pairs

struct ping {};
struct pong {};
struct pairing {
    const std::vector<mailbox_index>* all;
    std::atomic<std::uint64_t>* actors_left;
    det_rng rng;
    std::uint64_t left = 0;
    pairing(const std::vector<mailbox_index>* a, std::atomic<std::uint64_t>* l, std::uint64_t seed)
        : all(a), actors_left(l), rng(seed) {}
    void receive(turn& t, envelope& e) {
        if (e.get_if<ping>() != nullptr) {
            t.reply(pong{});
        } else if (auto* m = e.get_if<go>()) {
            left = m->count;
            t.send((*all)[rng.next_u32() % all->size()], ping{});
        } else if (e.get_if<pong>() != nullptr) {
            if (--left != 0)
                t.send((*all)[rng.next_u32() % all->size()], ping{});
            else if (actors_left->fetch_sub(1) == 1)
                done.set();
        }
    }
};

void run_random_pairs(system_rig& rig, std::uint64_t exchanges) {
    constexpr std::uint64_t actors = 64;
    std::atomic<std::uint64_t> actors_left{0};
    std::vector<mailbox_index> all;
    for (std::uint64_t i = 0; i < actors; ++i)
        all.push_back(*rig.system.spawn<pairing>({}, &all, &actors_left, i + 1));
    const auto once = [&](std::uint64_t each) {
        actors_left.store(actors);
        for (const mailbox_index a : all)
            actor_scheduler::tell(a, go{each});
        done.wait();
    };
    once(exchanges / actors / 10 + 1);
    const std::uint64_t each = exchanges / actors;
    bench::report("PF-5", "random pairs of 64", exchanges,
                  bench::measure(each * actors, [&] { once(each); }));
}

// ---- spawn, reply, end

struct grow {
    std::uint64_t number;
    std::uint64_t size;
};
struct sum {
    std::uint64_t value;
};
struct node {
    mailbox_index parent;
    std::uint64_t total = 0;
    std::uint64_t waiting = 0;
    explicit node(mailbox_index p) : parent(p) {}
    void receive(turn& t, envelope& e) {
        if (auto* g = e.get_if<grow>()) {
            if (g->size == 1) {
                t.send(parent, sum{g->number});
                t.stop();
                return;
            }
            waiting = 10;
            const std::uint64_t part = g->size / 10;
            for (std::uint64_t i = 0; i < 10; ++i) {
                const auto child = t.system().spawn<node>({}, t.self());
                t.send(*child, grow{g->number + i * part, part});
            }
        } else if (auto* s = e.get_if<sum>()) {
            total += s->value;
            if (--waiting == 0) {
                t.send(parent, sum{total});
                t.stop();
            }
        }
    }
};
struct root {
    std::uint64_t expected;
    void receive(turn& t, envelope& e) {
        if (auto* g = e.get_if<grow>()) {
            expected = g->size * (g->size - 1) / 2;
            const auto child = t.system().spawn<node>({}, t.self());
            t.send(*child, *g);
        } else if (auto* s = e.get_if<sum>()) {
            if (s->value != expected) {
                std::fprintf(stderr, "bench_kernel: the sum is wrong\n");
                std::abort();
            }
            done.set();
        }
    }
};

void run_spawn(system_rig& rig, std::uint64_t n) {
    std::uint64_t leaves = 1;
    while (leaves * 10 <= n)
        leaves *= 10;
    const mailbox_index r = *rig.system.spawn<root>({}, 0U);
    const auto once = [&] {
        actor_scheduler::tell(r, grow{0, leaves});
        done.wait();
    };
    once();
    std::uint64_t actors = 0;
    for (std::uint64_t level = leaves; level > 0; level /= 10)
        actors += level;
    bench::report("PF-6", "spawn, reply, end", leaves, bench::measure(actors, once));
}

// ---- memory

struct idle_state {
    std::uint64_t fill[8];
    void receive(turn&, envelope&) {}
};

void run_memory(std::uint32_t actors) {
    system_rig rig(1);
    (void)rig.system.spawn<idle_state>({});
    const std::uint64_t before = bench::resident_bytes();
    for (std::uint32_t i = 0; i < actors; ++i)
        (void)*rig.system.spawn<idle_state>({}, idle_state{{i}});
    const double each =
        static_cast<double>(bench::resident_bytes() - before) / static_cast<double>(actors);
    bench::report("PF-7", "bytes per idle slot", actors, "bytes", each, each);
}

// ---- structures

/// Envelopes through one mailbox: pushed in batches of 64, taken, given back.
void run_push_pop(std::uint64_t n) {
    runtime::virtual_memory region(std::size_t{1} << 20);
    envelope_pool pool({.memory = &region, .capacity = 4'096});
    envelope_cache cache(pool);
    auto box = std::make_unique<mailbox>();
    box->open(1, true);
    const auto once = [&](std::uint64_t count) {
        for (std::uint64_t i = 0; i < count; i += 64) {
            for (int k = 0; k < 64; ++k) {
                envelope* e = cache.take();
                (void)e->emplace<number>(number{i}, nullptr);
                bench::keep(box->enqueue(*e));
            }
            while (envelope* e = box->next_user())
                cache.dispose(*e);
        }
    };
    once(n / 10);
    bench::report("PF-29", "push + pop, same thread", n, bench::measure(n, [&] { once(n); }));
}

/// Keeps the calling thread on one core for as long as it lives: threads started later inherit
/// where their parent may run.
class pinned {
public:
    explicit pinned(std::size_t core) {
        sched_getaffinity(0, sizeof before_, &before_);
        cpu_set_t set;
        CPU_ZERO(&set);
        CPU_SET(core, &set);
        sched_setaffinity(0, sizeof set, &set);
    }
    ~pinned() { sched_setaffinity(0, sizeof before_, &before_); }
    pinned(const pinned&) = delete;
    pinned& operator=(const pinned&) = delete;

private:
    cpu_set_t before_;
};

/// One thread pushes, another takes whole batches and gives the envelopes back to the pool; the
/// pusher stays less than 8,192 ahead.
void run_push_pop_across(std::uint64_t n) {
    runtime::virtual_memory region(std::size_t{1} << 22);
    envelope_pool pool({.memory = &region, .capacity = 32'768});
    auto box = std::make_unique<mailbox>();
    box->open(1, true);
    std::atomic<std::uint64_t> taken{0};
    const bench::cost c = bench::measure(n, [&] {
        std::thread taker([&] {
            const pinned here(1);
            envelope_cache cache(pool);
            std::uint64_t count = 0;
            while (count < n) {
                envelope* e = box->next_user();
                if (e == nullptr) {
                    taken.store(count, std::memory_order_relaxed);
                    std::this_thread::yield();
                    continue;
                }
                ++count;
                cache.dispose(*e);
            }
            cache.flush();
        });
        const pinned here(0);
        envelope_cache cache(pool);
        for (std::uint64_t pushed = 0; pushed < n;) {
            if (pushed % 1'024 == 0) {
                while (pushed - taken.load(std::memory_order_relaxed) > 8'192)
                    std::this_thread::yield();
            }
            envelope* e = cache.take();
            (void)e->emplace<number>(number{pushed++}, nullptr);
            bench::keep(box->enqueue(*e));
        }
        taker.join();
    });
    bench::report("PF-29", "push + pop, across cores", n, c);
}

void run_system_queue(std::uint64_t n) {
    std::vector<system_message> nodes(64);
    system_queue queue;
    queue.open();
    const bench::cost c = bench::measure(n, [&] {
        for (std::uint64_t i = 0; i < n; i += nodes.size()) {
            for (system_message& m : nodes)
                bench::keep(queue.push(m));
            oldest_first list = queue.drain();
            while (system_message* m = list.pop())
                bench::keep(m);
        }
    });
    bench::report("PF-30", "system queue push + drain", n, c);
}

void run_lanes(std::uint64_t n) {
    runtime::scheduler_memory memory({.actors_max = 1'024, .messages_max = 1'024});
    actor_scheduler system(memory.fill({}));
    std::vector<slot*> slots;
    for (int i = 0; i < 64; ++i) {
        slot* s = system.slots().find(*system.spawn<idle_state>({}));
        s->end_fresh();
        slots.push_back(s);
    }
    worker& w = system.worker_at(0);
    coordinator& order = system.order();
    for (slot* s : slots)
        bench::keep(s->state().request_schedule(schedule_hint::user));
    // The right to run them stays here: only registering and taking is measured.
    const bench::cost c = bench::measure(n, [&] {
        for (std::uint64_t i = 0; i < n; i += slots.size()) {
            for (slot* s : slots)
                order.submit_ready(*s, &w.lanes());
            while (slot* s = order.next(w.lanes()))
                bench::keep(s);
        }
    });
    bench::report("PF-31", "lanes: register + take", n, c);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 4) {
        std::fprintf(stderr, "usage: bench_kernel ours N WORKERS\n");
        return 2;
    }
    if (std::strcmp(argv[1], "ours") != 0)
        return 3;
    const std::uint64_t n = std::strtoull(argv[2], nullptr, 10);
    const auto workers = static_cast<std::uint32_t>(std::strtoul(argv[3], nullptr, 10));
    const char* only = std::getenv("BENCH_ONLY");
    const auto wanted = [&](const char* name) {
        return only == nullptr || std::strstr(only, name) != nullptr;
    };
    if (workers == 1) {
        if (wanted("structures")) {
            run_push_pop(4 * n);
            run_system_queue(4 * n);
            run_lanes(4 * n);
        }
        if (wanted("memory"))
            run_memory(static_cast<std::uint32_t>(n));
    } else if (wanted("structures")) {
        run_push_pop_across(4 * n);
    }
    const auto with_rig = [&](const char* name, auto&& work) {
        if (!wanted(name))
            return;
        system_rig rig(workers);
        work(rig);
    };
    with_rig("ping", [&](system_rig& rig) { measure_ring(rig, "PF-1", "ping-pong", 2, 4 * n, 2); });
    with_rig("ring",
             [&](system_rig& rig) { measure_ring(rig, "PF-3", "ring of 503", 503, 4 * n, 1); });
    with_rig("four", [&](system_rig& rig) { run_many_to_one(rig, 4 * n); });
    with_rig("fan", [&](system_rig& rig) { run_fan_out(rig, n / 1'000); });
    with_rig("pairs", [&](system_rig& rig) { run_random_pairs(rig, 2 * n); });
    with_rig("spawn", [&](system_rig& rig) { run_spawn(rig, n); });
    return 0;
}
