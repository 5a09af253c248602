// SPDX-License-Identifier: Apache-2.0
//
// Spawn refusal: what the resolver or the dispatchers refused, as the error of a spawn.
//
// A spawn_error is small and copied freely, so it points to its text and to the resolver's error.
// Both are kept until the process ends, equal ones once, at most `count_max` different ones: ids
// come from configurations and literals. Beyond that the error has its kind and a text that the
// thread keeps for a while (thrown_texts.hpp).
//
// Thread safety: any thread.
#pragma once

#include <cstddef>

#include <tactus/dispatch/spawn_options.hpp>
#include <tactus/runtime/dispatchers.hpp>

namespace tactus::inline v0::runtime {

class spawn_refusal {
public:
    static constexpr std::size_t count_max = 1'000;

    [[nodiscard]] static spawn_error of(const place_error& why) noexcept;

private:
    struct kept;
    struct table;
};

}  // namespace tactus::inline v0::runtime
