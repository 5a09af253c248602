// SPDX-License-Identifier: Apache-2.0
//
// Probe host: where a probe lives, and how it waits there. On threads it blocks; in a virtual world
// it runs that world instead, and time passes as fast as the world is idle.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <source_location>
#include <string>
#include <string_view>

#include <tactus/actor/actor_world.hpp>
#include <tactus/test_kit/test_times.hpp>
#include <tactus/time/instant.hpp>

namespace tactus::inline v0::test {

class probe_host {
public:
    /// What a probe waits at: `changed` is notified when something under the mutex did.
    struct place {
        std::mutex mutex;
        std::condition_variable changed;
    };

    [[nodiscard]] virtual actor_world& world() noexcept = 0;
    [[nodiscard]] virtual instant now() const noexcept = 0;
    /// Until `ready`, which is asked with the mutex held, or it is `until`. What `ready` said last.
    /// `where` is the expectation that waits.
    virtual bool wait(place& at, instant until, const std::function<bool()>& ready,
                      const std::source_location& where) = 0;
    [[nodiscard]] virtual const test_times& times() const noexcept = 0;

    /// What actors of it failed with that no test expected, for the text of a failed expectation.
    [[nodiscard]] virtual std::string take_recent_failures() { return {}; }

    [[nodiscard]] std::string path_of(any_ref who);

protected:
    ~probe_host() = default;
};

/// A name nobody had before, in this process: "prefix-17".
[[nodiscard]] std::string unique_name(std::string_view prefix);

}  // namespace tactus::inline v0::test
