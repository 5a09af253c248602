// SPDX-License-Identifier: Apache-2.0
//
// Question: what does a limit cost, and are the structures that threads share worth having? (PF-13,
// PF-18, PF-32)
//
//   4:1 bounded       four producers, one consumer: its mailbox bounded against unbounded, in turns
//   suspend, resume   of one actor that is busy, per pair
//   lanes             eight threads register and take, against one deque under a mutex
//   system queue      four threads push, against a list under a mutex
//
// Where two are compared, both run in this program in turns, and their ratio is a case of its own.
//
// usage: mailboxes SUBJECT N WORKERS      SUBJECT: ours; N scales the number of messages
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include <tactus/dispatch/turn.hpp>
#include <tactus/runtime/scheduler_memory.hpp>
#include <tactus/runtime/steady_clock.hpp>
#include <tactus/runtime/work_stealing_pool.hpp>

#include "kernel_rig.hpp"
#include "measure.hpp"

namespace {

using namespace tactus;
using namespace bench;

template <class Work>
void in_threads(unsigned count, Work&& work) {
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < count; ++t)
        threads.emplace_back([&work, t] { work(t); });
    for (std::thread& t : threads)
        t.join();
}

double median(std::vector<double> of) {
    std::ranges::sort(of);
    return of[of.size() / 2];
}

