// SPDX-License-Identifier: Apache-2.0
//
// Question: what does each operation of a large family cost, per child? (DF-45)
//
//   spawn            children of one parent, until each has begun
//   fail             each child once, until each has handled its next message: one_for_one and
//                    all_for_one, with max_restarts
//   watch, end       the parent watches and stops each, until it was told of the last
//   stop the parent  until the last child has ended
//
// The limit is 2 s for each with 10^5 children, so 20,000 ns per child. Last answer, of a build
// without optimisation on one worker, CPU ns: 1,900; 7,100 and 11,300; 4,400; 2,600.
//
// usage: bench_families ours N WORKERS
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <utility>
#include <vector>

#include <tactus/runtime/actor_system.hpp>

#include "done_flag.hpp"
#include "measure.hpp"

namespace {

using namespace tactus;

std::atomic<std::uint64_t> left{0};

void count_down() {
    if (left.fetch_sub(1) == 1)
        bench::done.set();
}

struct strike {};
struct ping {};
class member : public actor<strike, ping> {
public:
    void on(const ping&) { count_down(); }
    std::expected<void, failure> on(const strike&) { return std::unexpected(failure("struck")); }
    void post_stop() {
        if (counts_ends.load(std::memory_order_relaxed))
            count_down();
    }
    static inline std::atomic<bool> counts_ends{false};
};

class head;
struct act {
    std::function<void(head&)> what;
};
class head : public actor<act> {
public:
    explicit head(supervision_scope scope) : scope_(scope) {}
    void on(const act& a) { a.what(*this); }
    void on(const terminated&) { count_down(); }
    supervisor_strategy supervision() { return {.scope = scope_, .max_restarts = 1'000'000U}; }
    [[nodiscard]] auto ctx() { return context(); }

private:
    supervision_scope scope_;
};

/// A family of n, until the end of it.
class family {
public:
    family(actor_system& system, supervision_scope scope, std::uint64_t n)
        : n_(n), head_(system.spawn_anonymous<head>(scope)) {}
    [[nodiscard]] bench::cost spawn() {
        return each([&] {
            in_turn([&](head& h) {
                for (std::uint64_t i = 0; i < n_; ++i) {
                    members_.push_back(*h.ctx().try_spawn<member>("", {}));
                    members_.back().tell(ping{});
                }
            });
        });
    }
    [[nodiscard]] bench::cost fail() {
        return each([&] {
            for (const auto& m : members_) {
                m.tell(strike{});
                m.tell(ping{});
            }
        });
    }
    [[nodiscard]] bench::cost watch_and_end() {
        return each([&] {
            in_turn([&](head& h) {
                for (const auto& m : members_) {
                    h.ctx().watch(m);
                    (void)h.ctx().stop(m);
                }
            });
        });
    }
    [[nodiscard]] bench::cost stop_parent(actor_system& system) {
        member::counts_ends = true;
        const bench::cost c = each([&] { (void)system.stop(head_); });
        member::counts_ends = false;
        return c;
    }

private:
    void in_turn(std::function<void(head&)> what) { head_.tell(act{std::move(what)}); }
    template <class Work>
    [[nodiscard]] bench::cost each(Work&& work) {
        left = n_;
        return bench::measure(n_, [&] {
            work();
            bench::done.wait();
        });
    }

    std::uint64_t n_;
    actor_ref<act> head_;
    std::vector<actor_ref<strike, ping>> members_;
};

}  // namespace

int main(int argc, char** argv) {
    if (argc != 4) {
        std::fprintf(stderr, "usage: bench_families ours N WORKERS\n");
        return 2;
    }
    if (std::strcmp(argv[1], "ours") != 0)
        return 3;
    const std::uint64_t n = std::strtoull(argv[2], nullptr, 10);
    const auto workers = static_cast<std::uint32_t>(std::strtoul(argv[3], nullptr, 10));
    actor_system system("families",
                        {.dispatcher = {.workers = workers}, .log_level = log_level::off});
    {
        family f(system, supervision_scope::one_for_one, n);
        bench::report("DF-45", "spawn", n, f.spawn());
        bench::report("DF-45", "fail, one_for_one", n, f.fail());
        bench::report("DF-45", "watch, end", n, f.watch_and_end());
    }
    {
        family f(system, supervision_scope::all_for_one, n);
        (void)f.spawn();
        bench::report("DF-45", "fail, all_for_one", n, f.fail());
        bench::report("DF-45", "stop the parent", n, f.stop_parent(system));
    }
    return 0;
}
