// SPDX-License-Identifier: Apache-2.0
//
// Question: what do actors cost that are written as the README says? (PF-1 … PF-7, PF-10, PF-15 …
// PF-17)
//
// The cases of kernel.cpp with the public interface: typed references, handlers, parents that
// supervise, exceptions caught. peers/actors_caf.cpp and peers/actors_erlang.erl do the same work.
// CPU time of the whole process, so a worker that spins is paid for.
//
//   ping-pong    two actors, per round trip
//   ring         503 actors, one token, per hop
//   4:1          four producers, 1,000 sends per turn, one consumer, per message
//   fan-out      one handler sends 1,000 messages to each of 1,000 actors, per message
//   random pairs 64 actors, each pings another at random when its pong came, per ping and pong
//   skynet       a tree of ten children each, 10^6 leaves: spawn, reply, end, per actor
//   memory       bytes of an actor that has begun and waits
//   hand-off, idle, half load: see actor_cases.hpp
//
// Each case runs once to warm the pools, then once measured.
//
// The subject asio runs the same actors on threads of a boost::asio::io_context: ping-pong and
// fan-out (DF-65).
//
// usage: bench_actors ours|asio N WORKERS    N scales the number of messages; BENCH_ONLY=ping,ring
#ifdef BENCH_HAS_ASIO
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#endif

#include <atomic>
#include <cstdint>
#include <cstring>
#include <optional>
#include <thread>
#include <vector>

#include <tactus/base/det_rng.hpp>
#include <tactus/runtime/actor_system.hpp>
#ifdef BENCH_HAS_ASIO
#include <tactus/runtime/asio_executor.hpp>
#endif

#include "actor_cases.hpp"
#include "measure.hpp"

namespace {

using namespace tactus;
using namespace bench;

/// The dispatcher of a case's actors; by default the system's.
template <class A, class... Args>
typename A::reference spawn_on(actor_system& system, const spawn_options& where, Args&&... args) {
    auto made = system.try_spawn<A>({}, where, std::forward<Args>(args)...);
    if (!made)
        fail("no room for an actor");
    return *made;
}

// ---- ping-pong and ring: pass a countdown on

struct next_is {
    actor_ref<number> to;
};
class passer : public actor<number, next_is> {
public:
    void on(const number& n) {
        if (n.value == 0)
            done.set();
        else
            to_.tell(number{n.value - 1});
    }
    void on(const next_is& n) { to_ = n.to; }

private:
    actor_ref<number> to_;
};

void measure_ring(actor_system& system, const char* id, const char* name, std::uint32_t actors,
                  std::uint64_t hops, std::uint64_t hops_per_operation,
                  const spawn_options& where = {}) {
    std::vector<actor_ref<number, next_is>> ring;
    for (std::uint32_t i = 0; i < actors; ++i)
        ring.push_back(spawn_on<passer>(system, where));
    for (std::uint32_t i = 0; i < actors; ++i)
        ring[i].tell(next_is{ring[(i + 1) % actors]});
    const auto once = [&](std::uint64_t n) {
        ring[0].tell(number{n});
        done.wait();
    };
    once(hops / 10);
    report(id, name, hops, measure(hops / hops_per_operation, [&] { once(hops); }));
}

// ---- four to one

class consumer : public actor<number, go> {
public:
    void on(const number&) {
        if (--left_ == 0)
            done.set();
    }
    void on(const go& m) { left_ = m.count; }

private:
    std::uint64_t left_ = 0;
};
class producer : public actor<go> {
public:
    explicit producer(actor_ref<number> to) : to_(to) {}
    void on(const go& m) {
        for (std::uint64_t i = 0; i < plan::per_turn; ++i)
            to_.tell(number{i});
        if (m.count > plan::per_turn)
            self().tell(go{m.count - plan::per_turn});
    }

private:
    actor_ref<number> to_;
};

void run_four_to_one(actor_system& system, std::uint64_t each) {
    const auto to = system.spawn_anonymous<consumer>();
    std::vector<actor_ref<go>> from;
    for (int i = 0; i < 4; ++i)
        from.push_back(system.spawn_anonymous<producer>(to));
    const auto once = [&] {
        to.tell(go{4 * each});
        for (const auto& p : from)
            p.tell(go{each});
        done.wait();
    };
    once();
    report("PF-2", "4 producers to 1", 4 * each, measure(4 * each, once));
}

// ---- fan-out

class counting : public actor<number> {
public:
    counting(std::atomic<std::uint64_t>* actors_left, std::uint64_t each)
        : actors_left_(actors_left), each_(each), left_(each) {}
    void on(const number&) {
        if (--left_ != 0)
            return;
        left_ = each_;
        if (actors_left_->fetch_sub(1) == 1)
            done.set();
    }

private:
    std::atomic<std::uint64_t>* actors_left_;
    std::uint64_t each_;
    std::uint64_t left_;
};
class fan : public actor<go> {
public:
    explicit fan(const std::vector<actor_ref<number>>* to) : to_(to) {}
    void on(const go& m) {
        for (std::uint64_t i = 0; i < m.count; ++i) {
            for (const auto& a : *to_)
                a.tell(number{i});
        }
    }

private:
    const std::vector<actor_ref<number>>* to_;
};

void run_fan_out(actor_system& system, std::uint64_t rounds, const spawn_options& where = {}) {
    std::atomic<std::uint64_t> actors_left{0};
    std::vector<actor_ref<number>> to;
    for (std::uint64_t i = 0; i < plan::fan_actors; ++i)
        to.emplace_back(spawn_on<counting>(system, where, &actors_left, rounds));
    const auto f = spawn_on<fan>(system, where, &to);
    const auto once = [&] {
        actors_left.store(plan::fan_actors);
        f.tell(go{rounds});
        done.wait();
    };
    once();
    once();
    const std::uint64_t messages = plan::fan_actors * rounds;
    report("PF-4", "fan-out 1,000 x 1,000", messages, measure(messages, once));
}

// ---- random pairs

struct pong {};
struct ping {
    actor_ref<pong> reply_to;
};
class pairing : public actor<ping, pong, go> {
public:
    pairing(const std::vector<reference>* all, std::atomic<std::uint64_t>* actors_left,
            std::uint64_t seed)
        : all_(all), actors_left_(actors_left), rng_(seed) {}
    void on(const ping& m) { m.reply_to.tell(pong{}); }
    void on(const pong&) {
        if (--left_ != 0)
            ping_somebody();
        else if (actors_left_->fetch_sub(1) == 1)
            done.set();
    }
    void on(const go& m) {
        left_ = m.count;
        ping_somebody();
    }

private:
    void ping_somebody() { (*all_)[rng_.next_u32() % all_->size()].tell(ping{self()}); }

