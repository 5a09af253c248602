// SPDX-License-Identifier: Apache-2.0
//
// Backpressure gauge: the lock is never held while a probe is called, so everything is looked at
// again after each.
#include <tactus/scheduler/backpressure_gauge.hpp>

#include "this_thread.hpp"

#include <new>

namespace tactus::inline v0 {

backpressure_gauge::backpressure_gauge(memory_source& memory, std::uint32_t probes_max) noexcept
    : memory_(memory),
      places_(static_cast<place*>(
          probes_max == 0 ? nullptr : memory.allocate(probes_max * sizeof(place), alignof(place)))),
      capacity_(places_ == nullptr ? 0 : probes_max) {
    for (std::uint32_t i = 0; i < capacity_; ++i)
        ::new (static_cast<void*>(places_ + i)) place;
}

backpressure_gauge::~backpressure_gauge() {
    if (places_ != nullptr)
        memory_.release(places_, capacity_ * sizeof(place), alignof(place));
}

std::optional<probe_handle> backpressure_gauge::register_probe(const char* name,
                                                               backpressure_probe& probe) noexcept {
    const port::lock_guard held(mutex_);
    for (std::uint32_t i = 0; i < capacity_; ++i) {
        place& p = places_[i];
        if (p.probe != nullptr)
            continue;
        p.probe = &probe;
        p.name = name;
        ++p.generation;
        ++count_;
        return probe_handle{i, p.generation};
    }
    return std::nullopt;
}

bool backpressure_gauge::remove_probe(probe_handle handle) noexcept {
    if (handle.index >= capacity_)
        return false;
    {
        const port::lock_guard held(mutex_);
        place& p = places_[handle.index];
        if (p.probe == nullptr || p.generation != handle.generation)
            return false;
        p.probe = nullptr;
        --count_;
        // The sampler itself is in the call, and has removed its probe there.
        if (sampler_ == this_thread())
            return true;
    }
    for (;;) {
        {
            const port::lock_guard held(mutex_);
            if (calling_ != handle.index)
                return true;
        }
        port::yield();
    }
}

void backpressure_gauge::push(gauge_event event) noexcept {
    const port::lock_guard held(mutex_);
    pushed_event_ = event;
}

void backpressure_gauge::take_pushed() noexcept {
    if (!pushed_event_)
        return;
    pushed_ = *pushed_event_ == gauge_event::engage;
    pushed_event_.reset();
}

bool backpressure_gauge::sample(tick now) noexcept {
    tick elapsed = 1;
    {
        const port::lock_guard held(mutex_);
        if (sampler_ != nullptr || (sampled_at_ && now <= *sampled_at_))
            return measured_.is_high() || pushed_;
        elapsed = sampled_at_ ? now - *sampled_at_ : 1;
        sampled_at_ = now;
        take_pushed();
        if (count_ == 0 && !measured_.is_high()) {
            measured_.interrupt();
            highest_ = {};
            return pushed_;
        }
        sampler_ = this_thread();
    }
    const load found = ask_probes();
    const port::lock_guard held(mutex_);
    sampler_ = nullptr;
    highest_ = found;
    (void)measured_.note(found.permille, elapsed);
    return measured_.is_high() || pushed_;
}

backpressure_gauge::load backpressure_gauge::ask_probes() noexcept {
    load found;
    for (std::uint32_t i = 0; i < capacity_; ++i) {
        backpressure_probe* probe = nullptr;
        const char* name = nullptr;
        {
            const port::lock_guard held(mutex_);
            probe = places_[i].probe;
            name = places_[i].name;
            if (probe == nullptr)
                continue;
            calling_ = i;
        }
        const std::optional<std::uint32_t> told = probe->load_permille();
        const port::lock_guard held(mutex_);
        calling_ = none;
        if (!told)
            ++failures_;
        else if (*told > found.permille || *found.name == '\0')
            found = {name, *told};
    }
    return found;
}

bool sustained_load::note(std::uint32_t permille, tick elapsed) noexcept {
    const bool high = permille >= engage_permille;
    if (high == is_high_) {
        against_ = 0;
        return false;
    }
    if (high && elapsed > apart_ticks_max)
        against_ = 0;  // nothing is in a row with what was before an idle time
    const bool was_calm = !high && elapsed > 1;  // SC-38: the ticks between, and this one
    against_ += was_calm ? ticks_in_a_row : 1;
    if (against_ < ticks_in_a_row)
        return false;
    against_ = 0;
    is_high_ = high;
    return true;
}

bool backpressure_gauge::engaged() const noexcept {
    const port::lock_guard held(mutex_);
    return measured_.is_high() || pushed_;
}

backpressure_gauge::load backpressure_gauge::highest() const noexcept {
    const port::lock_guard held(mutex_);
    return highest_;
}

std::uint32_t backpressure_gauge::probe_count() const noexcept {
    const port::lock_guard held(mutex_);
    return count_;
}

std::uint64_t backpressure_gauge::failure_count() const noexcept {
    const port::lock_guard held(mutex_);
    return failures_;
}

}  // namespace tactus::inline v0
