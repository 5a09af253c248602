// SPDX-License-Identifier: Apache-2.0
//
// One system on fixed memory, run by the test itself, with a journal of what happened in what
// order.
//
// Handlers write the number they were sent; the kernel's events write theirs with an offset, so
// that a test says in one list what it expects: journal().is({1, 2, dead + 3}).
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <utility>

#include <tactus/base/memory_region.hpp>
#include <tactus/dispatch/inline_tick.hpp>
#include <tactus/dispatch/turn.hpp>
#include <tactus/time/manual_clock.hpp>

#include "portable_test.hpp"
#include "test_memory.hpp"

namespace tactus_test {

inline constexpr unsigned kernel_slots = board::roomy ? 64 : 12;
inline constexpr unsigned kernel_envelopes = board::roomy ? 20'000 : 40;

/// How much a rig has room for.
struct kernel_room {
    static constexpr unsigned slots = kernel_slots;
    static constexpr unsigned envelopes = kernel_envelopes;
    static constexpr std::size_t heap_size = board::roomy ? 256 * 1024 : 3'840;
    using memory = test_memory;
};

constexpr tactus::duration ms(std::int64_t n) {
    return tactus::duration::from_ms(n);
}

/// What is sent.
struct number {
    std::uint32_t value;
};

// Offsets of what is not a handled number.
inline constexpr std::int32_t dead = 10'000;     // + the number: a dead letter
inline constexpr std::int32_t system = 20'000;   // + its value: a system message handled
inline constexpr std::int32_t refused = 30'000;  // + its value: a system message refused
inline constexpr std::int32_t freed = 40'000;  // + its value: a system message's node is free again
inline constexpr std::int32_t closed = 50'000;  // a mailbox was closed
inline constexpr std::int32_t ended = 50'001;   // a state was destroyed
inline constexpr std::int32_t failed = 50'002;  // an actor failed

class journal_type {
public:
    void add(std::int32_t what) noexcept {
        if (count_ < sizeof entries_ / sizeof entries_[0])
            entries_[count_] = what;
        ++count_;
    }
    void clear() noexcept { count_ = 0; }
    [[nodiscard]] unsigned count() const noexcept { return count_; }
    [[nodiscard]] std::int32_t at(unsigned i) const noexcept { return entries_[i]; }
    /// Exactly this, in this order; the journal is empty afterwards.
    [[nodiscard]] bool is(std::initializer_list<std::int32_t> expected) noexcept {
        bool good = count_ == expected.size();
        unsigned i = 0;
        for (const std::int32_t e : expected)
            good = good && entries_[i++] == e;
        if (!good) {
            TEST_LOG("the journal has entries:", count_);
            for (unsigned k = 0; k < count_ && k < sizeof entries_ / sizeof entries_[0]; ++k)
                TEST_LOG("   ", entries_[k]);
        }
        clear();
        return good;
    }

private:
    std::int32_t entries_[96] = {};
    unsigned count_ = 0;
};
inline journal_type& journal() noexcept {
    static journal_type one;
    return one;
}

/// A system message with a value, and a note when its node is free again.
struct signal_node : tactus::system_message {
    signal_node(tactus::system_kind k, std::int32_t v, bool noted = false) noexcept : value(v) {
        kind = k;
        if (noted)
            done = [](system_message& m) noexcept {
                journal().add(freed + static_cast<signal_node&>(m).value);
            };
    }
    std::int32_t value;
};

class recorder final : public tactus::kernel_events {
public:
    void dead_letter(tactus::mailbox_index to, tactus::envelope& message,
                     tactus::dead_letter_cause cause) noexcept override {
        ++letters;
        ++by_cause[static_cast<std::size_t>(cause)];
        last_to = to;
        last_sender = message.sender.read();
        if (const number* n = message.get_if<number>())
            journal().add(dead + static_cast<std::int32_t>(n->value));
    }
    void message_lost(tactus::mailbox_index to, const tactus::message_type& type,
                      tactus::dead_letter_cause cause) noexcept override {
        ++lost;
        ++by_cause[static_cast<std::size_t>(cause)];
        last_to = to;
        last_type = &type;
    }
    void system_dead_letter(tactus::mailbox_index to, tactus::system_message& m) noexcept override {
        last_to = to;
        journal().add(refused + static_cast<signal_node&>(m).value);
    }
    void mailbox_closed(tactus::mailbox_index who, std::size_t system_drained,
                        std::size_t user_drained) noexcept override {
        last_closed = who;
        closed_system = system_drained;
        closed_user = user_drained;
        ++closed_count;
        journal().add(closed);
    }
    void actor_failed(tactus::mailbox_index who, const tactus::failure& why) noexcept override {
        last_failed = who;
        last_what = why.what;
        ++failed_count;
        journal().add(failed);
    }
    void deadline_missed(tactus::mailbox_index who, std::int64_t late_ns) noexcept override {
        last_late = who;
        last_late_ns = late_ns;
        ++missed;
    }
    void pressure(const tactus::mailbox_pressure& what) noexcept override {
        ++pressures;
        last_pressure = what;
    }
    void suspended(tactus::mailbox_index who, tactus::held_reason why) noexcept override {
        ++suspensions;
        last_suspended = who;
        last_held = why;
    }
    void resumed(tactus::mailbox_index who) noexcept override {
        ++resumptions;
        last_resumed = who;
    }
    void pool_exhausted(std::uint32_t refused_count) noexcept override {
        ++exhaustions;
        last_exhausted = refused_count;
    }
    [[nodiscard]] unsigned count(tactus::dead_letter_cause cause) const noexcept {
        return by_cause[static_cast<std::size_t>(cause)];
    }

