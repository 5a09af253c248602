// SPDX-License-Identifier: Apache-2.0
//
// A virtual world as probes and tests use it.
#include <tactus/test_kit/kit.hpp>

#include <tactus/dispatch/dump.hpp>

namespace tactus::inline v0::test {

void kit::advance(duration d, std::source_location where) {
    if (d < duration::zero())
        fail("time does not go back, by " + describe(d), where);
    (void)world_.run_until(now() + d, {}, where);
}

void kit::stall(duration d, std::source_location where) {
    if (d < duration::zero())
        fail("time does not go back, by " + describe(d), where);
    world_.stall(d);
}

bool kit::wait(place& at, instant until, const std::function<bool()>& ready,
               const std::source_location& where) {
    return world_.run_until(
        until,
        [&] {
            const std::lock_guard held(at.mutex);
            return ready();
        },
        where);
}

void kit::shutdown(std::source_location where) {
    if (world_.end(where))
        return;
    class string_sink final : public text_sink {
    public:
        void write(std::string_view piece) noexcept override { text += piece; }
        std::string text;
    } left;
    dump_dispatchers(world().kernel(), left, {});
    fail("the world did not end; left are:\n" + left.text + take_recent_failures(), where);
}

}  // namespace tactus::inline v0::test
