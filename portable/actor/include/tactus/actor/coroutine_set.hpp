// SPDX-License-Identifier: Apache-2.0
//
// Coroutine set: the handlers of one actor that have begun and not ended, because they wait (AC-2).
//
// A handler that is a coroutine runs in its actor's turn until it waits. What it waits for sends a
// continuation to the actor, and resume() goes on with it there (see wait_awaiter.hpp): a
// coroutine never runs beside its actor's handlers, nor beside another coroutine of it.
//
// Whoever has the actor
//   starts:   `set.start_handler([&] { return actor.on(message); }, {&message, release})`,
//   resumes:  in receive_system, for every message of the kind continuation,
//   destroys: destroy_all() before pre_restart and post_stop; frames go newest first.
//
// Invariants
//   C1  the list holds exactly the outermost frames that have begun and not ended, newest first
//   C2  one runs at a time, and those it starts run within it until they wait; none is destroyed
//       while one runs
//   C3  one that has stopped and not ended waits: something has a continuation to send to it
//
// Thread safety: none; all of it belongs to the actor's turn.
#pragma once

#include <cstddef>
#include <expected>
#include <optional>
#include <type_traits>
#include <utility>

#include <tactus/actor/task.hpp>
#include <tactus/mailbox/mailbox_index.hpp>
#include <tactus/mailbox/system_message.hpp>

namespace tactus::inline v0 {

/// What a coroutine waits for, for people (EV-5).
enum class wait_kind : std::uint8_t { other, time, reply, room, signal, message };
inline constexpr std::size_t wait_kind_count = 6;
[[nodiscard]] const char* name_of(wait_kind what) noexcept;

/// What a handler's coroutine may give.
template <class T>
concept handler_result = std::is_void_v<T> || std::is_same_v<T, failure> ||
                         std::is_same_v<T, std::expected<void, failure>>;

class coroutine_set {
public:
    /// Frames and waits of `owner` live in `memory`, which outlives whoever may still wake one.
    coroutine_set(mailbox_index owner, memory_source& memory) noexcept
        : memory_(memory), owner_(owner) {}
    ~coroutine_set() { destroy_all(); }
    coroutine_set(const coroutine_set&) = delete;
    coroutine_set& operator=(const coroutine_set&) = delete;

    [[nodiscard]] mailbox_index owner() const noexcept { return owner_; }
    [[nodiscard]] memory_source& memory() const noexcept { return memory_; }
    /// Nothing waits.
    [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
    [[nodiscard]] std::size_t count() const noexcept { return count_; }
    /// What the one waits for that began to wait last.
    [[nodiscard]] wait_kind waits_for() const noexcept { return waits_for_; }
    void note_wait(wait_kind what) noexcept { waits_for_ = what; }
    /// Of the one that was started or resumed last: it waits. Whoever it has started beside itself
    /// does not count.
    [[nodiscard]] bool last_waits() const noexcept { return last_waits_; }
    /// For `coroutine_keep::ended`, of the one that has ended: it had waited before.
    [[nodiscard]] bool ended_waited() const noexcept { return ended_waited_; }
    /// One that waits was given this to keep. Looks at the newest first.
    [[nodiscard]] bool keeps(const void* what) noexcept;

    /// Calls a handler that is a coroutine, with frames of this actor's memory, and runs it until
    /// it waits: ok then, and how it ends is what resume() gives. `keep.ended` is called in every
    /// case, once. Requires: what tasks await are tasks, and waits (check coroutine_set:3).
    template <class Call>
    handled start_handler(Call&& call, coroutine_keep keep = {}) noexcept {
        using task_type = std::invoke_result_t<Call>;
        std::optional<task_type> made;
        const coroutine_memory bound(memory_);
        // Copying what it is given into the frame may throw.
        const handled called = call_user([&] { made.emplace(call()); });
        if (!called.is_ok())
            return refuse(called.why(), keep);
        return start(std::move(*made), keep);
    }
    /// The same, for a task that was made already.
    template <class T>
    handled start(task<T>&& t, coroutine_keep keep = {}) noexcept {
        static_assert(handler_result<T>,
                      "a handler is a task<>, task<failure> or task<std::expected<void, failure>>");
        task<T> own(std::move(t));
        if (own.empty())
            return refuse({no_frame_memory, nullptr}, keep);
        detail::task_frame& root = *std::exchange(own.frame_, nullptr);
        return begin(root, &outcome_of<T, TACTUS_TASK_EXCEPTIONS>, keep);
    }
    /// A continuation has come: who is to go on; nobody where that is gone. Requires: none runs
    /// (check coroutine_set:2).
    [[nodiscard]] detail::resumption arrived(system_message& continuation) const noexcept;
    /// What it was given to keep; nothing of nobody.
    [[nodiscard]] static coroutine_keep kept_by(const detail::resumption& next) noexcept {
        return next.root != nullptr ? next.root->keep_ : coroutine_keep{};
    }
    /// Goes on with it. A failure is the handler's.
    handled resume(const detail::resumption& next) noexcept;
    handled resume(system_message& continuation) noexcept { return resume(arrived(continuation)); }
    /// Destroys what waits, newest first. Requires: none of them runs (check coroutine_set:1).
    void destroy_all() noexcept;

private:
    TACTUS_CHECK_MODULE("coroutine_set");

    template <class T, bool Exceptions>
    [[nodiscard]] static handled outcome_of(detail::task_frame& f) noexcept {
        auto& from = static_cast<detail::task_result<T>&>(f);
        return call_user([&from] {
            using access = detail::task_access<T, Exceptions>;
            if constexpr (std::is_void_v<T> || std::is_same_v<T, failure>) {
                return access::get(from);
            } else {
                const T got = access::get(from);
                return got.has_value() ? handled::ok() : handled::failed(got.error());
            }
        });
    }
    handled refuse(failure why, const coroutine_keep& keep) noexcept;
    handled begin(detail::task_frame& root, handled (*outcome)(detail::task_frame&) noexcept,
                  const coroutine_keep& keep) noexcept;
    handled run(detail::task_frame& root, detail::task_frame& from) noexcept;
    void end(detail::task_frame& root, coroutine_end how) noexcept;

    memory_source& memory_;
    mailbox_index owner_;
    bool running_ = false;
    bool last_waits_ = false;
    bool ended_waited_ = false;
    wait_kind waits_for_ = wait_kind::other;
    std::uint32_t count_ = 0;
    intrusive_list<detail::task_frame> begun_;  // newest first
};

}  // namespace tactus::inline v0
