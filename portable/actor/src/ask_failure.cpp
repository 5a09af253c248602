// SPDX-License-Identifier: Apache-2.0
//
// What is said of a question: one line for each fault, with gaps.
#include <tactus/actor/ask_failure.hpp>

#include <tactus/actor/actor_world.hpp>
#include <tactus/dispatch/text_buffer.hpp>

namespace tactus::inline v0 {
namespace {

// The gaps: $ is the target, # the time, % the type of the message.
constexpr std::string_view lines[ask_fault_count] = {
    "ask timed out on [$] after [#]: a message of type [%] was not answered",
    "recipient [$] had already been terminated: a message of type [%] was not sent",
    "the timeout of an ask must be positive, found [#]: a message of type [%] to [$] was not sent",
    "a blocking ask of [$] within an actor would block its worker: a message of type [%] was not "
    "sent; use co_await context().ask(...)",
    "the mailbox of [$] did not take a message of type [%]",
    "no actor could be made for the reply of [$]",
    "moving the reply of [$] to a message of type [%] threw an exception",
    "making a message of type [%] to [$] threw an exception: it was not sent",
    "a forked child has no actor system: a message of type [%] was not sent",
    "the system of [$] drains, and takes nothing from outside: a message of type [%] was not sent",
};
constexpr std::string_view gaps = "$#%";

}  // namespace

const char* name_of(ask_fault what) noexcept {
    static constexpr const char* names[ask_fault_count] = {
        "timeout", "target_terminated", "invalid_timeout", "would_block_worker", "refused",
        "no_room", "reply_failed",      "question_failed", "forked_child",       "draining"};
    return names[static_cast<std::size_t>(what)];
}

void write_text(const ask_story& of, text_sink& to) noexcept {
    text_buffer<32> time;
    time.add(of.after.ns() / 1'000'000).add(" ms");
    std::string_view rest = lines[static_cast<std::size_t>(of.what)];
    for (;;) {
        const std::size_t gap = rest.find_first_of(gaps);
        to.write(rest.substr(0, gap));
        if (gap == std::string_view::npos)
            return;
        to.write(rest[gap] == '$'   ? of.target_path
                 : rest[gap] == '#' ? time.view()
                                    : of.message_type);
        rest.remove_prefix(gap + 1);
    }
}

void ask_failure::write(text_sink& to) const noexcept {
    text_buffer<192> path;
    const turn* t = turn::current();
    const mailbox_index who = target.index();
    if (t != nullptr && t->self().system_number() == who.system_number())
        actor_world::of(t->system()).write_path(who, path);
    else
        path.add("$").add(who.slot_number()).add(".").add(who.generation);
    write_text({what, path.view(), after, asked != nullptr ? asked->name : std::string_view()}, to);
}

}  // namespace tactus::inline v0
