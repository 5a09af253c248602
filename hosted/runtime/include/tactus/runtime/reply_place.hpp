// SPDX-License-Identifier: Apache-2.0
//
// Reply place: where a thread outside waits for the reply to its question (AS-1); see
// actor_system::ask.
//
// The thread sleeps without a limit of its own. The first of these ends that: the reply, which
// comes to an actor made for it; that actor's end (PK-ASK-4); the timer of the question, by whoever
// fires it, so that no busy worker holds it up; the end of the scheduler, which tells every timer.
// So every question has a timer, also one that waits for ever: long times are waited for in spans.
//
// Invariants
//   R1  a place is decided once; a reply that comes then is given back, and becomes a dead letter.
//       One that arrives in time has decided it, whatever becomes of it
//   R2  a timer that was told and has not ended yet decides for its own span only
//
// Thread safety: each function says whose it is; what is shared is under the lock.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include <tactus/actor/actor.hpp>
#include <tactus/actor/ask_failure.hpp>
#include <tactus/scheduler/pending_delay.hpp>

namespace tactus::inline v0::detail {

/// What the type of the reply does not matter for.
class reply_wait : private waker {
public:
    reply_wait(const reply_wait&) = delete;
    reply_wait& operator=(const reply_wait&) = delete;

    /// The actor that the reply would come to has ended. Any thread.
    void abandon() noexcept { (void)decide(decision::open, decision::abandoned); }

protected:
    /// arriving: the reply has come in time, and is being moved.
    enum class decision : std::uint8_t { open, arriving, replied, failed, abandoned, timed };

    reply_wait() = default;
    virtual ~reply_wait() = default;  // its friend could call it

    /// False: it was decided otherwise.
    [[nodiscard]] bool decide(decision from, decision to) noexcept {
        {
            const std::lock_guard held(mutex_);
            if (decided_ != from)
                return false;
            decided_ = to;
        }
        changed_.notify_one();
        return true;
    }

private:
    friend class reply_deadline;

    /// The timer's.
    void wake() noexcept override;

    std::mutex mutex_;
    std::condition_variable changed_;
    // Under the lock.
    decision decided_ = decision::open;
    bool is_last_span_ = false;  // written while there is no timer
};

template <class R>
class reply_place final : public reply_wait {
public:
    /// False: it comes too late, and is still the caller's. By the actor it came to.
    bool put(R& reply) noexcept {
        if (!decide(decision::open, decision::arriving))
            return false;
        // Moving it is user code, which runs without the lock, and may throw.
        const bool has_come = call_user([&] { reply_.emplace(std::move(reply)); }).is_ok();
        (void)decide(decision::arriving, has_come ? decision::replied : decision::failed);
        return true;
    }
    /// After it has come. By who waits.
    [[nodiscard]] std::optional<R>& reply() noexcept { return reply_; }

private:
    std::optional<R> reply_;
};

/// The timer of a question, and the sleep of who asked. Its end cancels the timer.
///
/// Belongs to the thread that asks.
class reply_deadline {
public:
    /// Begins to count. `timeout` is positive; max() never comes.
    reply_deadline(reply_wait& of, scheduler& timers, duration timeout);
    reply_deadline(const reply_deadline&) = delete;
    reply_deadline& operator=(const reply_deadline&) = delete;

    /// Why there is no timer: nothing need be asked then.
    [[nodiscard]] std::optional<ask_fault> refusal() const noexcept;
    /// Sleeps until it is decided. Nothing: the reply has come.
    [[nodiscard]] std::optional<ask_fault> wait();

private:
    void begin_span(bool goes_on);
    reply_wait& of_;
    scheduler& timers_;
    duration left_;  // after this span
    std::optional<pending_delay> span_;
};

template <class R>
class reply_box : public actor<R> {
public:
    explicit reply_box(std::shared_ptr<reply_place<R>> to) : to_(std::move(to)) {}
    reply_box(const reply_box&) = delete;
    reply_box& operator=(const reply_box&) = delete;
    ~reply_box() { to_->abandon(); }

    void on(R&& reply) {
        // R1: what this actor is told now it is told too late.
        if (!to_->put(reply))
            any_ref(this->self()).tell(std::move(reply), this->sender());
        this->context().stop();
    }

private:
    std::shared_ptr<reply_place<R>> to_;
};

/// Ends the box of a question that got no reply, be it that making the message threw.
struct unanswered_box {
    actor_world& world;
    mailbox_index box;  // names nothing: it was answered, and ends by itself
    ~unanswered_box() {
        if (box.valid())
            (void)world.stop(box);
    }
};

}  // namespace tactus::inline v0::detail
