// SPDX-License-Identifier: Apache-2.0
//
// The decisions of the exhaustive search; which ones a race adds is in reduction.cpp.
#include "exhaustive.hpp"

namespace tactus::inline v0::port::model::detail {

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
    if (d.is_choice || d.runnable != m.runnable) {
        diverged_ = true;
        free_running_ = true;
        return usual_choice(m.runnable, m);
    }
    sleep_ = sleeps() ? static_cast<thread_mask>(d.sleep | d.done) : thread_mask{0};
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
        if (d.is_choice) {
            if (++d.chosen < d.count)
                return true;
        } else {
            d.done |= bit(d.chosen);
            const thread_mask left =
                without(affordable(d, static_cast<thread_mask>(d.wanted & d.runnable)),
                        static_cast<thread_mask>(d.done | d.sleep));
            if (left != 0) {
                d.chosen = static_cast<std::uint16_t>(lowest(left));
                return true;
            }
        }
        decisions_.pop_back();
    }
    return false;
}

}  // namespace tactus::inline v0::port::model::detail
