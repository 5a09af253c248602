// SPDX-License-Identifier: Apache-2.0
//
// How long a thread waits for a reply: by the scheduler's timers, one after the other.
#include <tactus/runtime/reply_place.hpp>

#include <algorithm>

namespace tactus::inline v0::detail {
namespace {

/// So that no span is far away: there a bounded scheduler may have no place (BP-6).
constexpr duration longest_span = duration::from_s(12 * 3'600);

ask_fault fault_of(const scheduler_error& why) noexcept {
    return why.code == scheduler_errc::closed ? ask_fault::target_terminated : ask_fault::no_room;
}

}  // namespace

void reply_wait::wake() noexcept {
    {
        const std::lock_guard held(mutex_);
        if (decided_ == decision::open && is_last_span_)
            decided_ = decision::timed;
    }
    changed_.notify_one();
}

reply_deadline::reply_deadline(reply_wait& of, scheduler& timers, duration timeout)
    : of_(of), timers_(timers), left_(timeout) {
    begin_span(true);  // back-pressure after a pause does not fail a question
}

void reply_deadline::begin_span(bool goes_on) {
    span_.reset();  // R2: its timer has told and gone
    const duration span = std::min({left_, longest_span, timers_.maximum_delay()});  // SC-3
    if (left_ != duration::max())
        left_ = left_ - span;
    of_.is_last_span_ = left_ == duration::zero();
    waker* const told = &of_;
    span_.emplace(timers_, span, told, goes_on);
}

std::optional<ask_fault> reply_deadline::refusal() const noexcept {
    // NOLINTNEXTLINE(bugprone-unchecked-optional-access): there is one from the beginning
    const auto said = span_->poll();
    if (said && !*said)
        return fault_of(said->error());
    return std::nullopt;
}

std::optional<ask_fault> reply_deadline::wait() {
    using enum reply_wait::decision;
    for (;;) {
        {
            std::unique_lock held(of_.mutex_);
            of_.changed_.wait(held, [this] {
                return of_.decided_ == open ? span_->poll().has_value() : of_.decided_ != arriving;
            });
            if (of_.decided_ == replied)
                return std::nullopt;
            if (of_.decided_ == failed)
                return ask_fault::reply_failed;
            if (of_.decided_ == abandoned)
                return ask_fault::target_terminated;
            const auto why = of_.is_last_span_ ? refusal().value_or(ask_fault::timeout) : refusal();
            if (why) {
                of_.decided_ = timed;  // R1
                return why;
            }
        }
        begin_span(true);
    }
}

}  // namespace tactus::inline v0::detail
