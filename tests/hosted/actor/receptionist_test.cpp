// SPDX-License-Identifier: Apache-2.0
//
// Goal: services are found by their keys, in the order they came, and are gone when they have
// ended; topics tell everybody; what is asked for is spawned (C-TYP-24, C-TYP-22).
#include <tactus/actor/receptionist.hpp>
#include <tactus/actor/spawn_protocol.hpp>
#include <tactus/actor/topic.hpp>

#include "world_rig.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using tactus_test::journal;
using tactus_test::world_rig;

namespace {

struct order {
    int what;
};
const service_key<order> tills{"tills"};
const service_key<order> doors{"doors"};
const service_key<int> numbers{"tills"};  // of the same name, for another message

class till : public actor<order> {
public:
    void on(const order& o) { journal().add(o.what); }
};

/// Writes down what it is told: 1000 + how many there are, then which, by their order in `known`.
class reader : public actor<listing<order>, listing<int>> {
public:
    explicit reader(std::int32_t offset = 0) : offset_(offset) {}
    void on(const listing<order>& m) {
        journal().add(offset_ + 1'000 + static_cast<std::int32_t>(m.refs().size()) +
                      (m.key() == tills ? 0 : 100));
        for (const actor_ref<order>& one : m.refs())
            journal().add(number_of(one));
    }
    void on(const listing<int>& m) {
        journal().add(offset_ + 2'000 + static_cast<std::int32_t>(m.refs().size()));
    }
    static std::int32_t number_of(actor_ref<order> who) {
        for (std::int32_t i = 0; i < 4; ++i) {
            if (known[i] == who)
                return i;
        }
        return -1;
    }
    static inline actor_ref<order> known[4];

private:
    std::int32_t offset_;
};

struct desk_rig : world_rig {
    desk_rig() : desk(receptionist_of(world)) {
        for (actor_ref<order>& one : reader::known)
            one = spawn<till>("");
        run();
    }
    template <class M>
    void tell(M m) {
        desk.tell(m);
        run();
    }
    [[nodiscard]] actor_ref<order> at(std::size_t i) const { return reader::known[i]; }
    receptionist_ref desk;
};

}  // namespace

// C-TYP-24, PK-TYP-18: one for a system, with a path; made when it is first asked for.
TEST(receptionist, C_TYP_24_there_is_one) {
    world_rig rig;
    EXPECT_FALSE(rig.world.find("/system/receptionist").valid());
    const receptionist_ref first = receptionist_of(rig.world);
    EXPECT_TRUE(first);
    EXPECT_TRUE(first == receptionist_of(rig.world));
    EXPECT_TRUE(rig.world.find("/system/receptionist") == first.index());
    rig.end();
    EXPECT_FALSE(receptionist_of(rig.world));
}

// C-TYP-24: registered under keys, found under these alone, in the order they came; registering
// again changes nothing; deregistering is for one key.
TEST(receptionist, C_TYP_24_services_are_found_by_key) {
    desk_rig rig;
    const auto r = rig.spawn<reader>("r", 0);
    rig.tell(find_services(tills, r));
    EXPECT_TRUE(journal().is({1'000}));
    rig.tell(register_service(tills, rig.at(2)));
    rig.tell(register_service(tills, rig.at(0)));
    rig.tell(register_service(doors, rig.at(0)));
    rig.tell(register_service(tills, rig.at(2)));
    rig.tell(register_service(tills, {}));
    rig.tell(find_services(tills, r));
    EXPECT_TRUE(journal().is({1'002, 2, 0}));
    rig.tell(find_services(doors, r));
    EXPECT_TRUE(journal().is({1'101, 0}));
    rig.tell(find_services(numbers, r));
    EXPECT_TRUE(journal().is({2'000}));
    rig.tell(deregister_service(tills, rig.at(0)));
    rig.tell(deregister_service(tills, rig.at(1)));  // was not there
    rig.tell(find_services(tills, r));
    EXPECT_TRUE(journal().is({1'001, 2}));
    rig.tell(find_services(doors, r));
    EXPECT_TRUE(journal().is({1'101, 0}));
    rig.tell(deregister_service(tills, rig.at(2)));
    rig.tell(register_service(tills, rig.at(2)));
    rig.tell(find_services(tills, r));
    EXPECT_TRUE(journal().is({1'001, 2}));
    // What is left of its keys goes with it.
    (void)rig.world.stop(rig.at(0).index());
    rig.run();
    rig.tell(find_services(doors, r));
    EXPECT_TRUE(journal().is({1'100}));
    rig.end();
}

// C-TYP-24: who subscribes is told at once, be it that there are none, and at every change of that
// key; not of others, and not what is no change. Of an end, too.
TEST(receptionist, C_TYP_24_subscribers_are_told_of_changes) {
    desk_rig rig;
    const auto r = rig.spawn<reader>("r", 0);
    rig.tell(subscribe_services(tills, r));
    EXPECT_TRUE(journal().is({1'000}));
    rig.tell(subscribe_services(tills, r));
    EXPECT_TRUE(journal().is({}));
    rig.tell(register_service(tills, rig.at(0)));
    EXPECT_TRUE(journal().is({1'001, 0}));
    rig.tell(register_service(tills, rig.at(1)));
    EXPECT_TRUE(journal().is({1'002, 0, 1}));
    rig.tell(register_service(tills, rig.at(1)));
    rig.tell(register_service(doors, rig.at(1)));
    EXPECT_TRUE(journal().is({}));
    (void)rig.world.stop(rig.at(0).index());
    rig.run();
    EXPECT_TRUE(journal().is({1'001, 1}));
    rig.tell(deregister_service(tills, rig.at(1)));
    EXPECT_TRUE(journal().is({1'000}));
    // Who had ended before is removed at once.
    rig.tell(register_service(tills, rig.at(0)));
    EXPECT_TRUE(journal().is({1'001, 0, 1'000}));
    rig.tell(unsubscribe_services(tills, r));
    rig.tell(register_service(tills, rig.at(2)));
    EXPECT_TRUE(journal().is({}));
    EXPECT_EQ(rig.said.dead_letters, 0u);
    rig.end();
}

// C-TYP-24: all subscribers are told; one that has ended is forgotten, with all its
// keys, and with the services it had itself.
TEST(receptionist, C_TYP_24_subscribers_that_end) {
    class both : public actor<order, listing<order>> {
    public:
        void on(const order&) {}
        void on(const listing<order>&) { journal().add(7); }
    };
    desk_rig rig;
    const auto a = rig.spawn<both>("a");
    const auto b = rig.spawn<reader>("b", 0);
    rig.tell(subscribe_services(tills, a));
    rig.tell(subscribe_services(tills, b));
    rig.tell(subscribe_services(doors, a));
    EXPECT_TRUE(journal().is({7, 1'000, 7}));
    rig.tell(register_service(tills, a));
    rig.tell(register_service(doors, a));
    EXPECT_TRUE(journal().is({1'001, -1, 7, 7}));
    (void)rig.world.stop(a.index());
    rig.run();
    EXPECT_TRUE(journal().is({1'000}));
    rig.tell(register_service(doors, rig.at(0)));
    EXPECT_TRUE(journal().is({}));
    EXPECT_EQ(rig.said.dead_letters, 0u);
    rig.end();
}

// C-TYP-24, UP-6: without memory nothing is registered, and everything else goes on.
TEST(receptionist, UP_6_without_memory_nothing_is_registered) {
    desk_rig rig;
    const auto r = rig.spawn<reader>("r", 0);
    rig.tell(register_service(tills, rig.at(0)));
    rig.memory.refusing = true;
    rig.desk.tell(register_service(doors, rig.at(1)));
    rig.run();
    rig.memory.refusing = false;
    rig.tell(find_services(doors, r));
    EXPECT_TRUE(journal().is({1'100}));
    rig.tell(find_services(tills, r));
    EXPECT_TRUE(journal().is({1'001, 0}));
    rig.end();
}

// C-TYP-24: a key has as many services as a listing has room for; the next one is refused, until
// one has ended.
TEST(receptionist, C_TYP_24_a_key_has_a_limit) {
    desk_rig rig;
    const auto r = rig.spawn<reader>("r", 0);
    constexpr std::int32_t most = listing<order>::refs_max;
    actor_ref<order> last;
    for (std::int32_t i = 0; i < most; ++i) {
        last = rig.spawn<till>("");
        rig.tell(register_service(tills, last));
    }
    rig.tell(register_service(tills, rig.at(0)));
    rig.tell(register_service(doors, rig.at(0)));
    const auto count = [&] {
        rig.tell(find_services(tills, r));
        const std::int32_t found = journal().at(0);
        journal().clear();
        return found;
    };
    EXPECT_EQ(count(), 1'000 + most);
    (void)rig.world.stop(last.index());
    rig.run();
    EXPECT_EQ(count(), 1'000 + most - 1);
    rig.tell(register_service(tills, rig.at(0)));
    EXPECT_EQ(count(), 1'000 + most);
    rig.end();
}

// ---- topics

namespace {

class listener : public actor<order> {
public:
    explicit listener(std::int32_t offset) : offset_(offset) {}
    void on(const order& o) { journal().add(offset_ + o.what); }

private:
    std::int32_t offset_;
};

}  // namespace

// C-TYP-24: what a topic is told, all are told who subscribed, once; not who left or has ended.
TEST(topic, C_TYP_24_everybody_is_told) {
    world_rig rig;
    const auto t = rig.spawn<topic<order>>("t");
    const auto a = rig.spawn<listener>("a", 100);
    const auto b = rig.spawn<listener>("b", 200);
    t.tell(order{1});
    t.tell(subscribe_to<order>(b));
    t.tell(subscribe_to<order>(a));
    t.tell(subscribe_to<order>(b));
    t.tell(subscribe_to<order>({}));
    t.tell(order{2});
    rig.run();
    EXPECT_TRUE(journal().is({202, 102}));
    t.tell(unsubscribe_from<order>(a));
    t.tell(unsubscribe_from<order>(a));
    t.tell(order{3});
    rig.run();
    EXPECT_TRUE(journal().is({203}));
    (void)rig.world.stop(b.index());
    rig.run();
    t.tell(order{4});
    rig.run();
    EXPECT_TRUE(journal().is({}));
    EXPECT_EQ(rig.said.dead_letters, 0u);
    t.tell(subscribe_to<order>(a));
    rig.run();
    rig.end();
}

// ---- spawning by message

namespace {

/// Is told what was spawned, and tells it something.
class customer : public actor<actor_ref<order>> {
public:
    void on(const actor_ref<order>& made) {
        last = made;
        made.tell(order{5});
    }
    static inline actor_ref<order> last;
};

}  // namespace

// C-TYP-22, PK-TYP-19: spawned as its child, by the name that was asked for or, where that is
// taken, with a number; without a name it has none. Who asked is told.
TEST(spawn_protocol, C_TYP_22_names) {
    world_rig rig;
    const auto p = rig.spawn<spawn_protocol>("p");
    const auto c = rig.spawn<customer>("c");
    const auto ask = [&](std::string_view name) {
        customer::last = {};
        p.tell(spawn_order::of<listener>(rig.world, name, c, 300));
        rig.run();
        EXPECT_TRUE(journal().is({305}));
        return customer::last.index();
    };
    const auto names = [&](std::string_view name, std::string_view path) {
        const mailbox_index made = ask(name);
        return made.valid() && made == rig.world.find(path);
    };
    EXPECT_TRUE(names("a", "/user/p/a"));
    EXPECT_TRUE(names("a", "/user/p/a-1"));
    EXPECT_TRUE(names("a", "/user/p/a-2"));
    EXPECT_TRUE(names("a-1", "/user/p/a-1-1"));
    (void)rig.world.stop(rig.world.find("/user/p/a-1"));
    rig.run();
    EXPECT_TRUE(names("a", "/user/p/a-1"));
    const mailbox_index nameless = ask("");
    EXPECT_TRUE(nameless.valid());
    EXPECT_TRUE(rig.world.parent_of(nameless) == p.index());
    rig.end();
}

// PK-TYP-19: what cannot be spawned is answered by a reference that names nothing; an order that
// nobody follows leaves nothing behind.
TEST(spawn_protocol, PK_TYP_19_orders_that_are_not_met) {
    world_rig rig;
    const auto p = rig.spawn<spawn_protocol>("p");
    const auto c = rig.spawn<customer>("c");
    rig.run();
    customer::last = actor_ref<order>(c.any());
    p.tell(spawn_order::of<listener>(rig.world, "not/a/name", c, 1));
    rig.run();
    EXPECT_FALSE(customer::last);
    {
        const spawn_order unused = spawn_order::of<listener>(rig.world, "unused", c, 1);
    }
    p.tell(spawn_order::of<listener>(rig.world, "quiet", {}, 1));
    rig.run();
    EXPECT_TRUE(rig.world.find("/user/p/quiet").valid());
    (void)rig.world.stop(p.index());
    rig.run();
    p.tell(spawn_order::of<listener>(rig.world, "late", c, 1));
    rig.run();
    rig.end();
}
