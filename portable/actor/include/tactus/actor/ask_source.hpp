// SPDX-License-Identifier: Apache-2.0
//
// Ask source: a task asks an actor and waits for its reply (AS-1, AC-2); see wait_awaiter.hpp.
//
// The reply comes to an actor of its own, made for it (an orphan), which ends with the question. Of
// reply, timeout and end of the wait the first decides, under the lock of a place that the wait and
// that actor share; a later reply finds nobody, and is a dead letter.
#pragma once

#include <cstdint>
#include <expected>
#include <new>
#include <optional>
#include <type_traits>
#include <utility>

#include <tactus/actor/actor_ref.hpp>
#include <tactus/actor/actor_world.hpp>
#include <tactus/actor/ask_failure.hpp>
#include <tactus/actor/delay_source.hpp>
#include <tactus/actor/props.hpp>
#include <tactus/actor/quietly_moved.hpp>
#include <tactus/actor/wait_awaiter.hpp>

namespace tactus::inline v0 {

namespace detail {

/// Shared by the wait and the actor that the reply comes to.
template <class R>
class reply_share {
public:
    [[nodiscard]] static reply_share* make(memory_source& memory, waker& to_wake) noexcept {
        void* block = memory.allocate(sizeof(reply_share), alignof(reply_share));
        return block != nullptr ? ::new (block) reply_share(memory, to_wake) : nullptr;
    }
    void drop() noexcept {
        bool last = false;
        {
            const port::lock_guard held(mutex_);
            last = --holders_ == 0;
        }
        if (!last)
            return;
        memory_source& memory = memory_;
        this->~reply_share();
        memory.release(this, sizeof(reply_share), alignof(reply_share));
    }
    void replied(R&& reply) noexcept {
        {
            const port::lock_guard held(mutex_);
            if (decided_)
                return;
            decided_ = true;
        }
        // Decided by this one: nobody else looks at it before the waker is called. Moving it is
        // user code, which runs without the lock, and may throw.
        failed_ = !call_user([&] { reply_.emplace(std::move(reply)); }).is_ok();
        to_wake_.wake();
    }
    void timed_out() noexcept {
        {
            const port::lock_guard held(mutex_);
            if (decided_)
                return;
            decided_ = true;
        }
        to_wake_.wake();
    }
    /// True: nobody will wake.
    [[nodiscard]] bool give_up() noexcept {
        const port::lock_guard held(mutex_);
        return !std::exchange(decided_, true);
    }
    /// After it was decided.
    [[nodiscard]] std::optional<R>& reply() noexcept { return reply_; }
    /// After it was decided: there was one, and moving it threw.
    [[nodiscard]] bool has_failed() const noexcept { return failed_; }

private:
    reply_share(memory_source& memory, waker& to_wake) noexcept
        : memory_(memory), to_wake_(to_wake) {}
    ~reply_share() = default;

    memory_source& memory_;
    waker& to_wake_;
    port::mutex mutex_;
    // Under the lock.
    std::uint32_t holders_ = 2;
    bool decided_ = false;
    // Of the one that decided, then of the one that waits.
    bool failed_ = false;
    std::optional<R> reply_;
};

/// A share that ends with whoever has it.
template <class R>
class reply_holder {
public:
    explicit reply_holder(reply_share<R>* of) noexcept : of_(of) {}
    reply_holder(reply_holder&& other) noexcept : of_(std::exchange(other.of_, nullptr)) {}
    reply_holder& operator=(reply_holder&&) = delete;
    ~reply_holder() {
        if (of_ != nullptr)
            of_->drop();
    }
    [[nodiscard]] reply_share<R>& operator*() const noexcept { return *of_; }

private:
    reply_share<R>* of_;
};

}  // namespace detail

template <class R, class Make>
class ask_source {
public:
    struct request {
        actor_world* world;
        any_ref target;
        detail::quietly_moved<Make> make;
        duration timeout;  // max(): for ever
    };
    static constexpr wait_kind waits_for = wait_kind::reply;
    using result = std::expected<R, ask_failure>;

    ask_source(request&& what, waker& to_wake, mailbox_index owner) noexcept
        : what_(std::move(what)), to_wake_(to_wake), owner_(owner), late_(*this) {}
    ~ask_source() { end(); }
    ask_source(const ask_source&) = delete;
    ask_source& operator=(const ask_source&) = delete;

    [[nodiscard]] bool start() noexcept;
    [[nodiscard]] bool give_up() noexcept {
        const bool first = share_->give_up();
        if (first)
            end();
        return first;
    }
    [[nodiscard]] result take() noexcept {
        if (fault_)
            return std::unexpected(failed(*fault_));
        const ending after{*this};
        std::optional<R>& reply = share_->reply();
        if (!reply)
            return std::unexpected(
                failed(share_->has_failed() ? ask_fault::reply_failed : ask_fault::timeout));
#if defined(__cpp_exceptions)
        try {
            return result(std::in_place, std::move(*reply));
        } catch (...) {
            return std::unexpected(failed(ask_fault::reply_failed));
        }
#else
        return result(std::in_place, std::move(*reply));
#endif
    }

private:
    struct ending {
        ask_source& of;
        ~ending() { of.end(); }
    };
    class late final : public waker {
    public:
        explicit late(ask_source& of) noexcept : of_(of) {}
        void wake() noexcept override { of_.share_->timed_out(); }

    private:
        ask_source& of_;
    };

    [[nodiscard]] ask_failure failed(ask_fault why) const noexcept {
        using message = std::remove_cvref_t<std::invoke_result_t<Make&, actor_ref<R>>>;
        return {why, what_.target, what_.timeout, &message_type_of<message>};
    }
    [[nodiscard]] bool refused(ask_fault why) noexcept {
        fault_ = why;
        // The timer may have been faster: then who waits is woken, and learns this.
        if (share_ != nullptr && !share_->give_up())
            return true;
        end();
        return false;
    }
    /// The timer is cancelled, the actor stopped, the share given up.
    void end() noexcept {
        if (handle_)
            (void)what_.world->timers()->cancel(*handle_);
        handle_.reset();
        if (box_.valid())
            (void)what_.world->stop(box_);
        box_ = {};
        if (share_ != nullptr)
            std::exchange(share_, nullptr)->drop();
    }

    request what_;
    waker& to_wake_;
    mailbox_index owner_;
    late late_;
    timer_target target_;
    std::optional<timer_handle> handle_;
    mailbox_index box_;
    detail::reply_share<R>* share_ = nullptr;
    std::optional<ask_fault> fault_;
};

}  // namespace tactus::inline v0
