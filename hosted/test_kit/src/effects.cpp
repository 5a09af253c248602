// SPDX-License-Identifier: Apache-2.0
//
// Effects as people read them, and those that a test carries on.
#include <tactus/test_kit/effects.hpp>

#include <tactus/test_kit/bench.hpp>

namespace tactus::inline v0::test {

// ---- timers

bool timer_scheduled::send() const {
    const std::shared_ptr<bench> in = of_.lock();
    return in != nullptr && in->send_timer(number_);
}

// ---- questions

std::shared_ptr<bench> ask_initiated::open(const std::source_location& where) const {
    std::shared_ptr<bench> in = of_.lock();
    if (in == nullptr)
        fail("the question was not recorded, or its kit has ended", where);
    if (state_->done)
        fail("the question was answered already, or its time was up", where);
    if (!in->world().lives(state_->what.reply_to))
        fail("nobody waits for the answer any more", where);
    return in;
}

any_ref ask_initiated::begin_answer(const message_type& type,
                                    const std::source_location& where) const {
    (void)open(where);
    if (!same_message(type, *state_->what.reply))
        fail("the actor asked for a reply of type " + std::string(reply) + ", not " +
                 std::string(type.name),
             where);
    state_->done = true;
    return state_->what.reply_to;
}

void ask_initiated::end_answer() const {
    of_.lock()->run();
}

void ask_initiated::time_out(std::source_location where) const {
    const std::shared_ptr<bench> in = open(where);
    state_->done = true;
    in->time_out(state_->what);
}

// ---- texts

namespace {

std::string of_type(std::string_view type) {
    return type.empty() ? std::string() : " of type " + std::string(type);
}

}  // namespace

std::string describe(const no_effects&) {
    return "no effects";
}
std::string describe(const spawned& e) {
    return "spawned '" + e.name + "'" + of_type(e.type);
}
std::string describe(const spawned_anonymous& e) {
    return "spawned a child without a name" + of_type(e.type);
}
std::string describe(const stopped_child& e) {
    return e.name.empty() ? "stopped a child without a name" : "stopped '" + e.name + "'";
}
std::string describe(const watched& e) {
    return "watched " + describe(e.who);
}
std::string describe(const watched_with& e) {
    return "watched " + describe(e.who) + " with a message" + of_type(e.type);
}
std::string describe(const message_adapter& e) {
    return "made an adapter for messages" + of_type(e.from);
}
std::string describe(const unwatched& e) {
    return "unwatched " + describe(e.who);
}
std::string describe(const receive_timeout_set& e) {
    return "set a receive timeout of " + describe(e.after);
}
std::string describe(const receive_timeout_cancelled&) {
    return "cancelled the receive timeout";
}
std::string describe(const timer_scheduled& e) {
    const std::string every =
        e.mode == timer_mode::single ? std::string() : ", then every " + describe(e.interval);
    return "started a timer (" + describe(e.mode) + ") in " + describe(e.first) + every +
           (e.overriding ? ", in place of another" : "");
}
std::string describe(const timer_cancelled&) {
    return "cancelled a timer";
}
std::string describe(const scheduled& e) {
    return "scheduled a message" + of_type(e.type) + " to " + describe(e.to) + " in " +
           describe(e.delay);
}
std::string describe(const ask_initiated& e) {
    return "asked " + describe(e.target) + " with " + std::string(e.asked) + " for " +
           std::string(e.reply) + " within " + describe(e.timeout);
}
std::string describe(const effect& e) {
    return std::visit([](const auto& one) { return describe(one); }, e);
}

}  // namespace tactus::inline v0::test
