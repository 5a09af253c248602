// SPDX-License-Identifier: Apache-2.0
//
// Actors whose handlers are coroutines, on a bare kernel, with frames of memory that is counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include <tactus/actor/coroutine_set.hpp>
#include <tactus/actor/one_shot_signal.hpp>

#include "kernel_rig.hpp"

namespace tactus_test {

// Beside the kernel's, in the journal.
inline constexpr std::int32_t returned = 60'000;   // + the number: its coroutine returned
inline constexpr std::int32_t fell = 61'000;       // + the number: its coroutine failed
inline constexpr std::int32_t destroyed = 62'000;  // + the number: its coroutine was destroyed
inline constexpr std::int32_t gone = 63'000;       // + a value: an object of a frame was destroyed

/// Says when it is destroyed.
struct local {
    std::int32_t value;
    explicit local(std::int32_t v) noexcept : value(v) {}
    ~local() { journal().add(gone + value); }
    local(const local&) = delete;
    local& operator=(const local&) = delete;
};

/// Where frames and waits live.
inline test_memory& frames() noexcept {
    alignas(16) static std::byte bytes[board::roomy ? 64 * 1024 : 2'048];
    static test_memory one({bytes, sizeof bytes});
    return one;
}
/// Nothing is left, and nothing went back wrongly.
inline bool frames_are_free() noexcept {
    return frames().live_blocks == 0 && frames().wrong_releases == 0;
}

inline tactus::coroutine_keep noting(std::uint32_t number) noexcept {
    // The number is all there is to keep.
    return {
        reinterpret_cast<void*>(static_cast<std::uintptr_t>(number)),
        [](tactus::coroutine_set&, const tactus::coroutine_keep& kept,
           tactus::coroutine_end how) noexcept {
            static constexpr std::int32_t offsets[] = {returned, fell, destroyed};
            journal().add(offsets[static_cast<std::size_t>(how)] +
                          static_cast<std::int32_t>(reinterpret_cast<std::uintptr_t>(kept.what)));
        }};
}

/// Each number begins a coroutine; others are handled while it waits (reentrant).
template <class Result = void>
class coroutine_actor {
public:
    using handler = tactus::task<Result> (*)(std::uint32_t);

    explicit coroutine_actor(handler on) noexcept : on_(on) {}

    tactus::handled receive(tactus::turn& t, tactus::envelope& e) {
        if (!set_)
            set_.emplace(t.self(), frames());
        const std::uint32_t value = e.get_if<number>()->value;
        return set_->start_handler([&] { return on_(value); }, noting(value));
    }
    tactus::handled receive_system(tactus::turn& t, tactus::system_message& m) {
        using enum tactus::system_kind;
        switch (m.kind) {
        case continuation:
            return set_->resume(m);
        case terminate:
            t.stop();
            break;
        case recreate:
            set_->destroy_all();
            (void)t.system().resume(t.self(), tactus::suspension::supervision);
            break;
        default:
            break;
        }
        return tactus::handled::ok();
    }

private:
    handler on_;
    std::optional<tactus::coroutine_set> set_;
};

/// What the coroutines of a test wait for; made anew by each test.
class signals {
public:
    signals() noexcept { current() = this; }
    ~signals() { current() = nullptr; }
    signals(const signals&) = delete;
    signals& operator=(const signals&) = delete;

    [[nodiscard]] static tactus::one_shot_signal& at(std::uint32_t i) noexcept {
        return current()->all_[i];
    }

private:
    [[nodiscard]] static signals*& current() noexcept {
        static signals* one = nullptr;
        return one;
    }
    tactus::one_shot_signal all_[6];
};

/// Counts what the kernel refused; continuations are no signal_node.
class refusals final : public tactus::kernel_events {
public:
    void dead_letter(tactus::mailbox_index, tactus::envelope&,
                     tactus::dead_letter_cause cause) noexcept override {
        ++letters;
        last_cause = cause;
    }
    void message_lost(tactus::mailbox_index, const tactus::message_type&,
                      tactus::dead_letter_cause) noexcept override {}
    void system_dead_letter(tactus::mailbox_index, tactus::system_message& m) noexcept override {
        ++systems;
        last_kind = m.kind;
    }
    void mailbox_closed(tactus::mailbox_index, std::size_t, std::size_t) noexcept override {}
    void actor_failed(tactus::mailbox_index, const tactus::failure&) noexcept override {}
    void deadline_missed(tactus::mailbox_index, std::int64_t) noexcept override {}

    unsigned letters = 0;
    unsigned systems = 0;
    tactus::dead_letter_cause last_cause{};
    tactus::system_kind last_kind{};
};

}  // namespace tactus_test
