// SPDX-License-Identifier: Apache-2.0
//
// Invoker: one run of a mailbox (IN).
//
// All system messages, then user messages one by one with all system messages again after each;
// until the share is used up, the deadline has passed, the actor is held back or closed, or nothing
// is left.
//
// The share (IN-2). By default: the batch found at the start, at least 300 and at most 16,384
// messages, beyond 300 only while the run has lasted less than a millisecond; and the run ends when
// it has sent more than its share. So a deep backlog is worked off while it is in cache, and nobody
// fills memory for others without end. An explicit throughput is exact.
#pragma once

#include <cstdint>

#include <tactus/dispatch/invoke_result.hpp>
#include <tactus/dispatch/middleware.hpp>
#include <tactus/dispatch/turn.hpp>

namespace tactus::inline v0 {

class invoker {
public:
    static constexpr std::uint32_t share_min = 300;
    static constexpr std::uint32_t share_max = 16'384;
    static constexpr std::uint32_t clock_interval = 64;

    /// Runs a mailbox. Requires: the caller took it from its lane.
    [[nodiscard]] static invoke_result run(worker& w, slot& s) noexcept;

    /// Closes a mailbox that the caller is elected to finalize: user state ended, leftovers to dead
    /// letters, the slot back to the registry. `w` is null outside of workers.
    static void finalize(actor_scheduler& system, worker* w, slot& s) noexcept;

private:
    class share;

    /// Handles all system messages there are, but not more continuations than it may; returns how
    /// many of these there were.
    static std::uint32_t run_system(turn& t, std::uint32_t continuations_max) noexcept;
    /// Behind what was put off before. The actor works, or is closed.
    static void put_off_system(slot& s, oldest_first list) noexcept;
    static void handle(turn& t, system_message& m) noexcept;
    static void default_system(turn& t, system_message& m) noexcept;
    /// `deferred` also when an `after` failed, which the result then says.
    [[nodiscard]] static handled run_chain(turn& t, envelope& e, const middleware_chain& chain,
                                           bool& deferred) noexcept;
    static void defer(turn& t, envelope& e, const handled& why) noexcept;
    static void fail(turn& t, const failure& why) noexcept;
    /// Handles a message that somebody wants to know of, that passes middleware, or is not plain in
    /// another way. Apart, so that two looks decide for all others.
    [[nodiscard]] [[gnu::noinline]] static handled receive_specially(turn& t, envelope& e,
                                                                     bool& deferred) noexcept;
    /// Apart, so that others need no stack for its scope.
    [[nodiscard]] [[gnu::noinline]] static handled receive_guarded(turn& t, envelope& e,
                                                                   bool& deferred) noexcept;
    [[nodiscard]] static handled receive_chained(turn& t, envelope& e, bool& deferred) noexcept;
    /// Requires: has_span, and a tracer.
    static void trace(turn& t, envelope& e) noexcept;
    static std::uint32_t prologue(turn& t) noexcept;
    /// True when the queue broke, and the actor has failed.
    [[nodiscard]] static bool end_of_kind(turn& t) noexcept;
    static void queue_broke(turn& t, mailbox_block& block, const char* why) noexcept;
    static void refuse_generation(turn& t, system_message& m) noexcept;
    static void refuse_generation(worker& w, slot& s, envelope& e) noexcept;
};

}  // namespace tactus::inline v0
