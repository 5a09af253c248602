// SPDX-License-Identifier: Apache-2.0
//
// Cell: what the actor layer keeps of one actor, in the user line of its slot.
//
// The instance is beside it in the slot if it is small (slot::room), else in a block that the slot
// knows (slot::extras); everything rare is in extras. Here is what others need while the actor
// runs: the tree, and what it was told. A cell is a system message: the one node by which it
// is told anything (SQ-3). What it is told are bits, so telling never needs memory:
//
//   terminate       ends it                                                        from anybody
//   resume          its failure is forgiven                                        its parent
//   reports         children have failed or ended; they are linked to each other   children
//   held            it is to be held back, or not: a level, and it follows         its parent
//   backs off       its restart is to wait, or not: a level                        its parent
//
// A child reports by linking itself to its parent (reports_), at most once until the parent looked.
// Who is the first in the list tells the parent: until it has, the parent does not look.
// An ended child's slot stays until its parent has looked: the parent gives it back.
//
// Its state is in the same word; only the actor's own turn changes it, by apply(): lifecycle.hpp.
//
// Invariants
//   L1  children are linked in the order they were spawned; the list is the parent's (of a
//       guardian, below which any thread spawns, under the world's lock)
//   L2  a cell outlives its children, so a child may tell its parent at any time
//   L3  `held` is applied once: the actor is suspended for it exactly while the bit `holds` is set
//   L4  unless it is ending, the state is a failed one exactly while the actor is suspended for a
//       failure of its own
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>

#include <tactus/actor/failure_cause.hpp>
#include <tactus/actor/lifecycle.hpp>
#include <tactus/dispatch/actor_scheduler.hpp>
#include <tactus/dispatch/slot.hpp>
#include <tactus/dispatch/turn.hpp>
#include <tactus/mailbox/system_message.hpp>

namespace tactus::inline v0 {

class actor_world;
struct actor_type;
struct cell_extras;

class cell final : public system_message {
public:
    /// A number of a slot, or none.
    using link = std::uint32_t;
    static constexpr link no_cell = 0xffff'ffff;

    enum flag : std::uint32_t {
        queued = 1U << 0U,  // the node is on its way, or about to be
        // told
        told_terminate = 1U << 1U,
        told_resume = 1U << 2U,
        told_reports = 1U << 3U,
        wants_held = 1U << 4U,
        // reports
        reported = 1U << 5U,  // linked to the parent
        report_failed = 1U << 6U,
        report_ended = 1U << 7U,
        told_fail = 1U << 8U,  // by itself: context().fail
        backs_off = 1U << 9U,  // its parent's, cleared when the time has come
        // its own
        holds = 1U << 10U,
        special = 1U << 13U,  // receiving takes more than calling a handler
        // its parent's
        stop_ordered = 1U << 15U,
        is_guardian = 1U << 16U,
        is_orphan = 1U << 17U,  // has no parent: gives its slot back itself
        is_named = 1U << 18U,
        awaits = 1U << 19U,           // its own: user messages wait for a coroutine
        is_odd_life = 1U << 24U,      // constant: of its generation, see life_of
        restart_ordered = 1U << 25U,  // its parent's, until the restart begins
    };
    static constexpr unsigned wait_shift = 20;  // see waits_for: three bits
    static constexpr unsigned state_shift = 28;

    cell(mailbox_index parent, std::uint32_t bits) noexcept : flags_(port::reused, bits) {
        kind = system_kind::supervise;
        subject.write(parent);
        data.write(nullptr);
    }
    cell(const cell&) = delete;
    cell& operator=(const cell&) = delete;

    [[nodiscard]] static cell& of(slot& s) noexcept { return at(s.user_state()); }
    [[nodiscard]] static cell& at(void* place) noexcept {
        return *std::launder(static_cast<cell*>(place));
    }

    // ---- any thread

    [[nodiscard]] std::uint32_t flags() const noexcept {
        return flags_.load(std::memory_order_relaxed);
    }
    /// Tells it something: it looks in its next turn. Requires: it cannot end meanwhile, or its
    /// slot stays (L2, or the caller is its parent).
    void tell(actor_scheduler& system, slot& own, std::uint32_t set,
              std::uint32_t clear = 0) noexcept;
    /// A child of this one has something to report.
    void report(actor_scheduler& system, slot& parent_slot, cell& parent, slot& own,
                std::uint32_t what) noexcept;

    // ---- its own turn

    [[nodiscard]] static lifecycle::state state_in(std::uint32_t flags) noexcept {
        return static_cast<lifecycle::state>(flags >> state_shift);
    }
    [[nodiscard]] lifecycle::state state() const noexcept { return state_in(flags()); }
    [[nodiscard]] bool has_failed() const noexcept { return lifecycle::is_failed(state()); }
    [[nodiscard]] bool has_instance() const noexcept { return lifecycle::has_instance(state()); }
    [[nodiscard]] bool is_restarting() const noexcept { return lifecycle::is_restarting(state()); }
    [[nodiscard]] bool is_ending() const noexcept { return lifecycle::is_ending(state()); }
    /// Writes the state that follows; what the caller owes then. Nothing else writes the state.
    lifecycle::action apply(lifecycle::event on) noexcept {
        if constexpr (port::has_interrupts)
            return call_apply(on);  // less code
        else
            return apply_here(on);
    }
    void set(std::uint32_t bits) noexcept { flags_.fetch_or(bits, std::memory_order_relaxed); }
    void clear(std::uint32_t bits) noexcept { flags_.fetch_and(~bits, std::memory_order_relaxed); }
    /// What its coroutine waits for while it `awaits`: a number of the layer above.
    void set_wait(std::uint32_t what) noexcept {
        clear(7U << wait_shift);
        set(what << wait_shift);
    }
    [[nodiscard]] static std::uint32_t waits_for(std::uint32_t flags) noexcept {
        return (flags >> wait_shift) & 7U;
    }
    [[nodiscard]] bool is(std::uint32_t bit) const noexcept { return (flags() & bit) != 0; }

