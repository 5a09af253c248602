// SPDX-License-Identifier: Apache-2.0
//
// Virtual memory over mmap: reserved without access, opened page by page.
#include <tactus/runtime/virtual_memory.hpp>

#include <algorithm>
#include <cstdint>

#include <sys/mman.h>

namespace tactus::inline v0::runtime {

namespace {

constexpr std::size_t small_page = 4096;
constexpr std::size_t huge_page = std::size_t{2} << 20;
// Below this the TLB of a present core is not the bottleneck: huge pages gain little there, and
// rounding up to them would cost.
constexpr std::size_t small_part = 2 * huge_page;

constexpr std::size_t round_up(std::size_t bytes, std::size_t unit) noexcept {
    return (bytes + unit - 1) / unit * unit;
}

}  // namespace

virtual_memory::virtual_memory(std::size_t bytes_max, pages taken) noexcept {
    if (bytes_max == 0 || bytes_max > SIZE_MAX / 2)
        return;
    // One huge page more than asked for, so that the region can begin at a huge page's boundary.
    const std::size_t usable = round_up(bytes_max, small_page);
    const std::size_t slack = usable > small_part ? huge_page : 0;
    void* at = mmap(nullptr, usable + slack, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                    -1, 0);
    if (at == MAP_FAILED)
        return;
    auto* begin = static_cast<std::byte*>(at);
    if (slack != 0) {
        const auto address = reinterpret_cast<std::uintptr_t>(at);
        const std::size_t lead = round_up(address, huge_page) - address;
        if (lead != 0)
            munmap(begin, lead);
        begin += lead;
        if (slack != lead)
            munmap(begin + usable, slack - lead);
        madvise(begin + small_part, usable - small_part, MADV_HUGEPAGE);  // a wish; refused is fine
    }
    data_ = begin;
    size_max_ = usable;
    reserved_ = usable;
    if (taken == pages::at_once)
        take_all();
}

void virtual_memory::take_all() noexcept {
    if (!resize(size_max_)) {
        size_max_ = 0;
        return;
    }
    // The system gives a page when it is written to for the first time.
    for (std::size_t at = 0; at < size_; at += small_page)
        *const_cast<volatile std::byte*>(data_ + at) = std::byte{};
    is_fixed_ = true;
}

virtual_memory::~virtual_memory() {
    if (reserved_ != 0)
        munmap(data_, reserved_);
}

bool virtual_memory::resize(std::size_t bytes) noexcept {
    if (bytes > size_max_)
        return false;
    if (is_fixed_)
        return true;
    const std::size_t unit = bytes > small_part ? huge_page : small_page;
    const std::size_t wanted = std::min(round_up(bytes, unit), size_max_);
    if (wanted > size_ && mprotect(data_ + size_, wanted - size_, PROT_READ | PROT_WRITE) != 0)
        return false;
    if (wanted < size_) {
        madvise(data_ + wanted, size_ - wanted, MADV_DONTNEED);
        mprotect(data_ + wanted, size_ - wanted, PROT_NONE);
    }
    size_ = wanted;
    return true;
}

bool virtual_memory::forget(std::size_t bytes) noexcept {
    if (is_fixed_)
        return false;
    const std::size_t kept = round_up(bytes, small_page);
    return kept >= size_ || madvise(data_ + kept, size_ - kept, MADV_DONTNEED) == 0;
}

}  // namespace tactus::inline v0::runtime
