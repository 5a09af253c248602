// SPDX-License-Identifier: Apache-2.0
//
// Job: one registration, and what it carries: a message, a function, or the runtime's own.
//
// A job is a cell of the scheduler's store. The message of a one-shot lies in the cell itself until
// its envelope is done with it: what is sent is its address. A periodic job keeps the message it
// sends copies of, and each copy travels in a cell of its own, a flight, which names its job and
// holds nothing of it: the job may end, and its cell be another's, while copies wait (BP-2). Where
// there are no cells for messages on their way, they go alone, in an envelope that knows the run
// (lone_run.hpp). A function waits in its own cell, cancelled or not: its dispatcher's queue is
// linked through that, and what it captures lies there.
//
// Who may touch it
//   word      anybody; it says who has the right to the rest
//   holders   who brings it to 0 gives the cell back: the job itself while it goes on, a task under
//             way, and who tells an owner that it is due. What a function carries is ended by the
//             last of them, since it may wait or run while its job is armed again, or cancelled
//   next      whoever has it in a list: a note of the command lock, due, doomed or free
//   the rest  the command lock's holder while pending or scheduled; who made it executing until it
//             is armed again
//
// Where there are caches, what a one-shot needs to be registered lies in the first two lines of its
// cell, up to 16 bytes of message included, and what it needs to be cancelled in the first. Most
// cells are cold when their turn comes, so that each line more is a wait for memory.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <new>
#include <string_view>
#include <type_traits>
#include <utility>

#include <tactus/dispatch/actor_scheduler.hpp>
#include <tactus/dispatch/waker.hpp>
#include <tactus/mailbox/envelope.hpp>
#include <tactus/mailbox/envelope_guard.hpp>
#include <tactus/port/port.hpp>
#include <tactus/scheduler/execution_batch.hpp>
#include <tactus/scheduler/job_word.hpp>
#include <tactus/time/timer_wheel.hpp>

namespace tactus::inline v0 {

class scheduler;

namespace detail {

struct job;

/// What a job carries, as far as its type is concerned.
struct cargo_type {
    const message_type* message;                                        // null: no message
    void (*destroy)(void* cargo) noexcept;                              // null: nothing to do
    const parcel_kind* moved;                                           // of a message
    const parcel_kind* copied;                                          // null: cannot be copied
    handled (*run)(void* cargo, const execution_batch& what) noexcept;  // of a function
    // Null: it does not want to know. Functions are told where they run, others at once.
    void (*cancelled)(void* cargo) noexcept;
    std::uint32_t size;
    std::uint32_t alignment;
    std::string_view name = {};  // of a function's type, on a host
};

template <class M>
inline constexpr cargo_type message_cargo{
    .message = &message_type_of<M>,
    .destroy = message_type_of<M>.destroy,
    .moved = &parcel_kind_of<M>,
    .copied = []() -> const parcel_kind* {
        if constexpr (std::copy_constructible<M>)
            return &parcel_kind_of<const M&>;
        else
            return nullptr;
    }(),
    .run = nullptr,
    .cancelled = nullptr,
    .size = sizeof(M),
    .alignment = alignof(M),
};

template <class F>
inline constexpr cargo_type function_cargo{
    .message = nullptr,
    .destroy = std::is_trivially_destructible_v<F>
                   ? nullptr
                   : +[](void* cargo) noexcept { static_cast<F*>(cargo)->~F(); },
    .moved = nullptr,
    .copied = nullptr,
    .run =
        [](void* cargo, const execution_batch& what) noexcept {
            return call_user([&] { return (*static_cast<F*>(cargo))(what); });
        },
    .cancelled = []() -> void (*)(void*) noexcept {
        if constexpr (requires(F& f) { f.cancelled(); })
            return [](void* cargo) noexcept {
                (void)call_user([&] { static_cast<F*>(cargo)->cancelled(); });
            };
        else
            return nullptr;
    }(),
    .size = sizeof(F),
    .alignment = alignof(F),
    .name = []() -> std::string_view {
        if constexpr (port::has_interrupts)
            return {};
        else
            return message_name<F>();
    }(),
};

/// For who says when compiling that a message is sent more than once.
template <class M>
constexpr void require_copies() noexcept {
    static_assert(std::copy_constructible<std::remove_cvref_t<M>>,
                  "a periodic message is sent again and again, so it must be copyable: hold what "
                  "is not by std::shared_ptr, or schedule it once");
}

enum class job_kind : std::uint8_t {
    message,   // to an actor, in an envelope
    function,  // runs on a dispatcher
    note,      // the runtime's: tells an actor, or a listener, that a timer of its own is due
    wake,      // the runtime's: calls a waker
    flight,    // no job: a copy of a periodic job's message, on its way
};

/// What runs a job's function; lies in front of it.
struct job_task final : worker_task {
    explicit job_task(job& whose) noexcept : of(whose) {}
    job& of;
    [[nodiscard]] handled run() noexcept override;
    void dropped() noexcept override;
};

struct alignas(port::cache_line < 8 ? 8 : port::cache_line) job final : envelope_guard {
    /// Bytes for what it carries; a larger one is a block of the scheduler's memory.
    static constexpr std::size_t inside_size = port::cache_line < 8 ? 16 : 64;
    static constexpr std::size_t inside_alignment = port::cache_line < 8 ? 8 : 16;
    /// Atomics are as large as what they hold; in the model they are not.
    static constexpr bool is_compact = sizeof(port::plain<job*>) == sizeof(job*) &&
                                       sizeof(port::atomic<std::uint32_t>) == sizeof(std::uint32_t);
    /// In front of a message that lies in the cell; `inside` begins so that the message is aligned.
    static constexpr std::size_t guard_room = is_compact ? 8 : envelope::guard_room;

