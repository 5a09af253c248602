// SPDX-License-Identifier: Apache-2.0
//
// User queues: where an owner keeps the messages it has taken from its inbox, in the order in which
// they will be handled (MB).
//
// Senders never come here: every kind of mailbox has the same inbox, and the owner moves what it
// finds there into the queue of its kind. So nothing is shared, comparators run without a lock, and
// putting messages before others (stash, prepend) is ordinary single-threaded code.
//
//   envelope_list    as they came; linked through the envelopes, needs no memory
//   envelope_deque   as they came, and from both ends; a ring of pointers that grows
//   priority_queue   the least first, by the user's order; among equals as they came
//   control_queue    control messages first; two lists
//
// A queue that cannot go on (no memory, an order that throws) reports it through broken() and takes
// nothing until it is mended: its actor fails, and what has lost its order becomes dead letters
// (RG-4). It loses nothing itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <tactus/base/memory_source.hpp>
#include <tactus/mailbox/age_list.hpp>
#include <tactus/mailbox/envelope.hpp>
#include <tactus/mailbox/growing_array.hpp>
#include <tactus/mailbox/mailbox_options.hpp>
#include <tactus/port/port.hpp>

namespace tactus::inline v0 {

/// Which of two messages is handled first. The kernel's side; users write a class with
/// `bool before(envelope&, envelope&)` and wrap it in message_order_of.
class message_order {
public:
    enum class answer : std::uint8_t { no, yes, failed };
    /// Is `a` to be handled before `b`? failed: the user's code threw.
    [[nodiscard]] virtual answer before(envelope& a, envelope& b) noexcept = 0;

protected:
    ~message_order() = default;
};

/// Compiled where the user's code is, so that what it throws is caught (UP-4).
template <class User>
class message_order_of final : public message_order {
public:
    explicit message_order_of(User& user) noexcept : user_(user) {}

    [[nodiscard]] answer before(envelope& a, envelope& b) noexcept override {
#if defined(__cpp_exceptions)
        try {
            return user_.before(a, b) ? answer::yes : answer::no;
        } catch (...) {
            return answer::failed;
        }
#else
        return user_.before(a, b) ? answer::yes : answer::no;
#endif
    }

private:
    User& user_;
};

class user_queue {
public:
    user_queue(const user_queue&) = delete;
    user_queue& operator=(const user_queue&) = delete;
    virtual ~user_queue() = default;

    /// Behind everything that is handled before it. False when the queue is broken: the envelope is
    /// still the caller's.
    [[nodiscard]] virtual bool push(envelope& e) noexcept = 0;
    /// Before everything else. False where the kind has no such order, or is broken.
    [[nodiscard]] virtual bool push_front(envelope&) noexcept { return false; }
    /// The next to be handled; nullptr when empty.
    [[nodiscard]] virtual envelope* pop() noexcept = 0;
    /// The last to be handled, where the kind has both ends; nullptr otherwise, and when empty.
    [[nodiscard]] virtual envelope* pop_back() noexcept { return nullptr; }
    [[nodiscard]] virtual envelope* peek() noexcept = 0;
    [[nodiscard]] virtual std::uint32_t size() const noexcept = 0;
    /// A message of a broken queue that has lost its order; nullptr when all others have theirs.
    [[nodiscard]] virtual envelope* take_unreadable() noexcept { return nullptr; }

    /// Why it cannot go on; nullptr while it can.
    [[nodiscard]] const char* broken() const noexcept { return broken_; }
    /// Takes messages again. Requires: what was unreadable has been taken.
    void mend() noexcept { broken_ = nullptr; }

protected:
    user_queue() = default;
    void break_down(const char* why) noexcept {
        if (broken_ == nullptr)
            broken_ = why;
    }

private:
    const char* broken_ = nullptr;
};

/// Linked through the envelopes. Also a plain list, for whoever needs one.
class envelope_list final : public user_queue {
public:
    [[nodiscard]] bool push(envelope& e) noexcept override {
        e.next.write(nullptr);
        if (tail_ == nullptr)
            head_ = &e;
        else
            tail_->next.write(&e);
        tail_ = &e;
        ++count_;
        return true;
    }
    [[nodiscard]] bool push_front(envelope& e) noexcept override {
        e.next.write(head_);
        head_ = &e;
        if (tail_ == nullptr)
            tail_ = &e;
        ++count_;
        return true;
    }
    [[nodiscard]] envelope* pop() noexcept override {
        envelope* e = head_;
        if (e == nullptr)
            return nullptr;
        head_ = e->next.read();
        if (head_ == nullptr)
            tail_ = nullptr;
        --count_;
        return e;
    }
    [[nodiscard]] envelope* peek() noexcept override { return head_; }
    [[nodiscard]] std::uint32_t size() const noexcept override { return count_; }
    /// The first for which `test` says so, taken out.
    template <class Test>
    [[nodiscard]] envelope* take_first(Test&& test) noexcept {
        envelope* before = nullptr;
        for (envelope* e = head_; e != nullptr; before = e, e = e->next.read()) {
            if (!test(*e))
                continue;
            envelope* after = e->next.read();
            if (before == nullptr)
                head_ = after;
            else
                before->next.write(after);
            if (tail_ == e)
                tail_ = before;
            --count_;
            return e;
        }
        return nullptr;
    }

private:
    envelope* head_ = nullptr;
    envelope* tail_ = nullptr;
    std::uint32_t count_ = 0;
};

class envelope_deque final : public user_queue {
public:
    explicit envelope_deque(memory_source& memory) noexcept : ring_(memory) {}

