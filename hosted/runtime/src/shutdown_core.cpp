// SPDX-License-Identifier: Apache-2.0
//
// The conductor's way through the phases.
#include "shutdown_core.hpp"

#include "signals_blocked.hpp"
#include "wait_until.hpp"

#include <algorithm>
#include <exception>
#include <sstream>
#include <system_error>
#include <utility>

#include <pthread.h>

namespace tactus::inline v0::detail {
namespace {

using runtime::signals_blocked;

constexpr std::string_view ends_actors_name = "terminate-system";

std::unexpected<shutdown_error> unknown_phase(std::string_view name) {
    return std::unexpected(shutdown_error{
        shutdown_error::kind::unknown_phase,
        "the shutdown has no phase named '" + std::string(name) + "'; phases are configured"});
}

std::string in_ms(std::chrono::nanoseconds d) {
    return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(d).count()) + " ms";
}

/// Null when the machine gives none.
template <class Work>
std::thread try_thread(const char* name, Work&& work) {
    const signals_blocked blocked;
    try {
        std::thread made(std::forward<Work>(work));
        pthread_setname_np(made.native_handle(), name);
        return made;
    } catch (const std::exception&) {
        return {};
    }
}

}  // namespace

shutdown_core::shutdown_core(shutdown_options o, coordinated_shutdown::hooks h)
    : how_(std::move(o)), hooks_(std::move(h)) {
    std::vector<shutdown_phase> all = how_.phases;
    if (hooks_.terminate && std::ranges::find(all, phases::actor_system_terminate,
                                              &shutdown_phase::name) == all.end()) {
        shutdown_phase last{.name = std::string(phases::actor_system_terminate)};
        for (const shutdown_phase& p : all)
            last.depends_on.push_back(p.name);
        all.push_back(std::move(last));
    }
    auto sorted = in_order(all);
    for (shutdown_phase& p : *sorted)
        phases_.push_back({.what = std::move(p)});
}

void shutdown_core::begin() {
    if (!hooks_.terminate)
        return;
    // A weak one: the task is part of what it would keep alive.
    auto ends = std::make_shared<shutdown_task_record>(
        std::string(ends_actors_name),
        [of = weak_from_this()](const shutdown_done& done) {
            const auto self = of.lock();
            if (self != nullptr && self->terminates())
                self->hooks_.terminate(done);
            else
                done();
        },
        true);
    find(phases::actor_system_terminate)->tasks.push_back(std::move(ends));
}

void shutdown_core::end() {
    std::thread last;
    {
        const std::lock_guard held(mutex_);
        last = std::move(conductor_);
        if (!reason_) {
            for (phase& p : phases_)
                p.at = progress::over;
        }
    }
    if (last.joinable())
        last.join();
}

void shutdown_core::abandon() noexcept {
    const std::lock_guard held(mutex_);
    if (conductor_.joinable())
        conductor_.detach();  // it shares this
}

shutdown_core::phase* shutdown_core::find(std::string_view name) {
    const auto at =
        std::ranges::find_if(phases_, [&](const phase& p) { return p.what.name == name; });
    return at == phases_.end() ? nullptr : &*at;
}

// ---- tasks

std::expected<shutdown_task, shutdown_error> shutdown_core::add(std::string_view phase_name,
                                                                std::string_view name,
                                                                shutdown_call work) {
    const std::lock_guard held(mutex_);
    phase* p = find(phase_name);
    if (p == nullptr)
        return unknown_phase(phase_name);
    if (name.empty())
        return std::unexpected(
            shutdown_error{shutdown_error::kind::empty_name,
                           "a task of phase '" + p->what.name + "' has no name"});
    if (p->at != progress::waiting)
        return std::unexpected(shutdown_error{shutdown_error::kind::phase_over,
                                              "phase '" + p->what.name +
                                                  "' runs or has run: task '" + std::string(name) +
                                                  "' comes too late"});
    auto made = std::make_shared<shutdown_task_record>(std::string(name), std::move(work));
    p->tasks.push_back(made);
    return shutdown_task(shared_from_this(), std::move(made));
}

shutdown_task shutdown_core::never(std::string_view name) {
    auto made = std::make_shared<shutdown_task_record>(std::string(name), shutdown_call{});
    return {shared_from_this(), std::move(made)};
}

bool shutdown_core::cancel(shutdown_task_record& what) {
    const std::lock_guard held(mutex_);
    what.state = after(what.state, shutdown_task_event::cancel);
    return what.state == shutdown_task_state::cancelled;
}

