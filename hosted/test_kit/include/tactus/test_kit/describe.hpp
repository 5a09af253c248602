// SPDX-License-Identifier: Apache-2.0
//
// Describing messages in texts of failed expectations: a value that can be written to a stream is,
// of others the type is named.
#pragma once

#include <concepts>
#include <ostream>
#include <sstream>
#include <string>
#include <string_view>

#include <tactus/actor/actor_ref.hpp>
#include <tactus/actor/actor_timers.hpp>
#include <tactus/mailbox/message_type.hpp>
#include <tactus/time/instant.hpp>

namespace tactus::inline v0::test {

template <class M>
concept printable = requires(std::ostream& to, const M& m) {
    { to << m } -> std::convertible_to<std::ostream&>;
};

template <class M>
[[nodiscard]] std::string_view type_name() noexcept {
    return tactus::detail::message_name<M>();
}

template <class M>
[[nodiscard]] std::string describe(const M& m) {
    if constexpr (printable<M>) {
        std::ostringstream text;
        text << std::boolalpha << m;
        return std::move(text).str();
    } else {
        return "a message of type " + std::string(type_name<M>());
    }
}
/// "3 s", "250 ms", in the largest unit without a fraction; of what was measured about four
/// digits are said.
[[nodiscard]] std::string describe(duration d);
[[nodiscard]] std::string describe(timer_mode mode);
/// By its number and life: of whom the world may know no name any more.
[[nodiscard]] std::string describe(any_ref who);

}  // namespace tactus::inline v0::test
