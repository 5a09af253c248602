// SPDX-License-Identifier: Apache-2.0
//
// An actor that keeps its worker busy until the test lets it go, for hosted tests, and one such
// worker of a system.
#pragma once

#include <latch>
#include <semaphore>

#include <tactus/actor/actor.hpp>
#include <tactus/runtime/actor_system.hpp>

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

/// Outlives the system.
class busy_worker {
public:
    /// Returns when a worker of its first dispatcher is busy.
    void begin(tactus::actor_system& system) {
        system.spawn<blocker>("busy", &in_, &go_).tell(block{});
        in_.wait();
    }
    void end() { go_.release(); }

private:
    std::latch in_{1};
    std::counting_semaphore<> go_{0};
};

}  // namespace tactus_test
