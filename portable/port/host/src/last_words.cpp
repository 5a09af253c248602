// SPDX-License-Identifier: Apache-2.0
//
// The calls of the layers above, each at most once.
#include <tactus/port/last_words.hpp>

#include <atomic>

namespace tactus::inline v0::port {
namespace {

// Relaxed: functions, which are there from the beginning.
std::atomic<last_words::describe_call> describes{nullptr};
std::atomic<last_words::flush_call> flushes{nullptr};
std::atomic<bool> described{false};
std::atomic<bool> flushed{false};

}  // namespace

void last_words::set_describe(describe_call call) noexcept {
    describes.store(call, std::memory_order_relaxed);
}
void last_words::set_flush(flush_call call) noexcept {
    flushes.store(call, std::memory_order_relaxed);
}

void last_words::describe(char* to, std::size_t size) noexcept {
    to[0] = '\0';
    const describe_call call = describes.load(std::memory_order_relaxed);
    if (call != nullptr && !described.exchange(true, std::memory_order_relaxed))
        call(to, size);
}
void last_words::flush() noexcept {
    const flush_call call = flushes.load(std::memory_order_relaxed);
    if (call != nullptr && !flushed.exchange(true, std::memory_order_relaxed))
        call();
}

}  // namespace tactus::inline v0::port
