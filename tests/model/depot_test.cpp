// SPDX-License-Identifier: Apache-2.0
//
// Depot and caches: a node has one user at a time, whatever thread gave it back; who learns from
// the count that a node exists finds it constructed (MC-3, MB-9).
//
// Bounds: two threads without a bound, three with three preemptions.
#include <tactus/mailbox/depot.hpp>

#include <optional>

#include "model_memory.hpp"
#include "scenario.hpp"

namespace port = tactus::port;
namespace model = tactus::port::model;

namespace {

struct node {
    port::plain<node*> next;
    port::plain<node*> magazine;
    port::plain<unsigned> used{0};
    port::plain<unsigned> made{1};
};
struct links {
    static node* get(const node& n) noexcept { return n.next.read(); }
    static void set(node& n, node* to) noexcept { n.next.write(to); }
    static node* get_magazine(const node& n) noexcept { return n.magazine.read(); }
    static void set_magazine(node& n, node* to) noexcept { n.magazine.write(to); }
};
using depot = tactus::depot<node, links>;
using cache = tactus::depot_cache<node, links>;

/// Takes a node, uses it, gives it back: a race if two have it.
void use_nodes(depot& d, unsigned times) {
    cache own(d);
    for (unsigned i = 0; i < times; ++i) {
        node* n = own.take();
        if (n == nullptr)
            continue;
        n->used.write(n->used.read() + 1);
        own.give(*n);
        own.flush();
    }
}

void exchange(unsigned threads, std::uint32_t magazine_size) {
    scenario::model_region<node> memory(2);
    depot d({.memory = &memory, .capacity = 2, .magazine_size = magazine_size});
    {
        model::thread a([&] { use_nodes(d, 2); });
        std::optional<model::thread> b;
        if (threads == 3)
            b.emplace([&] { use_nodes(d, 1); });
        use_nodes(d, 1);
    }
    // Nothing was lost: both can be had at once.
    cache own(d);
    node* first = own.take();
    node* second = own.take();
    model::require(first != nullptr && second != nullptr && first != second);
    model::require(own.take() == nullptr);
}

}  // namespace

TACTUS_MODEL_TEST(depot, MC3_two_threads_exchange_nodes, scenario::every_interleaving()) {
    exchange(2, 1);
}
TACTUS_MODEL_TEST(depot, MC3_two_threads_exchange_magazines, scenario::every_interleaving()) {
    exchange(2, 2);
}
TACTUS_MODEL_TEST(depot, MC3_three_threads_exchange_nodes, scenario::preempted(3)) {
    exchange(3, 1);
}

TACTUS_MODEL_TEST(depot, RG2_who_sees_the_count_finds_nodes_constructed,
                  scenario::every_interleaving()) {
    scenario::model_region<node> memory(2);
    depot d({.memory = &memory, .capacity = 2, .magazine_size = 1});
    model::thread looker([&] {
        for (std::uint32_t i = 0; i < d.constructed_count(); ++i)
            model::require(d.data()[i].made.read() == 1);
    });
    cache own(d);
    (void)own.take();
    (void)own.take();
}
