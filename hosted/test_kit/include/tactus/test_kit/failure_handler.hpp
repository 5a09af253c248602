// SPDX-License-Identifier: Apache-2.0
//
// How a test kit says that something is not as expected: by an exception with a text, which every
// test framework reports. Who wants it otherwise sets a handler.
#pragma once

#include <concepts>
#include <functional>
#include <source_location>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

namespace tactus::inline v0::test {

/// An expectation was not met; the text begins with file and line of the expectation, and says
/// which it was, what came instead, and how long that took.
class assertion_failed : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// Called with the text of assertion_failed and with where the expectation is, on the thread that
/// expected. It may throw something else, or end the program; when it returns, assertion_failed is
/// thrown all the same.
using failure_handler =
    std::function<void(const std::string& text, const std::source_location& where)>;

/// Of the whole program; returns the one before. An empty one: assertion_failed is thrown.
failure_handler set_failure_handler(failure_handler to);

/// What kits call; for expectations of the test's own, too.
[[noreturn]] void fail(const std::string& text,
                       const std::source_location& where = std::source_location::current());

/// A parameter that knows where it was given, for functions whose arguments end with a pack.
template <class T>
class located {
public:
    template <class From>
        requires(std::convertible_to<From, T> && !std::same_as<std::remove_cvref_t<From>, located>)
    // NOLINTNEXTLINE(google-explicit-constructor): it is given as a T
    located(From&& from, std::source_location at = std::source_location::current())
        : value(std::forward<From>(from)), where(at) {}

    T value;
    std::source_location where;
};

}  // namespace tactus::inline v0::test
