// SPDX-License-Identifier: Apache-2.0
//
// Goal: any thread may dump while dispatchers are made (DF-47). Method: one thread dumps without a
// pause while another spawns on dispatchers that are made then; ThreadSanitizer reports what a dump
// finds before it is constructed.
#include <tactus/runtime/actor_system.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <expected>
#include <string>
#include <thread>

using namespace tactus;  // NOLINT: the whole vocabulary is used

namespace {

class idler : public actor<int> {
public:
    void on(int) {}
};
constexpr std::uint32_t dispatchers_made = 40;

}  // namespace

TEST(dump_threads, DF_47_a_dump_while_dispatchers_are_made) {
    for (int round = 0; round < 3; ++round) {
        actor_system::options o{.log_level = log_level::off};
        o.names = [](resolver& names) -> std::expected<void, std::string> {
            for (std::uint32_t i = 0; i < dispatchers_made; ++i) {
                dispatcher_config one;
                one.workers = 2;
                one.executor = executor_kind::thread_pool;
                if (!names.add_dispatcher("made-" + std::to_string(i), one))
                    return std::unexpected("a dispatcher was refused");
            }
            return {};
        };
        actor_system system("demo", o);
        std::atomic<bool> is_over{false};
        std::atomic<int> dumps{0};
        std::thread dumps_on([&] {
            while (!is_over) {
                EXPECT_FALSE(
                    system.dump(dumps % 2 == 0 ? dump_format::text : dump_format::json).empty());
                ++dumps;
            }
        });
        while (dumps == 0)
            std::this_thread::yield();
        for (std::uint32_t i = 0; i < dispatchers_made; ++i) {
            const std::string id = "made-" + std::to_string(i);
            spawn_options where;
            where.dispatcher_id = id;
            EXPECT_TRUE(system.try_spawn<idler>({}, where)) << id;
        }
        is_over = true;
        dumps_on.join();
        EXPECT_NE(system.dump().find("dispatcher " + std::to_string(dispatchers_made) + ":"),
                  std::string::npos);
    }
}
