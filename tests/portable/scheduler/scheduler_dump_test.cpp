// SPDX-License-Identifier: Apache-2.0
//
// Goal: both forms of a dump, character by character (SD-3, SD-6, TS-9, TC-S40).
#include <tactus/scheduler/scheduler_dump.hpp>

#include <tactus/dispatch/text_buffer.hpp>

#include <string_view>

#include "portable_test.hpp"

namespace tactus {
namespace {

constexpr diagnostics::subscriber subscribers[] = {
    {.number = 1, .kinds = {}, .waiting = 3, .capacity = 256, .dropped = 0},
    {.number = 4, .kinds = {}, .waiting = 8, .capacity = 8, .dropped = 17},
};

scheduler_snapshot busy() {
    return {.driver = {.name = "steady",
                       .kind = "async_host",
                       .resolution = 1_ms,
                       .since = instant::epoch() + 2'500_us,
                       .restarts = 2},
            .fixed_delay = false,
            .manual_clock = true,
            .now = 4'711,
            .occupied_slots = {3, 1, 0, 2},
            .overflow_size = 9,
            .overflow_capacity = 512,
            .pending_commands = 5,
            .active = 15,
            .quota = 2'048,
            .adaptive_quota = 1'024,
            .state = "rejecting",
            .cause = backpressure_cause::gauge,
            .is_closed = false,
            .diagnostic_counts = {.subscribers = 2, .dropped = 20},
            .subscribers = subscribers};
}

// TC-S40: a one-shot, and a fixed rate with its next tick.
constexpr job_view jobs[] = {
    {.id = 7, .mode = job_mode::one_shot, .next = 4'800},
    {.id = 8, .mode = job_mode::fixed_rate, .backlog = 2, .last_fire = 4'709, .next = 4'713},
    {.id = 9, .mode = job_mode::fixed_delay, .last_fire = 4'000},
};

using text_memory = text_buffer<1'024>;

void dump(text_memory& to, dump_format format, const scheduler_snapshot& of,
          std::uint32_t jobs_max = 1'000) {
    scheduler_dump dump(to, format, of, jobs_max);
    for (const job_view& j : jobs)
        dump.job(j);
    dump.end();
}

// SD-3
TEST(scheduler_dump, as_text) {
    text_memory to;
    dump(to, dump_format::text, busy());
    EXPECT_EQ(to.view(),
              "scheduler open, state rejecting by gauge\n"
              "driver steady (async_host): resolution 1 ms, since 2500 us, restarts 2\n"
              "modes one_shot fixed_rate manual_clock\n"
              "wheel: tick 4711, slots 3 1 0 2, overflow 9 of 512\n"
              "timers: active 15, quota 2048, adaptive quota 1024, pending commands 5\n"
              "diagnostics: subscribers 2, dropped 20\n"
              "  subscriber 1: waiting 3 of 256, dropped 0\n"
              "  subscriber 4: waiting 8 of 8, dropped 17\n"
              "job 7 one_shot, backlog 0, last fire none, next 4800\n"
              "job 8 fixed_rate, backlog 2, last fire 4709, next 4713\n"
              "job 9 fixed_delay, backlog 0, last fire 4000, next none\n");
}

// SD-3
TEST(scheduler_dump, as_json) {
    text_memory to;
    dump(to, dump_format::json, busy());
    EXPECT_EQ(to.view(),
              R"({"closed":false,"state":"rejecting","cause":"gauge",)"
              R"("driver":{"name":"steady","kind":"async_host","resolution_ns":1000000,)"
              R"("since_ns":2500000,"restarts":2},)"
              R"("modes":["one_shot","fixed_rate","manual_clock"],)"
              R"("tick":4711,"slots":[3,1,0,2],"overflow":{"size":9,"capacity":512},)"
              R"("active":15,"quota":2048,"adaptive_quota":1024,"pending_commands":5,)"
              R"("diagnostics":{"subscribers":[)"
              R"({"subscriber":1,"waiting":3,"capacity":256,"dropped":0},)"
              R"({"subscriber":4,"waiting":8,"capacity":8,"dropped":17}],)"
              R"("subscriber_count":2,"dropped":20},)"
              R"("jobs":[{"job":7,"mode":"one_shot","backlog":0,"last_fire":null,"next":4800},)"
              R"({"job":8,"mode":"fixed_rate","backlog":2,"last_fire":4709,"next":4713},)"
              R"({"job":9,"mode":"fixed_delay","backlog":0,"last_fire":4000,"next":null}],)"
              R"("job_count":3})");
}

// SD-3: without bounds, closed, and nobody looks on.
TEST(scheduler_dump, what_there_is_not_is_said) {
    const scheduler_snapshot of{
        .driver = {.name = "hand", .kind = "manual"}, .state = "normal", .is_closed = true};
    text_memory to;
    scheduler_dump(to, dump_format::text, of).end();
    EXPECT_EQ(to.view(),
              "scheduler closed, state normal\n"
              "driver hand (manual): resolution 0 ns, since 0 ns, restarts 0\n"
              "modes one_shot fixed_rate fixed_delay\n"
              "wheel: tick 0, slots 0 0 0 0, overflow 0 of any\n"
              "timers: active 0, quota none, adaptive quota none, pending commands 0\n"
              "diagnostics: subscribers 0, dropped 0\n");
    to.clear();
    scheduler_dump(to, dump_format::json, of).end();
    EXPECT_EQ(to.view(), R"({"closed":true,"state":"normal","cause":"none",)"
                         R"("driver":{"name":"hand","kind":"manual","resolution_ns":0,)"
                         R"("since_ns":0,"restarts":0},)"
                         R"("modes":["one_shot","fixed_rate","fixed_delay"],)"
                         R"("tick":0,"slots":[0,0,0,0],"overflow":{"size":0,"capacity":null},)"
                         R"("active":0,"quota":null,"adaptive_quota":null,"pending_commands":0,)"
                         R"("diagnostics":{"subscribers":[],"subscriber_count":0,"dropped":0},)"
                         R"("jobs":[],"job_count":0})");
}

// SD-3: jobs beyond the limit are counted.
TEST(scheduler_dump, lists_so_many_jobs_and_counts_the_others) {
    text_memory to;
    dump(to, dump_format::text, busy(), 1);
    EXPECT_TRUE(to.view().ends_with(
        "\njob 7 one_shot, backlog 0, last fire none, next 4800\nand 2 more jobs\n"));
    to.clear();
    dump(to, dump_format::json, busy(), 1);
    EXPECT_TRUE(to.view().ends_with(R"("next":4800}],"job_count":3})"));
    to.clear();
    dump(to, dump_format::text, busy(), 3);
    EXPECT_TRUE(to.view().ends_with("next none\n"));
}

}  // namespace
}  // namespace tactus
