// SPDX-License-Identifier: Apache-2.0
//
// Goal: a file says what it says, in TOML and in JSON, and a resolver is filled with it (DR-3).
// Method: the same settings in both. settings_refused_test.cpp has what is not understood.
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

std::expected<settings, config_error> from_toml(std::string_view text) {
    return config::parse_settings(text, format::toml, "a.toml");
}
std::expected<settings, config_error> from_json(std::string_view text) {
    return config::parse_settings(text, format::json, "a.json");
}

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
    expect_sample(from_toml(sample_toml));
    expect_sample(from_json(sample_json));
}

TEST(settings, an_empty_file_says_nothing) {
    for (const auto& read : {from_toml(""), from_json("{}")}) {
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
        if (section != "dispatchers" && section != "mailboxes")
            continue;  // see system_settings_test.cpp
        const std::string key(info.key);
        const std::string toml = "[" + section + ".x]\n" + key + " = " + info.otherwise;
        const std::string json =
            "{\"" + section + "\": {\"x\": {\"" + key + "\": " + info.otherwise + "}}}";
        for (const auto& read : {from_toml(toml), from_json(json)}) {
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
    const auto read = from_toml(
        "[mailboxes.m]\noverflow = \"reject\"\n"
        "[mailboxes.n]\noverflow = \"reject\"\n"
        "capacity = \"unbounded\"\n");
    ASSERT_TRUE(read) << read.error().message();
    EXPECT_EQ(read->mailboxes.at(0).options.capacity, 1'000u);
    EXPECT_FALSE(read->mailboxes.at(1).options.is_bounded());
}

TEST(settings, the_blocking_dispatcher_stays_one_that_may_block) {
    const auto read = from_toml("[dispatchers.\"tactus.blocking-dispatcher\"]\nworkers = 2");
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
        const auto read =
            from_toml("[mailboxes.m]\npush_timeout = \"" + std::string(r.text) + "\"");
        ASSERT_TRUE(read) << read.error().message();
        EXPECT_EQ(read->mailboxes.at(0).options.push_timeout.ns(), r.ns) << r.text;
    }
}

// "none" is no limit: a send that waits until there is room, threads that stay, and so on.
TEST(settings, none_is_no_limit) {
    const auto read = from_toml(
        "[mailboxes.m]\npush_timeout = \"none\"\n"
        "[dispatchers.a]\nshutdown_timeout = \"none\"\nstarvation_deadline = \"none\"\n"
        "throughput_deadline = \"none\"\n");
    ASSERT_TRUE(read) << read.error().message();
    EXPECT_EQ(read->mailboxes.at(0).options.push_timeout, duration::max());
    EXPECT_EQ(read->dispatchers.at(0).config.shutdown_timeout, duration::max());
    EXPECT_EQ(read->dispatchers.at(0).config.starvation_deadline, duration::max());
    EXPECT_EQ(read->dispatchers.at(0).config.throughput_deadline, duration::max());
}

// DR-6: the edges of what is allowed, next to what settings_refused_test.cpp has.
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
        const auto read = from_toml(text);
        EXPECT_TRUE(read) << text << "\n" << read.error().message();
    }
}

TEST(settings, other_letters_stand_in_quotes_and_comments) {
    const auto read = from_toml(
        "\xef\xbb\xbf[aliases] # \xc3\xa4\n"
        "\"\xc3\xa4\" = '\xe2\x82\xac'");
    ASSERT_TRUE(read) << read.error().message();
    EXPECT_EQ(read->aliases.at(0).target, "\xe2\x82\xac");
    EXPECT_EQ(read->aliases.at(0).line, 2u);
}

// What TOML allows in the way of writing.
TEST(settings, the_many_ways_of_toml) {
    const auto read = from_toml(
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
        "\"x\\t\\u00e4\\U0001F600\" = 'a\\b'");
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

// ---- into a resolver

// DR-3, C-DCF-1, C-DCF-7, SC-26
TEST(settings, a_resolver_is_filled) {
    for (const auto& read : {from_toml(sample_toml), from_json(sample_json)}) {
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
    const auto read = from_toml(
        "[dispatchers.\"tactus.internal-dispatcher\"]\n"
        "throughput = 3\n"
        "[mailboxes.\"tactus.default-mailbox\"]\n"
        "capacity = 4\n");
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
        const auto read = from_toml(m.text);
        ASSERT_TRUE(read) << read.error().message();
        runtime::heap_memory memory;
        resolver names({.memory = &memory});
        const auto filled = config::fill(*read, names);
        ASSERT_FALSE(filled) << m.text;
        EXPECT_EQ(filled.error().message(), m.message);
    }
}