    unsigned letters = 0;
    unsigned lost = 0;
    unsigned by_cause[tactus::dead_letter_cause_count] = {};
    unsigned closed_count = 0;
    unsigned failed_count = 0;
    unsigned missed = 0;
    unsigned pressures = 0;
    unsigned exhaustions = 0;
    std::uint32_t last_exhausted = 0;
    tactus::mailbox_pressure last_pressure{};
    unsigned suspensions = 0;
    unsigned resumptions = 0;
    tactus::mailbox_index last_suspended;
    tactus::mailbox_index last_resumed;
    tactus::held_reason last_held{};
    std::size_t closed_system = 0;
    std::size_t closed_user = 0;
    tactus::mailbox_index last_to;
    tactus::mailbox_index last_sender;
    tactus::mailbox_index last_closed;
    tactus::mailbox_index last_failed;
    tactus::mailbox_index last_late;
    std::int64_t last_late_ns = 0;
    const tactus::message_type* last_type = nullptr;
    const char* last_what = "";
};

/// What a test's actor does beside writing the number down.
using reaction = void (*)(tactus::turn&, std::uint32_t);

/// Leaves system messages to the kernel.
struct plain_actor {
    reaction on = nullptr;
    void receive(tactus::turn& t, tactus::envelope& e) {
        const number* n = e.get_if<number>();
        journal().add(static_cast<std::int32_t>(n->value));
        if (on != nullptr)
            on(t, n->value);
    }
};
/// Writes system messages down, and does what the kernel would.
struct system_actor {
    reaction on = nullptr;
    reaction on_system = nullptr;
    void receive(tactus::turn& t, tactus::envelope& e) { plain_actor{on}.receive(t, e); }
    void receive_system(tactus::turn& t, tactus::system_message& m) {
        const std::int32_t value = static_cast<signal_node&>(m).value;
        journal().add(system + value);
        switch (m.kind) {
        case tactus::system_kind::terminate:
            t.stop();
            break;
        case tactus::system_kind::suspend:
            (void)t.system().suspend(t.self(), tactus::suspension::supervision);
            break;
        case tactus::system_kind::resume:
            (void)t.system().resume(t.self(), tactus::suspension::supervision);
            break;
        default:
            break;
        }
        if (on_system != nullptr)
            on_system(t, static_cast<std::uint32_t>(value));
    }
};
/// Writes down that it ended.
struct ending_actor {
    reaction on = nullptr;
    explicit ending_actor(reaction r = nullptr) noexcept : on(r) {}
    ending_actor(const ending_actor&) = delete;
    ending_actor& operator=(const ending_actor&) = delete;
    ~ending_actor() { journal().add(ended); }
    void receive(tactus::turn& t, tactus::envelope& e) { plain_actor{on}.receive(t, e); }
};

template <class Room>
class basic_kernel_rig {
public:
    using options = tactus::actor_scheduler::options;

