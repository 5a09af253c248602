// SPDX-License-Identifier: Apache-2.0
//
// Middleware: user code around every handler, around enqueueing and around spawning (IN-5, IN-8).
//
// A chain is a plain array of pointers, replaced as a whole: a run reads the pointer once per
// message, so a new chain applies from the next message (TC-F18), and no chain costs one predicted
// branch. `before` is called in order and may defer the message; `after` in reverse order, for
// those whose `before` was called and did not defer, also when the handler failed.
//
// Who defers says when to go on: turn::suspend with a signal or a time. Who does not leaves the
// actor waiting for resume(actor, suspension::await).
#pragma once

#include <cstddef>
#include <span>

#include <tactus/dispatch/behaviour.hpp>
#include <tactus/dispatch/spawn_options.hpp>
#include <tactus/mailbox/envelope.hpp>

namespace tactus::inline v0 {

enum class verdict : std::uint8_t { proceed, defer };

/// The kernel's side; users write a class with before/after and wrap it in middleware_of.
class middleware {
public:
    /// failed when the user's code threw.
    [[nodiscard]] virtual handled before(turn& t, envelope& e) noexcept = 0;
    [[nodiscard]] virtual handled after(turn& t, envelope& e, const handled& result) noexcept = 0;

protected:
    ~middleware() = default;
};

/// Wraps a user's `verdict before(turn&, envelope&)` and `void after(turn&, envelope&, const
/// handled&)`; compiled where the user's code is, so that what it throws is caught (UP-4).
template <class User>
class middleware_of final : public middleware {
public:
    explicit middleware_of(User& user) noexcept : user_(user) {}

    [[nodiscard]] handled before(turn& t, envelope& e) noexcept override {
        return call_user([&]() -> handled {
            return user_.before(t, e) == verdict::defer ? handled::deferred() : handled::ok();
        });
    }
    [[nodiscard]] handled after(turn& t, envelope& e, const handled& result) noexcept override {
        return call_user([&] { user_.after(t, e, result); });
    }

private:
    User& user_;
};

/// In the order of `before`. Outlives its use by the system.
struct middleware_chain {
    std::span<middleware* const> members;
};

/// Sees what is enqueued; cannot change or reorder it (TC-F19).
class enqueue_middleware {
public:
    virtual void enqueuing(mailbox_index to, const message_type& type) noexcept = 0;

protected:
    ~enqueue_middleware() = default;
};

/// Sees what is spawned and may refuse it, with a reason (TC-F20).
class spawn_middleware {
public:
    struct request {
        const behaviour& acts;
        const spawn_options& options;
    };
    /// The reason for refusing, static; nullptr: go on.
    [[nodiscard]] virtual const char* spawning(const request& r) noexcept = 0;

protected:
    ~spawn_middleware() = default;
};

}  // namespace tactus::inline v0
