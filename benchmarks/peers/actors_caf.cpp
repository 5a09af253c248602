// SPDX-License-Identifier: Apache-2.0
//
// The cases of actors.cpp with CAF 0.17 (libcaf-dev), as its manual says one writes them: actors
// made of functions with state in what they capture, `send`, and a scheduler of so many threads.
// A message is a 64-bit number, with an atom before it where there are two kinds.
//
// usage: bench_actors_caf caf N WORKERS
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include <caf/all.hpp>

#include "actor_cases.hpp"
#include "measure.hpp"

namespace {

using namespace bench;
using caf::actor;
using caf::actor_system;
using caf::behavior;
using caf::event_based_actor;
using go_atom = caf::atom_constant<caf::atom("go")>;
using next_atom = caf::atom_constant<caf::atom("next")>;
using ping_atom = caf::atom_constant<caf::atom("ping")>;
using pong_atom = caf::atom_constant<caf::atom("pong")>;
using u64 = std::uint64_t;

/// Ends all when the case is over; the system waits for its actors otherwise.
void end_all(const std::vector<actor>& all) {
    for (const actor& a : all)
        caf::anon_send_exit(a, caf::exit_reason::user_shutdown);
}

// ---- ping-pong and ring

struct passer_state {
    actor to;
};
behavior passer(caf::stateful_actor<passer_state>* self) {
    return {
        [=](u64 n) {
            if (n == 0)
                done.set();
            else
                self->send(self->state.to, n - 1);
        },
        [=](next_atom, const actor& to) { self->state.to = to; },
    };
}

void measure_ring(actor_system& system, const char* id, const char* name, std::uint32_t actors,
                  u64 hops, u64 hops_per_operation) {
    std::vector<actor> ring;
    for (std::uint32_t i = 0; i < actors; ++i)
        ring.push_back(system.spawn(passer));
    for (std::uint32_t i = 0; i < actors; ++i)
        caf::anon_send(ring[i], next_atom::value, ring[(i + 1) % actors]);
    const auto once = [&](u64 n) {
        caf::anon_send(ring[0], n);
        done.wait();
    };
    once(hops / 10);
    report(id, name, hops, measure(hops / hops_per_operation, [&] { once(hops); }));
    end_all(ring);
}

// ---- four to one

struct count_state {
    u64 left = 0;
};
behavior consumer(caf::stateful_actor<count_state>* self) {
    return {
        [=](u64) {
            if (--self->state.left == 0)
                done.set();
        },
        [=](go_atom, u64 count) { self->state.left = count; },
    };
}
behavior producer(event_based_actor* self, const actor& to) {
    return {
        [=](go_atom, u64 count) {
            for (u64 i = 0; i < plan::per_turn; ++i)
                self->send(to, i);
            if (count > plan::per_turn)
                self->send(self, go_atom::value, count - plan::per_turn);
        },
    };
}

void run_four_to_one(actor_system& system, u64 each) {
    const actor to = system.spawn(consumer);
    std::vector<actor> from;
    for (int i = 0; i < 4; ++i)
        from.push_back(system.spawn(producer, to));
    const auto once = [&] {
        caf::anon_send(to, go_atom::value, 4 * each);
        for (const actor& p : from)
            caf::anon_send(p, go_atom::value, each);
        done.wait();
    };
    once();
    report("PF-2", "4 producers to 1", 4 * each, measure(4 * each, once));
    end_all(from);
    end_all({to});
}

// ---- fan-out

behavior counting(caf::stateful_actor<count_state>* self, std::atomic<u64>* actors_left, u64 each) {
    self->state.left = each;
    return {
        [=](u64) {
            if (--self->state.left != 0)
                return;
            self->state.left = each;
            if (actors_left->fetch_sub(1) == 1)
                done.set();
        },
    };
}
behavior fan(event_based_actor* self, const std::vector<actor>* to) {
    return {
        [=](go_atom, u64 count) {
            for (u64 i = 0; i < count; ++i) {
                for (const actor& a : *to)
                    self->send(a, i);
            }
        },
    };
}

void run_fan_out(actor_system& system, u64 rounds) {
    std::atomic<u64> actors_left{0};
    std::vector<actor> to;
    for (u64 i = 0; i < plan::fan_actors; ++i)
        to.push_back(system.spawn(counting, &actors_left, rounds));
    const actor f = system.spawn(fan, &to);
    const auto once = [&] {
        actors_left.store(plan::fan_actors);
        caf::anon_send(f, go_atom::value, rounds);
        done.wait();
    };
    once();
    once();
    const u64 messages = plan::fan_actors * rounds;
    report("PF-4", "fan-out 1,000 x 1,000", messages, measure(messages, once));
    end_all(to);
    end_all({f});
    system.await_all_actors_done();
}

// ---- random pairs

struct pairing_state {
    tactus::det_rng rng{0};
    u64 left = 0;
};
behavior pairing(caf::stateful_actor<pairing_state>* self, const std::vector<actor>* all,
                 std::atomic<u64>* actors_left, u64 seed) {
    self->state.rng = tactus::det_rng(seed);
    const auto ping_somebody = [=] {
        self->send((*all)[self->state.rng.next_u32() % all->size()], ping_atom::value);
    };
    return {
        [](ping_atom) { return pong_atom::value; },
        [=](pong_atom) {
            if (--self->state.left != 0)
                ping_somebody();
            else if (actors_left->fetch_sub(1) == 1)
                done.set();
        },
        [=](go_atom, u64 count) {
            self->state.left = count;
            ping_somebody();
        },
    };
}

void run_random_pairs(actor_system& system, u64 each) {
    std::atomic<u64> actors_left{0};
    std::vector<actor> all;
    for (u64 i = 0; i < plan::pair_actors; ++i)
        all.push_back(system.spawn(pairing, &all, &actors_left, i + 1));
    const auto once = [&](u64 count) {
        actors_left.store(plan::pair_actors);
        for (const actor& a : all)
            caf::anon_send(a, go_atom::value, count);
        done.wait();
    };
    once(each / 10 + 1);
    const u64 exchanges = each * plan::pair_actors;
    report("PF-5", "random pairs of 64", exchanges, measure(exchanges, [&] { once(each); }));
    end_all(all);
    system.await_all_actors_done();
}

// ---- skynet: spawn, reply, end

struct sum_state {
    u64 total = 0;
    u64 replies = 0;
};
behavior node(caf::stateful_actor<sum_state>* self, const actor& parent, u64 first, u64 size) {
    if (size == 1) {
        self->send(parent, first);
        return {};  // ends
    }
    const u64 part = size / 10;
    for (u64 i = 0; i < 10; ++i)
        self->spawn(node, caf::actor_cast<actor>(self), first + i * part, part);
    return {
        [=](u64 value) {
            self->state.total += value;
            if (++self->state.replies == 10) {
                self->send(parent, self->state.total);
                self->quit();
            }
        },
    };
}
behavior skynet(caf::stateful_actor<count_state>* self) {
    return {
        [=](go_atom, u64 leaves) {
            self->state.left = leaves * (leaves - 1) / 2;
            self->spawn(node, caf::actor_cast<actor>(self), u64{0}, leaves);
        },
        [=](u64 value) {
            if (value != self->state.left)
                fail("the sum is wrong");
            done.set();
        },
    };
}

void run_skynet(actor_system& system, const plan& p) {
    const actor root = system.spawn(skynet);
    const auto once = [&] {
        caf::anon_send(root, go_atom::value, p.leaves());
        done.wait();
    };
    once();
    report("PF-6", "skynet: spawn, reply, end", p.leaves(), measure(p.tree_actors(), once));
    end_all({root});
}

// ---- memory

std::atomic<u64> to_begin{0};
struct waiting_state {
    u64 value = 0;
};
behavior waiting(caf::stateful_actor<waiting_state>* self) {
    if (to_begin.fetch_sub(1) == 1)
        done.set();
    return {
        [=](u64 n) { self->state.value = n; },
    };
}

std::vector<actor> spawn_waiting(actor_system& system, u64 count) {
    std::vector<actor> all;
    all.reserve(count);
    to_begin.store(count);
    for (u64 i = 0; i < count; ++i)
        all.push_back(system.spawn(waiting));
    done.wait();
    return all;
}

void run_memory(actor_system& system, u64 count) {
    constexpr u64 batch = 1'000;
    std::vector<std::vector<actor>> all;  // an actor nobody refers to ends
    all.reserve(count / batch + 1);
    all.push_back(spawn_waiting(system, batch));
    const u64 before = resident_bytes();
    for (u64 i = 0; i < count; i += batch)
        all.push_back(spawn_waiting(system, batch));
    const auto used = static_cast<double>(resident_bytes() - before);
    const double each = used / static_cast<double>(count) - sizeof(actor);
    report("PF-7", "bytes per idle actor", count, "bytes", each, each);
    for (const auto& some : all)
        end_all(some);
}

// ---- time

behavior noting(event_based_actor*) {
    return {[](u64 sent_ns) { note_arrival(sent_ns); }};
}
behavior working(event_based_actor*) {
    return {[](u64 sent_ns) { work_paced(sent_ns); }};
}

void run_paced(actor_system& system, const plan& p, u64 actors) {
    std::vector<actor> all;
    for (u64 i = 0; i < actors; ++i)
        all.push_back(system.spawn(working));
    run_half_load(p, actors, [&](u64 i, u64 now) { caf::anon_send(all[i], now); });
    end_all(all);
}

}  // namespace

