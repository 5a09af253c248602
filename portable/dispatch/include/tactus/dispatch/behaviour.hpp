// SPDX-License-Identifier: Apache-2.0
//
// Behaviour: what the invoker calls, as a table of functions. The actor layer makes its handler
// tables of it; the kernel's tests and benchmarks use it bare.
//
// Every function is noexcept: user code that throws is caught in a thunk compiled where the user's
// code is (UP-4), so the portable kernel needs no exceptions.
#pragma once

#include <new>
#include <type_traits>
#include <utility>

#include <tactus/dispatch/invoke_result.hpp>
#include <tactus/dispatch/slot.hpp>

#if defined(__cpp_exceptions)
#include <exception>

#include <tactus/dispatch/thrown_texts.hpp>
#endif

namespace tactus::inline v0 {

class turn;

struct behaviour {
    /// Handles one user message; `state` is the slot's user line.
    handled (*receive)(turn&, void* state, envelope&) noexcept;
    /// Handles one system message; null: terminate closes the mailbox, suspend and resume do what
    /// they say, everything else is taken note of and dropped.
    handled (*receive_system)(turn&, void* state, system_message&) noexcept = nullptr;
    /// Ends the user state, once, when the mailbox is closed; null: nothing to end.
    void (*destroy)(slot&) noexcept = nullptr;
    /// Called once, in its first run, before anything else; null: nothing to begin.
    handled (*start)(turn&, void* state) noexcept = nullptr;
    /// When the mailbox is closed, the slot stays as it is until actor_scheduler::release.
    bool keeps_slot = false;
};

/// The text of a failure whose exception says nothing else.
inline constexpr const char* unknown_exception = "exception of unknown type";

/// Calls user code that returns `handled`, `failure` or nothing, and turns what it throws into a
/// failure.
template <class Call>
[[nodiscard]] handled call_user(Call&& call) noexcept {
    using result = std::invoke_result_t<Call>;
    const auto run = [&]() -> handled {
        if constexpr (std::is_same_v<result, handled>) {
            return call();
        } else if constexpr (std::is_same_v<result, failure>) {
            return handled::failed(call());
        } else {
            call();
            return handled::ok();
        }
    };
#if defined(__cpp_exceptions)
    try {
        return run();
    } catch (const std::exception& e) {
        return handled::failed({thrown_texts::keep(e.what()), nullptr});
    } catch (...) {
        return handled::failed({unknown_exception, nullptr});
    }
#else
    return run();
#endif
}

/// A behaviour for a state type with `receive(turn&, envelope&)`, kept in the slot's user line.
template <class State>
[[nodiscard]] const behaviour& behaviour_of() noexcept {
    static_assert(sizeof(State) <= slot::state_size, "the state must fit the slot's user line");
    static_assert(alignof(State) <= alignof(std::max_align_t));
    static constexpr behaviour table{
        .receive = [](turn& t, void* place, envelope& e) noexcept -> handled {
            auto& state = *std::launder(static_cast<State*>(place));
            return call_user([&] { return state.receive(t, e); });
        },
        .receive_system =
            [] {
                using function = handled (*)(turn&, void*, system_message&) noexcept;
                if constexpr (requires(State& s, turn& t, system_message& m) {
                                  s.receive_system(t, m);
                              })
                    return function(
                        [](turn& t, void* place, system_message& m) noexcept -> handled {
                            auto& state = *std::launder(static_cast<State*>(place));
                            return call_user([&] { return state.receive_system(t, m); });
                        });
                else
                    return function(nullptr);
            }(),
        .destroy =
            [] {
                if constexpr (std::is_trivially_destructible_v<State>)
                    return static_cast<void (*)(slot&) noexcept>(nullptr);
                else
                    return +[](slot& s) noexcept {
                        std::launder(static_cast<State*>(s.user_state()))->~State();
                    };
            }(),
    };
    return table;
}

}  // namespace tactus::inline v0
