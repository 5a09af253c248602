// SPDX-License-Identifier: Apache-2.0
//
// Life: one use of a slot, from open to the end of finalize. This file owns the generation that
// names a life, the marks of it in other words, and the argument that a late thread never runs,
// stops or queues another life than the one it means.
//
// Slots are type-stable memory, so a thread that was delayed may still touch a slot whose actor has
// ended and whose next actor lives at another dispatcher. A life's traits (dispatcher, priority,
// worker it is pinned to) are constant, so the life implies the dispatcher. Each word that a late
// thread may change therefore names the life, and each claim compares it in the compare-and-swap
// that takes the claim:
//
//   word         names the life by          widths                    claimed by
//   generation   itself                     32 bits, never reused     (read only)
//   state word   state_mark                 16 bits                   stop, suspend, resume, and
//                                                                     each look for work: end of a
//                                                                     run, resume, register_ready
//   ticket       its number                 30 bits                   take, promote, move,
//                                                                     unregister
//   gate         its own mark               32 bits; 10 in a word     senders to a bounded mailbox
//                                           of 32 (mailbox_gate.hpp)
//   queue heads  closed between two lives   -                         send, system send
//
// Rules
//   L1  A look for work claims the scheduled bit only in the life it looked at. Work of a life that
//       has ended was taken by its finalizer; the next life's senders see to their own.
//   L2  A push claims the bit of the life that is there, whichever it is: after the push the queue
//       has a message that a run must see. The thread that wins the bit owns that life, reads its
//       traits after the claim, and so finds its dispatcher.
//   L3  Traits are read once per registration, after the claim and before the ticket is issued.
//       From then on another thread may promote, run and end the life.
//   L4  A promotion reads the ticket (acquire), then generation and traits, then swaps exactly that
//       ticket (acq_rel). Reading the ticket makes everything of its life visible, so generation
//       and traits are of that life or a later one. The next life is written after this ticket, or
//       one that was promoted from it, was taken; if the swap succeeds, that happens after it. So
//       both are of the ticket's own life.
//   L5  A thread that holds an entry (a look for system messages after a push) promotes the ticket
//       of that entry or none: the number implies life and dispatcher.
//   L6  A thread that moves what a worker keeps (coordinator::share) reads an entry in two halves,
//       which may be of different entries. It does as L4 says with the ticket it has read: what it
//       moves waits, and is of this dispatcher.
//
// ABA
//   A generation never comes round: a slot whose last generation ended is retired.
//
//   A state mark comes round after 65,536 lives of one slot. A thread that checks the generation
//   and is then stalled until exactly a multiple of that many lives have passed, so that its
//   compare-and-swap finds the same mark, acts on the wrong life once:
//
//     register_ready,    queues its mailbox at the former dispatcher: one run there, of messages
//     end of a run       that the actor has; a run without messages does nothing
//     resume             ends one suspension early
//     suspend            suspends it; its supervisor ends that with a restart
//     stop (kernel)      stops it
//
//   So a stall can stop a wrong actor, but no reference's stop can: a reference stops, kills or
//   poisons by a message that carries the whole generation, and an actor suspends itself within its
//   own run. What is left is the kernel's stop(), suspend() and resume() of an actor from outside,
//   and the limit of a suspension. For these the stall must last as long as 65,536 lives of that
//   one slot (tens of milliseconds when nothing else is done) and end in the one life of 65,536
//   that matches. A second look at the generation after the swap cannot take a stop back, because a
//   run that goes on ends the actor when it sees the request; a wider mark needs a second word,
//   which each claim on the path of a message would have to read.
//
//   A ticket comes round after 2^30 registrations of one slot, while an entry waits or a thread
//   stalls for all of that time; one dispatch per registration holds even then.
#pragma once

#include <cstdint>

namespace tactus::inline v0::life {

/// No life has this generation.
inline constexpr std::uint32_t none = 0;

// What mailbox::plain_generation says in place of a generation: senders cannot take the short way.
inline constexpr std::uint32_t is_gated = 0xffff'ffff;
inline constexpr std::uint32_t has_deadlines = 0xffff'fffe;

inline constexpr std::uint32_t generation_max = has_deadlines - 1;

/// The generation of a slot's next life; none when this was its last.
[[nodiscard]] constexpr std::uint32_t next(std::uint32_t generation) noexcept {
    return generation < generation_max ? generation + 1 : none;
}

inline constexpr unsigned state_mark_bits = 16;
inline constexpr unsigned state_mark_shift = 32 - state_mark_bits;

/// The mark of a life in the state word: the lower bits of its generation, in the word's upper
/// ones.
[[nodiscard]] constexpr std::uint32_t state_mark(std::uint32_t generation) noexcept {
    return generation << state_mark_shift;
}

}  // namespace tactus::inline v0::life
