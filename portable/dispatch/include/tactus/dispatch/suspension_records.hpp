// SPDX-License-Identifier: Apache-2.0
//
// Suspension records: who is suspended, and two ways to find a record without looking at others.
//
//   by actor      a hash of slot and generation; an actor that suspended itself twice has two,
//                 which their timers tell apart
//   by condition  a hash of condition and key. The bucket lists the first of each key only; the
//                 others of that key follow it in a ring, in the order they were added. So a key
//                 that thousands wait for costs nobody else anything
//
// Everything is linked by index: records move when the memory grows, all in one block.
//
// Invariants
//   S1  a live record is in one bucket of actors
//   S2  a live record that waits for a signal or room is in one ring; one record of each ring, its
//       oldest, is in a bucket of conditions
//
// Adding, removing and finding cost O(1) on average. Owner only; whoever shares it locks.
#pragma once

#include <cstdint>

#include <tactus/base/check.hpp>
#include <tactus/base/memory_plan.hpp>
#include <tactus/base/memory_source.hpp>
#include <tactus/dispatch/invoke_result.hpp>
#include <tactus/dispatch/suspend_limit.hpp>
#include <tactus/mailbox/mailbox_index.hpp>
#include <tactus/time/timer_wheel.hpp>

namespace tactus::inline v0 {

struct suspension_record {
    mailbox_index who;
    std::uint64_t key = 0;  // of a signal
    std::uint64_t since_ns = 0;
    timer_handle timer = {};  // ends it; of generation 0: none
    resume_condition::kind on = resume_condition::kind::external_signal;
    suspend_limit_action action = suspend_limit_action::resume;  // when its timer is due
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
    /// The one of the actor that this timer ends.
    [[nodiscard]] std::uint32_t of_timer(mailbox_index who, timer_handle timer) const noexcept;
    /// The oldest that waits for it. Not for `after`, which only a timer ends.
    [[nodiscard]] std::uint32_t oldest(resume_condition::kind on, std::uint64_t key) const noexcept;

    [[nodiscard]] std::uint32_t size() const noexcept { return live_; }
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
        links actor;         // in its bucket of actors; `next` also in the free list
        links ring;          // of those that wait for the same
        links bucket;        // of conditions; first of its ring only
        bool first = false;  // of its ring
        bool live = false;
    };
    static constexpr std::size_t bytes_each = sizeof(node) + 2 * sizeof(std::uint32_t);

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

    memory_source& memory_;
    // One block.
    node* nodes_ = nullptr;
    std::uint32_t* actors_ = nullptr;      // buckets: the first of each
    std::uint32_t* conditions_ = nullptr;  // buckets: the first of each
    std::uint32_t capacity_ = 0;           // of each of the three

    std::uint32_t used_ = 0;
    std::uint32_t free_ = none;
    std::uint32_t live_ = 0;
    std::uint64_t next_number_ = 0;
};

}  // namespace tactus::inline v0
