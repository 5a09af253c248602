// SPDX-License-Identifier: Apache-2.0
//
// Registry: the slots of one system, by number, with generations (RG).
//
// An index {slot, generation} finds its slot in O(1) without a lock, or nothing: unregistering
// raises the generation. A slot whose generation would wrap is retired and never used again. Slot
// numbers start at 0; generations start at `first_generation`, so that a system that takes over the
// memory of an earlier one goes on where that one ended.
//
// Invariants
//   G1  a slot's generation is raised before its mailbox refuses senders, and the mailbox is opened
//       again with that generation; so an index matches at most one life
//   G2  generation 0 matches nothing
//
// Thread safety: any thread; each takes and gives slots through a cache of its own.
#pragma once

#include <cstdint>

#include <tactus/dispatch/slot.hpp>
#include <tactus/mailbox/depot.hpp>

namespace tactus::inline v0 {

using slot_depot = depot<slot, slot_links>;
using slot_cache = depot_cache<slot, slot_links>;

class registry {
public:
    struct options {
        memory_region* memory = nullptr;  // aligned as a slot is
        std::uint32_t capacity = 0;       // at most 2^26
        std::uint32_t magazine_size = 32;
        std::uint32_t system_number = 1;
        std::uint32_t first_generation = 1;
    };
    explicit registry(const options& o) noexcept;
    /// Leaves nothing poisoned: the memory is somebody else's again.
    ~registry();
    registry(const registry&) = delete;
    registry& operator=(const registry&) = delete;

    /// A slot, closed, with the generation of its next life; nullptr when the capacity is used up.
    [[nodiscard]] slot* take(slot_cache& cache) noexcept {
        slot* s = cache.take();
        if (s == nullptr) [[unlikely]]
            return nullptr;
        if (poisons_) [[unlikely]]
            unpoison(*s);
        return s;
    }
    /// The generation a slot that was taken will be opened with.
    [[nodiscard]] std::uint32_t next_life_of(const slot& s) const noexcept {
        return s.generation() == 0 ? first_generation_ : s.generation();
    }
    /// Opens a slot that was taken: from now on its index finds it.
    mailbox_index open(slot& s, bool scheduled) noexcept {
        s.open(next_life_of(s), scheduled);
        return index_of(s);
    }

    /// Beyond are the marks of mailboxes without the short way.
    static constexpr std::uint32_t generation_max = life::generation_max;
    /// The generation of a slot's next life: 0, which matches nothing, when this was its last.
    [[nodiscard]] static constexpr std::uint32_t next_generation(std::uint32_t now) noexcept {
        return life::next(now);
    }
    /// Takes a slot back. Requires: its mailbox was finalized with next_generation.
    void give(slot& s, slot_cache& cache) noexcept {
        if (s.generation() == 0) [[unlikely]] {
            retired_.fetch_add(1, std::memory_order_relaxed);  // a count
            return;
        }
        give_unopened(s, cache);
    }
    /// Takes back a slot that was taken and not opened.
    void give_unopened(slot& s, slot_cache& cache) noexcept {
        if (poisons_) [[unlikely]]
            poison(s);
        cache.give(s);
    }

    /// The slot of an index, or nullptr when the index is stale, foreign or made up.
    [[nodiscard]] slot* find(mailbox_index index) const noexcept {
        if (!index.valid() || index.system_number() != system_number_ ||
            index.slot_number() >= depot_.constructed_count())
            return nullptr;
        slot& s = depot_.data()[index.slot_number()];
        return s.generation() == index.generation ? &s : nullptr;
    }
    [[nodiscard]] slot& at(std::uint32_t number) const noexcept { return depot_.data()[number]; }
    [[nodiscard]] mailbox_index index_of(const slot& s) const noexcept {
        return mailbox_index::make(system_number_, number_of(s), s.generation());
    }
    [[nodiscard]] std::uint32_t number_of(const slot& s) const noexcept {
        return depot_.index_of(s);
    }

    [[nodiscard]] slot_depot& shared() noexcept { return depot_; }
    [[nodiscard]] std::uint32_t constructed_count() const noexcept {
        return depot_.constructed_count();
    }
    [[nodiscard]] std::uint32_t retired_count() const noexcept {
        return retired_.load(std::memory_order_relaxed);
    }
    /// Where generations are, at the furthest. Requires: nobody uses the registry.
    [[nodiscard]] std::uint32_t last_generation() const noexcept;

private:
    TACTUS_CHECK_MODULE("registry");

    static void poison(slot& s) noexcept;
    static void unpoison(slot& s) noexcept;

    slot_depot depot_;
    std::uint32_t system_number_;
    std::uint32_t first_generation_;
    bool poisons_;
    port::atomic<std::uint32_t> retired_{0};
};

}  // namespace tactus::inline v0
