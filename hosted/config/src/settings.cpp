// SPDX-License-Identifier: Apache-2.0
//
// From a document to settings, and from settings into a resolver.
#include <tactus/config/settings.hpp>

#include "schema.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <initializer_list>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tactus::inline v0::config {

namespace {

constexpr std::string_view path_mark = "/";

using outcome = std::expected<void, document_error>;

std::unexpected<document_error> wrong(std::size_t line, std::string key, std::string text) {
    return std::unexpected(document_error{line, std::move(key), std::move(text)});
}

template <class Target>
outcome read_field(const value& said, const std::string& where,
                   std::span<const field<Target>> fields, Target& to,
                   std::initializer_list<std::string_view> tables_beside = {}) {
    const auto known = std::ranges::find(fields, said.key, &field<Target>::key);
    if (known == fields.end()) {
        std::vector<std::string_view> keys;
        for (const auto& f : fields)
            keys.push_back(f.key);
        keys.insert(keys.end(), tables_beside);
        return wrong(said.line, where, "unknown key" + suggestion(said.key, keys));
    }
    if (auto complaint = known->read(said, to))
        return wrong(said.line, where, std::move(*complaint));
    return {};
}

std::unexpected<document_error> no_table(const value& found, const std::string& where) {
    return wrong(found.line, where, "expected a table, found " + std::string(found.word));
}

template <class Target>
outcome read_fields(const value& table, const std::string& where,
                    std::span<const field<Target>> fields, Target& to) {
    if (table.is != shape::table)
        return no_table(table, where);
    for (const value& said : table.parts) {
        if (auto read = read_field(said, under(where, said.key), fields, to); !read)
            return read;
    }
    return {};
}

const value* find(const value& table, std::string_view key) {
    const auto found = std::ranges::find(table.parts, key, &value::key);
    return found == table.parts.end() ? nullptr : &*found;
}

// ---- sections; each takes one entry of its table

outcome read_dispatcher(const value& said, const std::string& where, settings& to) {
    dispatcher_setting one{.id = said.key, .line = said.line};
    one.config = builtin_dispatcher_config(one.id);
    if (auto read = read_fields(said, where, dispatcher_fields(), one); !read)
        return read;
    if (const auto misfit = misfit_of(one)) {
        const value* blamed = find(said, misfit->key);
        return wrong(blamed != nullptr ? blamed->line : one.line, under(where, misfit->key),
                     misfit->text);
    }
    to.dispatchers.push_back(std::move(one));
    return {};
}

outcome read_mailbox(const value& said, const std::string& where, settings& to) {
    mailbox_setting one{.id = said.key, .line = said.line};
    if (auto read = read_fields(said, where, mailbox_fields(), one); !read)
        return read;
    // To say what happens when it is full is to ask for a bound.
    if (find(said, "overflow") != nullptr && find(said, "capacity") == nullptr)
        one.options.capacity = mailbox_options::default_capacity;
    to.mailboxes.push_back(std::move(one));
    return {};
}

outcome read_alias(const value& said, const std::string& where, settings& to) {
    alias_setting one{.alias = said.key, .line = said.line};
    if (auto complaint = read_id(said, one.target))
        return wrong(one.line, where, std::move(*complaint));
    to.aliases.push_back(std::move(one));
    return {};
}

outcome read_deployment(const value& said, const std::string& where, settings& to) {
    deployment_setting one{.path = said.key, .line = said.line};
    if (!one.path.starts_with(path_mark))
        return wrong(one.line, where, "a path begins with '/', such as \"/user/worker\"");
    if (auto read = read_fields(said, where, deployment_fields(), one); !read)
        return read;
    to.deployments.push_back(std::move(one));
    return {};
}

outcome read_requirement(const value& said, const std::string& where, settings& to) {
    requirement_setting one{.required = {}, .line = said.line};
    if (auto complaint = read_capabilities(said.key, one.required))
        return wrong(one.line, where, std::move(*complaint));
    if (auto complaint = read_id(said, one.mailbox))
        return wrong(one.line, where, std::move(*complaint));
    to.requirements.push_back(std::move(one));
    return {};
}

constexpr std::string_view dead_letters_key = "dead_letters";
constexpr std::string_view phases_key = "phases";
constexpr std::string_view custom_key = "custom";
constexpr std::string_view driver_stops_key = "driver_stops";
constexpr std::string_view policies_key = "policies";

outcome read_system(const value& said, const std::string& where, settings& to) {
    if (said.key == dead_letters_key)
        return read_fields(said, where, dead_letter_fields(), to.system);
    return read_field(said, where, system_fields(), to.system, {dead_letters_key});
}

outcome read_shutdown(const value& said, const std::string& where, settings& to) {
    shutdown_setting& all = to.coordinated_shutdown;
    if (said.key != phases_key)
        return read_field(said, where, shutdown_fields(), all, {phases_key});
    if (said.is != shape::table)
        return no_table(said, where);
    for (const value& p : said.parts) {
        phase_setting one{.name = p.key, .line = p.line};
        if (auto read = read_fields(p, under(where, p.key), phase_fields(), one); !read)
            return read;
        all.phases.push_back(std::move(one));
    }
    return {};
}

complaint read_origin(std::string_view key, std::string& to) {
    to = key;
    return {};
}
complaint read_origin(std::string_view key, timer_guardian& to) {
    using enum timer_guardian;
    std::vector<std::string_view> names;
    for (const timer_guardian known : {root, user, system}) {
        names.emplace_back(name_of(known));
        if (key == names.back()) {
            to = known;
            return {};
        }
    }
    return "unknown guardian" + suggestion(key, names);
}
/// "runtime", or the number of one of the application's.
complaint read_origin(std::string_view key, timer_subsystem& to) {
    constexpr std::string_view runtime = "runtime";
    if (key == runtime) {
        to = timer_subsystem::runtime;
        return {};
    }
    constexpr auto least = static_cast<std::uint16_t>(timer_subsystem::application);
    std::uint16_t number = 0;
    const char* const end = key.data() + key.size();
    const auto read = std::from_chars(key.data(), end, number);
    if (read.ec != std::errc{} || read.ptr != end || number < least)
        return "expected the subsystem 'runtime', or the number of one, 256 to 65535";
    to = timer_subsystem{number};
    return {};
}
template <class Origin>
outcome read_policies(const value& said, const std::string& where,
                      std::vector<timer_policy_entry<Origin>>& to) {
    if (said.is != shape::table)
        return no_table(said, where);
    for (const value& one : said.parts) {
        timer_policy_entry<Origin> entry{.of = {}, .setting = {.line = one.line}};
        if (auto complaint = read_origin(one.key, entry.of))
            return wrong(one.line, under(where, one.key), std::move(*complaint));
        if (auto read =
                read_fields(one, under(where, one.key), timer_policy_fields(), entry.setting);
            !read)
            return read;
        to.push_back(std::move(entry));
    }
    return {};
}
outcome read_all_policies(const value& said, const std::string& where, scheduler_setting& to) {
    constexpr std::string_view dispatchers = "dispatchers";
    constexpr std::string_view guardians = "guardians";
    constexpr std::string_view subsystems = "subsystems";
    if (said.is != shape::table)
        return no_table(said, where);
    for (const value& of : said.parts) {
        const std::string here = under(where, of.key);
        outcome read;
        if (of.key == dispatchers)
            read = read_policies(of, here, to.dispatcher_policies);
        else if (of.key == guardians)
            read = read_policies(of, here, to.guardian_policies);
        else if (of.key == subsystems)
            read = read_policies(of, here, to.subsystem_policies);
        else
            read =
                wrong(of.line, here,
                      "unknown key" + suggestion(of.key, {{dispatchers, guardians, subsystems}}));
        if (!read)
            return read;
    }
    return {};
}

outcome read_scheduler(const value& said, const std::string& where, settings& to) {
    if (said.key == custom_key) {
        to.scheduler.custom_line = said.line;
        return read_fields(said, where, custom_profile_fields(), to.scheduler.custom);
    }
    if (said.key == driver_stops_key)
        return read_fields(said, where, driver_stops_fields(), to.scheduler.driver_stops);
    if (said.key == policies_key)
        return read_all_policies(said, where, to.scheduler);
    const auto& policy = timer_policy_fields();
    if (std::ranges::find(policy, said.key, &field<timer_policy_setting>::key) != policy.end())
        return read_field<timer_policy_setting>(said, where, policy, to.scheduler);
    return read_field(said, where, scheduler_fields(), to.scheduler,
                      {custom_key, driver_stops_key, policies_key, "fixed_rate_catch_up",
                       "fixed_delay_after", "priority", "backlog_limit", "burst_threshold"});
}

struct section {
    std::string_view key;
    outcome (*read)(const value& said, const std::string& where, settings& to);
};
constexpr section sections[] = {
    {"dispatchers", read_dispatcher},
    {"mailboxes", read_mailbox},
    {"aliases", read_alias},
    {"deployment", read_deployment},
    {"requirements", read_requirement},
    {"system", read_system},
    {"coordinated_shutdown", read_shutdown},
    {"scheduler", read_scheduler},
};
constexpr std::string_view preset_key = "preset";

outcome read_document(const value& root, settings& to) {
    if (root.is != shape::table)
        return wrong(root.line, {}, "expected a table, found " + std::string(root.word));
    for (const value& part : root.parts) {
        if (part.key == preset_key) {
            if (auto complaint = read_preset(part, to.preset))
                return wrong(part.line, part.key, std::move(*complaint));
            continue;
        }
        const auto known = std::ranges::find(sections, part.key, &section::key);
        if (known == std::end(sections)) {
            std::vector<std::string_view> keys{preset_key};
            for (const section& s : sections)
                keys.push_back(s.key);
            return wrong(part.line, under({}, part.key),
                         "unknown key" + suggestion(part.key, keys));
        }
        if (part.is != shape::table)
            return no_table(part, part.key);
        if (known->read == read_shutdown)
            to.coordinated_shutdown.line = part.line;
        if (known->read == read_scheduler)
            to.scheduler.line = part.line;
        for (const value& said : part.parts) {
            if (auto read = known->read(said, under(part.key, said.key), to); !read)
                return read;
        }
    }
    return {};
}

std::unexpected<config_error> whole_file(const std::string& file, std::string text) {
    return std::unexpected(config_error{file, 0, {}, std::move(text)});
}

class file_descriptor {
public:
    /// O_NONBLOCK: opening a FIFO does not wait for its writer.
    explicit file_descriptor(const std::string& file) noexcept
        : number_(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
    ~file_descriptor() {
        if (number_ != -1)
            ::close(number_);
    }
    file_descriptor(const file_descriptor&) = delete;
    file_descriptor& operator=(const file_descriptor&) = delete;

    [[nodiscard]] int number() const noexcept { return number_; }

private:
    const int number_;
};

/// Up to one byte more than file_size_max.
std::expected<std::string, config_error> read_file(const std::string& file) {
    const file_descriptor in(file);
    struct stat about = {};
    if (in.number() == -1 || ::fstat(in.number(), &about) != 0)
        return whole_file(file, "cannot be read");
    if (!S_ISREG(about.st_mode))
        return whole_file(file, "not a regular file");
    std::string text(file_size_max + 1, '\0');
    std::size_t size = 0;
    while (size < text.size()) {
        const ::ssize_t got = ::read(in.number(), text.data() + size, text.size() - size);
        if (got == 0)
            break;
        if (got < 0 && errno != EINTR)
            return whole_file(file, "cannot be read");
        size += got < 0 ? 0 : static_cast<std::size_t>(got);
    }
    text.resize(size);
    return text;
}

}  // namespace

std::string config_error::message() const {
    std::string out = shown(file);
    if (line != 0)
        out += ":" + std::to_string(line);
    if (!key.empty())
        out += ": " + key;
    return out + ": " + text;
}

std::expected<settings, config_error> parse_settings(std::string_view text, format as,
                                                     std::string_view file) {
    const std::string name(file);
    if (text.size() > file_size_max)
        return whole_file(name, "larger than " + std::to_string(file_size_max) + " bytes");
    auto document = as == format::toml ? read_toml(text) : read_json(text);
    settings all{.file = name};
    outcome read = document ? read_document(*document, all) : std::unexpected(document.error());
    if (read)
        return all;
    document_error& e = read.error();
    return std::unexpected(config_error{name, e.line, std::move(e.key), std::move(e.text)});
}

std::expected<settings, config_error> read_settings(const std::string& file) {
    const bool is_toml = file.ends_with(".toml");
    if (!is_toml && !file.ends_with(".json"))
        return whole_file(file, "expected a name that ends with .toml or .json");
    const auto text = read_file(file);
    if (!text)
        return std::unexpected(text.error());
    return parse_settings(*text, is_toml ? format::toml : format::json, file);
}

// ---- into a resolver

std::expected<void, config_error> fill(const settings& from, resolver& to) {
    if (from.preset && from.rules() != to.rules())
        return whole_file(from.file, "its preset '" + std::string(name_of(*from.preset)) +
                                         "' is not the one of this system");
    std::expected<void, config_error> done;
    const auto add = [&](std::size_t line, std::string_view section, std::string_view key,
                         const resolver::result<void>& added) {
        if (!added)
            done = std::unexpected(config_error{from.file, line, under(section, key),
                                                std::string(added.error().text())});
        return added.has_value();
    };
    for (const mailbox_setting& s : from.mailboxes) {
        const auto added = s.id == default_mailbox_id ? to.replace_mailbox(s.id, s.options)
                                                      : to.add_mailbox(s.id, s.options);
        if (!add(s.line, "mailboxes", s.id, added))
            return done;
    }
    for (const dispatcher_setting& s : from.dispatchers) {
        dispatcher_config config = s.config;
        config.mailbox = s.mailbox;
        const auto added = is_builtin_dispatcher(s.id) ? to.replace_dispatcher(s.id, config)
                                                       : to.add_dispatcher(s.id, config);
        if (!add(s.line, "dispatchers", s.id, added))
            return done;
    }
    for (const alias_setting& s : from.aliases) {
        if (!add(s.line, "aliases", s.alias, to.add_alias(s.alias, s.target)))
            return done;
    }
    for (const deployment_setting& s : from.deployments) {
        if (!add(s.line, "deployment", s.path,
                 to.add_deployment(s.path, {.dispatcher = s.dispatcher, .mailbox = s.mailbox})))
            return done;
    }
    for (const requirement_setting& s : from.requirements) {
        if (!add(s.line, "requirements", to_text(s.required),
                 to.map_requirement(s.required, s.mailbox)))
            return done;
    }
    return done;
}

// ---- for people

std::vector<setting_info> known_settings() {
    std::vector<setting_info> all;
    all.push_back(
        {{}, preset_key, R"("tactus" or "pekko")", R"("tactus")", "by whose rules; see above"});
    const auto add = [&]<class Target>(std::string_view section,
                                       std::span<const field<Target>> fields) {
        for (const auto& f : fields)
            all.push_back({section, f.key, f.value, f.show(Target{}), f.meaning});
    };
    add("dispatchers.\"<id>\"", dispatcher_fields());
    add("mailboxes.\"<id>\"", mailbox_fields());
    all.push_back({"aliases", "<alias>", "id, or another alias", {}, "another name for an id"});
    add("deployment.\"<path>\"", deployment_fields());
    all.push_back({"requirements",
                   "<capability+...>",
                   "id of a mailbox",
                   {},
                   "which mailbox an actor gets that requires these"});
    add("system", system_fields());
    add("system.dead_letters", dead_letter_fields());
    add("coordinated_shutdown", shutdown_fields());
    add("coordinated_shutdown.phases.\"<name>\"", phase_fields());
    add("scheduler", scheduler_fields());
    add("scheduler", timer_policy_fields());
    add("scheduler.custom", custom_profile_fields());
    add("scheduler.driver_stops", driver_stops_fields());
    constexpr std::string_view keys =
        "priority, backlog_limit, burst_threshold, fixed_rate_catch_up, fixed_delay_after";
    constexpr std::string_view usual =
        "policy of its timers; what is not said is as in `scheduler`";
    all.push_back({"scheduler.policies.dispatchers.\"<id>\"", "<as above>", keys, {}, usual});
    all.push_back({"scheduler.policies.guardians.<name>",
                   "<as above>",
                   keys,
                   {},
                   "the same of root, user or system"});
    all.push_back(
        {"scheduler.policies.subsystems.<number>",
         "<as above>",
         keys,
         {},
         "the same of 256 to 65535; of runtime, whose priority is otherwise high, and the "
         "rest as by default"});
    return all;
}

}  // namespace tactus::inline v0::config
