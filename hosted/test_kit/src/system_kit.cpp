// SPDX-License-Identifier: Apache-2.0
//
// Names of systems, probes of what was lost, and the end.
#include <tactus/test_kit/system_kit.hpp>

#include <tactus/actor/actor_name.hpp>
#include <tactus/dispatch/dump.hpp>

#include <chrono>

namespace tactus::inline v0::test {

std::string system_name_of(std::string_view text) {
    std::string name;
    for (const char c : text) {
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        const bool plain = letter || (c >= '0' && c <= '9');
        if (!plain && name.empty())
            continue;  // a name begins with a letter or a digit
        name += plain || c == '-' ? c : '_';
    }
    constexpr std::size_t longest = 200;  // leaves room for a number
    if (name.size() > longest)
        name.resize(longest);
    return name.empty() ? "test" : name;
}

system_kit::system_kit(std::string_view test_name, const actor_system::options& o,
                       const test_times& times)
    : system_(unique_name(system_name_of(test_name)), o), host_(system_, times) {}

probe<unhandled_letter> system_kit::create_unhandled_probe(std::source_location where) {
    return create_event_probe<unhandled_letter>("unhandled", where);
}

probe<dead_letter> system_kit::create_dead_letter_probe(std::source_location where) {
    return create_event_probe<dead_letter>("dead-letters", where);
}

probe<dead_letter> system_kit::create_dropped_probe(std::source_location where) {
    probe<dead_letter> p(host_, "dropped", where);
    p.ignore([](const dead_letter& m) {
        switch (m.cause) {
        case dead_letter_cause::mailbox_full:
        case dead_letter_cause::mailbox_timeout:
        case dead_letter_cause::would_block:
        case dead_letter_cause::pool_exhausted:
        case dead_letter_cause::stash_overflow:
            return false;
        default:
            return true;
        }
    });
    if (!system_.world().subscribe<dead_letter>(p.ref()))
        fail(p.name() + ": no memory to subscribe", where);
    return p;
}

void system_kit::shutdown(std::source_location where) {
    shutdown(host_.times().dilated(host_.times().shutdown), where);
}

void system_kit::shutdown(duration limit, std::source_location where) {
    if (system_.terminate_and_wait(std::chrono::nanoseconds(limit.ns())))
        return;
    class string_sink final : public text_sink {
    public:
        void write(std::string_view piece) noexcept override { text += piece; }
        std::string text;
    } left;
    dump_dispatchers(system_.world().kernel(), left, {});
    fail("the system '" + std::string(name()) + "' did not end within " + describe(limit) +
             "; left are:\n" + left.text,
         where);
}

}  // namespace tactus::inline v0::test
