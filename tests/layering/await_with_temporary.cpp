// SPDX-License-Identifier: Apache-2.0
//
// g++ 12 copies the bits of an aggregate or a function that is made within a co_await: one that
// owns something must have a name (docs/coroutines.md). UNNAMED: number of the await without one.
#include <tactus/actor/ask.hpp>
#include <tactus/actor/retry.hpp>

#include <string>

#if !defined(UNNAMED)
#define UNNAMED 0
#endif

namespace {

using tactus::duration;

struct question {
    std::string text;
    tactus::actor_ref<int> reply_to;
};
struct farewell {
    std::string text;
};
class noted {
public:
    struct request {
        std::string text;
    };
    using result = void;
    noted(request&&, tactus::waker&, tactus::mailbox_index) noexcept {}
    bool start() noexcept { return false; }
    bool give_up() noexcept { return true; }
    void take() noexcept {}
};

class asker : public tactus::actor<std::string> {
public:
    tactus::task<> on(std::string m) {
        const auto make = [m](auto me) { return question{m, me}; };
        const auto again = [m, this] { return context().delay(duration::from_ms(1)); };
        const farewell bye{m};
#if UNNAMED == 1
        const auto reply = co_await context().ask<int>(
            sender(), [m](auto me) { return question{m, me}; }, duration::from_ms(1));
#else
        const auto reply = co_await context().ask<int>(sender(), make, duration::from_ms(1));
#endif
#if UNNAMED == 2
        (void)co_await context().offer(sender(), farewell{m});
#else
        (void)co_await context().offer(sender(), bye);
        auto offer = context().offer(sender(), farewell{m});  // is not in a co_await
        (void)co_await offer;
        (void)co_await context().offer(sender(), m + m);  // has constructors
#endif
#if UNNAMED == 3
        (void)co_await context().graceful_stop(sender(), duration::from_ms(1), farewell{m});
#else
        (void)co_await context().graceful_stop(sender(), duration::from_ms(1), bye);
        (void)co_await context().graceful_stop(sender(), duration::from_ms(1));
#endif
#if UNNAMED == 4
        (void)co_await tactus::retry({.retries = 1},
                                     [m, this] { return context().delay(duration::from_ms(1)); });
#else
        (void)co_await tactus::retry({.retries = 1}, again);
#endif
#if UNNAMED == 5
        co_await tactus::wait_awaiter<noted>({m});
#else
        tactus::wait_awaiter<noted> wait({m});
        co_await wait;
#endif
        if (!reply)
            context().stop();
    }
};

}  // namespace

const void* used() {
    return &tactus::actor_type_of<asker>();
}
