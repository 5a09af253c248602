// SPDX-License-Identifier: Apache-2.0
//
// Goal: a log comes back from a file as it was, and what cannot be read or written is an error with
// a text (SD-6, SD-5).
#include <tactus/runtime/scheduler_log_file.hpp>

#include <gtest/gtest.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include <unistd.h>

#include <tactus/runtime/heap_memory.hpp>

namespace tactus::runtime {
namespace {

class scheduler_log_file : public testing::Test {
protected:
    void SetUp() override {
        folder_ =
            std::filesystem::temp_directory_path() / ("tactus_log_" + std::to_string(::getpid()));
        std::filesystem::create_directories(folder_);
        path_ = folder_ / "run.log";
        ASSERT_TRUE(log_.enable(100).has_value());
        for (std::uint64_t i = 0; i < 150; ++i)
            log_.record({.kind = diagnostic_kind::fire,
                         .job = i,
                         .deadline = i * i,
                         .detail = -static_cast<std::int64_t>(i)});
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }

    heap_memory memory_;
    deterministic_log log_{memory_};
    std::filesystem::path folder_;
    std::string path_;
};

// SD-6: the log can be written to a file and replayed.
TEST_F(scheduler_log_file, comes_back_as_it_was) {
    ASSERT_TRUE(write_log_file(path_, log_).has_value());
    auto read = log_file::read(path_);
    ASSERT_TRUE(read.has_value());
    const log_file file = std::move(*read);
    EXPECT_EQ(file.replay().size(), 100u);
    EXPECT_EQ(file.replay().lost(), 50u);
    EXPECT_EQ(log_replay::first_difference(file.replay(), log_replay(log_)), 100u);
    EXPECT_EQ(std::filesystem::file_size(path_), 32u + 100 * 44);
}

// SD-1: a shorter log over a longer one leaves nothing of it.
TEST_F(scheduler_log_file, is_written_anew) {
    ASSERT_TRUE(write_log_file(path_, log_).has_value());
    log_.disable();
    ASSERT_TRUE(write_log_file(path_, log_).has_value());
    const auto read = log_file::read(path_);
    ASSERT_TRUE(read.has_value());
    EXPECT_EQ(read->replay().size(), 0u);
}

TEST_F(scheduler_log_file, SD_6_a_missing_file_is_an_error) {
    const auto read = log_file::read(path_);
    ASSERT_FALSE(read.has_value());
    EXPECT_EQ(read.error().what, log_file_error::kind::cannot_open);
    EXPECT_EQ(read.error().system_code, ENOENT);
    EXPECT_EQ(describe(read.error()), "cannot open " + path_ + ": No such file or directory");
    const auto written = write_log_file(folder_ / "none" / "run.log", log_);
    ASSERT_FALSE(written.has_value());
    EXPECT_EQ(written.error().what, log_file_error::kind::cannot_open);
}

TEST_F(scheduler_log_file, SD_6_a_folder_cannot_be_read) {
    const auto read = log_file::read(folder_);
    ASSERT_FALSE(read.has_value());
    EXPECT_EQ(read.error().what, log_file_error::kind::cannot_read);
    EXPECT_EQ(describe(read.error()), "cannot read " + folder_.string() + ": Is a directory");
}

TEST_F(scheduler_log_file, SD_6_a_full_disk_is_an_error) {
    const auto written = write_log_file("/dev/full", log_);
    ASSERT_FALSE(written.has_value());
    EXPECT_EQ(written.error().what, log_file_error::kind::cannot_write);
    EXPECT_EQ(describe(written.error()), "cannot write /dev/full: No space left on device");
    // So little that the library keeps it until the file is closed.
    log_.disable();
    const auto closed = write_log_file("/dev/full", log_);
    ASSERT_FALSE(closed.has_value());
    EXPECT_EQ(closed.error().what, log_file_error::kind::cannot_write);
}

TEST_F(scheduler_log_file, SD_6_what_is_no_log_is_an_error) {
    ASSERT_TRUE(write_log_file(path_, log_).has_value());
    std::filesystem::resize_file(path_, 100);
    auto read = log_file::read(path_);
    ASSERT_FALSE(read.has_value());
    EXPECT_EQ(read.error().what, log_file_error::kind::bad_log);
    EXPECT_EQ(read.error().log, (log_error{log_errc::truncated, 100, 32 + 100 * 44}));
    EXPECT_EQ(describe(read.error()),
              path_ + ": the log has 100 bytes, its header asks for 4432: the end is missing");
    ASSERT_TRUE(write_log_file(path_, log_).has_value());
    std::fstream(path_, std::ios::in | std::ios::out | std::ios::binary).seekp(8).put('\2');
    read = log_file::read(path_);
    ASSERT_FALSE(read.has_value());
    EXPECT_EQ(read.error().log, (log_error{log_errc::wrong_version, 2, 1}));
}

// SD-5
TEST_F(scheduler_log_file, each_error_has_a_name) {
    constexpr const char* names[] = {"cannot_open", "cannot_read", "cannot_write", "bad_log"};
    static_assert(std::size(names) == log_file_error_count);
    for (std::size_t i = 0; i < log_file_error_count; ++i)
        EXPECT_STREQ(name_of(static_cast<log_file_error::kind>(i)), names[i]);
    EXPECT_STREQ(name_of(static_cast<log_file_error::kind>(99)), "unknown");
    EXPECT_EQ(describe({.what = static_cast<log_file_error::kind>(99), .path = {}}), "unknown");
}

}  // namespace
}  // namespace tactus::runtime
