// SPDX-License-Identifier: Apache-2.0
//
// Cancel context: says to what waits, and to what works, that its result is not wanted any more
// (CH-15).
//
// Whoever began the work has the context and cancels it; the work has a token, looks at it with
// checkpoint(), and hands it to what it awaits, which then ends early. A context made of another
// one is cancelled with it. The first reason stays.
//
// The contexts of a tree share the lock of its oldest: cancelling marks all that are below under
// it, and takes their callbacks, which are called when it has been let go (CH-10). A cancelled
// context is taken out of the tree: there is nothing it could inherit any more.
//
// Thread safety: everything from any thread; not from interrupt handlers. A context outlives its
// children and whatever its token was given to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include <tactus/base/check.hpp>
#include <tactus/base/intrusive_list.hpp>
#include <tactus/port/port.hpp>

namespace tactus::inline v0 {

enum class cancel_kind : std::uint8_t {
    user,           // somebody called cancel
    deadline_miss,  // its time was over
    shutdown,       // the system ends
    parent,         // the context it was made of was cancelled
    actor_stopped,  // the actor it belongs to stopped
};
inline constexpr std::size_t cancel_kind_count = 5;
[[nodiscard]] const char* name_of(cancel_kind kind) noexcept;

/// Why something was cancelled.
struct cancelled {
    cancel_kind kind = cancel_kind::user;
    const char* cause = "";  // for people; static

    friend constexpr bool operator==(const cancelled&, const cancelled&) = default;
};

namespace detail {
/// The context's part of a callback.
struct cancel_link : list_hook<> {
    bool taken = false;  // to be called, or called; under the tree's lock
};
}  // namespace detail

/// Something that is called once when a context is cancelled.
class cancel_callback : public detail::cancel_link {
public:
    /// On the thread that cancels, under no lock. Must not block.
    virtual void context_cancelled() noexcept = 0;

protected:
    ~cancel_callback() = default;
};

class cancel_token;

class cancel_context {
public:
    cancel_context() noexcept : lock_(&own_lock_) {}
    /// A child of the token's context, if it has one; cancelled already when that is.
    explicit cancel_context(const cancel_token& parent) noexcept;
    /// Requires: no child is left (check cancel_context:1), nobody is watching (2).
    ~cancel_context();
    cancel_context(const cancel_context&) = delete;
    cancel_context& operator=(const cancel_context&) = delete;

    /// False when it was cancelled before: then nothing happens. Children get the same cause.
    bool cancel(const cancelled& why) noexcept;
    /// Nothing, or why it was cancelled.
    [[nodiscard]] std::optional<cancelled> checkpoint() const noexcept;
    /// What the work is given.
    [[nodiscard]] cancel_token token() noexcept;

    /// `c` is called when the context is cancelled. False when it is already: then it is not.
    [[nodiscard]] bool watch(cancel_callback& c) noexcept;
    /// True: `c` will not be called. False: it was, or is about to be, and stays until then.
    [[nodiscard]] bool unwatch(cancel_callback& c) noexcept;

private:
    TACTUS_CHECK_MODULE("cancel_context");

    struct tree_tag;
    struct node : list_hook<tree_tag> {
        explicit node(cancel_context& c) noexcept : self(c) {}
        cancel_context& self;
    };

    // Constant after construction
    port::mutex own_lock_;  // used by the oldest of a tree
    port::mutex* lock_;     // the tree's

    // Under the tree's lock
    std::optional<cancelled> why_;
    node place_{*this};
    intrusive_list<node, tree_tag> children_;
    intrusive_list<cancel_callback> watching_;
};

/// The worker's side of a context. One of no context is never cancelled.
class cancel_token {
public:
    cancel_token() = default;

    [[nodiscard]] std::optional<cancelled> checkpoint() const noexcept {
        return context_ != nullptr ? context_->checkpoint() : std::nullopt;
    }
    /// As the context's.
    [[nodiscard]] bool watch(cancel_callback& c) const noexcept {
        return context_ == nullptr || context_->watch(c);
    }
    [[nodiscard]] bool unwatch(cancel_callback& c) const noexcept {
        return context_ == nullptr || context_->unwatch(c);
    }

private:
    friend class cancel_context;
    explicit cancel_token(cancel_context* of) noexcept : context_(of) {}

    cancel_context* context_ = nullptr;
};

inline cancel_token cancel_context::token() noexcept {
    return cancel_token(this);
}

}  // namespace tactus::inline v0
