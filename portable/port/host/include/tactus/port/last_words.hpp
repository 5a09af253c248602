// SPDX-License-Identifier: Apache-2.0
//
// Last words: what layers above the port do when a check fails on a host, before the program ends.
//
// Thread safety: any thread; set() before a check can fail.
#pragma once

#include <cstddef>

namespace tactus::inline v0::port {

class last_words {
public:
    /// Writes where the check failed into `to`, as a C string: actor, message, thread.
    using describe_call = void (*)(char* to, std::size_t size) noexcept;
    /// Writes what is still to be written: log lines.
    using flush_call = void (*)() noexcept;

    static void set_describe(describe_call call) noexcept;
    static void set_flush(flush_call call) noexcept;

    /// Once per process; a check that fails meanwhile is told without them.
    static void describe(char* to, std::size_t size) noexcept;
    static void flush() noexcept;
};

}  // namespace tactus::inline v0::port
