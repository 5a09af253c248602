// SPDX-License-Identifier: Apache-2.0
//
// Building dispatchers from their configuration, looking after them, and ending them all.
#include <tactus/runtime/dispatchers.hpp>

#include "dispatcher_entry.hpp"
#include "wait_until.hpp"

#include <tactus/dispatch/inline_tick.hpp>
#include <tactus/runtime/housekeeper.hpp>

#include <algorithm>
#include <mutex>
#include <ranges>
#include <thread>
#include <utility>
#include <vector>

namespace tactus::inline v0::runtime {
namespace {

TACTUS_CHECK_MODULE("dispatchers");

/// Has threads of its own, and may have more when it needs them.
bool grows(executor_kind kind) {
    return kind == executor_kind::work_stealing_pool || kind == executor_kind::thread_pool;
}
bool has_threads(executor_kind kind) {
    return grows(kind) || kind == executor_kind::pinned;
}
bool runs_one_at_a_time(executor_kind kind) {
    return !grows(kind) && kind != executor_kind::foreign;
}

}  // namespace

const char* name_of(dispatcher_error::kind what) noexcept {
    static constexpr const char* names[] = {
        "unknown_dispatcher",   "duplicate_dispatcher", "executor_missing", "executor_unfit",
        "too_many_dispatchers", "shutting_down",        "threads_refused",  "id_refused"};
    return names[static_cast<std::size_t>(what)];
}

std::string dispatcher_error::text() const {
    static constexpr const char* texts[] = {
        "there is no dispatcher",
        "there is a dispatcher already",
        "a foreign dispatcher needs an executor",
        "the executor does not fit the dispatcher",
        "as many dispatchers as a system may have, and no room",
        "the system is shutting down, and takes no dispatcher",
        "the operating system refuses the threads of dispatcher",
        "the resolver refuses the id of dispatcher",
    };
    std::string text = texts[static_cast<std::size_t>(what)];
    text += " '";
    text += id;
    text += "'";
    if (!detail.empty()) {
        text += ": ";
        text += detail;
    }
    return text;
}

std::string text_of(const place_error& why) {
    if (const auto* e = std::get_if<resolve_error>(&why))
        return std::string(e->text());
    return std::get<dispatcher_error>(why).text();
}

struct dispatchers::state {
    state(actor_scheduler& s, options o) : system(s), how(std::move(o)), keeper(how.system_name) {}

    [[nodiscard]] dispatcher_handle::entry* find(std::string_view id) const {
        for (const auto& e : entries) {
            if (e->id() == id)
                return e.get();
        }
        return nullptr;
    }

    [[nodiscard]] dispatcher_handle::entry::surroundings surroundings() {
        const dispatch_rules rules = how.names != nullptr ? how.names->rules() : dispatch_rules{};
        return {how.system_name, how.events, &keeper, rules.executor_retries, how.slow_after};
    }
    /// C-DCF-8: with the executor of the system, where none is named.
    [[nodiscard]] dispatcher_setup with_executor(dispatcher_setup e) const {
        if (e.config.executor == executor_kind::system_default && how.default_executor != nullptr)
            e.config.executor = executor_kind::foreign;
        if (e.foreign == nullptr)
            e.foreign = how.default_executor;
        return e;
    }
    /// What the resolver knows of an id, which it does from now on.
    [[nodiscard]] resolver::result<const dispatcher_entry*> enter(std::string_view id,
                                                                  const dispatcher_config& c) {
        const auto entered = how.names->add_dispatcher(id, c);
        if (!entered && entered.error().what() != resolve_error::kind::duplicate)
            return std::unexpected(entered.error());
        return how.names->resolve_dispatcher(id);
    }

    actor_scheduler& system;
    options how;
    mutable std::mutex mutex;
    // Under the lock; entries are only added.
    std::vector<std::unique_ptr<dispatcher_handle::entry>> entries;
    bool ended = false;

