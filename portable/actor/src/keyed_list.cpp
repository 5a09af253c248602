// SPDX-License-Identifier: Apache-2.0
//
// A list, and chains of its nodes by hash.
#include <tactus/actor/keyed_list.hpp>

#include <cstddef>
#include <memory>
#include <utility>

namespace tactus::inline v0 {

namespace {

constexpr bool has_buckets = !port::has_interrupts;

}  // namespace

keyed_node* keyed_nodes::find(mailbox_index key, const keyed_node* after) const noexcept {
    keyed_node* at = after != nullptr ? after->older_ : newest_;
    const auto search = [&](auto&& next) {
        while (at != nullptr && at->key != key)
            at = next(*at);
        return at;
    };
    if constexpr (has_buckets) {
        if (index_.buckets != nullptr) {
            at = after != nullptr ? after->bucket_.next : bucket_of(index_, key);
            return search([](const auto& n) { return n.bucket_.next; });
        }
    }
    return search([](const auto& n) { return n.older_; });
}

void keyed_nodes::add(memory_source& memory, keyed_node& n) noexcept {
    n.newer_ = nullptr;
    n.older_ = newest_;
    if (newest_ != nullptr)
        newest_->newer_ = &n;
    newest_ = &n;
    if constexpr (has_buckets) {
        if (n.older_ == nullptr)
            index_.oldest = &n;
        ++index_.count;
        const std::uint32_t room =
            index_.buckets != nullptr ? std::uint32_t{1} << (32 - index_.shift) : few;
        if (index_.count > room)
            grow(memory);
        else if (index_.buckets != nullptr)
            put(index_, n);
    }
}

void keyed_nodes::remove(memory_source& memory, keyed_node& n) noexcept {
    (n.newer_ != nullptr ? n.newer_->older_ : newest_) = n.older_;
    if (n.older_ != nullptr)
        n.older_->newer_ = n.newer_;
    if constexpr (has_buckets) {
        if (index_.oldest == &n)
            index_.oldest = n.newer_;
        --index_.count;
        if (index_.buckets == nullptr)
            return;
        keyed_node** at = &bucket_of(index_, n.key);
        while (*at != &n)
            at = &(*at)->bucket_.next;
        *at = n.bucket_.next;
        if (index_.count == 0)
            free_buckets(memory);
    }
}

keyed_node* keyed_nodes::take_all(memory_source& memory) noexcept {
    if constexpr (has_buckets) {
        free_buckets(memory);
        index_ = {};
    }
    return std::exchange(newest_, nullptr);
}

void keyed_nodes::put(const hash_index& index, keyed_node& n) noexcept {
    if constexpr (has_buckets) {
        keyed_node*& bucket = bucket_of(index, n.key);
        n.bucket_.next = bucket;
        bucket = &n;
    }
}

// With the newest node, which has no bucket yet.
void keyed_nodes::grow(memory_source& memory) noexcept {
    if constexpr (has_buckets) {
        constexpr std::uint32_t first_shift = 32 - 5;
        hash_index larger = index_;
        larger.shift = index_.buckets != nullptr ? index_.shift - 1 : first_shift;
        const std::size_t count = std::size_t{1} << (32 - larger.shift);
        larger.buckets = static_cast<keyed_node**>(
            memory.allocate(count * sizeof(keyed_node*), alignof(keyed_node*)));
        if (larger.buckets == nullptr) {
            if (index_.buckets != nullptr)
                put(index_, *newest_);  // the chains grow
            return;
        }
        std::uninitialized_fill_n(larger.buckets, count, nullptr);
        for (keyed_node* n = newest_; n != nullptr; n = n->older_)
            put(larger, *n);
        free_buckets(memory);
        index_ = larger;
    }
}

void keyed_nodes::free_buckets(memory_source& memory) noexcept {
    if constexpr (has_buckets) {
        if (index_.buckets == nullptr)
            return;
        const std::size_t count = std::size_t{1} << (32 - index_.shift);
        memory.release(index_.buckets, count * sizeof(keyed_node*), alignof(keyed_node*));
        index_.buckets = nullptr;
    }
}

}  // namespace tactus::inline v0
