// SPDX-License-Identifier: Apache-2.0
//
// Building a dispatcher: lanes and workers, as many as it is told.
#include <tactus/dispatch/dispatcher.hpp>

#include "whole_us.hpp"

#include "made_in.hpp"

#include <tactus/dispatch/actor_scheduler.hpp>

namespace tactus::inline v0 {

dispatcher::dispatcher(actor_scheduler& system, const options& o) noexcept
    : memory_(*o.memory),
      number_(o.number),
      throughput_(0),
      has_clock_(o.time != nullptr),
      order_({.memory = o.memory,
              .slots = o.slots,
              .time = o.time,
              .timers = o.timers,
              .driver = o.driver,
              .waiting = o.waiting,
              .advice = o.advice,
              .load = o.load,
              .events = o.events,
              .tasks = &tasks_,
              .number = o.number,
              .worker_count = o.worker_count,
              .cancel_streak_limit = o.cancel_streak_limit,
              .queue_capacity = o.queue_capacity,
              .keyed_capacity = o.keyed_capacity,
              .mode = o.mode,
              .certify_schedule = o.certify_schedule}),
      worker_count_(o.worker_count),
      one_owner_(o.one_owner),
      lived_in_(o.lived_in) {
    set_throughput(o.throughput);
    set_throughput_deadline(o.throughput_deadline);
    void* block = memory_.allocate(worker_count_ * sizeof(worker*), alignof(worker*));
    TACTUS_CHECK(1, block != nullptr);
    workers_ = ::new (block) worker*[worker_count_];
    // DT-4: each dispatcher has a seed of its own; positions below are those of its streams.
    worker_lanes::options lanes{.memory = o.memory,
                                .stale = &order_.staleness(),
                                .ring_capacity = o.ring_capacity,
                                .fresh_capacity = o.fresh_capacity,
                                .later_capacity = later_capacity(o.worker_count),
                                .keyed_capacity = o.keyed_capacity,
                                .number = 0,
                                .shared = o.worker_count > 1 || o.visited,
                                .seed = split_mix(o.seed, std::uint64_t{o.number} << 40),
                                .mode = o.mode,
                                .cancel_streak_limit = o.cancel_streak_limit};
    for (std::uint32_t i = 0; i < worker_count_; ++i) {
        lanes.number = i;
        if (o.mode != lane_mode::standard)
            lanes.seed = o.seed + i;  // not mixed, as the vectors have it
        workers_[i] = make<worker>(memory_, system, *this, lanes, o.shared_queue);
        order_.add_worker(workers_[i]->lanes());
    }
    if (lanes.shared)
        make_visitor(lanes);
    order_.set_visitor(visitor_ != nullptr ? *visitor_ : workers_[0]->lanes());
}

void dispatcher::make_visitor(worker_lanes::options o) noexcept {
    o.number = worker_count_;
    visitor_ = make<worker_lanes>(memory_, visitor_lanes(o));
}

void dispatcher::set_throughput_deadline(duration d) noexcept {
    static_assert(whole_us(duration::max()) == no_deadline);
    deadline_us_.store(has_clock_ ? whole_us(d) : no_deadline,
                       std::memory_order_relaxed);  // stands alone
}

dispatcher::~dispatcher() {
    for (std::uint32_t i = 0; i < worker_count_; ++i)
        destroy(memory_, workers_[i]);
    if (visitor_ != nullptr)
        destroy(memory_, visitor_);
    memory_.release(workers_, worker_count_ * sizeof(worker*), alignof(worker*));
}

bool dispatcher::attach(std::uint32_t who) noexcept {
    if (one_owner_) {
        std::uint32_t seen = 0;
        if (!owner_.compare_exchange_strong(seen, who + 1, std::memory_order_relaxed,
                                            std::memory_order_relaxed))
            return seen == who + 1;
    }
    if (inhabitants_.fetch_add(1, std::memory_order_relaxed) == 0 && lived_in_ != nullptr)
        lived_in_->wake();
    return true;
}

void dispatcher::detach() noexcept {
    // Before the claim ends: the next owner finds nobody.
    const bool last = inhabitants_.fetch_sub(1, std::memory_order_relaxed) == 1;
    if (one_owner_)
        owner_.store(0, std::memory_order_relaxed);
    if (last && lived_in_ != nullptr)
        lived_in_->wake();
}

bool dispatcher::execute(worker_task& t) noexcept {
    if (!tasks_.push(t))
        return false;
    order_.made_work();
    return true;
}

}  // namespace tactus::inline v0