    [[nodiscard]] mailbox_index parent() const noexcept { return subject.read(); }
    /// What few actors have, made when first needed. Null: not yet.
    [[nodiscard]] cell_extras* extras() const noexcept {
        return static_cast<cell_extras*>(data.read());
    }
    void set_extras(cell_extras* x) noexcept { data.write(x); }

    /// Takes note that the node has come; what it was told.
    [[nodiscard]] std::uint32_t take_orders() noexcept;
    /// Its restart begins. "cell-reported": what the last instance failed with is gone by then.
    void begin_restart() noexcept {
        (void)flags_.fetch_and(~std::uint32_t{restart_ordered}, linked_up.release());
    }
    /// Of a child that was linked to this one: what it reports. Its parent's.
    [[nodiscard]] std::uint32_t take_report() noexcept {
        return flags_.fetch_and(~(reported | report_failed), linked_up.acq_rel());
    }
    /// Children that reported, the earliest first; no_cell: none.
    [[nodiscard]] link take_reports(registry& slots) noexcept {
        link latest = take_latest_reports();
        link earliest = no_cell;
        (void)reverse_reports(slots, latest, earliest, ~std::uint32_t{0});
        return earliest;
    }
    /// The same, the latest first.
    [[nodiscard]] link take_latest_reports() noexcept {
        return reports_.exchange(no_cell, linked_up.acquire());
    }
    /// The reports become those of `reversed`, the earliest first; at most `steps` of them in one
    /// call. True: that was all.
    [[nodiscard]] static bool reverse_reports(registry& slots, link& reports, link& reversed,
                                              std::uint32_t steps) noexcept;

    // Children, L1.
    link first_child = no_cell;
    link next_sibling = no_cell;             // its parent's
    link prev_sibling = no_cell;             // of the first one: the last
    port::plain<link> next_report{no_cell};  // ordered by the report

private:
    [[nodiscard]] lifecycle::action apply_here(lifecycle::event on) noexcept {
        const lifecycle::state from = state();
        const lifecycle::step found = lifecycle::next(from, on);
        // Adding the difference leaves the other bits of the word as they are: the state is at the
        // top, and has one writer. Relaxed: other threads read it for dumps only.
        const std::uint32_t change =
            static_cast<std::uint32_t>(found.to) - static_cast<std::uint32_t>(from);
        if (change != 0)
            flags_.fetch_add(change << state_shift, std::memory_order_relaxed);
        return found.owed;
    }
    lifecycle::action call_apply(lifecycle::event on) noexcept;

    // "cell-told": what was done before a bit was set happens before the turn that sees it; and
    //    the owner is done with the node before somebody else sends it again.
    static constexpr port::edge told{"cell-told"};
    // "cell-reported": what a child did happens before its parent looks at it.
    static constexpr port::edge linked_up{"cell-reported"};

    port::atomic<link> reports_{no_cell};
    // Reused: a dump reads it at any moment, also while the slot is free or its next life begins.
    // So it is the last member (slot::readable_size).
    port::atomic<std::uint32_t> flags_;
};
static_assert(sizeof(cell) <= slot::state_size);
// flags_ ends where the user state does.
static_assert(sizeof(cell) == slot::state_size || port::cache_line != 64 ||
              sizeof(port::atomic<std::uint32_t>) != 4);
static_assert(alignof(cell) <= alignof(std::max_align_t));

/// Walks children; the one it is at may be unlinked meanwhile.
class children_of {
public:
    children_of(registry& slots, const cell& parent) noexcept
        : slots_(slots), next_(parent.first_child) {}
    /// Null: no more.
    [[nodiscard]] slot* next() noexcept {
        if (next_ == cell::no_cell)
            return nullptr;
        slot& s = slots_.at(next_);
        next_ = cell::of(s).next_sibling;
        return &s;
    }

private:
    registry& slots_;
    cell::link next_;
};

/// The index of the life a cell is of. A slot's generation is raised when its mailbox closes, which
/// is before its parent has looked: index_of may name the slot's next life by then. One bit says
/// which of the two it is.
[[nodiscard]] mailbox_index life_of(const registry& slots, slot& place) noexcept;

/// The child that was linked last. Requires: there is one.
[[nodiscard]] inline slot& last_child(registry& slots, const cell& parent) noexcept {
    return slots.at(cell::of(slots.at(parent.first_child)).prev_sibling);
}
/// The list of children, L1.
void link_child(registry& slots, cell& parent, slot& child) noexcept;
void unlink_child(registry& slots, cell& parent, slot& child) noexcept;
/// The child that was linked last, which never came to life: its cell is not touched.
void unlink_last(registry& slots, cell& parent) noexcept;

}  // namespace tactus::inline v0
