// SPDX-License-Identifier: Apache-2.0
//
// The table, what moves it, and the lines.
#include <tactus/actor/dead_letter_log.hpp>

#include <tactus/base/check.hpp>
#include <tactus/dispatch/text_buffer.hpp>

namespace tactus::inline v0 {
namespace {

TACTUS_CHECK_MODULE("dead_letter_log");

constexpr const char* what_happened(lost_kind kind) noexcept {
    constexpr const char* texts[lost_kind_count] = {"was not delivered", "was dropped",
                                                    "was not handled"};
    return texts[static_cast<std::size_t>(kind)];
}

}  // namespace

const char* name_of(lost_kind kind) noexcept {
    static constexpr const char* names[lost_kind_count] = {"dead_letter", "dropped", "unhandled"};
    return names[static_cast<std::size_t>(kind)];
}

constinit const dead_letter_log::row dead_letter_log::rows[] = {
    // from             on                   to               written
    {state::all, event::below, state::all, line::plain},
    {state::counting, event::below, state::counting, line::plain},
    {state::counting, event::last, state::quiet, line::no_more_for},
    {state::counting, event::last_of_all, state::silent, line::no_more},
    {state::quiet, event::early, state::quiet, line::none},
    {state::quiet, event::late, state::counting, line::of_which},
    {state::silent, event::early, state::silent, line::none},
};

dead_letter_log::dead_letter_log(const options& o) noexcept
    : options_(o),
      state_(o.max == 0           ? state::silent
             : o.max == unlimited ? state::all
                                  : state::counting) {
    TACTUS_CHECK(1, o.to != nullptr);
}

dead_letter_log::event dead_letter_log::judge() const noexcept {
    switch (state_) {
    case state::all:
        return event::below;
    case state::counting:
        if (count_ < options_.max)
            return event::below;
        return options_.suspend == duration::max() || options_.time == nullptr ? event::last_of_all
                                                                               : event::last;
    case state::quiet:
        return now() < quiet_until_ ? event::early : event::late;
    case state::silent:
        break;
    }
    return event::early;
}

dead_letter_log::verdict dead_letter_log::count_one() noexcept {
    const port::lock_guard held(mutex_);
    if (shutting_down_ && options_.quiet_during_shutdown)
        return {};
    ++count_;
    const event on = judge();
    const row* found = nullptr;
    for (const row& r : rows) {
        if (r.from == state_ && r.on == on)
            found = &r;
    }
    TACTUS_CHECK(3, found != nullptr);
    state_ = found->to;
    verdict v{.written = found->written, .count = count_};
    if (v.written == line::no_more_for)
        quiet_until_ = now() + options_.suspend;
    if (v.written == line::of_which) {
        v.not_logged = count_ - options_.max - 1;
        count_ = 0;
    }
    return v;
}

dead_letter_log::verdict dead_letter_log::count(const lost_message& m) noexcept {
    TACTUS_CHECK(2, m.type != nullptr);
    return m.type->is_suppressed ? verdict{} : count_one();
}

void dead_letter_log::write(const verdict& v, const lost_message& m) noexcept {
    text_buffer<line_size_max> text;
    text.add("[").add(v.count).add(v.count == 1 ? "] dead letter" : "] dead letters");
    if (v.written == line::no_more_for)
        text.add(", no more are logged in the next ").add(options_.suspend);
    if (v.written == line::no_more)
        text.add(", no more are logged");
    if (v.written == line::of_which)
        text.add(", of which ").add(v.not_logged).add(" were not logged; the count starts again");
    text.add(": message [").add(m.type->name).add("]");
    if (m.wrapped_in != nullptr)
        text.add(" wrapped in [").add(m.wrapped_in->name).add("]");
    if (!m.sender.empty())
        text.add(" from [").add(m.sender).add("]");
    text.add(" to [").add(m.recipient).add("] ").add(what_happened(m.kind));
    if (!m.cause.empty())
        text.add(" (").add(m.cause).add(")");
    options_.to->write(log_level::info, text.view(), {.actor = m.recipient});
}

void dead_letter_log::begin_shutdown() noexcept {
    const port::lock_guard held(mutex_);
    shutting_down_ = true;
}

}  // namespace tactus::inline v0
