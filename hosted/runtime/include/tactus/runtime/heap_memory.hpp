// SPDX-License-Identifier: Apache-2.0
//
// Heap memory: a memory source over operator new. Thread-safe; refuses instead of throwing.
#pragma once

#include <tactus/base/memory_source.hpp>

namespace tactus::inline v0::runtime {

class heap_memory final : public memory_source {
public:
    [[nodiscard]] void* allocate(std::size_t size, std::size_t alignment) noexcept override;
    void release(void* block, std::size_t size, std::size_t alignment) noexcept override;
};

}  // namespace tactus::inline v0::runtime
