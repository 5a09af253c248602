// SPDX-License-Identifier: Apache-2.0
//
// What the host does about a failed random program: shrink it, print it as a test with its seed.
//
// Shrinking is delta debugging: drop chunks of halving size down to single operations, then make
// numbers and options simpler, until nothing more can go. Every attempt runs in a child process, so
// that failed checks, crashes and endless loops shrink as well as differences do.
//
// Also here: the environment. TACTUS_SEED=<n> runs that program only, TACTUS_OPERATIONS=<n> so many
// operations in all.
#pragma once

#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "wheel_duel.hpp"
#include "wheel_program.hpp"

namespace tactus_test {

[[nodiscard]] inline std::optional<std::uint64_t> from_environment(const char* name) {
    const char* text = std::getenv(name);
    if (text == nullptr || *text == '\0')
        return std::nullopt;
    return std::strtoull(text, nullptr, 10);
}
[[nodiscard]] inline std::optional<std::uint64_t> wanted_seed() {
    return from_environment("TACTUS_SEED");
}
[[nodiscard]] inline std::uint64_t wanted_operations(std::uint64_t otherwise) {
    return from_environment("TACTUS_OPERATIONS").value_or(otherwise);
}

/// Raises SIGPROF after so much computing: an endless loop. 0: never.
inline void limit_cpu(unsigned seconds) {
    const itimerval limit{.it_interval = {}, .it_value = {.tv_sec = seconds, .tv_usec = 0}};
    setitimer(ITIMER_PROF, &limit, nullptr);
}

struct written_program {
    wheel_config config;
    std::vector<wheel_op> ops;
};

/// True when the program runs to its end without a difference.
using program_check = std::function<bool(const written_program&)>;

class program_shrinker {
public:
    explicit program_shrinker(program_check check) : check_(std::move(check)) {}

    [[nodiscard]] bool fails(const written_program& p) {
        std::fflush(nullptr);
        const pid_t child = fork();
        if (child == 0) {
            for (const int fault : {SIGABRT, SIGSEGV, SIGPROF})
                std::signal(fault, SIG_DFL);
            static_cast<void>(std::freopen("/dev/null", "w", stderr));
            limit_cpu(1);
            _exit(check_(p) ? 0 : 1);
        }
        int status = 0;
        waitpid(child, &status, 0);
        return status != 0;
    }

    [[nodiscard]] written_program shrink(written_program p) {
        drop_chunks(p);
        for (bool simpler = true; simpler && !tired();) {
            simpler = simplify_config(p);
            simpler = simplify_numbers(p) || simpler;
            simpler = drop_chunks(p) || simpler;
        }
        return p;
    }

private:
    // Hangs take a second each to see; a program that is nearly small must do then.
    [[nodiscard]] bool tired() const {
        return std::chrono::steady_clock::now() - started_ > std::chrono::seconds(60);
    }

    bool drop_chunks(written_program& p) {
        bool dropped = false;
        for (std::size_t chunk = std::max<std::size_t>(1, p.ops.size() / 2);; chunk /= 2) {
            // From the back: what comes after the difference goes at once.
            for (std::size_t end = p.ops.size(); end > 0 && !tired();) {
                const std::size_t begin = end > chunk ? end - chunk : 0;
                written_program candidate = p;
                const auto first = candidate.ops.begin();
                candidate.ops.erase(first + static_cast<std::ptrdiff_t>(begin),
                                    first + static_cast<std::ptrdiff_t>(end));
                if (fails(candidate)) {
                    p = std::move(candidate);
                    dropped = true;
                }
                end = begin;
            }
            if (chunk == 1)
                return dropped;
        }
    }

    bool keep_if_failing(written_program& p, written_program candidate) {
        if (candidate.config == p.config && candidate.ops == p.ops)
            return false;
        if (!fails(candidate))
            return false;
        p = std::move(candidate);
        return true;
    }

