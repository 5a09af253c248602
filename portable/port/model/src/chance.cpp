// SPDX-License-Identifier: Apache-2.0
//
// Random, PCT and replayed decisions.
#include "chance.hpp"

#include <algorithm>
#include <cctype>

namespace tactus::inline v0::port::model::detail {

unsigned random_director::next_thread(const moment& m) {
    auto skip = random_.below(static_cast<std::uint64_t>(__builtin_popcount(m.runnable)));
    unsigned chosen = no_thread;
    for_each(m.runnable, [&](unsigned t) {
        if (skip-- == 0)
            chosen = t;
    });
    return chosen;
}

unsigned random_director::choose(unsigned count) {
    return static_cast<unsigned>(random_.below(count));
}

void pct_director::begin() {
    steps_max_ = std::max(steps_max_, step_);
    step_ = 0;
    lowest_ = changes_.size();
    for (std::uint64_t& at : changes_)
        at = random_.below(steps_max_);
    for (std::size_t i = 0; i < priorities_.size(); ++i)
        priorities_[i] = changes_.size() + 1 + i;
    random_.shuffle(std::span<std::uint64_t>(priorities_));
}

unsigned pct_director::next_thread(const moment& m) {
    if (m.previous != no_thread && std::ranges::find(changes_, step_) != changes_.end())
        priorities_[m.previous] = lowest_ > 0 ? lowest_-- : 0;
    ++step_;
    unsigned best = lowest(m.runnable);
    for_each(m.runnable, [&](unsigned t) {
        if (priorities_[t] > priorities_[best])
            best = t;
    });
    return best;
}

unsigned pct_director::choose(unsigned count) {
    return static_cast<unsigned>(random_.below(count));
}

replay_director::replay_director(std::string_view schedule) {
    std::size_t at = 0;
    const auto number = [&] {
        unsigned value = 0;
        while (at < schedule.size() && std::isdigit(static_cast<unsigned char>(schedule[at])) != 0)
            value = value * 10 + static_cast<unsigned>(schedule[at++] - '0');
        return value;
    };
    while (at < schedule.size()) {
        const char c = schedule[at++];
        if (c == '/') {
            decisions_.push_back({true, number()});
        } else if (c >= 'a' && c < static_cast<char>('a' + thread_count_max)) {
            const auto thread = static_cast<unsigned>(c - 'a');
            for (unsigned times = std::max(number(), 1u); times > 0; --times)
                decisions_.push_back({false, thread});
        } else {
            readable_ = false;
            return;
        }
    }
}

unsigned replay_director::next_thread(const moment& m) {
    if (position_ == decisions_.size() || diverged_)
        return usual_choice(m.runnable, m);
    const taken d = decisions_[position_++];
    if (d.is_choice || (m.runnable & bit(d.value)) == 0) {
        diverged_ = true;
        return usual_choice(m.runnable, m);
    }
    return d.value;
}

unsigned replay_director::choose(unsigned count) {
    if (position_ == decisions_.size() || diverged_)
        return 0;
    const taken d = decisions_[position_++];
    if (!d.is_choice || d.value >= count) {
        diverged_ = true;
        return 0;
    }
    return d.value;
}

}  // namespace tactus::inline v0::port::model::detail
