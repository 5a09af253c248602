// SPDX-License-Identifier: Apache-2.0
//
// The driver's thread: look, act, sleep. How it goes to sleep without losing a deadline is in
// deadline_sleeper.hpp.
#include <tactus/runtime/steady_driver.hpp>

#include "signals_blocked.hpp"

#include <tactus/dispatch/deadline_sleeper.hpp>
#include <tactus/port/port.hpp>
#include <tactus/runtime/steady_clock.hpp>
#include <tactus/time/tick_scale.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include <pthread.h>

namespace tactus::inline v0::runtime {

struct steady_driver::state {
    explicit state(const options& o) : how(o) {}

    static void* body(void* self) {
        auto& s = *static_cast<state*>(self);
        const auto why = s.run();
        if (why)
            s.host->driver_stopped(*why);
        return nullptr;
    }
    [[nodiscard]] int make_thread();
    /// Why it stops by itself; nothing when it was told to.
    [[nodiscard]] std::optional<tick_driver_error> run();
    void measure_jitter();
    void note_wakeup(bool called, instant until, instant now);
    void note_act();
    /// When somebody is next to be told; never: nobody wants to know.
    [[nodiscard]] instant next_telling();
    void tell(instant now);
    /// `at` by the clock that the operating system sleeps by; negative: never.
    [[nodiscard]] std::int64_t wake_up_at(instant at) const;
    [[nodiscard]] bool told_to_stop() const {
        return stopping.load(std::memory_order_relaxed) != 0;  // who sets it calls afterwards
    }

    const options how;
    deadline_sleeper place;
    port::atomic<std::uint32_t> stopping{0};

