// SPDX-License-Identifier: Apache-2.0
//
// OH-2, BP-8: the page about the scheduler has the metrics of the code.
#include <tactus/scheduler/scheduler_metrics.hpp>

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace tactus {
namespace {

TEST(scheduler_page, has_the_metrics_of_the_code) {
    std::ifstream file(TACTUS_SOURCE_DIR "/docs/scheduler.md");
    ASSERT_TRUE(file.is_open());
    std::vector<std::string> rows;
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("| `scheduler.timer."))
            rows.push_back(line);
    }
    ASSERT_EQ(rows.size(), timer_metric_count);
    for (std::size_t i = 0; i < timer_metric_count; ++i) {
        const metric_info& m = timer_metric_table[i];
        std::ostringstream row;
        row << "| `" << m.name;
        if (*m.label != 0)
            row << "{" << m.label << "}";
        row << "` | " << name_of(m.kind) << " | " << m.meaning << " |";
        EXPECT_EQ(rows[i], row.str());
    }
}

}  // namespace
}  // namespace tactus
