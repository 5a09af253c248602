// SPDX-License-Identifier: Apache-2.0
//
// A device system on static memory with a clock that is set by hand, for portable tests of what a
// whole system does.
#pragma once

#include <cstddef>
#include <string_view>
#include <utility>

#include <tactus/actor/device_system.hpp>
#include <tactus/time/manual_clock.hpp>

#include "kernel_rig.hpp"

namespace tactus_test {

class device_rig {
public:
    static constexpr tactus::device_config config{.actors_max = 3,
                                                  .messages_max = 12,
                                                  .timers_max = 4,
                                                  .overflow_max = 1,
                                                  .bytes_per_actor = 40 * sizeof(void*),
                                                  .spare_bytes = 300 * sizeof(void*),
                                                  .services = &tactus::all_services};

    device_rig() noexcept : system(make(time)) { journal().clear(); }

    template <class A, class... Args>
    [[nodiscard]] tactus::detail::ref_of<A> spawn(std::string_view name, Args&&... args) {
        const auto made = system.spawn<A>(name, std::forward<Args>(args)...);
        EXPECT_TRUE(made.has_value());
        return made ? *made : tactus::detail::ref_of<A>{};
    }
    /// Time passes, millisecond by millisecond, and whoever is due runs.
    void pass(int ms) noexcept {
        for (int i = 0; i < ms; ++i) {
            time.advance(tactus::duration::from_ms(1));
            system.run();
        }
    }

    tactus::manual_clock time{tactus::duration::from_ns(1)};
    tactus::device_system system;

private:
    [[nodiscard]] static tactus::device_system make(const tactus::clock& time) noexcept {
        alignas(
            std::max_align_t) static std::byte bytes[tactus::device_system::required_bytes(config)];
        auto made = tactus::device_system::create("test", {.time = &time, .memory = bytes}, config);
        EXPECT_TRUE(made.has_value());
        return std::move(*made);
    }
};

}  // namespace tactus_test
