// SPDX-License-Identifier: Apache-2.0
//
// The queues that need memory: a ring and a heap of pointers.
#include <tactus/mailbox/user_queue.hpp>

#include <utility>

namespace tactus::inline v0 {
namespace {

constexpr const char* no_memory = "the mailbox's queue has no memory to grow";
constexpr const char* order_failed = "the order of the priority mailbox threw an exception";

}  // namespace

// ---- deque

bool envelope_deque::grow() noexcept {
    if (!ring_.grow(count_, [this](std::uint32_t i) { return ring_[place(i)]; }))
        return false;
    first_ = 0;
    return true;
}

bool envelope_deque::make_room() noexcept {
    if (broken() != nullptr)
        return false;
    if (count_ < ring_.capacity() || grow())
        return true;
    break_down(no_memory);
    return false;
}

bool envelope_deque::reserve(std::uint32_t count) noexcept {
    while (ring_.capacity() - count_ < count) {
        if (!grow())
            return false;
    }
    return true;
}

void envelope_deque::prepend(envelope_list& batch) noexcept {
    const std::uint32_t count = batch.size();
    first_ = (first_ - count) & (ring_.capacity() - 1);
    count_ += count;
    std::uint32_t i = 0;
    while (envelope* e = batch.pop())
        ring_[place(i++)] = e;
}

bool envelope_deque::push(envelope& e) noexcept {
    if (!make_room())
        return false;
    ring_[place(count_++)] = &e;
    return true;
}

bool envelope_deque::push_front(envelope& e) noexcept {
    if (!make_room())
        return false;
    first_ = (first_ - 1) & (ring_.capacity() - 1);
    ring_[first_] = &e;
    ++count_;
    return true;
}

envelope* envelope_deque::pop() noexcept {
    if (count_ == 0)
        return nullptr;
    envelope* e = ring_[first_];
    first_ = place(1);
    --count_;
    return e;
}

envelope* envelope_deque::pop_back() noexcept {
    return count_ == 0 ? nullptr : ring_[place(--count_)];
}

// ---- priority

bool priority_queue::before(const entry& a, const entry& b) noexcept {
    switch (order_.before(*a.message, *b.message)) {
    case message_order::answer::yes:
        return true;
    case message_order::answer::failed:
        break_down(order_failed);
        return false;
    case message_order::answer::no:
        break;
    }
    // Older first, unless the other one is to come before it.
    if (a.number > b.number)
        return false;
    const auto other_way = order_.before(*b.message, *a.message);
    if (other_way == message_order::answer::failed)
        break_down(order_failed);
    return other_way == message_order::answer::no;
}

bool priority_queue::push(envelope& e, std::uint32_t place) noexcept {
    if (broken() != nullptr)
        return false;
    if (count_ == heap_.capacity() &&
        !heap_.grow(count_, [this](std::uint32_t i) { return heap_[i]; })) {
        break_down(no_memory);
        return false;
    }
    // An order that fails on the way stops it where it is: nothing is lost.
    std::uint32_t at = count_++;
    heap_[at] = {&e, place, next_number_++};
    while (at > 0) {
        const std::uint32_t parent = (at - 1) / 2;
        if (!before(heap_[at], heap_[parent]))
            break;
        std::swap(heap_[at], heap_[parent]);
        at = parent;
    }
    return true;
}

envelope* priority_queue::take_unreadable(aged& was) noexcept {
    if (broken() != order_failed || count_ == 0)
        return nullptr;
    const entry& last = heap_[--count_];
    was = {last.place, last.number};
    return last.message;
}

envelope* priority_queue::pop(aged& was) noexcept {
    if (count_ == 0)
        return nullptr;
    const entry first = heap_[0];
    was = {first.place, first.number};
    heap_[0] = heap_[--count_];
    sift_down(0);
    return first.message;
}

void priority_queue::sift_down(std::uint32_t at) noexcept {
    for (;;) {
        std::uint32_t least = 2 * at + 1;
        if (least >= count_)
            return;
        if (least + 1 < count_ && before(heap_[least + 1], heap_[least]))
            ++least;
        if (!before(heap_[least], heap_[at]))
            return;
        std::swap(heap_[at], heap_[least]);
        at = least;
    }
}

void priority_queue::restore() noexcept {
    for (std::uint32_t i = count_ / 2; i-- > 0;)
        sift_down(i);
}

}  // namespace tactus::inline v0
