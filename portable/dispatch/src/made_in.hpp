// SPDX-License-Identifier: Apache-2.0
//
// Objects in blocks of a memory source: what building a system takes.
#pragma once

#include <new>
#include <utility>

#include <tactus/base/check.hpp>
#include <tactus/base/memory_source.hpp>

namespace tactus::inline v0 {

/// Requires: there is memory (check actor_scheduler:1).
template <class T, class... Args>
T* make(memory_source& memory, Args&&... args) noexcept {
    TACTUS_CHECK_MODULE("actor_scheduler");
    void* block = memory.allocate(sizeof(T), alignof(T));
    TACTUS_CHECK(1, block != nullptr);
    return ::new (block) T(std::forward<Args>(args)...);
}
template <class T>
void destroy(memory_source& memory, T* object) noexcept {
    object->~T();
    memory.release(object, sizeof(T), alignof(T));
}

}  // namespace tactus::inline v0
