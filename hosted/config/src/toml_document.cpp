// SPDX-License-Identifier: Apache-2.0
//
// TOML by toml++, whose headers stay in this file.
//
// What is outside of quotes is looked through beforehand. Its parser and its destructors recurse
// with the depth of the document, and dotted keys are deep for few bytes. And some letters beyond
// ASCII, which cannot stand there anyway, lead it where it says nobody comes (3.3.0, U+FEFB).
#include "document.hpp"

#include <algorithm>
#include <utility>

#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#define TOML_MAX_NESTED_VALUES 16
#include <toml++/toml.h>

namespace tactus::inline v0::config {

namespace {

constexpr std::size_t line_dots_max = 32;
constexpr std::size_t file_dots_max = 10'000;  // its search for dotted keys is quadratic

/// What of a line is neither in a string nor in a comment. Strings of several lines are refused
/// before, so a line begins outside of quotes.
struct bare_text {
    std::size_t dots = 0;
    bool ascii = true;

    explicit bare_text(std::string_view line) noexcept {
        char quote = 0;
        for (std::size_t i = 0; i < line.size(); ++i) {
            const char c = line[i];
            if (quote != 0) {
                if (c == '\\' && quote == '"')
                    ++i;
                else if (c == quote)
                    quote = 0;
                continue;
            }
            if (c == '#')
                return;
            if (c == '"' || c == '\'')
                quote = c;
            dots += c == '.' ? 1 : 0;
            ascii = ascii && static_cast<unsigned char>(c) < 0x80;
        }
    }
};

std::expected<void, document_error> look_through(std::string_view text) {
    std::size_t all_dots = 0;
    for (std::size_t line = 1; !text.empty(); ++line) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::string_view here = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        if (here.find(R"(""")") != std::string_view::npos ||
            here.find("'''") != std::string_view::npos)
            return std::unexpected(document_error{
                .line = line, .text = "strings of several lines are of no use here"});
        const bare_text bare(here);
        if (!bare.ascii)
            return std::unexpected(document_error{
                .line = line, .text = "not TOML: other letters than those of ASCII need quotes"});
        all_dots += bare.dots;
        if (bare.dots > line_dots_max || all_dots > file_dots_max)
            return std::unexpected(
                document_error{.line = line, .text = "too many dots outside of quotes"});
    }
    return {};
}

std::size_t line_of(const toml::node& n, std::size_t otherwise) {
    return n.source().begin.line != 0 ? n.source().begin.line : otherwise;
}

std::expected<value, document_error> convert(const toml::node& from, std::size_t above,
                                             std::size_t depth) {
    value to{.line = line_of(from, above)};
    if (depth > depth_max && (from.is_table() || from.is_array()))
        return std::unexpected(document_error{.line = to.line, .text = "nested deeper than 8"});
    if (const toml::table* table = from.as_table()) {
        to.is = shape::table;
        to.word = "a table";
        for (const auto& [key, node] : *table) {
            auto inner = convert(node, to.line, depth + 1);
            if (!inner)
                return inner;
            inner->key = key.str();
            to.parts.push_back(std::move(*inner));
        }
        // The parser sorts by key; the first error is to be the first in the file.
        std::ranges::sort(to.parts, {}, [](const value& part) {
            return std::pair(part.line, std::string_view(part.key));
        });
        return to;
    }
    if (const toml::array* array = from.as_array()) {
        to.is = shape::array;
        to.word = "a list";
        for (const toml::node& node : *array) {
            auto inner = convert(node, to.line, depth + 1);
            if (!inner)
                return inner;
            to.parts.push_back(std::move(*inner));
        }
        return to;
    }
    if (const auto* text = from.as_string()) {
        to.is = shape::text;
        to.word = "a text";
        to.text = text->get();
    } else if (const auto* number = from.as_integer()) {
        to.is = shape::integer;
        to.word = "an integer";
        to.number = number->get();
    } else if (from.is_floating_point()) {
        to.word = "a number with a fraction";
    } else if (from.is_boolean()) {
        to.word = "true or false";
    } else {
        to.word = "a date or time";
    }
    return to;
}

}  // namespace

std::expected<value, document_error> read_toml(std::string_view text) {
    constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
    if (text.starts_with(byte_order_mark))
        text.remove_prefix(byte_order_mark.size());
    if (auto harmless = look_through(text); !harmless)
        return std::unexpected(harmless.error());
    const toml::parse_result parsed = toml::parse(text);
    if (!parsed)
        return std::unexpected(
            document_error{.line = parsed.error().source().begin.line,
                           .text = "not TOML: " + shown(parsed.error().description())});
    return convert(parsed.table(), 1, 0);
}

}  // namespace tactus::inline v0::config
