// SPDX-License-Identifier: Apache-2.0
//
// Goal: no file makes the reader fail other than by an error (DR-6), tried a little in every run of
// the tests, also under the sanitizers. tests/fuzz/settings_fuzz.cpp does it at length.
// Method: files that are right, changed at a few random places: bytes, words of a configuration,
// pieces of other files. The seed is fixed, so each run tries the same; a slow machine stops after
// five seconds.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <string>
#include <string_view>

#include <tactus/base/det_rng.hpp>

#include "settings_properties.hpp"

using namespace std::chrono_literals;
using tactus::config::format;
using tactus_test::settings_properties;

namespace {

constexpr std::array<std::string_view, 5> seeds = {
    R"(preset = "tactus"
[dispatchers."app.io"]
executor = "thread_pool"
workers = 4
max_workers = 0x10
throughput_deadline = "2ms"
mailbox_requirement = ["bounded", 'deque']
[mailboxes.small]
kind = "deque"
capacity = 1_00
overflow = "drop_oldest"
[aliases]
io = "app.io" # a comment
[deployment."/user/a"]
dispatcher = "io"
[requirements]
"deque+bounded" = "small"
)",
    "mailboxes.m = { kind = 'fifo', push_timeout = \"none\" }\naliases.\"x\\t\\u00e4\" = 'm'\r\n",
    "[dispatchers.\"tactus.default-dispatcher\"]\nexecutor = \"thread_pool\"\nworkers = 1\n",
    R"({"preset": "tactus", "dispatchers": {"a": {"executor": "pinned", "workers": 1}},
"mailboxes": {"m": {"capacity": 10, "overflow": "block", "push_timeout": "1s"}},
"aliases": {"b": "a", "c": "b\u000a"}, "deployment": {"/user/a": {"mailbox": "m"}}}
)",
    R"({"requirements": {"deque+bounded": "m"}, "mailboxes": {"m": {"kind": "deque",
"capacity": 2097150}}, "aliases": {"\n": "m", "tactus.default-mailbox": "m"}})",
};
constexpr std::size_t first_json = 3;

constexpr auto words = std::to_array<std::string_view>({"preset",
                                                        "dispatchers",
                                                        "mailboxes",
                                                        "aliases",
                                                        "deployment",
                                                        "requirements",
                                                        "executor",
                                                        "workers",
                                                        "max_workers",
                                                        "throughput",
                                                        "mailbox",
                                                        "kind",
                                                        "capacity",
                                                        "overflow",
                                                        "pinned",
                                                        "foreign",
                                                        "unbounded",
                                                        "\"none\"",
                                                        "tactus.default-dispatcher",
                                                        "tactus.default-mailbox",
                                                        "bounded-capacity:",
                                                        "/user/a",
                                                        "\\u000a",
                                                        "\\n",
                                                        "\n",
                                                        "\r\n",
                                                        "\"",
                                                        "'",
                                                        "[",
                                                        "]",
                                                        "{",
                                                        "}",
                                                        ".",
                                                        "=",
                                                        ",",
                                                        "0",
                                                        "-1",
                                                        "1e9",
                                                        "4294967295",
                                                        "[a]\n",
                                                        "a.a.a.a.a.a.a.a.a",
                                                        "[[[[[[[[[["});

/// Puts another word in the place of the first one from `at` on.
void replace_word(std::string& text, std::size_t at, std::string_view by) {
    constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz_";
    const std::size_t begin = std::min(text.find_first_of(letters, at), text.size());
    const std::size_t end = std::min(text.find_first_not_of(letters, begin), text.size());
    text.replace(begin, end - begin, by);
}

std::string mutated(tactus::det_rng& rng, std::string text) {
    for (std::uint64_t changes = 1 + rng.below(4); changes > 0; --changes) {
        const std::size_t at = rng.below(text.size() + 1);
        const std::size_t size = rng.below(1 + std::min<std::size_t>(text.size() - at, 40));
        const std::string_view word = words[rng.below(words.size())];
        const std::string_view from = seeds[rng.below(seeds.size())];
        const std::size_t start = rng.below(from.size());
        const auto byte = static_cast<char>(rng.below(256));
        switch (rng.below(7)) {
        case 0:
            text.insert(at, 1, byte);
            break;
        case 1:
            text.replace(at, size, 1, byte);
            break;
        case 2:
            text.erase(at, size);
            break;
        case 3:
            text.insert(at, word);
            break;
        case 4:
            replace_word(text, at, word);
            break;
        case 5:
            text.insert(at, from.substr(start, 2 * size));
            break;
        default:
            text.insert(at, text.substr(at, size));
            break;
        }
    }
    return text;
}

}  // namespace

// DR-6
TEST(settings_mutation, changed_files_are_read_or_refused) {
    const auto end = std::chrono::steady_clock::now() + 5s;
    tactus::det_rng rng(20'000);
    for (int i = 0; i < 20'000 && std::chrono::steady_clock::now() < end; ++i) {
        const std::size_t which = rng.below(seeds.size());
        const std::string text = mutated(rng, std::string(seeds[which]));
        const auto as = which < first_json ? format::toml : format::json;
        const std::string_view broken = settings_properties::broken(text, as);
        ASSERT_TRUE(broken.empty()) << "does not hold: " << broken << "\n" << text;
    }
}

// The files that are changed are read: not all is refused at once.
TEST(settings_mutation, the_files_it_begins_with_are_right) {
    for (std::size_t i = 0; i < seeds.size(); ++i) {
        const auto as = i < first_json ? format::toml : format::json;
        const auto read = tactus::config::parse_settings(seeds[i], as, "seed");
        EXPECT_TRUE(read) << read.error().message();
        EXPECT_EQ(settings_properties::broken(seeds[i], as), "");
    }
}
