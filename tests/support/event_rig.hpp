// SPDX-License-Identifier: Apache-2.0
//
// Events of a small family, and actors that write down what they are told.
//
//     a <- b2 <- c      a <- b3      cc, at, bt <- ccatbt      top <- left, right <- bottom
//
// An entry of the journal says who was told which event as what: told(who, as, event).
#pragma once

#include <cstdint>

#include <tactus/actor/event_stream.hpp>

#include "kernel_rig.hpp"

namespace tactus_test {

struct event_a {
    std::int32_t number = 0;
};
struct event_b2 : event_a {
    using event_bases = tactus::bases<event_a>;
};
struct event_b3 : event_a {
    using event_bases = tactus::bases<event_a>;
};
struct event_c : event_b2 {
    using event_bases = tactus::bases<event_b2>;
};
struct event_at {
    std::int32_t number = 0;
};
struct event_bt {
    std::int32_t number = 0;
};
struct event_cc {
    std::int32_t number = 0;
};
struct event_ccatbt : event_cc, event_at, event_bt {
    using event_bases = tactus::bases<event_cc, event_at, event_bt>;
};
struct event_top {
    event_top() = default;
    explicit event_top(std::int32_t n) noexcept : number(n) {}
    std::int32_t number = 0;
};
struct event_left : virtual event_top {
    using event_bases = tactus::bases<event_top>;
    event_left() = default;
    explicit event_left(std::int32_t n) noexcept : event_top(n) {}
};
struct event_right : virtual event_top {
    using event_bases = tactus::bases<event_top>;
    event_right() = default;
    explicit event_right(std::int32_t n) noexcept : event_top(n) {}
};
struct event_bottom : event_left, event_right {
    using event_bases = tactus::bases<event_left, event_right>;
    event_bottom() = default;
    explicit event_bottom(std::int32_t n) noexcept : event_top(n) {}
};

enum family : std::int32_t {
    is_a,
    is_b2,
    is_b3,
    is_c,
    is_at,
    is_bt,
    is_cc,
    is_ccatbt,
    is_top,
    is_left,
    is_right,
    is_bottom,
};
inline constexpr std::int32_t family_size = 12;

constexpr std::int32_t told(std::int32_t who, family as, std::int32_t event) noexcept {
    return who * 10'000 + as * 100 + event;
}

/// Calls with a value of the type.
template <class Call>
decltype(auto) as_event(family f, std::int32_t number, Call&& call) {
    switch (f) {
    case is_a:
        return call(event_a{number});
    case is_b2:
        return call(event_b2{{number}});
    case is_b3:
        return call(event_b3{{number}});
    case is_c:
        return call(event_c{{{number}}});
    case is_at:
        return call(event_at{number});
    case is_bt:
        return call(event_bt{number});
    case is_cc:
        return call(event_cc{number});
    case is_ccatbt:
        return call(event_ccatbt{{number}, {number}, {number}});
    case is_top:
        return call(event_top(number));
    case is_left:
        return call(event_left(number));
    case is_right:
        return call(event_right(number));
    default:
        return call(event_bottom(number));
    }
}

/// Writes down what it is told.
struct listener {
    std::int32_t who = 0;

    void receive(tactus::turn&, tactus::envelope& e) const {
        bool known = is<event_a, is_a>(e) || is<event_b2, is_b2>(e) || is<event_b3, is_b3>(e) ||
                     is<event_c, is_c>(e) || is<event_at, is_at>(e) || is<event_bt, is_bt>(e);
        known = known || is<event_cc, is_cc>(e) || is<event_ccatbt, is_ccatbt>(e) ||
                is<event_top, is_top>(e) || is<event_left, is_left>(e) ||
                is<event_right, is_right>(e) || is<event_bottom, is_bottom>(e);
        EXPECT_TRUE(known);
    }

private:
    template <class E, family As>
    bool is(tactus::envelope& e) const {
        const E* event = e.get_if<E>();
        if (event == nullptr)
            return false;
        if constexpr (As == is_ccatbt)
            journal().add(told(who, As, static_cast<const event_cc*>(event)->number));
        else
            journal().add(told(who, As, event->number));
        return true;
    }
};

/// A system, a stream, and listeners 1, 2, 3.
class event_rig {
public:
    template <class Change>
    explicit event_rig(Change&& change) noexcept : kernel(change), stream(kernel.memory) {
        for (std::int32_t i = 0; i < 3; ++i)
            who[i] = kernel.spawn<listener>(i + 1);
    }
    event_rig() noexcept : event_rig([](kernel_rig::options&) {}) {}

    /// True: something changed.
    [[nodiscard]] bool subscribe(std::int32_t listener, family f) noexcept {
        return as_event(f, 0, [&]<class E>(const E&) {
            const auto changed = stream.subscribe<E>(who[listener - 1]);
            EXPECT_TRUE(changed.has_value());
            return changed.value_or(false);
        });
    }
    [[nodiscard]] bool unsubscribe(std::int32_t listener, family f) noexcept {
        return as_event(f, 0, [&]<class E>(const E&) {
            const auto changed = stream.unsubscribe<E>(who[listener - 1]);
            EXPECT_TRUE(changed.has_value());
            return changed.value_or(false);
        });
    }
    [[nodiscard]] bool unsubscribe(std::int32_t listener) noexcept {
        return stream.unsubscribe(who[listener - 1]);
    }
    /// Publishes, numbered from 1, and runs until all is told.
    void publish(std::initializer_list<family> events) noexcept {
        std::int32_t number = 0;
        for (const family f : events)
            as_event(f, ++number, [&](const auto& e) { stream.publish(e); });
        kernel.run();
    }

    kernel_rig kernel;
    tactus::event_stream stream;
    tactus::mailbox_index who[3];
};

}  // namespace tactus_test
