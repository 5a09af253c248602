// SPDX-License-Identifier: Apache-2.0
//
// What the runtime knows about a message's type: a static descriptor, identified by its address.
//
// Any movable type is a message: naming `message_type_of<M>` is all the registration there is. The
// name hash lets copies of one descriptor in different shared objects be recognised (UP-5).
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace tactus::inline v0 {

template <class M>
concept message = std::is_object_v<M> && !std::is_const_v<M> && !std::is_array_v<M> &&
                  std::move_constructible<M> && std::is_nothrow_destructible_v<M>;

/// What a message derives from to be handled before others in a control-aware mailbox.
struct control_message {};

struct message_type {
    void (*destroy)(void* object) noexcept;  // null for types without a destructor
    std::uint32_t size;
    std::uint32_t alignment;
    std::uint32_t name_hash;
    bool is_control;        // derives from control_message
    std::string_view name;  // for people: dead letters, dumps
};

namespace detail {

template <class M>
constexpr std::string_view message_name() noexcept {
    // "... message_name() [with M = NAME; ...]" (g++), "... message_name() [M = NAME]" (clang).
    constexpr std::string_view all = __PRETTY_FUNCTION__;
    constexpr std::size_t from = all.find("M = ") + 4;
    constexpr std::size_t semicolon = all.find(';', from);
    constexpr std::size_t to = semicolon == std::string_view::npos ? all.size() - 1 : semicolon;
    return all.substr(from, to - from);
}

constexpr std::uint32_t name_hash(std::string_view name) noexcept {
    std::uint32_t hash = 2'166'136'261U;  // FNV-1a
    for (const char c : name)
        hash = (hash ^ static_cast<unsigned char>(c)) * 16'777'619U;
    return hash;
}

template <class M>
void destroy_message(void* object) noexcept {
    static_cast<M*>(object)->~M();
}

template <class M>
constexpr auto destroyer() noexcept -> void (*)(void*) noexcept {
    if constexpr (std::is_trivially_destructible_v<M>)
        return nullptr;
    else
        return &destroy_message<M>;
}

}  // namespace detail

/// The descriptor of M; its address is M's identity.
template <message M>
[[gnu::visibility("default")]] inline constexpr message_type message_type_of{
    .destroy = detail::destroyer<M>(),
    .size = sizeof(M),
    .alignment = alignof(M),
    .name_hash = detail::name_hash(detail::message_name<M>()),
    .is_control = std::is_base_of_v<control_message, M>,
    .name = detail::message_name<M>(),
};

}  // namespace tactus::inline v0
