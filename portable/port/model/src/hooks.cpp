// SPDX-License-Identifier: Apache-2.0
//
// Model port: the hooks hand over to the execution that runs; what is done without one.
#include "execution.hpp"
#include "exit_calls.hpp"

#include <tactus/base/check.hpp>

#include <cstdio>
#include <cstdlib>

namespace tactus::inline v0 {

void fatal(const char* module, unsigned id) noexcept {
    using namespace port::model::detail;
    if (running)
        current_execution->fail(port::model::failure::assertion,
                                std::string("check failed: ") + module + ":" + std::to_string(id));
    std::fprintf(stderr, "tactus: check failed: %s:%u\n", module, id);
    std::fflush(stderr);
    std::abort();
}

namespace port {
namespace model::detail {

void born(const cell& c, cell_kind kind, where at) noexcept {
    current_execution->born(c, kind, at);
}
std::uint64_t load(const cell& c, order o, where at) noexcept {
    return current_execution->load(c, o, at);
}
void store(const cell& c, std::uint64_t value, order o, where at) noexcept {
    current_execution->store(c, value, o, at);
}
std::uint64_t modify(const cell& c, change how, std::uint64_t operand, order o, where at) noexcept {
    return current_execution->modify(c, how, operand, o, at);
}
bool compare_exchange(const cell& c, std::uint64_t& seen, std::uint64_t wanted, order success,
                      order failure, strength how, where at) noexcept {
    return current_execution->compare_exchange(c, seen, wanted, success, failure, how, at);
}
void reads_plain(const cell& c, where at) noexcept {
    current_execution->plain_access(c, op::plain_read, at);
}
void writes_plain(const cell& c, where at) noexcept {
    current_execution->plain_access(c, op::plain_write, at);
}
void lock(handle& mutex, where at) noexcept {
    current_execution->lock(mutex, at);
}
bool try_lock(handle& mutex, where at) noexcept {
    return current_execution->try_lock(mutex, at);
}
void unlock(handle& mutex, where at) noexcept {
    current_execution->unlock(mutex, at);
}
void wait(handle& condition, handle& mutex, where at) noexcept {
    current_execution->wait(condition, mutex, at);
}
void notify(handle& condition, bool all, where at) noexcept {
    current_execution->notify(condition, all, at);
}
bool wait_on(const cell& word, std::uint32_t expected, std::int64_t timeout_ns, where at) noexcept {
    return current_execution->wait_on(word, expected, timeout_ns, at);
}
void wake_one(const cell& word, where at) noexcept {
    current_execution->wake_one(word, at);
}
void give_way(where at) noexcept {
    current_execution->give_way(at);
}
instance thread_instance(const void* tag, std::size_t size, std::size_t alignment) noexcept {
    return current_execution->thread_instance(tag, size, alignment);
}
void thread_instance_made() noexcept {
    current_execution->thread_instance_made();
}

namespace {

void need_check(const char* what) noexcept {
    if (running)
        return;
    std::fprintf(stderr, "model: %s outside of a check\n", what);
    std::abort();
}

}  // namespace

unsigned start_thread(void (*run)(void*), void* with, where at) noexcept {
    return current_execution->start_thread(run, with, at);
}
void join_thread(unsigned thread, where at) noexcept {
    need_check("a thread is joined");
    current_execution->join_thread(thread, at);
}
void* allocate(std::size_t size, std::size_t alignment, memory kind, where at) noexcept {
    need_check("a thread is made");
    return current_execution->allocate(size, alignment, kind, at);
}
void check_disposable(const void* object, where at) noexcept {
    current_execution->check_disposable(object, at);
}
void dispose(void* object, where at) noexcept {
    current_execution->dispose(object, at);
}
void name_cell(const cell& c, cell_kind kind, const char* text) noexcept {
    current_execution->name_cell(c, kind, text);
}

}  // namespace model::detail

namespace model {

void require(bool holds, std::string_view what, std::source_location at) noexcept {
    if (holds)
        return;
    detail::need_check("a requirement fails");
    detail::current_execution->fail(
        failure::assertion, detail::current_execution->here(at) + ": required: " +
                                (what.empty() ? std::string("see there") : std::string(what)));
}

unsigned choose(unsigned count, std::source_location at) noexcept {
    return detail::running ? detail::current_execution->test_choice(count, at) : 0;
}

void note(const char* text, std::source_location at) noexcept {
    if (detail::running)
        detail::current_execution->note(text, at);
}

void* allocate(std::size_t size, std::size_t alignment, std::source_location at) noexcept {
    if (detail::running)
        return detail::allocate(size, alignment, detail::memory::owed, at);
    return std::aligned_alloc(alignment < sizeof(void*) ? sizeof(void*) : alignment,
                              (size + alignment - 1) / alignment * alignment);
}

void release(void* memory, std::source_location at) noexcept {
    if (detail::running)
        detail::dispose(memory, at);
    else
        std::free(memory);
}

}  // namespace model

void at_thread_exit(void (*call)(void*) noexcept, void* with) noexcept {
    static thread_local exit_calls calls;
    if (model::detail::running)
        model::detail::current_execution->at_thread_exit(call, with);
    else
        calls.add(call, with);
}

bool poisoning() noexcept {
    return model::detail::running;
}
void poison(const void* from, std::size_t size, model::detail::where at) noexcept {
    if (model::detail::running)
        model::detail::current_execution->poison(from, size, at);
}
void unpoison(const void* from, std::size_t size) noexcept {
    if (model::detail::running)
        model::detail::current_execution->unpoison(from, size);
}

}  // namespace port
}  // namespace tactus::inline v0
