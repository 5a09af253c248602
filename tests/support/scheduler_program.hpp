// SPDX-License-Identifier: Apache-2.0
//
// Random programs for the scheduler, as data, and how they are made smaller (SD-4).
//
// As with the wheel's programs, operations name jobs by how many were registered since ("0 is the
// newest"), modulo what there is: every part of a program is a program again.
//
// How far a program lets the scheduler fall behind is limited, since a scheduler that is far behind
// refuses (SC-32), which the model knows nothing of.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <tactus/base/det_rng.hpp>

#include "naive_scheduler.hpp"

namespace tactus_test {

enum class job_op_kind : std::uint8_t {
    once,
    fixed_rate,
    fixed_delay,
    cancel,
    advance,  // in one step
    steps,    // tick by tick
    stall,
    handle,
    shutdown,
    look,  // at what there is
};

struct job_op {
    job_op_kind kind{};
    std::uint32_t which = 0;  // of cancel
    tick_count first = 0;     // delay or initial delay; how many ticks
    tick_count period = 0;
    periodic_options options = {};

    friend constexpr bool operator==(const job_op&, const job_op&) = default;
};
using job_program = std::vector<job_op>;

struct program_limits {
    std::size_t length_max = 31;  // TC-S42
    tick_count delay_max = 15;
    tick_count far_delay_max = 700;  // now and then: other levels of the wheel
    tick_count behind_max = 24;      // below 0.8 of the default window of 32
    /// Messages may wait while time goes on; else each is handled at once.
    bool handles_later = false;
    /// What there is is looked at after every operation; else by operations, between which much is
    /// cancelled.
    bool looks_always = true;
};

/// Entropy: below(n) gives a number less than n.
template <class Entropy = tactus::det_rng>
class job_program_maker {
public:
    job_program_maker(Entropy rng, const program_limits& limits) : rng_(rng), limits_(limits) {}

    [[nodiscard]] job_program make() {
        job_program p;
        const std::size_t length = 1 + below(limits_.length_max);
        while (p.size() < length)
            p.push_back(next());
        // All that is near becomes due (TC-S42).
        p.push_back(
            {.kind = below(2) == 0 ? job_op_kind::advance : job_op_kind::steps, .first = 64});
        if (below(3) == 0)
            p.push_back({.kind = job_op_kind::shutdown});
        return p;
    }

private:
    [[nodiscard]] std::size_t below(std::uint64_t n) {
        return static_cast<std::size_t>(rng_.below(n));
    }
    [[nodiscard]] tick_count delay() {
        return 1 + below(below(8) == 0 ? limits_.far_delay_max : limits_.delay_max);
    }

    [[nodiscard]] job_op next() {
        if (!limits_.looks_always && below(4) != 0)
            return unseen();
        const std::size_t draw = below(32);
        if (draw < 9)
            return {.kind = job_op_kind::once, .first = delay()};
        if (draw < 13)
            return periodic(job_op_kind::fixed_rate);
        if (draw < 16)
            return periodic(job_op_kind::fixed_delay);
        if (draw < 21)
            return {.kind = job_op_kind::cancel,
                    .which = static_cast<std::uint32_t>(below(below(2) == 0 ? 2 : 8))};
        if (draw < 24 && limits_.handles_later)
            return {.kind = job_op_kind::handle};
        if (draw == 24 && below(8) == 0)
            return {.kind = job_op_kind::shutdown};
        if (draw < 27)
            return passing(job_op_kind::stall);
        return passing(draw < 29 ? job_op_kind::steps : job_op_kind::advance);
    }

    /// What nobody looks at while it is done.
    [[nodiscard]] job_op unseen() {
        const std::size_t draw = below(32);
        if (draw < 16)
            return {.kind = job_op_kind::once, .first = delay()};
        if (draw < 31)
            return {.kind = job_op_kind::cancel,
                    .which = static_cast<std::uint32_t>(below(below(2) == 0 ? 4 : 32))};
        return {.kind = job_op_kind::look};
    }

    [[nodiscard]] job_op periodic(job_op_kind kind) {
        const auto limit = static_cast<std::uint32_t>(1 + below(8));
        return {.kind = kind,
                .first = delay(),
                .period = 1 + below(below(2) == 0 ? 3 : limits_.delay_max),
                .options = {.each = below(4) == 0,
                            .after_sent = below(3) == 0,
                            .backlog_limit = limit,
                            .burst_threshold = static_cast<std::uint32_t>(1 + below(limit))}};
    }

    [[nodiscard]] job_op passing(job_op_kind kind) {
        const tick_count n = 1 + below(below(4) == 0 ? 16 : 7);
        if (behind_ + n > limits_.behind_max)
            kind = job_op_kind::steps;
        behind_ = kind == job_op_kind::stall ? behind_ + n : 0;
        return {.kind = kind, .first = kind == job_op_kind::steps ? std::min<tick_count>(n, 7) : n};
    }

