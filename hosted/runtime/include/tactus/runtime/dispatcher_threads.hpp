// SPDX-License-Identifier: Apache-2.0
//
// Dispatcher threads: runs the workers of one dispatcher on threads of its own (EX-2, EX-5, EX-6).
//
// A dispatcher has as many workers as it may ever need, and usually fewer threads. The first
// `thread_count` workers have one while the dispatcher runs; the others get extra threads. A worker
// has a place here:
//
//   phase        means                                     next
//   empty        nobody runs it, nothing waits for it      start, start_extra -> starting
//   standing_by  listed as the last to be woken for work   woken, or -> empty
//   woken        there is work: it needs a thread          start, tend -> starting
//   starting     about to get a thread                     -> running, or empty if there is none
//   running      a thread runs it                          its thread ends -> ended
//   ended        its thread is to be joined                tend, stop -> empty
//
// Extra threads come when the dispatcher starves (start_extra), and for handlers that block
// (blocking_section): then a worker stands by, and gets a thread as soon as there is work for it.
// They end after an idle second. Threads block all signals (UP-7), and an idle one sleeps (EX-4).
//
// What it is about is one word, its aim; tend() brings it about, and waits for no handler:
//
//   aim    means                                                           changed by
//   run    the regular places have threads                                 rest, stop
//   rest   all threads are told to end; when the last has, the first       start; tend, when there
//          place stands by. Until then something may come                  is work, or a place woke
//   stop   all threads are told to end; nothing is started any more        start
//
// So there is always a thread, or one that stands by, or somebody who calls tend again: nothing is
// stranded (EX-1).
//
// Thread safety: any thread; start, stop, rest and tend one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tactus/dispatch/actor_scheduler.hpp>
#include <tactus/dispatch/waker.hpp>

namespace tactus::inline v0::runtime {

/// EX-9, of one worker.
enum class worker_state : std::uint8_t {
    spawned,   // its thread has not begun yet
    running,   // in a handler, or looking for work
    parked,    // asleep: there is nothing to do
    draining,  // told to end, and not ended yet
    stopped,   // has no thread
};
[[nodiscard]] const char* name_of(worker_state state) noexcept;

/// EX-6: how the threads of a dispatcher are made.
struct thread_settings {
    // Processors: worker n runs on the (n modulo size)th. Empty: any.
    std::vector<unsigned> affinity = {};
    std::size_t stack_bytes = 0;  // 0: what the system gives
};

/// Tries whether the system gives threads to as many workers: what it said, if not. A dispatcher of
/// the kernel cannot be taken back, so who makes one asks first.
[[nodiscard]] std::optional<std::string> refusal_of(const thread_settings& how,
                                                    std::uint32_t worker_count);

/// C-DCF-6: `<system>-<dispatcher>-<n>` in the 15 characters Linux keeps. Of the dispatcher's id
/// the part behind its last dot, without "-dispatcher"; what is too long then loses its end, the
/// longer of the two first. Without an id: `<system>-<n>`.
[[nodiscard]] std::string worker_thread_name(std::string_view system, std::string_view dispatcher,
                                             std::uint32_t number);

class dispatcher_threads final : private worker_supply {
public:
    struct options {
        std::string system_name = "tactus";
        std::string id = "default";
        std::uint32_t thread_count = 0;  // 0: one per worker
        thread_settings how = {};
        duration extra_idle_max = duration::from_s(1);
        waker* keeper = nullptr;  // makes somebody call tend(); null: there are no extra threads
    };
    /// Starts nothing yet. Both outlive this; nobody else runs the dispatcher's workers.
    dispatcher_threads(actor_scheduler& system, dispatcher& where, options o);
    /// Stops.
    ~dispatcher_threads();
    dispatcher_threads(const dispatcher_threads&) = delete;
    dispatcher_threads& operator=(const dispatcher_threads&) = delete;

    /// Starts what is missing of the threads it should have; it rests no longer. False when the
    /// system refused one.
    bool start();
    /// Ends all threads, once each is through with its handler; what waits stays where it is.
    /// Requires: the caller is none of them (check dispatcher_threads:1).
    void stop();
    /// EX-6: tells the threads to end, until there is work; waits for none of them. Requires: a
    /// keeper, or somebody who calls tend().
    void rest();
    /// One more thread, if a worker is left without; all of them, if it rests. False when none is
    /// left, or the system refused.
    bool start_extra();
    /// Joins threads that have ended, starts those that became due, completes or ends a rest.
    void tend();

    /// It rests, or is about to: see above.
    [[nodiscard]] bool ends_for_rest() const;
    /// What the system said when it last refused a thread; empty once nothing is missing. start()
    /// tries again.
    [[nodiscard]] std::string refusal() const;
    [[nodiscard]] std::uint32_t running_count() const;
    [[nodiscard]] std::uint32_t extra_count() const;
    [[nodiscard]] std::uint32_t blocking_count() const;
    /// How many are listed as sleepers when nothing is going on.
    [[nodiscard]] std::uint32_t sleepers_when_idle() const;
    /// Nothing waits, and every thread is asleep.
    [[nodiscard]] bool idle() const;
    [[nodiscard]] worker_state state_of(std::uint32_t worker) const;
    /// It is in a blocking_section.
    [[nodiscard]] bool blocks(std::uint32_t worker) const;
    /// How often its threads were stopped, for whatever reason.
    [[nodiscard]] std::uint32_t stop_count() const;

private:
    enum class phase : std::uint8_t { empty, standing_by, woken, starting, running, ended };
    enum class aim : std::uint8_t { run, rest, stop };
    class place;
    template <class T>
    class shown;

    [[nodiscard]] const char* state_name(std::uint32_t worker) const noexcept override {
        return name_of(state_of(worker));
    }
    void blocking_begins(worker& w) noexcept override;
    void blocking_ends(worker& w) noexcept override;
    void join_ended();
    [[nodiscard]] bool rests_on();
    [[nodiscard]] bool starts(std::span<place* const> which);
    [[nodiscard]] bool extra(const place& p) const;
    static void* thread_main(void* of);
    void run(place& p);
    [[nodiscard]] coordinator& order() const { return where_.order(); }
    [[nodiscard]] worker_lanes& lanes_of(const place& p) const;

    struct shared;  // what is under the lock

    actor_scheduler& system_;
    dispatcher& where_;
    options options_;
    port::atomic<std::uint32_t> stop_{0};
    std::unique_ptr<shared> shared_;
    std::vector<std::unique_ptr<place>> places_;
    // Of start, stop and tend: as large as places_, so that none of them needs memory.
    std::vector<place*> chosen_;
};

}  // namespace tactus::inline v0::runtime
