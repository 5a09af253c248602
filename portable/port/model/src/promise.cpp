// SPDX-License-Identifier: Apache-2.0
//
// Reads of the future (future_reads): a relaxed load returns a value that another thread stores
// later in the execution.
//
// Which values to try is learned: the search is run in passes, and a pass tries what earlier passes
// saw stored to the cell, until nothing new is seen. A load that takes such a value makes a
// promise. The first store of that value to the cell that does not happen after the load fulfils
// it. An execution is discarded when a promise is open at its end, or when something that happens
// after the load touches the cell before the promise is fulfilled: coherence would be broken.
//
// Values are tried whatever they depend on, so out-of-thin-air results are possible in theory, but
// only of values that some execution really stores. Pointers are not tried: they could lead to an
// object that does not exist yet.
#include "execution.hpp"

#include <algorithm>

namespace tactus::inline v0::port::model::detail {

std::size_t execution::promise_count(const location& l, order o) const {
    if (!how_.future_reads || learned_ == nullptr || o != order::relaxed || l.is_pointer)
        return 0;
    const auto known = learned_->find(l.identity);
    return known == learned_->end() ? 0 : known->second.size();
}

std::uint64_t execution::make_promise(std::uint32_t object, std::size_t which, where) {
    const std::uint64_t value = learned_->at(locations_[object]->identity)[which];
    promises_.push_back({current_, now(), object, value});
    return value;
}

/// The current thread accesses the cell: stores the value, or loads when there is none.
void execution::check_promises(std::uint32_t object, const std::uint64_t* stored) {
    for (std::size_t i = promises_.size(); i-- > 0;) {
        const promise p = promises_[i];
        if (p.object != object)
            continue;
        if (me().clock.covers(p.thread, p.step)) {
            discarded_ = true;
            director_.give_up();
            continue;
        }
        if (stored == nullptr || *stored != p.value)
            continue;
        location& l = *locations_[object];
        // The store that is about to be appended is what the load has read.
        l.seen.push_back({static_cast<std::uint8_t>(p.thread), p.step, l.newest() + 1});
        l.last_seen[p.thread] = l.newest() + 2;
        promises_.erase(promises_.begin() + static_cast<std::ptrdiff_t>(i));
    }
}

bool execution::learn(learned_values& learned) const {
    bool grew = false;
    for (std::uint32_t i = 0; i < location_count_; ++i) {
        const location& l = *locations_[i];
        if (l.kind != location_kind::atomic || l.is_pointer || l.stores.size() < 2)
            continue;
        std::vector<std::uint64_t>& values = learned[l.identity];
        for (std::size_t s = 1; s < l.stores.size(); ++s)
            if (std::ranges::find(values, l.stores[s].value) == values.end()) {
                values.push_back(l.stores[s].value);
                grew = true;
            }
    }
    return grew;
}

}  // namespace tactus::inline v0::port::model::detail
