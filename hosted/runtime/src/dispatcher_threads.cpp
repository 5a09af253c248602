// SPDX-License-Identifier: Apache-2.0
//
// Threads for workers: names, signals, extra ones, and an orderly end.
//
// Wakers are called without the locks of the kernel, and take the one here: so nothing that may
// wake somebody (found_work, made_work, wake_all) is called while it is held. stand_by and
// stand_down wake nobody, and are.
#include <tactus/runtime/dispatcher_threads.hpp>

#include "signals_blocked.hpp"

#include <sched.h>
#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <utility>

#include <pthread.h>

namespace tactus::inline v0::runtime {
namespace {

TACTUS_CHECK_MODULE("dispatcher_threads");

constexpr std::size_t name_max = 15;  // what Linux keeps

/// 0, or what the system said.
int make_thread(pthread_t& thread, const thread_settings& settings, std::uint32_t worker,
                void* (*body)(void*), void* of) {
    pthread_attr_t how;
    int error = pthread_attr_init(&how);
    if (error != 0)
        return error;
    if (settings.stack_bytes != 0)
        error = pthread_attr_setstacksize(&how, settings.stack_bytes);
    if (const auto& on = settings.affinity; error == 0 && !on.empty()) {
        cpu_set_t set;
        CPU_ZERO(&set);
        CPU_SET(on[worker % on.size()], &set);  // nothing, for one beyond what a set holds
        error = pthread_attr_setaffinity_np(&how, sizeof set, &set);
    }
    if (error == 0)
        error = pthread_create(&thread, &how, body, of);
    pthread_attr_destroy(&how);
    return error;
}

std::string text_of_refusal(const thread_settings& settings, std::uint32_t worker, int error) {
    std::string text = "a thread";
    if (const auto& on = settings.affinity; !on.empty()) {
        text += " on processor ";
        text += std::to_string(on[worker % on.size()]);
    }
    if (settings.stack_bytes != 0) {
        text += " with a stack of ";
        text += std::to_string(settings.stack_bytes);
        text += " bytes";
    }
    text += ": ";
    text += std::generic_category().message(error);
    return text;
}

}  // namespace

std::optional<std::string> refusal_of(const thread_settings& how, std::uint32_t worker_count) {
    // Workers on the same processor have the same thread.
    const std::size_t kinds = std::max<std::size_t>(1, how.affinity.size());
    const signals_blocked blocked;
    for (std::uint32_t i = 0; i < worker_count && i < kinds; ++i) {
        pthread_t thread{};
        const int error =
            make_thread(thread, how, i, [](void*) -> void* { return nullptr; }, nullptr);
        if (error != 0)
            return text_of_refusal(how, i, error);
        pthread_join(thread, nullptr);
    }
    return std::nullopt;
}

const char* name_of(worker_state state) noexcept {
    static constexpr const char* names[] = {"spawned", "running", "parked", "draining", "stopped"};
    return names[static_cast<std::size_t>(state)];
}

std::string worker_thread_name(std::string_view system, std::string_view dispatcher,
                               std::uint32_t number) {
    constexpr std::string_view usual = "-dispatcher";
    if (const std::size_t dot = dispatcher.rfind('.'); dot != std::string_view::npos)
        dispatcher.remove_prefix(dot + 1);
    if (dispatcher.ends_with(usual) && dispatcher.size() > usual.size())
        dispatcher.remove_suffix(usual.size());
    std::string end = "-";
    end += std::to_string(number);
    const std::size_t room = name_max - (dispatcher.empty() ? 0 : 1) - end.size();
    while (system.size() + dispatcher.size() > room)
        (system.size() > dispatcher.size() ? system : dispatcher).remove_suffix(1);
    std::string name(system);
    if (!dispatcher.empty()) {
        name += '-';
        name += dispatcher;
    }
    name += end;
    return name;
}

/// Written under a lock, and looked at without it. Relaxed: it stands alone.
template <class T>
class dispatcher_threads::shown {
public:
    explicit shown(T value) noexcept : value_(value) {}
    shown& operator=(T value) noexcept {
        value_.store(value, std::memory_order_relaxed);
        return *this;
    }
    operator T() const noexcept { return look(); }  // NOLINT: it stands for its value
    [[nodiscard]] T look() const noexcept { return value_.load(std::memory_order_relaxed); }

private:
    std::atomic<T> value_;
};

class dispatcher_threads::place final : public waker {
public:
    place(dispatcher_threads& of, std::uint32_t n) : all(of), number(n) {}

