// SPDX-License-Identifier: Apache-2.0
//
// The rows of the schema, and the kinds of value that they read.
#include "schema.hpp"

#include "duration_text.hpp"

#include <tactus/mailbox/mailbox_gate.hpp>

#include <array>
#include <cstdint>

namespace tactus::inline v0::config {

std::string found(const value& v) {
    if (v.is == shape::integer)
        return "found " + std::to_string(v.number);
    if (v.is == shape::text)
        return "found '" + shown(v.text) + "'";
    return "found " + std::string(v.word);
}

complaint read_duration(const value& v, duration& to) {
    const auto d = v.is != shape::text ? std::nullopt
                   : v.text == "none"  ? std::optional(duration::max())
                                       : parse_duration(v.text);
    if (!d)
        return "expected a duration with its unit, such as \"10ms\" (ns, us, ms, s, min, h), or "
               "\"none\", " +
               found(v);
    to = *d;
    return {};
}

std::string quoted(std::string_view text) {
    return '"' + std::string(text) + '"';
}

namespace {

constexpr std::uint32_t workers_max = 1'024;
constexpr std::uint32_t count_max = 0xffff'fffe;  // one more is "unbounded"

// ---- kinds of value

template <class Integer>
complaint read_integer(const value& v, std::uint32_t min, std::uint32_t max, Integer& to) {
    if (v.is != shape::integer || v.number < min || v.number > max)
        return "expected an integer from " + std::to_string(min) + " to " + std::to_string(max) +
               ", " + found(v);
    to = static_cast<Integer>(v.number);
    return {};
}

complaint read_count_or_unbounded(const value& v, std::uint32_t max, std::uint32_t& to) {
    if (v.is == shape::text && v.text == "unbounded") {
        to = mailbox_options::unbounded;
        return {};
    }
    if (read_integer(v, 1, max, to))
        return "expected an integer from 1 to " + std::to_string(max) + " or \"unbounded\", " +
               found(v);
    return {};
}

template <std::size_t Count, class Enum>
complaint read_enum(const value& v, Enum& to) {
    std::vector<std::string_view> known;
    for (std::size_t i = 0; i < Count; ++i) {
        known.emplace_back(name_of(static_cast<Enum>(i)));
        if (v.is == shape::text && v.text == known.back()) {
            to = static_cast<Enum>(i);
            return {};
        }
    }
    if (v.is == shape::text)
        return "unknown value '" + shown(v.text) + "'" + suggestion(v.text, known);
    return "expected one of the names" + suggestion({}, known) + ", " + found(v);
}

complaint read_capability_list(const value& v, capability_set& to) {
    if (v.is != shape::array)
        return "expected a list of capabilities, " + found(v);
    capability_set all;
    for (const value& e : v.parts) {
        if (e.is != shape::text)
            return "expected names of capabilities in the list, " + found(e);
        if (const auto wrong = read_capabilities(e.text, all))
            return wrong;
    }
    to = all;
    return {};
}

// ---- as the file would say it

std::string show_count(std::uint32_t n) {
    return n == mailbox_options::unbounded ? quoted("unbounded") : std::to_string(n);
}

// ---- the rows

using d = dispatcher_setting;
using m = mailbox_setting;
using p = deployment_setting;

constexpr auto dispatcher_rows = std::to_array<field<d>>({
    {"executor", "name of an executor",
     [](const value& v, d& s) { return read_enum<executor_kind_count>(v, s.config.executor); },
     [](const d& s) { return quoted(name_of(s.config.executor)); }, "who supplies the threads"},
    {"workers", "integer, 0 to 1024",
     [](const value& v, d& s) { return read_integer(v, 0, workers_max, s.config.workers); },
     [](const d& s) { return std::to_string(s.config.workers); },
     "threads; 0: as many as there are cores; pinned, calling_thread and inline_tick have one"},
    {"max_workers", "integer, 0 to 1024",
     [](const value& v, d& s) { return read_integer(v, 0, workers_max, s.config.max_workers); },
     [](const d& s) { return std::to_string(s.config.max_workers); },
     "threads when it starves, no fewer than the workers; 0: twice the workers"},
    {"throughput", "integer, 1 to 4294967294",
     [](const value& v, d& s) { return read_integer(v, 1, count_max, s.config.throughput); },
     [](const d&) { return std::string(); },
     "messages per run, exactly; not said: a share of what waits (kernel.md), `pekko`: 5"},
    {"throughput_deadline", "duration or \"none\"",
     [](const value& v, d& s) { return read_duration(v, s.config.throughput_deadline); },
     [](const d& s) { return quoted(to_text(s.config.throughput_deadline)); },
     "ends a run after this time; in whole microseconds, rounded up; 71 minutes and more are none"},
    {"starvation_deadline", "duration or \"none\"",
     [](const value& v, d& s) { return read_duration(v, s.config.starvation_deadline); },
     [](const d& s) { return quoted(to_text(s.config.starvation_deadline)); },
     "work that waits longer is reported, and may start an extra thread"},
    {"shutdown_timeout", "duration or \"none\"",
     [](const value& v, d& s) { return read_duration(v, s.config.shutdown_timeout); },
     [](const d& s) { return quoted(to_text(s.config.shutdown_timeout)); },
     "without actors its threads end after this; none: they stay"},
    {"mailbox", "id of a mailbox", [](const value& v, d& s) { return read_id(v, s.mailbox); },
     [](const d&) { return std::string(); }, "which mailbox its actors get"},
    {"mailbox_requirement", "list of capabilities",
     [](const value& v, d& s) { return read_capability_list(v, s.config.mailbox_requirement); },
     [](const d&) { return std::string("[]"); },
     "what the mailboxes of its actors must be able to do"},
});

static_assert(mailbox_gate::capacity_max == 2'097'150, "the text below says so");
constexpr auto mailbox_rows = std::to_array<field<m>>({
    {"kind", "name of a kind",
     [](const value& v, m& s) { return read_enum<mailbox_kind_count>(v, s.options.kind); },
     [](const m& s) { return quoted(name_of(s.options.kind)); },
     "in what order messages are handled"},
    {"capacity", "integer, 1 to 2097150, or \"unbounded\"",
     [](const value& v, m& s) {
         return read_count_or_unbounded(v, mailbox_gate::capacity_max, s.options.capacity);
     },
     [](const m& s) { return show_count(s.options.capacity); },
     "messages it holds; 1000 when only `overflow` is said"},
    {"overflow", "name of a strategy",
     [](const value& v, m& s) { return read_enum<overflow_count>(v, s.options.when_full); },
     [](const m&) { return std::string(); },
     "what happens to a message that does not fit; not said: `dead_letter`"},
    {"pressure_percent", "integer, 0 to 100",
     [](const value& v, m& s) { return read_integer(v, 0, 100, s.options.pressure_percent); },
     [](const m& s) { return std::to_string(s.options.pressure_percent); },
     "how full it is when it says so; 0: never"},
    {"push_timeout", "duration or \"none\"",
     [](const value& v, m& s) { return read_duration(v, s.options.push_timeout); },
     [](const m& s) { return quoted(to_text(s.options.push_timeout)); },
     "how long `offer` waits for room; none: as long as it takes"},
    {"stash_capacity", "integer, 1 to 4294967294, or \"unbounded\"",
     [](const value& v, m& s) {
         return read_count_or_unbounded(v, count_max, s.options.stash_capacity);
     },
     [](const m& s) { return show_count(s.options.stash_capacity); },
     "messages the actor may put aside"},
});

constexpr auto deployment_rows = std::to_array<field<p>>({
    {"dispatcher", "id of a dispatcher",
     [](const value& v, p& s) { return read_id(v, s.dispatcher); },
     [](const p&) { return std::string(); }, "where the actor of this path runs"},
    {"mailbox", "id of a mailbox", [](const value& v, p& s) { return read_id(v, s.mailbox); },
     [](const p&) { return std::string(); }, "which mailbox it gets"},
});

bool is_pool(executor_kind kind) {
    return kind == executor_kind::system_default || kind == executor_kind::work_stealing_pool ||
           kind == executor_kind::thread_pool;
}
bool has_one_worker(executor_kind kind) {
    return !is_pool(kind) && kind != executor_kind::foreign;
}

}  // namespace

// Each would end or be refused later, where there is no line to name, or be changed in silence.
std::optional<misfit> misfit_of(const dispatcher_setting& s) {
    const dispatcher_config& c = s.config;
    const std::string kind = name_of(c.executor);
    if (s.id == default_dispatcher_id && !is_pool(c.executor))
        return misfit{"executor",
                      "the default dispatcher runs the system's timers: expected "
                      "work_stealing_pool or thread_pool, found '" +
                          kind + "'"};
    if (has_one_worker(c.executor)) {
        const std::string text = "an executor of the kind " + kind + " has one worker, found ";
        if (c.workers > 1)
            return misfit{"workers", text + std::to_string(c.workers)};
        if (c.max_workers > 1)
            return misfit{"max_workers", text + std::to_string(c.max_workers)};
    }
    if (c.max_workers != 0 && c.max_workers < c.workers)
        return misfit{"max_workers", "expected no fewer than the " + std::to_string(c.workers) +
                                         " workers, found " + std::to_string(c.max_workers)};
    return {};
}

std::span<const field<dispatcher_setting>> dispatcher_fields() {
    return dispatcher_rows;
}
std::span<const field<mailbox_setting>> mailbox_fields() {
    return mailbox_rows;
}
std::span<const field<deployment_setting>> deployment_fields() {
    return deployment_rows;
}

complaint read_id(const value& v, std::string& to) {
    if (v.is != shape::text || v.text.empty() || v.text.size() > resolver::id_size_max)
        return "expected an id of 1 to " + std::to_string(resolver::id_size_max) + " characters, " +
               found(v);
    to = v.text;
    return {};
}

complaint read_preset(const value& v, std::optional<system_preset>& to) {
    system_preset preset{};
    if (const auto wrong = read_enum<system_preset_count>(v, preset))
        return wrong;
    to = preset;
    return {};
}

std::string to_text(capability_set set) {
    std::string out;
    for (std::size_t i = 0; i < capability_count; ++i) {
        const auto one = static_cast<capability>(1u << i);
        if (set.has(one))
            out += (out.empty() ? "" : "+") + std::string(name_of(one));
    }
    return out;
}

complaint read_capabilities(std::string_view text, capability_set& to) {
    std::vector<std::string_view> known;
    known.reserve(capability_count);
    for (std::size_t i = 0; i < capability_count; ++i)
        known.emplace_back(name_of(static_cast<capability>(1u << i)));
    for (;;) {
        const std::size_t end = std::min(text.find('+'), text.size());
        const std::string_view name = text.substr(0, end);
        std::size_t i = 0;
        while (i < known.size() && known[i] != name)
            ++i;
        if (i == known.size())
            return "unknown capability '" + shown(name) + "'" + suggestion(name, known);
        to = to | static_cast<capability>(1u << i);
        if (end == text.size())
            return {};
        text.remove_prefix(end + 1);
    }
}

}  // namespace tactus::inline v0::config
