// SPDX-License-Identifier: Apache-2.0
//
// The decisions of the exhaustive search; which ones a race adds is in reduction.cpp.
#include "exhaustive.hpp"

namespace tactus::inline v0::port::model::detail {
namespace {

/// Tells operations apart; never 0.
std::uint32_t print_of(const operation& o) noexcept {
    return (o.at.line() << 8 | static_cast<std::uint32_t>(o.kind)) + 1;
}

}  // namespace

void exhaustive::begin() {
    position_ = 0;
    fresh_ = decisions_.empty() ? 0 : decisions_.size() - 1;
    while (fresh_ > 0 && decisions_[fresh_].is_choice)
        --fresh_;  // the step that the choice belongs to has another effect now
    step_decision_ = 0;
    block_ = 0;
    preemptions_ = 0;
    sleep_ = 0;
    free_running_ = false;
    redundant_ = false;
    events_.clear();
    pasts_ = {};
}

thread_mask exhaustive::affordable(const decision& d, thread_mask threads) const noexcept {
    if (!bound_ || d.preemptions < *bound_ || d.previous == no_thread || d.free_switch)
        return threads;
    return static_cast<thread_mask>(threads & bit(d.previous));
}

void exhaustive::add_decision(const moment& m) {
    decision d;
    d.free_switch = m.free_switch;
    d.previous = static_cast<std::uint8_t>(m.previous);
    d.preemptions = static_cast<std::uint16_t>(preemptions_);
    d.runnable = m.runnable;
    d.sleep = sleep_;
    const thread_mask candidates = without(affordable(d, m.runnable), sleep_);
    if (candidates == 0) {
        // Only the bound keeps those away that do not sleep.
        if (without(m.runnable, sleep_) != 0 && !decisions_.empty())
            decisions_.back().branch_cut = true;
        redundant_ = true;
        free_running_ = true;
        return;
    }
    d.chosen = static_cast<std::uint16_t>(usual_choice(candidates, m));
    d.wanted = reduces_ ? bit(d.chosen) : m.runnable;
    decisions_.push_back(d);
}

unsigned exhaustive::next_thread(const moment& m) {
    if (!free_running_ && position_ == decisions_.size())
        add_decision(m);
    if (free_running_)
        return usual_choice(m.runnable, m);
    decision& d = decisions_[position_];
    const bool same = !d.is_choice && d.runnable == m.runnable;
    const std::uint32_t print = same ? print_of(m.pending[d.chosen]) : 0;
    if (!same || (d.print != 0 && d.print != print)) {
        diverged_ = true;
        free_running_ = true;
        return usual_choice(m.runnable, m);
    }
    d.print = print;
    sleep_ = reduces_ ? static_cast<thread_mask>(d.sleep | d.covered) : thread_mask{0};
    step_decision_ = static_cast<std::uint32_t>(position_);
    if (d.chosen != d.previous || d.free_switch)
        block_ = step_decision_;
    d.block = block_;
    preemptions_ = d.preemptions + cost(d, d.chosen);
    ++position_;
    return d.chosen;
}

unsigned exhaustive::choose(unsigned count) {
    if (free_running_)
        return 0;
    if (position_ == decisions_.size()) {
        decision d;
        d.is_choice = true;
        d.count = static_cast<std::uint16_t>(count);
        decisions_.push_back(d);
    }
    const decision& d = decisions_[position_];
    if (!d.is_choice || d.count != count) {
        diverged_ = true;
        free_running_ = true;
        return 0;
    }
    ++position_;
    return d.chosen;
}

bool exhaustive::advance() {
    while (!decisions_.empty()) {
        decision& d = decisions_.back();
        if (!d.is_choice && !d.branch_cut)
            d.covered |= bit(d.chosen);
        d.cut = d.cut || d.branch_cut;
        d.branch_cut = false;
        if (d.is_choice) {
            if (++d.chosen < d.count)
                return true;
        } else {
            d.done |= bit(d.chosen);
            const thread_mask left = without(static_cast<thread_mask>(d.wanted & d.runnable),
                                             static_cast<thread_mask>(d.done | d.sleep));
            if (const thread_mask can = affordable(d, left); can != 0) {
                d.chosen = static_cast<std::uint16_t>(lowest(can));
                d.print = 0;
                return true;
            }
            d.cut = d.cut || left != 0;
        }
        const bool cut = d.cut;
        decisions_.pop_back();
        if (!decisions_.empty())
            decisions_.back().branch_cut |= cut;
    }
    return false;
}

}  // namespace tactus::inline v0::port::model::detail