    // Of who starts and stops it; constant while the thread runs.
    tick_host* host = nullptr;
    bool is_steady = false;  // the host's clock is the one that the operating system sleeps by
    pthread_t thread{};
    bool joinable = false;
    // Under the lock, which is held while somebody is told.
    port::mutex mutex;
    tick_driver_metrics counted;
    driver_listener* listener = nullptr;
    instant told_at;
};

namespace {

/// Tells of the metrics so often.
constexpr duration telling_interval = duration::from_s(1);

}  // namespace

int steady_driver::state::make_thread() {
    pthread_attr_t attributes;
    int error = pthread_attr_init(&attributes);
    if (error != 0)
        return error;
    if (how.stack_bytes != 0)
        error = pthread_attr_setstacksize(&attributes, how.stack_bytes);
    if (error == 0) {
        const signals_blocked blocked;
        error = pthread_create(&thread, &attributes, body, this);
    }
    pthread_attr_destroy(&attributes);
    return error;
}

void steady_driver::state::measure_jitter() {
    constexpr std::int64_t nap_ns = 50'000;
    std::array<duration, 5> late;
    parker bed;
    for (duration& d : late) {
        const instant before = host->time().now();
        (void)bed.park(nap_ns);
        d = host->time().now() - before - duration::from_ns(nap_ns);
    }
    std::ranges::nth_element(late, late.begin() + late.size() / 2);
    const port::lock_guard held(mutex);
    counted.jitter = std::max(late[late.size() / 2], duration::zero());
}

void steady_driver::state::note_wakeup(bool called, instant until, instant now) {
    const port::lock_guard held(mutex);
    ++counted.wakeups;
    if (called) {
        ++counted.calls;
        return;
    }
    counted.lateness = std::max(now - until, duration::zero());
    counted.lateness_max = std::max(counted.lateness_max, counted.lateness);
    counted.lateness_recent = std::max(counted.lateness_recent, counted.lateness);
}

void steady_driver::state::note_act() {
    const port::lock_guard held(mutex);
    ++counted.acts;
}

instant steady_driver::state::next_telling() {
    const port::lock_guard held(mutex);
    return listener != nullptr ? told_at + telling_interval : instant::never();
}

void steady_driver::state::tell(instant now) {
    const port::lock_guard held(mutex);
    if (listener == nullptr || now - told_at < telling_interval)
        return;
    told_at = now;
    if (!listener->measured(counted))
        listener = nullptr;
    counted.lateness_recent = {};
}

std::int64_t steady_driver::state::wake_up_at(instant at) const {
    if (at == instant::never())
        return -1;
    // What lies between another clock and that one is looked at each time: it may go at a pace of
    // its own.
    const instant here = is_steady ? instant{} : host->time().now();
    const instant then = is_steady ? at : steady_clock{}.now() + (at - here);
    constexpr std::uint64_t latest = std::numeric_limits<std::int64_t>::max();
    return static_cast<std::int64_t>(std::min(then.ns(), latest));
}

std::optional<tick_driver_error> steady_driver::state::run() {
    pthread_setname_np(pthread_self(), how.name);
    measure_jitter();
    const clock& time = host->time();
    const tick_scale ticks(host->resolution());
    // What it could not do, because somebody else was at it, is not tried again before the next
    // tick: that one comes back to it. A tick begins when it does, however late the last act was.
    instant not_before;
    const auto next = [&] { return std::max(host->next_act(), not_before); };
    while (!told_to_stop()) {
        const instant now = time.now();
        const instant at = next();
        if (at <= now) {
            if (host->act(now))
                note_act();
            not_before = ticks.begin_of(ticks.floor(now) + 1);
            continue;
        }
        tell(now);
        const instant until = std::min(at, next_telling());
        place.prepare(until);
        if (next() < until || told_to_stop()) {
            place.stay();
            continue;
        }
        const bool called = place.sleep_until(wake_up_at(until));
        const instant woken = time.now();
        note_wakeup(called, until, woken);
        if (!called && woken - until > how.lateness_max)
            return tick_driver_error::drift_exceeded;
    }
    return {};
}

steady_driver::steady_driver(const options& o) : state_(std::make_unique<state>(o)) {}

steady_driver::~steady_driver() {
    steady_driver::stop();
}

const char* steady_driver::name() const noexcept {
    return state_->how.name;
}

std::expected<void, tick_driver_error> steady_driver::start(tick_host& to) noexcept {
    state& s = *state_;
    if (s.joinable)
        return std::unexpected(tick_driver_error::handle_unavailable);
    if (to.time().kind() != clock_kind::realtime_host)
        return std::unexpected(tick_driver_error::unsupported_environment);
    if (!to.acts())
        return std::unexpected(tick_driver_error::unsupported_executor);
    if (to.resolution() <= duration::zero())
        return std::unexpected(tick_driver_error::invalid_resolution);
    s.host = &to;
    s.is_steady = dynamic_cast<const steady_clock*>(&to.time()) != nullptr;
    s.stopping.store(0, std::memory_order_relaxed);  // the thread's creation publishes it
    {
        const port::lock_guard held(s.mutex);
        s.counted = {};
        s.told_at = to.time().now();
    }
    if (s.make_thread() != 0)
        return std::unexpected(tick_driver_error::spawn_failed);
    s.joinable = true;
    return {};
}

void steady_driver::stop() noexcept {
    state& s = *state_;
    if (!s.joinable)
        return;
    s.stopping.store(1, std::memory_order_relaxed);  // the permit publishes it
    s.place.call();
    pthread_join(s.thread, nullptr);
    s.joinable = false;
}

void steady_driver::deadline_added(instant at) noexcept {
    (void)state_->place.deadline_added(at);
}

duration steady_driver::jitter() const noexcept {
    return metrics().jitter;
}

tick_driver_metrics steady_driver::metrics() const noexcept {
    const port::lock_guard held(state_->mutex);
    return state_->counted;
}

void steady_driver::listen(driver_listener* to) noexcept {
    {
        const port::lock_guard held(state_->mutex);
        state_->listener = to;
        state_->counted.lateness_recent = {};
    }
    state_->place.call();  // it sleeps for something else
}

void steady_driver::forget(driver_listener& who) noexcept {
    const port::lock_guard held(state_->mutex);
    if (state_->listener == &who)
        state_->listener = nullptr;  // it wakes once more in vain
}

}  // namespace tactus::inline v0::runtime
