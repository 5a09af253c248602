// SPDX-License-Identifier: Apache-2.0
//
// Memory for tests of what is built over given memory: a source that counts its blocks, a message
// that counts its lives, and a region that grows up to where it is told to.
#pragma once

#include <tactus/base/memory_region.hpp>
#include <tactus/base/memory_source.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace tactus_test {

/// Gives out one block at a time, from an array; remembers what it was asked.
class one_block_source final : public tactus::memory_source {
public:
    [[nodiscard]] void* allocate(std::size_t size, std::size_t alignment) noexcept override {
        ++asked;
        if (refuses || in_use || size > sizeof block_ || alignment > alignof(max_align))
            return nullptr;
        in_use = true;
        size_ = size;
        alignment_ = alignment;
        return block_;
    }
    void release(void* block, std::size_t size, std::size_t alignment) noexcept override {
        ++released;
        good = good && in_use && block == block_ && size == size_ && alignment == alignment_;
        in_use = false;
    }

    [[nodiscard]] bool owns(const void* p) const { return p == block_; }

    bool refuses = false;
    bool in_use = false;
    bool good = true;  // every release matched its allocate
    unsigned asked = 0;
    unsigned released = 0;

private:
    struct alignas(64) max_align {};

    alignas(64) std::byte block_[256]{};
    std::size_t size_ = 0;
    std::size_t alignment_ = 0;
};

/// What has happened to the messages of a test.
struct lives {
    static inline unsigned begun = 0;
    static inline unsigned ended = 0;
    static void reset() { begun = ended = 0; }
};

/// A message of `Size` bytes that counts, and can be moved only.
template <std::size_t Size>
class counted {
public:
    explicit counted(std::uint8_t mark) noexcept {
        for (std::uint8_t& byte : bytes_)
            byte = mark;
        ++lives::begun;
    }
    counted(counted&& from) noexcept {
        for (std::size_t i = 0; i < Size; ++i)
            bytes_[i] = std::exchange(from.bytes_[i], std::uint8_t{0});
        ++lives::begun;
    }
    counted& operator=(counted&&) = delete;
    ~counted() { ++lives::ended; }

    /// The mark, when every byte has it; 0 when not, or when it was moved from.
    [[nodiscard]] std::uint8_t mark() const {
        for (const std::uint8_t byte : bytes_) {
            if (byte != bytes_[0])
                return 0;
        }
        return bytes_[0];
    }

private:
    std::uint8_t bytes_[Size];
};

/// A region over an array that is usable in steps, and refuses to grow beyond a limit.
class stepped_memory final : public tactus::memory_region {
public:
    stepped_memory(std::span<std::byte> bytes, std::size_t limit) noexcept : limit_(limit) {
        data_ = bytes.data();
        size_max_ = bytes.size();
    }
    [[nodiscard]] bool resize(std::size_t bytes) noexcept override {
        if (bytes > limit_)
            return false;
        if (bytes > size_)
            ++grown;
        size_ = bytes;
        return true;
    }
    void allow(std::size_t limit) { limit_ = limit; }

    unsigned grown = 0;

private:
    std::size_t limit_;
};

}  // namespace tactus_test
