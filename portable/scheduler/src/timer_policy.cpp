// SPDX-License-Identifier: Apache-2.0
//
// Timer policies: few, so a list that is searched from its beginning.
#include <tactus/scheduler/timer_policy.hpp>

#include <new>

namespace tactus::inline v0 {
namespace {

using result = std::expected<void, scheduler_error>;

constexpr timer_policy runtime_policy = timer_policy::of(timer_priority::high);

result wrong(const char* field, std::int64_t value, std::int64_t limit) noexcept {
    return std::unexpected(scheduler_error{
        .code = scheduler_errc::invalid_options, .field = field, .value = value, .limit = limit});
}

template <class Enum>
result check(const char* field, Enum value, std::size_t count) noexcept {
    if (static_cast<std::size_t>(value) < count)
        return {};
    return wrong(field, static_cast<std::int64_t>(value), static_cast<std::int64_t>(count) - 1);
}

}  // namespace

result validate(const fixed_rate_options& o) noexcept {
    if (o.backlog_limit == 0)
        return wrong("backlog_limit", 0, 1);
    if (o.burst_threshold == 0)
        return wrong("burst_threshold", 0, 1);
    if (o.burst_threshold > o.backlog_limit)
        return wrong("burst_threshold", o.burst_threshold, o.backlog_limit);
    if (const result r = check("priority", o.priority, timer_priority_count); !r)
        return r;
    return check("catch_up", o.catch_up, catch_up_rule_count);
}

result validate(const fixed_delay_options& o) noexcept {
    if (const result r = check("priority", o.priority, timer_priority_count); !r)
        return r;
    return check("after", o.after, delay_after_count);
}

result validate(const timer_policy& p) noexcept {
    if (const result r = validate(p.fixed_rate); !r)
        return r;
    if (const result r = validate(p.fixed_delay); !r)
        return r;
    return check("one_shot", p.one_shot, timer_priority_count);
}

timer_policies::timer_policies(memory_source& memory, std::uint32_t capacity) noexcept
    : memory_(memory),
      entries_(static_cast<entry*>(
          capacity == 0 ? nullptr : memory.allocate(capacity * sizeof(entry), alignof(entry)))),
      capacity_(entries_ == nullptr ? 0 : capacity) {
    for (std::uint32_t i = 0; i < capacity_; ++i)
        ::new (static_cast<void*>(entries_ + i)) entry;
}

timer_policies::~timer_policies() {
    if (entries_ != nullptr)
        memory_.release(entries_, capacity_ * sizeof(entry), alignof(entry));
}

timer_policies::entry* timer_policies::find(kind what, std::uint16_t number) const noexcept {
    for (std::uint32_t i = 0; i < count_; ++i) {
        if (entries_[i].what == what && entries_[i].number == number)
            return &entries_[i];
    }
    return nullptr;
}

result timer_policies::set(kind what, std::uint16_t number, const timer_policy& p) noexcept {
    if (const result r = validate(p); !r)
        return r;
    const port::lock_guard held(mutex_);
    entry* e = find(what, number);
    if (e == nullptr) {
        if (count_ == capacity_)
            return std::unexpected(scheduler_error{
                .code = scheduler_errc::capacity_exceeded, .value = count_, .limit = capacity_});
        e = &entries_[count_++];
    }
    *e = {what, number, p};
    return {};
}

bool timer_policies::clear(kind what, std::uint16_t number) noexcept {
    const port::lock_guard held(mutex_);
    entry* e = find(what, number);
    if (e == nullptr)
        return false;
    *e = entries_[--count_];
    return true;
}

result timer_policies::set_for_dispatcher(std::uint16_t number, const timer_policy& p) noexcept {
    if (number == timer_affinity::no_dispatcher)
        return wrong("dispatcher", number, number - 1);
    return set(kind::dispatcher, number, p);
}

result timer_policies::set_for(timer_guardian guardian, const timer_policy& p) noexcept {
    if (guardian == timer_guardian::none)
        return wrong("guardian", 0, 1);
    return set(kind::guardian, static_cast<std::uint16_t>(guardian), p);
}

result timer_policies::set_for(timer_subsystem subsystem, const timer_policy& p) noexcept {
    if (subsystem == timer_subsystem::none)
        return wrong("subsystem", 0, 1);
    return set(kind::subsystem, static_cast<std::uint16_t>(subsystem), p);
}

result timer_policies::set_default(const timer_policy& p) noexcept {
    if (const result r = validate(p); !r)
        return r;
    const port::lock_guard held(mutex_);
    default_ = p;
    return {};
}

bool timer_policies::clear_for_dispatcher(std::uint16_t number) noexcept {
    return clear(kind::dispatcher, number);
}

bool timer_policies::clear_for(timer_guardian guardian) noexcept {
    return clear(kind::guardian, static_cast<std::uint16_t>(guardian));
}

bool timer_policies::clear_for(timer_subsystem subsystem) noexcept {
    return clear(kind::subsystem, static_cast<std::uint16_t>(subsystem));
}

timer_policy timer_policies::lookup(const timer_affinity& from) const noexcept {
    const port::lock_guard held(mutex_);
    // `none` is never set, so it is never found.
    if (const entry* e = find(kind::dispatcher, from.dispatcher))
        return e->policy;
    if (const entry* e = find(kind::guardian, static_cast<std::uint16_t>(from.guardian)))
        return e->policy;
    if (const entry* e = find(kind::subsystem, static_cast<std::uint16_t>(from.subsystem)))
        return e->policy;
    return from.subsystem == timer_subsystem::runtime ? runtime_policy : default_;
}

std::uint32_t timer_policies::count() const noexcept {
    const port::lock_guard held(mutex_);
    return count_;
}

}  // namespace tactus::inline v0
