// SPDX-License-Identifier: Apache-2.0
//
// Directors take the decisions of an execution: who takes the next step, and which of several
// things happens. One is used for all executions of a check, in sequence.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "location.hpp"

namespace tactus::inline v0::port::model::detail {

using location_table = std::vector<std::unique_ptr<location>>;

/// What a director may know of the moment at which it chooses a thread.
struct moment {
    thread_mask runnable;                // not empty
    unsigned previous;                   // who took the last step, or no_thread
    bool free_switch;                    // leaving it is no preemption: it waits, gave way or ended
    std::span<const operation> pending;  // what each thread is about to do
};

/// Who goes on when nothing speaks for anybody: the thread that runs, or the next one in a circle.
constexpr unsigned usual_choice(thread_mask among, const moment& m) noexcept {
    if (m.previous == no_thread)
        return lowest(among);
    if (!m.free_switch && (among & bit(m.previous)) != 0)
        return m.previous;
    const auto after = static_cast<thread_mask>(among & ~((2u << m.previous) - 1));
    return lowest(after != 0 ? after : among);
}

class director {
public:
    director() = default;
    director(const director&) = delete;
    director& operator=(const director&) = delete;
    virtual ~director() = default;

    virtual void begin() = 0;
    [[nodiscard]] virtual unsigned next_thread(const moment& m) = 0;
    [[nodiscard]] virtual unsigned choose(unsigned count) = 0;
    /// To the next execution; false when there is none.
    [[nodiscard]] virtual bool advance() = 0;

    // What a reduction needs to know.
    virtual void thread_made(unsigned by, unsigned made) {
        static_cast<void>(by), static_cast<void>(made);
    }
    virtual void thread_joined(unsigned by, unsigned ended) {
        static_cast<void>(by), static_cast<void>(ended);
    }
    /// `thread` did `done`; `pending` is what each thread is about to do.
    virtual void stepped(unsigned thread, const operation& done, location_table& locations,
                         std::span<const operation> pending) {
        static_cast<void>(thread), static_cast<void>(done);
        static_cast<void>(locations), static_cast<void>(pending);
    }

    /// The execution cannot become anything new; no decisions are recorded from here on.
    virtual void give_up() {}
    [[nodiscard]] virtual bool redundant() const { return false; }
    /// The body behaved differently than before under the same decisions.
    [[nodiscard]] bool diverged() const noexcept { return diverged_; }

protected:
    bool diverged_ = false;
};

}  // namespace tactus::inline v0::port::model::detail
