// SPDX-License-Identifier: Apache-2.0
//
// The function that receives in an actor's place, and orders to it.
#include <tactus/test_kit/gate.hpp>

#include <tactus/test_kit/bench.hpp>

#include <memory>
#include <utility>

namespace tactus::inline v0::test {

gate::gate(bench& in, const actor_type& of, std::string name, bool begun)
    : in_(in), inner_(of), name_(std::move(name)), type_{of, this}, begun_(begun) {
    type_.receive = &receive;
    type_.start = &start;
}

gate& gate::of(const turn& t) noexcept {
    return *static_cast<const gated_type&>(*t.place().acts()).at;
}

handled gate::start(turn& t, void* place) noexcept {
    return of(t).begun_ ? actor_world::start(t, place) : handled::ok();
}

handled gate::receive(turn& t, void* place, envelope& e) noexcept {
    gate& g = of(t);
    if (auto* o = e.get_if<order>(); o != nullptr)
        return o->what(t, place);
    if (g.open_)
        return g.inner_.receive(t, place, e);
    if (g.in_.is_closing())
        return handled::ok();
    g.keep(t, e);
    return handled::kept();
}

void gate::keep(turn& t, envelope& e) {
    t.keep();
    if (unstashed == 0) {
        inbox.push_back(&e);
        return;
    }
    inbox.insert(inbox.begin() + front_, &e);
    --unstashed;
    front_ = unstashed == 0 ? 0 : front_ + 1;
}

void gate::perform(std::function<handled(turn& t, void* place)> what,
                   const std::source_location& where) {
    expect_alive(where);
    (void)in_.world().take_failure(who_);
    who_.tell(order{std::move(what)});
    in_.run();
    in_.world().rethrow_failure(who_);
}

void gate::begin(std::source_location where) {
    if (std::exchange(begun_, true))
        return;
    perform([](turn& t, void* place) { return actor_world::start(t, place); }, where);
}

void gate::run(envelope& e, const std::source_location& where) {
    // An actor that ends before it comes to the order does not handle the message: then it ends
    // with the order.
    struct owner {
        bench& in;
        envelope* e;
        ~owner() {
            if (e != nullptr)
                in.dispose(*e);
        }
    };
    auto own = std::make_shared<owner>(in_, &e);
    perform(
        [this, own](turn& t, void* place) -> handled {
            envelope& m = *std::exchange(own->e, nullptr);
            open_ = true;
            t.set_sender(m.sender.read());
            const handled result = inner_.receive(t, place, m);
            open_ = false;
            if (!t.take_keeps(m))
                in_.dispose(m);
            return result.what() == handled::kind::kept ? handled::ok() : result;
        },
        where);
}

bool gate::run_one(const std::source_location& where) {
    in_.run();
    if (inbox.empty())
        return false;
    envelope& e = *inbox.front();
    inbox.pop_front();
    run(e, where);
    return true;
}

void gate::signal(const terminated& m, const std::source_location& where) {
    perform(
        [this, m](turn& t, void* place) {
            cell& c = cell::at(place);
            actor_world& world = in_.world().world();
            if (inner_.on_terminated == nullptr)
                return world.death_pact(c);
            return inner_.on_terminated(c, actor_world::instance_of(t.place()), m);
        },
        where);
}

void gate::signal(const receive_timeout& m, const std::source_location& where) {
    if (inner_.on_receive_timeout == nullptr)
        fail("the actor has no handler for receive_timeout", where);
    perform(
        [this, m](turn& t, void* place) {
            cell& c = cell::at(place);
            void* instance = actor_world::instance_of(t.place());
            return inner_.on_receive_timeout(c, instance, m);
        },
        where);
}

bool gate::is_alive() const {
    in_.run();
    return in_.world().lives(who_);
}

void gate::expect_alive(const std::source_location& where) const {
    if (!is_alive())
        fail("the actor" + (name_.empty() ? std::string() : " '" + name_ + "'") + " has ended",
             where);
}

void* gate::instance() const {
    slot* place = in_.world().world().kernel().slots().find(who_.index());
    if (place == nullptr || !cell::of(*place).has_instance())
        return nullptr;
    return actor_world::instance_of(*place);
}

}  // namespace tactus::inline v0::test