    bool simplify_config(written_program& p) {
        const wheel_config plain;
        bool simpler = false;
        const auto attempt = [&](auto member, auto value) {
            written_program candidate = p;
            candidate.config.*member = value;
            simpler = keep_if_failing(p, std::move(candidate)) || simpler;
        };
        attempt(&wheel_config::start, plain.start);
        attempt(&wheel_config::first_sequence, plain.first_sequence);
        attempt(&wheel_config::overflow_max, plain.overflow_max);
        attempt(&wheel_config::max_wheel, plain.max_wheel);
        attempt(&wheel_config::max_timer, plain.max_timer);
        attempt(&wheel_config::window, plain.window);
        attempt(&wheel_config::group_min, plain.group_min);
        // Not below overflow_max: that would fail too, but as an invalid configuration.
        for (const std::uint32_t few : {1u, 2u, 4u, 16u})
            if (few < p.config.timers_max && few >= p.config.overflow_max.value_or(0))
                attempt(&wheel_config::timers_max, few);
        attempt(&wheel_config::retained, plain.retained);
        attempt(&wheel_config::generation_count, plain.generation_count);
        attempt(&wheel_config::watch_closely, plain.watch_closely);
        // One tick a nanosecond, and every time in ticks.
        if (p.config.resolution != 1) {
            written_program candidate = p;
            const std::int64_t tick = std::exchange(candidate.config.resolution, 1);
            candidate.config.start /= static_cast<std::uint64_t>(tick);
            candidate.config.max_wheel /= tick;
            candidate.config.window /= tick;
            for (wheel_op& op : candidate.ops) {
                op.ns = op.ns / tick + (op.ns % tick > 0 ? 1 : 0);
                op.lag /= tick;
            }
            simpler = keep_if_failing(p, std::move(candidate)) || simpler;
        }
        return simpler;
    }

    bool simplify_numbers(written_program& p) {
        bool simpler = false;
        for (std::size_t i = 0; i < p.ops.size() && !tired(); ++i) {
            const auto attempt = [&](auto member, auto value) {
                written_program candidate = p;
                candidate.ops[i].*member = value;
                const bool kept = keep_if_failing(p, std::move(candidate));
                simpler = kept || simpler;
                return kept;
            };
            attempt(&wheel_op::in_sink, false);
            attempt(&wheel_op::lag, std::int64_t{0});
            attempt(&wheel_op::by, naming::issued);
            attempt(&wheel_op::which, std::uint32_t{0});
            const std::int64_t ns = p.ops[i].ns;
            const std::int64_t tick = p.config.resolution;
            const std::int64_t less = ns / tick < 64 ? ns - tick : ns - ns / 8;
            for (const std::int64_t n : {std::int64_t{0}, tick, ns / tick * tick, ns / 2, less})
                if ((n < 0 ? -(n + 1) : n) < (ns < 0 ? -(ns + 1) : ns) && attempt(&wheel_op::ns, n))
                    break;
        }
        return simpler;
    }

