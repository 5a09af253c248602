// SPDX-License-Identifier: Apache-2.0
//
// Words for people: text and keys of a file as errors show them, and what somebody may have meant,
// the known word at the smallest edit distance.
#include "document.hpp"

#include <algorithm>

namespace tactus::inline v0::config {

namespace {

constexpr std::size_t word_size_max = 64;  // longer ones are no slips of the pen
constexpr std::size_t shown_size_max = 100;

/// Levenshtein: how many letters must be put in, left out or replaced.
std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    for (std::size_t i = 0; i < row.size(); ++i)
        row[i] = i;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
            diagonal = row[j];
            row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
        }
    }
    return row[b.size()];
}

}  // namespace

std::string shown(std::string_view text) {
    std::string out(text.substr(0, shown_size_max));
    for (char& c : out) {
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
            c = '?';
    }
    if (text.size() > shown_size_max)
        out += "...";
    return out;
}

std::string under(std::string_view section, std::string_view key) {
    std::string out(section);
    if (!out.empty())
        out += '.';
    // Ids have dots of their own, paths slashes.
    const bool plain = key.find_first_of("./ ") == std::string_view::npos;
    return plain ? out + shown(key) : out + '"' + shown(key) + '"';
}

std::string_view nearest(std::string_view word, const std::vector<std::string_view>& known) {
    if (word.size() > word_size_max)
        return {};
    std::string_view best;
    std::size_t least = std::max<std::size_t>(2, word.size() / 3) + 1;
    for (const std::string_view k : known) {
        const std::size_t d = distance(word, k);
        if (d < least) {
            least = d;
            best = k;
        }
    }
    return best;
}

std::string suggestion(std::string_view word, const std::vector<std::string_view>& known) {
    if (const std::string_view meant = nearest(word, known); !meant.empty())
        return ", did you mean '" + std::string(meant) + "'?";
    std::string out = "; known are: ";
    for (const std::string_view k : known) {
        if (!out.ends_with(": "))
            out += ", ";
        out += k;
    }
    return out;
}

}  // namespace tactus::inline v0::config
