// SPDX-License-Identifier: Apache-2.0
//
// Command lock: whatever is left is done, once, oldest first, by one thread at a time (SC-6).
//
// Bounds: two threads without a bound, three with three preemptions.
#include <tactus/scheduler/command_lock.hpp>

#include <array>
#include <optional>

#include "scenario.hpp"

namespace port = tactus::port;
namespace model = tactus::port::model;

namespace {

struct note {
    port::plain<note*> next;
    port::plain<unsigned> payload{0};
    unsigned applied = 0;
};

/// What the lock protects, and who comes with notes.
class office {
public:
    void bring(note& n) {
        n.payload.write(1);
        if (!lock_.enter_or_leave(n))
            return;
        apply(n);
        leave();
    }
    void look() {
        lock_.enter();
        sum_.write(sum_.read());
        leave();
    }
    [[nodiscard]] unsigned sum() const { return sum_.read(); }

private:
    void apply(note& n) {
        model::require(n.payload.read() == 1, "it was written before it was left");
        ++n.applied;
        sum_.write(sum_.read() + 1);
    }
    void leave() {
        while (!lock_.try_leave())
            lock_.do_left([this](note& n) { apply(n); });
    }

    tactus::command_lock<note> lock_;
    port::plain<unsigned> sum_{0};
};

template <unsigned Threads>
void all_are_applied() {
    office o;
    std::array<note, Threads + 1> notes;
    {
        std::array<std::optional<model::thread>, Threads> others;
        for (unsigned i = 0; i < Threads; ++i)
            others[i].emplace([&o, &n = notes[i]] { o.bring(n); });
        o.bring(notes[Threads]);
    }
    for (const note& n : notes)
        model::require(n.applied == 1);
    model::require(o.sum() == Threads + 1);
}

}  // namespace

TACTUS_MODEL_TEST(command_lock, SC6_nothing_is_left_behind, scenario::every_interleaving()) {
    all_are_applied<1>();
}
TACTUS_MODEL_TEST(command_lock, SC6_nor_with_three, scenario::preempted(3)) {
    all_are_applied<2>();
}
TACTUS_MODEL_TEST(command_lock, SC6_who_waits_sees_what_was_done, scenario::every_interleaving()) {
    office o;
    note n;
    {
        model::thread other([&] { o.bring(n); });
        o.look();
    }
    model::require(o.sum() == 1);
}

// SC-6: in sequence: the second of one thread after its first, whoever does them.
TACTUS_MODEL_TEST(command_lock, SC6_one_thread_s_are_done_in_order,
                  scenario::every_interleaving()) {
    tactus::command_lock<note> lock;
    std::array<note, 2> notes;
    note own;
    port::plain<unsigned> last{0};
    const auto leave = [&] {
        while (!lock.try_leave())
            lock.do_left([&](note& n) {
                if (&n != &own)
                    model::require(n.payload.read() == last.read() + 1, "in order");
                if (&n != &own)
                    last.write(n.payload.read());
            });
    };
    {
        model::thread other([&] {
            if (lock.enter_or_leave(own))
                leave();
        });
        for (unsigned i = 0; i < 2; ++i) {
            notes[i].payload.write(i + 1);
            if (lock.enter_or_leave(notes[i])) {
                model::require(notes[i].payload.read() == last.read() + 1, "in order");
                last.write(i + 1);
                leave();
            }
        }
    }
    model::require(last.read() == 2);
}
