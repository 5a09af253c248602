// SPDX-License-Identifier: Apache-2.0
//
// Back-off supervisor: an actor that stands for another one, its child, and starts it again some
// time after it has ended (SV-4).
//
//     system.spawn<backoff_supervisor<connection, std::string>>(
//         "connection", backoff_supervisor_options{.min = 1s, .max = 30s}, "host");
//
//   begins again on   after                                       ends itself after
//   stop              any end of the child                        the last retry
//   failure           a failure that the decider would restart    any other end of the child, too
//
// It takes the messages of its child and passes them on with their senders; what the child sends to
// it goes to its own parent, from it. While there is no child messages are answered, handed to
// somebody else, or dead letters: what is to wait for the next child belongs behind a strategy with
// a back-off (supervision.hpp), which keeps reference, mailbox and watchers. Here every child is
// another actor.
//
// Its own messages: get_current_child, get_restart_count, backoff_reset.
#pragma once

#include <algorithm>
#include <cstdint>
#include <expected>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include <tactus/actor/actor.hpp>
#include <tactus/actor/backoff.hpp>

namespace tactus::inline v0 {

enum class backoff_on : std::uint8_t { stop, failure };
/// When it is forgotten how often the child was started again.
enum class backoff_forgets : std::uint8_t {
    by_itself,   // a while after a start (reset_after), if the child is still there
    when_asked,  // by backoff_reset
};

struct current_child {
    any_ref who;  // names nothing: there is none now
};
struct get_current_child {
    actor_ref<current_child> reply_to;
};
struct backoff_restart_count {
    std::uint32_t count;
};
struct get_restart_count {
    actor_ref<backoff_restart_count> reply_to;
};
/// Unhandled unless it forgets when_asked.
struct backoff_reset {};

struct backoff_supervisor_options {
    backoff_on on = backoff_on::stop;
    duration min = {};
    duration max = {};
    double random_factor = 0.2;
    backoff_forgets forgets = backoff_forgets::by_itself;
    std::optional<duration> reset_after = {};       // none: min
    std::optional<std::uint32_t> max_retries = {};  // since it was forgotten; none: no limit
    std::optional<duration> within = {};  // retries are counted anew so long after the first
    // None: on stop the default decider, on failure the retrying one.
    directive (*decider)(const failure_cause& why) = nullptr;
    // After such a message it ends with its child, or at once.
    bool (*final_stop_message)(envelope& message) = nullptr;
    // While there is no child; none of both: dead letters.
    any_ref handler_while_stopped = {};  // of this system
    void (*reply_while_stopped)(any_ref sender) = nullptr;
    std::string_view child_name = "child";  // outlives it
    spawn_options child = {};

