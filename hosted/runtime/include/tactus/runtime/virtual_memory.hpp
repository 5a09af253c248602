// SPDX-License-Identifier: Apache-2.0
//
// Virtual memory: a region that reserves its addresses at once and takes pages only as it grows.
//
// Reserving costs no memory, so the maximum may be generous: growth never moves a byte and
// shrinking gives pages back to the system. Beyond its first 4 MiB a region asks for huge pages,
// which is what random access over many megabytes needs most.
//
// One that takes all pages at once neither grows nor shrinks: who uses it never waits for the
// system, nor can be refused later.
//
// Thread safety: none; a region has one user.
#pragma once

#include <cstddef>
#include <cstdint>

#include <tactus/base/memory_region.hpp>

namespace tactus::inline v0::runtime {

class virtual_memory final : public memory_region {
public:
    enum class pages : std::uint8_t { as_needed, at_once };
    /// Reserves addresses for `bytes_max`. When the system refuses, size_max() is 0: whoever is
    /// given the region says so by its own error.
    explicit virtual_memory(std::size_t bytes_max, pages taken = pages::as_needed) noexcept;
    ~virtual_memory();

    [[nodiscard]] bool resize(std::size_t bytes) noexcept override;
    [[nodiscard]] bool forget(std::size_t bytes) noexcept override;

private:
    void take_all() noexcept;

    std::size_t reserved_ = 0;
    bool is_fixed_ = false;
};

}  // namespace tactus::inline v0::runtime
