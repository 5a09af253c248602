// SPDX-License-Identifier: Apache-2.0
//
// Supervision: how failed actors are handled (SV-1).
//
// The decider of the parent's strategy maps the cause to a directive. `scope` selects the children
// that a restart or stop applies to. `max_restarts` and `within` limit restarts:
//
//   max_restarts  within   a restart is allowed
//   none          none     always
//   r             none     r times
//   none          w        once per w (as r = 1)
//   r             w        r times within w, counted from the first of them; then anew
//   0             any      never
//
// With a `backoff` a restart takes place later: the actor that failed is held back until then, with
// what it is sent, and its children are stopped at once. `pacing` does the same to restarts that
// follow each other too fast, and only to them (SV-5).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include <tactus/actor/backoff.hpp>
#include <tactus/actor/failure_cause.hpp>
#include <tactus/dispatch/dispatch_rules.hpp>
#include <tactus/time/instant.hpp>

namespace tactus::inline v0 {

enum class directive : std::uint8_t {
    resume,    // goes on with its state; the message that failed is lost
    restart,   // a new instance; mailbox, reference and watchers stay
    stop,      // ends
    escalate,  // the parent fails with the same cause
};
inline constexpr std::size_t directive_count = 4;
[[nodiscard]] const char* name_of(directive d) noexcept;

/// Initialisation, kill and death pact: stop. Others: restart.
[[nodiscard]] directive default_decider(const failure_cause& why) noexcept;
/// Kill and death pact: stop. Others, failures to begin among them: restart.
[[nodiscard]] directive retrying_decider(const failure_cause& why) noexcept;
/// Everything: stop.
[[nodiscard]] directive stopping_decider(const failure_cause& why) noexcept;

/// Whom a restart or stop is for.
enum class supervision_scope : std::uint8_t {
    one_for_one,   // the one that failed
    all_for_one,   // all children
    rest_for_one,  // it, and those spawned after it
};
inline constexpr std::size_t supervision_scope_count = 3;
[[nodiscard]] const char* name_of(supervision_scope scope) noexcept;

struct restart_pacing;
struct supervisor_strategy;

/// How often one child was restarted; its parent's.
class restart_count {
public:
    /// Counts one, and says whether it is allowed.
    [[nodiscard]] bool allows(const supervisor_strategy& s, instant now) noexcept;
    /// Counts one, and says how long it waits; zero: it takes place at once.
    [[nodiscard]] duration pause(const restart_pacing& by, instant now) noexcept;
    [[nodiscard]] std::uint32_t count() const noexcept { return count_; }

private:
    std::uint32_t count_ = 0;
    std::optional<instant> since_;  // none: no window is open
};

class slot;
namespace detail {
[[nodiscard]] duration count_restarts(const restart_pacing& by, const void* parent, slot& first,
                                      const slot& last, slot& failed) noexcept;
}  // namespace detail

/// SV-5: when restarts of a child are a storm, and how long each waits then. Must outlive the
/// actors whose restarts it bounds: a constant. Where there is none, nothing of it is linked.
struct restart_pacing {
    std::uint32_t restarts = 10;                 // within `within`: at once
    duration within = duration::from_ms(1'000);  // from the first of them; then anew
    duration min = duration::from_ms(10);        // the first that waits; each next twice as long
    duration max = duration::from_ms(1'000);

    /// The runtime's: counts a restart of each child from `first` to `last`, and says how long
    /// these wait, which is what `failed` has to.
    duration (*counts)(const restart_pacing& by, const void* parent, slot& first, const slot& last,
                       slot& failed) noexcept = &detail::count_restarts;
};

struct supervisor_strategy {
    supervision_scope scope = supervision_scope::one_for_one;
    std::optional<std::uint32_t> max_restarts = {};
    std::optional<duration> within = {};
    // Must not throw towards us: it is called through a thunk of the user's (see supervision()).
    directive (*decider)(const failure_cause& why) = &default_decider;
    // SV-5; null: every restart takes place at once. Without effect beside `max_restarts`, `within`
    // or a `backoff`, which limit restarts themselves, and in a system without timers.
    const restart_pacing* pacing = nullptr;
    backoff_options backoff = {};  // SV-4; off unless it says otherwise

    /// What the decider says. PK-TYP-7: a back-off is for those that fail to begin, too, so that
    /// with one the retrying decider stands for the default one.
    [[nodiscard]] directive decide(const failure_cause& why) const {
        return backoff.is_on() && decider == &default_decider ? retrying_decider(why)
                                                              : decider(why);
    }
};

/// SV-5: the bounds of the default strategy.
inline constexpr restart_pacing bounded_storms{};

/// The strategy of a guardian and of a parent without `supervision()`, by a system's preset: with
/// `pekko` every restart takes place at once (SC-26).
[[nodiscard]] constexpr supervisor_strategy supervision_defaults(
    system_preset preset = system_preset::tactus) noexcept {
    supervisor_strategy s;
    if (preset == system_preset::tactus)
        s.pacing = &bounded_storms;
    return s;
}

}  // namespace tactus::inline v0