    /// Null, or what is wrong with it.
    [[nodiscard]] const char* fault() const noexcept;
};

namespace detail {

struct start_child {};

/// Which of a number of retries is allowed, and when it is forgotten that there were any.
class backoff_retries {
public:
    explicit backoff_retries(const backoff_supervisor_options& how) noexcept : how_(how) {}
    /// Counts towards `within`.
    [[nodiscard]] bool allows(instant now) noexcept;
    /// The delay until the next start, which is counted.
    [[nodiscard]] duration next(duration at_least, det_rng& random) noexcept;
    void started(instant now) noexcept { started_ = now; }
    void forget() noexcept { count_ = 0; }
    /// Forgets, if it is time.
    void look(instant now) noexcept;
    [[nodiscard]] std::uint32_t count() const noexcept { return count_; }

private:
    const backoff_supervisor_options& how_;
    std::uint32_t count_ = 0;
    restart_count window_;
    instant started_;
};

template <class... Ms>
actor_ref<Ms..., get_current_child, get_restart_count, backoff_reset> backed_off(actor_ref<Ms...>);

}  // namespace detail

template <class A, class... Args>
class backoff_supervisor final
    : public actor<get_current_child, get_restart_count, backoff_reset, detail::start_child> {
public:
    /// Of A, and its own.
    using reference = decltype(detail::backed_off(std::declval<detail::ref_of<A>>()));
    static constexpr bool wants_message = true;

    template <class... From>
    explicit backoff_supervisor(const backoff_supervisor_options& how, From&&... args)
        : how_(how), args_(std::forward<From>(args)...) {}
    backoff_supervisor(const backoff_supervisor&) = delete;
    backoff_supervisor& operator=(const backoff_supervisor&) = delete;

    std::expected<void, failure> pre_start() {
        if (const char* fault = how_.fault())
            return std::unexpected(failure(fault));
        return begin();
    }
    std::expected<void, failure> on(detail::start_child) { return begin(); }
    void on(const get_current_child& m) { m.reply_to.tell(current_child{child_}); }
    void on(const get_restart_count& m) {
        look();
        m.reply_to.tell(backoff_restart_count{retries_.count()});
    }
    void on(backoff_reset) {
        if (how_.forgets == backoff_forgets::when_asked)
            retries_.forget();
        else
            context().world().note_unhandled(context().in());
    }
    void on(const terminated& m) {
        if (m.who != child_)
            return;
        look();
        child_ = {};
        const bool again = how_.on == backoff_on::failure ? again_ : retries_.allows(now());
        if (!again || final_) {
            context().stop();
            return;
        }
        const duration delay =
            retries_.next(at_least_, context().in().on().lanes().streams()[random_stream::jitter]);
        if (!context().go_on_after("start", detail::start_child{},
                                   std::max(delay, duration::from_ns(1)))) {
            // Restarted, it would start the child at once.
            context().log().error("no room for the timer of a back-off");
            context().stop();
        }
    }
    directive decide(any_ref child, const failure_cause& why) {
        const directive d = how_.decider != nullptr          ? how_.decider(why)
                            : how_.on == backoff_on::failure ? retrying_decider(why)
                                                             : default_decider(why);
        at_least_ = why.retry_after();
        if (how_.on == backoff_on::stop || d != directive::restart || child != child_)
            return d;
        // It ends instead, and another one begins when it has (PK-BKO-7).
        look();
        again_ = retries_.allows(now());
        return directive::stop;
    }
    /// What is not its own.
    void on_other(envelope& message) {
        if (child_ && message.sender.read() == child_.index()) {
            message.sender.write(self().index());
            pass_on(context().parent());
            return;
        }
        const bool last = how_.final_stop_message != nullptr && how_.final_stop_message(message);
        if (child_) {
            final_ = final_ || last;
            pass_on(child_);
        } else if (last) {
            context().stop();
        } else if (how_.handler_while_stopped) {
            pass_on(how_.handler_while_stopped);
        } else if (how_.reply_while_stopped != nullptr && sender()) {
            how_.reply_while_stopped(sender());
        } else {
            context().in().system().measures().dead_letter(self().index(), message,
                                                           dead_letter_cause::recipient_terminated);
        }
    }

private:
    [[nodiscard]] instant now() const noexcept {
        const clock* time = context().in().system().time();
        return time != nullptr ? time->now() : instant{};
    }
    /// Starts that are forgotten are those of a child that is still there.
    void look() noexcept {
        if (child_)
            retries_.look(now());
    }
    void pass_on(any_ref to) const noexcept { context().in().forward(to.index()); }
    std::expected<void, failure> begin() {
        const auto made = std::apply(
            [this](const Args&... args) {
                return context().template try_spawn<A>(how_.child_name, how_.child, args...);
            },
            std::as_const(args_));
        if (!made)
            return std::unexpected(failure(made.error().reason));
        child_ = *made;
        again_ = false;
        at_least_ = {};
        retries_.started(now());
        context().watch(child_);
        return {};
    }

    const backoff_supervisor_options how_;
    std::tuple<Args...> args_;
    detail::backoff_retries retries_{how_};
    any_ref child_;
    bool again_ = false;  // its failure was one to begin again after
    bool final_ = false;  // the final stop message has come
    duration at_least_;   // what its failure said
};

}  // namespace tactus::inline v0
