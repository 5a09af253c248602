// SPDX-License-Identifier: Apache-2.0
//
// The scripted traces of vectors.json (timer_wheel_traces, our order), each run to its end.
#include "vectors.hpp"
#include "wheel_fixture.hpp"

namespace vectors = tactus_test::vectors;
using tactus_test::at_ns;

namespace {

void run(const vectors::trace& trace) {
    tactus_test::wheel_memory<16> memory;
    auto options = memory.options();
    options.resolution = tactus::duration::from_ns(static_cast<std::int64_t>(trace.tick_ns));
    options.start = at_ns(trace.start_ns);
    options.max_timer_duration =
        tactus::duration::from_ns(static_cast<std::int64_t>(trace.max_timer_ns));
    if (trace.max_wheel_ns != 0)
        options.max_wheel_duration =
            tactus::duration::from_ns(static_cast<std::int64_t>(trace.max_wheel_ns));
    static tactus_test::wheel_box box;
    auto& wheel = box.make(options);
    tactus::timer_handle handles[16] = {};
    tactus::instant now = options.start;
    for (const vectors::trace_op* o = trace.ops; o->what != vectors::op::end; ++o) {
        switch (o->what) {
        case vectors::op::insert: {
            const auto made = wheel.insert(now, at_ns(o->ns) - now, o->timer);
            ASSERT_EQ(made.has_value(), o->expect);
            if (made)
                handles[o->timer] = *made;
            else
                EXPECT_EQ(made.error().code, tactus::timer_errc::duration_exceeded);
            break;
        }
        case vectors::op::cancel:
            EXPECT_EQ(wheel.cancel(handles[o->timer]), o->expect);
            break;
        case vectors::op::next_deadline:
            EXPECT_EQ(wheel.next_deadline(), std::optional<tactus::tick>(o->ns));
            break;
        case vectors::op::advance: {
            now = at_ns(o->ns);
            tactus_test::fired_log<> fired;
            EXPECT_TRUE(wheel.advance(now, fired).has_value());
            ASSERT_EQ(fired.count, o->fired_count);
            for (std::size_t i = 0; i < fired.count; ++i)
                EXPECT_EQ(fired.payloads[i], o->fired[i]);
            EXPECT_EQ(wheel.size(), o->live);
            break;
        }
        case vectors::op::end:
            break;
        }
    }
}

}  // namespace

// TW-1, TW-2, TW-3, TW-8, TW-9
TEST(timer_wheel_traces, every_trace_of_the_vectors_runs_as_written) {
    for (const auto& trace : vectors::traces)
        run(trace);
}
