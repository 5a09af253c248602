// SPDX-License-Identifier: Apache-2.0
//
// Memory for kernel objects inside a check: blocks that must be given back, and regions.
#pragma once

#include <cstddef>

#include <tactus/base/memory_region.hpp>
#include <tactus/base/memory_source.hpp>
#include <tactus/port/model.hpp>

namespace scenario {

class model_memory final : public tactus::memory_source {
public:
    [[nodiscard]] void* allocate(std::size_t size, std::size_t alignment) noexcept override {
        return tactus::port::model::allocate(size, alignment);
    }
    void release(void* block, std::size_t, std::size_t) noexcept override {
        tactus::port::model::release(block);
    }
};

/// Room for `count` objects of type T.
template <class T>
class model_region final : public tactus::memory_region {
public:
    explicit model_region(std::size_t count) noexcept {
        size_ = size_max_ = count * sizeof(T);
        data_ = static_cast<std::byte*>(tactus::port::model::allocate(size_, alignof(T)));
    }
    ~model_region() { tactus::port::model::release(data_); }
    [[nodiscard]] bool resize(std::size_t bytes) noexcept override { return bytes <= size_max_; }
};

}  // namespace scenario
