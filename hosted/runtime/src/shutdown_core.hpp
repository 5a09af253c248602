// SPDX-License-Identifier: Apache-2.0
//
// What a coordinated shutdown, its threads and the handles of its tasks share. It lives as long as
// the last of them, so that a task that never returns does not hold up the end of the system.
//
// Two kinds of threads: the conductor goes through the phases and waits with deadlines; for each
// phase that has tasks a starter calls them, and is left behind when it does not come back.
#pragma once

#include <tactus/runtime/coordinated_shutdown.hpp>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <thread>
#include <vector>

namespace tactus::inline v0::detail {

using shutdown_call = std::function<void(const shutdown_done&)>;

struct shutdown_task_record {
    std::string name;
    shutdown_call work;
    bool ends_actors = false;
    // Under the lock
    shutdown_task_state state = shutdown_task_state::pending;
    std::string text = {};
};

class shutdown_core : public std::enable_shared_from_this<shutdown_core> {
public:
    using clock = std::chrono::steady_clock;
    using record = std::shared_ptr<shutdown_task_record>;
    using future = std::shared_future<shutdown_result>;

    shutdown_core(shutdown_options o, coordinated_shutdown::hooks h);
    /// What has to be done before it can be used; it is shared then.
    void begin();
    /// Waits for the conductor.
    void end();
    /// Lets it go, instead.
    void abandon() noexcept;

    [[nodiscard]] std::expected<shutdown_task, shutdown_error> add(std::string_view phase,
                                                                   std::string_view name,
                                                                   shutdown_call work);
    /// A handle of a task that will not run.
    [[nodiscard]] shutdown_task never(std::string_view name);
    [[nodiscard]] bool cancel(shutdown_task_record& what);
    [[nodiscard]] shutdown_task_state state_of(const shutdown_task_record& what) const;
    void finish(shutdown_task_record& what, shutdown_task_event how,
                std::string_view text) noexcept;

    [[nodiscard]] std::expected<future, shutdown_error> run(std::string_view from,
                                                            const shutdown_reason& why);
    [[nodiscard]] std::optional<shutdown_reason> reason() const;
    /// It was begun, and ends the actors.
    [[nodiscard]] bool terminates() const noexcept;
    [[nodiscard]] int exit_code() const;
    [[nodiscard]] std::vector<shutdown_phase> all_phases() const;
    [[nodiscard]] std::expected<std::chrono::nanoseconds, shutdown_error> timeout(
        std::string_view phase) const;
    [[nodiscard]] std::chrono::nanoseconds total_timeout() const;

private:
    enum class progress : std::uint8_t { waiting, running, over };
    struct phase {
        shutdown_phase what;
        progress at = progress::waiting;
        shutdown_result::passed how = shutdown_result::passed::not_reached;
        bool starter_back = false;
        std::vector<record> tasks = {};
        clock::duration took = {};
    };

    [[nodiscard]] phase* find(std::string_view name);
    [[nodiscard]] std::chrono::nanoseconds timeout_of(const phase& p) const {
        return p.what.timeout.value_or(how_.default_timeout);
    }
    void note_failure(const phase& p) noexcept;
    void conduct() noexcept;
    /// False: it failed, and does not recover.
    [[nodiscard]] bool pass(phase& p) noexcept;
    void start_tasks(phase& p) noexcept;
    void start(const record& r) noexcept;
    /// Calls what makes texts; without memory they are missing.
    template <class Making>
    static void tell(Making&& make) noexcept {
        try {
            make();
        } catch (const std::bad_alloc&) {
            return;
        }
    }
    [[nodiscard]] static bool is_over(const phase& p);
    void skip(phase& p, shutdown_result::passed how) noexcept;
    void close(phase& p, std::chrono::nanoseconds after) noexcept;
    [[nodiscard]] shutdown_result result() const;
    void log(log_level level, const std::string& text) const;

    // Constant after begin()
    const shutdown_options how_;
    const coordinated_shutdown::hooks hooks_;

    mutable std::mutex mutex_;
    std::condition_variable changed_;
    // Under the lock
    std::vector<phase> phases_;  // as many as there were at first; in their order
    std::optional<shutdown_reason> reason_;
    std::string failure_;
    bool limit_exceeded_ = false;
    std::promise<shutdown_result> promise_;
    future future_ = promise_.get_future().share();
    // The conductor's
    std::size_t first_ = 0;
    std::optional<clock::time_point> limit_;
    std::thread conductor_;  // of who calls run first, and end
};

}  // namespace tactus::inline v0::detail
