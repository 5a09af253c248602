// SPDX-License-Identifier: Apache-2.0
//
// The system queue: drained oldest first, each message once; closed is for good and is told to
// every sender (SQ-1, SQ-2, MC-3).
//
// Bounds: one sender and the owner without a bound; two senders and the owner with three
// preemptions.
#include <array>

#include <tactus/mailbox/system_queue.hpp>

#include "scenario.hpp"

namespace port = tactus::port;
namespace model = tactus::port::model;
using tactus::mailbox_index;
using tactus::oldest_first;
using tactus::pushed;
using tactus::system_message;

namespace {

constexpr unsigned each = 2;

struct rig {
    tactus::system_queue queue;
    std::array<std::array<system_message, each>, 2> messages;
    std::array<std::array<bool, each>, 2> refused{};
    std::array<unsigned, 2> next{};  // of each sender
    unsigned received = 0;

    void send(unsigned sender) {
        for (unsigned i = 0; i < each; ++i) {
            system_message& m = messages[sender][i];
            m.subject.write({sender, i});
            refused[sender][i] = queue.push(m) == pushed::closed;
            if (refused[sender][i])
                model::require(!m.linked && m.next.read() == nullptr, "it is the sender's again");
        }
    }
    void receive(oldest_first list) {
        while (system_message* m = list.pop()) {
            const mailbox_index from = m->subject.read();
            model::require(from.generation >= next[from.slot], "out of order, or twice");
            next[from.slot] = from.generation + 1;
            ++received;
        }
    }
    void check_all(unsigned senders) {
        unsigned expected = 0;
        for (unsigned s = 0; s < senders; ++s) {
            for (unsigned i = 0; i < each; ++i)
                expected += refused[s][i] ? 0 : 1;
        }
        model::require(received == expected, "lost");
    }
};

void drained(unsigned senders) {
    rig r;
    r.queue.open();
    {
        model::thread a([&] { r.send(0); });
        std::optional<model::thread> b;
        if (senders == 2)
            b.emplace([&] { r.send(1); });
        if (r.queue.has_messages())
            r.receive(r.queue.drain());
        r.receive(r.queue.drain());
    }
    r.receive(r.queue.drain());
    r.check_all(senders);
    model::require(!r.queue.has_messages());
}

void closed(unsigned senders) {
    rig r;
    r.queue.open();
    {
        model::thread a([&] { r.send(0); });
        std::optional<model::thread> b;
        if (senders == 2)
            b.emplace([&] { r.send(1); });
        r.receive(r.queue.drain());
        r.receive(r.queue.close());
    }
    r.check_all(senders);
    system_message late;
    model::require(r.queue.push(late) == pushed::closed && r.queue.closed());
    model::require(!r.queue.has_messages() && r.queue.drain().empty());
}

}  // namespace

TACTUS_MODEL_TEST(system_queue, SQ1_drained_oldest_first_each_once,
                  scenario::every_interleaving()) {
    drained(1);
}
TACTUS_MODEL_TEST(system_queue, SQ1_drained_oldest_first_two_senders, scenario::preempted(3)) {
    drained(2);
}
TACTUS_MODEL_TEST(system_queue, SQ2_nothing_slips_into_a_closed_queue,
                  scenario::every_interleaving()) {
    closed(1);
}
TACTUS_MODEL_TEST(system_queue, SQ2_nothing_slips_in_two_senders, scenario::preempted(3)) {
    closed(2);
}
