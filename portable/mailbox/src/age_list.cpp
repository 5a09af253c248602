// SPDX-License-Identifier: Apache-2.0
//
// A list of places in an array, linked in both directions.
#include <tactus/mailbox/age_list.hpp>

namespace tactus::inline v0 {

std::uint32_t age_list::add(std::uint64_t number) noexcept {
    std::uint32_t at = free_;
    if (at != none) {
        free_ = places_[at].newer;
    } else {
        if (used_ == places_.capacity() &&
            !places_.grow(used_, [this](std::uint32_t i) { return places_[i]; }))
            return none;
        at = used_++;
    }
    places_[at] = {.number = number, .older = newest_, .newer = none};
    (newest_ != none ? places_[newest_].newer : oldest_) = at;
    newest_ = at;
    return at;
}

void age_list::unlink(std::uint32_t at) noexcept {
    node& n = places_[at];
    (n.older != none ? places_[n.older].newer : oldest_) = n.newer;
    (n.newer != none ? places_[n.newer].older : newest_) = n.older;
    n.number = no_number;
    n.newer = free_;
    free_ = at;
}

bool age_list::remove(std::uint32_t at, std::uint64_t number) noexcept {
    if (!has(at, number))
        return false;
    unlink(at);
    return true;
}

bool age_list::evict_oldest() noexcept {
    if (oldest_ == none)
        return false;
    unlink(oldest_);
    ++evicted_count_;
    return true;
}

}  // namespace tactus::inline v0
