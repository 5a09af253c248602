// SPDX-License-Identifier: Apache-2.0
//
// Coordinated shutdown: a system ends in phases, each with tasks of the program (EV-3).
//
//     system.shutdown().add_task(phases::service_unbind, "close the door", [&] { door.close(); });
//     auto ended = system.shutdown().run({.name = "maintenance"});
//     std::puts(ended.get().text().c_str());
//
// Phases run one after the other, the tasks of a phase beside each other: all are started, in the
// order of their registration, and the phase ends when all are done or its timeout is over. It runs
// once; whoever asks again gets the same result. The last phase ends the actors.
//
// Tasks are started by a thread of the shutdown's own, never by a worker. One that does not return
// holds up those behind it in its phase, but not the phase's timeout: the next phase has another
// thread then. So the whole takes no longer than the sum of the timeouts, or the limit.
//
// Thread safety: any thread, also from within tasks and actors; only waiting for the result is not
// for actors, nor for tasks.
#pragma once

#include <chrono>
#include <cstdint>
#include <expected>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tactus/actor/log.hpp>
#include <tactus/runtime/shutdown_phases.hpp>
#include <tactus/runtime/shutdown_task.hpp>

namespace tactus::inline v0 {

/// Why it is shut down. Programs have their own.
struct shutdown_reason {
    std::string name = "unknown";
    std::optional<int> exit_code = {};          // none: that of the options
    std::optional<bool> terminate_system = {};  // none: as the options say

    [[nodiscard]] static shutdown_reason system_terminate() { return {.name = "system_terminate"}; }
    [[nodiscard]] static shutdown_reason drain() { return {.name = "drain"}; }
    [[nodiscard]] static shutdown_reason guardian_failed();
    [[nodiscard]] static shutdown_reason driver_stopped();  // TS-7: nobody keeps the time
    [[nodiscard]] static shutdown_reason signal(int number);
};

struct shutdown_options {
    std::vector<shutdown_phase> phases = default_shutdown_phases();
    std::chrono::nanoseconds default_timeout = std::chrono::seconds(5);
    // Of the whole; when it is over, only the actors are still ended. None: the sum of the phases.
    std::optional<std::chrono::nanoseconds> limit = {};
    bool run_by_terminate = true;  // actor_system::terminate(), and its destructor, run it
    bool terminate_system = true;  // the last phase ends the actors
    bool exit = false;             // then the process ends, by std::quick_exit(exit_code())
    int exit_code = 0;
};
/// What is wrong with them, if something is.
[[nodiscard]] std::optional<shutdown_error> fault_of(const shutdown_options& o);

/// What became of a shutdown.
struct shutdown_result {
    enum class passed : std::uint8_t {
        ran,
        disabled,
        before_start,  // the run began behind it
        not_reached,   // a phase that does not recover failed, or the limit was over
    };
    struct task {
        std::string name;
        shutdown_task_state how;
        std::string text = {};  // why, if it failed
    };
    struct phase {
        std::string name;
        passed how = passed::not_reached;
        std::vector<task> tasks = {};
        std::chrono::nanoseconds took = {};
    };
    shutdown_reason reason;
    std::vector<phase> phases = {};
    bool limit_exceeded = false;
    std::string failure = {};  // why it ended early; empty: it did not

    [[nodiscard]] bool completed() const noexcept { return failure.empty(); }
    /// Nothing failed or timed out, either.
    [[nodiscard]] bool is_clean() const noexcept;
    /// Lines for people: what did not go well; "shutdown (reason): all went well".
    [[nodiscard]] std::string text() const;
};

class coordinated_shutdown {
public:
    /// What the system does for it.
    struct hooks {
        std::function<void(bool terminates)> begins = {};
        std::function<void(shutdown_done)> terminate = {};
        std::function<void(log_level, std::string_view)> log = {};
        std::function<void()> over = {};  // the result is there
        std::function<void(int code)> exit = {};
        std::uint32_t system_number = 0;  // tasks may tell its actors while it drains; 0: none
    };
    /// What fault_of finds fault with is thrown (std::invalid_argument).
    coordinated_shutdown(const shutdown_options& o, hooks h);
    /// Waits for a run that is going on.
    ~coordinated_shutdown();
    /// Nobody waits for the run any more. What the hooks use stays for good.
    void abandon() noexcept;
    coordinated_shutdown(const coordinated_shutdown&) = delete;
    coordinated_shutdown& operator=(const coordinated_shutdown&) = delete;

    /// A phase that is not there or a task without a name is thrown (std::invalid_argument); a
    /// phase that runs or has run changes nothing. The same task may be added more than once.
    template <shutdown_work F>
    shutdown_task add_task(std::string_view phase, std::string_view name, F&& work) {
        return add(phase, name, detail::task_of(std::forward<F>(work)));
    }
    /// As add_task, with what is wrong as a value.
    template <shutdown_work F>
    [[nodiscard]] std::expected<shutdown_task, shutdown_error> try_add_task(std::string_view phase,
                                                                            std::string_view name,
                                                                            F&& work) {
        return try_add(phase, name, detail::task_of(std::forward<F>(work)));
    }

    /// Begins, unless it has begun; returns at once.
    std::shared_future<shutdown_result> run(const shutdown_reason& why);
    /// From a phase on; the tasks of those before it are skipped.
    [[nodiscard]] std::expected<std::shared_future<shutdown_result>, shutdown_error> run_from(
        std::string_view phase, const shutdown_reason& why);
    /// Why it runs, or has run.
    [[nodiscard]] std::optional<shutdown_reason> reason() const;
    /// True when it runs, or has run, and its last phase ends the actors.
    [[nodiscard]] bool ends_actors() const noexcept;
    /// What the process is to end with.
    [[nodiscard]] int exit_code() const;

    /// In their order.
    [[nodiscard]] std::vector<shutdown_phase> all_phases() const;
    [[nodiscard]] std::expected<std::chrono::nanoseconds, shutdown_error> timeout(
        std::string_view phase) const;
    /// The sum over the phases that have tasks.
    [[nodiscard]] std::chrono::nanoseconds total_timeout() const;

private:
    using call = std::function<void(const shutdown_done&)>;
    [[nodiscard]] shutdown_task add(std::string_view phase, std::string_view name, call work);
    [[nodiscard]] std::expected<shutdown_task, shutdown_error> try_add(std::string_view phase,
                                                                       std::string_view name,
                                                                       call work);

    std::shared_ptr<detail::shutdown_core> core_;
};

}  // namespace tactus::inline v0
