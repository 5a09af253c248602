// SPDX-License-Identifier: Apache-2.0
//
// Waker: how something that waits is told to go on, in every world (EX-7).
#pragma once

namespace tactus::inline v0 {

/// Resumes something that waits: a coroutine, a loop of the application, an executor.
class waker {
public:
    /// Once per registration. Callable from any thread; must not block.
    virtual void wake() noexcept = 0;

protected:
    ~waker() = default;
};

}  // namespace tactus::inline v0
