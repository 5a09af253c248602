// SPDX-License-Identifier: Apache-2.0
//
// Cancelling a tree of contexts.
#include <tactus/actor/cancel_context.hpp>

namespace tactus::inline v0 {

const char* name_of(cancel_kind kind) noexcept {
    static constexpr const char* names[cancel_kind_count] = {"user", "deadline_miss", "shutdown",
                                                             "parent", "actor_stopped"};
    return names[static_cast<std::size_t>(kind)];
}

cancel_context::cancel_context(const cancel_token& parent) noexcept : lock_(&own_lock_) {
    cancel_context* above = parent.context_;
    if (above == nullptr)
        return;
    lock_ = above->lock_;
    const port::lock_guard held(*lock_);
    if (above->why_)
        why_ = cancelled{cancel_kind::parent, above->why_->cause};
    else
        above->children_.push_back(place_);
}

cancel_context::~cancel_context() {
    const port::lock_guard held(*lock_);
    TACTUS_CHECK(1, children_.empty());
    TACTUS_CHECK(2, watching_.empty());
    place_.unlink();
}

bool cancel_context::cancel(const cancelled& why) noexcept {
    intrusive_list<cancel_callback> to_call;
    {
        const port::lock_guard held(*lock_);
        if (why_)
            return false;
        intrusive_list<node, tree_tag> to_mark;
        place_.unlink();
        to_mark.push_back(place_);
        while (node* next = to_mark.pop_front()) {
            cancel_context& c = next->self;
            c.why_ = &c == this ? why : cancelled{cancel_kind::parent, why.cause};
            for (cancel_callback& w : c.watching_)
                w.taken = true;
            to_call.splice_back(c.watching_);
            to_mark.splice_back(c.children_);
        }
    }
    // Taken: nobody else touches them, and each stays until it was called.
    while (cancel_callback* c = to_call.pop_front())
        c->context_cancelled();
    return true;
}

std::optional<cancelled> cancel_context::checkpoint() const noexcept {
    const port::lock_guard held(*lock_);
    return why_;
}

bool cancel_context::watch(cancel_callback& c) noexcept {
    const port::lock_guard held(*lock_);
    if (why_)
        return false;
    c.taken = false;
    watching_.push_back(c);
    return true;
}

bool cancel_context::unwatch(cancel_callback& c) noexcept {
    const port::lock_guard held(*lock_);
    if (c.taken)
        return false;
    c.unlink();
    return true;
}

}  // namespace tactus::inline v0
