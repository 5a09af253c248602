// SPDX-License-Identifier: Apache-2.0
//
// A scheduler's deterministic log in a file: written after one run, read and compared in another
// (SD-6). The bytes are those of deterministic_log::write, so that a device's log, received over
// any line and put into a file, is read as well.
//
// Thread safety: none. Writing is the owner's; a file that was read belongs to who read it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <string>
#include <vector>

#include <tactus/scheduler/deterministic_log.hpp>
#include <tactus/scheduler/log_replay.hpp>

namespace tactus::inline v0::runtime {

struct log_file_error {
    enum class kind : std::uint8_t {
        cannot_open,   // `system_code` says why: it does not exist, or must not be touched
        cannot_read,   // `system_code`
        cannot_write,  // `system_code`: the disk is full; what was written is left
        bad_log,       // `log` says why
    };
    kind what{};
    int system_code = 0;  // errno
    log_error log = {};
    std::string path;
};
inline constexpr std::size_t log_file_error_count = 4;
[[nodiscard]] const char* name_of(log_file_error::kind what) noexcept;
/// A sentence such as "cannot open run.log: No such file or directory".
[[nodiscard]] std::string describe(const log_file_error& error);

/// Writes the file anew.
[[nodiscard]] std::expected<void, log_file_error> write_log_file(const std::string& path,
                                                                 const recorded_log& log);

/// A log that was read, with its bytes.
class log_file {
public:
    [[nodiscard]] static std::expected<log_file, log_file_error> read(const std::string& path);

    /// Lives as long as the file does.
    [[nodiscard]] const log_replay& replay() const noexcept { return replay_; }

private:
    log_file(std::vector<std::byte> bytes, const log_replay& replay) noexcept
        : bytes_(std::move(bytes)), replay_(replay) {}

    std::vector<std::byte> bytes_;  // moving the vector does not move them
    log_replay replay_;
};

}  // namespace tactus::inline v0::runtime
