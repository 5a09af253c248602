// SPDX-License-Identifier: Apache-2.0
//
// TOML 1.0 as far as settings need it: sections, dotted and quoted keys, texts, integers, booleans,
// lists, inline tables. Fractions, dates and times are recognised, so that they can be refused by
// name; texts of several lines and lists of tables are refused as such.
//
// Written here, and not taken from toml++ 3.3.0, because files are not to be trusted: under a
// fuzzer that parser ran into its own assertions ("[=]", "x=[}"), which are assumptions in release
// builds, and it recurses with the depth of dotted keys.
//
// Tables are nodes of their own until the end, found by name: a file of many keys is read in
// O(n log n). Nothing recurses deeper than depth_max.
#include "document.hpp"

#include <algorithm>
#include <charconv>
#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <utility>

namespace tactus::inline v0::config {

namespace {

bool is_bare_key(char c) noexcept {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
}

bool is_control(char c) noexcept {
    return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f;
}

/// The size in bytes of the first character of `text`; 0 if it is not well-formed UTF-8.
std::size_t utf8_size(std::string_view text) noexcept {
    const auto lead = static_cast<unsigned char>(text.front());
    const std::size_t size = lead < 0x80                   ? 1
                             : lead >= 0xc2 && lead < 0xe0 ? 2
                             : lead >= 0xe0 && lead < 0xf0 ? 3
                             : lead >= 0xf0 && lead < 0xf5 ? 4
                                                           : 0;
    if (size > text.size())
        return 0;
    for (std::size_t i = 1; i < size; ++i) {
        if ((static_cast<unsigned char>(text[i]) & 0xc0) != 0x80)
            return 0;
    }
    // The second byte tells overlong forms, surrogates and what is beyond U+10FFFF.
    const unsigned second = size > 2 ? static_cast<unsigned char>(text[1]) : 0u;
    const bool forbidden = (lead == 0xe0 && second < 0xa0) || (lead == 0xed && second >= 0xa0) ||
                           (lead == 0xf0 && second < 0x90) || (lead == 0xf4 && second >= 0x90);
    return forbidden ? 0 : size;
}

void append_utf8(std::string& to, std::uint32_t c) {
    const auto put = [&](std::uint32_t byte) { to += static_cast<char>(byte); };
    if (c < 0x80) {
        put(c);
    } else if (c < 0x800) {
        put(0xc0 | c >> 6);
        put(0x80 | (c & 0x3f));
    } else if (c < 0x10000) {
        put(0xe0 | c >> 12);
        put(0x80 | (c >> 6 & 0x3f));
        put(0x80 | (c & 0x3f));
    } else {
        put(0xf0 | c >> 18);
        put(0x80 | (c >> 12 & 0x3f));
        put(0x80 | (c >> 6 & 0x3f));
        put(0x80 | (c & 0x3f));
    }
}

/// The word is an integer: its value, clamped. Nothing when it is none.
std::optional<std::int64_t> integer_of(std::string_view word) {
    const bool negative = word.starts_with('-');
    if (negative || word.starts_with('+'))
        word.remove_prefix(1);
    int base = 10;
    if (word.starts_with("0x") || word.starts_with("0o") || word.starts_with("0b"))
        base = word[1] == 'x' ? 16 : word[1] == 'o' ? 8 : 2;
    if (base != 10)
        word.remove_prefix(2);
    else if (word.size() > 1 && word.front() == '0')
        return std::nullopt;
    std::string digits;  // without the underscores between them
    for (std::size_t i = 0; i < word.size(); ++i) {
        if (word[i] != '_')
            digits += word[i];
        else if (i == 0 || i + 1 == word.size() || word[i - 1] == '_')
            return std::nullopt;
    }
    std::uint64_t n = 0;
    const auto [end, failed] =
        std::from_chars(digits.data(), digits.data() + digits.size(), n, base);
    if (end != digits.data() + digits.size() || failed == std::errc::invalid_argument)
        return std::nullopt;
    constexpr auto max = std::numeric_limits<std::int64_t>::max();
    const std::int64_t clamped = failed == std::errc{} && std::in_range<std::int64_t>(n)
                                     ? static_cast<std::int64_t>(n)
                                     : max;
    return negative ? -clamped : clamped;
}

bool is_fraction(std::string_view word) {
    if (word.find_first_of(".eEn") == std::string_view::npos)  // n: inf, nan
        return false;
    if (word.starts_with('+'))
        word.remove_prefix(1);
    std::string plain(word);
    std::erase(plain, '_');
    double n = 0;
    const auto [end, failed] = std::from_chars(plain.data(), plain.data() + plain.size(), n);
    return failed != std::errc::invalid_argument && end == plain.data() + plain.size();
}

bool is_date(std::string_view word) noexcept {
    return word.size() > 2 && word[0] >= '0' && word[0] <= '9' &&
           word.find_first_of("-:") != std::string_view::npos;
}

class toml_reader {
public:
    explicit toml_reader(std::string_view text) noexcept : rest_(text) {}

