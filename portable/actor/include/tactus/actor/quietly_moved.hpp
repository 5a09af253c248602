// SPDX-License-Identifier: Apache-2.0
//
// Quietly moved: holds an object of the user's that is moved without throwing, whatever its own
// move constructor does.
//
// The runtime moves functions and messages where nothing may throw. An object whose move may throw
// (a lambda that captured a `const std::string` copies it) lies in a block of its own, and only the
// pointer is moved. Making and copying may throw, and are done where the user's code runs.
//
// Thread safety: as the object's.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

namespace tactus::inline v0::detail {

template <class T>
class moved_in_place {
public:
    // NOLINTNEXTLINE(google-explicit-constructor): stands where a T stands
    moved_in_place(T&& value) noexcept : value_(std::move(value)) {}
    // NOLINTNEXTLINE(google-explicit-constructor)
    moved_in_place(const T& value) noexcept(std::is_nothrow_copy_constructible_v<T>)
        requires std::is_copy_constructible_v<T>
        : value_(value) {}
    [[nodiscard]] T& get() noexcept { return value_; }

private:
    T value_;
};

template <class T>
class moved_by_pointer {
public:
    // NOLINTNEXTLINE(google-explicit-constructor): stands where a T stands
    moved_by_pointer(T&& value) : value_(std::make_unique<T>(std::move(value))) {}
    // NOLINTNEXTLINE(google-explicit-constructor)
    moved_by_pointer(const T& value)
        requires std::is_copy_constructible_v<T>
        : value_(std::make_unique<T>(value)) {}
    moved_by_pointer(moved_by_pointer&&) noexcept = default;
    moved_by_pointer& operator=(moved_by_pointer&&) noexcept = default;
    moved_by_pointer(const moved_by_pointer& other)
        requires std::is_copy_constructible_v<T>
        : value_(std::make_unique<T>(*other.value_)) {}
    moved_by_pointer& operator=(const moved_by_pointer&) = delete;
    ~moved_by_pointer() = default;
    [[nodiscard]] T& get() noexcept { return *value_; }

private:
    std::unique_ptr<T> value_;
};

#if defined(__cpp_exceptions)
template <class T>
using quietly_moved = std::conditional_t<std::is_nothrow_move_constructible_v<T>, moved_in_place<T>,
                                         moved_by_pointer<T>>;
#else
template <class T>
using quietly_moved = moved_in_place<T>;  // nothing throws
#endif

}  // namespace tactus::inline v0::detail
