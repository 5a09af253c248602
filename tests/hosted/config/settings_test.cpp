// SPDX-License-Identifier: Apache-2.0
//
// Goal: a file says what it says, in TOML and in JSON, and what is not understood is refused with
// its line and key (DR-3, DR-6). Method: the same settings in both; a table of files to refuse.
#include <tactus/config/settings.hpp>

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include <tactus/runtime/heap_memory.hpp>

using namespace tactus;
using config::config_error;
using config::format;
using config::settings;

namespace {

constexpr std::string_view sample_toml = R"(preset = "pekko"

[dispatchers."app.io"]
executor = "thread_pool"
workers = 4
max_workers = 16
throughput = 17
throughput_deadline = "2ms"
starvation_deadline = "none"
shutdown_timeout = "5s"
mailbox = "small"
mailbox_requirement = ["bounded", "deque"]

[mailboxes.small]
kind = "deque"
capacity = 100
overflow = "drop_oldest"
pressure_percent = 0
push_timeout = "250us"
stash_capacity = 10

[aliases]
io = "app.io"

[deployment."/user/a"]
dispatcher = "io"
mailbox = "small"

[requirements]
"deque+bounded" = "small"
)";

constexpr std::string_view sample_json = R"({
  "preset": "pekko",
  "dispatchers": {
    "app.io": {
      "executor": "thread_pool", "workers": 4, "max_workers": 16, "throughput": 17,
      "throughput_deadline": "2ms", "starvation_deadline": "none", "shutdown_timeout": "5s",
      "mailbox": "small", "mailbox_requirement": ["bounded", "deque"]
    }
  },
  "mailboxes": {
    "small": {
      "kind": "deque", "capacity": 100, "overflow": "drop_oldest", "pressure_percent": 0,
      "push_timeout": "250us", "stash_capacity": 10
    }
  },
  "aliases": { "io": "app.io" },
  "deployment": { "/user/a": { "dispatcher": "io", "mailbox": "small" } },
  "requirements": { "deque+bounded": "small" }
}
)";

void expect_sample(const std::expected<settings, config_error>& read) {
    ASSERT_TRUE(read) << read.error().message();
    EXPECT_EQ(read->preset, system_preset::pekko);
    ASSERT_EQ(read->dispatchers.size(), 1u);
    EXPECT_EQ(read->dispatchers[0].id, "app.io");
    EXPECT_EQ(read->dispatchers[0].mailbox, "small");
    EXPECT_EQ(read->dispatchers[0].config,
              (dispatcher_config{.executor = executor_kind::thread_pool,
                                 .workers = 4,
                                 .max_workers = 16,
                                 .throughput = 17,
                                 .throughput_deadline = duration::from_ms(2),
                                 .starvation_deadline = duration::max(),
                                 .shutdown_timeout = duration::from_s(5),
                                 .mailbox_requirement = capability::bounded | capability::deque}));
    ASSERT_EQ(read->mailboxes.size(), 1u);
    EXPECT_EQ(read->mailboxes[0].options, (mailbox_options{.kind = mailbox_kind::deque,
                                                           .when_full = overflow::drop_oldest,
                                                           .pressure_percent = 0,
                                                           .capacity = 100,
                                                           .push_timeout = duration::from_us(250),
                                                           .stash_capacity = 10}));
    ASSERT_EQ(read->aliases.size(), 1u);
    EXPECT_EQ(read->aliases[0].alias, "io");
    EXPECT_EQ(read->aliases[0].target, "app.io");
    ASSERT_EQ(read->deployments.size(), 1u);
    EXPECT_EQ(read->deployments[0].path, "/user/a");
    EXPECT_EQ(read->deployments[0].dispatcher, "io");
    EXPECT_EQ(read->deployments[0].mailbox, "small");
    ASSERT_EQ(read->requirements.size(), 1u);
    EXPECT_EQ(read->requirements[0].required, capability::deque | capability::bounded);
    EXPECT_EQ(read->requirements[0].mailbox, "small");
}

}  // namespace

// DR-3
TEST(settings, the_same_in_toml_and_json) {
    expect_sample(config::parse_settings(sample_toml, format::toml, "a.toml"));
    expect_sample(config::parse_settings(sample_json, format::json, "a.json"));
}

