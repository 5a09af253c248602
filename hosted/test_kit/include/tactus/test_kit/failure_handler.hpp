// SPDX-License-Identifier: Apache-2.0
//
// How a test kit says that something is not as expected: by an exception with a text, which every
// test framework reports. Who wants it otherwise sets a handler.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>

namespace tactus::inline v0::test {

/// An expectation was not met; the text says which, what came instead, and how long that took.
class assertion_failed : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// Called with the text, on the thread that expected. It may throw something else, or end the
/// program; when it returns, assertion_failed is thrown all the same.
using failure_handler = std::function<void(const std::string& text)>;

/// Of the whole program; returns the one before. An empty one: assertion_failed is thrown.
failure_handler set_failure_handler(failure_handler to);

/// What kits call; for expectations of the test's own, too.
[[noreturn]] void fail(const std::string& text);

}  // namespace tactus::inline v0::test
