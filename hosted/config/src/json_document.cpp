// SPDX-License-Identifier: Apache-2.0
//
// JSON by nlohmann's event parser, whose headers stay in this file. Its values know no lines, so
// the iterator that it reads from counts them.
#include "document.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

namespace tactus::inline v0::config {

namespace {

/// Where the character stands that was read last. A line end belongs to the line that it ends: the
/// parser reads one character beyond a number before it tells of it.
struct reading_place {
    std::size_t line = 1;
    bool ended = false;

    void pass(char c) noexcept {
        if (ended)
            ++line;
        ended = c == '\n';
    }
};

class counting_iterator {
public:
    using iterator_category = std::input_iterator_tag;
    using value_type = char;
    using difference_type = std::ptrdiff_t;
    using pointer = const char*;
    using reference = const char&;

    counting_iterator(const char* at, reading_place* place) noexcept : at_(at), place_(place) {}
    reference operator*() const noexcept { return *at_; }
    counting_iterator& operator++() noexcept {
        place_->pass(*at_++);
        return *this;
    }
    counting_iterator operator++(int) noexcept {
        const counting_iterator before = *this;
        ++*this;
        return before;
    }
    friend bool operator==(const counting_iterator& a, const counting_iterator& b) noexcept {
        return a.at_ == b.at_;
    }

private:
    const char* at_;
    reading_place* place_;
};

/// Builds the document from the parser's events.
class builder {
public:
    using json = nlohmann::json;

    explicit builder(std::string_view text) noexcept : text_(text) {}

    bool null() { return add({.word = "null"}); }
    bool boolean(bool b) {
        return add({.is = shape::boolean, .word = "true or false", .number = b ? 1 : 0});
    }
    bool number_integer(json::number_integer_t n) { return add_integer(n); }
    bool number_unsigned(json::number_unsigned_t n) {
        constexpr auto max = std::numeric_limits<std::int64_t>::max();
        return add_integer(std::in_range<std::int64_t>(n) ? static_cast<std::int64_t>(n) : max);
    }
    bool number_float(json::number_float_t, const json::string_t&) {
        return add({.word = "a number with a fraction"});
    }
    bool string(json::string_t& s) {
        return add({.is = shape::text, .word = "a text", .text = std::move(s)});
    }
    bool binary(json::binary_t&) { return false; }
    bool start_object(std::size_t) { return open({.is = shape::table, .word = "a table"}); }
    bool key(json::string_t& k) {
        key_ = std::move(k);
        key_line_ = place_.line;
        return true;
    }
    bool end_object() { return close(); }
    bool start_array(std::size_t) { return open({.is = shape::array, .word = "a list"}); }
    bool end_array() { return close(); }

    template <class Exception>
    bool parse_error(std::size_t position, const std::string&, const Exception& e) {
        const std::size_t read = std::min(position == 0 ? 0 : position - 1, text_.size());
        const auto before = text_.substr(0, read);
        std::string_view why = e.what();
        // Of "[json.exception...] parse error at line 1, column 2: why" only the end.
        if (const auto at = why.find(": "); at != std::string_view::npos)
            why.remove_prefix(at + 2);
        fail(1 + static_cast<std::size_t>(std::ranges::count(before, '\n')), {},
             "not JSON: " + shown(why));
        return false;
    }

    [[nodiscard]] reading_place* place() noexcept { return &place_; }
    [[nodiscard]] std::expected<value, document_error> finish(bool parsed) {
        if (!parsed)
            return std::unexpected(error_);
        return std::move(root_);
    }

private:
    void fail(std::size_t line, std::string key, std::string text) {
        error_ = {line, std::move(key), std::move(text)};
    }
    bool add_integer(std::int64_t n) {
        return add({.is = shape::integer, .word = "an integer", .number = n});
    }
    /// What has a key stands where the key does.
    value& put(value v) {
        v.line = place_.line;
        if (open_.empty())
            return root_ = std::move(v);
        value& into = *open_.back();
        if (into.is == shape::table) {
            v.line = key_line_;
            v.key = std::move(key_);
        }
        return into.parts.emplace_back(std::move(v));
    }
    bool add(value v) {
        put(std::move(v));
        return true;
    }
    bool open(value v) {
        if (open_.size() > depth_max) {
            fail(place_.line, {}, "nested deeper than 8");
            return false;
        }
        open_.push_back(&put(std::move(v)));
        return true;
    }
    bool close() {
        const value& done = *open_.back();
        open_.pop_back();
        return done.is != shape::table || has_no_twins(done);
    }
    bool has_no_twins(const value& table) {
        std::vector<const value*> sorted;
        sorted.reserve(table.parts.size());
        for (const value& part : table.parts)
            sorted.push_back(&part);
        std::ranges::sort(sorted, {}, [](const value* part) {
            return std::pair(std::string_view(part->key), part->line);
        });
        const auto twin = std::ranges::adjacent_find(
            sorted, [](const value* a, const value* b) { return a->key == b->key; });
        if (twin == sorted.end())
            return true;
        fail((*std::next(twin))->line, under(place_of(table), (*twin)->key), "is there twice");
        return false;
    }
    /// The keys on the way to a table that has just been closed. What is in a list has none.
    [[nodiscard]] std::string place_of(const value& table) const {
        std::string out;
        for (std::size_t i = 0; i < open_.size(); ++i) {
            const value& inner = i + 1 < open_.size() ? *open_[i + 1] : table;
            if (open_[i]->is == shape::table)
                out = under(out, inner.key);
        }
        return out;
    }

    std::string_view text_;
    reading_place place_;
    std::string key_;
    std::size_t key_line_ = 1;
    // A value moves only while its table or list grows, and then it is closed.
    std::vector<value*> open_;
    value root_;
    document_error error_;
};

}  // namespace

std::expected<value, document_error> read_json(std::string_view text) {
    builder events(text);
    const bool parsed = nlohmann::json::sax_parse(
        counting_iterator(text.data(), events.place()),  // NOLINT: the end is given, too
        counting_iterator(text.data() + text.size(), events.place()), &events);
    return events.finish(parsed);
}

}  // namespace tactus::inline v0::config
