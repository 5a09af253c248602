// SPDX-License-Identifier: Apache-2.0
//
// The threads of this process by name, as the kernel says.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

namespace tactus_test {

/// Calls `visit(folder in /proc)` for each thread of that name.
template <class Visit>
void each_thread_named(std::string_view name, Visit&& visit) {
    std::error_code gone;  // they come and go
    for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task", gone)) {
        std::string comm;
        std::getline(std::ifstream(thread.path() / "comm"), comm);
        if (comm == name)
            visit(thread.path());
    }
}

inline unsigned threads_named(std::string_view name) {
    unsigned count = 0;
    each_thread_named(name, [&](const std::filesystem::path&) { ++count; });
    return count;
}

/// The signals it blocks, one bit each.
inline std::uint64_t blocked_by(const std::filesystem::path& thread) {
    std::ifstream status(thread / "status");
    for (std::string line; std::getline(status, line);) {
        if (line.starts_with("SigBlk:"))
            return std::stoull(line.substr(7), nullptr, 16);
    }
    return 0;
}

}  // namespace tactus_test
