// SPDX-License-Identifier: Apache-2.0
//
// Files of logs, by the C library: what fails says so in errno.
#include <tactus/runtime/scheduler_log_file.hpp>

#include <cerrno>
#include <cstdio>
#include <memory>
#include <system_error>
#include <utility>

namespace tactus::inline v0::runtime {
namespace {

struct closes {
    void operator()(std::FILE* file) const noexcept { (void)std::fclose(file); }
};
using open_file = std::unique_ptr<std::FILE, closes>;

std::unexpected<log_file_error> failed(log_file_error::kind what, const std::string& path,
                                       int system_code) {
    return std::unexpected(log_file_error{.what = what, .system_code = system_code, .path = path});
}

/// Remembers the first thing that went wrong.
class file_sink final : public byte_sink {
public:
    explicit file_sink(std::FILE* to) noexcept : to_(to) {}
    void write(std::span<const std::byte> piece) noexcept override {
        if (code_ == 0 && std::fwrite(piece.data(), 1, piece.size(), to_) != piece.size())
            code_ = errno;
    }
    [[nodiscard]] int code() const noexcept { return code_; }

private:
    std::FILE* to_;
    int code_ = 0;
};

}  // namespace

const char* name_of(log_file_error::kind what) noexcept {
    static constexpr const char* names[log_file_error_count] = {"cannot_open", "cannot_read",
                                                                "cannot_write", "bad_log"};
    const auto i = static_cast<std::size_t>(what);
    return i < log_file_error_count ? names[i] : "unknown";
}

std::string describe(const log_file_error& error) {
    if (error.what == log_file_error::kind::bad_log) {
        char room[128];
        return error.path + ": " + std::string(describe(error.log, room));
    }
    static constexpr const char* verbs[] = {"open", "read", "write"};
    const auto i = static_cast<std::size_t>(error.what);
    if (i >= std::size(verbs))
        return "unknown";
    return std::string("cannot ") + verbs[i] + " " + error.path + ": " +
           std::generic_category().message(error.system_code);
}

std::expected<void, log_file_error> write_log_file(const std::string& path,
                                                   const recorded_log& log) {
    open_file file(std::fopen(path.c_str(), "wb"));
    if (file == nullptr)
        return failed(log_file_error::kind::cannot_open, path, errno);
    file_sink sink(file.get());
    log.write(sink);
    if (sink.code() != 0)
        return failed(log_file_error::kind::cannot_write, path, sink.code());
    // What the library has kept is written now; only closing says whether it could be.
    if (std::fclose(file.release()) != 0)
        return failed(log_file_error::kind::cannot_write, path, errno);
    return {};
}

std::expected<log_file, log_file_error> log_file::read(const std::string& path) {
    const open_file file(std::fopen(path.c_str(), "rb"));
    if (file == nullptr)
        return failed(log_file_error::kind::cannot_open, path, errno);
    std::vector<std::byte> bytes;
    std::byte piece[4'096];
    while (const std::size_t count = std::fread(piece, 1, sizeof piece, file.get()))
        bytes.insert(bytes.end(), piece, piece + count);
    if (std::ferror(file.get()) != 0)
        return failed(log_file_error::kind::cannot_read, path, errno);
    const auto replay = log_replay::read(bytes);
    if (!replay)
        return std::unexpected(log_file_error{
            .what = log_file_error::kind::bad_log, .log = replay.error(), .path = path});
    return log_file(std::move(bytes), *replay);
}

}  // namespace tactus::inline v0::runtime
