// SPDX-License-Identifier: Apache-2.0
//
// A mailbox as one would write it without threads in mind: plain fields and arrays, straight from
// the specification (SQ, ME). The tests compare the real one with it.
#pragma once

#include <tactus/mailbox/state_word.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace tactus_test {

/// The state alone; each event returns what the caller owes.
struct naive_state {
    using owed = tactus::mailbox_owed;
    using why = tactus::suspension;

    bool scheduled = false;
    bool closing = false;
    bool closed = false;
    std::array<std::uint32_t, 2> suspensions{};  // by supervision, by await

    [[nodiscard]] bool ending() const { return closing || closed; }
    [[nodiscard]] bool suspended() const { return suspensions[0] + suspensions[1] != 0; }
    [[nodiscard]] std::uint32_t& count(why w) { return suspensions[static_cast<std::size_t>(w)]; }
    [[nodiscard]] bool should_process() const { return !ending() && !suspended(); }

    owed user_work() { return suspended() ? owed::nothing : schedule(); }
    owed system_work() { return schedule(); }
    owed suspend(why w) {
        if (ending())
            return owed::nothing;
        const bool before = suspended();
        ++count(w);
        return before ? owed::nothing : owed::changed;
    }
    owed resume(why w) {
        if (ending())
            return owed::nothing;
        if (count(w) > 0)
            --count(w);
        return suspended() ? owed::nothing : owed::changed;
    }
    /// Requires: scheduled, or closing with the caller as its owner.
    owed run_ended() {
        if (closing)
            return owed::finalize;
        scheduled = false;
        return owed::look_again;
    }
    owed request_close() {
        if (ending())
            return owed::nothing;
        closing = true;
        return scheduled ? owed::nothing : owed::finalize;
    }
    /// Requires: closing.
    void finish_close() {
        *this = {};
        closed = true;
    }

    [[nodiscard]] tactus::mailbox_state state() const {
        using is = tactus::mailbox_state;
        if (ending())
            return closed ? is::closed : is::closing;
        if (suspended())
            return scheduled ? is::suspended_scheduled : is::suspended;
        return scheduled ? is::scheduled : is::idle;
    }

private:
    owed schedule() {
        if (ending() || scheduled)
            return owed::nothing;
        scheduled = true;
        return owed::submit;
    }
};

/// A queue of numbers in an array that is long enough for the test.
template <std::size_t Capacity>
class naive_queue {
public:
    [[nodiscard]] bool empty() const { return count_ == 0; }
    [[nodiscard]] std::size_t size() const { return count_; }
    [[nodiscard]] unsigned at(std::size_t i) const { return items_[i]; }
    void push_back(unsigned id) { items_[count_++] = id; }
    void push_front(unsigned id) {
        for (std::size_t i = count_; i > 0; --i)
            items_[i] = items_[i - 1];
        items_[0] = id;
        ++count_;
    }
    unsigned pop_front() {
        const unsigned first = items_[0];
        --count_;
        for (std::size_t i = 0; i < count_; ++i)
            items_[i] = items_[i + 1];
        return first;
    }

private:
    std::array<unsigned, Capacity> items_{};
    std::size_t count_ = 0;
};

enum class naive_taken : std::uint8_t { accepted, submit, closed };

/// Messages are numbers.
template <std::size_t Capacity>
struct naive_mailbox {
    naive_state state;
    naive_queue<Capacity> system;
    naive_queue<Capacity> user;

    naive_mailbox() { state.closed = true; }  // begins closed

    naive_taken enqueue(unsigned id) {
        if (state.closed)
            return naive_taken::closed;
        user.push_back(id);
        return answer(state.user_work());
    }
    naive_taken enqueue_system(unsigned id) {
        if (state.closed)
            return naive_taken::closed;
        system.push_back(id);
        return answer(state.system_work());
    }
    bool offer_work() {
        if (!system.empty() && state.system_work() == tactus::mailbox_owed::submit)
            return true;
        return !user.empty() && state.user_work() == tactus::mailbox_owed::submit;
    }
    naive_taken end_run() {
        if (state.run_ended() == tactus::mailbox_owed::finalize)
            return naive_taken::closed;
        return offer_work() ? naive_taken::submit : naive_taken::accepted;
    }
    void open(bool scheduled) {
        state = {};
        state.scheduled = scheduled;
    }

private:
    static naive_taken answer(tactus::mailbox_owed owed) {
        return owed == tactus::mailbox_owed::submit ? naive_taken::submit : naive_taken::accepted;
    }
};

}  // namespace tactus_test
