// SPDX-License-Identifier: Apache-2.0
//
// One execution of a body: its threads, what they know, what they wait for, and how it ends.
//
// A thread stops before each operation and says what it is about to do (arrive); then the director
// chooses among those that can go on; the chosen one does its operation and goes on to its next.
// The code between two operations runs undisturbed: what it does to plain cells is judged by vector
// clocks, so its order against other threads' plain accesses does not matter.
//
// Fairness is that of CHESS (Musuvathi and Qadeer, 2008), with patience: a thread that gives way
// again and again stands back until every thread that it starved meanwhile has taken a step. So
// waiting loops end. What it cuts off depends on all threads, which the reduction does not know;
// hence executions in which nobody loses patience are searched completely, and others fairly.
//
// The object is used for all executions of a check and keeps its memory.
//
// Invariants
//   N1  exactly one strand runs, that of current_; every other live thread is stopped in arrive()
//   N2  after ended_ is set no code of the body runs any more
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "director.hpp"
#include "heap.hpp"
#include "strand.hpp"

namespace tactus::inline v0::port::model::detail {

/// Values that were stored to a cell in earlier passes of a search (future_reads).
using learned_values = std::unordered_map<std::uint64_t, std::vector<std::uint64_t>>;

struct taken_decision {
    bool is_choice;
    unsigned value;
};

class execution {
public:
    execution(const options& how, director& by, const std::function<void()>& body);

    /// One execution from begin to end.
    void run();

    // How it ended
    [[nodiscard]] failure kind() const noexcept { return kind_; }
    [[nodiscard]] bool discarded() const noexcept { return discarded_; }
    [[nodiscard]] const std::string& message() const noexcept { return message_; }
    [[nodiscard]] unsigned steps() const noexcept { return steps_; }
    [[nodiscard]] std::uint64_t outcome() const noexcept;
    [[nodiscard]] std::string trace_text() const;
    [[nodiscard]] std::string schedule_text() const;
    /// Puts what was stored into `learned`; true when something was new.
    bool learn(learned_values& learned) const;
    void set_learned(const learned_values* learned) noexcept { learned_ = learned; }

    // What the hooks of the port call, see <tactus/port/model_hooks.hpp>
    void born(const cell& c, cell_kind kind, where at);
    std::uint64_t load(const cell& c, order o, where at);
    void store(const cell& c, std::uint64_t value, order o, where at);
    std::uint64_t modify(const cell& c, change how, std::uint64_t operand, order o, where at);
    bool compare_exchange(const cell& c, std::uint64_t& seen, std::uint64_t wanted, order success,
                          order failure_order, strength how, where at);
    void plain_access(const cell& c, op kind, where at);
    void lock(handle& mutex, where at);
    bool try_lock(handle& mutex, where at);
    void unlock(handle& mutex, where at);
    void wait(handle& condition, handle& mutex, where at);
    void notify(handle& condition, bool all, where at);
    bool wait_on(const cell& word, std::uint32_t expected, std::int64_t timeout_ns, where at);
    void wake_one(const cell& word, where at);
    void give_way(where at);
    instance thread_instance(const void* tag, std::size_t size, std::size_t alignment);
    void thread_instance_made() noexcept { constant_initialising_ = false; }
    void at_thread_exit(void (*call)(void*) noexcept, void* with);
    unsigned start_thread(void (*call)(void*), void* with, where at);
    void join_thread(unsigned thread, where at);
    void* allocate(std::size_t size, std::size_t alignment, memory kind, where at);
    void check_disposable(const void* object, where at);
    void dispose(void* object, where at);
    void poison(const void* from, std::size_t size, where at);
    void unpoison(const void* from, std::size_t size);
    unsigned test_choice(unsigned count, where at);
    void note(const char* text, where at);
    void name_cell(const cell& c, cell_kind kind, const char* text);
    [[noreturn]] void fail(failure kind, std::string message);
    [[nodiscard]] std::string here(where at) const;  // "thread b at file:line"

private:
    enum class status : std::uint8_t { absent, alive, stuck, finished };
    struct exit_call {
        void (*call)(void*) noexcept;
        void* with;
    };
    struct model_thread {
        status state = status::absent;
        void (*run)(void*) = nullptr;
        void* with = nullptr;
        vector_clock clock;
        std::uint64_t outcome = 0;
        std::uint64_t cell_count = 0;

        // Waiting
        std::uint32_t asleep_on = no_object;
        bool woken = false;
        bool timed = false;
        unsigned joins = no_thread;
        unsigned spurious_left = 0;
        unsigned timeouts_left = 0;
        std::uint32_t failed_weakly = no_object;  // the last operation was a spurious failure of it