    std::expected<value, document_error> read() {
        if (read_all())
            return to_value(0);
        return std::unexpected(std::move(error_));
    }

private:
    enum class made : std::uint8_t {
        by_need,     // [a.b] needs an a
        by_section,  // [a]
        by_key,      // a.b = 1 needs an a
        in_line,     // a = {}; complete
    };
    struct table {
        made how;
        std::size_t line;
        std::size_t depth;
        std::map<std::string, std::size_t, std::less<>> tables = {};  // their indices
        std::map<std::string, value, std::less<>> values = {};
    };
    struct read_value {
        value what = {};
        std::size_t table = 0;  // not 0: it is that table
    };

    bool fail(std::string text) {
        error_ = {.line = line_, .key = {}, .text = std::move(text)};
        return false;
    }

    // ---- characters

    [[nodiscard]] bool at(char c) const noexcept { return rest_.starts_with(c); }
    bool take(char c) noexcept {
        if (!at(c))
            return false;
        rest_.remove_prefix(1);
        return true;
    }
    void skip_blanks() noexcept {
        rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t"), rest_.size()));
    }
    /// A line end, or the end of the text.
    bool take_line_end() noexcept {
        if (rest_.starts_with("\r\n"))
            rest_.remove_prefix(1);
        if (!take('\n'))
            return rest_.empty();
        ++line_;
        return true;
    }
    /// Blanks and a comment, up to the end of the line.
    bool skip_comment() {
        skip_blanks();
        if (!at('#'))
            return true;
        while (!rest_.empty() && !at('\n') && !rest_.starts_with("\r\n")) {
            if (!take_character(nullptr))
                return false;
        }
        return true;
    }
    /// One character of a text or a comment.
    bool take_character(std::string* to) {
        const std::size_t size = utf8_size(rest_);
        if (size == 0)
            return fail("not TOML: not UTF-8");
        if (is_control(rest_.front()))
            return fail("not TOML: a control character, or a text without its end");
        if (to != nullptr)
            *to += rest_.substr(0, size);
        rest_.remove_prefix(size);
        return true;
    }
    /// Blanks, line ends and comments between the elements of a list.
    bool skip_space() {
        for (;;) {
            if (!skip_comment())
                return false;
            if (rest_.empty() || !take_line_end())
                return true;
        }
    }

    // ---- texts and keys

