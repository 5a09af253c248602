// SPDX-License-Identifier: Apache-2.0
//
// Goal: what is not understood, or does not go together, is refused with its line and key (DR-6).
// Method: a table of files.
#include <tactus/config/settings.hpp>

#include <gtest/gtest.h>

#include <string>
#include <string_view>

using namespace tactus;
using config::config_error;
using config::format;

namespace {

struct refusal {
    format as;
    std::string_view text;
    std::size_t line;
    std::string_view key;
    std::string_view says;
};

constexpr auto toml = format::toml;
constexpr auto json = format::json;

constexpr refusal refusals[] = {
    // unknown keys, and what may have been meant
    {toml, "\n[dispatchers.a]\nworkers = 1\ntroughput = 5\n", 4, "dispatchers.a.troughput",
     "unknown key, did you mean 'throughput'?"},
    {json, "{\"dispatchers\":\n {\"a\": {\n \"workers\": 1,\n \"troughput\": 5\n}}}", 4,
     "dispatchers.a.troughput", "unknown key, did you mean 'throughput'?"},
    {toml, "[dispatchers.\"a.b\"]\nqwertyuiop = 1", 2, "dispatchers.\"a.b\".qwertyuiop",
     "unknown key; known are: executor, workers, max_workers"},
    {toml, "[dispatcher.a]\n", 1, "dispatcher", "did you mean 'dispatchers'?"},
    {json, "{\n\"prest\": \"pekko\"}", 2, "prest", "did you mean 'preset'?"},
    {toml, "[mailboxes.m]\ncapasity = 1", 2, "mailboxes.m.capasity", "did you mean 'capacity'?"},
    {toml, "[deployment.\"/user/a\"]\nmail = \"x\"", 2, "deployment.\"/user/a\".mail",
     "known are: dispatcher, mailbox"},
    {toml, "[mailboxes.m]\nkimt = 1", 2, "mailboxes.m.kimt", "did you mean 'kind'?"},
    {toml, "[mailboxes.m]\nkimtt = 1", 2, "mailboxes.m.kimtt", "known are: kind"},
    // the first in the file, whatever its name
    {toml, "[mailboxes.m]\nzzzzzzzz = 1\naaaaaaaa = 1", 2, "mailboxes.m.zzzzzzzz", "unknown key"},
    // names: C-DCF-4, an executor that there is not
    {toml, "[dispatchers.a]\nexecutor = \"typedoesntexist\"", 2, "dispatchers.a.executor",
     "unknown value 'typedoesntexist'; known are: system_default, work_stealing_pool, pinned, "
     "thread_pool, "
     "calling_thread, inline_tick, foreign"},
    {toml, "[dispatchers.a]\nexecutor = \"pined\"", 2, "dispatchers.a.executor",
     "did you mean 'pinned'?"},
    {json, "{\"dispatchers\": {\"a\": {\"executor\": 1\n}}}", 1, "dispatchers.a.executor",
     "expected one of the names; known are: system_default"},
    {toml, "preset = \"akka\"", 1, "preset", "unknown value 'akka'"},
    {toml, "[mailboxes.m]\nkind = \"\"", 2, "mailboxes.m.kind", "known are: fifo"},
    {toml, "[dispatchers.a]\nmailbox_requirement = [\"bouded\"]", 2,
     "dispatchers.a.mailbox_requirement", "unknown capability 'bouded', did you mean 'bounded'?"},
    {toml, "[requirements]\n\"deque+\" = \"x\"", 2, "requirements.deque+",
     "unknown capability ''; known are: mpsc"},
    {json, "{\"requirements\": {\"\": \"x\"}}", 1, "requirements.", "unknown capability ''"},
    // kinds of value
    {toml, "[dispatchers.a]\nworkers = \"4\"", 2, "dispatchers.a.workers",
     "expected an integer from 0 to 1024, found '4'"},
    {toml, "[dispatchers.a]\nworkers = 1.5", 2, "dispatchers.a.workers",
     "found a number with a fraction"},
    {json, "{\"dispatchers\": {\"a\":\n{\"workers\":\n\n1.5}}}", 2, "dispatchers.a.workers",
     "found a number with a fraction"},
    {json, "{\"dispatchers\": {\"a\": {\"workers\": null}}}", 1, "dispatchers.a.workers",
     "found null"},
    {toml, "[dispatchers.a]\nworkers = true", 2, "dispatchers.a.workers", "found true or false"},
    {toml, "[dispatchers.a]\nworkers = 2000-01-01", 2, "dispatchers.a.workers",
     "found a date or time"},
    {toml, "[dispatchers.a]\nworkers = [1]", 2, "dispatchers.a.workers", "found a list"},
    {toml, "[dispatchers.a]\nmailbox_requirement = \"bounded\"", 2,
     "dispatchers.a.mailbox_requirement", "expected a list of capabilities, found 'bounded'"},
    {toml, "[dispatchers.a]\nmailbox_requirement = [1]", 2, "dispatchers.a.mailbox_requirement",
     "expected names of capabilities in the list, found 1"},
    {toml, "dispatchers = 1", 1, "dispatchers", "expected a table, found an integer"},
    {toml, "[dispatchers]\na = 1", 2, "dispatchers.a", "expected a table, found an integer"},
    {toml, "[aliases]\na = 1", 2, "aliases.a", "expected an id of 1 to 100 characters, found 1"},
    {toml, "[aliases]\na = \"\"", 2, "aliases.a", "expected an id of 1 to 100 characters"},
    {json, "[]", 1, "", "expected a table, found a list"},
    {json, "\n7\n", 2, "", "expected a table, found an integer"},
    // ranges
    {toml, "[mailboxes.m]\ncapacity = -5", 2, "mailboxes.m.capacity",
     "expected an integer from 1 to 2097150 or \"unbounded\", found -5"},
    {toml, "[mailboxes.m]\ncapacity = 0", 2, "mailboxes.m.capacity", "found 0"},
    {toml, "[mailboxes.m]\ncapacity = 2097151", 2, "mailboxes.m.capacity", "found 2097151"},
    {toml, "[mailboxes.m]\nstash_capacity = 4294967295", 2, "mailboxes.m.stash_capacity",
     "expected an integer from 1 to 4294967294 or \"unbounded\", found 4294967295"},
    {json, "{\"mailboxes\": {\"m\": {\"capacity\": 99999999999999999999}}}", 1,
     "mailboxes.m.capacity", "found a number with a fraction"},
    {json, "{\"mailboxes\": {\"m\": {\"capacity\": 18446744073709551615}}}", 1,
     "mailboxes.m.capacity", "found 9223372036854775807"},
    {toml, "[mailboxes.m]\ncapacity = \"endless\"", 2, "mailboxes.m.capacity", "found 'endless'"},
    {toml, "[mailboxes.m]\npressure_percent = 101", 2, "mailboxes.m.pressure_percent",
     "from 0 to 100, found 101"},
    {toml, "[dispatchers.a]\nthroughput = 0", 2, "dispatchers.a.throughput", "from 1 to"},
    {toml, "[dispatchers.a]\nworkers = 1025", 2, "dispatchers.a.workers", "found 1025"},
    // durations
    {toml, "[dispatchers.a]\nshutdown_timeout = 10", 2, "dispatchers.a.shutdown_timeout",
     "expected a duration with its unit, such as \"10ms\" (ns, us, ms, s, min, h), or \"none\", "
     "found 10"},
    {toml, "[dispatchers.a]\nshutdown_timeout = \"10\"", 2, "dispatchers.a.shutdown_timeout",
     "found '10'"},
    {toml, "[dispatchers.a]\nshutdown_timeout = \"10 ms\"", 2, "dispatchers.a.shutdown_timeout",
     "found '10 ms'"},
    {toml, "[dispatchers.a]\nshutdown_timeout = \"-1s\"", 2, "dispatchers.a.shutdown_timeout",
     "found '-1s'"},
    {toml, "[dispatchers.a]\nshutdown_timeout = \"9999999999999h\"", 2,
     "dispatchers.a.shutdown_timeout", "found '9999999999999h'"},
    {toml, "[dispatchers.a]\nthroughput_deadline = \"5\"", 2, "dispatchers.a.throughput_deadline",
     "or \"none\", found '5'"},
    {toml, "[mailboxes.m]\npush_timeout = \"never\"", 2, "mailboxes.m.push_timeout",
     "or \"none\", found 'never'"},
    // what does not go together: each of it alone would do
    {toml, "[dispatchers.\"tactus.default-dispatcher\"]\nworkers = 1\nexecutor = \"pinned\"", 3,
     "dispatchers.\"tactus.default-dispatcher\".executor",
     "the default dispatcher runs the system's timers: expected work_stealing_pool or thread_pool, "
     "found 'pinned'"},
    {json, "{\"dispatchers\": {\"tactus.default-dispatcher\": {\n\"executor\": \"foreign\"}}}", 2,
     "dispatchers.\"tactus.default-dispatcher\".executor", "found 'foreign'"},
    {toml, "[dispatchers.\"tactus.default-dispatcher\"]\nexecutor = \"calling_thread\"", 2,
     "dispatchers.\"tactus.default-dispatcher\".executor", "found 'calling_thread'"},
    {toml, "[dispatchers.\"tactus.default-dispatcher\"]\nexecutor = \"inline_tick\"", 2,
     "dispatchers.\"tactus.default-dispatcher\".executor", "found 'inline_tick'"},
    {toml, "[dispatchers.a]\nmax_workers = 3\nworkers = 4", 2, "dispatchers.a.max_workers",
     "expected no fewer than the 4 workers, found 3"},
    {toml, "[dispatchers.a]\nworkers = 2\nexecutor = \"pinned\"", 2, "dispatchers.a.workers",
     "an executor of the kind pinned has one worker, found 2"},
    {toml, "[dispatchers.a]\nexecutor = \"calling_thread\"\nmax_workers = 2", 3,
     "dispatchers.a.max_workers", "an executor of the kind calling_thread has one worker, found 2"},
    {json, "{\"dispatchers\": {\"a\": {\"executor\": \"inline_tick\",\n\"workers\": 3}}}", 2,
     "dispatchers.a.workers", "an executor of the kind inline_tick has one worker, found 3"},
    // paths
    {toml, "[deployment.user]\nmailbox = \"x\"", 1, "deployment.user", "a path begins with '/'"},
    // not even the format
    {toml, "[dispatchers.a]\nworkers = ", 2, "", "not TOML: expected a value"},
    {toml, "[dispatchers.a]\nworkers = 1 2", 2, "", "not TOML: expected the end of the line"},
    {toml, "[dispatchers.a]\nworkers 1", 2, "", "not TOML: expected '=' after a key"},
    {toml, "\n[=]", 2, "", "not TOML: expected a key"},
    {toml, "\n[a", 2, "", "not TOML: expected ']' after the name of a section"},
    {toml, "\n[]", 2, "", "not TOML: expected a key"},
    {toml, "\n = 1", 2, "", "not TOML: expected a key"},
    {toml, "\n\xc3\xa4 = 1", 2, "", "not TOML: expected a key"},
    {toml, "x = [\n}", 2, "", "not TOML: expected a value"},
    {toml, "x = [1\n2]", 2, "", "not TOML: expected ',' or ']' in a list"},
    {toml, "x = {a = 1", 1, "", "not TOML: expected ',' or '}' in a table"},
    {toml, "x = {a = 1,}", 1, "", "not TOML: expected a key"},
    {toml, "x = 01", 1, "", "not TOML: expected a value"},
    {toml, "x = 1__0", 1, "", "not TOML: expected a value"},
    {toml, "x = yes", 1, "", "not TOML: expected a value"},
    {toml, "x = \"abc", 1, "", "not TOML: a text without its end"},
    {toml, "x = \"abc\ny = 1", 1, "", "not TOML: a control character, or a text without its end"},
    {toml, "x = \"\\q\"", 1, "", "not TOML: unknown escape in a text"},
    {toml, "x = \"\\ud800\"", 1, "", "not TOML: unknown escape in a text"},
    {toml, "x = \"\\u12\"", 1, "", "not TOML: unknown escape in a text"},
    {toml, "x = \"\\", 1, "", "not TOML: unknown escape in a text"},
    {toml, "\nx = '\xff'", 2, "", "not TOML: not UTF-8"},
    {toml, std::string_view("\n# \xe2\x82\xac", 5), 2, "", "not TOML: not UTF-8"},
    {toml, "preset = \"tactus\" # \x01", 1, "", "not TOML: a control character"},
    {toml, "preset = 'tactus' \r", 1, "", "not TOML: expected the end of the line"},
    {toml, "x = \"\"\"\n\"\"\"", 1, "", "texts of several lines are of no use here"},
    {toml, "\n[[x]]", 2, "", "lists of tables are of no use here"},
    {toml, "\n\na = 1\na = 2", 4, "a", "is there twice"},
    {toml, "[aliases]\n\n[aliases]", 3, "aliases", "is there twice"},
    {toml, "[a.b]\n[a]\nb.c = 1", 3, "a.b", "is there twice"},
    {toml, "[a]\nb.c = 1\n[a.b]", 3, "a.b", "is there twice"},
    {toml, "a = {}\n[a.b]", 2, "a", "is there twice"},
    {toml, "a = 1\na.b = 1", 2, "a", "is there twice"},
    {toml, "a.b = 1\na = 1", 2, "a", "is there twice"},
    {toml, "[dispatchers.\"a.b\"]\nworkers = 1\nthroughput = 1\nworkers = 2", 4,
     "dispatchers.\"a.b\".workers", "is there twice"},
    {toml, "[a]\nb.c = 1\nd = [{}, {e.f = 1, e.f = 2}]", 3, "a.d.e.f", "is there twice"},
    {toml, "[a.b.c]\n[d]\n[a.b.c]", 3, "a.b.c", "is there twice"},
    {json, "{\n\"preset\": \n}", 3, "", "not JSON: "},
    {json, "", 1, "", "not JSON: "},
    {json, "{} {}", 1, "", "not JSON: "},
    {json, "{\"a\": 1e999}", 1, "", "not JSON: "},
    {json, "{\"aliases\": {\n\"a\": \"b\",\n\"a\": \"c\"}}", 3, "aliases.a", "is there twice"},
    {json, "{\"a\": 1, \"b\": 1,\n\"a\": 2}", 2, "a", "is there twice"},
    {json, "{\"x\": 1, \"a\": [{}, {\"b.c\": {\n\"d\": 1, \"d\": 2}}]}", 2, "a.\"b.c\".d",
     "is there twice"},
    {json, "{\"preset\": \"\xff\"}", 1, "", "not JSON: "},
    // what takes memory or stack without saying anything
    {toml, "\nx = [[[[[[[[[[1]]]]]]]]]]", 2, "", "nested deeper than 8"},
    {json, "{\"x\":\n[[[[[[[[[[1]]]]]]]]]]}", 2, "", "nested deeper than 8"},
    {toml, "\na.a.a.a.a.a.a.a.a.a = 1", 2, "", "nested deeper than 8"},
    {toml, "\n[a.a.a.a.a]\na.a.a.a.a = 1", 3, "", "nested deeper than 8"},
    {toml, "x =\n", 1, "", "not TOML: expected a value"},
    {toml, "x = {a={a={a={a={a={a={a={a=1}}}}}}}}", 1, "x", "unknown key"},
    {toml, "x = {a={a={a={a={a={a={a={a={}}}}}}}}}", 1, "", "nested deeper than 8"},
};

}  // namespace