    Entropy rng_;
    program_limits limits_;
    tick_count behind_ = 0;  // stalled, and not yet advanced
};

/// How a program is written in a test.
[[nodiscard]] inline std::string to_text(const job_op& op) {
    const auto number = [](auto n) { return std::to_string(n); };
    std::string options;
    if (op.kind == job_op_kind::fixed_rate || op.kind == job_op_kind::fixed_delay) {
        options = ", .period = " + number(op.period);
        const periodic_options plain;
        std::string set;
        if (op.options.each)
            set += ".each = true, ";
        if (op.options.after_sent)
            set += ".after_sent = true, ";
        if (op.options.backlog_limit != plain.backlog_limit)
            set += ".backlog_limit = " + number(op.options.backlog_limit) + ", ";
        if (op.options.burst_threshold != plain.burst_threshold)
            set += ".burst_threshold = " + number(op.options.burst_threshold) + ", ";
        if (!set.empty())
            options += ", .options = {" + set.substr(0, set.size() - 2) + "}";
    }
    const std::string first = ", .first = " + number(op.first);
    const auto text = [](const char* kind, const std::string& rest) {
        return std::string("{.kind = job_op_kind::") + kind + rest + "}";
    };
    switch (op.kind) {
    case job_op_kind::once:
        return text("once", first);
    case job_op_kind::fixed_rate:
        return text("fixed_rate", first + options);
    case job_op_kind::fixed_delay:
        return text("fixed_delay", first + options);
    case job_op_kind::cancel:
        return text("cancel", ", .which = " + number(op.which));
    case job_op_kind::advance:
        return text("advance", first);
    case job_op_kind::steps:
        return text("steps", first);
    case job_op_kind::stall:
        return text("stall", first);
    case job_op_kind::handle:
        return text("handle", "");
    case job_op_kind::shutdown:
        return text("shutdown", "");
    case job_op_kind::look:
        return text("look", "");
    }
    return {};
}

[[nodiscard]] inline std::string to_text(const job_program& p) {
    std::string text = "const job_program program = {\n";
    for (const job_op& op : p)
        text += "    " + to_text(op) + ",\n";
    return text + "};\n";
}

[[nodiscard]] constexpr bool passes_time(job_op_kind kind) noexcept {
    return kind == job_op_kind::advance || kind == job_op_kind::steps || kind == job_op_kind::stall;
}

/// Drops operations and makes numbers smaller, as long as the program still fails.
[[nodiscard]] inline job_program shrunk(job_program p,
                                        const std::function<bool(const job_program&)>& fails) {
    const auto keep = [&](const job_program& smaller) {
        if (smaller.size() > p.size() || smaller == p || !fails(smaller))
            return false;
        p = smaller;
        return true;
    };
    for (bool simpler = true; simpler;) {
        simpler = false;
        for (std::size_t chunk = std::max<std::size_t>(1, p.size() / 2); chunk > 0; chunk /= 2) {
            // From the back: what comes after the failure goes at once.
            for (std::size_t end = p.size(); end > 0;) {
                const std::size_t begin = end > chunk ? end - chunk : 0;
                job_program smaller = p;
                smaller.erase(smaller.begin() + static_cast<std::ptrdiff_t>(begin),
                              smaller.begin() + static_cast<std::ptrdiff_t>(end));
                simpler = keep(smaller) || simpler;
                end = std::min(begin, p.size());
            }
        }
        for (std::size_t i = 0; i < p.size(); ++i) {
            if (!passes_time(p[i].kind))
                continue;
            // Its time goes to the next one that passes some, or off what was waited for.
            job_program later = p;
            job_program sooner = p;
            const tick_count n = p[i].first;
            const auto next =
                std::find_if(later.begin() + static_cast<std::ptrdiff_t>(i) + 1, later.end(),
                             [](const job_op& op) { return passes_time(op.kind); });
            if (next != later.end())
                next->first += n;
            for (std::size_t k = 0; k < i; ++k) {
                if (!passes_time(p[k].kind) && sooner[k].first > n)
                    sooner[k].first -= n;
            }
            for (job_program* one : {&later, &sooner})
                one->erase(one->begin() + static_cast<std::ptrdiff_t>(i));
            simpler = keep(later) || keep(sooner) || simpler;
            if (i >= p.size())
                break;
        }
        for (std::size_t i = 0; i < p.size(); ++i) {
            const auto attempt = [&](auto member, auto value) {
                job_program smaller = p;
                if (smaller[i].*member <= value)
                    return;
                smaller[i].*member = value;
                simpler = keep(smaller) || simpler;
            };
            for (const tick_count divisor : {tick_count{8}, tick_count{2}})
                attempt(&job_op::first, std::max<tick_count>(1, p[i].first / divisor));
            attempt(&job_op::first, std::max<tick_count>(1, p[i].first - 1));
            attempt(&job_op::period, std::max<tick_count>(1, p[i].period / 2));
            attempt(&job_op::period, std::max<tick_count>(1, p[i].period - 1));
            attempt(&job_op::which, std::uint32_t{0});
            attempt(&job_op::which, p[i].which > 0 ? p[i].which - 1 : 0);
            job_program plain = p;
            plain[i].options = {};
            simpler = keep(plain) || simpler;
        }
    }
    return p;
}

}  // namespace tactus_test
