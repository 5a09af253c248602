// SPDX-License-Identifier: Apache-2.0
//
// Subscribing for the event stream, and publishing there.
#include <tactus/runtime/diagnostic_events.hpp>

#include <tactus/actor/log.hpp>
#include <tactus/actor/system_events.hpp>
#include <tactus/scheduler/scheduler.hpp>

#include <utility>

namespace tactus::inline v0::runtime {
namespace {

// A driver measures under its own lock, where no message may be sent.
constexpr diagnostic_kinds all_but_metrics{
    diagnostic_kind::schedule, diagnostic_kind::fire,    diagnostic_kind::cancel,
    diagnostic_kind::drop,     diagnostic_kind::drift,   diagnostic_kind::driver_status,
    diagnostic_kind::state,    diagnostic_kind::on_close};

}  // namespace

void diagnostic_events::begin(actor_world& world, const system_services* others) noexcept {
    world_ = &world;
    others_ = others;
    world.events().set_watcher({[](void* self, const event_type& channel) noexcept {
                                    static_cast<diagnostic_events*>(self)->subscribed(channel);
                                },
                                this});
}

void diagnostic_events::subscribed(const event_type& channel) noexcept {
    if (others_ != nullptr)
        others_->subscribed(*world_, channel);
    if (!event_type_of<timer_diagnostic>.is_a(channel) || world_->timers() == nullptr)
        return;
    const port::lock_guard held(mutex_);
    if (subscription_) {
        subscription_.want(all_but_metrics);
        return;
    }
    auto made = world_->timers()->subscribe(all_but_metrics, *this);
    if (made)
        subscription_ = std::move(*made);
    else if (world_->log() != nullptr)
        world_->log()->write(log_level::error,
                             "no memory for the queue of timer_diagnostic: none is published");
}

void diagnostic_events::read(const diagnostic& what) noexcept {
    world_->events().publish(timer_diagnostic{what});
    // Asked under the lock: an actor that subscribes now is in the stream already, and seen, or
    // comes to subscribed() afterwards.
    const port::lock_guard held(mutex_);
    if (!world_->events().is_wanted(event_type_of<timer_diagnostic>))
        subscription_.want({});
}

}  // namespace tactus::inline v0::runtime