    const std::vector<reference>* all_;
    std::atomic<std::uint64_t>* actors_left_;
    det_rng rng_;
    std::uint64_t left_ = 0;
};

void run_random_pairs(actor_system& system, std::uint64_t each) {
    std::atomic<std::uint64_t> actors_left{0};
    std::vector<pairing::reference> all;
    for (std::uint64_t i = 0; i < plan::pair_actors; ++i)
        all.push_back(system.spawn_anonymous<pairing>(&all, &actors_left, i + 1));
    const auto once = [&](std::uint64_t count) {
        actors_left.store(plan::pair_actors);
        for (const auto& a : all)
            a.tell(go{count});
        done.wait();
    };
    once(each / 10 + 1);
    const std::uint64_t exchanges = each * plan::pair_actors;
    report("PF-5", "random pairs of 64", exchanges, measure(exchanges, [&] { once(each); }));
}

// ---- skynet: spawn, reply, end

struct sum {
    std::uint64_t value;
};
class node : public actor<sum> {
public:
    node(actor_ref<sum> parent, std::uint64_t first, std::uint64_t size)
        : parent_(parent), value_(first), size_(size) {}
    void pre_start() {
        if (size_ == 1) {
            reply();
            return;
        }
        const std::uint64_t part = size_ / 10;
        for (std::uint64_t i = 0; i < 10; ++i) {
            if (!context().try_spawn<node>("", {}, self(), value_ + i * part, part))
                fail("no room for an actor");
        }
        value_ = 0;
    }
    void on(const sum& m) {
        value_ += m.value;
        if (++replies_ == 10)
            reply();
    }

private:
    void reply() {
        parent_.tell(sum{value_});
        context().stop();
    }

