// SPDX-License-Identifier: Apache-2.0
//
// Prints the tables of docs/dispatchers.md from the code: the settings of a file, the built-in
// mailboxes, the errors with a text of each.
//
// usage: dispatcher_tables settings|names|mailboxes|requirements|errors
#include <cstdio>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <tactus/config/settings.hpp>
#include <tactus/dispatch/builtin_mailboxes.hpp>
#include <tactus/dispatch/resolver.hpp>
#include <tactus/runtime/heap_memory.hpp>

using namespace tactus;

namespace {

std::string code(std::string_view text) {
    return text.empty() ? "" : "`" + std::string(text) + "`";
}

std::string names_of(capability_set set) {
    std::string out;
    for (std::size_t i = 0; i < capability_count; ++i) {
        const auto one = static_cast<capability>(1u << i);
        if (set.has(one))
            out += (out.empty() ? "" : ", ") + std::string(name_of(one));
    }
    return out;
}

void print_settings() {
    std::printf("| section | key | value | default | meaning |\n| --- | --- | --- | --- | --- |\n");
    for (const config::setting_info& s : config::known_settings())
        std::printf("| %s | %s | %s | %s | %s |\n", code(s.section).c_str(), code(s.key).c_str(),
                    std::string(s.value).c_str(), code(s.otherwise).c_str(),
                    std::string(s.meaning).c_str());
}

void print_mailboxes() {
    std::printf("| id | kind | capacity | when full | can do |\n| --- | --- | --- | --- | --- |\n");
    for (const builtin_mailbox& m : builtin_mailboxes()) {
        const mailbox_options& o = m.options;
        const std::string capacity = o.is_bounded() ? std::to_string(o.capacity) : "unbounded";
        std::printf("| `%s` | %s | %s | %s | %s |\n", std::string(m.id).c_str(), name_of(o.kind),
                    capacity.c_str(), o.is_bounded() ? name_of(o.when_full) : "",
                    names_of(o.capabilities()).c_str());
    }
}

void print_requirements() {
    std::printf("| required | mailbox |\n| --- | --- |\n");
    for (const builtin_requirement& r : builtin_requirements())
        std::printf("| %s | `%s` |\n", names_of(r.required).c_str(),
                    std::string(r.mailbox).c_str());
}

template <class Enum, std::size_t Count>
void print_names(const char* what) {
    std::printf("| %s | ", what);
    for (std::size_t i = 0; i < Count; ++i)
        std::printf("%s`%s`", i == 0 ? "" : ", ", name_of(static_cast<Enum>(i)));
    std::printf(" |\n");
}

void print_all_names() {
    std::printf("| | names |\n| --- | --- |\n");
    print_names<executor_kind, executor_kind_count>("executor");
    print_names<mailbox_kind, mailbox_kind_count>("kind of mailbox");
    print_names<tactus::overflow, overflow_count>("overflow");
    std::printf("| capability | ");
    for (std::size_t i = 0; i < capability_count; ++i)
        std::printf("%s`%s`", i == 0 ? "" : ", ", name_of(static_cast<capability>(1u << i)));
    std::printf(" |\n");
}

/// A memory that has no more.
class used_up final : public memory_source {
public:
    [[nodiscard]] void* allocate(std::size_t size, std::size_t alignment) noexcept override {
        return refusing ? nullptr : heap_.allocate(size, alignment);
    }
    void release(void* block, std::size_t size, std::size_t alignment) noexcept override {
        heap_.release(block, size, alignment);
    }
    bool refusing = false;

private:
    runtime::heap_memory heap_;
};

/// Does something wrong for each kind of error.
struct provocation {
    resolve_error::kind what;
    std::function<resolver::result<void>(resolver&, used_up&)> provoke;
};

template <class T>
resolver::result<void> only_error(const resolver::result<T>& r) {
    if (r)
        return {};
    return std::unexpected(r.error());
}

std::vector<provocation> provocations() {
    using kind = resolve_error::kind;
    return {
        {kind::unknown_dispatcher,
         [](resolver& r, used_up&) { return only_error(r.resolve_dispatcher("app.io")); }},
        {kind::unknown_mailbox,
         [](resolver& r, used_up&) {
             (void)r.add_alias("inbox", "app.inbox");
             return only_error(r.resolve_mailbox("inbox"));
         }},
        {kind::duplicate,
         [](resolver& r, used_up&) { return r.add_mailbox("bounded", {.capacity = 5}); }},
        {kind::alias_conflicts_with_entry,
         [](resolver& r, used_up&) { return r.add_alias(default_mailbox_id, "app.inbox"); }},
        {kind::alias_chain_too_deep,
         [](resolver& r, used_up&) {
             (void)r.add_alias("a", "b");
             (void)r.add_alias("b", "a");
             return only_error(r.resolve_mailbox("a"));
         }},
        {kind::requirement_mismatch,
         [](resolver& r, used_up&) {
             (void)r.add_dispatcher("app.io", {.mailbox_requirement = capability::bounded});
             return only_error(
                 r.resolve({.choice = {.dispatcher = "app.io", .mailbox = "unbounded"}}));
         }},
        {kind::mailbox_capability_missing,
         [](resolver& r, used_up&) {
             return only_error(r.resolve(
                 {.choice = {.mailbox = "bounded"}, .actor_requirement = capability::deque}));
         }},
        {kind::requirement_unmapped,
         [](resolver& r, used_up&) {
             return only_error(r.resolve({.actor_requirement = capability::multiple_consumer}));
         }},
        {kind::capacity_zero,
         [](resolver& r, used_up&) { return r.add_mailbox("app.inbox", {.capacity = 0}); }},
        {kind::in_use,
         [](resolver& r, used_up&) {
             (void)r.resolve({});
             return r.replace_mailbox(default_mailbox_id, {});
         }},
        {kind::invalid_id, [](resolver& r, used_up&) { return r.add_mailbox("", {}); }},
        {kind::full,
         [](resolver& r, used_up& memory) {
             memory.refusing = true;
             return r.add_dispatcher("app.io", {});
         }},
    };
}

int print_errors() {
    std::printf("| error | text, for example |\n| --- | --- |\n");
    std::size_t next = 0;
    for (const provocation& p : provocations()) {
        used_up memory;
        resolver names({.memory = &memory, .chunk_size = 64});
        const auto done = p.provoke(names, memory);
        // All of them, each by its own.
        if (done || done.error().what() != p.what || static_cast<std::size_t>(p.what) != next++)
            return 1;
        std::printf("| `%s` | %s |\n", name_of(p.what), std::string(done.error().text()).c_str());
    }
    return next == resolve_error::kind_count ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
    const std::string_view which = count == 2 ? arguments[1] : "";
    if (which == "settings")
        print_settings();
    else if (which == "mailboxes")
        print_mailboxes();
    else if (which == "requirements")
        print_requirements();
    else if (which == "names")
        print_all_names();
    else if (which == "errors")
        return print_errors();
    else
        return 2;
    return 0;
}