shutdown_task_state shutdown_core::state_of(const shutdown_task_record& what) const {
    const std::lock_guard held(mutex_);
    return what.state;
}

void shutdown_core::finish(shutdown_task_record& what, shutdown_task_event how,
                           std::string_view text) noexcept {
    const std::lock_guard held(mutex_);
    const shutdown_task_state next = after(what.state, how);
    if (next == what.state)
        return;
    what.state = next;
    tell([&] { what.text = text; });
    changed_.notify_all();
}

// ---- running

std::expected<shutdown_core::future, shutdown_error> shutdown_core::run(
    std::string_view from, const shutdown_reason& why) {
    {
        const std::lock_guard held(mutex_);
        if (!from.empty()) {
            const phase* p = find(from);
            if (p == nullptr)
                return unknown_phase(from);
            if (!reason_)
                first_ = static_cast<std::size_t>(p - phases_.data());
        }
        if (reason_)
            return future_;
        reason_ = why;
        if (how_.limit)
            limit_ = runtime::end_of(clock::now(), *how_.limit);
        conductor_ =
            try_thread("tactus-shutdown", [self = shared_from_this()] { self->conduct(); });
        if (conductor_.joinable())
            return future_;
    }
    // Better here than not at all.
    conduct();
    return future_;
}

void shutdown_core::conduct() noexcept {
    if (hooks_.begins)
        hooks_.begins(terminates());
    // NOLINTNEXTLINE(bugprone-unchecked-optional-access): who conducts has one
    tell([&] { log(log_level::debug, "shutdown begins: " + reason()->name); });
    for (std::size_t i = 0; i < phases_.size(); ++i) {
        if (i < first_) {
            skip(phases_[i], shutdown_result::passed::before_start);
            continue;
        }
        if (!pass(phases_[i])) {
            for (++i; i < phases_.size(); ++i)
                skip(phases_[i], shutdown_result::passed::not_reached);
        }
    }
    try {
        shutdown_result all = result();
        tell([&] {
            const log_level level = all.is_clean() ? log_level::debug : log_level::warning;
            std::istringstream lines(all.text());
            for (std::string line; std::getline(lines, line);)
                log(level, line);
        });
        promise_.set_value(std::move(all));
    } catch (...) {
        promise_.set_exception(std::current_exception());  // no memory for the result
    }
    if (hooks_.over)
        hooks_.over();
    if (how_.exit && hooks_.exit)
        hooks_.exit(exit_code());
}

bool shutdown_core::pass(phase& p) noexcept {
    const clock::time_point begun = clock::now();
    std::unique_lock held(mutex_);
    if (!p.what.enabled) {
        const std::size_t count = p.tasks.size();
        held.unlock();
        skip(p, shutdown_result::passed::disabled);
        if (count != 0)
            tell([&] {
                log(log_level::info, "phase '" + p.what.name + "' is disabled: " +
                                         std::to_string(count) + " tasks are skipped");
            });
        return true;
    }
    if (limit_ && begun >= *limit_) {
        limit_exceeded_ = true;
        for (const record& r : p.tasks) {
            if (!r->ends_actors)
                r->state = after(r->state, shutdown_task_event::skip);
        }
    }
    p.at = progress::running;
    p.how = limit_exceeded_ ? shutdown_result::passed::not_reached : shutdown_result::passed::ran;
    const auto waits = [](const record& r) { return r->state == shutdown_task_state::pending; };
    if (std::ranges::none_of(p.tasks, waits)) {
        p.at = progress::over;
        return true;
    }
    const std::chrono::nanoseconds most = timeout_of(p);
    clock::time_point end = runtime::end_of(begun, most);
    if (limit_)
        end = std::min(end, std::max(*limit_, begun));
    const bool late = limit_exceeded_;
    held.unlock();
    std::thread starter;
    // After the limit there is no time to wait for a thread, and only the actors' end to begin.
    if (!late)
        starter = try_thread("tactus-stopping",
                             [self = shared_from_this(), &p] { self->start_tasks(p); });
    if (!starter.joinable())
        start_tasks(p);
    held.lock();
    changed_.wait_until(held, end, [&] { return p.starter_back && is_over(p); });
    p.took = clock::now() - begun;
    close(p, most);
    const bool back = p.starter_back;
    const bool failed = std::ranges::any_of(p.tasks, [](const record& r) {
        return r->state == shutdown_task_state::failed ||
               r->state == shutdown_task_state::timed_out;
    });
    if (failed && !p.what.recover)
        note_failure(p);
    held.unlock();
    if (!starter.joinable())
        return !failed || p.what.recover;
    if (back)
        starter.join();
    else
        starter.detach();  // in a task that does not return; what it needs, it shares
    return !failed || p.what.recover;
}

