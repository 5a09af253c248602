// SPDX-License-Identifier: Apache-2.0
//
// Bytes of libFuzzer in place of random numbers, so that coverage guides what a program does.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tactus_test {

// Reads numbers from bytes, as few as the bound needs; zero when there are no more.
class byte_entropy {
public:
    byte_entropy(const std::uint8_t* bytes, std::size_t size) noexcept
        : next_(bytes), end_(bytes + size) {}

    [[nodiscard]] bool empty() const noexcept { return next_ == end_; }
    [[nodiscard]] std::uint64_t next_u64() noexcept { return read(8); }
    [[nodiscard]] std::uint64_t below(std::uint64_t bound) noexcept {
        if (bound <= 1)
            return 0;
        unsigned bytes = 1;
        while (bytes < 8 && (bound - 1) >> (8 * bytes) != 0)
            ++bytes;
        return read(bytes) % bound;
    }

private:
    [[nodiscard]] std::uint64_t read(unsigned bytes) noexcept {
        std::uint64_t n = 0;
        for (unsigned i = 0; i < bytes && next_ != end_; ++i)
            n |= std::uint64_t{*next_++} << (8 * i);
        return n;
    }

    const std::uint8_t* next_;
    const std::uint8_t* end_;
};

}  // namespace tactus_test
