// SPDX-License-Identifier: Apache-2.0
//
// A user's program: a timer wheel over a steady clock, and a line in the log, for which another
// library is linked. It must build and run however the library was found.
//
// It throws, asks for a type at run time and converts carelessly on purpose: a library whose own
// flags (-fno-exceptions, -fno-rtti, -Wconversion -Werror) reached its users would not let it.
#ifdef USE_UMBRELLA
#include <tactus/tactus.hpp>
#else
#include <tactus/actor/log.hpp>
#include <tactus/base/version.hpp>
#include <tactus/runtime/spdlog_sink.hpp>
#include <tactus/runtime/steady_clock.hpp>
#include <tactus/runtime/virtual_memory.hpp>
#include <tactus/time/manual_clock.hpp>
#include <tactus/time/timer_wheel.hpp>
#endif

#include <cstdio>
#include <stdexcept>
#include <string>
#include <typeinfo>

int main() {
    const tactus::runtime::steady_clock clock;
    tactus::runtime::virtual_memory nodes(tactus::timer_wheel::node_bytes(100));
    tactus::runtime::virtual_memory overflow(tactus::timer_wheel::overflow_bytes(100));
    tactus::timer_wheel wheel(tactus::timer_wheel_options{
        .start = clock.now(), .timers_max = 100, .nodes = &nodes, .overflow = &overflow});

    const auto begin = clock.now();
    if (!wheel.insert(begin, tactus::duration::from_ms(2), 42))
        return 1;
    int fired = 0;
    while (fired == 0) {
        wheel.advance(clock.now(), [&](const tactus::expired_timer& t) { fired = t.payload; });
    }
    // Type information of a portable class must be there for users (ADR 0007).
    const tactus::manual_clock manual;
    const tactus::clock& any = manual;
    if (typeid(any) != typeid(tactus::manual_clock) ||
        dynamic_cast<const tactus::manual_clock*>(&any) == nullptr)
        return 1;
    const char passed = clock.now().ns() - begin.ns() >= 2'000'000;
    try {
        throw std::runtime_error(typeid(clock).name());
    } catch (const std::exception& e) {
        std::printf("tactus %s: %s fired %d\n", tactus::version().text, e.what(), fired);
    }
    const auto sink = tactus::runtime::spdlog_sink::create({});
    if (!sink)
        return 1;
    tactus::logger log({.sink = sink->get(), .time = &clock});
    log.write(tactus::log_level::info, "the timer fired", {.actor = "/user/program"});
    return passed && fired == 42 ? 0 : 1;
}
