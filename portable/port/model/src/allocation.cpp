// SPDX-License-Identifier: Apache-2.0
//
// Memory of a body: leaks, double frees, and frees that somebody's use is not ordered with.
#include "execution.hpp"

#include <algorithm>

namespace tactus::inline v0::port::model::detail {

void* execution::allocate(std::size_t size, std::size_t alignment, memory kind, where at) {
    void* memory = me().memory.take(size, alignment);
    if (kind == memory::scratch)
        return memory;
    allocations_.push_back({static_cast<const std::byte*>(memory),
                            size,
                            static_cast<std::uint8_t>(current_),
                            false,
                            0,
                            at,
                            {}});
    show(op::allocated, no_object, reinterpret_cast<std::uintptr_t>(memory), at);
    return memory;
}

void execution::check_disposable(const void* object, where at) {
    const auto found = std::ranges::find(allocations_, object, &allocation::begin);
    if (found == allocations_.end())
        fail(failure::misuse, here(at) + " frees what was not allocated");
    if (found->freed)
        fail(failure::double_free, here(at) + " frees what " + thread_name(found->freer) +
                                       " freed at " + place_text(found->freed_at));
}

void execution::dispose(void* object, where at) {
    check_disposable(object, at);
    const auto found = std::ranges::find(allocations_, object, &allocation::begin);
    found->freed = true;
    found->freer = static_cast<std::uint8_t>(current_);
    found->freed_at = at;
    show(op::freed, no_object, reinterpret_cast<std::uintptr_t>(object), at);
    poison(object, found->size, at);
}

/// Like a write to every cell in the range: each use of one must be in the past of this thread.
void execution::poison(const void* from, std::size_t size, where at) {
    const auto* begin = static_cast<const std::byte*>(from);
    for (std::uint32_t i = 0; i < location_count_; ++i) {
        const location& l = *locations_[i];
        const auto* value = static_cast<const std::byte*>(l.memory.value);
        if (value < begin || value >= begin + size || l.memory.known->index != i)
            continue;
        for_each(l.users, [&](unsigned t) {
            if (!me().clock.covers(t, l.used[t].step))
                fail(failure::use_after_free, here(at) + " frees " + name_of(i) + " while " +
                                                  thread_name(t) + " uses it at " +
                                                  place_text(l.used[t].at) +
                                                  ", and nothing orders the two");
        });
    }
    poisoned_.add({begin, begin + size, static_cast<std::uint8_t>(current_), at});
}

void execution::unpoison(const void* from, std::size_t size) {
    const auto* begin = static_cast<const std::byte*>(from);
    poisoned_.remove(begin, begin + size);
}

void execution::check_leaks() {
    if (!how_.leaks_are_failures)
        return;
    for (const allocation& a : allocations_) {
        if (a.freed)
            continue;
        kind_ = failure::leak;
        message_ = std::to_string(a.size) + " bytes that " + thread_name(a.maker) +
                   " allocated at " + place_text(a.at) + " were not freed";
        return;
    }
}

}  // namespace tactus::inline v0::port::model::detail
