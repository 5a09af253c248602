// SPDX-License-Identifier: Apache-2.0
//
// A clock of the kind of a microcontroller's, for portable tests: it moves when it is told to, and
// nobody knows that.
#pragma once

#include <tactus/time/clock.hpp>

namespace tactus_test {

class hardware_clock final : public tactus::clock {
public:
    [[nodiscard]] tactus::instant now() const noexcept override { return now_; }
    [[nodiscard]] tactus::clock_kind kind() const noexcept override {
        return tactus::clock_kind::realtime_hardware;
    }
    void pass(tactus::duration d) noexcept { now_ = now_ + d; }

private:
    tactus::instant now_ = tactus::instant::epoch();
};

}  // namespace tactus_test
