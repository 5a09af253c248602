// SPDX-License-Identifier: Apache-2.0
//
// Goal: files are read when they are named, and only so; the example in the documentation is one
// that works (DR-6).
#include <tactus/config/settings.hpp>

#include <gtest/gtest.h>

#include <ctime>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <sys/stat.h>
#include <unistd.h>

#include <tactus/runtime/heap_memory.hpp>

using namespace tactus;
namespace fs = std::filesystem;

namespace {

/// A folder that goes with the test.
class scratch {
public:
    scratch() : folder_(fs::temp_directory_path() / ("tactus_config_" + std::to_string(getpid()))) {
        fs::create_directories(folder_);
    }
    ~scratch() { fs::remove_all(folder_); }
    scratch(const scratch&) = delete;
    scratch& operator=(const scratch&) = delete;

    [[nodiscard]] std::string write(const std::string& name, const std::string& text) const {
        const fs::path path = folder_ / name;
        std::ofstream(path, std::ios::binary) << text;
        return path.string();
    }
    [[nodiscard]] std::string path() const { return folder_.string(); }

private:
    fs::path folder_;
};

}  // namespace

// DR-6
TEST(settings_file, the_name_says_the_format) {
    const scratch here;
    const auto toml = config::read_settings(here.write("a.toml", "[aliases]\na = 'b'\n"));
    ASSERT_TRUE(toml) << toml.error().message();
    EXPECT_EQ(toml->aliases.at(0).target, "b");
    const auto json = config::read_settings(here.write("a.json", "{\"aliases\": {\"a\": \"b\"}}"));
    ASSERT_TRUE(json) << json.error().message();
    EXPECT_EQ(json->aliases.at(0).target, "b");
    const auto other = config::read_settings(here.write("a.conf", ""));
    ASSERT_FALSE(other);
    EXPECT_EQ(other.error().text, "expected a name that ends with .toml or .json");
}

// DR-6
TEST(settings_file, what_cannot_be_read_is_an_error) {
    const scratch here;
    const auto missing = config::read_settings(here.path() + "/missing.toml");
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().message(), here.path() + "/missing.toml: cannot be read");
    const std::string folder = here.path() + "/folder.toml";
    fs::create_directories(folder);
    EXPECT_FALSE(config::read_settings(folder));
}

// DF-51:
// A FIFO without a writer would block the reader for ever.
TEST(settings_file, DF_51_only_regular_files_are_read) {
    const scratch here;
    const std::string fifo = here.path() + "/fifo.toml";
    ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
    const std::string folder = here.path() + "/folder.toml";
    fs::create_directories(folder);
    const std::string device = here.path() + "/zero.toml";
    fs::create_symlink("/dev/zero", device);
    for (const std::string& file : {fifo, folder, device}) {
        const auto read = config::read_settings(file);
        ASSERT_FALSE(read) << file;
        EXPECT_EQ(read.error().message(), file + ": not a regular file");
    }
    const std::string link = here.path() + "/link.toml";
    fs::create_symlink(here.write("a.toml", "[aliases]\na = 'b'\n"), link);
    EXPECT_TRUE(config::read_settings(link));
}

// 50,000 aliases took 20 s in 16 buckets.
TEST(settings_file, DF_51_many_aliases_are_added_in_linear_time) {
    const auto seconds_for = [](unsigned count) {
        std::string text = "[aliases]\n";
        for (unsigned i = 0; i < count; ++i)
            text += "a" + std::to_string(i) + " = 'b'\n";
        const auto read = config::parse_settings(text, config::format::toml, "a.toml");
        EXPECT_TRUE(read) << read.error().message();
        runtime::heap_memory memory;
        resolver names({.memory = &memory});
        const auto begin = std::clock();
        EXPECT_TRUE(config::fill(*read, names));
        const auto spent = std::clock() - begin;
        EXPECT_TRUE(names.add_mailbox("b", {.capacity = 7}));
        EXPECT_EQ(names.resolve_mailbox("a0")->capacity, 7u);
        EXPECT_EQ(names.resolve_mailbox("a" + std::to_string(count - 1))->capacity, 7u);
        return static_cast<double>(spent) / CLOCKS_PER_SEC;
    };
    EXPECT_LT(seconds_for(50'000), 1.0);  // 0.03 s in a debug build
}

// DR-6: a limit of size; just below it a file is read.
TEST(settings_file, a_file_has_a_size) {
    const scratch here;
    const std::string comment = "#" + std::string(config::file_size_max - 2, 'x') + "\n";
    ASSERT_EQ(comment.size(), config::file_size_max);
    EXPECT_TRUE(config::read_settings(here.write("a.toml", comment)));
    const auto larger = config::read_settings(here.write("b.toml", comment + "\n"));
    ASSERT_FALSE(larger);
    EXPECT_EQ(larger.error().text, "larger than 1048576 bytes");
}

// DR-6: many small things are no way to take long, either.
TEST(settings_file, a_large_file_is_read_in_time) {
    std::string json = "{\"aliases\": {";
    for (unsigned i = 0; json.size() < config::file_size_max / 4; ++i)
        json += "\"a" + std::to_string(i) + "\":\"b\",\n";
    json += "\"z\": \"b\"}}";
    const auto read = config::parse_settings(json, config::format::json, "a.json");
    ASSERT_TRUE(read) << read.error().message();
    EXPECT_GT(read->aliases.size(), 15'000u);

    std::string toml;
    for (unsigned i = 0; toml.size() < config::file_size_max / 4; ++i)
        toml += "aliases.a" + std::to_string(i) + " = 'b'\n";
    const auto dotted = config::parse_settings(toml, config::format::toml, "a.toml");
    ASSERT_TRUE(dotted) << dotted.error().message();
    EXPECT_GT(dotted->aliases.size(), 10'000u);
    EXPECT_EQ(dotted->aliases.back().line, dotted->aliases.size());
}

// DR-3: docs/dispatchers.md shows a file that can be read and resolves as it says there.
TEST(settings_file, the_example_of_the_documentation_works) {
    std::ifstream in(TACTUS_DOCUMENT);
    std::stringstream text;
    text << in.rdbuf();
    const std::string page = text.str();
    const std::string begin = "```toml\n";
    const auto from = page.find(begin);
    ASSERT_NE(from, std::string::npos);
    const auto end = page.find("```\n", from + begin.size());
    const auto example = page.substr(from + begin.size(), end - from - begin.size());
    const auto read = config::parse_settings(example, config::format::toml, "app.toml");
    ASSERT_TRUE(read) << read.error().message();
    runtime::heap_memory memory;
    resolver names({.memory = &memory, .rules = read->rules()});
    const auto filled = config::fill(*read, names);
    ASSERT_TRUE(filled) << filled.error().message();
    const auto got = names.resolve({.path = "/user/reports"});
    ASSERT_TRUE(got) << got.error().text();
    EXPECT_EQ(got->dispatcher->id(), "app.database");
    EXPECT_EQ(got->mailbox.capacity, 500u);
    EXPECT_EQ(got->mailbox.when_full, overflow::drop_oldest);
    const auto stashing = names.resolve({.actor_requirement = capability::deque});
    ASSERT_TRUE(stashing) << stashing.error().text();
    EXPECT_EQ(stashing->mailbox.kind, mailbox_kind::deque);
    EXPECT_EQ(stashing->mailbox.stash_capacity, 100u);
}
