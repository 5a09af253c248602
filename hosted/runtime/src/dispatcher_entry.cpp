// SPDX-License-Identifier: Apache-2.0
//
// What the housekeeper looks at; the table is in the header.
#include "dispatcher_entry.hpp"

#include "wait_until.hpp"

#include <tactus/dispatch/inline_tick.hpp>

#include <utility>

namespace tactus::inline v0::runtime {
namespace {

/// EX-4: nobody is looked at more often.
duration at_least_a_ms(duration d) {
    const duration least = duration::from_ms(1);
    return d < least ? least : d;
}
instant earlier(instant a, instant b) {
    return b < a ? b : a;
}

}  // namespace

dispatcher_handle::entry::entry(actor_scheduler& system, dispatcher& where,
                                const dispatcher_setup& e, const dispatcher_config& resolved,
                                const surroundings& in)
    : system_(system),
      where_(where),
      id_(e.id),
      kind_(resolved.executor),
      events_(in.events),
      keeper_(*in.keeper),
      limits_{resolved.starvation_deadline, resolved.shutdown_timeout},
      slow_after_(in.slow_after) {
    if (slow_after_ != duration::max() && events_ != nullptr && kind_ != executor_kind::thread_pool)
        runs_.resize(where.worker_count());
    if (where.worker_count() > 1 && kind_ != executor_kind::thread_pool)
        looks_.resize(where.worker_count());
    switch (kind_) {
    case executor_kind::system_default:
    case executor_kind::work_stealing_pool:
    case executor_kind::thread_pool:
    case executor_kind::pinned:
        threads_.emplace(system, where,
                         dispatcher_threads::options{.system_name = in.system_name,
                                                     .id = id_,
                                                     .thread_count = resolved.workers,
                                                     .how = e.threads,
                                                     .keeper = in.keeper});
        (void)threads_->start();  // the housekeeper sees what was refused
        break;
    case executor_kind::calling_thread:
    case executor_kind::foreign:
        lent_.emplace(system, where,
                      kind_ == executor_kind::foreign ? *e.foreign : static_cast<executor&>(here_),
                      lent_workers::options{.memory = &memory_,
                                            .events = in.events,
                                            .parked = in.keeper,
                                            .retries = in.retries});
        break;
    case executor_kind::inline_tick:
        break;
    }
}

dispatcher_handle::entry::limits dispatcher_handle::entry::current_limits() const {
    const std::lock_guard held(mutex_);
    return limits_;
}
void dispatcher_handle::entry::set_starvation_deadline(duration d) {
    {
        const std::lock_guard held(mutex_);
        limits_.starvation_deadline = d;
    }
    keeper_.wake();
}
void dispatcher_handle::entry::set_shutdown_timeout(duration d) {
    {
        const std::lock_guard held(mutex_);
        limits_.shutdown_timeout = d;
    }
    keeper_.wake();
}

instant dispatcher_handle::entry::tend(instant now) {
    if (kind_ == executor_kind::inline_tick)
        return instant::never();  // the program's own loop looks after it
    if (threads_)
        threads_->tend();
    const std::uint32_t progress = where_.order().progress();
    const bool moved = progress != std::exchange(progress_, progress);
    const limits l = current_limits();
    instant next = earlier(retry(now), watch_refusal(now));
    next = earlier(next, watch_inhabitants(now, l, moved));
    next = earlier(next, watch_slow(now));
    next = earlier(next, share_kept(now));
    return earlier(next, watch_starvation(now, l));
}

instant dispatcher_handle::entry::retry(instant now) {
    if (!lent_ || !lent_->needs_retry()) {
        retry_at_ = instant::never();
        return instant::never();
    }
    if (retry_at_ <= now)
        lent_->retry();
    if (retry_at_ <= now || retry_at_ == instant::never())
        retry_at_ = now + retry_interval;
    return retry_at_;
}

instant dispatcher_handle::entry::watch_refusal(instant now) {
    if (!threads_)
        return instant::never();
    if (restart_at_ <= now) {
        (void)threads_->start();
        restart_at_ = now + restart_interval;
    }
    const std::string cause = threads_->refusal();
    if (cause.empty()) {
        restart_at_ = instant::never();
    } else if (restart_at_ == instant::never()) {
        restart_at_ = now + restart_interval;
        if (events_ != nullptr)
            events_->threads_refused(where_, {threads_->running_count(), cause.c_str()});
    }
    return restart_at_;
}

instant dispatcher_handle::entry::watch_starvation(instant now, const limits& l) {
    if (l.starvation_deadline == duration::max()) {
        sample_.at = instant::never();
        return instant::never();
    }
    coordinator& order = where_.order();
    const bool parked = lent_ && lent_->parked_count() != 0;  // known, and told, already
    const std::uint32_t waiting = parked ? 0 : waiting_count();
    const bool all_taken = progress_ - sample_.progress >= sample_.waiting;
    if (waiting == 0) {
        sample_.at = instant::never();
    } else if (sample_.at == instant::never() || all_taken) {
        sample_ = {now, waiting, progress_};
    } else if (now - sample_.at >= l.starvation_deadline) {
        sample_ = {now, waiting, progress_};
        const std::uint32_t at_rest = order.idle().sleeping_count();
        const std::uint32_t awake = sleepers_when_idle();
        const std::uint32_t busy = awake > at_rest ? awake - at_rest : 0;
        if (events_ != nullptr)
            events_->dispatcher_starved(where_, {waiting, busy});
        if (threads_)
            (void)threads_->start_extra();
    }
    // Nobody looks while everybody sleeps.
    if (order.idle().watch(when_changed_, sleepers_when_idle()))
        return instant::never();
    return now + at_least_a_ms(duration::from_ns(l.starvation_deadline.ns() / 2));
}

// A worker that is in the same run at two looks has not looked for work in between.
instant dispatcher_handle::entry::watch_slow(instant now) {
    for (std::uint32_t i = 0; i < runs_.size(); ++i) {
        const worker& w = where_.worker_at(i);
        run& r = runs_[i];
        const slot* const of = w.running();
        const std::uint32_t step = where_.worker_at(i).lanes().step();
        const bool waits_on_purpose = threads_ && threads_->blocks(i);
        if (of == nullptr || waits_on_purpose || of != r.of || step != r.step) {
            r = {of, step, now, slow_after_};
            continue;
        }
        const duration running = now - r.since;
        if (running < r.told)
            continue;
        r.told = running + running;
        events_->handler_slow(where_, {system_.slots().index_of(*of), i, running});
    }
    // As with starvation: no sample is taken while all workers sleep.
    if (runs_.empty() || where_.order().idle().watch(when_changed_, sleepers_when_idle()))
        return instant::never();
    return now + at_least_a_ms(duration::from_ns(slow_after_.ns() / 4));
}

// What a handler made ready last waits for the handler's end in a place of its worker, which wakes
// no other worker: nearly always the handler ends sooner than another worker could begin.
instant dispatcher_handle::entry::share_kept(instant now) {
    coordinator& order = where_.order();
    if (looks_.empty() || order.idle().watch(when_changed_, sleepers_when_idle()) ||
        order.idle().watch(when_changed_, 0))
        return instant::never();
    if (now < look_at_)
        return look_at_;
    for (std::uint32_t i = 0; i < looks_.size(); ++i)
        (void)order.share_kept(where_.worker_at(i).lanes(), looks_[i]);
    look_at_ = now + look_interval;
    return look_at_;
}

instant dispatcher_handle::entry::watch_inhabitants(instant now, const limits& l, bool moved) {
    if (!threads_ || where_.number() == 0)
        return instant::never();
    const bool rests = threads_->ends_for_rest();
    if (where_.inhabitants() != 0) {
        deserted_at_ = instant::never();
        if (rests)
            (void)threads_->start();
        return instant::never();
    }
    if (rests) {
        if (threads_->running_count() == 0)
            return instant::never();
        // A handler that came just before holds the others up: they are not to end for that.
        if (now < rests_by_)
            return rests_by_;
        (void)threads_->start();
        deserted_at_ = now;
    }
    if (l.shutdown_timeout == duration::max())
        return instant::never();
    if (moved || deserted_at_ == instant::never() || !threads_->idle()) {
        deserted_at_ = now;
    } else if (now - deserted_at_ >= l.shutdown_timeout) {
        deserted_at_ = instant::never();
        rests_by_ = now + rest_limit;
        threads_->rest();
        return rests_by_;
    }
    return deserted_at_ + at_least_a_ms(l.shutdown_timeout);
}

std::uint32_t dispatcher_handle::entry::sleepers_when_idle() const {
    if (threads_)
        return threads_->sleepers_when_idle();
    return lent_ ? where_.worker_count() : 0;
}

std::uint32_t dispatcher_handle::entry::waiting_count() const {
    return where_.order().waiting_count() + (where_.tasks().empty() ? 0U : 1U);
}

dispatcher_report dispatcher_handle::entry::report() const {
    dispatcher_report r;
    r.waiting = waiting_count();
    r.inhabitants = where_.inhabitants();
    if (threads_) {
        r.threads = threads_->running_count();
        r.extra_threads = threads_->extra_count();
        r.blocking = threads_->blocking_count();
        r.stops = threads_->stop_count();
    }
    if (lent_)
        r.parked = lent_->parked_count();
    return r;
}

worker_state dispatcher_handle::entry::state_of(std::uint32_t worker) const {
    return threads_ ? threads_->state_of(worker) : worker_state::stopped;
}

bool dispatcher_handle::entry::idle() const {
    if (threads_)
        return threads_->idle();
    return where_.drained() &&
           (!lent_ || where_.order().idle().sleeping_count() == where_.worker_count());
}

void dispatcher_handle::entry::run_inline() {
    if (kind_ != executor_kind::inline_tick)
        return;
    inline_tick here(system_, where_);
    (void)here.run_until_idle();
}

void dispatcher_handle::entry::stop() {
    where_.order().idle().unwatch();
    if (threads_)
        threads_->stop();
    // Again and again: who was about to submit one may do so after the first look.
    if (lent_)
        (void)wait_until(std::chrono::nanoseconds::max(), [this] { return lent_->stop(); });
}

}  // namespace tactus::inline v0::runtime
