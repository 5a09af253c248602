// SPDX-License-Identifier: Apache-2.0
//
// Deciders, and who may be restarted how often.
#include <tactus/actor/supervision.hpp>

namespace tactus::inline v0 {

const char* name_of(directive d) noexcept {
    static constexpr const char* names[directive_count] = {"resume", "restart", "stop", "escalate"};
    return names[static_cast<std::size_t>(d)];
}
const char* name_of(supervision_scope scope) noexcept {
    static constexpr const char* names[supervision_scope_count] = {"one_for_one", "all_for_one",
                                                                   "rest_for_one"};
    return names[static_cast<std::size_t>(scope)];
}

directive default_decider(const failure_cause& why) noexcept {
    switch (why.kind()) {
    case failure_kind::initialization:
    case failure_kind::post_restart:
    case failure_kind::killed:
    case failure_kind::death_pact:
        return directive::stop;
    default:
        return directive::restart;
    }
}
directive retrying_decider(const failure_cause& why) noexcept {
    return why.kind() == failure_kind::killed || why.kind() == failure_kind::death_pact
               ? directive::stop
               : directive::restart;
}
directive stopping_decider(const failure_cause&) noexcept {
    return directive::stop;
}

bool restart_count::allows(const supervisor_strategy& s, instant now) noexcept {
    if (s.max_restarts == 0U)
        return false;
    if (!s.max_restarts && !s.within)
        return true;
    const std::uint32_t most = s.max_restarts.value_or(1);
    if (s.within) {
        if (since_ && now - *since_ <= *s.within) {
            ++count_;
            return count_ <= most;
        }
        since_ = now;
        count_ = 1;
        return true;
    }
    ++count_;
    return count_ <= most;
}

}  // namespace tactus::inline v0
