// SPDX-License-Identifier: Apache-2.0
//
// A virtual world as probes and tests use it.
#include <tactus/test_kit/kit.hpp>

#include <tactus/dispatch/dump.hpp>

namespace tactus::inline v0::test {

void kit::advance(duration d) {
    if (d < duration::zero())
        fail("time does not go back, by " + describe(d));
    (void)world_.run_until(now() + d, {});
}

void kit::stall(duration d) {
    if (d < duration::zero())
        fail("time does not go back, by " + describe(d));
    world_.stall(d);
}

bool kit::wait(place& at, instant until, const std::function<bool()>& ready) {
    return world_.run_until(until, [&] {
        const std::lock_guard held(at.mutex);
        return ready();
    });
}

void kit::shutdown() {
    if (world_.end())
        return;
    class string_sink final : public text_sink {
    public:
        void write(std::string_view piece) noexcept override { text += piece; }
        std::string text;
    } left;
    dump_dispatchers(world().kernel(), left, {});
    fail("the world did not end; left are:\n" + left.text);
}

}  // namespace tactus::inline v0::test
