// SPDX-License-Identifier: Apache-2.0
//
// Keyed timers of one actor (TM-1): a key, a message, and when. A key has one timer: starting it
// again replaces it, and what the old one sent is not delivered, even if it waits in the mailbox:
// the handle of what is due is compared with that of the timer.
//
// A single timer is over before its message is handled. Timers end before pre_restart and
// post_stop.
//
// Belongs to the actor's turn.
#pragma once

#include <concepts>
#include <cstdint>
#include <new>
#include <string_view>
#include <type_traits>
#include <utility>

#include <tactus/base/memory_source.hpp>
#include <tactus/dispatch/actor_scheduler.hpp>
#include <tactus/dispatch/text_buffer.hpp>
#include <tactus/dispatch/timer_service.hpp>
#include <tactus/mailbox/message_type.hpp>

namespace tactus::inline v0 {

/// What timers are known by: a number or a text of the user's. Two keys are equal when both are.
class timer_key {
public:
    // NOLINTNEXTLINE(google-explicit-constructor): any number is a key
    constexpr timer_key(std::integral auto number) noexcept
        : number_(static_cast<std::uint64_t>(number)) {}
    // NOLINTNEXTLINE(google-explicit-constructor): so is any text
    constexpr timer_key(const char* text) noexcept : timer_key(std::string_view(text)) {}
    // NOLINTNEXTLINE(google-explicit-constructor): texts are kept as two hashes of them
    constexpr timer_key(std::string_view text) noexcept
        : number_(hash(text, 14'695'981'039'346'656'037ULL)),
          text_(hash(text, 1'469'598'103ULL) | 1U),
          kept_(text) {}

    /// Bytes of a text that a host keeps, for warnings.
    static constexpr std::size_t text_size = 32;
    /// Writes the key as it was given; a text is cut to text_size bytes. On a device a text is
    /// written as its hash.
    void write(text_builder& to) const noexcept {
        if (text_ == 0 || kept_.view().empty())
            to.add(number_);
        else
            to.add(kept_.view());
    }

    friend constexpr bool operator==(const timer_key&, const timer_key&) = default;

private:
    [[nodiscard]] static constexpr std::uint64_t hash(std::string_view text,
                                                      std::uint64_t seed) noexcept {
        for (const char c : text)
            seed = (seed ^ static_cast<unsigned char>(c)) * 1'099'511'628'211ULL;
        return seed;
    }
    struct no_text {
        constexpr no_text() noexcept = default;
        explicit constexpr no_text(std::string_view) noexcept {}
        [[nodiscard]] static constexpr std::string_view view() noexcept { return {}; }
        friend constexpr bool operator==(const no_text&, const no_text&) = default;
    };
    struct some_text {
        constexpr some_text() noexcept = default;
        explicit constexpr some_text(std::string_view text) noexcept
            : size(static_cast<std::uint8_t>(text.copy(bytes, text_size))) {}
        [[nodiscard]] constexpr std::string_view view() const noexcept { return {bytes, size}; }
        friend constexpr bool operator==(const some_text&, const some_text&) = default;
        char bytes[text_size] = {};
        std::uint8_t size = 0;
    };

    std::uint64_t number_;
    std::uint64_t text_ = 0;
    [[no_unique_address]] std::conditional_t<port::has_interrupts, no_text, some_text> kept_;
};

enum class timer_mode : std::uint8_t { single, fixed_delay, fixed_rate };

/// One timer, with the message it sends.
class actor_timer {
public:
    actor_timer(const actor_timer&) = delete;
    actor_timer& operator=(const actor_timer&) = delete;
    virtual ~actor_timer() = default;

    /// The message in an envelope: moved when it is the last. Null: no envelope, or its copy threw.
    [[nodiscard]] virtual envelope* wrap(actor_scheduler& kernel, mailbox_index who,
                                         bool last) noexcept = 0;
    virtual void release(memory_source& memory) noexcept = 0;

    actor_timer* next = nullptr;
    timer_target target;
    timer_key key = 0;
    timer_handle handle;
    timer_mode mode = timer_mode::single;
    duration interval;
    instant due;
    bool each = false;         // SC-20: missed runs are not folded
    bool is_internal = false;  // the runtime's own, so of high priority
    bool after_sent = false;   // SC-26: the next wait begins when its message was sent
    // SC-24: its message, while a coroutine has it: armed again when that has ended. Null: none.
    const envelope* being_handled = nullptr;

    /// The type of its message; null on a device.
    [[nodiscard]] const message_type* sends() const noexcept { return sends_.get(); }

protected:
    explicit actor_timer(const message_type& sends) noexcept : sends_(sends) {}

private:
    struct no_type {
        explicit no_type(const message_type&) noexcept {}
        [[nodiscard]] static const message_type* get() noexcept { return nullptr; }
    };
    struct some_type {
        explicit some_type(const message_type& t) noexcept : type(&t) {}
        [[nodiscard]] const message_type* get() const noexcept { return type; }
        const message_type* type;
    };
    [[no_unique_address]] std::conditional_t<port::has_interrupts, no_type, some_type> sends_;
};

namespace detail {

template <message M>
class timer_of final : public actor_timer {
public:
    explicit timer_of(M&& message) noexcept(std::is_nothrow_move_constructible_v<M>)
        : actor_timer(message_type_of<M>), message_(std::move(message)) {}
    [[nodiscard]] envelope* wrap(actor_scheduler& kernel, mailbox_index who,
                                 bool last) noexcept override {
        if (last)
            return kernel.wrap(who, std::move(message_));
        if constexpr (std::copy_constructible<M>)
            return kernel.wrap(who, message_);
        else
            return nullptr;  // only single timers are made of these
    }
    void release(memory_source& memory) noexcept override {
        this->~timer_of();
        memory.release(this, sizeof(timer_of), alignof(timer_of));
    }

private:
    M message_;
};

}  // namespace detail

}  // namespace tactus::inline v0
