// SPDX-License-Identifier: Apache-2.0
//
// What is sampled, what is passed on, and the sums.
#include <tactus/dispatch/hub.hpp>

#include <tactus/dispatch/worker.hpp>

#include <new>
#include <utility>

namespace tactus::inline v0 {

const char* name_of(metric_kind kind) noexcept {
    static constexpr const char* names[] = {"counter", "gauge", "histogram"};
    return names[static_cast<std::size_t>(kind)];
}

hub::~hub() {
    while (shards_ != nullptr) {
        hub_shard* s = shards_;
        shards_ = s->next;
        memory_.release(s, sizeof(hub_shard), alignof(hub_shard));
    }
    if (outside_.made_ != nullptr)
        memory_.release(outside_.made_, sizeof(hub_outside_shard), alignof(hub_outside_shard));
    if (sums_ != nullptr)
        memory_.release(sums_, sizeof(sums), alignof(sums));
}

// ---- runs

void hub::copy_certificate(hub_shard& s, const worker_lanes& lanes) noexcept {
    const fairness_certificate& c = lanes.certificate();
    const auto copy = [](hub_count& to, std::uint64_t n) {
        to.write(static_cast<hub_count::number>(n));
    };
    copy(s.values[hub_layout::dispatches + 0], c.cancel_dispatches);
    copy(s.values[hub_layout::dispatches + 1], c.timed_dispatches);
    copy(s.values[hub_layout::dispatches + 2], c.ready_dispatches);
    copy(s.values[hub_layout::fairness_yields], c.fairness_yields);
    copy(s.values[hub_layout::exceedances], c.effective_limit_exceedances);
    copy(s.max_streak, c.observed_max_cancel_streak);
}

void hub::begin_run(hub_place& own, worker_lanes& lanes) noexcept {
    own.begins_specially_ = false;
    if (own.is_idle())
        leaves_idle(own);
    if (std::exchange(own.samples_next_, false))
        begin_sample(own, lanes);
}

void hub::goes_idle(hub_place& own) noexcept {
    own.idle_.store(1, std::memory_order_relaxed);
    own.begins_specially_ = true;
    hub_shard* s = own.shard();
    if (s != nullptr && time_ != nullptr && s->work.works())
        s->work.change(time_->now());
}

void hub::leaves_idle(hub_place& own) noexcept {
    own.idle_.store(0, std::memory_order_relaxed);
    if (hub_shard* s = own.shard(); s != nullptr && !s->work.works())
        found_working(*s);
}

// Also one that began something just when it was turned on.
void hub::found_working(hub_shard& s) noexcept {
    if (time_ != nullptr)
        s.work.change(time_->now());
}

void hub::begin_sample(hub_place& own, worker_lanes& lanes) noexcept {
    hub_shard* s = own.shard();
    if (s == nullptr || time_ == nullptr)
        return;
    s->add(hub_layout::enqueued, lanes.sent());
    lanes.arm();
    s->times_run = true;
    s->begun = time_->now();
}

void hub::end_sample(hub_shard& s, hub_place& own, worker_lanes& lanes,
                     std::uint32_t processed) noexcept {
    s.add(hub_layout::enqueued, lanes.sent());
    s.add(hub_layout::dequeued, processed);
    copy_certificate(s, lanes);
    if (!s.work.works())
        found_working(s);
    if (s.times_run) {
        s.add_duration(hub_layout::duration,
                       static_cast<std::uint64_t>((time_->now() - s.begun).ns()));  // never back
        s.times_run = false;
    } else if (time_ != nullptr) {
        own.samples_next_ = true;
        own.begins_specially_ = true;
        return;
    }
    s.until_sample = sample_interval;
}

void hub::between_runs(hub_place& own, worker_lanes& lanes) noexcept {
    hub_shard* s = own.shard();
    if (s == nullptr)
        return;
    s->add(hub_layout::enqueued, lanes.sent());
    lanes.reset_sends();
    copy_certificate(*s, lanes);
}

// ---- messages

bool hub::sends_outside(bool& stamp) noexcept {
    hub_outside_shard* s = outside_.shard();
    if (s == nullptr)
        return false;
    s->values[hub_layout::enqueued].add(1);
    stamp = time_ != nullptr &&
            s->sends.fetch_add(1, std::memory_order_relaxed) % sample_interval == 0;  // a count
    return true;
}

void hub::unsent_outside() noexcept {
    // Counted there, so it exists; whether or not anybody measures by now.
    outside_.made_->values[hub_layout::enqueued].add(~port::event_count::word{0});
}

bool hub::stamps(hub_place& own) noexcept {
    hub_shard* s = own.shard();
    if (s == nullptr || time_ == nullptr)
        return false;
    return true;
}

void hub::waited(hub_place& own, std::int64_t since_ns) noexcept {
    hub_shard* s = own.shard();
    if (s == nullptr)
        return;
    const std::int64_t ns = now_ns() - since_ns;
    s->add_duration(hub_layout::latency, ns > 0 ? static_cast<std::uint64_t>(ns) : 0);
}

void hub::count(hub_place* own, std::size_t what, std::size_t n) noexcept {
    if (own != nullptr) {
        if (hub_shard* s = own->shard())
            s->add(what, n);
    } else if (hub_outside_shard* s = outside_.shard()) {
        s->values[what].add(static_cast<port::event_count::word>(n));
    }
}

// ---- what others hear of, too

void hub::count_here(mailbox_index who, std::size_t what, std::size_t n) noexcept {
    if (!on())
        return;
    worker* w = worker::current();
    const bool ours = w != nullptr && w->system_number() == who.system_number();
    count(ours ? &w->measured() : nullptr, what, n);
}

void hub::dead_letter(mailbox_index to, envelope& message, dead_letter_cause cause) noexcept {
    count_here(to, hub_layout::dead_letters + static_cast<std::size_t>(cause), 1);
    if (to_ != nullptr)
        to_->dead_letter(to, message, cause);
}
void hub::message_lost(mailbox_index to, const message_type& type,
                       dead_letter_cause cause) noexcept {
    count_here(to, hub_layout::dead_letters + static_cast<std::size_t>(cause), 1);
    if (to_ != nullptr)
        to_->message_lost(to, type, cause);
}
void hub::system_dead_letter(mailbox_index to, system_message& message) noexcept {
    count_here(to, hub_layout::system_dead_letters, 1);
    if (to_ != nullptr)
        to_->system_dead_letter(to, message);
}
void hub::mailbox_closed(mailbox_index who, std::size_t system_drained,
                         std::size_t user_drained) noexcept {
    count_here(who, hub_layout::discarded, user_drained);
    if (to_ != nullptr)
        to_->mailbox_closed(who, system_drained, user_drained);
}
void hub::actor_failed(mailbox_index who, const failure& why) noexcept {
    count_here(who, hub_layout::escalated, 1);
    if (to_ != nullptr)
        to_->actor_failed(who, why);
}
bool hub::stops_at_limit(mailbox_index who) noexcept {
    return to_ != nullptr && to_->stops_at_limit(who);
}
void hub::deadline_missed(mailbox_index who, std::int64_t late_ns) noexcept {
    count_here(who, hub_layout::deadline_misses, 1);
    if (to_ != nullptr)
        to_->deadline_missed(who, late_ns);
}
void hub::pressure(const mailbox_pressure& what) noexcept {
    if (to_ != nullptr)
        to_->pressure(what);
}
void hub::suspended(mailbox_index who, held_reason why) noexcept {
    count_here(who, hub_layout::suspended + static_cast<std::size_t>(why), 1);
    if (to_ != nullptr)
        to_->suspended(who, why);
}
void hub::resumed(mailbox_index who) noexcept {
    count_here(who, hub_layout::resumed, 1);
    if (to_ != nullptr)
        to_->resumed(who);
}
void hub::pool_exhausted(std::uint32_t refused) noexcept {
    if (to_ != nullptr)
        to_->pool_exhausted(refused);
}
void hub::user_code_failed(user_code where, const failure& why) noexcept {
    if (to_ != nullptr)
        to_->user_code_failed(where, why);
}

// ---- shards and sums

template <class Shard>
bool hub::make(shard_place<Shard>& at) noexcept {
    if (sums_ == nullptr) {
        void* block = memory_.allocate(sizeof(sums), alignof(sums));
        if (block == nullptr)
            return false;
        sums_ = ::new (block) sums();
    }
    if (at.made_ == nullptr) {
        void* block = memory_.allocate(sizeof(Shard), alignof(Shard));
        if (block == nullptr)
            return false;
        at.made_ = ::new (block) Shard();
    }
    return true;
}
template <class Shard>
void hub::publish(shard_place<Shard>& at) noexcept {
    at.at_.store(at.made_, shard_place<Shard>::placed.release());
}

bool hub::turn_on(hub_place& at) noexcept {
    const bool is_new = at.made_ == nullptr;
    if (!make(at))
        return false;
    if (is_new) {
        at.made_->next = shards_;
        shards_ = at.made_;
    }
    // Its worker does not find it. What it does now is a look: the next change puts it right.
    hub_shard& s = *at.made_;
    if (time_ != nullptr && !at.on()) {
        s.looked_at = time_->now();
        s.work.begin(s.looked_at, !at.is_idle());
        s.work_then = 0;
        s.busy_ratio = 0;
    }
    publish(at);
    return true;
}
bool hub::turn_on_outside() noexcept {
    if (!make(outside_))
        return false;
    publish(outside_);
    return true;
}

// Who has found a shard may go on writing there.
void hub::turn_off(hub_place& at) noexcept {
    at.at_.store(nullptr, std::memory_order_relaxed);
}
void hub::turn_off_outside() noexcept {
    outside_.at_.store(nullptr, std::memory_order_relaxed);
}

bool hub::set_sink(metrics_sink* to, actor_labels* labels) noexcept {
    if (feeding_.load(std::memory_order_relaxed) != 0)
        return false;
    sink_ = to;
    labels_ = labels;
    return true;
}

metrics_sink* hub::begin_feeding() noexcept {
    if (sink_ == nullptr || sums_ == nullptr || feeding_.load(std::memory_order_relaxed) != 0)
        return nullptr;
    feeding_.store(1, std::memory_order_relaxed);
    add_up();
    return sink_;
}

void hub::end_feeding() noexcept {
    feeding_.store(0, std::memory_order_relaxed);
    port::wake_one(feeding_);
}

void hub::await_feeding() noexcept {
    (void)port::wait_on(feeding_, 1, -1);
    port::wake_one(feeding_);  // somebody else may wait for the same
}

void hub::add_up() noexcept {
    // Shards wrap where a word has 32 bits; so does their sum, and its difference to the total is
    // right as long as it did so once since the last time.
    for (std::size_t i = 0; i < hub_layout::count; ++i) {
        hub_count::number sum = 0;
        for (const hub_shard* s = shards_; s != nullptr; s = s->next)
            sum += s->values[i].read();
        if (outside_.made_ != nullptr)
            sum += static_cast<hub_count::number>(outside_.made_->values[i].read());
        sums_->totals[i] += sum - static_cast<hub_count::number>(sums_->totals[i]);
    }
    for (const hub_shard* s = shards_; s != nullptr; s = s->next) {
        if (s->max_streak.read() > sums_->max_streak)
            sums_->max_streak = s->max_streak.read();
    }
}

std::optional<std::uint32_t> hub::busy_ratio(const hub_place& at) const noexcept {
    hub_shard* s = at.shard();
    if (s == nullptr || time_ == nullptr)
        return {};
    const work_time::look now = s->work.look_at(*time_);
    auto passed = static_cast<std::uint64_t>((now.at - s->looked_at).ns()) / work_time::unit_ns;
    std::uint64_t worked = work_time::between(s->work_then, now.sum);
    if (passed == 0)
        return s->busy_ratio;  // as it was
    s->work_then = now.sum;
    s->looked_at = now.at;
    // So short that the product fits a word; the ratio has 20 bits.
    for (; passed >= std::uint64_t{1} << 40U; passed /= 2)
        worked /= 2;
    const std::uint64_t parts = info_of(metric::busy_ratio).parts;
    s->busy_ratio = static_cast<std::uint32_t>(worked < passed ? worked * parts / passed : parts);
    return s->busy_ratio;
}

void hub::feed(metrics_sink& to, metric what, std::size_t first) const noexcept {
    histogram_sums h{};
    for (std::size_t i = 0; i < duration_buckets::count; ++i)
        h.counts[i] = sums_->totals[first + i];
    h.total_us = sums_->totals[first + duration_buckets::count];
    to.histogram(info_of(what), {}, h);
}

void hub::feed(metrics_sink& to) const noexcept {
    const auto plain = [&](metric m, std::size_t at) {
        to.counter(info_of(m), {}, sums_->totals[at]);
    };
    // One value per label; the names are the enumeration's.
    const auto labelled = [&](metric m, std::size_t at, std::size_t count, auto first) {
        using label = decltype(first);
        for (auto i = static_cast<std::size_t>(first); i < count; ++i)
            to.counter(info_of(m), name_of(static_cast<label>(i)), sums_->totals[at + i]);
    };
    plain(metric::enqueued, hub_layout::enqueued);
    labelled(metric::refused, hub_layout::refused, sent_result_count, sent::pool_exhausted);
    plain(metric::dequeued, hub_layout::dequeued);
    plain(metric::discarded, hub_layout::discarded);
    feed(to, metric::latency, hub_layout::latency);
    std::uint64_t runs = 0;
    for (std::size_t lane = 0; lane < 3; ++lane)
        runs += sums_->totals[hub_layout::dispatches + lane];
    to.counter(info_of(metric::invoke_runs), {}, runs);
    feed(to, metric::invoke_duration, hub_layout::duration);
    labelled(metric::fairness_dispatches, hub_layout::dispatches, 3, lane::cancel);
    plain(metric::fairness_yields, hub_layout::fairness_yields);
    to.gauge(info_of(metric::fairness_max_streak), {}, sums_->max_streak);
    plain(metric::fairness_exceedances, hub_layout::exceedances);
    labelled(metric::suspended, hub_layout::suspended, held_reason_count,
             held_reason::backpressure);
    plain(metric::resumed, hub_layout::resumed);
    plain(metric::escalated, hub_layout::escalated);
    plain(metric::deadline_misses, hub_layout::deadline_misses);
    plain(metric::executor_rejected, hub_layout::executor_rejected);
    plain(metric::executor_retried, hub_layout::executor_retried);
    labelled(metric::dead_letters, hub_layout::dead_letters, dead_letter_cause_count,
             dead_letter_cause::mailbox_full);
    plain(metric::system_dead_letters, hub_layout::system_dead_letters);
}

}  // namespace tactus::inline v0