    actor_ref<sum> parent_;
    std::uint64_t value_;
    std::uint64_t size_;
    std::uint64_t replies_ = 0;
};
class skynet : public actor<go, sum> {
public:
    void on(const go& m) {
        expected_ = m.count * (m.count - 1) / 2;
        if (!context().try_spawn<node>("", {}, self(), std::uint64_t{0}, m.count))
            fail("no room for an actor");
    }
    void on(const sum& m) {
        if (m.value != expected_)
            fail("the sum is wrong");
        done.set();
    }

private:
    std::uint64_t expected_ = 0;
};

void run_skynet(actor_system& system, const plan& p) {
    const auto root = system.spawn_anonymous<skynet>();
    const auto once = [&] {
        root.tell(go{p.leaves()});
        done.wait();
    };
    once();
    report("PF-6", "skynet: spawn, reply, end", p.leaves(), measure(p.tree_actors(), once));
}

// ---- memory

std::atomic<std::uint64_t> to_begin{0};
class waiting : public actor<number> {
public:
    waiting() = default;
    explicit waiting(std::uint64_t value) : value_(value) {}
    void pre_start() {
        if (to_begin.fetch_sub(1) == 1)
            done.set();
    }
    void on(const number& n) { value_ = n.value; }

private:
    std::uint64_t value_ = 0;
};

template <class... Args>
std::vector<actor_ref<number>> spawn_waiting(actor_system& system, std::uint64_t count,
                                             Args... args) {
    std::vector<actor_ref<number>> all;
    all.reserve(count);
    to_begin.store(count);
    for (std::uint64_t i = 0; i < count; ++i)
        all.emplace_back(system.spawn_anonymous<waiting>(args...));
    done.wait();
    return all;
}

/// Arguments are kept for a restart, so an actor that has some is larger.
template <class... Args>
void run_memory(actor_system& system, const char* name, std::uint64_t count, Args... args) {
    constexpr std::uint64_t batch = 1'000;  // what starting takes is small beside what stays
    (void)spawn_waiting(system, batch, args...);
    const std::uint64_t before = resident_bytes();
    for (std::uint64_t i = 0; i < count; i += batch)
        (void)spawn_waiting(system, batch, args...);
    const double each = static_cast<double>(resident_bytes() - before) / static_cast<double>(count);
    report("PF-7", name, count, "bytes", each, each);
}

// ---- time

struct stamped {
    std::uint64_t sent_ns;
};
class noting : public actor<stamped> {
public:
    void on(const stamped& m) { note_arrival(m.sent_ns); }
};
class working : public actor<stamped> {
public:
    void on(const stamped& m) { work_paced(m.sent_ns); }
};

void run_paced(actor_system& system, const plan& p, std::uint64_t actors) {
    std::vector<actor_ref<stamped>> all;
    for (std::uint64_t i = 0; i < actors; ++i)
        all.emplace_back(system.spawn_anonymous<working>());
    run_half_load(p, actors,
                  [&](std::uint64_t i, std::uint64_t now) { all[i].tell(stamped{now}); });
}

// ---- on Asio

#ifdef BENCH_HAS_ASIO
/// Actors on as many threads as the pool would have, which run an io_context.
template <class Case>
void run_on_asio(const plan& p, const char* name, Case&& measure_it) {
    if (!p.wanted(name))
        return;
    boost::asio::io_context io(static_cast<int>(p.workers));
    auto stay = std::optional(boost::asio::make_work_guard(io));
    runtime::asio_executor on_io(io);
    std::vector<std::thread> threads;
    {
        actor_system system("bench", {.dispatcher = {.workers = 1, .max_workers = 1},
                                      .actors_max = 1U << 22U,
                                      .messages_max = 1U << 24U});
        const auto there = system.dispatchers().add(
            {.id = "io",
             .config = {.executor = executor_kind::foreign, .workers = p.workers},
             .foreign = &on_io});
        if (!there)
            fail("no dispatcher on Asio");
        for (std::uint32_t i = 0; i < p.workers; ++i)
            threads.emplace_back([&] { io.run(); });
        measure_it(system, spawn_options{.dispatcher = there->number()});
    }
    stay.reset();
    for (std::thread& t : threads)
        t.join();
}
int run_all_on_asio(int argc, char** argv) {
    const plan p = read_plan(argc, argv, "asio");
    run_on_asio(p, "ping", [&](actor_system& s, const spawn_options& where) {
        measure_ring(s, "PF-1", "ping-pong", 2, p.hops(), 2, where);
    });
    run_on_asio(p, "fan", [&](actor_system& s, const spawn_options& where) {
        run_fan_out(s, p.fan_rounds(), where);
    });
    return 0;
}
#endif

}  // namespace

int main(int argc, char** argv) {
#ifdef BENCH_HAS_ASIO
    if (argc > 1 && std::strcmp(argv[1], "asio") == 0)
        return run_all_on_asio(argc, argv);
#endif
    const plan p = read_plan(argc, argv, "ours");
    const auto with_system = [&](const char* name, auto&& work) {
        if (!p.wanted(name))
            return;
        actor_system system("bench",
                            {.dispatcher = {.workers = p.workers, .max_workers = p.workers},
                             .actors_max = 1U << 22U,
                             .messages_max = 1U << 24U});
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
    if (p.workers == 1) {
        with_system("memory", [&](actor_system& s) { run_memory(s, "bytes per idle actor", p.n); });
        with_system("memory", [&](actor_system& s) {
            run_memory(s, "bytes per idle actor, an argument", p.n, std::uint64_t{1});
        });
    }
    with_system("hand-off", [&](actor_system& s) {
        const auto to = s.spawn_anonymous<noting>();
        run_hand_off(p, [&](std::uint64_t now) { to.tell(stamped{now}); });
    });
    with_system("idle", [&](actor_system& s) {
        const auto all = spawn_waiting(s, plan::idle_actors);
        run_idle(p, [&](std::uint64_t i) { all[i].tell(number{i}); });
    });
    for (const std::uint64_t actors : half_load_actors)
        with_system("half", [&](actor_system& s) { run_paced(s, p, actors); });
    return 0;
}