    housekeeper keeper;
};

dispatcher_config dispatchers::resolved(dispatcher_config c) {
    if (c.executor == executor_kind::system_default)
        c.executor = executor_kind::work_stealing_pool;
    const bool one = runs_one_at_a_time(c.executor);
    if (c.workers == 0) {
        const unsigned cores = std::thread::hardware_concurrency();
        c.workers = one ? 1 : cores == 0 ? 1 : cores;
    }
    if (c.max_workers == 0)
        c.max_workers = grows(c.executor) ? 2 * c.workers : c.workers;
    if (c.max_workers < c.workers)
        c.max_workers = c.workers;
    return c;
}

actor_scheduler::options dispatchers::fill(actor_scheduler::options o,
                                           const dispatcher_config& first) {
    const dispatcher_config c = resolved(first);
    o.worker_count = c.max_workers;
    o.shared_queue = c.executor == executor_kind::thread_pool;
    o.throughput = c.throughput;
    o.throughput_deadline = c.throughput_deadline;
    return o;
}

dispatchers::dispatchers(actor_scheduler& system, options o, const dispatcher_setup& first)
    : state_(std::make_unique<state>(system, std::move(o))) {
    const dispatcher_config c = resolved(first.config);
    TACTUS_CHECK(1, grows(c.executor));
    TACTUS_CHECK(3, system.worker_count() == c.max_workers);
    state_->entries.reserve(1);  // the housekeeper knows it from add on
    auto made = std::make_unique<dispatcher_handle::entry>(system, *system.dispatcher_at(0), first,
                                                           c, state_->surroundings());
    state_->keeper.add(*made);
    const std::lock_guard held(state_->mutex);
    state_->entries.push_back(std::move(made));
}

dispatchers::~dispatchers() {
    force_stop();
}

std::string_view dispatchers::id_of(std::uint32_t number) const {
    const std::lock_guard held(state_->mutex);
    for (const auto& e : state_->entries) {
        if (e->where().number() == number)
            return e->id();
    }
    return {};
}

dispatcher_handle dispatchers::first() const {
    const std::lock_guard held(state_->mutex);
    return {state_->entries[0]->where(), *state_->entries[0]};
}

std::expected<dispatcher_handle, dispatcher_error> dispatchers::find(std::string_view id) {
    {
        const std::lock_guard held(state_->mutex);
        if (dispatcher_handle::entry* e = state_->find(id))
            return dispatcher_handle(e->where(), *e);
    }
    dispatcher_error unknown{dispatcher_error::kind::unknown_dispatcher, std::string(id)};
    if (state_->how.names != nullptr) {
        const auto e = state_->how.names->resolve_dispatcher(id);
        if (e)
            return made_for(**e);
        unknown.detail = e.error().text();
    }
    return std::unexpected(std::move(unknown));
}

std::expected<dispatcher_handle, dispatcher_error> dispatchers::made_for(
    const dispatcher_entry& e) {
    for (;;) {
        {
            const std::lock_guard held(state_->mutex);
            if (dispatcher_handle::entry* made = state_->find(e.id()))
                return dispatcher_handle(made->where(), *made);
        }
        auto added = add({.id = e.id(), .config = e.config()});
        // Somebody else may have been quicker.
        if (added || added.error().what != dispatcher_error::kind::duplicate_dispatcher)
            return added;
    }
}

std::expected<spawn_options, place_error> dispatchers::place(const resolve_request& wanted) {
    TACTUS_CHECK(4, state_->how.names != nullptr);
    const auto resolved = state_->how.names->resolve(wanted);
    if (!resolved)
        return std::unexpected(resolved.error());
    const auto where = made_for(*resolved->dispatcher);
    if (!where)
        return std::unexpected(where.error());
    return spawn_options{.priority = wanted.choice.priority,
                         .mailbox = resolved->mailbox,
                         .dispatcher = where->number(),
                         .deadline = wanted.choice.deadline,
                         .suspending = wanted.choice.suspending};
}

std::expected<spawn_options, place_error> dispatchers::place(std::string_view path,
                                                             const spawn_options& how) {
    resolve_request wanted{.path = path,
                           .choice = {.dispatcher = how.dispatcher_id,
                                      .mailbox = how.mailbox_id,
                                      .fields = how.mailbox,
                                      .priority = how.priority,
                                      .deadline = how.deadline,
                                      .suspending = how.suspending,
                                      .requirement = how.requirement}};
    if (how.dispatcher_id.empty() && how.dispatcher != 0) {
        wanted.choice.dispatcher = id_of(how.dispatcher);
        if (wanted.choice.dispatcher.empty())
            return std::unexpected(dispatcher_error{dispatcher_error::kind::unknown_dispatcher,
                                                    std::to_string(how.dispatcher)});
    }
    // The kind that is the default says nothing.
    if (how.mailbox_id.empty() && how.mailbox.kind != mailbox_options{}.kind)
        wanted.choice.own_mailbox = how.mailbox;
    auto placed = place(wanted);
    if (placed)
        placed->order = how.order;
    return placed;
}

std::expected<dispatcher_handle, dispatcher_error> dispatchers::add(const dispatcher_setup& e) {
    const auto refused = [&](dispatcher_error::kind what, std::string detail = {}) {
        return std::unexpected(dispatcher_error{what, std::string(e.id), std::move(detail)});
    };
    using kind = dispatcher_error::kind;
    const dispatcher_setup filled = state_->with_executor(e);
    dispatcher_config c = resolved(filled.config);
    if (c.executor == executor_kind::foreign && filled.foreign == nullptr)
        return refused(kind::executor_missing);
    if (runs_one_at_a_time(c.executor) && c.max_workers != 1)
        return refused(kind::executor_unfit);
    if (has_threads(c.executor)) {
        if (auto why = refusal_of(e.threads, c.max_workers))
            return refused(kind::threads_refused, std::move(*why));
    }
    const std::lock_guard held(state_->mutex);
    if (state_->find(e.id) != nullptr)
        return refused(kind::duplicate_dispatcher);
    if (state_->how.names != nullptr) {
        const auto known = state_->enter(e.id, e.config);
        if (!known)
            return refused(kind::id_refused, std::string(known.error().text()));
        if (!c.throughput)
            c.throughput = (*known)->config().throughput;
    }
    auto made =
        state_->system.add_dispatcher({.worker_count = c.max_workers,
                                       .shared_queue = c.executor == executor_kind::thread_pool,
                                       .one_owner = c.executor == executor_kind::pinned,
                                       .lived_in = &state_->keeper,
                                       .throughput = c.throughput,
                                       .throughput_deadline = c.throughput_deadline});
    if (!made)
        return refused(state_->system.phase() == system_phase::running ? kind::too_many_dispatchers
                                                                       : kind::shutting_down);
    state_->entries.push_back(std::make_unique<dispatcher_handle::entry>(
        state_->system, **made, filled, c, state_->surroundings()));
    dispatcher_handle::entry& added = *state_->entries.back();
    state_->keeper.add(added);
    if (state_->how.added)
        state_->how.added(added.id(), added.where().number());
    return dispatcher_handle(**made, added);
}

bool dispatchers::drained() {
    // Twice, and nothing moved in between: one may have made work for another.
    std::uint32_t before = 0;
    for (const auto& e : state_->entries) {
        e->run_inline();
        before += e->where().order().progress();
    }
    for (int look = 0; look < 2; ++look) {
        for (const auto& e : state_->entries) {
            if (!e->idle())
                return false;
        }
    }
    std::uint32_t after = 0;
    for (const auto& e : state_->entries)
        after += e->where().order().progress();
    return before == after;
}

std::optional<std::uint32_t> dispatchers::runs_when_idle() {
    std::uint32_t runs = 0;
    for (std::size_t i = 0;; ++i) {
        dispatcher_handle::entry* e = nullptr;
        {
            const std::lock_guard held(state_->mutex);
            if (i == state_->entries.size())
                return runs;
            e = state_->entries[i].get();
        }
        e->run_inline();  // not under the lock: an actor may add a dispatcher
        if (!e->idle())
            return std::nullopt;
        runs += e->where().order().progress();
    }
}

housekeeper& dispatchers::keeper() noexcept {
    return state_->keeper;
}

bool dispatchers::finish_tasks(std::chrono::nanoseconds limit) {
    const worker* own = worker::current();
    TACTUS_CHECK(5, own == nullptr || &own->system() != &state_->system);
    return wait_until(limit, [this] {
        for (std::size_t i = 0;; ++i) {
            dispatcher_handle::entry* e = nullptr;
            {
                const std::lock_guard held(state_->mutex);
                if (i == state_->entries.size())
                    return true;
                e = state_->entries[i].get();
            }
            // Not under the lock: a task that is run here may add a dispatcher.
            e->run_inline();
            if (!e->where().tasks().empty())
                return false;
        }
    });
}

bool dispatchers::shut_down(std::chrono::nanoseconds limit) {
    const worker* own = worker::current();
    TACTUS_CHECK(2, own == nullptr || &own->system() != &state_->system);
    {
        const std::lock_guard held(state_->mutex);
        if (std::exchange(state_->ended, true))
            return true;
    }
    state_->system.begin_stop();
    {
        const std::lock_guard held(state_->mutex);  // from here on nothing is added
    }
    const bool in_time = wait_until(limit, [this] { return drained(); });
    state_->keeper.stop();
    // The first one last: others may wait for what it runs for them (calling_thread).
    for (const auto& e : std::views::reverse(state_->entries))
        e->stop();
    worker& w = state_->system.worker_at(0);
    const worker::binding bound(w);
    state_->system.finish_stop(w);
    return in_time;
}

// ---- handles

std::string_view dispatcher_handle::id() const {
    return entry_->id();
}
executor_kind dispatcher_handle::kind() const {
    return entry_->kind();
}
void dispatcher_handle::set_starvation_deadline(duration d) const {
    entry_->set_starvation_deadline(d);
}
void dispatcher_handle::set_shutdown_timeout(duration d) const {
    entry_->set_shutdown_timeout(d);
}
dispatcher_report dispatcher_handle::report() const {
    return entry_->report();
}
worker_state dispatcher_handle::state_of(std::uint32_t worker) const {
    return entry_->state_of(worker);
}

}  // namespace tactus::inline v0::runtime
