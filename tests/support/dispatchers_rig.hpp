// SPDX-License-Identifier: Apache-2.0
//
// A system with dispatchers, for hosted tests, and who counts what happens to them.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <tactus/runtime/dispatchers.hpp>

#include "pool_rig.hpp"

namespace tactus_test {

/// What dispatchers say.
class counting_dispatcher_events final : public tactus::dispatcher_events {
public:
    void executor_rejected(const tactus::dispatcher& where,
                           const rejection& what) noexcept override {
        const std::lock_guard held(mutex_);
        rejections.push_back(what);
        dispatcher_number = where.number();
    }
    void dispatcher_backpressure(const tactus::dispatcher&, std::uint32_t,
                                 bool on) noexcept override {
        ++(on ? engaged : released);
    }
    void dispatcher_starved(const tactus::dispatcher& where,
                            const starvation& what) noexcept override {
        const std::lock_guard held(mutex_);
        last_starvation = what;
        dispatcher_number = where.number();
        ++starved;
    }
    [[nodiscard]] std::size_t rejection_count() {
        const std::lock_guard held(mutex_);
        return rejections.size();
    }

    std::vector<rejection> rejections;
    starvation last_starvation{};
    std::uint32_t dispatcher_number = 0;
    std::atomic<std::uint32_t> engaged{0};
    std::atomic<std::uint32_t> released{0};
    std::atomic<std::uint32_t> starved{0};

private:
    std::mutex mutex_;
};

struct dispatchers_rig {
    explicit dispatchers_rig(tactus::dispatcher_config first = {.workers = 2},
                             tactus::actor_scheduler::options with = {},
                             std::string name = "tactus", tactus::resolver* names = nullptr)
        : system(memory.fill([&] {
              with.time = &time;
              return tactus::runtime::dispatchers::fill(with, first);
          }())),
          all(std::in_place, system,
              tactus::runtime::dispatchers::options{
                  .system_name = std::move(name), .events = &events, .names = names},
              tactus::runtime::dispatcher_setup{.id = tactus::default_dispatcher_id,
                                                .config = first}) {}

    tactus::runtime::scheduler_memory memory{{.actors_max = 1U << 17, .messages_max = 1U << 23}};
    tactus::runtime::steady_clock time;
    counting_dispatcher_events events;
    tactus::actor_scheduler system;
    std::optional<tactus::runtime::dispatchers> all;
};

}  // namespace tactus_test
