// SPDX-License-Identifier: Apache-2.0
//
// What a test kit says when an expectation is not met.
#pragma once

#include <string>

#include <tactus/test_kit/failure_handler.hpp>

namespace tactus_test {

/// Empty: it was met.
template <class Block>
[[nodiscard]] std::string text_of_failure(Block&& block) {
    try {
        block();
    } catch (const tactus::test::assertion_failed& e) {
        return e.what();
    }
    return {};
}

}  // namespace tactus_test
