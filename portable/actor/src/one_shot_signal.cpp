// SPDX-License-Identifier: Apache-2.0
//
// Who waits is told outside of the lock.
#include <tactus/actor/one_shot_signal.hpp>

namespace tactus::inline v0 {

void one_shot_signal::wake() noexcept {
    intrusive_list<source> to_tell;
    {
        const port::lock_guard held(mutex_);
        happened_ = true;
        for (source& s : waiting_)
            s.taken_ = true;
        to_tell.splice_back(waiting_);
    }
    // Taken: nobody else touches them, and each stays until it was told.
    while (source* s = to_tell.pop_front())
        s->to_wake_.wake();
}

bool one_shot_signal::happened() const noexcept {
    const port::lock_guard held(mutex_);
    return happened_;
}

bool one_shot_signal::enter(source& s) noexcept {
    const port::lock_guard held(mutex_);
    if (happened_)
        return false;
    waiting_.push_back(s);
    return true;
}

bool one_shot_signal::leave(source& s) noexcept {
    const port::lock_guard held(mutex_);
    if (s.taken_)
        return false;
    s.unlink();
    return true;
}

}  // namespace tactus::inline v0
