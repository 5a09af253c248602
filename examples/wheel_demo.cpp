// SPDX-License-Identifier: Apache-2.0
//
// The wheel at work: arms, cancels, moves and fires a million timers in virtual time, and draws it.
//
// Everything printed but the times comes from the seed: the same seed gives the same witness on
// every machine. The program checks itself: a timer that fires early, late, out of order, twice or
// after it was cancelled ends it with exit status 1.
//
// usage: wheel_demo [--timers N] [--seed N] [--plain]
#include <tactus/base/det_hasher.hpp>
#include <tactus/base/det_rng.hpp>
#include <tactus/base/version.hpp>
#include <tactus/runtime/steady_clock.hpp>
#include <tactus/runtime/timer_memory.hpp>
#include <tactus/time/manual_clock.hpp>
#include <tactus/time/timer_wheel.hpp>

#include <unistd.h>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <expected>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <vector>

namespace {

struct arguments {
    std::uint64_t timers = 1'000'000;
    std::uint64_t seed = 42;
    bool colour = isatty(STDOUT_FILENO) == 1 && std::getenv("NO_COLOR") == nullptr;
};

[[noreturn]] void usage(const std::string& wrong) {
    std::fprintf(stderr, "wheel_demo: %s\nusage: wheel_demo [--timers N] [--seed N] [--plain]\n",
                 wrong.c_str());
    std::exit(2);
}

std::uint64_t number(const char* text, std::uint64_t least, std::uint64_t most) {
    const std::string digits = text == nullptr ? "" : text;
    errno = 0;
    const std::uint64_t value = std::strtoull(digits.c_str(), nullptr, 10);
    if (digits.empty() || errno == ERANGE ||
        digits.find_first_not_of("0123456789") != std::string::npos || value < least ||
        value > most) {
        std::string wrong = "'";
        wrong.append(digits).append("' is no number from ").append(std::to_string(least));
        usage(wrong.append(" to ").append(std::to_string(most)));
    }
    return value;
}

arguments parse(int argc, char** argv) {
    arguments a;
    for (int i = 1; i < argc; ++i) {
        const std::string option = argv[i];
        if (option == "--timers")
            a.timers = number(argv[++i], 1, 50'000'000);
        else if (option == "--seed")
            a.seed = number(argv[++i], 0, UINT64_MAX);
        else if (option == "--plain")
            a.colour = false;
        else
            usage(std::string("unknown argument '").append(option).append("'"));
    }
    return a;
}

// What the program knows about each timer, to check what the wheel does.
struct expectation {
    tactus::timer_handle handle;
    tactus::tick due = 0;
    std::uint64_t armed = 0;  // the order of arming, 1 and up; 0: fired or cancelled
};

// A mixture as a busy server has it: retries, request timeouts, sessions, nightly jobs.
struct kind {
    const char* name;
    std::uint64_t shortest_ms;
    std::uint64_t longest_ms;
    unsigned share;  // of 100
};
constexpr std::array<kind, 4> kinds{{{"retries, up to 250 ms", 1, 250, 30},
                                     {"request timeouts, up to 60 s", 1'000, 60'000, 50},
                                     {"sessions, up to 4 h", 60'000, 4 * 3'600'000, 15},
                                     {"jobs, up to 6 days", 3'600'000, 6 * 24 * 3'600'000ull, 5}}};

const kind& draw_kind(tactus::det_rng& rng) {
    std::uint64_t at = rng.below(100);
    for (const kind& k : kinds) {
        if (at < k.share)
            return k;
        at -= k.share;
    }
    return kinds.back();
}

tactus::duration draw_delay(tactus::det_rng& rng) {
    const kind& k = draw_kind(rng);
    const std::uint64_t ms = k.shortest_ms + rng.below(k.longest_ms - k.shortest_ms + 1);
    return tactus::duration::from_ms(static_cast<std::int64_t>(ms));
}

class demo {
public:
    explicit demo(const arguments& a)
        : arguments_(a),
          rng_(a.seed),
          made_(new made_wheel(tactus::timer_wheel::create(memory_.options()))),
          timers_(a.timers) {
        if (!*made_)
            fail(made_->error());
        wheel_ = &**made_;
    }

    int run() {
        const tactus::version_number version = tactus::version();
        std::printf("tactus %s: the timer wheel at work\n", version.text);
        std::printf("%llu timers, seed %llu, virtual time, 1 ms per tick\n\n",
                    static_cast<unsigned long long>(arguments_.timers),
                    static_cast<unsigned long long>(arguments_.seed));
        std::printf("  %-34s %12s %10s %12s\n", "step", "timers", "ns each *", "pending");
        const std::uint64_t n = arguments_.timers;
        draw_lots();
        step("arm", n, [&] { arm_all(); });
        step("cancel every third, random order", n / 3, [&] { cancel_some(n / 3); });
        step("move every fourth", n / 4, [&] { move_some(n / 4); });
        draw();
        std::printf("  %-34s %12s %10s %12s\n", "step", "timers", "ns each *", "pending");
        step_fire("fire the first second", tactus::duration::from_s(1));
        step_fire("fire the first minute", tactus::duration::from_s(60));
        step_fire("fire the first four hours", tactus::duration::from_s(4 * 3600));
        draw();
        std::printf("  %-34s %12s %10s %12s\n", "step", "timers", "ns each *", "pending");
        step_fire("fire the rest, days ahead", tactus::duration::from_s(7 * 24 * 3600));
        if (wrong_ != 0 || wheel_->size() != 0) {
            std::printf("WRONG: %llu timers early, late, out of order or dead; %zu left\n",
                        static_cast<unsigned long long>(wrong_), wheel_->size());
            return 1;
        }
        std::printf(
            "* wall time, with this program's own lookups and checks; ./bench timers has "
            "the wheel alone\n\n");
        std::printf("%llu fired, each exactly at its tick and in order; witness %016llx\n",
                    static_cast<unsigned long long>(fired_),
                    static_cast<unsigned long long>(witness_.finish()));
        return 0;
    }

private:
    template <class Work>
    void step(const char* name, std::uint64_t count, Work&& work) {
        const tactus::instant before = real_.now();
        work();
        report(name, count, real_.now() - before);
    }

    void report(const char* name, std::uint64_t count, tactus::duration took) {
        const double each =
            count == 0 ? 0 : static_cast<double>(took.ns()) / static_cast<double>(count);
        std::printf("  %-34s %12llu %10.1f %12zu\n", name, static_cast<unsigned long long>(count),
                    each, wheel_->size());
    }

    void arm(expectation& e, tactus::duration delay) {
        const auto made =
            wheel_->insert(clock_.now(), delay, static_cast<std::uint64_t>(&e - timers_.data()));
        if (!made)
            fail(made.error());
        e = {*made, wheel_->scale().ceil(clock_.now() + delay), ++order_};
    }

    // Drawn before the clock starts: what is timed is the wheel and this program's bookkeeping.
    void draw_lots() {
        delays_.resize(timers_.size());
        for (tactus::duration& d : delays_)
            d = draw_delay(rng_);
        order_of_use_.resize(timers_.size());
        std::iota(order_of_use_.begin(), order_of_use_.end(), 0u);
        rng_.shuffle(std::span(order_of_use_));
    }

    void arm_all() {
        for (std::size_t i = 0; i < timers_.size(); ++i)
            arm(timers_[i], delays_[i]);
    }

    void cancel_some(std::uint64_t count) {
        for (std::uint64_t i = 0; i < count; ++i) {
            expectation& e = timers_[order_of_use_[i]];
            if (!wheel_->cancel(e.handle))
                ++wrong_;
            e.armed = 0;
        }
    }

    // Those after the cancelled ones in the order, so that all are still armed.
    void move_some(std::uint64_t count) {
        for (std::uint64_t i = 0; i < count; ++i) {
            expectation& e = timers_[order_of_use_[timers_.size() / 3 + i]];
            const tactus::duration delay = delays_[i];
            if (const auto moved = wheel_->reschedule(e.handle, clock_.now(), delay); !moved)
                fail(moved.error());
            e.due = wheel_->scale().ceil(clock_.now() + delay);
            e.armed = ++order_;
        }
    }

    // Goes from one deadline to the next, as a driver that sleeps in between would.
    void step_fire(const char* name, tactus::duration until) {
        const tactus::tick last = wheel_->scale().floor(tactus::instant::epoch() + until);
        const std::uint64_t before = fired_;
        const tactus::instant started = real_.now();
        for (auto next = wheel_->next_deadline(); next && *next <= last;
             next = wheel_->next_deadline()) {
            clock_.advance_to(wheel_->scale().begin_of(*next));
            const auto done = wheel_->advance(
                clock_.now(), [&](const tactus::expired_timer& timer) { check(timer); });
            if (!done)
                fail(done.error());
        }
        report(name, fired_ - before, real_.now() - started);
    }

    void check(const tactus::expired_timer& timer) {
        expectation& e = timers_[timer.payload];
        const bool in_order = timer.deadline > last_due_ || e.armed > last_armed_;
        if (e.armed == 0 || e.due != wheel_->now() || !in_order)
            ++wrong_;
        last_due_ = timer.deadline;
        last_armed_ = e.armed;
        e.armed = 0;
        ++fired_;
        witness_.add(timer.payload);
        witness_.add(timer.deadline);
    }

    // One line per level; a mark stands for four slots, fuller marks for more of them occupied.
    void draw() const {
        constexpr std::array<const char*, 5> marks{"·", "░", "▒", "▓", "█"};
        constexpr std::array<const char*, 4> spans{"1 ms", "256 ms", "65.5 s", "4.66 h"};
        std::printf("\n  the wheel at %.3f s, a column is 4 slots\n",
                    static_cast<double>(clock_.now().ns()) * 1e-9);
        for (unsigned level = 4; level-- > 0;) {
            const auto& occupied = wheel_->occupied(level);
            const auto position = static_cast<unsigned>((wheel_->now() >> (8 * level)) & 255);
            std::printf("  level %u, %6s a slot  ", level, spans[level]);
            for (unsigned column = 0; column < 64; ++column) {
                unsigned full = 0;
                for (unsigned slot = 4 * column; slot < 4 * column + 4; ++slot)
                    full += occupied.test(slot) ? 1u : 0u;
                if (position / 4 == column)
                    std::printf("%s", arguments_.colour ? "\033[1;31m▼\033[0m" : "▼");
                else if (arguments_.colour)
                    std::printf("\033[36m%s\033[0m", marks[full]);
                else
                    std::printf("%s", marks[full]);
            }
            std::printf(" %3zu\n", occupied.count());
        }
        std::printf("  overflow, beyond 24 h    %zu timers\n\n", wheel_->overflow_size());
    }

    [[noreturn]] static void fail(const tactus::timer_error& error) {
        std::array<char, 128> text{};
        const auto said = tactus::describe(error, text);
        std::fprintf(stderr, "wheel_demo: %.*s\n", static_cast<int>(said.size()), said.data());
        std::exit(1);
    }

    arguments arguments_;
    tactus::det_rng rng_;
    tactus::runtime::timer_memory memory_;
    tactus::runtime::steady_clock real_;
    tactus::manual_clock clock_;
    using made_wheel = std::expected<tactus::timer_wheel, tactus::timer_error>;
    std::unique_ptr<made_wheel> made_;
    tactus::timer_wheel* wheel_ = nullptr;
    std::vector<expectation> timers_;
    std::vector<tactus::duration> delays_;
    std::vector<std::uint32_t> order_of_use_;
    tactus::det_hasher witness_;
    tactus::tick last_due_ = 0;
    std::uint64_t last_armed_ = 0;
    std::uint64_t order_ = 0;
    std::uint64_t fired_ = 0;
    std::uint64_t wrong_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
    const arguments a = parse(argc, argv);
    return std::make_unique<demo>(a)->run();
}
