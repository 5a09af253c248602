// SPDX-License-Identifier: Apache-2.0
//
// Slot: an actor, as far as the kernel knows it. The mailbox's three lines and one of user state:
// 256 bytes on the host (RG-3).
//
// Slots are type-stable memory: one is used again with a higher generation and never goes away
// while its system lives, so a sender with an old reference touches a slot, not a hole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <tactus/base/check.hpp>
#include <tactus/dispatch/invoke_result.hpp>
#include <tactus/dispatch/lane.hpp>
#include <tactus/dispatch/suspend_limit.hpp>
#include <tactus/mailbox/mailbox.hpp>
#include <tactus/time/clock.hpp>

namespace tactus::inline v0 {

struct behaviour;

/// Where and how an actor waits for its runs, in one word: constant for a life, except `fresh`,
/// which the first run ends. Eight bits each: priority, freshness, the worker it is pinned to plus
/// one, the dispatcher.
class slot_traits {
public:
    static constexpr std::uint32_t fresh_bit = 1U << 8;
    static constexpr std::uint32_t home_one = 1U << 16;
    static constexpr std::uint32_t home_mask = 0xffU << 16;
    static constexpr std::uint32_t dispatcher_shift = 24;

    explicit constexpr slot_traits(std::uint32_t word) noexcept : word_(word) {}
    /// Of an actor of default priority that has run before.
    [[nodiscard]] static constexpr std::uint32_t plain(std::uint32_t dispatcher) noexcept {
        return default_priority | (dispatcher << dispatcher_shift);
    }

    [[nodiscard]] constexpr std::uint32_t word() const noexcept { return word_; }
    [[nodiscard]] constexpr std::uint8_t priority() const noexcept {
        return static_cast<std::uint8_t>(word_);
    }
    [[nodiscard]] constexpr bool fresh() const noexcept { return (word_ & fresh_bit) != 0; }
    [[nodiscard]] constexpr bool pinned() const noexcept { return (word_ & home_mask) != 0; }
    /// The worker it is pinned to. Requires: pinned.
    [[nodiscard]] constexpr std::uint32_t home() const noexcept {
        return (word_ & home_mask) / home_one - 1;
    }
    /// Fresh or pinned: not for a worker's ring.
    [[nodiscard]] constexpr bool set_apart() const noexcept {
        return (word_ & (home_mask | fresh_bit)) != 0;
    }
    [[nodiscard]] constexpr std::uint32_t dispatcher() const noexcept {
        return word_ >> dispatcher_shift;
    }

private:
    std::uint32_t word_;
};

class alignas(port::cache_line < 8 ? 8 : 4 * port::cache_line) slot final : public mailbox {
public:
    // A line; more where shared cells are watched and larger than what they hold.
    static constexpr std::size_t state_size =
        sizeof(port::plain<std::uint32_t>) == sizeof(std::uint32_t) ? 64 : 256;
    /// The last bytes of the user state stay readable while the slot is free: a dump may read an
    /// atomic there at any moment.
    static constexpr std::size_t readable_size = sizeof(port::atomic<std::uint32_t>);
    static constexpr std::uint32_t pinned_max = 255;

    /// User state: constructed and destroyed by the behaviour. Owner only.
    [[nodiscard]] void* user_state() noexcept { return state_; }
    [[nodiscard]] const behaviour* acts() const noexcept { return behaviour_; }
    void set_behaviour(const behaviour* b) noexcept { behaviour_ = b; }
    /// What is left of the owner's line: for the layers above, too.
    static constexpr std::size_t room_size = port::cache_line < 64 ? 8 : 24;
    static constexpr std::size_t room_alignment = 8;
    [[nodiscard]] void* room() noexcept { return room_; }
    /// Everything larger hangs here; the layers above own it.
    [[nodiscard]] void* extras() const noexcept { return extras_; }
    void set_extras(void* e) noexcept { extras_ = e; }

    // Traits: constant while open, except `fresh`, which the first run ends.

    /// Pinned: it runs on one worker of its dispatcher only. Before it is first made ready.
    /// Requires: the number is less than pinned_max (check slot:1).
    void pin_to(std::uint32_t worker_number) noexcept {
        TACTUS_CHECK(1, worker_number < pinned_max);
        traits_.store((traits().word() & ~slot_traits::home_mask) |
                          (worker_number + 1) * slot_traits::home_one,
                      std::memory_order_relaxed);
    }
    /// All of them at once. Read it once per registration (life.hpp, L3).
    [[nodiscard]] slot_traits traits() const noexcept {
        return slot_traits(traits_.load(std::memory_order_relaxed));
    }
    [[nodiscard]] bool pinned() const noexcept { return traits().pinned(); }
    /// The worker it is pinned to. Requires: pinned.
    [[nodiscard]] std::uint32_t home() const noexcept { return traits().home(); }
    [[nodiscard]] std::uint8_t priority() const noexcept { return traits().priority(); }
    [[nodiscard]] bool fresh() const noexcept { return traits().fresh(); }
    /// The dispatcher whose lanes this waits in.
    [[nodiscard]] std::uint32_t dispatcher_number() const noexcept { return traits().dispatcher(); }
    void set_traits(std::uint8_t priority, bool is_fresh, std::uint8_t dispatcher = 0) noexcept {
        traits_.store(priority | (is_fresh ? slot_traits::fresh_bit : 0U) |
                          (std::uint32_t{dispatcher} << slot_traits::dispatcher_shift),
                      std::memory_order_relaxed);
    }
    void end_fresh() noexcept {
        traits_.store(traits().word() & ~slot_traits::fresh_bit, std::memory_order_relaxed);
    }

