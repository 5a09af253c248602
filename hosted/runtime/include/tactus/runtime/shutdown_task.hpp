// SPDX-License-Identifier: Apache-2.0
//
// One task of a coordinated shutdown: its states, the handle by which it says that it is done, and
// the one by which it can be cancelled.
//
//     shutdown.add_task("service-stop", "flush", [] { flush(); });
//     shutdown.add_task("service-unbind", "close", [&](shutdown_done done) {
//         server.close([done] { done(); });
//     });
//
// A task without a parameter is done when it returns. One that takes a shutdown_done is done when
// that was called, from whatever thread. An exception, done.fail(text), or a handle of which the
// last copy went away unused is a failure.
//
// Thread safety: handles from any thread; they may outlive the system.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace tactus::inline v0 {

enum class shutdown_task_state : std::uint8_t {
    pending,
    cancelled,
    running,
    done,
    failed,
    timed_out,
    skipped,  // its phase is disabled, or was not reached
};
inline constexpr std::size_t shutdown_task_state_count = 7;
[[nodiscard]] const char* name_of(shutdown_task_state s) noexcept;

enum class shutdown_task_event : std::uint8_t { cancel, start, succeed, fail, time_out, skip };
inline constexpr std::size_t shutdown_task_event_count = 6;

namespace detail {

struct shutdown_task_row {
    shutdown_task_state from;
    shutdown_task_event on;
    shutdown_task_state to;
};
inline constexpr auto shutdown_task_rows = [] {
    using enum shutdown_task_state;
    using enum shutdown_task_event;
    return std::to_array<shutdown_task_row>({
        // from     on        to
        {pending, cancel, cancelled},
        {cancelled, cancel, cancelled},  // again is no fault
        {pending, start, running},
        {running, succeed, done},
        {running, fail, failed},
        {running, time_out, timed_out},
        {pending, time_out, timed_out},  // a task before it did not return
        {pending, skip, skipped},
    });
}();

class shutdown_core;
struct shutdown_task_record;

}  // namespace detail

/// What a task becomes; a pair that has no row comes too late, and changes nothing.
[[nodiscard]] constexpr shutdown_task_state after(shutdown_task_state from,
                                                  shutdown_task_event on) noexcept {
    for (const auto& r : detail::shutdown_task_rows) {
        if (r.from == from && r.on == on)
            return r.to;
    }
    return from;
}

/// Says that a task is done; a value. The first that is said counts, and only in time.
class shutdown_done {
public:
    void operator()() const;
    void fail(std::string_view why) const;

private:
    friend class detail::shutdown_core;
    class completion;
    explicit shutdown_done(std::shared_ptr<completion> of) noexcept : of_(std::move(of)) {}
    std::shared_ptr<completion> of_;
};

/// By which a task is cancelled.
class shutdown_task {
public:
    /// True: it will not run. False: it does, or has.
    bool cancel();
    [[nodiscard]] shutdown_task_state state() const;

private:
    friend class detail::shutdown_core;
    shutdown_task(std::shared_ptr<detail::shutdown_core> of,
                  std::shared_ptr<detail::shutdown_task_record> what) noexcept
        : of_(std::move(of)), what_(std::move(what)) {}
    std::shared_ptr<detail::shutdown_core> of_;
    std::shared_ptr<detail::shutdown_task_record> what_;
};

/// What can be a task.
template <class F>
concept shutdown_work = std::invocable<F&, shutdown_done> || std::invocable<F&>;

namespace detail {

template <shutdown_work F>
[[nodiscard]] std::function<void(const shutdown_done&)> task_of(F&& work) {
    if constexpr (std::invocable<std::remove_cvref_t<F>&, shutdown_done>)
        return [w = std::forward<F>(work)](const shutdown_done& done) mutable { w(done); };
    else
        return [w = std::forward<F>(work)](const shutdown_done& done) mutable {
            w();
            done();
        };
}

}  // namespace detail

}  // namespace tactus::inline v0