/// Both in turns, five times; each one's median, and the ratio of the medians.
template <class Ours, class Other>
void compare(const char* id, const std::string& name, const char* other_name, std::uint64_t n,
             Ours&& ours, Other&& other) {
    std::vector<double> cpu[2];
    std::vector<double> wall[2];
    for (int round = 0; round < 5; ++round) {
        const bench::cost costs[2] = {ours(), other()};
        for (int i = 0; i < 2; ++i) {
            cpu[i].push_back(costs[i].cpu_ns);
            wall[i].push_back(costs[i].wall_ns);
        }
    }
    bench::report(id, name, n, {median(cpu[0]), median(wall[0])});
    bench::report(id, name + ", " + other_name, n, {median(cpu[1]), median(wall[1])});
    bench::report(id, name + ", ratio", n, "x", median(cpu[0]) / median(cpu[1]),
                  median(wall[0]) / median(wall[1]));
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

void run_bounded(std::uint32_t workers, std::uint64_t messages) {
    system_rig rig(workers);
    const std::uint64_t each =
        std::min<std::uint64_t>(messages, 2'000'000) / 4 / producer::per_turn * producer::per_turn;
    const auto once = [&](const mailbox_options& o) {
        const mailbox_index to = *rig.system.spawn<consumer>({.mailbox = o});
        std::vector<mailbox_index> from;
        for (int i = 0; i < 4; ++i)
            from.push_back(*rig.system.spawn<producer>({}, to));
        const bench::cost c = bench::measure(4 * each, [&] {
            actor_scheduler::tell(to, go{4 * each});
            for (const mailbox_index p : from)
                actor_scheduler::tell(p, go{each});
            done.wait();
        });
        for (const mailbox_index p : from)
            rig.system.stop(p);
        rig.system.stop(to);
        return c;
    };
    mailbox_options bounded = mailbox_options::bounded();
    bounded.capacity = mailbox_gate::capacity_max;  // nothing is lost
    bounded.pressure_percent = 0;
    (void)once({});
    compare(
        "PF-13", "4:1 bounded", "unbounded", 4 * each, [&] { return once(bounded); },
        [&] { return once({}); });
}

// ---- suspend and resume

struct busy {
    void receive(turn& t, envelope&) { t.send(t.self(), number{0}); }
};

void run_suspend(std::uint32_t workers, std::uint64_t pairs) {
    system_rig rig(workers);
    const mailbox_index a = *rig.system.spawn<busy>({});
    actor_scheduler::tell(a, number{0});
    const bench::cost c = bench::measure(pairs, [&] {
        for (std::uint64_t i = 0; i < pairs; ++i) {
            bench::keep(rig.system.suspend(a, suspension::await));
            bench::keep(rig.system.resume(a, suspension::await));
        }
    });
    // The actor goes on beside it: what the caller waits is what counts.
    bench::report("PF-18", "suspend + resume, busy", pairs, "ns", c.wall_ns, c.wall_ns);
    rig.system.stop(a);
}

// ---- lanes

struct idle_state {
    void receive(turn&, envelope&) {}
};

constexpr unsigned lane_threads = 8;
constexpr unsigned own_slots = 64;

/// Each thread registers what it has and takes what it finds, until `n` were taken in all.
template <class Put, class Take>
bench::cost pass_around(std::vector<slot*> all, std::uint64_t n, Put&& put, Take&& take) {
    std::atomic<std::uint64_t> taken{0};
    return bench::measure(n, [&] {
        in_threads(lane_threads, [&](unsigned t) {
            std::vector<slot*> mine(all.begin() + t * own_slots, all.begin() + (t + 1) * own_slots);
            while (taken.load(std::memory_order_relaxed) < n) {
                for (slot* s : mine)
                    put(t, s);
                mine.clear();
                while (mine.size() < own_slots) {
                    slot* s = take(t);
                    if (s == nullptr)
                        break;
                    mine.push_back(s);
                }
                taken.fetch_add(mine.size(), std::memory_order_relaxed);
                if (mine.empty())
                    std::this_thread::yield();
            }
            for (slot* s : mine)
                put(t, s);
        });
        for (unsigned t = 0; t < lane_threads; ++t) {
            while (take(t) != nullptr) {
            }
        }
    });
}

void run_lanes(std::uint64_t n) {
    runtime::scheduler_memory memory({.actors_max = 4'096, .messages_max = 4'096});
    actor_scheduler system(memory.fill({.worker_count = lane_threads}));
    std::vector<slot*> all;
    for (unsigned i = 0; i < lane_threads * own_slots; ++i) {
        slot* s = system.slots().find(*system.spawn<idle_state>({}));
        s->end_fresh();
        bench::keep(s->state().request_schedule(schedule_hint::user));
        all.push_back(s);
    }
    coordinator& order = system.order();
    const auto lanes = [&] {
        return pass_around(
            all, n,
            [&](unsigned t, slot* s) { order.submit_ready(*s, &system.worker_at(t).lanes()); },
            [&](unsigned t) { return order.next(system.worker_at(t).lanes()); });
    };
    std::mutex mutex;
    std::deque<slot*> queue;
    const auto locked = [&] {
        return pass_around(
            all, n,
            [&](unsigned, slot* s) {
                const std::lock_guard held(mutex);
                queue.push_back(s);
            },
            [&](unsigned) -> slot* {
                const std::lock_guard held(mutex);
                if (queue.empty())
                    return nullptr;
                slot* s = queue.front();
                queue.pop_front();
                return s;
            });
    };
    compare("PF-32", "lanes of 8 threads", "mutex", n, lanes, locked);
}

// ---- system queue

/// Four push at once; then all is taken out, once.
template <class Push, class Drain>
bench::cost push_and_drain(std::vector<system_message>& nodes, Push&& push, Drain&& drain) {
    return bench::measure(nodes.size(), [&] {
        in_threads(4, [&](unsigned t) {
            for (std::size_t i = t; i < nodes.size(); i += 4)
                push(nodes[i]);
        });
        bench::keep(drain());
    });
}

void run_system_queue(std::uint64_t n) {
    std::vector<system_message> nodes(n);
    system_queue lock_free;
    lock_free.open();
    const auto ours = [&] {
        return push_and_drain(
            nodes, [&](system_message& m) { bench::keep(lock_free.push(m)); },
            [&] {
                std::size_t count = 0;
                oldest_first list = lock_free.drain();
                while (list.pop() != nullptr)
                    ++count;
                return count;
            });
    };
    std::mutex mutex;
    std::vector<system_message*> queue;
    const auto locked = [&] {
        return push_and_drain(
            nodes,
            [&](system_message& m) {
                const std::lock_guard held(mutex);
                queue.push_back(&m);
            },
            [&] {
                std::vector<system_message*> some;
                {
                    const std::lock_guard held(mutex);
                    some.swap(queue);
                }
                return some.size();
            });
    };
    compare("PF-32", "system queue of 4 threads", "mutex", n, ours, locked);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 4) {
        std::fprintf(stderr, "usage: bench_mailboxes ours N WORKERS\n");
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
    if (wanted("bounded"))
        run_bounded(workers, n);
    if (wanted("suspend"))
        run_suspend(workers, n / 10);
    if (workers == 1)
        return 0;
    if (wanted("lanes"))
        run_lanes(n);
    if (wanted("system"))
        run_system_queue(n);
    return 0;
}