    /// `change` is given the options: what the test wants different.
    template <class Change>
    explicit basic_kernel_rig(Change&& change) noexcept
        : memory({heap(), heap_size}),
          slots_({places(), sizeof_places}),
          envelopes_({letters(), sizeof_letters}),
          kernel(std::in_place, changed(change)),
          ticks(std::in_place, *kernel) {}
    basic_kernel_rig() noexcept : basic_kernel_rig([](options&) {}) {}

    [[nodiscard]] tactus::actor_scheduler& operator*() noexcept { return *kernel; }
    [[nodiscard]] tactus::actor_scheduler* operator->() noexcept { return &*kernel; }

    template <class State = plain_actor, class... Args>
    [[nodiscard]] tactus::mailbox_index spawn(Args... args) noexcept {
        const auto made = kernel->spawn<State>({}, args...);
        EXPECT_TRUE(made.has_value());
        return made ? *made : tactus::mailbox_index{};
    }
    void tell(tactus::mailbox_index to, std::initializer_list<std::uint32_t> values) noexcept {
        for (const std::uint32_t v : values)
            tactus::actor_scheduler::tell(to, number{v});
    }
    std::size_t run(std::size_t max = 1'000'000) noexcept { return ticks->run_until_idle(max); }
    bool run_once() noexcept { return ticks->run_once(); }
    /// Drops the system, keeping events and memory for a last look.
    void destroy() noexcept {
        ticks.reset();
        kernel.reset();
    }
    [[nodiscard]] tactus::slot& at(tactus::mailbox_index who) noexcept {
        return kernel->slots().at(who.slot_number());
    }

    tactus::manual_clock time{tactus::duration::from_ns(1)};
    recorder events;
    Room::memory memory;

private:
    template <class Change>
    [[nodiscard]] options changed(Change& change) noexcept {
        journal().clear();
        options o{.memory = &memory,
                  .slot_memory = &slots_,
                  .envelope_memory = &envelopes_,
                  .slot_capacity = Room::slots,
                  .envelope_capacity = Room::envelopes - 4,
                  .reserve_for_system = 4,
                  .slot_magazine = 1,
                  .envelope_magazine = 1,
                  .time = &time,
                  .ring_capacity = 16,
                  .fresh_capacity = 8,
                  .queue_capacity = Room::slots,
                  .keyed_capacity = 8,
                  .events = &events};
        change(o);
        return o;
    }

    static constexpr std::size_t heap_size = Room::heap_size;
    static constexpr std::size_t sizeof_places = Room::slots * sizeof(tactus::slot);
    static constexpr std::size_t sizeof_letters = Room::envelopes * sizeof(tactus::envelope);
    [[nodiscard]] static std::byte* heap() noexcept {
        alignas(16) static std::byte bytes[heap_size];
        return bytes;
    }
    [[nodiscard]] static std::byte* places() noexcept {
        alignas(tactus::slot) alignas(16) static std::byte bytes[sizeof_places];
        return bytes;
    }
    [[nodiscard]] static std::byte* letters() noexcept {
        alignas(tactus::envelope) alignas(16) static std::byte bytes[sizeof_letters];
        return bytes;
    }

    tactus::fixed_memory slots_;
    tactus::fixed_memory envelopes_;

public:
    // Last, so that all of the above outlives them.
    std::optional<tactus::actor_scheduler> kernel;
    std::optional<tactus::inline_tick> ticks;
};
using kernel_rig = basic_kernel_rig<kernel_room>;

}  // namespace tactus_test
