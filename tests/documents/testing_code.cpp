// SPDX-License-Identifier: Apache-2.0
//
// The code of docs/testing.md that needs no test framework, compiled and run.
#include <tactus/actor/ask.hpp>
#include <tactus/scheduler/scheduler_defaults.hpp>
#include <tactus/test_kit/actor_under_test.hpp>
#include <tactus/test_kit/behavior_kit.hpp>
#include <tactus/test_kit/drawn_order.hpp>
#include <tactus/test_kit/kit.hpp>
#include <tactus/test_kit/system_kit.hpp>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace tactus;  // NOLINT: as the page does
using namespace std::chrono_literals;

namespace {

struct boiled {
    int minutes;
    friend bool operator==(const boiled&, const boiled&) = default;
};
struct boil {
    int minutes;
    actor_ref<boiled> reply_to;
};

class kettle : public actor<boil, boiled> {
public:
    void on(const boil& m) {
        if (m.minutes <= 0)
            throw std::invalid_argument("no time to boil");
        who_ = m.reply_to;
        (void)context().start_single_timer("done", boiled{m.minutes},
                                           duration::from_s(60 * m.minutes));
    }
    void on(const boiled& m) {
        ++boiled_count;
        who_.tell(m);
    }
    int boiled_count = 0;

private:
    actor_ref<boiled> who_;
};

void an_egg_takes_its_time() {
    test::kit kit;
    auto guest = kit.create_probe<boiled>();
    auto ref = kit.spawn<kettle>("kettle");
    ref.tell(boil{4, guest.ref()});
    guest.expect_no(3min);
    guest.expect(boiled{4}, 1min);
    kit.shutdown();
}

void a_machine_that_stood_still() {
    constexpr scheduler_preset pekko = scheduler_defaults(system_preset::pekko);
    test::kit kit({.scheduler = pekko.config, .timer_policy = pekko.policy});
    auto guest = kit.create_probe<boiled>();
    (void)kit.scheduler().schedule_at_fixed_rate(10_s, 10_s, guest.ref().any().index(), boiled{1});
    kit.stall(30s);
    kit.run_until_idle();
    (void)guest.receive_n<boiled>(3, 0s);
}

void the_kettle_by_hand() {
    auto kit = test::behavior_kit_of<kettle>();
    auto guest = kit.create_inbox<boiled>();
    kit.run(boil{4, guest.ref()});
    const auto timer = kit.expect_effect<test::timer_scheduled>();
    timer.send();
    kit.run_one();
    guest.expect(boiled{4});
}

struct hire {
    std::string name;
};
class kitchen : public actor<hire> {
public:
    void on(const hire& m) {
        if (auto made = context().try_spawn<kettle>(m.name, {}))
            made->tell(boil{3, {}});
    }
};

void a_kitchen_and_its_children() {
    auto kit = test::behavior_kit_of<kitchen>();
    kit.run(hire{"red"});
    kit.expect_effect(test::spawned{"red"});
    auto red = kit.child_kit<boil, boiled>("red");
    red.run_one();
    red.expect_effect<test::timer_scheduled>();
}

void the_instance_is_there_to_see() {
    test::kit kit;
    auto one = kit.spawn_under_test<kettle>("one");
    one.tell(boil{1, {}});
    kit.advance(1min);
    if (one->boiled_count != 1)
        test::fail("boiled " + std::to_string(one->boiled_count) + " times");
    try {
        one.receive(boil{0, {}});
        test::fail("an invalid order was taken");
    } catch (const std::invalid_argument&) {
        one.tell(boil{2, {}});  // it was restarted
    }
}

enum class order : std::uint8_t { egg, tea };

void the_last_order_counts() {
    const auto play = [](const test::script<order>& steps) -> std::string {
        test::kit kit;
        auto guest = kit.create_probe<boiled>();
        auto ref = kit.spawn<kettle>("kettle");
        int minutes = 0;
        for (const auto& step : steps) {
            minutes = step.what == order::egg ? 4 : 3;
            ref.tell(boil{minutes, guest.ref()});
            test::run(kit, step.then);
        }
        kit.advance(4min);
        return guest.receive() == boiled{minutes} ? "" : "another order was served";
    };
    const std::vector orders = {order::egg, order::tea, order::egg, order::tea};
    test::check_orders(orders, play, [](order o) { return o == order::egg ? "egg" : "tea"; });
}

void on_threads() {
    test::system_kit kit("kitchen on threads");
    auto lost = kit.create_dead_letter_probe();
    auto guest = kit.create_probe<boiled>();
    auto ref = kit.spawn<kettle>("kettle");
    kit.system().stop(ref);
    guest.expect_terminated(ref);
    ref.tell(boil{4, guest.ref()});
    if (lost.receive().to != ref.any())
        test::fail("somebody else lost it");
    kit.shutdown();
}

}  // namespace

int main() {
    const std::pair<const char*, void (*)()> tests[] = {
        {"an egg takes its time", an_egg_takes_its_time},
        {"a machine that stood still", a_machine_that_stood_still},
        {"the kettle by hand", the_kettle_by_hand},
        {"a kitchen and its children", a_kitchen_and_its_children},
        {"the instance is there to see", the_instance_is_there_to_see},
        {"the last order counts", the_last_order_counts},
        {"on threads", on_threads},
    };
    int failed = 0;
    for (const auto& [name, run] : tests) {
        try {
            run();
        } catch (const std::exception& e) {
            std::printf("%s: %s\n", name, e.what());
            ++failed;
        }
    }
    std::puts(failed == 0 ? "the page's code works" : "the page's code does not work");
    return failed;
}