    bool read_escape(std::string& to) {
        constexpr std::string_view names = "btnfr\"\\";
        constexpr std::string_view meant = "\b\t\n\f\r\"\\";
        const char c = rest_.empty() ? '\0' : rest_.front();
        if (const auto i = names.find(c); i != std::string_view::npos) {
            to += meant[i];
            rest_.remove_prefix(1);
            return true;
        }
        const std::size_t digits = c == 'u' ? 4 : c == 'U' ? 8 : 0;
        std::uint32_t letter = 0;
        const std::string_view hex = rest_.substr(std::min<std::size_t>(1, rest_.size()), digits);
        const auto [end, failed] = std::from_chars(hex.data(), hex.data() + hex.size(), letter, 16);
        if (digits == 0 || hex.size() != digits || failed != std::errc{} ||
            end != hex.data() + digits || letter > 0x10ffff ||
            (letter >= 0xd800 && letter < 0xe000))
            return fail("not TOML: unknown escape in a text");
        append_utf8(to, letter);
        rest_.remove_prefix(1 + digits);
        return true;
    }
    bool read_text(std::string& to) {
        const char quote = rest_.front();
        if (rest_.starts_with(R"(""")") || rest_.starts_with("'''"))
            return fail("texts of several lines are of no use here");
        rest_.remove_prefix(1);
        while (!take(quote)) {
            if (rest_.empty())
                return fail("not TOML: a text without its end");
            if (quote == '"' && take('\\')) {
                if (!read_escape(to))
                    return false;
            } else if (!take_character(&to)) {
                return false;
            }
        }
        return true;
    }
    /// One part or several with dots between them.
    bool read_key(std::vector<std::string>& to) {
        do {
            skip_blanks();
            std::string& part = to.emplace_back();
            if (at('"') || at('\'')) {
                if (!read_text(part))
                    return false;
            } else {
                while (!rest_.empty() && is_bare_key(rest_.front())) {
                    part += rest_.front();
                    rest_.remove_prefix(1);
                }
                if (part.empty())
                    return fail("not TOML: expected a key");
            }
            if (to.size() > depth_max + 1)
                return fail("nested deeper than 8");
            skip_blanks();
        } while (take('.'));
        return true;
    }

    // ---- tables

    /// A new one in `parent`; false when it would be too deep.
    bool add_table(std::size_t parent, const std::string& key, made how, std::size_t& to) {
        const std::size_t depth = tables_[parent].depth + 1;
        if (depth > depth_max)
            return fail("nested deeper than 8");
        to = tables_.size();
        tables_.push_back({.how = how, .line = line_, .depth = depth});
        tables_[parent].tables.emplace(key, to);
        return true;
    }
    bool twice() {
        fail("is there twice");
        for (const std::string& key : path_)
            error_.key = under(error_.key, key);
        return false;
    }
    /// Steps from a table to one in it, which is made where there is none.
    bool step(std::size_t& where, const std::string& key, made how) {
        path_.push_back(key);
        if (tables_[where].values.contains(key))
            return twice();
        const auto known = tables_[where].tables.find(key);
        if (known == tables_[where].tables.end())
            return add_table(where, key, how, where);
        where = known->second;
        // A section may go through all but what is complete; keys only where keys have been.
        const made is = tables_[where].how;
        const bool open = how == made::by_key ? is == made::by_key : is != made::in_line;
        return open || twice();
    }
    bool read_section(std::size_t& current) {
        rest_.remove_prefix(1);
        if (at('['))
            return fail("lists of tables are of no use here");
        std::vector<std::string> key;
        if (!read_key(key))
            return false;
        if (!take(']'))
            return fail("not TOML: expected ']' after the name of a section");
        current = 0;
        path_.clear();
        for (std::size_t i = 0; i + 1 < key.size(); ++i) {
            if (!step(current, key[i], made::by_need))
                return false;
        }
        const std::size_t before = tables_.size();
        if (!step(current, key.back(), made::by_section))
            return false;
        if (tables_.size() == before) {
            if (tables_[current].how != made::by_need)
                return twice();
            tables_[current].how = made::by_section;
            tables_[current].line = line_;
        }
        return true;
    }
    bool read_pair(std::size_t where) {
        std::vector<std::string> key;
        if (!read_key(key))
            return false;
        if (!take('='))
            return fail("not TOML: expected '=' after a key");
        const std::size_t depth = path_.size();
        for (std::size_t i = 0; i + 1 < key.size(); ++i) {
            if (!step(where, key[i], made::by_key))
                return false;
        }
        path_.push_back(key.back());
        if (tables_[where].values.contains(key.back()) ||
            tables_[where].tables.contains(key.back()))
            return twice();
        skip_blanks();
        read_value read;
        if (!read_any(tables_[where].depth + 1, read))
            return false;
        path_.resize(depth);
        if (read.table != 0) {
            tables_[where].tables.emplace(key.back(), read.table);
            return true;
        }
        read.what.key = key.back();
        tables_[where].values.emplace(key.back(), std::move(read.what));
        return true;
    }

    // ---- values

    bool read_any(std::size_t depth, read_value& to) {
        to.what.line = line_;
        if (at('"') || at('\'')) {
            to.what.is = shape::text;
            to.what.word = "a text";
            return read_text(to.what.text);
        }
        if (at('[') || at('{')) {
            if (depth > depth_max)
                return fail("nested deeper than 8");
            return at('[') ? read_list(depth, to.what) : read_inline_table(depth, to.table);
        }
        std::size_t size = 0;
        while (size < rest_.size() && (is_bare_key(rest_[size]) || rest_[size] == '+' ||
                                       rest_[size] == '.' || rest_[size] == ':'))
            ++size;
        const std::string_view word = rest_.substr(0, size);
        if (const auto n = integer_of(word)) {
            to.what.is = shape::integer;
            to.what.word = "an integer";
            to.what.number = *n;
        } else if (word == "true" || word == "false") {
            to.what.word = "true or false";
            to.what.is = shape::boolean;
            to.what.number = word == "true" ? 1 : 0;
        } else if (is_fraction(word)) {
            to.what.word = "a number with a fraction";
        } else if (is_date(word)) {
            to.what.word = "a date or time";
        } else {
            return fail("not TOML: expected a value");
        }
        rest_.remove_prefix(size);
        return true;
    }
    bool read_list(std::size_t depth, value& to) {
        to.is = shape::array;
        to.word = "a list";
        rest_.remove_prefix(1);
        for (;;) {
            if (!skip_space())
                return false;
            if (take(']'))
                return true;
            read_value element;
            if (!read_any(depth + 1, element))
                return false;
            to.parts.push_back(element.table != 0 ? to_value(element.table)
                                                  : std::move(element.what));
            if (!skip_space())
                return false;
            if (!take(',') && !at(']'))
                return fail("not TOML: expected ',' or ']' in a list");
        }
    }
    bool read_inline_table(std::size_t depth, std::size_t& to) {
        to = tables_.size();
        tables_.push_back({.how = made::in_line, .line = line_, .depth = depth});
        rest_.remove_prefix(1);
        skip_blanks();
        if (take('}'))
            return true;
        do {
            if (!read_pair(to))
                return false;
            skip_blanks();
        } while (take(','));
        return take('}') || fail("not TOML: expected ',' or '}' in a table");
    }

    // ---- all of it

    bool read_all() {
        constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
        if (rest_.starts_with(byte_order_mark))
            rest_.remove_prefix(byte_order_mark.size());
        tables_.push_back({.how = made::by_section, .line = 1, .depth = 0});
        std::size_t current = 0;
        while (!rest_.empty()) {
            skip_blanks();
            const bool empty = rest_.empty() || at('#') || at('\n') || at('\r');
            if (!empty && !(at('[') ? read_section(current) : read_pair(current)))
                return false;
            if (!skip_comment())
                return false;
            if (!take_line_end())
                return fail("not TOML: expected the end of the line");
        }
        return true;
    }
    [[nodiscard]] value to_value(std::size_t index) {
        table& from = tables_[index];
        value to{.is = shape::table, .word = "a table", .line = from.line};
        for (auto& [key, inner] : from.tables) {
            to.parts.push_back(to_value(inner));
            to.parts.back().key = key;
        }
        for (auto& [key, inner] : from.values)
            to.parts.push_back(std::move(inner));
        // The first error is to be the first in the file.
        std::ranges::sort(to.parts, {}, [](const value& part) {
            return std::pair(part.line, std::string_view(part.key));
        });
        return to;
    }

    std::string_view rest_;
    std::size_t line_ = 1;
    std::deque<table> tables_;       // the first is the file
    std::vector<std::string> path_;  // the section, and the keys that are being read
    document_error error_;
};

}  // namespace

std::expected<value, document_error> read_toml(std::string_view text) {
    return toml_reader(text).read();
}

}  // namespace tactus::inline v0::config
