// SPDX-License-Identifier: Apache-2.0
//
// The exhaustive search: depth first over the list of decisions, with partial-order reduction.
//
// An execution repeats the recorded decisions and adds new ones at the end; advance() changes the
// last one that has something left to try. Without reduction every runnable thread is tried at
// every step. With it, only the usual one is, and others are added where a later step is seen to
// race with the step taken there:
//
//   no bound   source sets with sleep sets (Abdulla et al., 2014): a thread that can come first in
//              the part of the execution that does not depend on the earlier step. An execution
//              whose runnable threads all sleep is equivalent to an earlier one; it is run to its
//              end without further decisions, so that its destructors run.
//   a bound    bounded reduction (Coons et al., 2013): the later thread, both before the earlier
//              step and where the earlier thread was switched to or last gave way, since there the
//              switch may cost nothing. A thread sleeps only when the bound left out nothing of
//              what begins with it: otherwise the equivalent execution may have been beyond it.
//
// Invariants
//   X1  all that begins with a thread in covered or sleep of a decision is covered, without a bound
//   X2  decisions before fresh_ have had their races added in an earlier execution
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "director.hpp"

namespace tactus::inline v0::port::model::detail {

class exhaustive final : public director {
public:
    exhaustive(std::optional<unsigned> bound, bool reduction)
        : bound_(bound), reduces_(reduction) {}

    void begin() override;
    [[nodiscard]] unsigned next_thread(const moment& m) override;
    [[nodiscard]] unsigned choose(unsigned count) override;
    [[nodiscard]] bool advance() override;
    void thread_made(unsigned by, unsigned made) override { pasts_[made] = pasts_[by]; }
    void thread_joined(unsigned by, unsigned ended) override { pasts_[by].join(pasts_[ended]); }
    void stepped(unsigned thread, const operation& done, location_table& locations,
                 std::span<const operation> pending) override;
    void give_up() override { free_running_ = true; }
    [[nodiscard]] bool redundant() const override { return redundant_; }

private:
    struct decision {
        bool is_choice = false;
        bool branch_cut = false;  // the bound left something out after what is chosen now
        bool cut = false;         // or after what was chosen before
        bool free_switch = false;
        std::uint8_t previous = no_thread;
        std::uint16_t chosen = 0;  // a thread, or a number below count
        std::uint16_t count = 0;
        std::uint16_t preemptions = 0;  // before this decision
        thread_mask runnable = 0;
        thread_mask wanted = 0;  // to be tried, in part done
        thread_mask done = 0;
        thread_mask covered = 0;  // those of done after which the bound left nothing out
        thread_mask sleep = 0;
        std::uint32_t print = 0;  // of the chosen thread's operation; 0: not known yet
        std::uint32_t block = 0;  // the last decision at which a switch may have cost nothing
    };
    struct event {
        std::uint8_t thread;
        std::uint32_t decision;
        vector_clock past;  // its own entry is its number
    };

    [[nodiscard]] static unsigned cost(const decision& d, unsigned thread) noexcept {
        return d.previous != no_thread && !d.free_switch && thread != d.previous ? 1 : 0;
    }
    [[nodiscard]] thread_mask affordable(const decision& d, thread_mask threads) const noexcept;
    void add_decision(const moment& m);
    void reverse(std::uint32_t earlier, unsigned thread, const vector_clock& past);
    [[nodiscard]] thread_mask initials(std::uint32_t earlier, unsigned thread,
                                       const vector_clock& past) const;
    static void want(decision& d, unsigned thread) noexcept;

    // Constant after construction
    std::optional<unsigned> bound_;
    bool reduces_;

    // Of the search
    std::vector<decision> decisions_;

    // Of this execution
    std::size_t position_ = 0;
    std::size_t fresh_ = 0;
    std::uint32_t step_decision_ = 0;
    std::uint32_t block_ = 0;
    unsigned preemptions_ = 0;
    thread_mask sleep_ = 0;
    bool free_running_ = false;
    bool redundant_ = false;
    std::vector<event> events_;
    std::array<vector_clock, thread_count_max> pasts_{};
    std::array<vector_clock, thread_count_max> wakers_{};  // the past of who woke it last
};

}  // namespace tactus::inline v0::port::model::detail
