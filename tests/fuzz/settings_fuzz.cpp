// SPDX-License-Identifier: Apache-2.0
//
// Goal: no file makes the reader fail other than by an error, and what it has read a resolver takes
// or refuses (DR-6). Method: the first byte of libFuzzer's input chooses the format, the rest is
// the file; every id that was read is then asked for. What holds: an error has a text in one line;
// a line lies within the file; what was added is found; asking twice gives the same.
//
// How to run:
//   cmake -S . -B build/fuzz -G Ninja -DCMAKE_CXX_COMPILER=clang++-19 -DTACTUS_FUZZ=ON
//   cmake --build build/fuzz --target settings_fuzz
//   mkdir -p build/fuzz/settings_corpus
//   build/fuzz/tests/settings_fuzz -dict=tests/fuzz/settings.dict -max_len=4096 -max_total_time=60
//       build/fuzz/settings_corpus
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include <tactus/config/settings.hpp>
#include <tactus/runtime/heap_memory.hpp>

namespace {

void require(bool holds, const char* what) {
    if (holds)
        return;
    std::printf("does not hold: %s\n", what);
    std::fflush(stdout);
    std::abort();
}

void look_at(const tactus::config::config_error& e, std::string_view text) {
    const auto lines = 1 + static_cast<std::size_t>(std::ranges::count(text, '\n'));
    require(!e.text.empty(), "an error has a text");
    require(e.line <= lines, "an error stands within the file");
    require(e.message().find('\n') == std::string::npos, "an error is one line");
}

template <class Id>
void ask(tactus::resolver& names, const Id& id) {
    const auto dispatcher = names.resolve_dispatcher(id);
    const auto mailbox = names.resolve_mailbox(id);
    require(dispatcher || !dispatcher.error().text().empty(), "a refusal has a text");
    require(!mailbox || mailbox->capacity != 0, "no mailbox has room for nothing");
    const auto again = names.resolve_mailbox(id);
    require(again.has_value() == mailbox.has_value() && (!again || *again == *mailbox),
            "the same question has the same answer");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace tactus;
    if (size == 0)
        return 0;
    const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
    const auto as = data[0] % 2 == 0 ? config::format::toml : config::format::json;
    const auto read = config::parse_settings(text, as, "fuzz");
    if (!read) {
        look_at(read.error(), text);
        return 0;
    }
    runtime::heap_memory memory;
    resolver names({.memory = &memory, .rules = read->rules()});
    if (const auto filled = config::fill(*read, names); !filled) {
        look_at(filled.error(), text);
    } else {
        for (const auto& s : read->dispatchers)
            require(names.resolve_dispatcher(s.id).has_value(), "what was added is found");
        for (const auto& s : read->mailboxes)
            require(names.resolve_mailbox(s.id).has_value(), "what was added is found");
    }
    for (const auto& s : read->aliases)
        ask(names, s.alias);
    for (const auto& s : read->deployments) {
        const auto got = names.resolve({.path = s.path});
        require(!got || got->dispatcher != nullptr, "an answer has a dispatcher");
    }
    for (const auto& s : read->requirements) {
        const auto got = names.resolve({.actor_requirement = s.required});
        require(!got || got->mailbox.capabilities().has(s.required), "what was required is there");
    }
    return 0;
}
