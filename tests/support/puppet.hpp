// SPDX-License-Identifier: Apache-2.0
//
// Puppet: an actor whose hooks and messages are functions of the test, for cases that are told in
// steps. What happens is written down as words: "start0" is the pre_start of its first instance.
#pragma once

#include <expected>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <tactus/actor/actor.hpp>

namespace tactus_test {

using words = std::vector<std::string>;

class puppet;
using puppet_call = std::function<void(puppet&)>;

/// Told to a puppet: does it, in its turn.
struct run_it {
    puppet_call what;
};
/// Answered by the word "pong<life>".
struct ping {};

/// What one puppet does and has done, over all its lives; outlives it.
struct strings {
    tactus::supervisor_strategy strategy = {};
    std::function<tactus::directive(tactus::any_ref, const tactus::failure_cause&)> decide = {};
    puppet_call constructor = {};
    puppet_call pre_start = {};
    puppet_call pre_restart = {};
    puppet_call post_stop = {};
    std::function<void(puppet&, tactus::any_ref)> ended = {};
    int lives = 0;  // instances that were begun
    words said = {};

    /// What was said since the last time.
    words take() { return std::exchange(said, {}); }
};

/// With the hooks that actors have by default: pre_start and post_stop.
class puppet : public tactus::actor<run_it, ping> {
public:
    explicit puppet(strings* by) : by_(by), life_(by->lives++) {
        if (by->constructor)
            by->constructor(*this);
    }
    void on(const run_it& m) { m.what(*this); }
    void on(const ping&) { say("pong"); }
    void on(const tactus::terminated& t) {
        say("terminated");
        if (by_->ended)
            by_->ended(*this, t.who);
    }
    void pre_start() {
        say("start");
        if (by_->pre_start)
            by_->pre_start(*this);
    }
    void post_stop() {
        say("stop");
        if (by_->post_stop)
            by_->post_stop(*this);
    }
    tactus::supervisor_strategy supervision() { return by_->strategy; }
    tactus::directive decide(tactus::any_ref child, const tactus::failure_cause& why) {
        return by_->decide ? by_->decide(child, why) : by_->strategy.decider(why);
    }

    /// Protected in actors: the test is on their side.
    [[nodiscard]] auto ctx() const { return context(); }
    [[nodiscard]] int life() const { return life_; }
    void say(const std::string& what) { by_->said.push_back(what + std::to_string(life_)); }
    [[nodiscard]] strings& by() { return *by_; }

private:
    strings* by_;
    int life_;
};
using puppet_ref = tactus::actor_ref<run_it, ping>;

/// With hooks of a restart of its own, which leave children alone.
class hooked_puppet : public puppet {
public:
    using puppet::puppet;
    void pre_restart(const tactus::failure_cause&) {
        say("before");
        if (by().pre_restart)
            by().pre_restart(*this);
    }
    void post_restart(const tactus::failure_cause&) { say("after"); }
};

/// A message that fails whoever gets it.
inline run_it crash() {
    return {[](puppet&) { throw std::runtime_error("crash"); }};
}
/// A child of a puppet, in its turn.
template <class A = puppet>
puppet_ref child_of(puppet& p, std::string_view name, strings& by) {
    const auto made = p.ctx().try_spawn<A>(name, {}, &by);
    return made ? puppet_ref(*made) : puppet_ref{};
}

}  // namespace tactus_test
