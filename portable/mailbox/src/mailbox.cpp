// SPDX-License-Identifier: Apache-2.0
//
// The end of a run that leaves something.
#include <tactus/mailbox/mailbox.hpp>

namespace tactus::inline v0 {

enqueued mailbox::end_run_slowly(bool holds) noexcept {
    bool keeps = holds || batch_ != nullptr;
    if (kind_ != nullptr) {
        kind_->settle(inbox_);
        keeps = keeps || !kind_->empty();
    }
    // Read by who resumes the mailbox; ordered by the state word.
    kept_.store(keeps ? kept_count() : 0, std::memory_order_relaxed);
    const std::uint32_t left = state_.give_up();
    if ((left & state_word::closing) != 0)
        return enqueued::closed;
    const std::uint32_t life = left & state_word::life_mask;
    if (offer_work(life))
        return enqueued::submit;
    // Supervision may have let it go before the run ended, and found it scheduled: what it held
    // back goes on, although the actor awaits. Who lets it go later finds it idle.
    const bool goes_on = holds && state_.suspend_count(suspension::supervision) == 0 &&
                         state_.request_schedule(schedule_hint::system, life);
    return goes_on ? enqueued::submit : enqueued::accepted;
}

}  // namespace tactus::inline v0
