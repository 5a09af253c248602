// SPDX-License-Identifier: Apache-2.0
//
// Sentences for people about everything the scheduler says: one row per value, in the order of the
// enumeration. A letter after '%' stands for what the value holds; which letters there are is the
// list of cases in each describe().
#include <tactus/scheduler/scheduler_error.hpp>
#include <tactus/scheduler/scheduler_event.hpp>

#include <tactus/dispatch/text_buffer.hpp>

namespace tactus::inline v0 {
namespace {

template <class Enum>
struct sentence {
    Enum about;
    const char* text;
};

template <class Enum, std::size_t Count>
consteval bool in_order(const sentence<Enum> (&sentences)[Count]) {
    for (std::size_t i = 0; i < Count; ++i) {
        if (static_cast<std::size_t>(sentences[i].about) != i)
            return false;
    }
    return true;
}

constexpr sentence<scheduler_errc> error_sentences[] = {
    {scheduler_errc::invalid_delay,
     "%f of %d is not between 1 ns and %D: wait for a positive time, or several times in a row"},
    {scheduler_errc::invalid_options, "%f of %v is not allowed, it is %b %l"},
    {scheduler_errc::unsupported_mode,
     "mode %m is not supported here: capabilities() says which are"},
    {scheduler_errc::quota_exceeded,
     "%v timers are active, the quota is %l: cancel some or choose a larger profile"},
    {scheduler_errc::capacity_exceeded,
     "no room for another %k, %v of %l are in use: cancel some or choose a larger profile"},
    {scheduler_errc::backpressured,
     "refused under backpressure by %c, %v timers are active, the adaptive quota is %l: try again "
     "when it is over"},
    {scheduler_errc::closed, "the scheduler is closed: nothing can be scheduled any more"},
    {scheduler_errc::task_run_capacity_exceeded,
     "%v tasks wait for the close, their capacity is %l: register fewer or choose a larger "
     "profile"},
    {scheduler_errc::construction_failed,
     "the constructor of the message or function threw: nothing was scheduled"},
    {scheduler_errc::within_interrupt,
     "an interrupt handler only counts ticks: let the loop schedule what it asks for"},
};
static_assert(std::size(error_sentences) == scheduler_errc_count && in_order(error_sentences));

constexpr sentence<scheduler_warning_kind> warning_sentences[] = {
    {scheduler_warning_kind::burst_fire,
     "timer %n missed %v runs at once, more than its burst_threshold of %l: ticks came late"},
    {scheduler_warning_kind::backlog_exceeded,
     "timer %n missed %v runs, more than its backlog_limit of %l: cancelled"},
    {scheduler_warning_kind::handler_failed,
     "a run of timer %j (%m, runs %r) failed with %t: a function that fails does not run again"},
    {scheduler_warning_kind::driver_catch_up_exceeded,
     "timers are %v ticks late, the window is %l: new ones are refused until it has caught up"},
    {scheduler_warning_kind::drift_exceeded,
     "a tick was processed %d late, the budget is %D: the machine is busy or the resolution too "
     "fine"},
    {scheduler_warning_kind::quota_reached,
     "all %v timers of the quota are active, the adaptive quota is %l: cancel some or choose a "
     "larger profile"},
    {scheduler_warning_kind::backpressure_state, "backpressure %e by %c: the state is %s"},
    {scheduler_warning_kind::overflow_near_capacity,
     "%v of %l entries of the overflow are in use: use fewer far timers or choose a larger "
     "profile"},
    {scheduler_warning_kind::dropped_low_priority,
     "timer %j of priority %p was dropped %w: choose a larger profile"},
    {scheduler_warning_kind::capacity_exceeded,
     "a timer was refused, %v of %l entries are in use: cancel some or choose a larger profile"},
    {scheduler_warning_kind::task_run_failed,
     "task %v failed at the close with %t: the others go on"},
    {scheduler_warning_kind::diagnostics_dropped,
     "a subscriber of diagnostics lost %v events, its queue has room for %l: poll more often or "
     "subscribe to fewer kinds"},
    {scheduler_warning_kind::driver_stopped,
     "the tick driver %a stopped, %t: %v of at most %l restarts so far"},
};
static_assert(std::size(warning_sentences) == scheduler_warning_count &&
              in_order(warning_sentences));

constexpr sentence<diagnostic_kind> diagnostic_sentences[] = {
    {diagnostic_kind::schedule, "tick %a: timer %j (%m) is scheduled for tick %d on dispatcher %x"},
    {diagnostic_kind::fire, "tick %a: timer %j (%m) fired, due at tick %d, scheduled at tick %o"},
    {diagnostic_kind::cancel,
     "tick %a: timer %j (%m) was cancelled, due at tick %d, scheduled at tick %o"},
    {diagnostic_kind::drop,
     "tick %a: timer %j (%m) was dropped, due at tick %d, scheduled at tick %o"},
    {diagnostic_kind::drift, "tick %a: processed %n late"},
    {diagnostic_kind::driver_status, "tick %a: timers are %v ticks late"},
    {diagnostic_kind::state, "tick %a: the state is %s"},
    {diagnostic_kind::on_close, "tick %a: task %v of the close has run"},
    {diagnostic_kind::driver_metrics,
     "tick %a: the driver woke at most %n late, %q under no load, and %o times so far"},
    {diagnostic_kind::diagnostics_overflow,
     "tick %a: %v events in a row were lost, the last of them now: poll more often"},
};
static_assert(std::size(diagnostic_sentences) == diagnostic_kind_count &&
              in_order(diagnostic_sentences));

template <class Enum, std::size_t Count>
const char* text_of(const sentence<Enum> (&sentences)[Count], Enum about) noexcept {
    const auto i = static_cast<std::size_t>(about);
    return i < Count ? sentences[i].text : "unknown";
}

/// What there is no room for is no entry among others.
bool is_message(const char* what) noexcept {
    return std::string_view(what) == "message";
}
const char* text_of(const scheduler_error& error) noexcept {
    const bool has_limit = error.limit != 0;
    if (error.code == scheduler_errc::capacity_exceeded && is_message(error.field))
        return "no memory for a message of %v bytes, of which a cell holds %l: send a smaller one, "
               "or share what it holds";
    if (error.code == scheduler_errc::capacity_exceeded && !has_limit)
        return "no room for a %k: there is no memory for one, or what keeps them was not made";
    if (error.code == scheduler_errc::unsupported_mode && is_message(error.field))
        return "mode %m needs a message that can be copied: hold what cannot be by a "
               "std::shared_ptr, or schedule it once";
    if (error.code == scheduler_errc::backpressured && error.cause == backpressure_cause::mailbox)
        return "the mailbox of the receiver holds %v of %l messages: try again when it is emptier, "
               "or schedule with priority high";
    if (error.code == scheduler_errc::backpressured && !has_limit)
        return "refused under backpressure by %c, %v timers are active: try again when it is over";
    return text_of(error_sentences, error.code);
}
const char* text_of(const scheduler_warning& warning) noexcept {
    if (warning.kind == scheduler_warning_kind::capacity_exceeded && is_message(warning.about))
        return "a timer was refused, there is no memory for its message of %v bytes, of which a "
               "cell holds %l";
    if (warning.kind == scheduler_warning_kind::backpressure_state &&
        warning.cause == backpressure_cause::mailbox)
        return warning.value != 0 ? "the mailbox%o is filled to %f: timers for it are refused, but "
                                    "for those of priority high"
                                  : "the mailbox%o is filled to %f: timers for it are accepted "
                                    "again";
    return text_of(warning_sentences, warning.kind);
}

/// `put` writes what a letter stands for.
template <class Put>
std::string_view written(std::string_view rest, std::span<char> out, Put&& put) noexcept {
    text_in text(out);
    for (;;) {
        const std::size_t mark = rest.find('%');
        text.add(rest.substr(0, mark));
        if (mark == std::string_view::npos)
            return text.view();
        put(text, rest[mark + 1]);
        rest.remove_prefix(mark + 2);
    }
}

/// Of state normal, backpressure and rejecting, by number (BP-3).
const char* state_named(std::int64_t number) noexcept {
    static constexpr const char* names[] = {"normal", "backpressure", "rejecting"};
    const auto i = static_cast<std::uint64_t>(number);
    return i < std::size(names) ? names[i] : "unknown";
}

/// The job's number, then what is known of it in parentheses.
void add_name(text_builder& text, const scheduler_warning& warning) noexcept {
    text.add(warning.job);
    if (warning.period == duration::zero())
        return;
    text.add(" (");
    if (warning.text[0] != '\0')
        text.add(static_cast<const char*>(warning.text)).add(", ");
    text.add("every ").add(warning.period).add(")");
}

}  // namespace

std::string_view describe(const scheduler_error& error, std::span<char> out) noexcept {
    const auto put = [&error](text_builder& text, char letter) {
        switch (letter) {
        case 'v':
            text.add(error.value);
            break;
        case 'l':
            text.add(error.limit);
            break;
        case 'd':
            text.add(duration::from_ns(error.value));
            break;
        case 'D':
            text.add(duration::from_ns(error.limit));
            break;
        case 'b':
            text.add(error.value < error.limit ? "at least" : "at most");
            break;
        case 'f':
            text.add(error.field[0] != '\0' ? error.field : "delay");
            break;
        case 'k':
            text.add(error.field[0] != '\0' ? error.field : "timer");
            break;
        case 'c':
            text.add(name_of(error.cause));
            break;
        case 'm':
            text.add(name_of(error.mode()));
            break;
        default:
            break;
        }
    };
    return written(text_of(error), out, put);
}

std::string_view describe(const scheduler_warning& warning, std::span<char> out) noexcept {
    const auto put = [&warning](text_builder& text, char letter) {
        switch (letter) {
        case 'v':
            text.add(warning.value);
            break;
        case 'l':
            text.add(warning.limit);
            break;
        case 'd':
            text.add(duration::from_ns(warning.value));
            break;
        case 'D':
            text.add(duration::from_ns(warning.limit));
            break;
        case 'j':
            text.add(warning.job);
            break;
        case 'n':
            add_name(text, warning);
            break;
        case 'm':
            text.add(name_of(warning.batch.mode));
            break;
        case 'r':
            text.add(warning.batch.runs);
            break;
        case 'a':
            text.add(warning.about[0] != '\0' ? warning.about : "without a name");
            break;
        case 't':
            text.add(warning.text[0] != '\0' ? static_cast<const char*>(warning.text)
                                             : "an error without a text");
            break;
        case 'o':
            if (warning.text[0] != '\0')
                text.add(static_cast<const char*>(warning.text));
            else
                text.add(" ").add(warning.to.slot_number());
            break;
        case 'f':
            text.add(warning.limit / 10).add(" %");
            break;
        case 'w':
            text.add(warning.limit != 0 ? "for a more important one"
                                        : "since there was no place for it");
            break;
        case 'e':
            text.add(warning.value != 0 ? "engaged" : "released");
            break;
        case 'c':
            text.add(name_of(warning.cause));
            break;
        case 's':
            text.add(state_named(warning.limit));
            break;
        case 'p':
            text.add(name_of(static_cast<timer_priority>(warning.value)));
            break;
        default:
            break;
        }
    };
    return written(text_of(warning), out, put);
}

std::string_view describe(const diagnostic& what, std::span<char> out) noexcept {
    const auto put = [&what](text_builder& text, char letter) {
        switch (letter) {
        case 'a':
            text.add(what.at);
            break;
        case 'd':
            text.add(what.deadline);
            break;
        case 'o':
            text.add(what.scheduled_at);
            break;
        case 'j':
            text.add(what.job);
            break;
        case 'm':
            text.add(name_of(what.mode));
            break;
        case 'x':
            text.add(what.executor);
            break;
        case 'v':
            text.add(what.detail);
            break;
        case 'n':
            text.add(duration::from_ns(what.detail));
            break;
        case 'q':
            text.add(what.driver_jitter());
            break;
        case 's':
            text.add(state_named(what.detail));
            break;
        default:
            break;
        }
    };
    return written(text_of(diagnostic_sentences, what.kind), out, put);
}

}  // namespace tactus::inline v0
