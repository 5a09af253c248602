// SPDX-License-Identifier: Apache-2.0
//
// System table: a system does not go away under a visitor, and who comes later finds nothing
// (MC-3).
//
// The table only passes the address on, so a cell stands for the system: writing it after withdraw
// is its end.
//
// Bounds: one visitor without a bound, two with three preemptions.
#include <tactus/dispatch/system_table.hpp>

#include <optional>

#include "scenario.hpp"

namespace port = tactus::port;
namespace model = tactus::port::model;
using tactus::system_table;

namespace {

constexpr unsigned alive = 1;
constexpr unsigned gone = 2;

struct fake_system {
    port::plain<unsigned> state{0};
    port::atomic<unsigned> visits{0};

    [[nodiscard]] tactus::actor_scheduler& as_system() {
        return *reinterpret_cast<tactus::actor_scheduler*>(this);
    }
};

template <class Visit = system_table::visit>
void visit(std::uint32_t number) {
    const Visit v(number);
    if (v.system() == nullptr)
        return;
    auto* system = reinterpret_cast<fake_system*>(v.system());
    model::require(system->state.read() == alive);
}

void visit_any(std::uint32_t number) {
    const system_table::visit v(number);
    model::require(v.system() != nullptr);
}

void withdrawn_under(unsigned visitors) {
    fake_system system;
    std::uint32_t generation = 0;
    const std::uint32_t number = system_table::claim(generation);
    {
        model::thread a([&] { visit(number); });
        std::optional<model::thread> b;
        if (visitors == 2)
            b.emplace([&] { visit(number); });
        system.state.write(alive);
        system_table::publish(number, system.as_system());
        system_table::withdraw(number);
        system.state.write(gone);
    }
    system_table::release(number, 1);
}

/// What a sender did inside happens before shut_door() says that none is left; a later one finds
/// nothing, and the system is still there for others.
void shut_under(unsigned senders) {
    fake_system system;
    std::uint32_t generation = 0;
    const std::uint32_t number = system_table::claim(generation);
    system.state.write(alive);
    system_table::publish(number, system.as_system());
    {
        const auto send = [&] {
            const system_table::sender_visit v(number);
            if (v.system() != nullptr)
                model::require(system.state.read() == alive);
        };
        model::thread a(send);
        std::optional<model::thread> b;
        if (senders == 2)
            b.emplace(send);
        model::require(system_table::shut_door(number, -1));
        system.state.write(gone);
        model::require(system_table::is_door_shut(number));
        visit_any(number);
    }
    system_table::withdraw(number);
    system_table::release(number, 1);
}

}  // namespace

TACTUS_MODEL_TEST(system_table, CO_5_shut_under_a_sender, scenario::every_interleaving()) {
    shut_under(1);
}
TACTUS_MODEL_TEST(system_table, CO_5_shut_under_two_senders, scenario::preempted(3)) {
    shut_under(2);
}
// A sender by its own way: it may find the system the moment it is published there.
TACTUS_MODEL_TEST(system_table, MC3_published_under_a_sender, scenario::every_interleaving()) {
    fake_system system;
    std::uint32_t generation = 0;
    const std::uint32_t number = system_table::claim(generation);
    {
        model::thread a([&] { visit<system_table::sender_visit>(number); });
        system.state.write(alive);
        system_table::publish(number, system.as_system());
    }
    system_table::withdraw(number);
    system_table::release(number, 1);
}
TACTUS_MODEL_TEST(system_table, MC3_withdrawn_under_a_visitor, scenario::every_interleaving()) {
    withdrawn_under(1);
}
TACTUS_MODEL_TEST(system_table, MC3_withdrawn_under_two_visitors, scenario::preempted(3)) {
    withdrawn_under(2);
}

TACTUS_MODEL_TEST(system_table, MC3_two_systems_have_two_numbers, scenario::every_interleaving()) {
    std::uint32_t numbers[2];
    const auto live = [&](unsigned i) {
        std::uint32_t generation = 0;
        numbers[i] = system_table::claim(generation);
        model::require(numbers[i] != 0 && generation != 0);
    };
    {
        model::thread other([&] { live(1); });
        live(0);
    }
    model::require(numbers[0] != numbers[1]);
    system_table::release(numbers[0], 1);
    system_table::release(numbers[1], 1);
}
