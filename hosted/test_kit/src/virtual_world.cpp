// SPDX-License-Identifier: Apache-2.0
//
// The loop that runs actors and moves time, and what the world says meanwhile.
#include <tactus/test_kit/virtual_world.hpp>

#include <tactus/actor/actor_log.hpp>
#include <tactus/test_kit/describe.hpp>
#include <tactus/test_kit/failure_handler.hpp>

#include <algorithm>
#include <iterator>
#include <stdexcept>

namespace tactus::inline v0::test {
namespace {

class path_sink final : public text_sink {
public:
    void write(std::string_view piece) noexcept override { text += piece; }
    std::string text;
};

auto key_of(any_ref who) {
    return std::pair(who.index().slot, who.index().generation);
}

/// SC-37: what the world is built with.
virtual_world::options configured(virtual_world::options o) {
    o.scheduler.clock = clock_kind::deterministic;
    o.scheduler.use = scheduler_use::test;
    if (const auto fine = validate(o.scheduler); !fine) {
        char text[200];
        throw std::invalid_argument("scheduler." + std::string(describe(fine.error(), text)));
    }
    return o;
}

}  // namespace

virtual_world::virtual_world(options o)
    : how_(configured(std::move(o))),
      memory_({.actors_max = how_.actors_max, .messages_max = how_.messages_max}),
      timer_blocks_(runtime::timer_memory::of(how_.scheduler, how_.timers_max)),
      log_({.sink = how_.log, .time = &time_, .level = how_.log_level}),
      services_({.memory = &heap_, .tasks_max = capacity_of(how_.scheduler).tasks}),
      timers_(timer_blocks_.options(scheduler_options{
          .time = &time_,
          .config = how_.scheduler,
          .memory = &heap_,
          .slot = &local_,
          .listener = &world_,
          .services = &services_,
      })),
      world_({.memory = &heap_,
              .events = this,
              .name = how_.name,
              .guardian_strategy = how_.guardian_strategy,
              .pacing = how_.pacing,
              .timers = &timers_,
              .log = how_.log != nullptr ? &log_ : nullptr,
              .places = how_.places && how_.events != nullptr}),
      // One message per run: whoever waits for something looks after each.
      kernel_(memory_.fill({.time = &time_,
                            .timers = &timers_,
                            .throughput = 1,
                            .events = &world_,
                            .above = &world_})),
      ticks_(kernel_) {
    if (!(how_.timer_policy == tactus::timer_policy{})) {
        if (const auto done = timers_.policies()->set_default(how_.timer_policy); !done) {
            char text[200];
            throw std::invalid_argument("timer_policy: " +
                                        std::string(describe(done.error(), text)));
        }
    }
    world_.set_recorder(how_.recorder);
    world_.begin(kernel_);
    diagnostic_events_.begin(world_, nullptr);
    run_until_idle();
}

virtual_world::~virtual_world() {
    world_.terminate();
    // Whoever does not come to an end is ended by force.
    (void)ticks_.run_until_idle(how_.runs_max);
    ticks_.shut_down(how_.runs_max);
    world_.sweep();
}

bool virtual_world::run_until(instant until, const std::function<bool()>& ready,
                              std::source_location where) {
    std::size_t runs = 0;
    for (;;) {
        if (ready && ready())
            return true;
        if (!ticks_.run_once()) {
            const instant next = timers_.next_deadline();
            if (next > until && next > time_.now())
                break;
            if (next > time_.now()) {
                (void)time_.advance_to(next);
                runs = 0;
                continue;
            }
            // Due, and nobody became ready by it: it is done with by the next look.
        }
        if (++runs > how_.runs_max)
            fail("the world of '" + how_.name + "' is never idle: " + std::to_string(runs - 1) +
                     " runs without time passing" + take_recent_failures(),
                 where);
    }
    (void)time_.advance_to(until);
    return ready && ready();
}

bool virtual_world::end(std::source_location where) {
    world_.terminate();
    run_until_idle(where);
    return ended_;
}

bool virtual_world::lives(any_ref who) noexcept {
    return who && kernel_.slots().find(who.index()) != nullptr;
}

std::exception_ptr virtual_world::take_failure(any_ref who) {
    const auto found = failures_.find(key_of(who));
    if (found == failures_.end())
        return nullptr;
    std::exception_ptr why = std::move(found->second);
    failures_.erase(found);
    return why;
}

void virtual_world::rethrow_failure(any_ref who) {
    const std::exception_ptr why = take_failure(who);
    if (why == nullptr)
        return;
    const auto told =
        std::ranges::find(recent_.rbegin(), recent_.rend(), who, &recent_failure::who);
    if (told != recent_.rend())
        recent_.erase(std::prev(told.base()));
    std::rethrow_exception(why);
}

std::string virtual_world::take_recent_failures() {
    std::string text;
    for (const recent_failure& one : std::exchange(recent_, {}))
        text += (text.empty() ? "; recent failures: " : ", ") + one.text;
    if (const std::size_t more = std::exchange(forgotten_, 0); more != 0)
        text += ", and " + std::to_string(more) + " before";
    return text;
}

// ---- what the world says

void virtual_world::supervised(const decision& d) noexcept {
    std::exception_ptr why = d.why->exception();
    if (why == nullptr)
        why = std::make_exception_ptr(actor_failure(*d.why));
    failures_.insert_or_assign(key_of(d.child), why);
    const std::string text = "failed (" + std::string(name_of(d.why->kind())) +
                             "): " + std::string(d.why->text()) + "; " + name_of(d.what);
    const auto level = d.what == directive::resume ? log_level::warning : log_level::error;
    if (log_.passes(level))
        actor_log(world_, d.child.index()).write(level, text);
    path_sink path;
    world_.write_path(d.child.index(), path);
    recent_.push_back({d.child, path.text + " " + text});
    if (recent_.size() > recent_max) {
        recent_.pop_front();
        ++forgotten_;
    }
    if (how_.events != nullptr)
        how_.events->supervised(d);
}
void virtual_world::hook_failed(any_ref who, const char* hook, const failure_cause& why) noexcept {
    if (log_.passes(log_level::error))
        actor_log(world_, who.index())
            .error(std::string(hook) + " failed: " + std::string(why.text()));
    if (how_.events != nullptr)
        how_.events->hook_failed(who, hook, why);
}
void virtual_world::unhandled(any_ref who, envelope& message) noexcept {
    if (how_.events != nullptr)
        how_.events->unhandled(who, message);
}
void virtual_world::dead_letter(any_ref to, envelope& message, dead_letter_cause cause) noexcept {
    if (how_.events != nullptr)
        how_.events->dead_letter(to, message, cause);
}
void virtual_world::message_lost(any_ref to, const message_type& type,
                                 dead_letter_cause cause) noexcept {
    if (how_.events != nullptr)
        how_.events->message_lost(to, type, cause);
}
void virtual_world::pressure(const mailbox_pressure& what) noexcept {
    if (how_.events != nullptr)
        how_.events->pressure(what);
}
void virtual_world::pool_exhausted(std::uint32_t refused) noexcept {
    if (how_.events != nullptr)
        how_.events->pool_exhausted(refused);
}
void virtual_world::deadline_missed(any_ref who, duration late) noexcept {
    if (how_.events != nullptr)
        how_.events->deadline_missed(who, late);
}
void virtual_world::user_code_failed(user_code where, const failure& why) noexcept {
    if (how_.events != nullptr)
        how_.events->user_code_failed(where, why);
}
void virtual_world::timer_warned(const scheduler_warning& what) noexcept {
    if (how_.events != nullptr)
        how_.events->timer_warned(what);
}
void virtual_world::guardian_failed(const failure_cause& why) noexcept {
    if (how_.events != nullptr)
        how_.events->guardian_failed(why);
}
void virtual_world::world_ended() noexcept {
    (void)timers_.shutdown();
    ended_ = true;
    if (how_.events != nullptr)
        how_.events->world_ended();
}
std::expected<void, spawn_error> virtual_world::place(any_ref parent, std::string_view name,
                                                      spawn_options& how) noexcept {
    return how_.events->place(parent, name, how);
}

}  // namespace tactus::inline v0::test