TEST(settings, an_empty_file_says_nothing) {
    for (const auto& read : {config::parse_settings("", format::toml, "a.toml"),
                             config::parse_settings("{}", format::json, "a.json")}) {
        ASSERT_TRUE(read) << read.error().message();
        EXPECT_FALSE(read->preset);
        EXPECT_TRUE(read->dispatchers.empty() && read->mailboxes.empty());
        EXPECT_EQ(read->rules(), dispatch_rules{});
    }
}

// DR-3: each setting, said as it is by default, is as if it were not said; in both formats.
TEST(settings, the_defaults_read_back_as_defaults) {
    std::size_t compared = 0;
    for (const config::setting_info& info : config::known_settings()) {
        if (info.otherwise.empty() || info.section.empty())
            continue;
        const std::string section(info.section.substr(0, info.section.find('.')));
        const std::string key(info.key);
        const std::string toml = "[" + section + ".x]\n" + key + " = " + info.otherwise;
        const std::string json =
            "{\"" + section + "\": {\"x\": {\"" + key + "\": " + info.otherwise + "}}}";
        for (const auto& read : {config::parse_settings(toml, format::toml, "a.toml"),
                                 config::parse_settings(json, format::json, "a.json")}) {
            ASSERT_TRUE(read) << read.error().message();
            if (section == "dispatchers")
                EXPECT_EQ(read->dispatchers.at(0).config, dispatcher_config{}) << key;
            else
                EXPECT_EQ(read->mailboxes.at(0).options, mailbox_options{}) << key;
            ++compared;
        }
    }
    EXPECT_EQ(compared, 2 * 12u);
}

