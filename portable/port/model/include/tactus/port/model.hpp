// SPDX-License-Identifier: Apache-2.0
//
// The model checker: runs a small concurrent program under every interleaving (MC-1, MC-2).
//
// A check calls its body once per execution. The body makes threads, which use the port's atomics,
// plain cells, mutexes and sleeping words; the checker decides who takes the next step, which of
// the values that C++ allows a load returns, who is woken and when a sleep times out, until all
// decisions have been taken in all ways (or as many as asked for). It finds races, failed
// requirements and checks, deadlocks (a lost wake-up is one), livelocks, leaks, double frees and
// uses after free, and shows the steps that lead there with a schedule that replays them.
//
//     static constexpr port::edge published{"message-published"};
//
//     TEST(message, is_seen_whole_or_not_at_all) {
//         const model::report r = model::check({}, [] {
//             port::plain<int> payload{0};
//             port::atomic<bool> ready{false};
//             model::thread sender([&] {
//                 payload.write(42);
//                 ready.store(true, published.release());
//             });
//             if (ready.load(published.acquire()))
//                 model::require(payload.read() == 42);
//         });                                               // ~thread joins
//         EXPECT_TRUE(r.ok && r.exhaustive) << r.text;
//     }
//
// and, to look at a failure again with a debugger:
//
//     model::replay({}, "a3b2/1a", body)        // the schedule at the end of r.text
//
// Rules for a body
//   - It is deterministic but for what the checker decides: no clock, no random numbers, no use of
//     how addresses are ordered. A body that is not is reported.
//   - What it shares it makes afresh in each execution, on its stack or with make(). Cells made
//     before the check (static ones too) get their value back after each execution.
//   - An execution that fails stops where it is: its stacks are dropped and no destructor runs, so
//     what they own with plain `new` is lost. What make() made is always given back.
//   - A loop that waits calls pause() or yield(), or it may be taken for a livelock.
//
// Limits: 16 threads in an execution; how the memory model is approximated is in the port's README.
// Thread safety: one check at a time in a process, called from an ordinary thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <source_location>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <tactus/port/port.hpp>

namespace tactus::inline v0::port::model {

inline constexpr std::size_t thread_count_max = 16;  // the body's own thread is one of them

enum class strategy : std::uint8_t {
    exhaustive,  // everything within the bounds
    random,      // `runs` executions, each decision drawn evenly
    pct,         // `runs` executions by random priorities with `pct_depth` - 1 changes: finds a bug
    // that needs d ordered steps with probability of at least 1 / (threads * steps^(d-1))
};

struct options {
    strategy search = strategy::exhaustive;
    // Exhaustive: switches away from a thread that could go on, at most; none is no bound.
    std::optional<unsigned> preemption_bound = std::nullopt;
    bool reduction = true;  // do not run executions that differ in the order of independent steps

    // Random and PCT
    std::uint64_t seed = 1;
    std::uint64_t runs = 10'000;
    unsigned pct_depth = 3;

    // Where a search gives up: the report is then not exhaustive.
    std::uint64_t execution_limit = 20'000'000;
    std::chrono::milliseconds time_limit{0};  // 0: none
    unsigned step_limit = 5'000;              // of one execution; reaching it is a livelock

