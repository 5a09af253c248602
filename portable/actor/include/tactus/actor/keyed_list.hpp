// SPDX-License-Identifier: Apache-2.0
//
// Keyed list: what one actor keeps about each of many others, found by their index.
//
// An intrusive list, the newest first. On a host a long list also has hash buckets, so that finding
// and removing one takes the same time however many there are. They are made of the given memory,
// doubled as the list grows and freed with its last node; without memory for them the list is
// searched one by one. A device has few actors and no buckets.
//
// Thread safety: none; the list and its nodes have one owner.
#pragma once

#include <cstdint>
#include <type_traits>

#include <tactus/base/intrusive_list.hpp>
#include <tactus/base/memory_source.hpp>
#include <tactus/mailbox/mailbox_index.hpp>
#include <tactus/port/port.hpp>

namespace tactus::inline v0 {

/// One element. Derive from it; in at most one list.
class keyed_node {
public:
    keyed_node() = default;
    keyed_node(const keyed_node&) = delete;
    keyed_node& operator=(const keyed_node&) = delete;

    mailbox_index key;  // constant while it is in a list

private:
    friend class keyed_nodes;
    struct bucket_link {
        keyed_node* next = nullptr;
    };
    struct no_link {
        static inline keyed_node* next = nullptr;  // named by code that a device leaves out
    };

    keyed_node* older_ = nullptr;
    keyed_node* newer_ = nullptr;
    [[no_unique_address]] std::conditional_t<port::has_interrupts, no_link, bucket_link> bucket_;
};

/// The list without the type of its nodes.
class keyed_nodes {
public:
    keyed_nodes() = default;
    keyed_nodes(const keyed_nodes&) = delete;
    keyed_nodes& operator=(const keyed_nodes&) = delete;

    [[nodiscard]] keyed_node* newest() const noexcept { return newest_; }
    [[nodiscard]] static keyed_node* older(const keyed_node& n) noexcept { return n.older_; }
    [[nodiscard]] static keyed_node* newer(const keyed_node& n) noexcept { return n.newer_; }
    /// Null: there is none. `after`: another one with that key.
    [[nodiscard]] keyed_node* find(mailbox_index key,
                                   const keyed_node* after = nullptr) const noexcept;
    /// The first that was added and is in the list still. Hosts only.
    [[nodiscard]] keyed_node* oldest() const noexcept { return index_.oldest; }
    /// Requires: it is in no list, and has its key.
    void add(memory_source& memory, keyed_node& n) noexcept;
    void remove(memory_source& memory, keyed_node& n) noexcept;
    /// The newest; the list is empty then, and its nodes still know their neighbours.
    [[nodiscard]] keyed_node* take_all(memory_source& memory) noexcept;

private:
    struct buckets_of_host {
        keyed_node** buckets = nullptr;
        std::uint32_t shift = 0;  // of the hash; there are 2^(32 - shift) buckets
        std::uint32_t count = 0;  // of nodes
        keyed_node* oldest = nullptr;
    };
    struct no_buckets {
        static inline keyed_node** buckets = nullptr;  // as no_link
        static inline std::uint32_t shift = 0;
        static inline std::uint32_t count = 0;
        static inline keyed_node* oldest = nullptr;
    };
    using hash_index = std::conditional_t<port::has_interrupts, no_buckets, buckets_of_host>;
    static constexpr std::uint32_t few = 16;  // are searched one by one

    [[nodiscard]] static keyed_node*& bucket_of(const hash_index& index,
                                                mailbox_index key) noexcept {
        return index.buckets[(key.slot * 0x9e37'79b1U) >> index.shift];
    }
    static void put(const hash_index& index, keyed_node& n) noexcept;
    void grow(memory_source& memory) noexcept;
    void free_buckets(memory_source& memory) noexcept;

    keyed_node* newest_ = nullptr;
    [[no_unique_address]] hash_index index_;
};

/// A node that may also wait in a queue, in the order in which it began to.
struct waiting_node : keyed_node, list_hook<> {};
using waiting_list = intrusive_list<waiting_node>;

template <class T>
class keyed_list : private keyed_nodes {
public:
    using keyed_nodes::add;
    using keyed_nodes::remove;

    [[nodiscard]] T* newest() const noexcept { return typed(keyed_nodes::newest()); }
    [[nodiscard]] T* oldest() const noexcept { return typed(keyed_nodes::oldest()); }
    [[nodiscard]] static T* older(const T& n) noexcept { return typed(keyed_nodes::older(n)); }
    [[nodiscard]] static T* newer(const T& n) noexcept { return typed(keyed_nodes::newer(n)); }
    [[nodiscard]] T* take_all(memory_source& memory) noexcept {
        return typed(keyed_nodes::take_all(memory));
    }
    [[nodiscard]] T* find(mailbox_index key, const T* after = nullptr) const noexcept {
        return typed(keyed_nodes::find(key, after));
    }

private:
    [[nodiscard]] static T* typed(keyed_node* n) noexcept { return static_cast<T*>(n); }
};

}  // namespace tactus::inline v0