    // "state": what was done with a job while it was executing happens before what is done by who
    // ends it, or sees that it has ended.
    static constexpr port::edge state{"job-state"};

    job() noexcept : word(job_word().bits()) {}
    /// In a cell that was one before. Its word is not touched: who has an old handle may look at it
    /// at any time.
    struct in_old_cell {};
    explicit job(in_old_cell) noexcept {}

    union {  // so that it can be left as it is
        port::atomic<job_word::stored> word;
    };
    port::plain<job*> next;
    timer_handle timer;                           // in the wheel, or stale
    const detail::cargo_type* carries = nullptr;  // null: nothing, or not any more
    void* cargo = nullptr;
    // "held": everything done with the cell happens before it is used again.
    static constexpr port::edge held{"job-held"};
    port::atomic<std::uint32_t> holders{0};
    std::uint16_t executor = 0;  // number of the dispatcher
    job_mode mode = job_mode::one_shot;
    job_kind kind = job_kind::message;
    timer_priority priority = timer_priority::normal;
    bool own_block = false;     // what it carries lies in a block of the scheduler's memory
    bool was_handled = false;   // of a flight or one-shot: its handler was called; of a function
                                // that is cancelled: it was running, and nothing else to come
    bool failed = false;        // SC-12
    bool has_overflow = false;  // a place in overflow is reserved; the lock's holder's
    bool goes_alone = false;    // of one that is due: its message needs no cell, or there is none
    bool is_active = false;     // it counts as such; the lock's holder's
    bool is_counted = false;    // its cancel was; the lock's holder's

    instant due;
    instant registered_at;  // or armed again
    mailbox_index to;
    mailbox_index sender;
    std::uint64_t sequence = 0;  // in the order of registration
    alignas(is_compact ? 8 : inside_alignment) std::byte inside[guard_room + inside_size];
    scheduler* home = nullptr;

