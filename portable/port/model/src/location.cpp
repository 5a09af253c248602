// SPDX-License-Identifier: Apache-2.0
//
// Which location a cell is in this execution, whether it may be used, and its value afterwards.
#include "location.hpp"

#include "execution.hpp"

namespace tactus::inline v0::port::model::detail {
namespace {

std::uint64_t bits_in(const cell& c) noexcept {
    std::uint64_t bits = 0;
    if (c.size <= sizeof bits)
        std::memcpy(&bits, c.value, c.size);
    return bits;
}

constexpr std::uint64_t mixed(std::uint64_t x) noexcept {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

}  // namespace

std::uint32_t execution::add_location(const cell& c, location_kind kind, bool from_outside) {
    if (location_count_ == locations_.size())
        locations_.push_back(std::make_unique<location>());
    const std::uint32_t index = location_count_++;
    location& l = *locations_[index];
    l.clear();
    l.kind = kind;
    l.memory = c;
    l.from_outside = from_outside;
    l.is_pointer = c.is_pointer;
    if (c.known != nullptr)
        *c.known = {serial_, index};
    if (kind == location_kind::atomic)
        l.stores.push_back({bits_in(c), 0, false, {}});
    if (!from_outside) {
        l.identity = mixed((std::uint64_t{current_} << 32) + ++me().cell_count);
        return index;
    }
    l.identity = mixed(reinterpret_cast<std::uintptr_t>(c.value));
    l.saved_value = bits_in(c);
    if (c.size > sizeof l.saved_value) {
        const auto* bytes = static_cast<const std::byte*>(c.value);
        saved_.push_back({index, {bytes, bytes + c.size}});
    }
    return index;
}

std::uint32_t execution::find(const cell& c, location_kind kind) {
    // In memory that was freed and overwritten the handle may say anything.
    if (const poisoned_range* dead = poisoned_.find(c.value))
        fail(failure::use_after_free, "memory that " + thread_name(dead->thread) + " freed at " +
                                          place_text(dead->at) + " is used by " +
                                          thread_name(current_));
    if (c.known->execution == serial_ && c.known->index < location_count_ &&
        locations_[c.known->index]->memory.value == c.value)
        return c.known->index;
    return add_location(c, kind, true);
}

std::uint32_t execution::find(handle& h, location_kind kind) {
    return find(cell{&h, 0, &h}, kind);
}

void execution::born(const cell& c, cell_kind kind, where at) {
    if (const poisoned_range* dead = poisoned_.find(c.value))
        fail(failure::use_after_free, here(at) + " makes a cell in memory that " +
                                          thread_name(dead->thread) + " freed at " +
                                          place_text(dead->at));
    location& l = *locations_[add_location(
        c, kind == cell_kind::atomic ? location_kind::atomic : location_kind::plain, false)];
    if (constant_initialising_)
        return;
    l.maker = current_;
    l.made = {now(), at};
    l.use(current_, now(), at);
    if (kind == cell_kind::atomic) {
        l.observe(current_, now(), 0);
    } else {
        l.writer = current_;
        l.written = l.made;
    }
}

/// An atomic is a cell like any other until it is made: who uses it must know of that.
void execution::check_usable(const location& l, where at) {
    if (l.maker != no_thread && !me().clock.covers(l.maker, l.made.step))
        fail(failure::race, here(at) + " uses a cell that " + thread_name(l.maker) + " made at " +
                                place_text(l.made.at) + ", and nothing orders the two");
}

void execution::plain_access(const cell& c, op kind, where at) {
    const std::uint32_t object = find(c, location_kind::plain);
    location& l = *locations_[object];
    const bool writes = kind == op::plain_write;
    show(kind, object, 0, at);
    const auto race = [&](unsigned other, const char* what, const access& with) {
        fail(failure::race, here(at) + (writes ? " writes " : " reads ") + name_of(object) +
                                " while " + thread_name(other) + what + place_text(with.at) +
                                ", and nothing orders the two");
    };
    if (l.writer != no_thread && !me().clock.covers(l.writer, l.written.step))
        race(l.writer, " writes it at ", l.written);
    if (writes) {
        for_each(l.users, [&](unsigned t) {
            if (!me().clock.covers(t, l.used[t].step))
                race(t, " reads it at ", l.used[t]);
        });
        l.writer = current_;
        l.written = {now(), at};
    }
    l.use(current_, now(), at);
}

void execution::put_back() {
    for (std::uint32_t i = 0; i < location_count_; ++i) {
        const location& l = *locations_[i];
        if (l.from_outside && l.memory.size <= sizeof l.saved_value)
            std::memcpy(l.memory.value, &l.saved_value, l.memory.size);
    }
    for (const saved_bytes& s : saved_)
        std::memcpy(locations_[s.object]->memory.value, s.bytes.data(), s.bytes.size());
}

void execution::name_cell(const cell& c, cell_kind kind, const char* text) {
    locations_[find(c, kind == cell_kind::atomic ? location_kind::atomic : location_kind::plain)]
        ->name = text;
}

void execution::remember(op kind, std::uint64_t identity, std::uint64_t value) noexcept {
    std::uint64_t& sum = me().outcome;
    sum = mixed(sum + mixed(identity + static_cast<std::uint64_t>(kind)) + value);
}

std::uint64_t execution::outcome() const noexcept {
    std::uint64_t sum = 0;
    for (unsigned t = 0; t < thread_count_; ++t)
        sum = mixed(sum + threads_[t].outcome);
    return sum;
}

}  // namespace tactus::inline v0::port::model::detail