        // Fairness
        thread_mask before = 0;          // must take a step first
        thread_mask stepped = 0xffff;    // since it last gave way
        thread_mask always_enabled = 0;  // since then
        unsigned starving = 0;           // gave way so often in a row while others could not go on
        bool gave_way = false;           // with its last operation
        unsigned idle_reads = 0;         // that brought nothing new, in a row

        std::vector<exit_call> exit_calls;
        std::vector<std::pair<const void*, void*>> instances;
        arena memory;
    };
    struct promise {
        unsigned thread;
        std::uint32_t step;
        std::uint32_t object;
        std::uint64_t value;
    };
    struct saved_bytes {
        std::uint32_t object;
        std::vector<std::byte> bytes;
    };
    enum class idle_sleepers : std::uint8_t { stay, may_time_out };

    // Scheduling: execution.cpp
    static void thread_main(void* with);
    void begin();
    void finish_thread();
    void arrive(const operation& o);
    void pass_on();
    [[nodiscard]] unsigned pick();
    [[nodiscard]] bool enabled(unsigned thread, idle_sleepers sleepers) const;
    [[nodiscard]] thread_mask all_enabled() const;
    [[noreturn]] void stop();
    [[nodiscard]] unsigned choose(unsigned count);
    void step(const operation& done, std::uint64_t value, bool old = false, bool future = false);
    void show(op kind, std::uint32_t object, std::uint64_t value, where at,
              const char* text = nullptr);
    void remember(op kind, std::uint64_t identity, std::uint64_t value) noexcept;
    [[nodiscard]] std::string deadlock_text() const;
    void check_leaks();
    [[nodiscard]] model_thread& me() noexcept { return threads_[current_]; }
    [[nodiscard]] std::uint32_t now() const noexcept {
        return threads_[current_].clock.at(current_);
    }

    // Locations: location.cpp
    std::uint32_t add_location(const cell& c, location_kind kind, bool from_outside);
    std::uint32_t find(const cell& c, location_kind kind);
    std::uint32_t find(handle& h, location_kind kind);
    void check_usable(const location& l, where at);
    void put_back();
    [[nodiscard]] std::string name_of(std::uint32_t object) const;

    // Memory: memory.cpp
    struct readable {
        std::uint32_t floor;
        bool all;  // everything that C++ allows: no bound cut it
    };
    [[nodiscard]] readable read_floor(const location& l, bool seq_cst) const;
    std::uint64_t read_store(location& l, std::uint32_t index, order o);
    void append_store(location& l, std::uint64_t value, order o, bool continues);
    void note_idle(bool idle);
    // future_reads: promise.cpp
    [[nodiscard]] std::size_t promise_count(const location& l, order o) const;
    std::uint64_t make_promise(std::uint32_t object, std::size_t which, where at);
    void check_promises(std::uint32_t object, const std::uint64_t* stored);

    // Sleepers: blocking.cpp
    void take_mutex(location& l);
    void free_mutex(location& l, where at);
    void wake(location& l, bool all);

    // Constant after construction
    const options how_;
    director& director_;
    const std::function<void()>& body_;
    const learned_values* learned_ = nullptr;

    // Strands: the caller of check() is one too
    strand caller_;
    std::array<strand, thread_count_max> strands_;

    // Of this execution
    std::uint32_t serial_ = 0;
    std::array<model_thread, thread_count_max> threads_;
    std::array<operation, thread_count_max> pending_{};
    unsigned thread_count_ = 0;
    unsigned current_ = 0;
    unsigned previous_ = no_thread;
    unsigned steps_ = 0;
    bool ended_ = false;
    bool discarded_ = false;
    bool constant_initialising_ = false;
    failure kind_ = failure::none;
    std::string message_;
    std::optional<std::pair<failure, std::string>> pending_failure_;
    location_table locations_;
    std::uint32_t location_count_ = 0;
    std::uint32_t threads_object_ = no_object;
    std::vector<saved_bytes> saved_;
    std::vector<allocation> allocations_;
    poison_map poisoned_;
    std::vector<promise> promises_;
    std::vector<trace_line> trace_;
    std::vector<taken_decision> taken_;
};

/// The one that runs, while `running`.
extern constinit execution* current_execution;

[[nodiscard]] std::string place_text(where at);
[[nodiscard]] std::string thread_name(unsigned thread);
[[nodiscard]] const char* op_text(op kind) noexcept;

}  // namespace tactus::inline v0::port::model::detail
