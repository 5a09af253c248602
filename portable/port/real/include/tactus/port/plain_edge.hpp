// SPDX-License-Identifier: Apache-2.0
//
// What `edge` and `plain` are on a real platform: the order, and the cell. Platforms include this;
// the model has its own.
#pragma once

#include <atomic>

namespace tactus::inline v0::port {

class edge {
public:
    explicit constexpr edge(const char*) noexcept {}

    [[nodiscard]] constexpr std::memory_order acquire() const noexcept {
        return std::memory_order_acquire;
    }
    [[nodiscard]] constexpr std::memory_order release() const noexcept {
        return std::memory_order_release;
    }
    [[nodiscard]] constexpr std::memory_order acq_rel() const noexcept {
        return std::memory_order_acq_rel;
    }
    [[nodiscard]] constexpr std::memory_order seq_cst() const noexcept {
        return std::memory_order_seq_cst;
    }
};

template <class T>
class plain {
public:
    constexpr plain() noexcept = default;
    explicit constexpr plain(T initial) noexcept : value_(initial) {}

    [[nodiscard]] constexpr T read() const noexcept { return value_; }
    constexpr void write(T value) noexcept { value_ = value; }

private:
    T value_{};
};

}  // namespace tactus::inline v0::port
