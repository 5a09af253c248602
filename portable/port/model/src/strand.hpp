// SPDX-License-Identifier: Apache-2.0
//
// Strands: stacks that model threads run on, switched by Boost.Context.
//
// A strand runs jobs, one after the other; it and its stack are used again for the next execution.
// A strand whose job is given up half-way is dropped: nothing is unwound, because the port's
// operations are noexcept and portable code is built without exceptions, so that no exception could
// pass; the next job begins with a fresh context on the same stack. What the dropped job held on
// its stack is lost without its destructors, which is why memory of a body belongs to the checker.
//
// Switches go straight from strand to strand; leave() of a context that is no strand (the caller of
// check) works the same.
#pragma once

#include <cstddef>
#include <memory>

namespace tactus::inline v0::port::model::detail {

class strand {
public:
    static constexpr std::size_t stack_size = 256 * 1024;

    strand();
    ~strand();
    strand(const strand&) = delete;
    strand& operator=(const strand&) = delete;

    /// Sets what runs when the strand is switched to next. `job` ends by switching away for good
    /// with `finish`. Requires: the strand is idle or dropped.
    void prepare(void (*job)(void*), void* with);

    /// Switches from this strand, which is running, to another, until somebody switches back.
    void leave(strand& to);

    /// The strand is suspended within a job that will not go on.
    void drop() noexcept { dropped_ = true; }

private:
    struct context;

    void run_jobs();

    void (*job_)(void*) = nullptr;
    void* with_ = nullptr;
    bool dropped_ = true;  // no context to go on with
    std::byte* stack_ = nullptr;
    std::unique_ptr<context> context_;
};

}  // namespace tactus::inline v0::port::model::detail
