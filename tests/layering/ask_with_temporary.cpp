// SPDX-License-Identifier: Apache-2.0
//
// g++ 12 copies the bits of a function that is made within a co_await: one with a text in it must
// have a name (docs/coroutines.md). UNNAMED: it has none.
#include <tactus/actor/ask.hpp>

#include <string>

namespace {

struct question {
    std::string text;
    tactus::actor_ref<int> reply_to;
};

class asker : public tactus::actor<std::string> {
public:
    tactus::task<> on(std::string m) {
#if defined(UNNAMED)
        const auto reply = co_await context().ask<int>(
            sender(), [m](auto me) { return question{m, me}; }, tactus::duration::from_ms(1));
#else
        const auto make = [m](auto me) { return question{m, me}; };
        const auto reply =
            co_await context().ask<int>(sender(), make, tactus::duration::from_ms(1));
#endif
        if (!reply)
            context().stop();
    }
};

}  // namespace

const void* used() {
    return &tactus::actor_type_of<asker>();
}
