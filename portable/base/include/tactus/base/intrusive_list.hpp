// SPDX-License-Identifier: Apache-2.0
//
// Intrusive doubly linked list: the elements carry the links, so linking never allocates and
// unlinking is O(1).
//
// The list is a ring through its own sentinel; an element is in at most one list per hook. The hook
// knows whether it is linked, and unlinks itself when destroyed, so an element can die without
// leaving a dangling neighbour.
//
// Invariants
//   L1  hook.next_ == nullptr exactly when the element is in no list
//   L2  for every linked hook h: h.next_->prev_ == &h and h.prev_->next_ == &h
//
// Thread safety: none; the list and its elements have one owner.
#pragma once

#include <cstddef>
#include <iterator>

#include <tactus/base/check.hpp>

namespace tactus::inline v0 {

/// The links of one element. Derive from it; give a Tag of your own to be in several lists at once.
template <class Tag = void>
class list_hook {
public:
    list_hook() = default;
    list_hook(const list_hook&) = delete;
    list_hook& operator=(const list_hook&) = delete;
    ~list_hook() { unlink(); }

    [[nodiscard]] bool linked() const noexcept { return next_ != nullptr; }

    /// Leaves its list, if it is in one.
    void unlink() noexcept {
        if (next_ == nullptr)
            return;
        next_->prev_ = prev_;
        prev_->next_ = next_;
        next_ = nullptr;
        prev_ = nullptr;
    }

private:
    template <class T, class U>
    friend class intrusive_list;

    list_hook* next_ = nullptr;
    list_hook* prev_ = nullptr;
};

template <class T, class Tag = void>
class intrusive_list {
    using hook = list_hook<Tag>;

public:
    intrusive_list() noexcept {
        ring_.next_ = &ring_;
        ring_.prev_ = &ring_;
    }
    intrusive_list(const intrusive_list&) = delete;
    intrusive_list& operator=(const intrusive_list&) = delete;
    /// The elements stay alive and are left unlinked.
    ~intrusive_list() { clear(); }

    [[nodiscard]] bool empty() const noexcept { return ring_.next_ == &ring_; }

    /// Requires: not empty.
    [[nodiscard]] T& front() noexcept {
        TACTUS_CHECK(1, !empty());
        return element(ring_.next_);
    }
    [[nodiscard]] T& back() noexcept {
        TACTUS_CHECK(2, !empty());
        return element(ring_.prev_);
    }

    /// Requires: the element is in no list (through this hook).
    void push_back(T& item) noexcept { insert_before(&ring_, item); }
    void push_front(T& item) noexcept { insert_before(ring_.next_, item); }

    /// Takes the first element out, or nullptr when empty.
    [[nodiscard]] T* pop_front() noexcept {
        if (empty())
            return nullptr;
        T& first = element(ring_.next_);
        static_cast<hook&>(first).unlink();
        return &first;
    }

    /// Moves all elements of `other` behind ours, in order, in O(1).
    void splice_back(intrusive_list& other) noexcept {
        if (&other == this || other.empty())
            return;
        hook* first = other.ring_.next_;
        hook* last = other.ring_.prev_;
        other.ring_.next_ = &other.ring_;
        other.ring_.prev_ = &other.ring_;
        first->prev_ = ring_.prev_;
        ring_.prev_->next_ = first;
        last->next_ = &ring_;
        ring_.prev_ = last;
    }

    void clear() noexcept {
        while (!empty())
            ring_.next_->unlink();
    }

    class iterator {
    public:
        using iterator_category = std::forward_iterator_tag;
        using value_type = T;
        using difference_type = std::ptrdiff_t;
        using pointer = T*;
        using reference = T&;

        iterator() = default;
        reference operator*() const noexcept { return element(at_); }
        pointer operator->() const noexcept { return &element(at_); }
        iterator& operator++() noexcept {
            at_ = at_->next_;
            return *this;
        }
        iterator operator++(int) noexcept {
            iterator before = *this;
            ++*this;
            return before;
        }
        friend bool operator==(const iterator&, const iterator&) = default;

    private:
        friend class intrusive_list;
        explicit iterator(hook* at) noexcept : at_(at) {}
        hook* at_ = nullptr;
    };

    [[nodiscard]] iterator begin() noexcept { return iterator(ring_.next_); }
    [[nodiscard]] iterator end() noexcept { return iterator(&ring_); }

private:
    TACTUS_CHECK_MODULE("intrusive_list");

    static T& element(hook* h) noexcept { return static_cast<T&>(*h); }

    void insert_before(hook* at, T& item) noexcept {
        hook& h = item;
        TACTUS_CHECK(3, !h.linked());
        h.next_ = at;
        h.prev_ = at->prev_;
        at->prev_->next_ = &h;
        at->prev_ = &h;
    }

    hook ring_;
};

}  // namespace tactus::inline v0
