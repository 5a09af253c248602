// SPDX-License-Identifier: Apache-2.0
//
// What tests of mailbox kinds have in common: a message that counts its lives, an actor that writes
// down what it handles, and options in a line.
#pragma once

#include <cstdint>
#include <utility>

#include <tactus/dispatch/offer.hpp>

#include "kernel_rig.hpp"

namespace tactus_test {

/// A message with a number that counts its lives, and can be moved only.
class parcel {
public:
    explicit parcel(std::uint32_t value) noexcept : value_(value) { ++live; }
    parcel(parcel&& from) noexcept : value_(std::exchange(from.value_, 0U)) { ++live; }
    parcel& operator=(parcel&& from) noexcept {
        value_ = std::exchange(from.value_, 0U);
        return *this;
    }
    ~parcel() { --live; }
    /// 0: moved from.
    [[nodiscard]] std::uint32_t value() const { return value_; }

    static inline int live = 0;

private:
    std::uint32_t value_;
};
struct urgent_number : tactus::control_message {
    std::uint32_t value;
};
inline urgent_number urgently(std::uint32_t value) {
    return {{}, value};
}

/// What a message of any of these types says.
inline std::uint32_t value_of(tactus::envelope& e) {
    if (const parcel* p = e.get_if<parcel>())
        return p->value();
    if (const urgent_number* u = e.get_if<urgent_number>())
        return u->value;
    return e.get_if<number>()->value;
}

/// Writes down what it handles, of any of these types.
struct clerk {
    reaction on = nullptr;
    void receive(tactus::turn& t, tactus::envelope& e) {
        const std::uint32_t value = value_of(e);
        journal().add(static_cast<std::int32_t>(value));
        if (on != nullptr)
            on(t, value);
    }
};

/// The lower number first.
struct by_number final : tactus::message_order {
    [[nodiscard]] answer before(tactus::envelope& a, tactus::envelope& b) noexcept override {
        if (fails)
            return answer::failed;
        const std::uint32_t limit = rank_max;
        const std::uint32_t x = value_of(a) < limit ? value_of(a) : limit;
        const std::uint32_t y = value_of(b) < limit ? value_of(b) : limit;
        return x < y ? answer::yes : answer::no;
    }
    std::uint32_t rank_max = ~0U;  // from here on all are equal
    bool fails = false;
};

[[nodiscard]] inline tactus::mailbox_options bounded(
    std::uint32_t capacity, tactus::overflow how,
    tactus::mailbox_kind kind = tactus::mailbox_kind::fifo) {
    tactus::mailbox_options o;
    o.kind = kind;
    o.capacity = capacity;
    o.when_full = how;
    return o;
}
[[nodiscard]] inline tactus::mailbox_options unbounded(tactus::mailbox_kind kind) {
    tactus::mailbox_options o;
    o.kind = kind;
    return o;
}

/// kernel_rig with actors of every kind.
struct mailbox_rig : kernel_rig {
    using kernel_rig::kernel_rig;

    template <class State = clerk, class... Args>
    [[nodiscard]] tactus::mailbox_index with(const tactus::mailbox_options& o, Args... args) {
        const auto made = kernel->spawn<State>({.mailbox = o, .order = &order}, args...);
        EXPECT_TRUE(made.has_value());
        return made ? *made : tactus::mailbox_index{};
    }

    by_number order;
};

}  // namespace tactus_test
