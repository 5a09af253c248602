// SPDX-License-Identifier: Apache-2.0
//
// Age list: which messages of a priority queue may be evicted, the oldest first.
//
// The queue orders its messages by the user's order, which must not run under a lock, so a sender
// cannot take one out of it. The sender takes it out of this list instead, and the owner drops it
// when it meets it in the queue. A message is named by its place and its number of arrival: places
// are used again, numbers are not.
//
// Thread safety: under the gate's lock, but for the constructor and the destructor. A device has
// no such list (see mailbox_block).
#pragma once

#include <cstdint>

#include <tactus/mailbox/growing_array.hpp>

namespace tactus::inline v0 {

class age_list {
public:
    static constexpr std::uint32_t none = 0xffff'ffff;

    explicit age_list(memory_source& memory) noexcept : places_(memory) {}

    /// The newest message. Its place; `none` without memory for it.
    [[nodiscard]] std::uint32_t add(std::uint64_t number) noexcept;
    [[nodiscard]] bool has(std::uint32_t place, std::uint64_t number) noexcept {
        return places_[place].number == number;
    }
    /// False: it was evicted.
    [[nodiscard]] bool remove(std::uint32_t place, std::uint64_t number) noexcept;
    /// False: there is none.
    [[nodiscard]] bool evict_oldest() noexcept;

    /// Evicted messages that the owner has not dropped.
    [[nodiscard]] std::uint32_t evicted_count() const noexcept { return evicted_count_; }
    void note_dropped() noexcept { --evicted_count_; }

private:
    static constexpr std::uint64_t no_number = ~std::uint64_t{0};

    struct node {
        std::uint64_t number;  // no_number: free
        std::uint32_t older;
        std::uint32_t newer;  // of a free one: the next that is free
    };
    void unlink(std::uint32_t at) noexcept;

    growing_array<node> places_;
    std::uint32_t used_ = 0;  // places that were ever used
    std::uint32_t free_ = none;
    std::uint32_t oldest_ = none;
    std::uint32_t newest_ = none;
    std::uint32_t evicted_count_ = 0;
};

}  // namespace tactus::inline v0
