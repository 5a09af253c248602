// SPDX-License-Identifier: Apache-2.0
//
// Effects: what an actor asked of its world, as values a test compares (PK-TST-5). A behavior_kit
// records them in order.
//
// Two effects are equal when what the test can know beforehand is: names, types, times, keys. What
// only comes with the effect (references of children, handles) does not count.
//
// Some can be carried on: a timer's message is sent by the test, since no time passes by itself; a
// question is answered, or times out. Both ask the bench that recorded them; see bench.hpp.
#pragma once

#include <memory>
#include <source_location>
#include <string>
#include <string_view>
#include <variant>

#include <tactus/actor/actor_ref.hpp>
#include <tactus/actor/effect_recorder.hpp>
#include <tactus/test_kit/describe.hpp>
#include <tactus/test_kit/failure_handler.hpp>

namespace tactus::inline v0::test {

class bench;

/// Nothing was asked.
struct no_effects {
    friend bool operator==(const no_effects&, const no_effects&) = default;
};
/// A child with a name. `type`: of the actor's class, empty where the test does not care.
struct spawned {
    std::string name;
    std::string_view type = {};
    any_ref child = {};
    friend bool operator==(const spawned& a, const spawned& b) {
        return a.name == b.name && (a.type == b.type || a.type.empty() || b.type.empty());
    }
};
struct spawned_anonymous {
    std::string_view type = {};
    any_ref child = {};
    friend bool operator==(const spawned_anonymous& a, const spawned_anonymous& b) {
        return a.type == b.type || a.type.empty() || b.type.empty();
    }
};
/// A child was told to end; its name is empty when it has none.
struct stopped_child {
    std::string name;
    any_ref child = {};
    friend bool operator==(const stopped_child& a, const stopped_child& b) {
        return a.name == b.name;
    }
};
struct watched {
    any_ref who;
    friend bool operator==(const watched&, const watched&) = default;
};
/// `type`: of the message it is told at the end.
struct watched_with {
    any_ref who;
    std::string_view type;
    friend bool operator==(const watched_with&, const watched_with&) = default;
};
struct unwatched {
    any_ref who;
    friend bool operator==(const unwatched&, const unwatched&) = default;
};
/// A function that makes messages of `from` into the actor's own.
struct message_adapter {
    std::string_view from;
    friend bool operator==(const message_adapter&, const message_adapter&) = default;
};
struct receive_timeout_set {
    duration after;
    friend bool operator==(const receive_timeout_set&, const receive_timeout_set&) = default;
};
struct receive_timeout_cancelled {
    friend bool operator==(const receive_timeout_cancelled&,
                           const receive_timeout_cancelled&) = default;
};
struct timer_cancelled {
    timer_key key = 0;
    friend bool operator==(const timer_cancelled&, const timer_cancelled&) = default;
};

/// A message that is sent later; see context().schedule_once. `type`: of it.
struct scheduled {
    duration delay;
    any_ref to;
    std::string_view type = {};
    friend bool operator==(const scheduled& a, const scheduled& b) {
        return a.delay == b.delay && a.to == b.to &&
               (a.type == b.type || a.type.empty() || b.type.empty());
    }
};

class timer_scheduled {
public:
    timer_key key = 0;
    timer_mode mode = timer_mode::single;
    duration first;
    duration interval;  // of a single timer: the same
    bool overriding = false;

    /// Puts the timer's message into the actor's inbox, as when it is due. False: the timer is
    /// over, was replaced or cancelled, or its last message was not handled yet.
    // NOLINTNEXTLINE(modernize-use-nodiscard): it acts
    bool send() const;

    friend bool operator==(const timer_scheduled& a, const timer_scheduled& b) {
        return a.key == b.key && a.mode == b.mode && a.first == b.first &&
               a.interval == b.interval && a.overriding == b.overriding;
    }

private:
    friend class bench;
    std::weak_ptr<bench> of_;
    std::uint64_t number_ = 0;
};

class ask_initiated {
public:
    any_ref target;
    duration timeout;
    std::string_view asked;  // types of question and reply
    std::string_view reply;

    /// The reply, and what the actor makes of it. Once: a question that is answered, timed out or
    /// given up is a failed expectation.
    template <class R>
    void respond_with(R value, std::source_location where = std::source_location::current()) const {
        any_ref to = begin_answer(message_type_of<R>, where);
        to.tell(std::move(value), target);
        end_answer();
    }
    /// The time is up.
    void time_out(std::source_location where = std::source_location::current()) const;

    friend bool operator==(const ask_initiated& a, const ask_initiated& b) {
        return a.target == b.target && a.timeout == b.timeout && a.asked == b.asked &&
               a.reply == b.reply;
    }

private:
    friend class bench;
    struct state {
        effect_recorder::question what;
        bool done = false;
    };
    [[nodiscard]] std::shared_ptr<bench> open(const std::source_location& where) const;
    [[nodiscard]] any_ref begin_answer(const message_type& type,
                                       const std::source_location& where) const;
    void end_answer() const;

    std::weak_ptr<bench> of_;
    std::shared_ptr<state> state_;
};

using effect =
    std::variant<no_effects, spawned, spawned_anonymous, stopped_child, watched, watched_with,
                 unwatched, message_adapter, receive_timeout_set, receive_timeout_cancelled,
                 timer_scheduled, timer_cancelled, scheduled, ask_initiated>;

[[nodiscard]] std::string describe(const no_effects& e);
[[nodiscard]] std::string describe(const spawned& e);
[[nodiscard]] std::string describe(const spawned_anonymous& e);
[[nodiscard]] std::string describe(const stopped_child& e);
[[nodiscard]] std::string describe(const watched& e);
[[nodiscard]] std::string describe(const watched_with& e);
[[nodiscard]] std::string describe(const unwatched& e);
[[nodiscard]] std::string describe(const message_adapter& e);
[[nodiscard]] std::string describe(const receive_timeout_set& e);
[[nodiscard]] std::string describe(const receive_timeout_cancelled& e);
[[nodiscard]] std::string describe(const timer_scheduled& e);
[[nodiscard]] std::string describe(const timer_cancelled& e);
[[nodiscard]] std::string describe(const scheduled& e);
[[nodiscard]] std::string describe(const ask_initiated& e);
[[nodiscard]] std::string describe(const effect& e);

}  // namespace tactus::inline v0::test
