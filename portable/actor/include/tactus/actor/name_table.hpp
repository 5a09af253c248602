// SPDX-License-Identifier: Apache-2.0
//
// Name table: which actor has which name among its siblings, both ways (AC-7).
//
// A name is taken when an actor is about to be spawned, and free again when its parent has taken
// note of its end. Actors without a name are not here: their name follows from their reference.
//
// Thread safety: any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

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
    /// The child has ended; nothing happens when it has no name.
    void release(mailbox_index child) noexcept;

    /// Names nothing: there is none.
    [[nodiscard]] mailbox_index find(mailbox_index parent, std::string_view name) noexcept;
    /// How many characters of the name were put into `to`, which has room for name_size_max; 0: it
    /// has none.
    [[nodiscard]] std::size_t name_of(mailbox_index child, char* to,
                                      mailbox_index& parent) noexcept;

    /// Names nothing: it has no name.
    [[nodiscard]] mailbox_index parent_of(mailbox_index child) noexcept;
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
        std::uint32_t size;
        [[nodiscard]] char* text() noexcept { return reinterpret_cast<char*>(this + 1); }
    };
    static constexpr std::size_t bucket_count = port::cache_line < 8 ? 8 : 4'096;

    [[nodiscard]] static std::uint32_t hash_of(mailbox_index parent,
                                               std::string_view name) noexcept;
    [[nodiscard]] static std::size_t bucket_of(mailbox_index child) noexcept {
        return (child.slot * 0x9e37'79b1U >> 12U) % bucket_count;
    }
    [[nodiscard]] entry** place_of(mailbox_index parent, std::string_view name) noexcept;
    void remove(entry** at) noexcept;

    memory_source& memory_;
    port::mutex mutex_;
    // Under the lock.
    entry* names_[bucket_count] = {};
    entry* children_[bucket_count] = {};
};

}  // namespace tactus::inline v0
