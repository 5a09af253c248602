// SPDX-License-Identifier: Apache-2.0
//
// What holds for every configuration file, whatever is in it (DR-6): an error has a text in one
// line, and its line lies within the file; what was added is found; asking twice gives the same.
// For the fuzzer, and for the test that does a little of the same in every run.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

#include <tactus/config/settings.hpp>
#include <tactus/runtime/heap_memory.hpp>

namespace tactus_test {

/// Reads a file, fills a resolver with it and asks for every id.
class settings_properties {
public:
    /// What does not hold; empty when all does.
    [[nodiscard]] static std::string_view broken(std::string_view text, tactus::config::format as) {
        settings_properties p;
        p.look_at_all(text, as);
        return p.broken_;
    }

private:
    void require(bool holds, std::string_view what) {
        if (!holds && broken_.empty())
            broken_ = what;
    }

    void look_at(const tactus::config::config_error& e, std::string_view text) {
        const auto lines = 1 + static_cast<std::size_t>(std::ranges::count(text, '\n'));
        require(!e.text.empty(), "an error has a text");
        require(e.line <= lines, "an error stands within the file");
        require(e.message().find('\n') == std::string::npos, "an error is one line");
    }

    void ask(tactus::resolver& names, std::string_view id) {
        const auto dispatcher = names.resolve_dispatcher(id);
        const auto mailbox = names.resolve_mailbox(id);
        require(dispatcher || !dispatcher.error().text().empty(), "a refusal has a text");
        require(!mailbox || mailbox->capacity != 0, "no mailbox has room for nothing");
        const auto again = names.resolve_mailbox(id);
        require(again.has_value() == mailbox.has_value() && (!again || *again == *mailbox),
                "the same question has the same answer");
    }

    void look_at_all(std::string_view text, tactus::config::format as) {
        using namespace tactus;
        const auto read = config::parse_settings(text, as, "fuzz");
        if (!read)
            return look_at(read.error(), text);
        runtime::heap_memory memory;
        resolver names({.memory = &memory, .rules = read->rules()});
        if (const auto filled = config::fill(*read, names); !filled) {
            look_at(filled.error(), text);
        } else {
            for (const auto& s : read->dispatchers)
                require(names.resolve_dispatcher(s.id).has_value(), "what was added is found");
            for (const auto& s : read->mailboxes)
                require(names.resolve_mailbox(s.id).has_value(), "what was added is found");
            const auto first = names.resolve_dispatcher(default_dispatcher_id);
            require(first && ((*first)->config().executor == executor_kind::system_default ||
                              (*first)->config().executor == executor_kind::work_stealing_pool ||
                              (*first)->config().executor == executor_kind::thread_pool),
                    "the default dispatcher is a pool");
        }
        for (const auto& s : read->aliases)
            ask(names, s.alias);
        for (const auto& s : read->deployments) {
            const auto got = names.resolve({.path = s.path});
            require(!got || got->dispatcher != nullptr, "an answer has a dispatcher");
        }
        for (const auto& s : read->requirements) {
            const auto got = names.resolve({.actor_requirement = s.required});
            require(!got || got->mailbox.capabilities().has(s.required),
                    "what was required is there");
        }
    }

    std::string_view broken_;
};

}  // namespace tactus_test
