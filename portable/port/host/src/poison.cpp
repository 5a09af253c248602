// SPDX-License-Identifier: Apache-2.0
//
// Host port: telling AddressSanitizer and Valgrind which memory is free (UP-6).
//
// AddressSanitizer is there or not when this file is compiled. Valgrind's memcheck (not its other
// tools, which only count) is found out when the program runs, so that a release build can be
// looked at too; without its header (package valgrind) it is left out.
#include <tactus/port/port.hpp>

#if defined(__SANITIZE_ADDRESS__)
#define TACTUS_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TACTUS_ASAN 1
#endif
#endif
#ifdef TACTUS_ASAN
#include <sanitizer/asan_interface.h>
#endif
#if __has_include(<valgrind/memcheck.h>)
#define TACTUS_VALGRIND 1
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
#include <valgrind/memcheck.h>
#endif

namespace tactus::inline v0::port {
namespace {

bool under_memcheck() noexcept {
#ifdef TACTUS_VALGRIND
    // Other tools answer this request with 0.
    static const bool is = [] {
        const char probe = 0;
        return VALGRIND_MAKE_MEM_DEFINED_IF_ADDRESSABLE(&probe, sizeof probe) != 0;
    }();
    return is;
#else
    return false;
#endif
}

}  // namespace

bool poisoning() noexcept {
#ifdef TACTUS_ASAN
    return true;
#else
    return under_memcheck();
#endif
}

void poison([[maybe_unused]] const void* from, [[maybe_unused]] std::size_t size) noexcept {
#ifdef TACTUS_ASAN
    __asan_poison_memory_region(from, size);
#endif
#ifdef TACTUS_VALGRIND
    if (under_memcheck())
        (void)VALGRIND_MAKE_MEM_NOACCESS(from, size);
#endif
}

void unpoison([[maybe_unused]] const void* from, [[maybe_unused]] std::size_t size) noexcept {
#ifdef TACTUS_ASAN
    __asan_unpoison_memory_region(from, size);
#endif
#ifdef TACTUS_VALGRIND
    if (under_memcheck())
        (void)VALGRIND_MAKE_MEM_UNDEFINED(from, size);
#endif
}

}  // namespace tactus::inline v0::port

#ifdef TACTUS_VALGRIND
#pragma GCC diagnostic pop
#endif
