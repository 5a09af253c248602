// SPDX-License-Identifier: Apache-2.0
//
// Question: what do metrics and dumps cost a message? (PF-13, OH-4)
//
//   ping-pong, random pairs of 64   without a sink, with one, and with ten dumps per second; per
//                                   message. The ways take turns in one process, in short pieces,
//                                   so that what disturbs one disturbs the others; the best piece
//                                   of each counts
//
// Metrics may cost 5 % (PF-13), dumps 5 % of random pairs (OH-4). Without a sink it is counted, not
// timed: callgrind over bench_kernel, before and after (docs/observability.md).
//
// usage: hub SUBJECT N WORKERS      SUBJECT: ours; N scales the number of messages
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include <tactus/base/det_rng.hpp>
#include <tactus/dispatch/dump.hpp>
#include <tactus/dispatch/turn.hpp>
#include <tactus/runtime/scheduler_memory.hpp>
#include <tactus/runtime/steady_clock.hpp>
#include <tactus/runtime/work_stealing_pool.hpp>

#include "measure.hpp"

namespace {

using namespace tactus;

class no_sink final : public metrics_sink {
public:
    void counter(const metric_info&, std::string_view, std::uint64_t) noexcept override {}
    void gauge(const metric_info&, std::string_view, std::uint64_t) noexcept override {}
    void histogram(const metric_info&, std::string_view, const histogram_sums&) noexcept override {}
};
class length_sink final : public text_sink {
public:
    void write(std::string_view piece) noexcept override { length += piece.size(); }
    std::size_t length = 0;
};

std::atomic<std::uint32_t> balls_left{0};
std::vector<mailbox_index> players;

struct ball {
    std::uint64_t throws;
};
/// Throws the ball to the next, or to somebody at random.
struct player {
    det_rng random;
    bool at_random;
    void receive(turn& t, envelope& e) {
        const auto* b = e.get_if<ball>();
        if (b->throws == 0) {
            if (balls_left.fetch_sub(1) == 1)
                balls_left.notify_one();
            return;
        }
        const std::size_t to =
            at_random ? random.next_u64() % players.size() : (t.self() == players[0] ? 1U : 0U);
        t.send(players[to], ball{b->throws - 1});
    }
};

enum class way : std::uint8_t { off, on, dumps };
constexpr way ways[] = {way::off, way::on, way::dumps};
constexpr const char* way_names[] = {"no sink", "metrics on", "ten dumps per second"};

void run(std::uint32_t workers, const char* name, std::uint32_t actors, std::uint32_t balls,
         std::uint64_t messages) {
    runtime::scheduler_memory memory;
    runtime::steady_clock time;
    actor_scheduler system(memory.fill({.worker_count = workers, .time = &time}));
    runtime::work_stealing_pool pool(system);
    players.clear();
    for (std::uint32_t i = 0; i < actors; ++i)
        players.push_back(*system.spawn<player>({}, det_rng(i), actors > 2));
    const auto once = [&](std::uint64_t n) {
        balls_left.store(balls);
        for (std::uint32_t i = 0; i < balls; ++i)
            actor_scheduler::tell(players[i], ball{n / balls});
        for (std::uint32_t left = balls; left != 0; left = balls_left.load())
            balls_left.wait(left);
    };
    std::atomic<bool> dumping{false};
    std::atomic<bool> ended{false};
    std::thread dumper([&] {
        while (!ended) {
            length_sink out;
            if (dumping)
                dump_dispatchers(system, out, {.format = dump_format::json});
            std::this_thread::sleep_for(std::chrono::milliseconds(100));
        }
    });
    no_sink sink;
    constexpr unsigned pieces = 8;
    bench::cost best[std::size(ways)];
    for (bench::cost& c : best)
        c = {1e9, 1e9};
    once(messages / 10);
    for (unsigned piece = 0; piece < pieces; ++piece) {
        for (std::size_t w = 0; w < std::size(ways); ++w) {
            (void)system.set_metrics_sink(ways[w] == way::on ? &sink : nullptr);
            dumping = ways[w] == way::dumps;
            const bench::cost c =
                bench::measure(messages / pieces, [&] { once(messages / pieces); });
            best[w].cpu_ns = std::min(best[w].cpu_ns, c.cpu_ns);
            best[w].wall_ns = std::min(best[w].wall_ns, c.wall_ns);
        }
    }
    ended = true;
    dumper.join();
    for (std::size_t w = 0; w < std::size(ways); ++w)
        bench::report("PF-13", std::string(name) + ", " + way_names[w], messages, best[w]);
    pool.force_stop();
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 4) {
        std::fprintf(stderr, "usage: bench_hub ours N WORKERS\n");
        return 2;
    }
    if (std::strcmp(argv[1], "ours") != 0)
        return 3;
    const std::uint64_t n = std::strtoull(argv[2], nullptr, 10);
    const auto workers = static_cast<std::uint32_t>(std::strtoul(argv[3], nullptr, 10));
    run(workers, "ping-pong", 2, 1, 8 * n);
    run(workers, "random pairs of 64", 64, 64, 8 * n);
    return 0;
}
