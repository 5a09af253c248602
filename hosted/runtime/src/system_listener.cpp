// SPDX-License-Identifier: Apache-2.0
//
// The lines, and who is named in them.
#include "system_listener.hpp"

#include <tactus/actor/actor_log.hpp>
#include <tactus/actor/system_events.hpp>
#include <tactus/dispatch/text_buffer.hpp>

namespace tactus::inline v0::runtime {
namespace {

using line = text_buffer<512>;

lost_kind kind_of(dead_letter_cause cause) noexcept {
    switch (cause) {
    case dead_letter_cause::mailbox_full:
    case dead_letter_cause::mailbox_timeout:
    case dead_letter_cause::would_block:
    case dead_letter_cause::pool_exhausted:
    case dead_letter_cause::stash_overflow:
        return lost_kind::dropped;  // there was somebody, but no room
    default:
        return lost_kind::dead_letter;
    }
}

line& with_rest(line& text, std::uint64_t more) noexcept {
    if (more != 0)
        text.add("; ").add(more).add(" more were not logged");
    return text;
}
line& with_rest(line& text, const failure_lines::line& counted, duration interval) noexcept {
    with_rest(text, counted.not_logged);
    if (counted.is_last)
        text.add("; more of this actor are not logged in the next ").add(interval);
    return text;
}

}  // namespace

void system_listener::note(actor_world& world, any_ref to, any_ref from,
                           const lost_message& what) noexcept {
    line recipient;
    line sender;
    letters_.note(what, [&](lost_message& m) {
        world.write_path(to.index(), recipient);
        m.recipient = recipient.view();
        if (!from)
            return;
        world.write_path(from.index(), sender);
        m.sender = sender.view();
    });
}

void system_listener::lost(actor_world& world, any_ref to, any_ref from, const message_type& type,
                           dead_letter_cause cause) noexcept {
    if (tells_of_loss(type))
        return;
    note(world, to, from, {.kind = kind_of(cause), .type = &type, .cause = name_of(cause)});
}

void system_listener::unhandled(actor_world& world, any_ref who, envelope& message,
                                bool each) noexcept {
    const message_type& type = *message.type.read();
    if (tells_of_loss(type))
        return;
    note(world, who, any_ref(message.sender.read()),
         {.kind = lost_kind::unhandled_message, .type = &type});
    if (!each || !to_.passes(log_level::debug))
        return;
    line text;
    actor_log(world, who.index())
        .debug(text.add("unhandled message [").add(type.name).add("]").view());
}

void system_listener::supervised(actor_world& world, const world_events::decision& d) noexcept {
    const log_level level = d.what == directive::resume ? log_level::warning : log_level::error;
    if (!to_.passes(level))
        return;
    const auto counted = failures_.next(d.child.index());
    if (!counted)
        return;
    line text;
    text.add("failed (").add(name_of(d.why->kind())).add("): ").add(d.why->text());
    text.add("; ").add(name_of(d.what));
    actor_log(world, d.child.index())
        .write(level, with_rest(text, *counted, failures_.interval()).view());
}

void system_listener::hook_failed(actor_world& world, any_ref who, const char* hook,
                                  const failure_cause& why) noexcept {
    if (!to_.passes(log_level::error))
        return;
    const auto counted = hooks_.next(who.index());
    if (!counted)
        return;
    line text;
    text.add(hook).add(" failed: ").add(why.text());
    actor_log(world, who.index()).error(with_rest(text, *counted, hooks_.interval()).view());
}

// ---- what the kernel warns of

bool system_listener::warns(warning what, std::uint64_t& more) noexcept {
    const std::uint64_t count = limits_[what].next(time_);
    if (count == 0 || !to_.passes(log_level::warning))
        return false;
    more = count - 1;
    return true;
}

void system_listener::pressure(actor_world& world, const mailbox_pressure& what) noexcept {
    std::uint64_t more = 0;
    if (!warns(filling, more))
        return;
    line text;
    text.add("mailbox is ").add(what.percent).add(" % full: ").add(what.len).add(" of ");
    text.add(what.capacity);
    actor_log(world, what.ref).warning(with_rest(text, more).view());
}

void system_listener::pool_exhausted(std::uint32_t refused) noexcept {
    std::uint64_t more = 0;
    if (!warns(exhausted, more))
        return;
    line text;
    to_.write(
        log_level::warning,
        text.add("no envelopes for ").add(refused).add(" messages since the last time").view());
}

void system_listener::deadline_missed(actor_world& world, any_ref who, duration late) noexcept {
    std::uint64_t more = 0;
    if (!warns(late_run, more))
        return;
    line text;
    text.add("came to run ").add(late).add(" after a deadline");
    actor_log(world, who.index()).warning(with_rest(text, more).view());
}

void system_listener::starved(std::string_view dispatcher, std::uint32_t waiting,
                              std::uint32_t busy) noexcept {
    std::uint64_t more = 0;
    if (!warns(starving, more))
        return;
    line text;
    text.add("dispatcher '").add(dispatcher).add("' is starved: ").add(waiting);
    text.add(" mailboxes wait longer than its starvation_deadline, ").add(busy);
    text.add(" workers are busy (dispatcher_starved)");
    to_.write(log_level::warning, with_rest(text, more).view());
}

void system_listener::handler_slow(actor_world& world, any_ref who, std::string_view dispatcher,
                                   std::uint32_t worker, duration running) noexcept {
    std::uint64_t more = 0;
    if (!warns(slow, more))
        return;
    line text;
    text.add("has been in a handler for ").add(running.ns() / 1'000'000).add(" ms on worker ");
    text.add(worker);
    text.add(" of dispatcher '").add(dispatcher).add("' (handler_slow)");
    actor_log(world, who.index()).warning(with_rest(text, more).view());
}

void system_listener::user_code_failed(user_code where, const failure& why) noexcept {
    std::uint64_t more = 0;
    if (!warns(threw, more))
        return;
    line text;
    text.add("user code (").add(name_of(where)).add(") threw: ").add(why.what);
    to_.write(log_level::warning, with_rest(text, more).view());
}

void system_listener::timer_warned(const scheduler_warning& what) noexcept {
    // How late a machine is, is seen in the metrics: no line for every second of a busy one.
    const log_level level =
        what.kind == scheduler_warning_kind::drift_exceeded ? log_level::debug : log_level::warning;
    // A driver does not stop so often that nobody would want to know of each time.
    const std::uint64_t count = what.kind == scheduler_warning_kind::driver_stopped
                                    ? 1
                                    : timers_[static_cast<std::size_t>(what.kind)].next(time_);
    if (count == 0 || !to_.passes(level))
        return;
    char sentence[256];
    line text;
    text.add("scheduler: ").add(describe(what, sentence));
    to_.write(level, with_rest(text, count - 1).view());
}

void system_listener::guardian_failed(const failure_cause& why) noexcept {
    line text;
    to_.write(log_level::error,
              text.add("a guardian failed, the system ends: ").add(why.text()).view());
}

}  // namespace tactus::inline v0::runtime