    program_check check_;
    std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
};

inline std::string to_text(const wheel_op& op) {
    const std::string which = std::to_string(op.which);
    const std::string ns = op.ns == std::numeric_limits<std::int64_t>::min()
                               ? "std::numeric_limits<std::int64_t>::min()"
                               : std::to_string(op.ns);
    const std::string by = op.by == naming::pending ? ", naming::pending" : "";
    const std::string lag = op.lag != 0 ? ", " + std::to_string(op.lag) : "";
    std::string text;
    switch (op.kind) {
    case op_kind::insert:
        text = "insert(" + ns + lag + ")";
        break;
    case op_kind::cancel:
        text = "cancel(" + which + by + ")";
        break;
    case op_kind::reschedule:
        text = "reschedule(" + which + ", " + ns +
               (lag.empty() || !by.empty() ? by : ", naming::issued") + lag + ")";
        break;
    case op_kind::advance:
        text = "advance(" + ns + ")";
        break;
    case op_kind::wait:
        text = "wait(" + ns + ")";
        break;
    case op_kind::next_deadline:
        text = "next_deadline()";
        break;
    }
    return op.in_sink ? "in_sink(" + text + ")" : text;
}

/// The program as a test to paste.
inline void print_test(std::uint64_t seed, const written_program& p, const char* check) {
    const wheel_config plain;
    const wheel_config& c = p.config;
    std::printf("TEST(timer_wheel_model, shrunk_program_of_seed_%llu) {\n",
                static_cast<unsigned long long>(seed));
    std::printf("    wheel_config config;\n");
    const auto option = [](const char* name, auto value, auto otherwise) {
        if (value != otherwise)
            std::printf("    config.%s = %s%s;\n", name, std::to_string(value).c_str(),
                        std::is_unsigned_v<decltype(value)> ? "u" : "");
    };
    option("resolution", c.resolution, plain.resolution);
    option("start", c.start, plain.start);
    option("timers_max", c.timers_max, plain.timers_max);
    if (c.overflow_max)
        option("overflow_max", *c.overflow_max, ~std::uint32_t{0});
    option("max_wheel", c.max_wheel, plain.max_wheel);
    option("max_timer", c.max_timer, plain.max_timer);
    option("window", c.window, plain.window);
    option("group_min", c.group_min, plain.group_min);
    option("first_sequence", c.first_sequence, plain.first_sequence);
    option("retained", c.retained, plain.retained);
    option("generation_count", c.generation_count, plain.generation_count);
    if (!c.watch_closely)
        std::printf("    config.watch_closely = false;\n");
    std::printf("    using namespace tactus_test::program;\n    constexpr wheel_op ops[] = {\n");
    for (const wheel_op& op : p.ops)
        std::printf("        %s,\n", to_text(op).c_str());
    std::printf("    };\n    EXPECT_TRUE(%s(config, ops));\n}\n", check);
    std::fflush(stdout);
}

/// While one lives, a program that crashes or hangs the process is reported like one that fails.
///
/// An `Experiment` has a `name` (of the function the printed test calls), `timers_max`, `sinks` and
/// `holds(make_source, length)`.
template <class Experiment>
class failure_reporter {
public:
    failure_reporter(std::uint64_t seed, std::size_t length, std::uint64_t done_before)
        : seed_(seed), length_(length), done_before_(done_before) {
        current_ = this;
        for (const int fault : faults)
            std::signal(fault, on_fault);
        limit_cpu(20);
    }
    ~failure_reporter() {
        limit_cpu(0);
        for (const int fault : faults)
            std::signal(fault, SIG_DFL);
        current_ = nullptr;
    }
    failure_reporter(const failure_reporter&) = delete;
    failure_reporter& operator=(const failure_reporter&) = delete;

    void report() const {
        limit_cpu(0);
        current_ = nullptr;  // a fault from here on just ends the process
        const auto seed = static_cast<unsigned long long>(seed_);
        std::printf("seed %llu fails after %llu operations of earlier ones; ", seed,
                    static_cast<unsigned long long>(done_before_));
        std::printf("TACTUS_SEED=%llu runs it alone\n", seed);
        std::fflush(stdout);
        const written_program whole = write();
        const written_program shrunk = program_shrinker(holds).shrink(whole);
        std::printf("shrunk from %zu to %zu operations:\n\n", whole.ops.size(), shrunk.ops.size());
        print_test(seed_, shrunk, Experiment::name);
        limit_cpu(5);
        static_cast<void>(holds(shrunk));  // faults again, or leaves the difference to be read
    }

private:
    static constexpr int faults[] = {SIGABRT, SIGSEGV, SIGPROF};

    [[nodiscard]] static bool holds(const written_program& p) {
        return Experiment::holds([&] { return written_source(p.config, p.ops); }, p.ops.size());
    }

    [[nodiscard]] written_program write() const {
        seeded_source source(seed_, Experiment::timers_max, Experiment::sinks);
        written_program p{source.config(), {}};
        for (std::size_t i = 0; i < length_; ++i)
            p.ops.push_back(source.next());
        return p;
    }

    // Faults are raised by the test itself, on its own stack: anything may be called here.
    static void on_fault(int fault) {
        const failure_reporter* reporter = std::exchange(current_, nullptr);
        std::signal(fault, SIG_DFL);
        sigset_t unblocked;
        sigemptyset(&unblocked);
        sigaddset(&unblocked, fault);
        sigprocmask(SIG_UNBLOCK, &unblocked, nullptr);
        std::printf("signal %d: ", fault);
        if (reporter != nullptr)
            reporter->report();
        std::raise(fault);
    }

    static inline const failure_reporter* current_ = nullptr;
    std::uint64_t seed_;
    std::size_t length_;
    std::uint64_t done_before_;
};

}  // namespace tactus_test
