// SPDX-License-Identifier: Apache-2.0
//
// Who waits is told outside of the lock.
#include <tactus/actor/one_shot_signal.hpp>

#include <utility>

namespace tactus::inline v0 {

void one_shot_signal::wake() noexcept {
    waker* waiting = nullptr;
    {
        const port::lock_guard held(mutex_);
        happened_ = true;
        waiting = std::exchange(waiting_, nullptr);
    }
    if (waiting != nullptr)
        waiting->wake();
}

bool one_shot_signal::happened() const noexcept {
    const port::lock_guard held(mutex_);
    return happened_;
}

bool one_shot_signal::enter(waker& w) noexcept {
    const port::lock_guard held(mutex_);
    if (happened_)
        return false;
    TACTUS_CHECK(1, waiting_ == nullptr);
    waiting_ = &w;
    return true;
}

bool one_shot_signal::leave() noexcept {
    const port::lock_guard held(mutex_);
    return std::exchange(waiting_, nullptr) != nullptr;
}

}  // namespace tactus::inline v0
