// SPDX-License-Identifier: Apache-2.0
//
// Depot and caches: free nodes of one type, fast for each thread, shared by all.
//
// Nodes live in one memory region and never move. A thread takes and gives through a cache: two
// magazines, lists of at most `magazine_size` free nodes. Only when both are empty, or both full,
// does it go to the depot, under a lock, for a whole magazine: once per 128 nodes or so. What a
// thread frees it uses next, while it is warm.
//
// What lies in one thread's magazines another cannot have: a pool says it has no more although
// there are. So a magazine should be small against the pool (shared_magazine), and a pool of a few
// nodes has caches that keep nothing (size 0): each node goes to the depot alone.
//
// A node lends two links: `next`, and `magazine_link()`, which threads full magazines in the depot.
//
// Invariants
//   D1  every constructed node is in use, in one cache, or in the depot, and in one of them once
//   D2  a full magazine in the depot has exactly magazine_size nodes
//
// Thread safety: the depot's operations may be called from any thread; a cache has one owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>

#include <tactus/base/check.hpp>
#include <tactus/base/memory_region.hpp>
#include <tactus/port/port.hpp>

namespace tactus::inline v0 {

/// The largest magazine, up to `wanted`, with which `others` caches keep at most a quarter of
/// `capacity` nodes from one that asks: each has two.
[[nodiscard]] constexpr std::uint32_t shared_magazine(std::uint32_t capacity, std::uint32_t others,
                                                      std::uint32_t wanted) noexcept {
    if (others == 0)
        return wanted;
    const std::uint64_t most = std::uint64_t{capacity} / (std::uint64_t{8} * others);
    return most < wanted ? static_cast<std::uint32_t>(most) : wanted;
}

template <class Node>
struct magazine {
    Node* first = nullptr;  // linked by next, the last one's is null
    std::uint32_t count = 0;
};

/// `Links` says where a node keeps them: static get(Node&), set(Node&, Node*) for next, and
/// get_magazine, set_magazine.
template <class Node, class Links>
class depot {
public:
    struct options {
        memory_region* memory = nullptr;    // outlives the depot
        std::uint32_t capacity = 0;         // nodes it may ever have
        std::uint32_t magazine_size = 128;  // 0 for pools that must be usable to the last node
    };

    explicit depot(const options& o) noexcept
        : memory_(o.memory),
          nodes_(reinterpret_cast<Node*>(o.memory->data())),
          capacity_(o.capacity),
          cached_max_(o.magazine_size),
          magazine_size_(o.magazine_size > 0 ? o.magazine_size : 1) {
        TACTUS_CHECK(1, o.memory->size_max() / sizeof(Node) >= o.capacity);
        TACTUS_CHECK(2, reinterpret_cast<std::uintptr_t>(nodes_) % alignof(Node) == 0);
    }
    depot(const depot&) = delete;
    depot& operator=(const depot&) = delete;

    [[nodiscard]] Node* data() const noexcept { return nodes_; }
    [[nodiscard]] std::uint32_t capacity() const noexcept { return capacity_; }
    /// Nodes a cache keeps in one magazine; 0: none.
    [[nodiscard]] std::uint32_t cached_max() const noexcept { return cached_max_; }
    [[nodiscard]] std::uint32_t index_of(const Node& node) const noexcept {
        return static_cast<std::uint32_t>(&node - nodes_);
    }
    /// Nodes that were ever constructed; they stay so.
    [[nodiscard]] std::uint32_t constructed_count() const noexcept {
        return fresh_.load(constructed.acquire());
    }

    /// Nodes that it could give, those of caches not among them. It goes through its magazines.
    [[nodiscard]] std::uint32_t free_count() noexcept {
        const port::lock_guard held(mutex_);
        std::uint32_t count = capacity_ - fresh_.load(std::memory_order_relaxed) + loose_.count;
        for (Node* first = full_; first != nullptr; first = Links::get_magazine(*first))
            count += magazine_size_;
        return count;
    }

    /// A magazine of at least one node, or an empty one when nothing is left.
    [[nodiscard]] magazine<Node> take() noexcept {
        const port::lock_guard held(mutex_);
        if (full_ != nullptr) {
            Node* first = full_;
            full_ = Links::get_magazine(*first);
            return {first, magazine_size_};
        }
        if (loose_.first != nullptr)
            return cut_loose();
        return take_fresh();
    }