    /// CO-6: of suspensions that are given no limit of their own. Constant while open. Rounded up
    /// to milliseconds.
    void set_suspend_limit(const suspend_limit& l) noexcept {
        suspend_limit_ = 0;
        if (l.after == duration::max() || l.after <= duration::zero()) [[likely]]
            return;
        const std::int64_t ms = (l.after.ns() - 1) / ns_per_ms + 1;
        if (ms < std::int64_t{1} << limit_bits)
            suspend_limit_ = static_cast<std::uint32_t>(ms) |
                             (static_cast<std::uint32_t>(l.action) << limit_bits);
    }
    [[nodiscard]] suspend_limit limit_of_suspensions() const noexcept {
        if (suspend_limit_ == 0)
            return {};
        return {duration::from_ms(suspend_limit_ & ((1U << limit_bits) - 1)),
                static_cast<suspend_limit_action>(suspend_limit_ >> limit_bits)};
    }

    /// Says why it is about to be held back, and since when (OH-4). Whoever suspends it.
    void note_held_by(held_reason why, const clock* time) noexcept {
        const std::uint64_t at = time != nullptr ? time->now().ns() / held_unit_ns : 0;
        note_held(
            why == held_reason::supervision ? suspension::supervision : suspension::await,
            (static_cast<std::uint32_t>(at) << held_why_bits) | static_cast<std::uint32_t>(why));
    }
    // held_note(): the reason below, then the time, which wraps after 49 days.
    static constexpr unsigned held_why_bits = 3;
    static_assert(held_reason_count <= 1U << held_why_bits);
    static constexpr std::uint64_t held_unit_ns = 8'000'000;

    // Owner only, for the invoker.
    bool waits = false;     // for a signal, a time or room; see suspensions
    bool was_held = false;  // since its last message that was traced
    /// Continuations are left for another run, and nothing holds them back; or it works.
    [[nodiscard]] bool owes_continuations() const noexcept {
        return !held.empty() && (works || state().suspend_count(suspension::supervision) == 0) &&
               !state().closing();
    }

    // Work of the layer above that takes more steps than a run should, as an order to 100,000
    // children: each further run begins with a system message of the kind go_on and does nothing
    // else until the work has ended; other actors run in between. For the rest of the actor it is
    // still the same turn: all other messages wait.

    bool works = false;
    /// `m` makes sure that there is a next run; it lives until the mailbox has been closed.
    /// Requires: supervision holds user messages back, from now on until end_work().
    void begin_work(system_message& m) noexcept {
        works = true;
        if (m.linked)
            return;  // of the last time, behind continuations
        m.kind = system_kind::go_on;
        m.linked = true;
        m.generation.write(generation());
        held.push(m);
    }
    void end_work() noexcept { works = false; }

private:
    TACTUS_CHECK_MODULE("slot");

    friend struct slot_links;

    // Of suspend_limit_: two bits for the action above the milliseconds; 0: no limit.
    static constexpr unsigned limit_bits = 30;
    static constexpr std::int64_t ns_per_ms = 1'000'000;

    // Owner's line, behind the batch.
    const behaviour* behaviour_ = nullptr;
    void* extras_ = nullptr;
    alignas(room_alignment) std::byte room_[room_size];

    // User's line. While the slot is free, the registry's links.
    static constexpr std::size_t line = port::cache_line < 8 ? 8 : port::cache_line;
    alignas(line) std::byte state_[state_size];
};
// The model's atomics are larger than what they stand for.
static_assert(port::cache_line != 64 || sizeof(port::atomic<std::uint32_t>) != 4 ||
              sizeof(slot) == 256);

struct slot_links {
    [[nodiscard]] static slot* get(const slot& s) noexcept { return load(s, 0); }
    static void set(slot& s, slot* to) noexcept { store(s, 0, to); }
    [[nodiscard]] static slot* get_magazine(const slot& s) noexcept {
        return load(s, sizeof(slot*));
    }
    static void set_magazine(slot& s, slot* to) noexcept { store(s, sizeof(slot*), to); }

private:
    [[nodiscard]] static slot* load(const slot& s, std::size_t at) noexcept {
        slot* value = nullptr;
        std::memcpy(&value, s.state_ + at, sizeof value);
        return value;
    }
    static void store(slot& s, std::size_t at, slot* value) noexcept {
        std::memcpy(s.state_ + at, &value, sizeof value);
    }
};

}  // namespace tactus::inline v0
