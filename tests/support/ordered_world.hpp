// SPDX-License-Identifier: Apache-2.0
//
// Ordered world: all that a script of drawn orders needs of the runtime, so that a simulation can
// stand in for the test kit's virtual world.
//
// Thread safety: none.
#pragma once

#include <cstdint>
#include <utility>

#include <tactus/test_kit/drawn_order.hpp>
#include <tactus/test_kit/virtual_world.hpp>

namespace tactus_test {

class ordered_world {
public:
    explicit ordered_world(tactus::test::virtual_world::options o) : world_(std::move(o)) {}

    [[nodiscard]] tactus::actor_world& actors() noexcept { return world_.world(); }
    [[nodiscard]] std::uint64_t now_ms() const noexcept {
        return static_cast<std::uint64_t>((world_.now() - tactus::instant{}).ns()) / 1'000'000;
    }
    void run(const tactus::test::interlude& p) { tactus::test::run(world_, p); }
    /// False: an actor has not ended.
    [[nodiscard]] bool end() { return world_.ended() || world_.end(); }
    [[nodiscard]] bool lives(tactus::any_ref who) noexcept { return world_.lives(who); }

private:
    tactus::test::virtual_world world_;
};

}  // namespace tactus_test
