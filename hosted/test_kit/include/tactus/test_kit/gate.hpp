// SPDX-License-Identifier: Apache-2.0
//
// Gate: an actor that handles a message only when the test says so; what comes waits at the gate.
//
// The actor is a real one, of its own class, in a virtual world: only the function that receives is
// replaced, by one that keeps the envelope. Running a message is an order to that function, handled
// in the actor's turn: it calls the class's own. System messages (its end, a coroutine that goes
// on) are not held up. A child that an actor spawns is not even begun until it is opened.
//
// Thread safety: none; the bench's thread.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <source_location>
#include <string>

#include <tactus/actor/actor_world.hpp>
#include <tactus/test_kit/effects.hpp>

namespace tactus::inline v0::test {

class gate {
public:
    /// `begun`: its instance is made at once.
    gate(bench& in, const actor_type& of, std::string name, bool begun);
    gate(const gate&) = delete;
    gate& operator=(const gate&) = delete;

    /// What the actor is spawned as.
    [[nodiscard]] const actor_type& type() const noexcept { return type_; }
    [[nodiscard]] const actor_type& inner() const noexcept { return inner_; }
    [[nodiscard]] any_ref who() const noexcept { return who_; }
    [[nodiscard]] const std::string& name() const noexcept { return name_; }
    [[nodiscard]] bench& in() const noexcept { return in_; }
    void set_who(any_ref w) noexcept { who_ = w; }

    /// Makes the instance, if there is none yet, and lets it begin.
    void begin(std::source_location where = std::source_location::current());
    /// Handles this one; the gate disposes of it. What the actor fails with is thrown.
    void run(envelope& e, const std::source_location& where);
    /// Handles the first that waits. False: none does.
    bool run_one(const std::source_location& where);
    void signal(const terminated& m, const std::source_location& where);
    void signal(const receive_timeout& m, const std::source_location& where);
    [[nodiscard]] bool is_alive() const;
    void expect_alive(const std::source_location& where) const;
    /// Null: it has ended.
    [[nodiscard]] void* instance() const;

    /// What waits, the oldest first. Who takes one disposes of it.
    std::deque<envelope*> inbox;
    std::deque<effect> effects;
    /// So many that come next go before what waits: they were put aside by the actor.
    std::uint32_t unstashed = 0;

private:
    struct gated_type : actor_type {
        gate* at = nullptr;
    };
    struct order {
        std::function<handled(turn& t, void* place)> what;
    };

    [[nodiscard]] static gate& of(const turn& t) noexcept;
    [[nodiscard]] static handled receive(turn& t, void* place, envelope& e) noexcept;
    [[nodiscard]] static handled start(turn& t, void* place) noexcept;
    void perform(std::function<handled(turn& t, void* place)> what,
                 const std::source_location& where);
    void keep(turn& t, envelope& e);

    bench& in_;
    const actor_type& inner_;
    std::string name_;
    any_ref who_;
    gated_type type_;
    bool begun_;
    bool open_ = false;        // the actor handles something: what it receives within is that
    std::uint32_t front_ = 0;  // of the unstashed, how many are at the front already
};

}  // namespace tactus::inline v0::test
