// SPDX-License-Identifier: Apache-2.0
//
// What can be said of actors from outside, while they go on: their paths, and why they are still
// there (EV-5). Nothing is locked that a message takes; what is read was right at some moment.
#include "span_sink.hpp"

#include <tactus/actor/actor_name.hpp>
#include <tactus/actor/actor_world.hpp>
#include <tactus/dispatch/text_buffer.hpp>

namespace tactus::inline v0 {
namespace {

/// The first that is true says it.
struct reason {
    bool (*holds)(std::uint32_t flags) noexcept;
    std::string_view text;
};
bool awaits(std::uint32_t flags, wait_kind what) noexcept {
    return (flags & cell::awaits) != 0 &&
           cell::waits_for(flags) == static_cast<std::uint32_t>(what);
}
constexpr reason reasons[] = {
    {[](std::uint32_t f) noexcept { return cell::state_in(f) == lifecycle::state::ended; },
     "its parent to look"},
    {[](std::uint32_t f) noexcept { return lifecycle::is_ending(cell::state_in(f)); },
     "its children to end"},
    {[](std::uint32_t f) noexcept {
         return lifecycle::is_restarting(cell::state_in(f)) && (f & cell::backs_off) != 0;
     },
     "the time of its restart"},
    {[](std::uint32_t f) noexcept { return lifecycle::is_restarting(cell::state_in(f)); },
     "its children to end, to restart"},
    {[](std::uint32_t f) noexcept { return lifecycle::is_failed(cell::state_in(f)); },
     "its parent to decide about its failure"},
    {[](std::uint32_t f) noexcept { return (f & cell::holds) != 0; }, "an ancestor that failed"},
    {[](std::uint32_t f) noexcept { return cell::state_in(f) == lifecycle::state::starting; },
     "its first turn"},
    {[](std::uint32_t f) noexcept { return awaits(f, wait_kind::time); },
     "a coroutine that waits for a time"},
    {[](std::uint32_t f) noexcept { return awaits(f, wait_kind::reply); },
     "a coroutine that asked and waits for the reply"},
    {[](std::uint32_t f) noexcept { return awaits(f, wait_kind::room); },
     "a coroutine that waits for room in a mailbox"},
    {[](std::uint32_t f) noexcept { return awaits(f, wait_kind::message); },
     "a coroutine that waits for a message"},
    {[](std::uint32_t f) noexcept { return awaits(f, wait_kind::signal); },
     "a coroutine that waits for a signal"},
    {[](std::uint32_t f) noexcept { return (f & cell::awaits) != 0; }, "a coroutine"},
};

/// Of one without a name.
void write_reference(mailbox_index who, text_sink& to) noexcept {
    text_buffer<32> reference;
    to.write(reference.add("$").add(who.slot_number()).add(".").add(who.generation).view());
}

}  // namespace

void actor_world::dump(text_sink& to, dump_options o) noexcept {
    o.notes = this;
    dump_dispatchers(*kernel_, to, o);
}

std::string_view actor_world::path_of(mailbox_index who, std::span<char> room) noexcept {
    span_sink to(room);
    write_path(who, to);
    return to.text();
}

std::string_view actor_world::waits_for(slot& s) noexcept {
    const std::uint32_t flags = cell::of(s).flags();
    for (const reason& r : reasons) {
        if (r.holds(flags))
            return r.text;
    }
    return {};
}

void actor_world::write_path(mailbox_index who, text_sink& to) noexcept {
    if (is_foreign(who)) {
        if (!write_path_elsewhere(who, to))
            write_reference(who, to);
        return;
    }
    // A tree may be deeper than any stack: some names at a time, counted from below.
    constexpr std::uint32_t window = port::cache_line < 8 ? 8 : 32;
    const auto has_name = [this](mailbox_index at) { return at.valid() && at != root_; };
    const auto above = [this](mailbox_index at) {
        const mailbox_index named = names_.last_parent_of(at);
        return named.valid() ? named : parent_of(at);
    };
    // Of a deeper one the lowest names are written; counting all would cost its depth each time.
    constexpr std::uint32_t names_max = window * window;
    std::uint32_t left = 0;
    for (mailbox_index at = who; has_name(at) && left <= names_max; at = above(at))
        ++left;
    to.write(path_scheme);
    to.write(name_);
    if (left > names_max) {
        to.write("/...");
        left = window;
    }
    mailbox_index names[window];
    while (left != 0) {
        const std::uint32_t some = left % window != 0 ? left % window : window;
        left -= some;
        mailbox_index at = who;
        for (std::uint32_t i = 0; i < left; ++i)
            at = above(at);
        std::uint32_t count = 0;
        for (; count < some && has_name(at); at = above(at))
            names[count++] = at;
        while (count != 0)
            write_name(names[--count], to);
    }
}

// Apart, so that a name's room is on the stack only while it is written.
[[gnu::noinline]] void actor_world::write_name(mailbox_index who, text_sink& to) noexcept {
    char name[name_size_max];
    mailbox_index parent;
    const std::size_t size = names_.name_of(who, name, parent);
    if (size != 0) {
        to.write("/");
        to.write({name, size});
        return;
    }
    if (who == dead_letters()) {
        to.write("/dead_letters");
        return;
    }
    to.write("/");
    write_reference(who, to);
}

}  // namespace tactus::inline v0
