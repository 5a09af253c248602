// SPDX-License-Identifier: Apache-2.0
//
// System kit: an actor_system with threads for one test (C-TST-4).
//
//     test::system_kit kit("parser/reads a file");       // the system is "parser_reads_a_file-1"
//     auto probe = kit.create_probe<line>();
//     auto lost = kit.create_dead_letter_probe();
//     ...
//     kit.shutdown();                                     // fails when somebody does not end
//
// Expectations wait in real time, dilated. The destructor ends the system, too; that it did not end
// in time is said by the system then.
//
// Thread safety: as actor_system; probes belong to the test's thread.
#pragma once

#include <chrono>
#include <source_location>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include <tactus/actor/system_events.hpp>
#include <tactus/runtime/actor_system.hpp>
#include <tactus/test_kit/probe.hpp>

namespace tactus::inline v0::test {

/// A name for a system, of any text: letters, digits, '-' and '_' stay, the rest becomes '_'.
[[nodiscard]] std::string system_name_of(std::string_view text);

class system_kit {
public:
    explicit system_kit(std::string_view test_name, const actor_system::options& o = {},
                        const test_times& times = test_times::from_environment());

    [[nodiscard]] actor_system& system() noexcept { return system_; }
    [[nodiscard]] probe_host& host() noexcept { return host_; }
    [[nodiscard]] std::string_view name() const noexcept { return system_.name(); }

    template <class A, class... Args>
    tactus::detail::ref_of<A> spawn(std::string_view name, Args&&... args) {
        static_assert(tactus::detail::constructor_arguments<A, Args...>::met);
        return system_.spawn<A>(name, std::forward<Args>(args)...);
    }
    template <class A, class... Args>
    tactus::detail::ref_of<A> spawn_anonymous(Args&&... args) {
        static_assert(tactus::detail::constructor_arguments<A, Args...>::met);
        return system_.spawn_anonymous<A>(std::forward<Args>(args)...);
    }
    template <class... Ms>
    actor_ref<Ms...> spawn(behavior<Ms...> first, std::string_view name = {}) {
        return system_.spawn(std::move(first), name);
    }
    template <class... Ms>
    [[nodiscard]] probe<Ms...> create_probe(
        std::string_view prefix = "probe",
        std::source_location where = std::source_location::current()) {
        return probe<Ms...>(host_, prefix, where);
    }
    /// Those it is made after: what was lost before is not told.
    [[nodiscard]] probe<unhandled_letter> create_unhandled_probe(
        std::source_location where = std::source_location::current());
    [[nodiscard]] probe<dead_letter> create_dead_letter_probe(
        std::source_location where = std::source_location::current());
    /// Dead letters of mailboxes that did not take them: full, or nobody made room in time.
    [[nodiscard]] probe<dead_letter> create_dropped_probe(
        std::source_location where = std::source_location::current());
    template <event E>
    [[nodiscard]] probe<E> create_event_probe(
        std::string_view prefix = "events",
        std::source_location where = std::source_location::current()) {
        probe<E> p(host_, prefix, where);
        if (!system_.world().subscribe<E>(p.ref()))
            fail(p.name() + ": no memory to subscribe", where);
        return p;
    }
    /// C-TST-2: none of the probes gets anything for so long, in real time; a message that is late
    /// because its dispatcher was blocked is found, too.
    template <class... Probes>
    void expect_no_message_for(located<duration> d, Probes&... probes) {
        const instant since = host_.now();
        const duration limit = host_.times().dilated(d.value);
        while (host_.now() - since < limit && !(probes.has_messages() || ...))
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        (probes.expect_none_yet(limit, since, d.where), ...);
    }
    /// Ends the system. Who is left after the time is told as a failed expectation.
    void shutdown(std::source_location where = std::source_location::current());
    void shutdown(duration limit, std::source_location where = std::source_location::current());

private:
    actor_system system_;
    detail::system_host host_;
};

}  // namespace tactus::inline v0::test