    void wake() noexcept override;

    dispatcher_threads& all;
    const std::uint32_t number;
    // Under the lock; `at` and `begun` are looked at without it, for dumps.
    shown<phase> at{phase::empty};
    bool woken = false;  // it starts as one that was woken: searching
    shown<bool> begun{false};
    shown<bool> blocks{false};  // written by its thread
    place* lent_to = nullptr;   // who stands by for it while it blocks
    pthread_t thread{};
    // Of its thread.
    std::uint32_t blocking_depth = 0;
};

struct dispatcher_threads::shared {
    std::mutex mutex;
    std::condition_variable changed;  // a place was woken, or got its thread
    shown<aim> to{aim::run};          // looked at without the lock, for dumps
    std::uint32_t blocking = 0;
    std::uint32_t stops = 0;
    // What the system said when it last refused a thread, and of which worker; 0: nothing.
    int refusal = 0;
    std::uint32_t refused = 0;
};

dispatcher_threads::dispatcher_threads(actor_scheduler& system, dispatcher& where, options o)
    : system_(system), where_(where), options_(std::move(o)), shared_(std::make_unique<shared>()) {
    const std::uint32_t count = where.worker_count();
    if (options_.thread_count == 0 || options_.thread_count > count)
        options_.thread_count = count;
    for (std::uint32_t i = 0; i < count; ++i)
        places_.push_back(std::make_unique<place>(*this, i));
    chosen_.reserve(count);
    where.supply(this);  // last: a dump on another thread uses all of it from here on
}

dispatcher_threads::~dispatcher_threads() {
    stop();
    where_.supply(nullptr);
}

worker_lanes& dispatcher_threads::lanes_of(const place& p) const {
    return where_.worker_at(p.number).lanes();
}

// ---- starting

bool dispatcher_threads::extra(const place& p) const {
    return p.number >= options_.thread_count;
}

bool dispatcher_threads::start() {
    chosen_.clear();
    {
        const std::lock_guard held(shared_->mutex);
        shared_->to = aim::run;
        for (const auto& p : places_) {
            // The one that stands by while it rests; if it is being woken just now, tend starts it.
            if (!extra(*p) && p->at == phase::standing_by && order().stand_down(lanes_of(*p)))
                p->at = phase::empty;
            if (p->at != phase::woken && (extra(*p) || p->at != phase::empty))
                continue;
            p->woken = p->at == phase::woken;
            p->begun = false;
            p->at = phase::starting;
            chosen_.push_back(p.get());
        }
    }
    // Making a thread publishes it; one that was told to end, and has not seen it, goes on.
    stop_.store(0, std::memory_order_relaxed);
    return starts(chosen_);
}

bool dispatcher_threads::start_extra() {
    place* chosen = nullptr;
    {
        const std::lock_guard held(shared_->mutex);
        if (shared_->to == aim::stop)
            return false;
        for (const auto& p : places_) {
            if (shared_->to == aim::run && p->at == phase::empty) {
                chosen = p.get();
                chosen->at = phase::starting;
                chosen->woken = chosen->begun = false;
                break;
            }
        }
        if (chosen == nullptr && shared_->to == aim::run)
            return false;
    }
    return chosen != nullptr ? starts({&chosen, 1}) : start();
}

bool dispatcher_threads::starts(std::span<place* const> which) {
    int refusal = 0;
    std::uint32_t refused = 0;
    bool all = true;
    const signals_blocked blocked;
    for (place* p : which) {
        order().take_back(lanes_of(*p), p->woken);
        bool made = false;
        {
            // One step: who stops finds a thread, or none.
            const std::lock_guard held(shared_->mutex);
            if (shared_->to == aim::run) {
                const int error = make_thread(p->thread, options_.how, p->number, &thread_main, p);
                made = error == 0;
                if (!made) {
                    refusal = error;
                    refused = p->number;
                }
            }
            p->at = made ? phase::running : phase::empty;
            shared_->changed.notify_all();
        }
        all = all && made;
        if (!made)
            order().found_work(lanes_of(*p));  // it searches no longer: somebody else may
    }
    const std::lock_guard held(shared_->mutex);
    shared_->refusal = refusal;
    shared_->refused = refused;
    return all;
}

void* dispatcher_threads::thread_main(void* of) {
    place& p = *static_cast<place*>(of);
    p.all.run(p);
    return nullptr;
}

void dispatcher_threads::run(place& p) {
    pthread_setname_np(pthread_self(),
                       worker_thread_name(options_.system_name, options_.id, p.number).c_str());
    {
        const std::lock_guard held(shared_->mutex);
        p.begun = true;
    }
    system_.run_until(where_.worker_at(p.number), stop_,
                      extra(p) ? options_.extra_idle_max.ns() : -1);
    {
        const std::lock_guard held(shared_->mutex);
        p.at = phase::ended;
    }
    if (options_.keeper != nullptr)
        options_.keeper->wake();  // to be joined
}

// ---- tending

void dispatcher_threads::place::wake() noexcept {
    waker* keeper = nullptr;
    {
        const std::lock_guard held(all.shared_->mutex);
        at = phase::woken;
        keeper = all.options_.keeper;
        all.shared_->changed.notify_all();
    }
    if (keeper != nullptr)
        keeper->wake();
}

void dispatcher_threads::join_ended() {
    chosen_.clear();
    {
        const std::lock_guard held(shared_->mutex);
        if (shared_->to == aim::stop)
            return;  // stop joins them
        for (const auto& p : places_) {
            if (p->at == phase::ended)
                chosen_.push_back(p.get());
        }
    }
    for (place* p : chosen_) {
        pthread_join(p->thread, nullptr);
        const std::lock_guard held(shared_->mutex);
        p->at = phase::empty;
    }
}

void dispatcher_threads::tend() {
    join_ended();
    if (!rests_on())
        (void)start();
}

/// Nothing is to be started. Decides in one step: whoever is woken later calls tend again.
bool dispatcher_threads::rests_on() {
    const std::lock_guard held(shared_->mutex);
    bool woken = false;
    bool missing = false;  // a regular one
    bool at_work = false;
    for (const auto& p : places_) {
        woken = woken || p->at == phase::woken;
        missing = missing || (!extra(*p) && p->at == phase::empty);
        at_work =
            at_work || p->at == phase::starting || p->at == phase::running || p->at == phase::ended;
    }
    if (shared_->to == aim::stop)
        return true;
    if (shared_->to == aim::run)
        return !woken && !missing;
    place& first = *places_[0];
    if (woken || first.at == phase::standing_by)
        return !woken;
    if (at_work)
        return !order().has_work(nullptr);
    ++shared_->stops;
    first.at = phase::standing_by;
    if (order().stand_by(lanes_of(first), first))
        return true;
    first.at = phase::empty;
    return false;
}

void dispatcher_threads::rest() {
    {
        const std::lock_guard held(shared_->mutex);
        if (shared_->to != aim::run)
            return;
        shared_->to = aim::rest;
        // One that is being woken just now ends the rest.
        for (const auto& p : places_) {
            if (p->at == phase::standing_by && order().stand_down(lanes_of(*p)))
                p->at = phase::empty;
            p->lent_to = nullptr;
        }
    }
    stop_.store(1, std::memory_order_relaxed);
    order().wake_all();  // who is about to sleep looks once more, after it was listed
}

// ---- handlers that block

void dispatcher_threads::blocking_begins(worker& w) noexcept {
    place& p = *places_[w.lanes().number()];
    if (p.blocking_depth++ != 0)
        return;
    p.blocks = true;
    // What only this worker could take is for others now.
    order().found_work(w.lanes());
    order().surrender(w.lanes());
    order().made_work();
    if (options_.keeper == nullptr)
        return;
    place* now = nullptr;
    {
        const std::lock_guard held(shared_->mutex);
        ++shared_->blocking;
        if (shared_->to != aim::run)
            return;
        for (const auto& other : places_) {
            if (!extra(*other) || other->at != phase::empty)
                continue;
            other->at = phase::standing_by;
            if (order().stand_by(lanes_of(*other), *other)) {
                p.lent_to = other.get();
            } else {
                now = other.get();
                now->at = phase::starting;
                now->woken = now->begun = false;
            }
            break;
        }
    }
    if (now != nullptr)
        (void)starts({&now, 1});
}

void dispatcher_threads::blocking_ends(worker& w) noexcept {
    place& p = *places_[w.lanes().number()];
    if (--p.blocking_depth != 0)
        return;
    p.blocks = false;
    if (options_.keeper == nullptr)
        return;
    const std::lock_guard held(shared_->mutex);
    --shared_->blocking;
    // One that was woken runs, and ends when it has nothing to do.
    place* other = std::exchange(p.lent_to, nullptr);
    if (other != nullptr && other->at == phase::standing_by && order().stand_down(lanes_of(*other)))
        other->at = phase::empty;
}

// ---- ending

void dispatcher_threads::stop() {
    const worker* own = worker::current();
    TACTUS_CHECK(1, own == nullptr || &own->home() != &where_);
    chosen_.clear();
    {
        std::unique_lock held(shared_->mutex);
        shared_->to = aim::stop;
        for (const auto& p : places_) {
            if (p->at == phase::standing_by) {
                if (order().stand_down(lanes_of(*p)))
                    p->at = phase::empty;
                else
                    shared_->changed.wait(held, [&] { return p->at == phase::woken; });
            }
            shared_->changed.wait(held, [&] { return p->at != phase::starting; });
            if (p->at == phase::running || p->at == phase::ended)
                chosen_.push_back(p.get());
        }
        if (!chosen_.empty())
            ++shared_->stops;
    }
    stop_.store(1, std::memory_order_relaxed);
    for (place* p : chosen_) {
        // Until it is seen: a worker may be between its look and its sleep.
        order().wake_all();
        pthread_join(p->thread, nullptr);
    }
    chosen_.clear();
    {
        const std::lock_guard held(shared_->mutex);
        for (const auto& p : places_) {
            if (p->at == phase::woken)
                chosen_.push_back(p.get());
            p->at = phase::empty;
            p->lent_to = nullptr;
        }
    }
    for (place* p : chosen_) {
        order().take_back(lanes_of(*p), true);
        order().found_work(lanes_of(*p));
    }
}

// ---- looking

std::uint32_t dispatcher_threads::running_count() const {
    const std::lock_guard held(shared_->mutex);
    std::uint32_t count = 0;
    for (const auto& p : places_)
        count += p->at == phase::running ? 1 : 0;
    return count;
}
std::uint32_t dispatcher_threads::extra_count() const {
    const std::lock_guard held(shared_->mutex);
    std::uint32_t count = 0;
    for (const auto& p : places_)
        count += p->at == phase::running && extra(*p) ? 1 : 0;
    return count;
}
std::uint32_t dispatcher_threads::blocking_count() const {
    const std::lock_guard held(shared_->mutex);
    return shared_->blocking;
}
std::uint32_t dispatcher_threads::stop_count() const {
    const std::lock_guard held(shared_->mutex);
    return shared_->stops;
}

bool dispatcher_threads::blocks(std::uint32_t worker) const {
    return places_[worker]->blocks;
}

std::string dispatcher_threads::refusal() const {
    int error = 0;
    std::uint32_t worker = 0;
    {
        const std::lock_guard held(shared_->mutex);
        error = shared_->refusal;
        worker = shared_->refused;
    }
    return error == 0 ? std::string() : text_of_refusal(options_.how, worker, error);
}

bool dispatcher_threads::ends_for_rest() const {
    const std::lock_guard held(shared_->mutex);
    return shared_->to == aim::rest;
}

std::uint32_t dispatcher_threads::sleepers_when_idle() const {
    const std::lock_guard held(shared_->mutex);
    std::uint32_t count = 0;
    for (const auto& p : places_)
        count += p->at == phase::empty || p->at == phase::ended ? 0 : 1;
    return count;
}

bool dispatcher_threads::idle() const {
    return !order().has_work(nullptr) && order().idle().sleeping_count() == sleepers_when_idle();
}

worker_state dispatcher_threads::state_of(std::uint32_t worker) const {
    const place& p = *places_[worker];
    switch (p.at.look()) {
    case phase::woken:
    case phase::starting:
        return worker_state::spawned;
    case phase::running:
        if (!p.begun)
            return worker_state::spawned;
        if (shared_->to != aim::run)
            return worker_state::draining;
        return coordinator::asleep(lanes_of(p)) ? worker_state::parked : worker_state::running;
    default:
        return worker_state::stopped;
    }
}

}  // namespace tactus::inline v0::runtime
