// SPDX-License-Identifier: Apache-2.0
//
// Objects in blocks of a memory source, and seeds of streams: what building a system takes.
#pragma once

#include <cstdint>
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

/// SplitMix64: seeds that differ by one give streams that have nothing in common (DT-4).
inline std::uint64_t mixed(std::uint64_t seed, std::uint64_t stream) noexcept {
    std::uint64_t z = seed + (stream + 1) * 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

}  // namespace tactus::inline v0
