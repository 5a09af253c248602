// SPDX-License-Identifier: Apache-2.0
//
// Putting the parts of a device system into one array, running them, and taking them apart.
#include <tactus/actor/device_system.hpp>

#include <tactus/actor/actor_name.hpp>
#include <tactus/dispatch/text_buffer.hpp>

#include <memory>
#include <new>

namespace tactus::inline v0 {

const char* name_of(device_error::kind what) noexcept {
    static constexpr const char* names[device_error_count] = {
        "arena_too_small",  "no_clock",      "name_invalid",     "resolution_invalid",
        "capacity_invalid", "driver_failed", "scheduler_invalid"};
    return names[static_cast<std::size_t>(what)];
}
const char* text_of(device_error::kind what) noexcept {
    static constexpr const char* texts[device_error_count] = {
        "the array is smaller than what required_bytes says for the config",
        "a system needs a clock",
        "a system's name begins with a letter or digit, then those, '-' and '_'",
        "the resolution of timers is positive, and at most a second",
        "there is room for at least one actor and one message, and at most 25,600 timers",
        "the tick driver does not start: text_of(error.driver) says why",
        "a setting of the scheduler is out of range: error.scheduler says which"};
    return texts[static_cast<std::size_t>(what)];
}

// ---- building

std::expected<device_system, device_error> device_system::create(std::string_view name,
                                                                 const toolbox& tools,
                                                                 const device_config& c) noexcept {
    using kind = device_error::kind;
    if (fault_of_system_name(name))
        return std::unexpected(device_error{kind::name_invalid});
    if (tools.time == nullptr)
        return std::unexpected(device_error{kind::no_clock});
    if (c.resolution <= duration::zero() || c.resolution > duration::from_s(1))
        return std::unexpected(device_error{kind::resolution_invalid});
    if (c.actors_max == 0 || c.messages_max == 0 || c.timers_max > scheduler_capacity_max.timers ||
        c.overflow_max > scheduler_capacity_max.overflow || c.overflow_max > c.timers_max)
        return std::unexpected(device_error{kind::capacity_invalid});
    if (c.timers_max != 0) {
        if (const auto fine = validate(timing::config_of(c, *tools.time)); !fine)
            return std::unexpected(
                device_error{.what = kind::scheduler_invalid, .scheduler = fine.error()});
    }
    const std::size_t needed = required_bytes(c);
    if (tools.memory.size() < needed)
        return std::unexpected(device_error{kind::arena_too_small, needed, tools.memory.size()});
    void* at = tools.memory.data();
    std::size_t left = tools.memory.size();
    at = std::align(alignof(parts), sizeof(parts), at, left);
    TACTUS_CHECK(1, at != nullptr);
    auto* const rest = static_cast<std::byte*>(at) + sizeof(parts);
    device_system made(::new (at) parts(name, tools, c, {rest, left - sizeof(parts)}));
    if (const auto begun = made.parts_->start_driver(); !begun)
        return std::unexpected(device_error{.what = kind::driver_failed, .driver = begun.error()});
    return made;
}

std::span<std::byte> device_system::parts::take(std::size_t size, std::size_t alignment) noexcept {
    void* block = memory.allocate(size, alignment);
    TACTUS_CHECK(2, block != nullptr);  // required_bytes has forgotten something
    return {static_cast<std::byte*>(block), size};
}

device_system::timing* device_system::parts::make_timing(const device_config& c) noexcept {
    if (c.timers_max == 0)
        return nullptr;
    const timing::memory m{
        .jobs = take(job_store::bytes(scheduler::cells_for(c.timers_max)),
                     region_alignment(alignof(detail::job))),
        .nodes = take(scheduler_wheel::node_bytes(c.timers_max), fixed_memory::alignment),
        .overflow = take(scheduler_wheel::overflow_bytes(c.overflow_max), fixed_memory::alignment),
        .large = &memory,
        .told = &world};
    const auto place = take(sizeof(timing), alignof(timing));
    return ::new (place.data()) timing(c, tools, m);
}

actor_scheduler::options device_system::parts::filled(const device_config& c) noexcept {
    actor_scheduler::options o = kernel_options(c);
    o.memory = &memory;
    o.slot_memory = &slots;
    o.envelope_memory = &envelopes;
    o.large_payloads = &memory;
    o.time = tools.time;
    o.timers = timers != nullptr ? &timers->service : nullptr;
    o.seed = tools.seed;
    o.events = &world;
    o.above = &world;
    o.driven_by = this;
    return o;
}

device_system::parts::parts(std::string_view name, const toolbox& t, const device_config& c,
                            std::span<std::byte> rest) noexcept
    : tools(t),
      also(c.events),
      services(c.timers_max != 0 ? c.timer_services : nullptr),
      memory(rest),
      log({.sink = t.log, .time = t.time, .level = c.log_level}),
      timers(make_timing(c)),
      slots(take(slots_of(c) * sizeof(slot), region_alignment(alignof(slot)))),
      envelopes(take((envelopes_of(c) + reserve_for_system) * sizeof(envelope),
                     region_alignment(alignof(envelope)))),
      world({.memory = &memory,
             .events = this,
             .name = name,
             .guardian_strategy = c.guardian_strategy,
             .pacing = c.pacing,
             .timers = timers != nullptr ? &timers->service : nullptr,
             .log = &log,
             .services = c.services}),
      kernel(filled(c)),
      tick_length(c.resolution) {
    if (t.runs != nullptr)
        lent.emplace(kernel, *kernel.dispatcher_at(0), *t.runs,
                     lent_workers::options{.memory = &memory});
    else
        loop.emplace(kernel);
    if (t.ticks != nullptr)
        pulls.emplace(timers != nullptr ? t.ticks->acquire(timers->service.catch_up_window())
                                        : t.ticks->acquire());
    if (t.driver != nullptr)
        driver.emplace(driver_keeper::options{
            .driver = t.driver, .host = this, .policy = c.driver_stops, .listener = this});
    world.begin(kernel);
    if (services != nullptr)
        services->watch_load(kernel, {.messages_max = c.messages_max});
}

device_system::~device_system() {
    if (parts_ == nullptr)
        return;
    parts& p = *parts_;
    p.world.terminate();
    if (p.lent) {
        while (!p.lent->stop())
            port::yield();
        p.lent.reset();
        p.loop.emplace(p.kernel);
    }
    // NOLINTNEXTLINE(bugprone-unchecked-optional-access): there is one when nothing is lent
    p.loop->shut_down(end_runs_max);
    if (p.driver)
        p.driver->stop();  // unless the world has ended, and that did
    p.world.sweep();
    p.~parts();
}

// ---- what happens

void device_system::parts::supervised(const decision& d) noexcept {
    if (also != nullptr)
        also->supervised(d);
}
void device_system::parts::hook_failed(any_ref who, const char* hook,
                                       const failure_cause& why) noexcept {
    if (also != nullptr)
        also->hook_failed(who, hook, why);
}
void device_system::parts::unhandled(any_ref who, envelope& message) noexcept {
    if (also != nullptr)
        also->unhandled(who, message);
}
void device_system::parts::dead_letter(any_ref to, envelope& message,
                                       dead_letter_cause cause) noexcept {
    if (also != nullptr)
        also->dead_letter(to, message, cause);
}
void device_system::parts::message_lost(any_ref to, const message_type& type,
                                        dead_letter_cause cause) noexcept {
    if (also != nullptr)
        also->message_lost(to, type, cause);
}
void device_system::parts::pressure(const mailbox_pressure& what) noexcept {
    if (services != nullptr)
        services->mailbox_filled(what);
    if (also != nullptr)
        also->pressure(what);
}
void device_system::parts::guardian_failed(const failure_cause& why) noexcept {
    const std::string_view text = why.text();
    {
        const port::lock_guard held(mutex);
        if (failure_size == 0)
            failure_size = text.copy(failure, sizeof failure);
    }
    log.write(log_level::error, text);
    if (also != nullptr)
        also->guardian_failed(why);
}
// SH-1, SH-5: who drives goes first, and what it has counted until then is taken.
void device_system::parts::close_timers() noexcept {
    if (driver)
        driver->stop();
    std::uint64_t rest = 0;
    if (pulls) {
        const port::lock_guard held(mutex);
        rest = pulls->stop_and_flush();
    }
    if (timers == nullptr)
        return;
    if (rest != 0)
        timers->service.ticks_taken(rest);
    const close_report report = timers->service.shutdown();
    if (report.empty())
        return;
    char text[200];
    log.write(report.is_clean() ? log_level::info : log_level::warning,
              timers->service.describe_shutdown(text));
}
void device_system::parts::world_ended() noexcept {
    close_timers();
    ended.store(1, std::memory_order_relaxed);
    if (also != nullptr)
        also->world_ended();
}

// ---- the driver

std::expected<void, tick_driver_error> device_system::parts::start_driver() noexcept {
    return driver ? driver->start() : std::expected<void, tick_driver_error>{};
}
// Only who moves the clock by hand acts: it is the thread that runs the system.
bool device_system::parts::acts() const noexcept {
    return tools.time->kind() == clock_kind::deterministic;
}
instant device_system::parts::next_act() noexcept {
    return timers != nullptr ? timers->service.next_deadline() : instant::never();
}
bool device_system::parts::act(instant now) noexcept {
    if (next_act() > now)
        return false;
    timers->service.run_due(now);
    return true;
}
void device_system::parts::driver_stopped(tick_driver_error why) noexcept {
    // NOLINTNEXTLINE(bugprone-unchecked-optional-access): it is who calls
    (void)driver->stopped(why);
    driver_ended.store(1, std::memory_order_relaxed);  // the keeper's lock orders the rest
}
void device_system::parts::warned(const scheduler_warning& what) noexcept {
    static_cast<scheduler_listener&>(world).warned(what);
}
// Its sentence, describe(), would be much text for a small device.
void device_system::parts::timer_warned(const scheduler_warning& what) noexcept {
    text_buffer<80> line;
    line.add("scheduler: ").add(name_of(what.kind));
    if (what.about[0] != '\0')
        line.add(" ").add(what.about);
    if (what.text[0] != '\0')
        line.add(", ").add(what.text);
    log.write(log_level::warning, line.view());
    if (also != nullptr)
        also->timer_warned(what);
}
void device_system::parts::tend_driver() noexcept {
    if (!driver || driver_ended.load(std::memory_order_relaxed) == 0)
        return;
    driver_ended.store(0, std::memory_order_relaxed);  // what ends from now on is seen next time
    if (driver->tend(tools.time->now()) != instant::never())
        driver_ended.store(1, std::memory_order_relaxed);
    if (driver->now() == driver_keeper::state::given_up)
        world.terminate();
}

// ---- running

bool device_system::run_once() noexcept {
    parts_->look_around();
    return parts_->loop && parts_->loop->run_once();
}
// Who always has something to run looks around all the same.
std::size_t device_system::run_until_idle(std::size_t max) noexcept {
    std::size_t count = 0;
    while (count < max && run_once())
        ++count;
    return count;
}

// A tick that came since the last look ends the sleep at once: it cannot come in between.
void device_system::parts::sleep_for_tick() noexcept {
    const port::critical_section section;
    const auto counted = [this] {
        const port::lock_guard held(mutex);
        // NOLINTNEXTLINE(bugprone-unchecked-optional-access): called where there are ticks
        return pulls->pending();
    };
    if (counted() == 0)
        (void)port::wait_on(bell, 0, 1'000'000);  // a tick of a thread wakes nobody
}

void device_system::parts::sleep_for_work() noexcept {
    worker& w = kernel.worker_at(0);
    const worker::binding bound(w);
    (void)kernel.order().await_work(w.lanes(), ended);
}

void device_system::parts::pull_ticks() noexcept {
    const auto taken = [this] {
        const port::lock_guard held(mutex);
        // Two pulls are in a row when each has taken something, however often it was looked.
        return pulls->pending() != 0 ? pulls->try_pull() : std::nullopt;
    }();
    if (taken && timers != nullptr) {
        timers->service.ticks_taken(taken->ticks);
        timers->service.mark_due();
    }
}
// LN-4: there is no other thread to look at the time while this one is busy. A clock that is set by
// hand is looked at before every run anyway.
void device_system::parts::look_at_clock() noexcept {
    if (!acts() && next_act() <= tools.time->now())
        timers->service.mark_due();
}

void device_system::run() noexcept {
    parts& p = *parts_;
    const bool by_hand = p.tools.time->kind() == clock_kind::deterministic;
    while (!has_ended()) {
        if (p.lent) {
            p.look_around();
            p.kernel.order().made_work();  // its worker looks at the time
        } else {
            (void)run_until_idle();
        }
        if (has_ended() || by_hand)
            return;
        if (p.pulls)
            p.sleep_for_tick();
        else if (p.driver || p.lent)
            (void)port::wait_on(p.bell, 0, 1'000'000);
        else
            p.sleep_for_work();
    }
}

// ---- parts

bool device_system::has_ended() const noexcept {
    return parts_->ended.load(std::memory_order_relaxed) != 0;
}
std::string_view device_system::failure_text() const noexcept {
    const port::lock_guard held(parts_->mutex);
    return {parts_->failure, parts_->failure_size};
}
tick_status device_system::ticks() const noexcept {
    if (!parts_->pulls)
        return {};
    const port::lock_guard held(parts_->mutex);
    return parts_->pulls->status();
}
driver_view device_system::driver() const noexcept {
    return parts_->view();
}
std::string_view device_system::name() const noexcept {
    return parts_->world.name();
}
logger& device_system::log() noexcept {
    return parts_->log;
}
tactus::arena& device_system::memory() noexcept {
    return parts_->memory;
}
const toolbox& device_system::tools() const noexcept {
    return parts_->tools;
}
actor_world& device_system::world() noexcept {
    return parts_->world;
}

}  // namespace tactus::inline v0
