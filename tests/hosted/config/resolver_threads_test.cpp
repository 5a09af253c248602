// SPDX-License-Identifier: Apache-2.0
//
// Goal: entries come and are asked for from any thread while limits change (DR-5).
// Method: real threads; what each has added it finds. ThreadSanitizer looks on.
#include <tactus/dispatch/resolver.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include <tactus/runtime/heap_memory.hpp>

using namespace tactus;

// DR-5
TEST(resolver_threads, adding_asking_and_changing_at_once) {
    constexpr unsigned threads = 4;
    constexpr unsigned each = 200;
    runtime::heap_memory memory;
    resolver names({.memory = &memory});
    (void)names.resolve_dispatcher(default_dispatcher_id);
    std::atomic<unsigned> wrong{0};
    {
        std::vector<std::jthread> all;
        for (unsigned t = 0; t < threads; ++t) {
            all.emplace_back([&, t] {
                for (unsigned i = 1; i <= each; ++i) {
                    const std::string id = std::to_string(t) + "." + std::to_string(i);
                    const std::string alias = "alias." + id;
                    const bool added = names.add_dispatcher(id, {.throughput = i}) &&
                                       names.add_alias(alias, id) &&
                                       names.add_deployment("/" + id, {.dispatcher = alias});
                    const auto got = names.resolve({.path = "/" + id});
                    if (!added || !got || got->dispatcher->id() != id ||
                        got->dispatcher->config().throughput != i)
                        wrong.fetch_add(1, std::memory_order_relaxed);
                    // Somebody else's, or nobody's yet; and one that is handed out.
                    (void)names.resolve_dispatcher("0." + std::to_string(i));
                    (void)names.replace_dispatcher("1." + std::to_string(i), {.throughput = i});
                }
            });
        }
    }
    EXPECT_EQ(wrong.load(std::memory_order_relaxed), 0u);
    EXPECT_EQ(names.dispatcher_count(), 3 + threads * each);
    EXPECT_EQ(names.resolve_count(), 1 + 2 * threads * each);
}
