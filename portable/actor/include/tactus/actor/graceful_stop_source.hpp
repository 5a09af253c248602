// SPDX-License-Identifier: Apache-2.0
//
// Graceful stop source: a task asks an actor to end, and waits until it has (AC-8); see
// wait_awaiter.hpp.
//
// An actor of its own, made for it (an orphan), watches the other one. Of its end, the timeout and
// the end of the wait the first decides, as with a question.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include <tactus/actor/ask_source.hpp>
#include <tactus/actor/signals.hpp>

namespace tactus::inline v0 {
namespace detail {

/// What does not depend on the message.
class stop_wait {
public:
    static constexpr wait_kind waits_for = wait_kind::other;
    using result = bool;  // it has ended

    stop_wait(const stop_wait&) = delete;
    stop_wait& operator=(const stop_wait&) = delete;

    [[nodiscard]] bool give_up() noexcept {
        const bool first = share_->give_up();
        if (first)
            end();
        return first;
    }
    [[nodiscard]] bool take() noexcept {
        if (share_ != nullptr)
            ended_ = ended_ || share_->reply().has_value();
        end();
        return ended_;
    }

protected:
    stop_wait(actor_world& world, any_ref target, duration timeout, waker& to_wake) noexcept
        : world_(world), target_(target), timeout_(timeout), to_wake_(to_wake), late_(*this) {}
    ~stop_wait() { end(); }

    /// Watches, and counts the time. False: it cannot.
    [[nodiscard]] bool watch() noexcept;
    /// What came of the message. True: there is something to wait for.
    [[nodiscard]] bool told(sent how) noexcept;
    /// There is nothing to wait for, unless it was decided meanwhile: then the waker was called.
    [[nodiscard]] bool over() noexcept;
    [[nodiscard]] any_ref target() const noexcept { return target_; }

private:
    class late final : public waker {
    public:
        explicit late(stop_wait& of) noexcept : of_(of) {}
        void wake() noexcept override { of_.share_->timed_out(); }

    private:
        stop_wait& of_;
    };
    void end() noexcept;

    actor_world& world_;
    any_ref target_;
    duration timeout_;
    waker& to_wake_;
    late late_;
    timer_target timer_;
    std::optional<timer_handle> handle_;
    mailbox_index watcher_;
    reply_share<bool>* share_ = nullptr;
    bool ended_ = false;
};

}  // namespace detail

template <class M>
class graceful_stop_source final : public detail::stop_wait {
public:
    struct request {
        actor_world* world;
        any_ref target;
        duration timeout;
        detail::quietly_moved<M> message;
    };

    // NOLINTNEXTLINE(cppcoreguidelines-rvalue-reference-param-not-moved): its message is
    graceful_stop_source(request&& what, waker& to_wake, mailbox_index) noexcept
        : stop_wait(*what.world, what.target, what.timeout, to_wake),
          message_(std::move(what.message)) {}
    [[nodiscard]] bool start() noexcept {
        if (!watch())
            return over();
        const auto told_it = target().try_tell(std::move(message_.get()));
        return told(told_it ? sent::accepted : told_it.error().why);
    }

private:
    detail::quietly_moved<M> message_;
};

}  // namespace tactus::inline v0
