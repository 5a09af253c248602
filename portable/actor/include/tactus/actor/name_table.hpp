// SPDX-License-Identifier: Apache-2.0
//
// Name table: which actor has which name among its siblings, both ways (AC-7).
//
// A name is taken when an actor is about to be spawned, and free again when its parent has taken
// note of its end. Actors without a name are not here: their name follows from their reference.
// The names of the last actors that ended may be kept, for messages to them (keep_ended).
//
// On a host the number of buckets doubles when there are more names than buckets; without memory
// for more the chains grow instead.
//
// Thread safety: any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

#include <tactus/base/memory_plan.hpp>
#include <tactus/base/memory_source.hpp>
#include <tactus/mailbox/mailbox_index.hpp>
#include <tactus/port/port.hpp>

namespace tactus::inline v0 {

class name_table {
public:
    explicit name_table(memory_source& memory) noexcept : memory_(memory) {}
    ~name_table();
    name_table(const name_table&) = delete;
    name_table& operator=(const name_table&) = delete;

    /// How many names of actors that have ended are kept. Before the first name.
    void keep_ended(std::uint32_t count) noexcept {
        on_host([&](auto& more) { more.ended_max = count; });
    }
    /// Frees the names of actors that have ended.
    void forget_ended() noexcept;
    /// For tests: the length of the longest chain.
    [[nodiscard]] std::size_t longest_chain() noexcept;

    /// What a name of that size takes.
    [[nodiscard]] static constexpr memory_plan plan(std::size_t name_size) noexcept {
        return memory_plan().block(sizeof(entry) + name_size, alignof(entry));
    }

    enum class taken : std::uint8_t { done, duplicate, no_memory };
    /// Keeps the name for a child that is about to be spawned.
    [[nodiscard]] taken take(mailbox_index parent, std::string_view name) noexcept;
    /// Whose it is. Requires: it was taken.
    void bind(mailbox_index parent, std::string_view name, mailbox_index child) noexcept;
    /// Was taken, and nobody came.
    void drop(mailbox_index parent, std::string_view name) noexcept;
    /// The child has ended, and the name is free; nothing happens when it has none.
    void release(mailbox_index child) noexcept;

    /// Names nothing: there is none.
    [[nodiscard]] mailbox_index find(mailbox_index parent, std::string_view name) noexcept;
    /// How many characters of the name were put into `to`, which has room for name_size_max; 0: it
    /// has none. Also of actors that have ended, while their names are kept.
    [[nodiscard]] std::size_t name_of(mailbox_index child, char* to,
                                      mailbox_index& parent) noexcept;

    /// Names nothing: it has no name, or has ended.
    [[nodiscard]] mailbox_index parent_of(mailbox_index child) noexcept;
    /// The same, also of actors that have ended, as name_of.
    [[nodiscard]] mailbox_index last_parent_of(mailbox_index child) noexcept;
    /// How many are found at a time.
    static constexpr std::size_t batch = port::cache_line < 8 ? 4 : 128;
    /// AC-7: children of `parent` whose names a pattern with * and ? matches, in the order of their
    /// references, from the first behind `after` on; how many of `found` they are. Looks at all
    /// names there are.
    [[nodiscard]] std::size_t matching(mailbox_index parent, std::string_view pattern,
                                       mailbox_index after,
                                       std::span<mailbox_index, batch> found) noexcept;

private:
    struct entry {
        entry* next_name;
        entry* next_child;
        mailbox_index parent;
        mailbox_index child;
        std::uint32_t hash;
        std::uint16_t size;
        std::uint16_t has_ended;  // not in the chain of its name
        [[nodiscard]] char* text() noexcept { return reinterpret_cast<char*>(this + 1); }
    };
    static constexpr bool grows = port::cache_line >= 8;
    static constexpr std::size_t first_buckets = grows ? 4'096 : 8;
    static constexpr std::size_t buckets_max = std::size_t{1} << 24U;

    /// What a host has beside the buckets that a table begins with.
    struct growth {
        entry** names = nullptr;
        entry** children = nullptr;
        std::size_t buckets = first_buckets;
        std::size_t count = 0;  // names, without those of ended actors
        // Of actors that have ended, the oldest first, linked by next_name.
        entry* ended = nullptr;
        entry* last_ended = nullptr;
        std::uint32_t ended_count = 0;
        std::uint32_t ended_max = 0;

        [[nodiscard]] std::size_t bucket_count() const noexcept { return buckets; }
        [[nodiscard]] entry** names_or(entry** first) noexcept {
            return names != nullptr ? names : first;
        }
        [[nodiscard]] entry** children_or(entry** first) noexcept {
            return children != nullptr ? children : first;
        }
    };
    struct no_growth {
        [[nodiscard]] static constexpr std::size_t bucket_count() noexcept { return first_buckets; }
        [[nodiscard]] static entry** names_or(entry** first) noexcept { return first; }
        [[nodiscard]] static entry** children_or(entry** first) noexcept { return first; }
    };
    /// Calls `f` with the growth, where there is one.
    template <class F>
    void on_host(F&& f) noexcept {
        if constexpr (grows)
            f(more_);
    }

    [[nodiscard]] static std::uint32_t hash_of(mailbox_index parent,
                                               std::string_view name) noexcept;
    [[nodiscard]] std::size_t buckets() const noexcept { return more_.bucket_count(); }
    [[nodiscard]] entry** names() noexcept { return more_.names_or(names_); }
    [[nodiscard]] entry** children() noexcept { return more_.children_or(children_); }
    [[nodiscard]] entry*& children_of(mailbox_index child) noexcept {
        return children()[(child.slot * 0x9e37'79b1U >> 8U) % buckets()];
    }
    [[nodiscard]] entry* entry_of(mailbox_index child) noexcept;
    void unlink_child(entry& e) noexcept;
    void free(entry& e) noexcept;
    void grow() noexcept;
    void free_buckets() noexcept;
    /// False: there was none.
    bool forget_oldest() noexcept;
    [[nodiscard]] entry** place_of(mailbox_index parent, std::string_view name) noexcept;
    void remove(entry** at) noexcept;

    memory_source& memory_;
    port::mutex mutex_;
    // Under the lock.
    entry* names_[first_buckets] = {};
    entry* children_[first_buckets] = {};
    [[no_unique_address]] std::conditional_t<grows, growth, no_growth> more_;
};

}  // namespace tactus::inline v0
