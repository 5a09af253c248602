// SPDX-License-Identifier: Apache-2.0
//
// An actor that keeps its worker busy until the test lets it go, for hosted tests.
#pragma once

#include <latch>
#include <semaphore>

#include <tactus/actor/actor.hpp>

namespace tactus_test {

struct block {};
class blocker : public tactus::actor<block, int> {
public:
    blocker(std::latch* in, std::counting_semaphore<>* go) : in_(in), go_(go) {}
    void on(block) {
        in_->count_down();
        go_->acquire();
    }
    void on(int) {}

private:
    std::latch* in_;
    std::counting_semaphore<>* go_;
};

}  // namespace tactus_test
