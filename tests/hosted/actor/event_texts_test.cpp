// SPDX-License-Identifier: Apache-2.0
//
// Goal: what people read about events and logs has a text for every value (EV-1, EV-2, EV-4).
#include <tactus/actor/dead_letter_log.hpp>
#include <tactus/actor/event_stream.hpp>
#include <tactus/actor/log.hpp>

#include <gtest/gtest.h>

#include <set>
#include <string>

using namespace tactus;  // NOLINT: the whole vocabulary is used

TEST(event_texts, EV_1_EV_2_EV_4_every_value_has_a_name_of_its_own) {
    std::set<std::string> seen;
    for (std::size_t i = 0; i < event_error_count; ++i) {
        seen.insert(name_of(static_cast<event_error>(i)));
        seen.insert(text_of(static_cast<event_error>(i)));
    }
    for (std::size_t i = 0; i < lost_kind_count; ++i)
        seen.insert(name_of(static_cast<lost_kind>(i)));
    for (std::size_t i = 0; i < log_level_count; ++i)
        seen.insert(name_of(static_cast<log_level>(i)));
    EXPECT_EQ(seen.size(), 2 * event_error_count + lost_kind_count + log_level_count);
    EXPECT_STREQ(name_of(log_level::warning), "warning");
    EXPECT_STREQ(name_of(lost_kind::unhandled_message), "unhandled");
}
