// SPDX-License-Identifier: Apache-2.0
//
// Memory that tells when it grows, and grows no more when it is told so: as memory of a scheduler
// it tells of a moment at which the lock is held.
#pragma once

#include <cstddef>
#include <functional>
#include <utility>

#include <tactus/base/memory_region.hpp>

#include "large_scheduler_rig.hpp"

namespace tactus_test {

/// Grows cell by cell, and tells once when it does.
class telling_memory final : public tactus::memory_region {
public:
    explicit telling_memory(std::size_t bytes) : all_(bytes) {
        data_ = all_.data();
        size_max_ = bytes;
    }
    [[nodiscard]] bool resize(std::size_t bytes) noexcept override {
        if (refuses || bytes > size_max_)
            return false;
        size_ = bytes;
        if (const auto tell = std::exchange(on_growth, nullptr))
            tell();
        return true;
    }
    std::function<void()> on_growth;
    bool refuses = false;

private:
    large_memory all_;
};

}  // namespace tactus_test
