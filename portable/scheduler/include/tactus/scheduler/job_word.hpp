// SPDX-License-Identifier: Apache-2.0
//
// Job word: the state of a job, and which of its cell's uses it is (CN), in one atomic word.
//
//   pending    registered, or to be armed again; somebody is on the way to put it into the wheel
//   scheduled  in the wheel
//   executing  it was due: its message waits or is handled, its function waits or runs
//   completed  the last run is over
//   cancelled  a cancel succeeded, or the scheduler ended it itself
//
// A handle is good for one generation. What became of the last uses is kept as one bit each, so
// that a handle can be asked after its job's cell went to another; why is known of the current one.
//
// While a job is executing there is no end to be known. Of one that waits for its run the same bits
// say how far that is, and so who may end it (run_phase). Of one that wakes they say whether its
// waker is being called: until then it can be cancelled, though it was due.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace tactus::inline v0 {

enum class job_state : std::uint8_t { pending, scheduled, executing, completed, cancelled };
inline constexpr std::size_t job_state_count = 5;
[[nodiscard]] const char* name_of(job_state state) noexcept;

/// Why a job has ended.
enum class job_end : std::uint8_t {
    as_asked,             // it has run, or was cancelled by who may
    receiver_terminated,  // SC-11
    failed,               // SC-12
    backlog_exceeded,     // SC-22
    dropped,              // BP-7: it gave way to a more important one
    closed,               // SH-1
};
inline constexpr std::size_t job_end_count = 6;
[[nodiscard]] const char* name_of(job_end why) noexcept;

/// Of a run that its job waits for (SC-24): whose the job is.
enum class run_phase : std::uint8_t {
    fired = 0,  // of who fires it
    sent = 6,   // nobody's: the message arms it again when it is gone, or somebody ends it
    over = 7,   // of who fires it, and has yet to see that the message is gone
};
static_assert(static_cast<std::size_t>(run_phase::sent) >= job_end_count);

/// The table of cancel() (CN): does it succeed?
struct cancel_rule {
    bool one_shot;
    bool periodic;
};
inline constexpr cancel_rule cancel_rules[job_state_count] = {
    {true, true},    // pending
    {true, true},    // scheduled
    {false, true},   // executing: a one-shot is delivered; of a periodic job nothing is any more
    {false, false},  // completed
    {false, false},  // cancelled
};

/// A value of the word.
class job_word {
public:
    using type = std::uintptr_t;
    /// As it lies in an atomic, which may be as wide as an address, but only as one.
    using stored = const struct job_word_bits*;

    constexpr job_word() = default;
    explicit constexpr job_word(type bits) noexcept : bits_(bits) {}
    explicit job_word(stored bits) noexcept : bits_(reinterpret_cast<type>(bits)) {}

    /// How a job is.
    enum flag : type {
        periodic = type{1} << 3U,
        wakes = type{1} << 4U,  // the runtime's own: a cancel that comes while its waker is being
                                // called waits for the end of that call
        // Both: the runtime's own, which comes again when its owner says so. Until then it is
        // executing, and keeps its place.
        owned = periodic | wakes,
    };