int main(int argc, char** argv) {
    const plan p = read_plan(argc, argv, "caf");
    const auto with_system = [&](const char* name, auto&& work) {
        if (!p.wanted(name))
            return;
        caf::actor_system_config config;
        config.set("scheduler.max-threads", std::size_t{p.workers});
        config.set("logger.file-verbosity", caf::atom("quiet"));
        actor_system system(config);
        work(system);
    };
    with_system("ping",
                [&](actor_system& s) { measure_ring(s, "PF-1", "ping-pong", 2, p.hops(), 2); });
    with_system("four", [&](actor_system& s) { run_four_to_one(s, p.each_of_four()); });
    with_system("ring", [&](actor_system& s) {
        measure_ring(s, "PF-3", "ring of 503", plan::ring_size, p.hops(), 1);
    });
    with_system("fan", [&](actor_system& s) { run_fan_out(s, p.fan_rounds()); });
    with_system("pairs", [&](actor_system& s) { run_random_pairs(s, p.exchanges_each()); });
    with_system("skynet", [&](actor_system& s) { run_skynet(s, p); });
    if (p.workers == 1)
        with_system("memory", [&](actor_system& s) { run_memory(s, p.n); });
    with_system("hand-off", [&](actor_system& s) {
        const actor to = s.spawn(noting);
        run_hand_off(p, [&](u64 now) { caf::anon_send(to, now); });
        end_all({to});
    });
    with_system("idle", [&](actor_system& s) {
        const auto all = spawn_waiting(s, plan::idle_actors);
        run_idle(p, [&](u64 i) { caf::anon_send(all[i], i); });
        end_all(all);
    });
    for (const u64 actors : half_load_actors)
        with_system("half", [&](actor_system& s) { run_paced(s, p, actors); });
    return 0;
}
