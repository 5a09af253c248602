// SPDX-License-Identifier: Apache-2.0
//
// Puts what a user holds of its timers (handles, iterators, pointers) into another order, so that a
// loop over it reads memory in sequence: the figures are the timer queue's, not the user's table's.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace bench {

template <class T>
void permute(std::vector<T>& items, std::span<const std::uint32_t> order) {
    std::vector<T> shuffled;
    shuffled.reserve(items.size());
    for (const std::uint32_t i : order)
        shuffled.push_back(items[i]);
    items = std::move(shuffled);
}

}  // namespace bench