// DR-6, C-DCF-4, PK-CFG-4
TEST(settings_refused, what_is_not_understood_is_refused_with_its_line) {
    for (const refusal& r : refusals) {
        const auto read = config::parse_settings(r.text, r.as, "app.conf");
        EXPECT_FALSE(read) << r.text;
        if (read)
            continue;  // each row that is not refused, not the first alone
        const config_error& e = read.error();
        EXPECT_EQ(e.file, "app.conf");
        EXPECT_EQ(e.line, r.line) << r.text << "\n" << e.message();
        EXPECT_EQ(e.key, r.key) << r.text;
        EXPECT_NE(e.text.find(r.says), std::string::npos) << r.text << "\n" << e.text;
    }
}

// DF-51:
// Overlong forms, surrogates and characters beyond U+10FFFF are not UTF-8; their neighbours are.
TEST(settings_refused, DF_51_ill_formed_UTF_8_is_refused) {
    using namespace std::string_literals;
    for (const std::string& bytes :
         {"\xc0\xaf"s, "\xc1\xbf"s, "\xe0\x80\xaf"s, "\xe0\x9f\xbf"s, "\xed\xa0\x80"s,
          "\xed\xbf\xbf"s, "\xf0\x80\x80\xaf"s, "\xf0\x8f\xbf\xbf"s, "\xf4\x90\x80\x80"s,
          "\xf5\x80\x80\x80"s, "\xe2\x82"s, "\x80"s}) {
        const auto as_toml =
            config::parse_settings("aliases.a = '" + bytes + "'", format::toml, "f");
        ASSERT_FALSE(as_toml) << ::testing::PrintToString(bytes);
        EXPECT_EQ(as_toml.error().text, "not TOML: not UTF-8");
        EXPECT_FALSE(config::parse_settings("# " + bytes, format::toml, "f"));
        EXPECT_FALSE(
            config::parse_settings(R"({"aliases": {"a": ")" + bytes + "\"}}", format::json, "f"));
    }
    for (const std::string& bytes :
         {"\xc2\x80"s, "\xdf\xbf"s, "\xe0\xa0\x80"s, "\xed\x9f\xbf"s, "\xee\x80\x80"s,
          "\xef\xbf\xbf"s, "\xf0\x90\x80\x80"s, "\xf4\x8f\xbf\xbf"s}) {
        const auto read = config::parse_settings("aliases.a = '" + bytes + "'", format::toml, "f");
        ASSERT_TRUE(read) << read.error().message();
        EXPECT_EQ(read->aliases.at(0).target, bytes);
    }
}

// DR-6: the message is one line, whatever the file contains.
TEST(settings_refused, an_error_can_be_shown) {
    const auto read = config::parse_settings("[dispatchers.a]\ntroughput = 1", format::toml, "f");
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().message(),
              "f:2: dispatchers.a.troughput: unknown key, did you mean 'throughput'?");
    const auto wild = config::parse_settings("{\"\\u0007\\n" + std::string(500, 'x') + "\": 1}",
                                             format::json, "f");
    ASSERT_FALSE(wild);
    EXPECT_EQ(wild.error().key, "??" + std::string(98, 'x') + "...");
    EXPECT_EQ(wild.error().message().find('\n'), std::string::npos);
}
