// SPDX-License-Identifier: Apache-2.0
//
// Strands over boost::context::fiber. The fiber object lies in a union: destroying a suspended one
// would unwind its stack, and a dropped one must not be.
#include "strand.hpp"

#include <sys/mman.h>
#include <unistd.h>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <utility>

#include <boost/context/fiber.hpp>
#include <boost/context/preallocated.hpp>

namespace tactus::inline v0::port::model::detail {
namespace {

namespace context_library = boost::context;

// The stack belongs to the strand, whatever becomes of the fiber.
struct keep_stack {
    void deallocate(context_library::stack_context&) noexcept {}
    context_library::stack_context allocate() { return {}; }
};

strand* leaving = nullptr;  // who made the switch that is under way

}  // namespace

struct strand::context {
    union {
        context_library::fiber fiber;
    };
    context() noexcept : fiber() {}
    ~context() {}  // see above
    context(const context&) = delete;
    context& operator=(const context&) = delete;

    static void arrived(context_library::fiber&& from) {
        leaving->context_->fiber = std::move(from);
    }
};

strand::strand() : context_(std::make_unique<context>()) {}

strand::~strand() {
    if (stack_ != nullptr)
        ::munmap(stack_, stack_size);
}

void strand::prepare(void (*job)(void*), void* with) {
    job_ = job;
    with_ = with;
    if (!dropped_)
        return;  // waits in run_jobs
    if (stack_ == nullptr) {
        void* memory = ::mmap(nullptr, stack_size, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED) {
            std::fprintf(stderr, "model: no memory for a stack of %zu bytes\n", stack_size);
            std::abort();
        }
        stack_ = static_cast<std::byte*>(memory);
        ::mprotect(stack_, static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)), PROT_NONE);
    }
    context_library::stack_context whole;
    whole.size = stack_size;
    whole.sp = stack_ + stack_size;
    std::construct_at(&context_->fiber, std::allocator_arg,
                      context_library::preallocated(whole.sp, whole.size, whole), keep_stack{},
                      [this](context_library::fiber&& from) {
                          context::arrived(std::move(from));
                          run_jobs();
                          return context_library::fiber();  // never reached
                      });
    dropped_ = false;
}

void strand::run_jobs() {
    for (;;)
        job_(with_);  // returns when the strand was switched to with the next one
}

void strand::leave(strand& to) {
    leaving = this;
    context::arrived(std::move(to.context_->fiber).resume());
}

}  // namespace tactus::inline v0::port::model::detail
