// SPDX-License-Identifier: Apache-2.0
//
// The list of scenarios, and the test that each of them is.
#include "scenario.hpp"

#include <cstdio>
#include <string>

namespace scenario {

std::vector<entry>& all() {
    static std::vector<entry> list;
    return list;
}

void expect_holds(const entry& e) {
    const auto start = std::chrono::steady_clock::now();
    model::options how = e.how;  // one that has grown too large is to fail, not to hang
    how.time_limit = std::chrono::seconds(120);
    const model::report r = model::check(how, e.body);
    const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(
        std::chrono::steady_clock::now() - start);
    EXPECT_TRUE(r.ok) << r.text;
    if (e.how.search == model::strategy::exhaustive) {
        EXPECT_TRUE(r.exhaustive) << r.text;
    }
    std::printf("%llu executions, %llu outcomes, at most %llu steps, %lld ms\n",
                static_cast<unsigned long long>(r.executions),
                static_cast<unsigned long long>(r.distinct_states),
                static_cast<unsigned long long>(r.steps_max), static_cast<long long>(took.count()));
}

}  // namespace scenario
