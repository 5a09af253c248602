// SPDX-License-Identifier: Apache-2.0
//
// Test framework for tests that also run on the host, bare-metal side: GoogleTest's names over
// semihosting.
//
// A test is a constant in flash and a pointer to it in the section .tactus_tests, which the linker
// script keeps and delimits: registering costs no RAM and no constructor. Arguments are evaluated
// once. A failure prints its place, its expression and, for numbers, both values.
//
// ASSERT_ returns from the function, which returns void. The program's heap is closed before the
// first test (PT-3).
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "test_board.hpp"

namespace tactus_test {

struct test_case {
    const char* suite;
    const char* name;
    void (*body)();
};

/// Where an expectation stands in the source.
struct site {
    const char* file;
    const char* text;
    unsigned line;
};

/// A value as far as it can be printed: an integer, or nothing.
struct shown {
    std::uint64_t magnitude = 0;
    bool negative = false;
    bool known = false;
};

/// Reports a failure of the running test.
void fail(const site& where) noexcept;
void fail(const site& where, const shown& a, const shown& b) noexcept;
/// A line of output.
void log(const char* text, std::uint64_t number) noexcept;

// The integers that std::cmp_equal takes: those for which a comparison can change a sign.
template <class T>
concept plain_integer = std::integral<T> && !std::same_as<T, bool> && !std::same_as<T, char> &&
                        !std::same_as<T, wchar_t> && !std::same_as<T, char8_t> &&
                        !std::same_as<T, char16_t> && !std::same_as<T, char32_t>;

template <class T>
shown show(const T& value) noexcept {
    if constexpr (std::is_enum_v<T>) {
        return show(static_cast<std::underlying_type_t<T>>(value));
    } else if constexpr (std::integral<T>) {
        const auto bits = static_cast<std::uint64_t>(value);
        const bool negative = std::is_signed_v<T> && static_cast<std::int64_t>(bits) < 0;
        return {negative ? ~bits + 1 : bits, negative, true};
    } else {
        return {};
    }
}

struct equal_to {
    template <class A, class B>
    bool operator()(const A& a, const B& b) const {
        if constexpr (plain_integer<A> && plain_integer<B>)
            return std::cmp_equal(a, b);
        else
            return a == b;
    }
};
struct not_equal_to {
    template <class A, class B>
    bool operator()(const A& a, const B& b) const {
        if constexpr (plain_integer<A> && plain_integer<B>)
            return std::cmp_not_equal(a, b);
        else
            return a != b;
    }
};
struct less {
    template <class A, class B>
    bool operator()(const A& a, const B& b) const {
        if constexpr (plain_integer<A> && plain_integer<B>)
            return std::cmp_less(a, b);
        else
            return a < b;
    }
};
struct less_equal {
    template <class A, class B>
    bool operator()(const A& a, const B& b) const {
        if constexpr (plain_integer<A> && plain_integer<B>)
            return std::cmp_less_equal(a, b);
        else
            return a <= b;
    }
};
struct greater {
    template <class A, class B>
    bool operator()(const A& a, const B& b) const {
        return less{}(b, a);
    }
};
struct greater_equal {
    template <class A, class B>
    bool operator()(const A& a, const B& b) const {
        return less_equal{}(b, a);
    }
};

template <class Compare, class A, class B>
bool holds(const site& where, const A& a, const B& b) {
    if (Compare{}(a, b)) [[likely]]
        return true;
    fail(where, show(a), show(b));
    return false;
}

inline bool holds_bool(const site& where, bool condition) noexcept {
    if (!condition) [[unlikely]]
        fail(where);
    return condition;
}

}  // namespace tactus_test

#define TEST(suite, name)                                                                         \
    static void suite##_##name##_body();                                                          \
    static constexpr ::tactus_test::test_case suite##_##name##_case{#suite, #name,                \
                                                                    suite##_##name##_body};       \
    [[gnu::used, gnu::section(".tactus_tests")]] static constexpr const ::tactus_test::test_case* \
        suite##_##name##_entry = &suite##_##name##_case;                                          \
    static void suite##_##name##_body()

// In a lambda of its own, so that expectations may stand inside the arguments of others.
#define TACTUS_TEST_SITE(text)                                               \
    []() -> const ::tactus_test::site& {                                     \
        static constexpr ::tactus_test::site here{__FILE__, text, __LINE__}; \
        return here;                                                         \
    }()

// What an expectation does when it does not hold is the last argument: nothing, or return.
#define TACTUS_TEST_COMPARE(compare, symbol, a, b, otherwise)                                     \
    do {                                                                                          \
        if (!::tactus_test::holds<::tactus_test::compare>(TACTUS_TEST_SITE(#a " " symbol " " #b), \
                                                          a, b)) {                                \
            otherwise;                                                                            \
        }                                                                                         \
    } while (false)
#define TACTUS_TEST_BOOL(wanted, condition, otherwise)                              \
    do {                                                                            \
        if (!::tactus_test::holds_bool(TACTUS_TEST_SITE(#condition " is " #wanted), \
                                       static_cast<bool>(condition) == wanted)) {   \
            otherwise;                                                              \
        }                                                                           \
    } while (false)

#define EXPECT_TRUE(condition) TACTUS_TEST_BOOL(true, condition, (void)0)
#define EXPECT_FALSE(condition) TACTUS_TEST_BOOL(false, condition, (void)0)
#define EXPECT_EQ(a, b) TACTUS_TEST_COMPARE(equal_to, "==", a, b, (void)0)
#define EXPECT_NE(a, b) TACTUS_TEST_COMPARE(not_equal_to, "!=", a, b, (void)0)
#define EXPECT_LT(a, b) TACTUS_TEST_COMPARE(less, "<", a, b, (void)0)
#define EXPECT_LE(a, b) TACTUS_TEST_COMPARE(less_equal, "<=", a, b, (void)0)
#define EXPECT_GT(a, b) TACTUS_TEST_COMPARE(greater, ">", a, b, (void)0)
#define EXPECT_GE(a, b) TACTUS_TEST_COMPARE(greater_equal, ">=", a, b, (void)0)

#define ASSERT_TRUE(condition) TACTUS_TEST_BOOL(true, condition, return)
#define ASSERT_FALSE(condition) TACTUS_TEST_BOOL(false, condition, return)
#define ASSERT_EQ(a, b) TACTUS_TEST_COMPARE(equal_to, "==", a, b, return)
#define ASSERT_NE(a, b) TACTUS_TEST_COMPARE(not_equal_to, "!=", a, b, return)
#define ASSERT_LT(a, b) TACTUS_TEST_COMPARE(less, "<", a, b, return)
#define ASSERT_LE(a, b) TACTUS_TEST_COMPARE(less_equal, "<=", a, b, return)
#define ASSERT_GT(a, b) TACTUS_TEST_COMPARE(greater, ">", a, b, return)
#define ASSERT_GE(a, b) TACTUS_TEST_COMPARE(greater_equal, ">=", a, b, return)

/// Says something about a failure or a run, such as the seed.
#define TEST_LOG(text, number) ::tactus_test::log(text, static_cast<std::uint64_t>(number))