// It ends the shutdown: there is a text, whatever memory there is.
void shutdown_core::note_failure(const phase& p) noexcept {
    failure_ = "phase failed";  // a short string needs none
    tell([&] { failure_ = "phase '" + p.what.name + "' failed, and does not recover"; });
}

void shutdown_core::start_tasks(phase& p) noexcept {
    // Nobody adds to a phase that runs.
    for (const record& r : p.tasks) {
        {
            const std::lock_guard held(mutex_);
            if (r->state != shutdown_task_state::pending)
                continue;
            r->state = after(r->state, shutdown_task_event::start);
        }
        start(r);
    }
    const std::lock_guard held(mutex_);
    p.starter_back = true;
    changed_.notify_all();
}

bool shutdown_core::is_over(const phase& p) {
    return std::ranges::none_of(p.tasks, [](const record& r) {
        return r->state == shutdown_task_state::pending || r->state == shutdown_task_state::running;
    });
}

void shutdown_core::skip(phase& p, shutdown_result::passed how) noexcept {
    const std::lock_guard held(mutex_);
    p.at = progress::over;
    p.how = how;
    for (const record& r : p.tasks)
        r->state = after(r->state, shutdown_task_event::skip);
}

void shutdown_core::close(phase& p, std::chrono::nanoseconds after_time) noexcept {
    p.at = progress::over;
    for (const record& r : p.tasks) {
        const shutdown_task_state was = r->state;
        r->state = after(was, shutdown_task_event::time_out);
        if (r->state == was)
            continue;
        tell([&] {
            r->text = was == shutdown_task_state::pending
                          ? "not started: a task before it did not return"
                          : "not done after " +
                                in_ms(std::min<std::chrono::nanoseconds>(after_time, p.took));
        });
    }
}

// ---- telling

bool shutdown_core::terminates() const noexcept {
    const std::lock_guard held(mutex_);
    return reason_ && reason_->terminate_system.value_or(how_.terminate_system);
}

std::optional<shutdown_reason> shutdown_core::reason() const {
    const std::lock_guard held(mutex_);
    return reason_;
}

int shutdown_core::exit_code() const {
    const std::lock_guard held(mutex_);
    return reason_ ? reason_->exit_code.value_or(how_.exit_code) : how_.exit_code;
}

std::vector<shutdown_phase> shutdown_core::all_phases() const {
    std::vector<shutdown_phase> all;
    all.reserve(phases_.size());
    for (const phase& p : phases_)
        all.push_back(p.what);
    return all;
}

std::expected<std::chrono::nanoseconds, shutdown_error> shutdown_core::timeout(
    std::string_view name) const {
    for (const phase& p : phases_) {
        if (p.what.name == name)
            return timeout_of(p);
    }
    return unknown_phase(name);
}

std::chrono::nanoseconds shutdown_core::total_timeout() const {
    const std::lock_guard held(mutex_);
    std::chrono::nanoseconds sum{};
    for (const phase& p : phases_) {
        if (p.what.enabled && !p.tasks.empty())
            sum = runtime::sum_of(sum, timeout_of(p));
    }
    return how_.limit ? std::min(sum, *how_.limit) : sum;
}

shutdown_result shutdown_core::result() const {
    const std::lock_guard held(mutex_);
    // NOLINTNEXTLINE(bugprone-unchecked-optional-access): there is a result when it was run
    shutdown_result all{.reason = *reason_};
    all.limit_exceeded = limit_exceeded_;
    all.failure = failure_;
    for (const phase& p : phases_) {
        shutdown_result::phase said{.name = p.what.name, .how = p.how, .took = p.took};
        for (const record& r : p.tasks)
            said.tasks.push_back({r->name, r->state, r->text});
        all.phases.push_back(std::move(said));
    }
    return all;
}

void shutdown_core::log(log_level level, const std::string& text) const {
    if (hooks_.log)
        hooks_.log(level, text);
}

}  // namespace tactus::inline v0::detail