    // Of periodic jobs and functions.
    job* flight = nullptr;  // of a job that is due: where the copy goes
    duration period;
    tick fired_at = 0;  // 0: never
    // Of a function: runs that wait, or are being done. "owed": the last run happens before the
    // next, on whatever thread.
    static constexpr port::edge owing{"job-owing"};
    port::atomic<std::uint32_t> owed{0};
    std::uint32_t missed = 0;         // at the run that is due; see missed_runs
    std::uint32_t backlog_limit = 0;  // SC-22
    std::uint32_t burst_threshold = 0;
    // Of who made it (SC-5); of a flight the job it is of; once it is closed a link.
    std::uint64_t metadata = 0;
    bool each = false;                    // SC-20: missed runs are delivered one by one
    port::plain<bool> after_sent{false};  // SC-26
    bool comes_back = false;              // of the runtime's own: armed again, as if registered
    std::uint32_t missed_told = 0;        // of a function: those counted when its task was queued

    [[nodiscard]] bool is_periodic() const noexcept { return mode != job_mode::one_shot; }
    [[nodiscard]] std::uint32_t missed_runs() const noexcept { return is_periodic() ? missed : 0; }
    /// SC-20: what it missed is delivered one by one.
    [[nodiscard]] bool each_alone() const noexcept { return is_periodic() && each; }
    /// SC-22: of one that is due: it has missed too much, and is ended instead.
    [[nodiscard]] bool is_over() const noexcept {
        return is_periodic() && !each && missed > backlog_limit;
    }
    /// Others than its job may use what it carries.
    [[nodiscard]] bool is_shared() const noexcept {
        return kind == job_kind::function && is_periodic();
    }
    /// A timer of an actor, which is told when it is due, and when there was no room for it.
    [[nodiscard]] bool is_of_actor() const noexcept {
        return kind == job_kind::note && cargo == nullptr;
    }
    /// Armed again by who handles it, not by who fires it.
    [[nodiscard]] bool waits_for_its_run() const noexcept {
        return mode == job_mode::fixed_delay && !after_sent.read();
    }

    /// The key of an actor's timer, for warnings. Such a job carries nothing, so `inside` is free.
    /// On a device it is not kept.
    static constexpr std::size_t label_size = port::has_interrupts ? 0 : inside_size - 1;
    void set_label(std::string_view text) noexcept {
        if constexpr (label_size != 0)
            inside[text.copy(reinterpret_cast<char*>(inside), label_size)] = std::byte{0};
    }
    /// Requires: a label was set.
    [[nodiscard]] std::string_view label() const noexcept {
        if constexpr (label_size != 0)
            return reinterpret_cast<const char*>(inside);
        else
            return {};
    }

    /// Changes the word if it is still what was seen; else it is seen anew.
    [[nodiscard]] bool replace(job_word& seen, job_word by) noexcept {
        job_word::stored bits = seen.bits();
        const bool is_done =
            word.compare_exchange_weak(bits, by.bits(), state.release(), std::memory_order_relaxed);
        seen = is_done ? seen : job_word(bits);
        return is_done;
    }

    /// CN-4: asked once more before it is handled.
    [[nodiscard]] bool begin(scope& during) noexcept override;
};

/// What lies in front of a function, in a cell and in a block of its own.
constexpr std::size_t task_room(bool own_block) noexcept {
    constexpr std::size_t unit = job::inside_alignment;
    const std::size_t lead = own_block ? 0 : unit - job::guard_room;  // in front of `inside`
    return (sizeof(job_task) + lead + unit - 1) / unit * unit - lead;
}

// It has one base, and no virtual one: where its members are is well known.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winvalid-offsetof"
/// Where the word of a cell is, also when its memory was given back: then that is all there is.
inline constexpr std::size_t word_offset = offsetof(job, word);
static_assert((offsetof(job, inside) + job::guard_room) % job::inside_alignment == 0);
static_assert((offsetof(job, inside) + task_room(false)) % job::inside_alignment == 0);
static_assert(port::cache_line < 8 || !job::is_compact ||
              (offsetof(job, is_counted) < port::cache_line &&
               offsetof(job, inside) + job::guard_room + 16 <= 2 * port::cache_line));
#pragma GCC diagnostic pop

}  // namespace detail
}  // namespace tactus::inline v0
