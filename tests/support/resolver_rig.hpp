// SPDX-License-Identifier: Apache-2.0
//
// A resolver over a static array, and words for looking at what it says.
#pragma once

#include <tactus/dispatch/resolver.hpp>

#include <cstddef>
#include <string_view>

#include "portable_test.hpp"
#include "test_memory.hpp"

namespace tactus_test {

struct resolver_rig {
    static constexpr std::size_t memory_size = board::roomy ? 65'536 : 6'144;

    explicit resolver_rig(tactus::dispatch_rules rules = {}, std::uint32_t chunk_size = 512)
        : names({.memory = &memory, .rules = rules, .bucket_count = 4, .chunk_size = chunk_size}) {}

    alignas(16) static inline std::byte bytes[memory_size];
    test_memory memory{bytes};
    tactus::resolver names;
};

inline constexpr tactus::dispatch_rules pekko =
    tactus::dispatch_rules::of(tactus::system_preset::pekko);

using error_kind = tactus::resolve_error::kind;

template <class Result>
[[nodiscard]] bool refused(const Result& r, error_kind what) {
    return !r.has_value() && r.error().what() == what;
}

/// The error's text has all of these.
template <class Result, class... Words>
[[nodiscard]] bool says(const Result& r, Words... words) {
    return !r.has_value() &&
           ((r.error().text().find(std::string_view(words)) != std::string_view::npos) && ...);
}

}  // namespace tactus_test
