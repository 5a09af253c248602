// SPDX-License-Identifier: Apache-2.0
//
// A check: executions until one fails, all are done, or a limit is reached.
#include "chance.hpp"
#include "execution.hpp"
#include "exhaustive.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <unordered_set>

namespace tactus::inline v0::port::model {
namespace {

using detail::director;
using detail::execution;

class search {
public:
    search(const options& how, const std::function<void()>& body) : how_(how), body_(body) {}

    /// Executions under one director. Returns false when the search is over before its end.
    bool pass(director& by, const detail::learned_values* learned, detail::learned_values* learns) {
        execution e(how_, by, body_);
        e.set_learned(learned);
        do {
            if (result_.executions >= how_.execution_limit || out_of_time())
                return false;
            e.run();
            ++result_.executions;
            result_.steps_max = std::max<std::uint64_t>(result_.steps_max, e.steps());
            if (e.discarded())
                ++result_.discarded;
            else if (by.redundant())
                ++result_.redundant;
            if (e.kind() != failure::none) {
                failed(e);
                return false;
            }
            if (!e.discarded()) {
                outcomes_.insert(e.outcome());
                if (learns != nullptr)
                    grew_ = e.learn(*learns) || grew_;
            }
        } while (by.advance());
        return true;
    }

    void run_exhaustive() {
        detail::learned_values learned;
        for (;;) {
            grew_ = false;
            detail::exhaustive by(how_.preemption_bound, how_.reduction);
            detail::learned_values next = learned;
            result_.exhaustive = pass(by, &learned, how_.future_reads ? &next : nullptr);
            if (!result_.exhaustive || !grew_)
                return;
            learned = std::move(next);
        }
    }

    report finish() {
        result_.distinct_states = outcomes_.size();
        result_.text = failure_text_ + summary();
        return std::move(result_);
    }

    void refuse(std::string why) {
        result_.ok = false;
        result_.kind = failure::misuse;
        result_.message = std::move(why);
        failure_text_ = result_.message + "\n";
    }

private:
    void failed(const execution& e) {
        result_.ok = false;
        result_.kind = e.kind();
        result_.message = std::string(to_text(e.kind())) + ": " + e.message();
        result_.schedule = e.schedule_text();
        failure_text_ = result_.message + "\n" + e.trace_text() + result_.message +
                        "\nschedule: " + result_.schedule + "\n";
    }

    [[nodiscard]] bool out_of_time() const {
        using clock = std::chrono::steady_clock;
        return how_.time_limit.count() > 0 && result_.executions % 64 == 0 &&
               clock::now() - started_ > how_.time_limit;
    }

    [[nodiscard]] std::string summary() const {
        std::string text = std::to_string(result_.executions) + " executions";
        if (result_.redundant > 0)
            text += ", " + std::to_string(result_.redundant) + " of them redundant";
        if (result_.discarded > 0)
            text += ", " + std::to_string(result_.discarded) + " of them discarded";
        text += ", " + std::to_string(result_.distinct_states) + " distinct states, " +
                std::to_string(result_.steps_max) + " steps at most; ";
        if (how_.search != strategy::exhaustive)
            return text + "a sample, seed " + std::to_string(how_.seed) + "\n";
        text += result_.exhaustive ? "exhaustive" : "not exhaustive";
        text += how_.preemption_bound
                    ? " within " + std::to_string(*how_.preemption_bound) + " preemptions"
                    : std::string(", no bound of preemptions");
        return text + (how_.reduction ? "\n" : ", no reduction\n");
    }

    const options how_;
    const std::function<void()>& body_;
    report result_;
    std::string failure_text_;
    std::unordered_set<std::uint64_t> outcomes_;
    bool grew_ = false;
    std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
};

void need_no_check() {
    if (!in_check())
        return;
    std::fprintf(stderr, "model: a check inside of a check\n");
    std::abort();
}

}  // namespace

std::string_view to_text(failure kind) noexcept {
    switch (kind) {
    case failure::none:
        return "no failure";
    case failure::race:
        return "race";
    case failure::assertion:
        return "assertion";
    case failure::deadlock:
        return "deadlock";
    case failure::livelock:
        return "livelock";
    case failure::leak:
        return "leak";
    case failure::double_free:
        return "double free";
    case failure::use_after_free:
        return "use after free";
    case failure::misuse:
        break;
    }
    return "misuse";
}

report check(const options& how, const std::function<void()>& body) {
    need_no_check();
    search s(how, body);
    switch (how.search) {
    case strategy::exhaustive:
        s.run_exhaustive();
        break;
    case strategy::random: {
        detail::random_director by(how.seed, how.runs);
        s.pass(by, nullptr, nullptr);
        break;
    }
    case strategy::pct: {
        detail::pct_director by(how.seed, how.runs, how.pct_depth);
        s.pass(by, nullptr, nullptr);
        break;
    }
    }
    return s.finish();
}

report replay(const options& how, std::string_view schedule, const std::function<void()>& body) {
    need_no_check();
    search s(how, body);
    detail::replay_director by(schedule);
    if (by.readable())
        s.pass(by, nullptr, nullptr);
    else
        s.refuse("no schedule: " + std::string(schedule));
    return s.finish();
}

}  // namespace tactus::inline v0::port::model