    [[nodiscard]] bool push(envelope& e) noexcept override;
    [[nodiscard]] bool push_front(envelope& e) noexcept override;
    [[nodiscard]] envelope* pop() noexcept override;
    [[nodiscard]] envelope* pop_back() noexcept override;
    /// Makes room for `count` more; false when there is no memory, which breaks nothing.
    [[nodiscard]] bool reserve(std::uint32_t count) noexcept;
    /// All of `batch`, in its order, before everything else. Requires: room was reserved.
    void prepend(envelope_list& batch) noexcept;
    [[nodiscard]] envelope* peek() noexcept override {
        return count_ == 0 ? nullptr : ring_[first_];
    }
    [[nodiscard]] std::uint32_t size() const noexcept override { return count_; }

private:
    [[nodiscard]] bool grow() noexcept;
    [[nodiscard]] bool make_room() noexcept;
    [[nodiscard]] std::uint32_t place(std::uint32_t i) const noexcept {
        return (first_ + i) & (ring_.capacity() - 1);
    }

    growing_array<envelope*> ring_;
    std::uint32_t first_ = 0;
    std::uint32_t count_ = 0;
};

/// A binary heap of {envelope, number of arrival}.
///
/// Its age list, on hosts, has those messages that senders may evict: see mailbox_block.
class priority_queue final : public user_queue {
    struct host_ages : age_list {
        using age_list::age_list;
        [[nodiscard]] age_list& list() noexcept { return *this; }
    };
    struct no_ages {
        explicit no_ages(memory_source&) noexcept {}
        [[nodiscard]] age_list& list() noexcept;  // named by code that a device leaves out
    };

public:
    /// What names a message in the age list.
    struct aged {
        std::uint32_t place = age_list::none;  // none: it is not there
        std::uint64_t number = 0;
    };

    priority_queue(memory_source& memory, message_order& order) noexcept
        : heap_(memory), ages_(memory), order_(order) {}

    [[nodiscard]] bool push(envelope& e) noexcept override { return push(e, age_list::none); }
    /// The same for one that has a place in the age list, by next_number().
    [[nodiscard]] bool push(envelope& e, std::uint32_t place) noexcept;
    [[nodiscard]] envelope* pop() noexcept override {
        aged ignored;
        return pop(ignored);
    }
    [[nodiscard]] envelope* pop(aged& was) noexcept;
    [[nodiscard]] envelope* peek() noexcept override {
        return count_ == 0 ? nullptr : heap_[0].message;
    }
    [[nodiscard]] std::uint32_t size() const noexcept override { return count_; }
    [[nodiscard]] envelope* take_unreadable() noexcept override {
        aged ignored;
        return take_unreadable(ignored);
    }
    [[nodiscard]] envelope* take_unreadable(aged& was) noexcept;

    [[nodiscard]] std::uint64_t next_number() const noexcept { return next_number_; }
    /// Hosts only.
    [[nodiscard]] age_list& ages() noexcept { return ages_.list(); }
    /// Takes out those for which `goes` says so. Owes: restore().
    template <class Goes>
    void take_if(Goes&& goes) noexcept {
        std::uint32_t kept = 0;
        for (std::uint32_t i = 0; i < count_; ++i) {
            const entry e = heap_[i];
            if (!goes(*e.message, aged{e.place, e.number}))
                heap_[kept++] = e;
        }
        count_ = kept;
    }
    /// Puts what take_if has left in order.
    void restore() noexcept;

private:
    struct entry {
        envelope* message;
        std::uint32_t place;
        std::uint64_t number;
    };
    [[nodiscard]] bool before(const entry& a, const entry& b) noexcept;
    void sift_down(std::uint32_t at) noexcept;

    growing_array<entry> heap_;
    [[no_unique_address]] std::conditional_t<port::has_interrupts, no_ages, host_ages> ages_;
    message_order& order_;
    std::uint32_t count_ = 0;
    std::uint64_t next_number_ = 0;
};

class control_queue final : public user_queue {
public:
    [[nodiscard]] bool push(envelope& e) noexcept override {
        return (e.type.read()->is_control ? control_ : other_).push(e);
    }
    [[nodiscard]] envelope* pop() noexcept override {
        envelope* e = control_.pop();
        return e != nullptr ? e : other_.pop();
    }
    [[nodiscard]] envelope* peek() noexcept override {
        envelope* e = control_.peek();
        return e != nullptr ? e : other_.peek();
    }
    [[nodiscard]] std::uint32_t size() const noexcept override {
        return control_.size() + other_.size();
    }

private:
    envelope_list control_;
    envelope_list other_;
};

}  // namespace tactus::inline v0
