// SPDX-License-Identifier: Apache-2.0
//
// Suspension records: who is suspended, and three ways to find a record without looking at others.
//
//   by actor      a hash of slot and generation; an actor that suspended itself twice has two
//   by condition  a hash of condition and key. The bucket lists the first of each key only; the
//                 others of that key follow it in a ring, in the order they were added. So a key
//                 that thousands wait for costs nobody else anything
//   by deadline   a heap of record numbers; each record knows its place in it, so that one that
//                 ends early leaves at once
//
// Everything is linked by index: records move when the memory grows, all in one block.
//
// Invariants
//   S1  a live record is in one bucket of actors
//   S2  a live record that waits for a signal or room is in one ring; one record of each ring, its
//       oldest, is in a bucket of conditions
//   S3  a live record with a deadline is in the heap, at `heap_at`
//
// Adding, removing and finding cost O(1) on average, the heap O(log n). Owner only; whoever shares
// it locks.
#pragma once

#include <cstdint>

#include <tactus/base/check.hpp>
#include <tactus/base/memory_plan.hpp>
#include <tactus/base/memory_source.hpp>
#include <tactus/dispatch/invoke_result.hpp>
#include <tactus/mailbox/mailbox_index.hpp>

namespace tactus::inline v0 {

enum class suspend_limit_action : std::uint8_t { resume, fail, stop };

struct suspension_record {
    static constexpr std::uint64_t no_deadline = ~std::uint64_t{0};

    mailbox_index who;
    std::uint64_t key = 0;  // of a signal
    std::uint64_t since_ns = 0;
    std::uint64_t due_ns = no_deadline;
    resume_condition::kind on = resume_condition::kind::external_signal;
    suspend_limit_action action = suspend_limit_action::resume;  // when it is due
};

class suspension_records {
public:
    static constexpr std::uint32_t none = 0xffff'ffff;

    /// Requires: `capacity` is a power of two (check suspensions:2) and the source has room for as
    /// many (check suspensions:1).
    suspension_records(memory_source& memory, std::uint32_t capacity) noexcept;
    ~suspension_records();
    suspension_records(const suspension_records&) = delete;
    suspension_records& operator=(const suspension_records&) = delete;

    /// What it takes when it is built.
    [[nodiscard]] static constexpr memory_plan plan(std::uint32_t capacity) noexcept {
        return memory_plan().block(capacity * bytes_each, alignof(node));
    }

    /// Where it is kept; none when there is no memory.
    [[nodiscard]] std::uint32_t add(const suspension_record& r) noexcept;
    /// Requires: live.
    void remove(std::uint32_t at) noexcept;
    [[nodiscard]] const suspension_record& operator[](std::uint32_t at) const noexcept {
        return nodes_[at].record;
    }
    /// The order of adding; larger is later.
    [[nodiscard]] std::uint64_t number_of(std::uint32_t at) const noexcept {
        return nodes_[at].number;
    }
    [[nodiscard]] std::uint64_t next_number() const noexcept { return next_number_; }

    // None when there is none.
    [[nodiscard]] std::uint32_t of_actor(mailbox_index who) const noexcept;
    struct of_one {
        std::uint32_t count;
        std::uint32_t oldest;  // none when there is none
    };
    [[nodiscard]] of_one all_of(mailbox_index who) const noexcept;
    /// The oldest that waits for it. Not for `after`, which only a deadline ends.
    [[nodiscard]] std::uint32_t oldest(resume_condition::kind on, std::uint64_t key) const noexcept;
    /// The earliest deadline; of equals the oldest.
    [[nodiscard]] std::uint32_t earliest() const noexcept { return timed_ == 0 ? none : heap_[0]; }

    [[nodiscard]] std::uint32_t size() const noexcept { return live_; }
    [[nodiscard]] std::uint32_t timed_count() const noexcept { return timed_; }
    /// Records there have ever been at once.
    [[nodiscard]] std::uint32_t used() const noexcept { return used_; }

private:
    TACTUS_CHECK_MODULE("suspensions");

    struct links {
        std::uint32_t next = none;
        std::uint32_t before = none;
    };
    struct node {
        suspension_record record;
        std::uint64_t number = 0;
        links actor;   // in its bucket of actors; `next` also in the free list
        links ring;    // of those that wait for the same
        links bucket;  // of conditions; first of its ring only
        std::uint32_t heap_at = none;
        bool first = false;  // of its ring
        bool live = false;
    };
    static constexpr std::size_t bytes_each = sizeof(node) + 3 * sizeof(std::uint32_t);

    [[nodiscard]] bool allocate(std::uint32_t capacity) noexcept;
    [[nodiscard]] bool grow() noexcept;
    [[nodiscard]] std::uint32_t& bucket_of(mailbox_index who) const noexcept;
    [[nodiscard]] std::uint32_t& bucket_of(resume_condition::kind on,
                                           std::uint64_t key) const noexcept;

    /// A list that begins at `head`, through the links that `Which` names.
    template <links node::* Which>
    void link(std::uint32_t& head, std::uint32_t at) noexcept;
    template <links node::* Which>
    void unlink(std::uint32_t& head, std::uint32_t at) noexcept;
    void join_ring(std::uint32_t at) noexcept;
    void leave_ring(std::uint32_t at) noexcept;

    [[nodiscard]] bool before(std::uint32_t a, std::uint32_t b) const noexcept;
    void place(std::uint32_t position, std::uint32_t at) noexcept;
    void sift_up(std::uint32_t position) noexcept;
    void sift_down(std::uint32_t position) noexcept;
    void leave_heap(std::uint32_t at) noexcept;

    memory_source& memory_;
    // One block.
    node* nodes_ = nullptr;
    std::uint32_t* actors_ = nullptr;      // buckets: the first of each
    std::uint32_t* conditions_ = nullptr;  // buckets: the first of each
    std::uint32_t* heap_ = nullptr;
    std::uint32_t capacity_ = 0;  // of each of the four

    std::uint32_t used_ = 0;
    std::uint32_t free_ = none;
    std::uint32_t live_ = 0;
    std::uint32_t timed_ = 0;
    std::uint64_t next_number_ = 0;
};

}  // namespace tactus::inline v0
