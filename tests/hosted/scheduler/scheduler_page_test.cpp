// SPDX-License-Identifier: Apache-2.0
//
// OH-2, BP-8, DC-2: the page about the scheduler has the metrics and limits of the code.
#include <tactus/scheduler/on_close_tasks.hpp>
#include <tactus/scheduler/scheduler_config.hpp>
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

std::string page() {
    std::ifstream file(TACTUS_SOURCE_DIR "/docs/scheduler.md");
    std::ostringstream all;
    all << file.rdbuf();
    return all.str();
}

std::string number(std::uint32_t n) {
    return n == scheduler_capacity::unlimited ? "grows" : std::to_string(n);
}

// DC-2: a table of windows per clock kind, and the profiles.
TEST(scheduler_page, DC_2_has_the_limits_of_the_code) {
    const std::string text = page();
    for (const clock_kind kind :
         {clock_kind::realtime_host, clock_kind::realtime_hardware, clock_kind::deterministic}) {
        scheduler_config c = scheduler_config::for_clock(kind);
        c.resolution = duration::from_us(100);  // 50 ms are more ticks than the limit
        const std::string most = std::to_string(catch_up_ticks_max(kind)) + " ticks";
        const bool is_default_fixed = catch_up_ticks(c) != catch_up_ticks_max(kind);
        const std::string usual = is_default_fixed ? std::to_string(catch_up_ticks(c)) + " ticks"
                                                   : "min(50 ms, " + most + ")";
        const char* name = kind == clock_kind::realtime_host       ? "realtime_host"
                           : kind == clock_kind::realtime_hardware ? "realtime_hardware"
                                                                   : "deterministic";
        EXPECT_NE(text.find("| " + std::string(name) + " | " + usual + " | " + most + " |"),
                  std::string::npos)
            << name;
    }
    for (std::size_t i = 0; i < scheduler_profile_count; ++i) {
        const auto profile = static_cast<scheduler_profile>(i);
        if (profile == scheduler_profile::custom)
            continue;
        const scheduler_capacity room = capacity_of(profile);
        EXPECT_NE(text.find("| " + std::string(name_of(profile)) + " | " + number(room.timers) +
                            " | " + number(room.overflow) + " | " + number(room.tasks) + " |"),
                  std::string::npos)
            << name_of(profile);
    }
    // On-close order, and what to do after a stall.
    std::string order;
    for (std::size_t i = 0; i < close_priority_count; ++i)
        order += std::string(i == 0 ? "" : ", ") + name_of(static_cast<close_priority>(i));
    EXPECT_NE(text.find("run: " + order), std::string::npos);
    EXPECT_NE(text.find("**After `driver_catch_up_exceeded`:**"), std::string::npos);
}

}  // namespace
}  // namespace tactus