    void give(magazine<Node> m) noexcept {
        if (m.first == nullptr)
            return;
        const port::lock_guard held(mutex_);
        if (m.count == magazine_size_) {
            Links::set_magazine(*m.first, full_);
            full_ = m.first;
            return;
        }
        Node* last = m.first;
        while (Links::get(*last) != nullptr)
            last = Links::get(*last);
        Links::set(*last, loose_.first);
        loose_.first = m.first;
        loose_.count += m.count;
    }

private:
    TACTUS_CHECK_MODULE("depot");

    // "constructed": a node's construction happens before whoever learns from the count that it is
    // there looks at it.
    static constexpr port::edge constructed{"depot-constructed"};

    [[nodiscard]] magazine<Node> cut_loose() noexcept {
        magazine<Node> m = loose_;
        if (m.count <= magazine_size_) {
            loose_ = {};
            return m;
        }
        Node* last = m.first;
        for (std::uint32_t n = 1; n < magazine_size_; ++n)
            last = Links::get(*last);
        loose_ = {Links::get(*last), m.count - magazine_size_};
        Links::set(*last, nullptr);
        return {m.first, magazine_size_};
    }

    [[nodiscard]] magazine<Node> take_fresh() noexcept {
        const std::uint32_t from =
            fresh_.load(std::memory_order_relaxed);  // written under the lock
        std::uint32_t to = capacity_ - from < magazine_size_ ? capacity_ : from + magazine_size_;
        if (memory_->size() / sizeof(Node) < to && !grow(to))
            to = static_cast<std::uint32_t>(memory_->size() / sizeof(Node));
        if (to <= from)
            return {};
        // Linked upwards: the first taken is the lowest, whatever the machine.
        for (std::uint32_t i = from; i < to; ++i) {
            Node* node = ::new (&nodes_[i]) Node();
            Links::set(*node, i + 1 < to ? &nodes_[i + 1] : nullptr);
        }
        fresh_.store(to, constructed.release());
        return {&nodes_[from], to - from};
    }

    /// Asks for a quarter more than there is, so that a growing pool asks rarely; where that is too
    /// much, for what is needed now.
    [[nodiscard]] bool grow(std::uint32_t at_least) noexcept {
        const std::size_t now = memory_->size() / sizeof(Node);
        std::size_t wanted = now + now / 4;
        if (wanted < at_least)
            wanted = at_least;
        if (wanted > capacity_)
            wanted = capacity_;
        return memory_->resize(wanted * sizeof(Node)) || memory_->resize(at_least * sizeof(Node));
    }

    // Constant after construction.
    memory_region* memory_;
    Node* nodes_;
    std::uint32_t capacity_;
    std::uint32_t cached_max_;
    std::uint32_t magazine_size_;  // of those that go to and fro: at least 1

    // Written under the lock.
    port::atomic<std::uint32_t> fresh_{0};
    port::mutex mutex_;
    Node* full_ = nullptr;
    magazine<Node> loose_;
};

/// One thread's magazines. Owner thread only.
template <class Node, class Links>
class depot_cache {
public:
    using depot_type = depot<Node, Links>;

    depot_cache() = default;
    explicit depot_cache(depot_type& d) noexcept : depot_(&d) {}
    depot_cache(const depot_cache&) = delete;
    depot_cache& operator=(const depot_cache&) = delete;

    /// A node, or nullptr when nothing is left.
    [[nodiscard]] Node* take() noexcept {
        Node* node = current_.first;
        if (node == nullptr) [[unlikely]] {
            if (!refill())
                return nullptr;
            node = current_.first;
        }
        current_.first = Links::get(*node);
        --current_.count;
        return node;
    }

    void give(Node& node) noexcept {
        if (current_.count >= depot_->cached_max()) [[unlikely]] {
            if (depot_->cached_max() == 0) {
                Links::set(node, nullptr);
                depot_->give({&node, 1});
                return;
            }
            make_room();
        }
        Links::set(node, current_.first);
        current_.first = &node;
        ++current_.count;
    }

    /// Gives everything back to the depot.
    void flush() noexcept {
        if (depot_ == nullptr)
            return;
        depot_->give(current_);
        depot_->give(spare_);
        current_ = {};
        spare_ = {};
    }
    /// Serves another depot from now on. Requires: flushed.
    void attach(depot_type* d) noexcept { depot_ = d; }

private:
    [[gnu::noinline]] bool refill() noexcept {
        if (spare_.first != nullptr) {
            current_ = spare_;
            spare_ = {};
            return true;
        }
        current_ = depot_->take();
        return current_.first != nullptr;
    }

    [[gnu::noinline]] void make_room() noexcept {
        depot_->give(spare_);
        spare_ = current_;
        current_ = {};
    }

    magazine<Node> current_;
    magazine<Node> spare_;
    depot_type* depot_ = nullptr;
};

}  // namespace tactus::inline v0