    // What may happen
    unsigned stale_rereads = 2;           // reads of a store beyond the first before only newer
                                          // ones are returned, if there are
    unsigned patience = 3;                // how often a thread gives way while others starve
    bool spurious_weak_failures = false;  // compare_exchange_weak; not twice in a row
    bool spurious_wakeups = false;        // at most one for each thread
    bool future_reads = false;            // relaxed loads may see later stores (load buffering)
    bool leaks_are_failures = true;
};

enum class failure : std::uint8_t {
    none,
    race,
    assertion,
    deadlock,
    livelock,
    leak,
    double_free,
    use_after_free,
    misuse,  // of a mutex, a thread, or of the checker: a body that is not deterministic
};
[[nodiscard]] std::string_view to_text(failure kind) noexcept;

struct report {
    bool ok = true;
    failure kind = failure::none;
    std::string text;         // the bounds and counts; after a failure also its steps
    std::string message;      // one line: what failed
    std::string schedule;     // of the failing execution, for replay()
    bool exhaustive = false;  // everything within the bounds was looked at
    std::uint64_t executions = 0;
    std::uint64_t discarded = 0;        // whose reads of the future did not come true
    std::uint64_t redundant = 0;        // found to be equivalent to an earlier one half-way
    std::uint64_t distinct_states = 0;  // outcomes: what each thread read and wrote, in its order
    std::uint64_t steps_max = 0;        // of the longest execution
};

/// Runs the body under the search until it fails, or the search ends or gives up.
[[nodiscard]] report check(const options& how, const std::function<void()>& body);

/// Runs one execution by a schedule that an earlier report printed, under the same options. Where
/// the schedule ends, the execution goes on without switching.
[[nodiscard]] report replay(const options& how, std::string_view schedule,
                            const std::function<void()>& body);

/// True inside a check.
[[nodiscard]] inline bool in_check() noexcept {
    return detail::running;
}

/// Ends the execution as failed unless `holds`.
void require(bool holds, std::string_view what = {},
             std::source_location at = std::source_location::current()) noexcept;

/// A branch of the search: every number below `count` is returned in some execution.
[[nodiscard]] unsigned choose(unsigned count,
                              std::source_location at = std::source_location::current()) noexcept;

/// Adds a line to the trace. The text is shown when the execution fails, so it must live as long.
void note(const char* text, std::source_location at = std::source_location::current()) noexcept;

namespace detail {
void name_cell(const cell& c, cell_kind kind, const char* text) noexcept;
}

/// Names a cell in the trace. The text must live as long as the check.
template <class T>
void name(const atomic<T>& a, const char* text) noexcept {
    if (in_check())
        detail::name_cell(a.cell(), detail::cell_kind::atomic, text);
}
template <class T>
void name(const plain<T>& p, const char* text) noexcept {
    if (in_check())
        detail::name_cell(p.cell(), detail::cell_kind::plain, text);
}

/// A thread of the execution. Joins at the latest when it is destroyed.
class thread {
public:
    template <class Call>
        requires(!std::is_same_v<std::remove_cvref_t<Call>, thread>)
    explicit thread(Call&& call, std::source_location at = std::source_location::current()) {
        using callable = std::decay_t<Call>;
        void* memory =
            detail::allocate(sizeof(callable), alignof(callable), detail::memory::scratch, at);
        auto* copy = ::new (memory) callable(std::forward<Call>(call));
        id_ = detail::start_thread(
            [](void* made) {
                auto* run = static_cast<callable*>(made);
                (*run)();
                std::destroy_at(run);
            },
            copy, at);
    }
    thread(thread&& other) noexcept : id_(std::exchange(other.id_, joined)) {}
    thread& operator=(thread&&) = delete;
    ~thread() {
        if (id_ != joined)
            join();
    }

    void join(std::source_location at = std::source_location::current()) noexcept {
        detail::join_thread(std::exchange(id_, joined), at);
    }

private:
    static constexpr unsigned joined = ~0u;
    unsigned id_ = joined;
};

/// Memory that is watched: it must be given back with release() before the execution ends, once,
/// and cells in it are not used afterwards. It is not used again within the execution.
/// Outside of a check it is memory of the heap.
[[nodiscard]] void* allocate(std::size_t size, std::size_t alignment,
                             std::source_location at = std::source_location::current()) noexcept;
void release(void* memory, std::source_location at = std::source_location::current()) noexcept;

/// An object in watched memory, to be given to dispose().
template <class T, class... Arguments>
[[nodiscard]] T* make(Arguments&&... arguments) {
    return ::new (allocate(sizeof(T), alignof(T))) T(std::forward<Arguments>(arguments)...);
}
template <class T>
void dispose(T* object, std::source_location at = std::source_location::current()) noexcept {
    if (in_check())
        detail::check_disposable(object, at);  // before the destructor runs a second time
    std::destroy_at(object);
    release(object, at);
}

/// What an end of an edge can lose. acq_rel() has two: its acquire and its release; seq_cst() can
/// lose its place in the one order, or everything.
enum class edge_end : std::uint8_t {
    acquire,
    release,
    acq_rel_acquire,
    acq_rel_release,
    seq_cst,
    seq_cst_whole,
};
[[nodiscard]] std::string_view to_text(edge_end end) noexcept;

struct edge_use {
    std::string name;
    edge_end end;
    std::vector<std::string> places;  // file:line, each once, in the order they were met
};

/// Every end of every edge that was used in a check of this process so far, by name and end.
[[nodiscard]] std::vector<edge_use> edges_seen();
void forget_edges_seen();

/// While one lives, that end of that edge has a weaker order: acquire and release become relaxed,
/// acq_rel loses one of its two, seq_cst becomes acq_rel, or relaxed. At most one at a time. With a
/// place, as edges_seen() tells it, only there: a place that never needs its order is found then,
/// which hides behind the others otherwise.
class mutation {
public:
    mutation(std::string_view edge_name, edge_end end, std::string_view place = {});
    ~mutation();
    mutation(const mutation&) = delete;
    mutation& operator=(const mutation&) = delete;

    /// How often the weaker order was given: 0 says that nothing was tried.
    [[nodiscard]] std::uint64_t uses() const noexcept;
};

}  // namespace tactus::inline v0::port::model
