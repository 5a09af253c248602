// SPDX-License-Identifier: Apache-2.0
//
// What the runtime knows about a message's type: a static descriptor, identified by its address.
//
// Any movable type is a message: naming `message_type_of<M>` is all the registration there is. The
// name hash lets copies of one descriptor in different shared objects be recognised (UP-5).
#pragma once

#include <array>
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
/// What a message derives from whose loss is nobody's concern: it becomes a suppressed dead letter,
/// which is not logged (PK-DL-2).
struct dead_letter_suppression {};
/// What a message derives from that a receive timeout goes on in spite of (TM-2).
struct not_influence_receive_timeout {};

struct message_type {
    void (*destroy)(void* object) noexcept;  // null for types without a destructor
    std::uint32_t size;
    std::uint32_t alignment;
    std::uint32_t name_hash;
    bool is_control;             // derives from control_message
    bool is_suppressed;          // derives from dead_letter_suppression
    bool keeps_receive_timeout;  // derives from not_influence_receive_timeout
    std::string_view name;       // for people: dead letters, dumps
};

namespace detail {

template <class M>
consteval std::string_view spelled_name() noexcept {
    // "... spelled_name() [with M = NAME; ...]" (g++), "... spelled_name() [M = NAME]" (clang).
    constexpr std::string_view all = __PRETTY_FUNCTION__;
    constexpr std::size_t from = all.find("M = ") + 4;
    constexpr std::size_t semicolon = all.find(';', from);
    constexpr std::size_t to = semicolon == std::string_view::npos ? all.size() - 1 : semicolon;
    return all.substr(from, to - from);
}

/// The name alone: of the text it is a part of, an image would have one for each type.
template <class M>
inline constexpr auto name_text = [] {
    constexpr std::string_view name = spelled_name<M>();
    std::array<char, name.size()> text{};
    for (std::size_t i = 0; i < name.size(); ++i)
        text[i] = name[i];
    return text;
}();

template <class M>
constexpr std::string_view message_name() noexcept {
    return {name_text<M>.data(), name_text<M>.size()};
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
    .is_suppressed = std::is_base_of_v<dead_letter_suppression, M>,
    .keeps_receive_timeout = std::is_base_of_v<not_influence_receive_timeout, M>,
    .name = detail::message_name<M>(),
};

/// UP-5: the same type, be one of them another shared object's copy.
[[nodiscard]] inline bool same_message(const message_type& a, const message_type& b) noexcept {
    return &a == &b || (a.name_hash == b.name_hash && a.name == b.name && a.size == b.size);
}

}  // namespace tactus::inline v0
