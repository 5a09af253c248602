// SPDX-License-Identifier: Apache-2.0
//
// Goal: a dump of the scheduler, as text and as JSON, beside subscribers that read its diagnostics
// on other threads and timers that run meanwhile (SD-2, SD-3, DF-83). For ThreadSanitizer, too.
// Method: one thread lets time pass and schedules, two read what is published, two dump. Each dump
// is whole; what a subscriber saw and what it lost is what was published, in order.
#include <tactus/scheduler/scheduler.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <tactus/dispatch/dump.hpp>

#include "scheduler_rig.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using tactus_test::ms;
using tactus_test::number;
using tactus_test::served_rig;

namespace {

/// Read by all threads.
class shared_clock final : public tactus::clock {
public:
    [[nodiscard]] instant now() const noexcept override {
        return instant::epoch() + duration::from_ns(ns_.load(std::memory_order_relaxed));
    }
    [[nodiscard]] clock_kind kind() const noexcept override { return clock_kind::deterministic; }
    void advance(duration by) noexcept { ns_.fetch_add(by.ns(), std::memory_order_relaxed); }

private:
    std::atomic<std::int64_t> ns_{1};
};

struct with_clock {
    shared_clock time_of_all;
};
struct dumped_rig : with_clock, served_rig {
    dumped_rig() noexcept : served_rig([this](scheduler_options& o) { o.time = &time_of_all; }) {}
    void pass_a_ms() noexcept {
        time_of_all.advance(ms(1));
        jump(1);  // the kernel's clock, which no other thread reads
    }
};

class text_kept final : public text_sink {
public:
    void write(std::string_view piece) noexcept override { all += piece; }
    std::string all;
};

bool is_whole(const std::string& text, dump_format format) {
    if (format == dump_format::text)
        return text.starts_with("scheduler open, state ") && text.ends_with('\n') &&
               text.contains("\ndiagnostics: subscribers 2, dropped ");
    const auto count = [&](char c) { return std::ranges::count(text, c); };
    return text.starts_with("{\"closed\":false,") && text.ends_with('}') &&
           count('{') == count('}') && count('[') == count(']') &&
           text.contains("\"subscriber_count\":2,");
}

/// What one subscriber saw.
struct seen {
    std::uint64_t count = 0;
    tick last = 0;
    bool in_order = true;
    void take(const diagnostic& d) {
        if (d.kind != diagnostic_kind::fire)
            return;
        in_order = in_order && d.at >= last;
        last = d.at;
        ++count;
    }
};

}  // namespace

TEST(dump_beside_subscribers, DF_83_dumps_are_whole_and_subscribers_miss_nothing) {
    constexpr unsigned rounds = 2'000;
    dumped_rig rig;
    static unsigned handled;
    handled = 0;
    const auto who = rig.spawn(+[](turn&, std::uint32_t) { ++handled; });
    auto quick = *rig->subscribe(diagnostic_kind::fire, 256);
    auto slow = *rig->subscribe(diagnostic_kind::fire, 8);
    std::atomic<bool> over{false};
    seen by_quick;
    seen by_slow;
    std::atomic<unsigned> dumps{0};
    std::atomic<unsigned> broken{0};
    const auto read = [&](diagnostics::subscription& s, seen& into) {
        for (bool last = false; !last;) {
            last = over.load(std::memory_order_acquire);
            while (const auto d = s.poll())
                into.take(*d);
        }
    };
    const auto dump = [&](dump_format format) {
        do {
            text_kept to;
            rig->dump(to, format, 20);
            broken += is_whole(to.all, format) ? 0 : 1;
            text_kept whole_kernel;
            dump_dispatchers(*rig.kernel, whole_kernel, {.format = format, .actors_max = 20});
            broken += whole_kernel.all.empty() ? 1 : 0;
            ++dumps;
        } while (!over.load(std::memory_order_acquire));
    };
    unsigned scheduled = 0;
    {
        std::vector<std::jthread> threads;
        threads.emplace_back([&] { read(quick, by_quick); });
        threads.emplace_back([&] { read(slow, by_slow); });
        threads.emplace_back([&] { dump(dump_format::text); });
        threads.emplace_back([&] { dump(dump_format::json); });
        for (unsigned i = 0; i < rounds || dumps < 4; ++i) {
            scheduled += rig->schedule_once(ms(1 + i % 3), who, number{i}) ? 1 : 0;
            rig.pass_a_ms();
        }
        for (unsigned i = 0; i < 10; ++i)
            rig.pass_a_ms();
        over.store(true, std::memory_order_release);
    }
    EXPECT_EQ(broken, 0u);
    EXPECT_GE(scheduled, rounds);
    EXPECT_EQ(handled, scheduled);
    EXPECT_TRUE(by_quick.in_order);
    EXPECT_TRUE(by_slow.in_order);
    EXPECT_EQ(by_quick.count + quick.dropped(), scheduled);
    EXPECT_EQ(by_slow.count + slow.dropped(), scheduled);
    tactus_test::journal().clear();
}