// MB-12: to say what happens when it is full is to ask for a bound.
TEST(settings, overflow_alone_bounds_a_mailbox) {
    const auto read = config::parse_settings(
        "[mailboxes.m]\noverflow = \"reject\"\n"
        "[mailboxes.n]\noverflow = \"reject\"\n"
        "capacity = \"unbounded\"\n",
        format::toml, "a.toml");
    ASSERT_TRUE(read) << read.error().message();
    EXPECT_EQ(read->mailboxes.at(0).options.capacity, 1'000u);
    EXPECT_FALSE(read->mailboxes.at(1).options.is_bounded());
}

TEST(settings, the_blocking_dispatcher_stays_one_that_may_block) {
    const auto read = config::parse_settings(
        "[dispatchers.\"tactus.blocking-dispatcher\"]\nworkers = 2", format::toml, "a.toml");
    ASSERT_TRUE(read);
    EXPECT_EQ(read->dispatchers.at(0).config.executor, executor_kind::thread_pool);
}

TEST(settings, durations_and_their_units) {
    struct row {
        const char* text;
        std::int64_t ns;
    };
    constexpr row rows[] = {{"0ns", 0},
                            {"7ns", 7},
                            {"7us", 7'000},
                            {"10ms", 10'000'000},
                            {"1s", 1'000'000'000},
                            {"2min", 120'000'000'000},
                            {"3h", 10'800'000'000'000}};
    for (const row& r : rows) {
        const auto read = config::parse_settings(
            "[mailboxes.m]\npush_timeout = \"" + std::string(r.text) + "\"", format::toml, "a");
        ASSERT_TRUE(read) << read.error().message();
        EXPECT_EQ(read->mailboxes.at(0).options.push_timeout.ns(), r.ns) << r.text;
    }
}

// "none" is no limit: a send that waits until there is room, threads that stay, and so on.
TEST(settings, none_is_no_limit) {
    const auto read = config::parse_settings(
        "[mailboxes.m]\npush_timeout = \"none\"\n"
        "[dispatchers.a]\nshutdown_timeout = \"none\"\nstarvation_deadline = \"none\"\n"
        "throughput_deadline = \"none\"\n",
        format::toml, "a.toml");
    ASSERT_TRUE(read) << read.error().message();
    EXPECT_EQ(read->mailboxes.at(0).options.push_timeout, duration::max());
    EXPECT_EQ(read->dispatchers.at(0).config.shutdown_timeout, duration::max());
    EXPECT_EQ(read->dispatchers.at(0).config.starvation_deadline, duration::max());
    EXPECT_EQ(read->dispatchers.at(0).config.throughput_deadline, duration::max());
}

// DR-6: the edges of what is allowed, next to what is refused below.
TEST(settings, values_at_their_limits) {
    constexpr std::string_view allowed[] = {
        "[dispatchers.\"tactus.default-dispatcher\"]\nexecutor = \"thread_pool\"",
        "[dispatchers.\"tactus.internal-dispatcher\"]\nexecutor = \"pinned\"",
        "[dispatchers.a]\nworkers = 4\nmax_workers = 4",
        "[dispatchers.a]\nworkers = 4\nmax_workers = 0",
        "[dispatchers.a]\nmax_workers = 1",
        "[dispatchers.a]\nexecutor = \"pinned\"\nworkers = 1\nmax_workers = 1",
        "[dispatchers.a]\nexecutor = \"inline_tick\"\nworkers = 0",
        "[dispatchers.a]\nexecutor = \"foreign\"\nworkers = 2",
        "[mailboxes.m]\ncapacity = 2097150\nstash_capacity = 4294967294",
    };
    for (const std::string_view text : allowed) {
        const auto read = config::parse_settings(text, format::toml, "a.toml");
        EXPECT_TRUE(read) << text << "\n" << read.error().message();
    }
}

// ---- what is refused

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
     "unknown value 'typedoesntexist'; known are: work_stealing_pool, pinned, thread_pool, "
     "calling_thread, inline_tick, foreign"},
    {toml, "[dispatchers.a]\nexecutor = \"pined\"", 2, "dispatchers.a.executor",
     "did you mean 'pinned'?"},
    {json, "{\"dispatchers\": {\"a\": {\"executor\": 1\n}}}", 1, "dispatchers.a.executor",
     "expected one of the names; known are: work_stealing_pool"},
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
TEST(settings, what_is_not_understood_is_refused_with_its_line) {
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

TEST(settings, other_letters_stand_in_quotes_and_comments) {
    const auto read = config::parse_settings(
        "\xef\xbb\xbf[aliases] # \xc3\xa4\n"
        "\"\xc3\xa4\" = '\xe2\x82\xac'",
        format::toml, "a.toml");
    ASSERT_TRUE(read) << read.error().message();
    EXPECT_EQ(read->aliases.at(0).target, "\xe2\x82\xac");
    EXPECT_EQ(read->aliases.at(0).line, 2u);
}

// What TOML allows in the way of writing.
TEST(settings, the_many_ways_of_toml) {
    const auto read = config::parse_settings(
        "# a comment\r\n"
        "  [ dispatchers . \"a.b\" ] # another\r\n"
        "workers = 1_0\r\n"
        "\tmailbox_requirement = [ # a list\n"
        "    'bounded' , # one\n"
        "    \"deque\",\n"
        "]\n"
        "throughput=0x1F\n"
        "[mailboxes]\n"
        "m = { kind = 'deque', capacity = +7 }\n"
        "n.capacity = 0b101\n"
        "n.stash_capacity = 0o17\n"
        "[dispatchers]\n"
        "c = {}\n"
        "[aliases]\n"
        "\"x\\t\\u00e4\\U0001F600\" = 'a\\b'",
        format::toml, "a.toml");
    ASSERT_TRUE(read) << read.error().message();
    ASSERT_EQ(read->dispatchers.size(), 2u);
    EXPECT_EQ(read->dispatchers[0].id, "a.b");
    EXPECT_EQ(read->dispatchers[0].line, 2u);
    EXPECT_EQ(read->dispatchers[0].config.workers, 10u);
    EXPECT_EQ(read->dispatchers[0].config.throughput, 31u);
    EXPECT_EQ(read->dispatchers[0].config.mailbox_requirement,
              capability::bounded | capability::deque);
    EXPECT_EQ(read->dispatchers[1].id, "c");
    ASSERT_EQ(read->mailboxes.size(), 2u);
    EXPECT_EQ(read->mailboxes[0].options.capacity, 7u);
    EXPECT_EQ(read->mailboxes[1].options.capacity, 5u);
    EXPECT_EQ(read->mailboxes[1].options.stash_capacity, 15u);
    EXPECT_EQ(read->mailboxes[1].line, 11u);
    EXPECT_EQ(read->aliases.at(0).alias, "x\t\xc3\xa4\xf0\x9f\x98\x80");
    EXPECT_EQ(read->aliases.at(0).target, "a\\b");
}

// DR-6: the message is one line, whatever the file contains.
TEST(settings, an_error_can_be_shown) {
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

// ---- into a resolver

// DR-3, C-DCF-1, C-DCF-7, SC-26
TEST(settings, a_resolver_is_filled) {
    for (const auto& read : {config::parse_settings(sample_toml, format::toml, "a.toml"),
                             config::parse_settings(sample_json, format::json, "a.json")}) {
        ASSERT_TRUE(read);
        runtime::heap_memory memory;
        resolver names({.memory = &memory, .rules = read->rules()});
        const auto filled = config::fill(*read, names);
        ASSERT_TRUE(filled) << filled.error().message();
        const auto got =
            names.resolve({.path = "/user/a",
                           .choice = {.dispatcher = default_dispatcher_id, .mailbox = "unbounded"},
                           .actor_requirement = capability::deque});
        ASSERT_TRUE(got) << got.error().text();
        EXPECT_EQ(got->dispatcher->id(), "app.io");
        EXPECT_EQ(got->dispatcher->config().throughput, 17u);
        EXPECT_EQ(got->dispatcher->config().mailbox, "small");
        EXPECT_EQ(got->mailbox.capacity, 100u);
        const auto required =
            names.resolve({.actor_requirement = capability::deque | capability::bounded});
        ASSERT_TRUE(required) << required.error().text();
        EXPECT_EQ(required->mailbox.capacity, 100u);
        EXPECT_EQ(required->dispatcher->config().throughput, 5u);
    }
}

// C-DCF-8, DR-3: what every system has is configured in one place.
TEST(settings, the_default_ids_are_configured_like_others) {
    const auto read = config::parse_settings(
        "[dispatchers.\"tactus.internal-dispatcher\"]\n"
        "throughput = 3\n"
        "[mailboxes.\"tactus.default-mailbox\"]\n"
        "capacity = 4\n",
        format::toml, "a.toml");
    ASSERT_TRUE(read);
    runtime::heap_memory memory;
    resolver names({.memory = &memory});
    ASSERT_TRUE(config::fill(*read, names));
    EXPECT_EQ((*names.resolve_dispatcher(internal_dispatcher_id))->config().throughput, 3u);
    EXPECT_EQ(names.resolve({})->mailbox.capacity, 4u);
    // Now both are in use.
    const auto again = config::fill(*read, names);
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().message(),
              "a.toml:3: mailboxes.\"tactus.default-mailbox\": mailbox "
              "'tactus.default-mailbox' is in use");
}

namespace {

struct misfit {
    std::string_view text;
    std::string_view message;
};
constexpr misfit misfits[] = {
    {"preset = \"pekko\"", "a.toml: its preset 'pekko' is not the one of this system"},
    {"\n[mailboxes.bounded]\n", "a.toml:2: mailboxes.bounded: mailbox 'bounded' is built in"},
    {"[mailboxes.m]\n[aliases]\nm = \"x\"",
     "a.toml:3: aliases.m: alias 'm' has the id of an entry"},
    {"[aliases]\n\"tactus.default-dispatcher\" = \"x\"",
     "a.toml:2: aliases.\"tactus.default-dispatcher\": alias 'tactus.default-dispatcher' has the "
     "id of an entry"},
    {"[requirements]\ndeque = \"x\"\n\"deque+mpsc\" = \"y\"",
     "a.toml:3: requirements.mpsc+deque: the requirement mpsc+deque is mapped already"},
};

}  // namespace

// DR-1, DR-6: what the resolver refuses has its line, too.
TEST(settings, what_the_resolver_refuses_has_its_line) {
    for (const misfit& m : misfits) {
        const auto read = config::parse_settings(m.text, format::toml, "a.toml");
        ASSERT_TRUE(read) << read.error().message();
        runtime::heap_memory memory;
        resolver names({.memory = &memory});
        const auto filled = config::fill(*read, names);
        ASSERT_FALSE(filled) << m.text;
        EXPECT_EQ(filled.error().message(), m.message);
    }
}
