// SPDX-License-Identifier: Apache-2.0
//
// What a program sees: options, reasons, results, and the handles.
#include <tactus/runtime/coordinated_shutdown.hpp>

#include "shutdown_core.hpp"

#include <tactus/dispatch/system_table.hpp>

#include <csignal>
#include <new>
#include <stdexcept>

namespace tactus::inline v0 {

const char* name_of(shutdown_task_state s) noexcept {
    static constexpr const char* names[shutdown_task_state_count] = {
        "pending", "cancelled", "running", "done", "failed", "timed_out", "skipped"};
    return names[static_cast<std::size_t>(s)];
}

// ---- reasons and options

shutdown_reason shutdown_reason::guardian_failed() {
    return {.name = "guardian_failed", .exit_code = 70};  // EX_SOFTWARE
}

shutdown_reason shutdown_reason::driver_stopped() {
    return {.name = "driver_stopped", .exit_code = 70};
}

shutdown_reason shutdown_reason::signal(int number) {
    return {.name = number == SIGTERM  ? "SIGTERM"
                    : number == SIGINT ? "SIGINT"
                                       : "signal " + std::to_string(number)};
}

std::optional<shutdown_error> fault_of(const shutdown_options& o) {
    const auto zero = std::chrono::nanoseconds::zero();
    if (o.run_by_terminate && !o.terminate_system)
        return shutdown_error{shutdown_error::kind::contradiction,
                              "terminate() would run the shutdown, which is not to terminate the "
                              "system: set run_by_terminate to false as well, or terminate_system "
                              "to true"};
    if (o.default_timeout <= zero)
        return shutdown_error{shutdown_error::kind::invalid_timeout,
                              "the default timeout of phases must be positive"};
    if (o.limit && *o.limit <= zero)
        return shutdown_error{shutdown_error::kind::invalid_timeout,
                              "the limit of the shutdown must be positive"};
    const auto sorted = in_order(o.phases);
    return sorted ? std::nullopt : std::optional(sorted.error());
}

// ---- results

bool shutdown_result::is_clean() const noexcept {
    for (const phase& p : phases) {
        for (const task& t : p.tasks) {
            if (t.how == shutdown_task_state::failed || t.how == shutdown_task_state::timed_out)
                return false;
        }
    }
    return completed() && !limit_exceeded;
}

std::string shutdown_result::text() const {
    const std::string head = "shutdown (" + reason.name + "): ";
    std::string lines;
    for (const phase& p : phases) {
        for (const task& t : p.tasks) {
            if (t.how == shutdown_task_state::done || t.how == shutdown_task_state::cancelled)
                continue;
            lines += head + "phase '" + p.name + "': task '" + t.name + "' " + name_of(t.how);
            lines += (t.text.empty() ? "" : ": " + t.text) + "\n";
        }
    }
    if (limit_exceeded)
        lines += head + "the limit was over\n";
    if (!failure.empty())
        lines += head + failure + "\n";
    return lines.empty() ? head + "all went well" : lines.substr(0, lines.size() - 1);
}

// ---- handles

class shutdown_done::completion {
public:
    completion(std::shared_ptr<detail::shutdown_core> of,
               std::shared_ptr<detail::shutdown_task_record> what) noexcept
        : of_(std::move(of)), what_(std::move(what)) {}
    /// The last copy is gone, so the task cannot report any more.
    ~completion() {
        say(shutdown_task_event::fail,
            "every copy of its shutdown_done was destroyed without being called");
    }
    completion(const completion&) = delete;
    completion& operator=(const completion&) = delete;

    void say(shutdown_task_event how, std::string_view text) { of_->finish(*what_, how, text); }

private:
    std::shared_ptr<detail::shutdown_core> of_;
    std::shared_ptr<detail::shutdown_task_record> what_;
};

void shutdown_done::operator()() const {
    if (of_ != nullptr)
        of_->say(shutdown_task_event::succeed, {});
}
void shutdown_done::fail(std::string_view why) const {
    if (of_ != nullptr)
        of_->say(shutdown_task_event::fail, why);
}

bool shutdown_task::cancel() {
    return of_->cancel(*what_);
}
shutdown_task_state shutdown_task::state() const {
    return of_->state_of(*what_);
}

void detail::shutdown_core::start(const record& r) noexcept {
    shutdown_done done(nullptr);
    try {
        done.of_ = std::make_shared<shutdown_done::completion>(shared_from_this(), r);
    } catch (const std::bad_alloc&) {
        finish(*r, shutdown_task_event::fail, "no memory to start it");
        if (r->ends_actors && terminates())
            hooks_.terminate(done);  // their end is not reported
        return;
    }
    try {
        const system_table::insider acts(hooks_.system_number);
        r->work(done);
    } catch (const std::exception& e) {
        done.fail(e.what());
    } catch (...) {
        done.fail("exception of unknown type");
    }
}

// ---- the class

coordinated_shutdown::coordinated_shutdown(const shutdown_options& o, hooks h) {
    if (const auto wrong = fault_of(o))
        throw std::invalid_argument(wrong->text);
    core_ = std::make_shared<detail::shutdown_core>(o, std::move(h));
    core_->begin();
}

coordinated_shutdown::~coordinated_shutdown() {
    core_->end();
}

void coordinated_shutdown::abandon() noexcept {
    core_->abandon();
}

std::expected<shutdown_task, shutdown_error> coordinated_shutdown::try_add(std::string_view phase,
                                                                           std::string_view name,
                                                                           call work) {
    return core_->add(phase, name, std::move(work));
}

shutdown_task coordinated_shutdown::add(std::string_view phase, std::string_view name, call work) {
    auto added = try_add(phase, name, std::move(work));
    if (added)
        return std::move(*added);
    if (added.error().what != shutdown_error::kind::phase_over)
        throw std::invalid_argument(added.error().text);
    return core_->never(name);
}

std::shared_future<shutdown_result> coordinated_shutdown::run(const shutdown_reason& why) {
    return *core_->run({}, why);
}
std::expected<std::shared_future<shutdown_result>, shutdown_error> coordinated_shutdown::run_from(
    std::string_view phase, const shutdown_reason& why) {
    return core_->run(phase, why);
}
std::optional<shutdown_reason> coordinated_shutdown::reason() const {
    return core_->reason();
}
bool coordinated_shutdown::ends_actors() const noexcept {
    return core_->terminates();
}
int coordinated_shutdown::exit_code() const {
    return core_->exit_code();
}
std::vector<shutdown_phase> coordinated_shutdown::all_phases() const {
    return core_->all_phases();
}
std::expected<std::chrono::nanoseconds, shutdown_error> coordinated_shutdown::timeout(
    std::string_view phase) const {
    return core_->timeout(phase);
}
std::chrono::nanoseconds coordinated_shutdown::total_timeout() const {
    return core_->total_timeout();
}

}  // namespace tactus::inline v0