    [[nodiscard]] stored bits() const noexcept { return reinterpret_cast<stored>(bits_); }
    [[nodiscard]] constexpr job_state state() const noexcept {
        return static_cast<job_state>(bits_ & state_mask);
    }
    [[nodiscard]] constexpr bool is(flag f) const noexcept {
        return f == wakes ? (bits_ & owned) == wakes : (bits_ & f) == f;
    }
    [[nodiscard]] constexpr std::uint32_t generation() const noexcept {
        return static_cast<std::uint32_t>(bits_ >> generation_shift) & generation_mask;
    }
    [[nodiscard]] constexpr job_word with(job_state state) const noexcept {
        return job_word((bits_ & ~state_mask) | static_cast<type>(state));
    }
    [[nodiscard]] constexpr job_word with(job_state state, job_end why) const noexcept {
        return job_word((bits_ & ~(state_mask | end_mask)) | static_cast<type>(state) |
                        static_cast<type>(why) << end_shift);
    }
    /// Of one that has ended.
    [[nodiscard]] constexpr job_end end() const noexcept {
        return static_cast<job_end>((bits_ & end_mask) >> end_shift);
    }
    /// Of one that is executing.
    [[nodiscard]] constexpr run_phase phase() const noexcept {
        return static_cast<run_phase>((bits_ & end_mask) >> end_shift);
    }
    [[nodiscard]] constexpr job_word with(run_phase phase) const noexcept {
        return job_word((bits_ & ~end_mask) | static_cast<type>(phase) << end_shift);
    }
    /// Its run is on its way, and nobody has it.
    [[nodiscard]] constexpr bool is_sent() const noexcept {
        return state() == job_state::executing && phase() == run_phase::sent;
    }
    /// Its waker is about to be called. Requires: it wakes, is executing, and was not called yet.
    [[nodiscard]] constexpr job_word waking() const noexcept {
        return job_word((bits_ & ~end_mask) |
                        (end() == job_end::closed ? waking_closed : waking_due));
    }
    /// Its waker is being called.
    [[nodiscard]] constexpr bool is_waking() const noexcept {
        return (bits_ & (state_mask | owned | waking_closed)) ==
               (static_cast<type>(job_state::executing) | wakes | waking_closed);
    }
    /// Of one whose waker is being called, too: because it was closed.
    [[nodiscard]] constexpr bool was_closed() const noexcept {
        return is_waking() ? (bits_ & end_mask) != waking_due : end() == job_end::closed;
    }
    [[nodiscard]] constexpr bool can_be_cancelled() const noexcept {
        const cancel_rule& rule = cancel_rules[static_cast<std::size_t>(state())];
        return is(periodic) ? rule.periodic
                            : rule.one_shot ||
                                  (state() == job_state::executing && is(wakes) && !is_waking());
    }

    /// The word of the next use of a cell whose last ended as this says.
    [[nodiscard]] constexpr job_word next_use(type flags) const noexcept {
        std::uint32_t g = (generation() + 1) & generation_mask;
        if (g == 0)
            g = 1;  // 0 is nobody's
        const type next = (static_cast<type>(g) << generation_shift) | flags |
                          static_cast<type>(job_state::pending);
        if constexpr (history_bits != 0) {
            const type past =
                (bits_ >> history_shift) << 1U | static_cast<type>(state() == job_state::cancelled);
            return job_word(past << history_shift | next);
        } else {
            return job_word(next);
        }
    }
    /// Of a cell that was given back and is made again, which had no use beyond this one: all of
    /// them are too long ago.
    [[nodiscard]] static constexpr job_word made_again(std::uint32_t last_use) noexcept {
        return job_word(static_cast<type>(last_use + history_bits + 1) << generation_shift |
                        static_cast<type>(job_state::completed));
    }
    /// There are uses left after made_again(), and not only a few.
    [[nodiscard]] static constexpr bool can_be_made_again(std::uint32_t last_use) noexcept {
        return last_use < generation_mask / 2;
    }
    /// What became of that use of the cell; nothing when it is too long ago.
    [[nodiscard]] constexpr std::optional<job_state> outcome_of(std::uint32_t use) const noexcept {
        if (use == generation())
            return state();
        const std::uint32_t age = generation() - use;  // at least 1
        if constexpr (history_bits != 0) {
            if (age <= history_bits)
                return (bits_ >> (history_shift + age - 1) & 1U) != 0 ? job_state::cancelled
                                                                      : job_state::completed;
        }
        return std::nullopt;
    }
    /// The cell must not be used again: its generations would begin anew. On 32 bits they do, after
    /// 16 million uses of one cell: a device that runs for years would be without cells otherwise.
    [[nodiscard]] constexpr bool is_last_use() const noexcept {
        return history_bits != 0 && generation() == generation_mask;
    }

    static constexpr unsigned generation_bits = sizeof(type) == 8 ? 32 : 24;
    static constexpr unsigned history_bits = sizeof(type) * 8 - 8 - generation_bits;

private:
    static constexpr type state_mask = 7;
    static constexpr unsigned end_shift = 5;
    static constexpr type end_mask = type{7} << end_shift;
    // Of one whose waker is being called; no ends.
    static constexpr type waking_closed = type{6} << end_shift;
    static constexpr type waking_due = type{7} << end_shift;
    static constexpr unsigned generation_shift = 8;
    static constexpr unsigned history_shift = generation_shift + generation_bits;  // used if > 0
    static constexpr std::uint32_t generation_mask =
        static_cast<std::uint32_t>((std::uint64_t{1} << generation_bits) - 1);

    type bits_ = static_cast<type>(job_state::completed);
};

}  // namespace tactus::inline v0
