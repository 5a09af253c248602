// SPDX-License-Identifier: Apache-2.0
//
// The cases of scheduler.cpp with CAF 0.17 (libcaf-dev): delayed messages through the system's
// clock, which has a thread of its own.
//
// A delayed message cannot be cancelled there: "cancel in random order" schedules all of them, and
// cancels all of them in one call. What has an identity of its own is the timeout of a request: "at
// once" and "in order" set and cancel these, one at a time. The clock looks for one among all of
// its actor, oldest first: in order it is the first one, in random order a pair would take a walk
// over half a million.
//
// usage: bench_scheduler_caf caf N WORKERS
#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>

#include <caf/all.hpp>

#include "timer_cases.hpp"

namespace {

using namespace bench;
using caf::actor;
using caf::actor_system;
using caf::behavior;
using u64 = std::uint64_t;
using ms = std::chrono::milliseconds;

behavior counting(caf::event_based_actor*) {
    return {[](u64) { delivered.note(); }};
}
behavior noting(caf::event_based_actor*) {
    return {[](u64 deadline_ns) { note_lateness(deadline_ns); }};
}

void end(const actor& a) {
    caf::anon_send_exit(a, caf::exit_reason::user_shutdown);
}

/// The clock has done what it was told before.
void wait_for_clock(const actor& to) {
    delivered.left = 1;
    caf::delayed_anon_send(to, ms(0), u64{0});
    done.wait();
}

void run_cancel(actor_system& system, const timer_plan& p) {
    const actor to = system.spawn(counting);
    const auto delays = far_delays_ms(p.n, 1);
    const auto all = [&] {
        for (const std::uint32_t d : delays)
            caf::delayed_anon_send(to, ms(d), u64{1});
        system.clock().cancel_all();
        wait_for_clock(to);
    };
    all();
    report("PF-8", "schedule, cancel in random order", p.n, measure(p.n, all));
    auto* const self = caf::actor_cast<caf::abstract_actor*>(to);
    auto& clock = system.clock();
    const auto id_of = [](u64 i) { return caf::make_message_id(i + 1).response_id(); };
    const auto set = [&](u64 i) {
        clock.set_request_timeout(clock.now() + ms(delays[i]), self, id_of(i));
    };
    const auto in_order = [&] {
        for (u64 i = 0; i < p.n; ++i)
            set(i);
        for (u64 i = 0; i < p.n; ++i)
            clock.cancel_request_timeout(self, id_of(i));
        wait_for_clock(to);
    };
    in_order();
    report("PF-8", "schedule, cancel in order", p.n, measure(p.n, in_order));
    const auto each = [&] {
        for (u64 i = 0; i < p.n; ++i) {
            set(i);
            clock.cancel_request_timeout(self, id_of(i));
        }
        wait_for_clock(to);
    };
    each();
    report("PF-8", "schedule, cancel at once", p.n, measure(p.n, each));
    end(to);
}

auto scheduling_to(const actor& to) {
    return [to](u64 delay_ns, u64 deadline_ns) {
        caf::delayed_anon_send(to, std::chrono::nanoseconds(delay_ns), deadline_ns);
    };
}

caf::actor_system_config& configured(caf::actor_system_config& config, std::uint32_t workers) {
    config.set("scheduler.max-threads", std::size_t{workers});
    config.set("logger.file-verbosity", caf::atom("quiet"));
    return config;
}

/// A system with its configuration, which must outlive it.
struct whole_system {
    explicit whole_system(std::uint32_t workers) : system(configured(config, workers)) {}
    caf::actor_system_config config;
    actor_system system;
};

}  // namespace

int main(int argc, char** argv) {
    const timer_plan p{read_plan(argc, argv, "caf")};
    const auto with_system = [&](const char* name, auto&& work) {
        if (!p.wanted(name))
            return;
        whole_system whole(p.workers);
        work(whole.system);
    };
    with_system("cancel", [&](actor_system& s) { run_cancel(s, p); });
    with_system("expiry", [&](actor_system& s) {
        const actor to = s.spawn(counting);
        run_expiry(scheduling_to(to));
        end(to);
    });
    with_system("late", [&](actor_system& s) {
        const actor to = s.spawn(noting);
        run_lateness(p, scheduling_to(to));
        end(to);
    });
    if (p.wanted("start"))
        run_start_stop(p, [&] {
            auto whole = std::make_unique<whole_system>(p.workers);
            delivered.left = 1;
            caf::anon_send(whole->system.spawn(counting), u64{0});
            return whole;
        });
    return 0;
}
