// SPDX-License-Identifier: Apache-2.0
//
// The inbox (closable_stack): every node is taken exactly once, in the order of its sender, with
// what the sender wrote; a close refuses or takes, and nothing comes after it (MC-3, MB-10).
//
// Bounds: one sender and the owner without a bound; two senders and the owner with three
// preemptions; three senders with two.
#include <array>
#include <utility>

#include <tactus/mailbox/inbox.hpp>

#include "scenario.hpp"

namespace port = tactus::port;
namespace model = tactus::port::model;
using tactus::pushed;

namespace {

struct node {
    port::plain<node*> next;
    port::plain<unsigned> payload;
};
using stack = tactus::closable_stack<node>;

constexpr unsigned count_max = 3;  // of one sender

/// What senders leave, and how often each was found.
template <unsigned Senders>
struct exchange {
    stack head;
    std::array<std::array<node, count_max>, Senders> nodes;
    std::array<std::array<bool, count_max>, Senders> refused{};
    std::array<unsigned, Senders> found{};  // of each sender, in order
    std::array<unsigned, Senders> offered{};

    /// Pushes `count` nodes; a refused one is the sender's again.
    void send(unsigned sender, unsigned count) {
        for (unsigned i = 0; i < count; ++i) {
            node& n = nodes[sender][i];
            n.payload.write(100 * sender + i);
            if (head.push(n) == pushed::closed) {
                refused[sender][i] = true;
                n.payload.write(0);
            }
        }
        offered[sender] = count;
    }

    /// Looks at what was taken: in the order of each sender, refused ones left out.
    void receive(node* oldest) {
        while (oldest != nullptr) {
            const unsigned payload = oldest->payload.read();
            oldest->payload.write(~0u);  // it is the owner's alone
            const unsigned sender = payload / 100;
            model::require(sender < Senders, "taken twice");
            model::require(payload % 100 >= found[sender], "out of order");
            model::require(!refused[sender][payload % 100], "taken and refused");
            found[sender] = payload % 100 + 1;
            ++received;
            oldest = oldest->next.read();
        }
    }

    /// After everybody has ended.
    void check_all() {
        unsigned expected = 0;
        for (unsigned s = 0; s < Senders; ++s) {
            for (unsigned i = 0; i < offered[s]; ++i)
                expected += refused[s][i] ? 0 : 1;
        }
        model::require(received == expected, "lost");
    }

    unsigned received = 0;
};

template <unsigned Senders>
std::array<model::thread, Senders> start(exchange<Senders>& x, unsigned each) {
    return [&]<unsigned... I>(std::integer_sequence<unsigned, I...>) {
        return std::array<model::thread, Senders>{
            model::thread([&x, each] { x.send(I, each); })...};
    }(std::make_integer_sequence<unsigned, Senders>{});
}

template <unsigned Senders>
void senders_and_an_owner(unsigned each, unsigned takes) {
    exchange<Senders> x;
    x.head.open();
    {
        auto senders = start<Senders>(x, each);
        for (unsigned i = 0; i < takes; ++i)
            x.receive(x.head.take_all());
    }
    x.receive(x.head.take_all());
    x.check_all();
    model::require(x.head.looks_empty());
}

template <unsigned Senders>
void a_close_racing_senders(unsigned each) {
    exchange<Senders> x;
    x.head.open();
    {
        auto senders = start<Senders>(x, each);
        x.receive(x.head.take_all());
        x.receive(x.head.close());
    }
    x.check_all();
    for (unsigned s = 0; s < Senders; ++s) {
        for (unsigned i = 1; i < each; ++i)
            model::require(!x.refused[s][i - 1] || x.refused[s][i], "accepted after the close");
    }
    node late;
    model::require(x.head.push(late) == pushed::closed);
    model::require(x.head.take_all() == nullptr && x.head.closed() && x.head.looks_empty());
}

}  // namespace

TACTUS_MODEL_TEST(inbox, MC3_MB10_one_sender_and_the_owner, scenario::every_interleaving()) {
    senders_and_an_owner<1>(3, 2);
}
TACTUS_MODEL_TEST(inbox, MC3_MB10_two_senders_and_the_owner, scenario::preempted(3)) {
    senders_and_an_owner<2>(2, 2);
}
TACTUS_MODEL_TEST(inbox, MC3_MB10_three_senders_and_the_owner, scenario::preempted(2)) {
    senders_and_an_owner<3>(1, 2);
}
TACTUS_MODEL_TEST(inbox, MC3_MB10_three_senders_of_more, scenario::at_random(5'000)) {
    senders_and_an_owner<3>(3, 4);
}

TACTUS_MODEL_TEST(inbox, SQ2_a_close_takes_or_refuses, scenario::every_interleaving()) {
    a_close_racing_senders<1>(3);
}
TACTUS_MODEL_TEST(inbox, SQ2_a_close_takes_or_refuses_two_senders, scenario::preempted(3)) {
    a_close_racing_senders<2>(2);
}

// Exactly one sender is told that it was the first, for each time the owner empties it.
TACTUS_MODEL_TEST(inbox, CO2_one_sender_of_a_batch_is_the_first, scenario::every_interleaving()) {
    stack head;
    head.open();
    std::array<node, 4> nodes;
    std::array<unsigned, 2> firsts{};
    unsigned batches = 0;
    {
        model::thread sender([&] {
            for (unsigned i = 0; i < 2; ++i)
                firsts[1] += head.push(nodes[i]) == pushed::first ? 1 : 0;
        });
        for (unsigned i = 2; i < 4; ++i) {
            firsts[0] += head.push(nodes[i]) == pushed::first ? 1 : 0;
            batches += head.take_all() != nullptr ? 1 : 0;
        }
    }
    batches += head.take_all() != nullptr ? 1 : 0;
    model::require(firsts[0] + firsts[1] == batches);
}

// Who gets into an inbox sees what its owner did before opening it.
TACTUS_MODEL_TEST(inbox, MC3_what_prepared_it_is_seen_by_who_gets_in,
                  scenario::every_interleaving()) {
    exchange<1> x;
    port::plain<unsigned> prepared{0};
    {
        model::thread sender([&] {
            x.send(0, 2);
            if (!x.refused[0][1])
                model::require(prepared.read() == 1);
        });
        prepared.write(1);
        x.head.open();
        x.receive(x.head.take_all());
    }
    x.receive(x.head.close());
    x.check_all();
}

// A sender that comes late is refused, or is in the next life, once.
template <unsigned Senders>
void reopened_under_late_senders() {
    exchange<Senders> x;
    x.head.open();
    {
        auto senders = start<Senders>(x, 2);
        x.receive(x.head.close());
        x.head.open();
        x.receive(x.head.take_all());
    }
    x.receive(x.head.close());
    x.check_all();
}
TACTUS_MODEL_TEST(inbox, MC3_reopened_under_a_late_sender, scenario::every_interleaving()) {
    reopened_under_late_senders<1>();
}
TACTUS_MODEL_TEST(inbox, MC3_reopened_under_two_late_senders, scenario::preempted(3)) {
    reopened_under_late_senders<2>();
}

// Weak exchanges that fail for no reason, and loads that come early.
TACTUS_MODEL_TEST(inbox, MC3_two_senders_on_a_weak_machine, scenario::weakest(2)) {
    senders_and_an_owner<2>(1, 1);
}
TACTUS_MODEL_TEST(inbox, SQ2_a_close_on_a_weak_machine, scenario::weakest(3)) {
    a_close_racing_senders<1>(2);
}
