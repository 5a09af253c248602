// SPDX-License-Identifier: Apache-2.0
//
// OH-2, BP-8, DC-2, DC-4: the page about the scheduler has the metrics and limits of the code, and
// draws what it does.
#include <tactus/scheduler/on_close_tasks.hpp>
#include <tactus/scheduler/scheduler.hpp>
#include <tactus/scheduler/scheduler_config.hpp>
#include <tactus/scheduler/scheduler_metrics.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "scheduler_rig.hpp"

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

std::uint64_t came[4];  // messages, of each of the rows
void note_row(turn&, std::uint32_t row) {
    ++came[row];
}

// DC-4, SC-20, SC-22, SC-24, SC-32: what the page draws of a pause is what happens.
TEST(scheduler_page, DC_4_a_pause_goes_as_drawn) {
    using tactus_test::number;
    constexpr auto ms = [](std::int64_t n) { return duration::from_ms(n); };
    tactus_test::served_rig rig(
        [](scheduler_options& o) { o.config.catch_up = duration::from_ms(5); });
    const auto who = rig.spawn(note_row);
    rig.jump(99);
    const fixed_rate_options each{.catch_up = catch_up_rule::each};
    const auto once = rig->schedule_once(ms(6), who, number{0});
    const auto rate = rig->schedule_at_fixed_rate(ms(1), ms(1), who, number{1});
    const auto all = rig->schedule_at_fixed_rate(ms(1), ms(1), who, number{2}, {}, each);
    const auto delay = rig->schedule_with_fixed_delay(ms(1), ms(1), who, number{3});
    ASSERT_TRUE(once && rate && all && delay);
    struct row {
        const char* name;
        const char* comment;
        std::string columns = {};
    };
    row rows[] = {{"one-shot for 105", "   15 ticks late"},
                  {"fixed rate of 1", "   19 missed, folded into one"},
                  {"  with each", "   one after the other"},
                  {"fixed delay of 1", "   1 tick after the one before was handled"},
                  {"backlog", ""},
                  {"state", ""}};
    const auto add = [&](std::size_t i, const std::string& what) {
        const std::size_t width[] = {13, 20, 13, 13};
        static std::size_t column[6];
        rows[i].columns += std::string(width[column[i]++ % 4] - what.size(), ' ') + what;
    };
    for (const std::uint64_t ticks : {1u, 20u, 1u, 1u}) {
        std::ranges::fill(came, 0);
        rig.jump(ticks);
        for (std::size_t i = 0; i < 4; ++i)
            add(i, std::to_string(came[i]));
        add(4, std::to_string(rig->metrics().backlog));
        add(5, name_of(rig->pressure_now().state));
    }
    tactus_test::journal().clear();
    EXPECT_FALSE(rate->is_cancelled());
    for (const row& r : rows) {
        std::string line = std::string(r.name) + std::string(17 - std::string(r.name).size(), ' ');
        line += r.columns + r.comment;
        EXPECT_NE(page().find("\n" + line + "\n"), std::string::npos) << line;
    }
}

}  // namespace
}  // namespace tactus
