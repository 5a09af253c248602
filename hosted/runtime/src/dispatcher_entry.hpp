// SPDX-License-Identifier: Apache-2.0
//
// One dispatcher of a system, its executor, and what the housekeeper does for it.
//
//   what                      when
//   threads start and end     a worker that stood by was woken; an extra thread has ended
//   starved                   of what waited starvation_deadline ago, some still does
//   slow                      a worker is in the same run since slow_after
//   kept work is shared       a worker is in the same run at two looks, look_interval apart, and
//                             another one sleeps
//   retry                     a foreign executor has rejected workers, every 50 ms
//   rest                      no actors and nothing to do since shutdown_timeout; not the first one
//   start                     actors have come, and there are no threads; the system refused some,
//                             every second
//
// How long something waits is sampled, since nobody writes down when it came: a sample is how much
// waits, and how often workers have looked for more by then. Once they have looked as often as
// something waited, all of that was taken, for lanes are in order; then the next sample counts.
//
// tend() returns never when all workers sleep and nothing of this is pending: the first worker that
// wakes calls the housekeeper (idle_workers::watch), as do the first actor and the last. While no
// worker sleeps there is nobody to share work with: the first one that does calls the housekeeper.
//
// Thread safety: tend belongs to the housekeeper; the rest to any thread, one stop at the end.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <tactus/runtime/calling_thread.hpp>
#include <tactus/runtime/dispatchers.hpp>
#include <tactus/runtime/heap_memory.hpp>
#include <tactus/runtime/housekeeper.hpp>

namespace tactus::inline v0::runtime {

class dispatcher_handle::entry final : public housekept {
public:
    struct surroundings {
        const std::string& system_name;
        dispatcher_events* events;
        housekeeper* keeper;
        std::uint32_t retries;  // after a foreign executor's first refusal
        duration slow_after;
    };
    entry(actor_scheduler& system, dispatcher& where, const dispatcher_setup& e,
          const dispatcher_config& resolved, const surroundings& in);

    [[nodiscard]] std::string_view id() const { return id_; }
    [[nodiscard]] executor_kind kind() const { return kind_; }
    [[nodiscard]] dispatcher& where() const { return where_; }

    [[nodiscard]] instant tend(instant now) override;

    void set_starvation_deadline(duration d);
    void set_shutdown_timeout(duration d);
    [[nodiscard]] dispatcher_report report() const;
    [[nodiscard]] worker_state state_of(std::uint32_t worker) const;

    /// Nothing waits, and no worker is at work.
    [[nodiscard]] bool idle() const;
    /// Runs what waits, if nobody else does (inline_tick), on this thread.
    void run_inline();
    /// After the housekeeper has stopped.
    void stop();

private:
    struct limits {
        duration starvation_deadline;
        duration shutdown_timeout;
    };
    static constexpr duration retry_interval = duration::from_ms(50);  // EX-1
    // Twice this, and the time to wake two threads, are less than 2 ms.
    static constexpr duration look_interval = duration::from_us(750);
    static constexpr duration restart_interval = duration::from_s(1);
    static constexpr duration rest_limit = duration::from_ms(10);  // for sleeping threads to end

    [[nodiscard]] limits current_limits() const;
    [[nodiscard]] instant watch_starvation(instant now, const limits& l);
    [[nodiscard]] instant watch_slow(instant now);
    [[nodiscard]] instant share_kept(instant now);
    [[nodiscard]] instant watch_inhabitants(instant now, const limits& l, bool moved);
    [[nodiscard]] instant watch_refusal(instant now);
    [[nodiscard]] instant retry(instant now);
    [[nodiscard]] std::uint32_t sleepers_when_idle() const;
    /// Mailboxes; tasks count as one, however many they are.
    [[nodiscard]] std::uint32_t waiting_count() const;

    actor_scheduler& system_;
    dispatcher& where_;
    std::string id_;
    executor_kind kind_;
    dispatcher_events* events_;
    housekeeper& keeper_;
    heap_memory memory_;
    calling_thread here_{system_};
    std::optional<dispatcher_threads> threads_;
    std::optional<lent_workers> lent_;

    mutable std::mutex mutex_;
    limits limits_;  // under the lock

    // The housekeeper's.
    struct run {
        const slot* of = nullptr;
        std::uint32_t step = 0;
        instant since = {};
        duration told = {};  // when it has run for that long
    };
    const duration slow_after_;
    std::vector<run> runs_;  // by worker; empty: not sampled
    /// Calls the housekeeper when there is something to look at, which is then not over yet.
    class later_call final : public waker {
    public:
        explicit later_call(housekeeper& keeper) : keeper_(keeper) {}
        void wake() noexcept override { keeper_.wake_within(look_interval); }

    private:
        housekeeper& keeper_;
    };
    later_call when_changed_{keeper_};
    std::vector<kept_look> looks_;  // by worker; empty: no worker has another to share with
    instant look_at_;
    std::uint32_t progress_ = ~std::uint32_t{0};  // the first look sees a change
    struct {
        instant at = instant::never();  // never: nothing waited
        std::uint32_t waiting = 0;
        std::uint32_t progress = 0;
    } sample_;
    instant deserted_at_ = instant::never();  // since when nobody lives here and nothing is done
    instant rests_by_;                        // or the rest is given up
    instant restart_at_ = instant::never();   // the system refused threads, which was told
    instant retry_at_ = instant::never();
};

}  // namespace tactus::inline v0::runtime
