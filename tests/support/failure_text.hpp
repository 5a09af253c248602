// SPDX-License-Identifier: Apache-2.0
//
// What a test kit says when an expectation is not met.
#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include <tactus/test_kit/failure_handler.hpp>

namespace tactus_test {

/// As it is thrown, with file and line. Empty: it was met.
template <class Block>
[[nodiscard]] std::string whole_text_of_failure(Block&& block) {
    try {
        block();
    } catch (const tactus::test::assertion_failed& e) {
        return e.what();
    }
    return {};
}
/// Without file and line.
template <class Block>
[[nodiscard]] std::string text_of_failure(Block&& block) {
    const std::string text = whole_text_of_failure(std::forward<Block>(block));
    const std::size_t line = text.find(".cpp:");
    if (line == std::string::npos)
        return text;
    return text.substr(text.find(": ", line) + 2);
}

}  // namespace tactus_test
