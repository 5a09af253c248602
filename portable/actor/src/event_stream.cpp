// SPDX-License-Identifier: Apache-2.0
//
// Entries in one array, and what subscribing, unsubscribing and publishing do with them.
#include <tactus/actor/event_stream.hpp>

#include <tactus/base/check.hpp>
#include <tactus/dispatch/system_table.hpp>

#include <algorithm>
#include <new>

namespace tactus::inline v0 {
namespace {

TACTUS_CHECK_MODULE("event_stream");

}  // namespace

const char* name_of(event_error error) noexcept {
    static constexpr const char* names[event_error_count] = {"no_memory", "another_system"};
    return names[static_cast<std::size_t>(error)];
}
const char* text_of(event_error error) noexcept {
    static constexpr const char* texts[event_error_count] = {
        "there is no memory for another subscription",
        "an actor of another system cannot subscribe: its end would not be learned of"};
    return texts[static_cast<std::size_t>(error)];
}

event_stream::~event_stream() {
    if (entries_ != nullptr)
        memory_.release(entries_, capacity_ * sizeof(entry), alignof(entry));
}

// ---- subscribing

event_stream::changed event_stream::subscribe(mailbox_index who,
                                              const event_type& channel) noexcept {
    const changed done = add(who, channel);
    if (done && *done && watcher_.subscribed != nullptr)
        watcher_.subscribed(watcher_.context, channel);
    return done;
}

event_stream::changed event_stream::add(mailbox_index who, const event_type& channel) noexcept {
    if (!who.valid())
        return false;
    const port::lock_guard held(mutex_);
    const range of = find(who);
    for (std::uint32_t i = of.from; i < of.to; ++i) {
        const entry& e = entries_[i];
        if (e.channel->message == channel.message && e.taken_out == nullptr)
            return remove(of, [&](const entry& other) {
                       return other.channel->message == channel.message &&
                              other.taken_out != nullptr;
                   }) != 0;
    }
    if (!reserve(count_.load(std::memory_order_relaxed) + 1))
        return std::unexpected(event_error::no_memory);
    const std::uint64_t id = of.from < of.to ? entries_[of.from].id : ++last_id_;
    insert(of.to, {id, who, &channel, nullptr});
    return true;
}

event_stream::changed event_stream::unsubscribe(mailbox_index who,
                                                const event_type& channel) noexcept {
    const port::lock_guard held(mutex_);
    range of = find(who);
    const auto ends = [&](const entry& e) {
        if (e.channel->is_a(channel))
            return true;
        // V3: what was taken out below is a part of what is taken out now.
        return e.taken_out != nullptr && is_below(*e.taken_out, channel) &&
               is_below(channel, *e.channel);
    };
    const auto loses_part = [&](const entry& e) {
        return e.taken_out == nullptr && is_below(channel, *e.channel) &&
               !is_taken_out(of, *e.channel, channel);
    };
    std::uint32_t ending = 0;
    std::uint32_t losing = 0;
    for (std::uint32_t i = of.from; i < of.to; ++i) {
        ending += ends(entries_[i]) ? 1U : 0U;
        losing += loses_part(entries_[i]) ? 1U : 0U;
    }
    if (losing != 0 && !reserve(count_.load(std::memory_order_relaxed) - ending + losing))
        return std::unexpected(event_error::no_memory);
    of.to -= remove(of, ends);
    std::uint32_t end = of.to;
    for (std::uint32_t i = of.from; i < of.to; ++i) {
        if (const entry e = entries_[i]; loses_part(e))
            insert(end++, {e.id, e.who, e.channel, &channel});
    }
    return ending + losing != 0;
}

bool event_stream::unsubscribe(mailbox_index who) noexcept {
    const port::lock_guard held(mutex_);
    return remove(find(who), [](const entry&) { return true; }) != 0;
}

bool event_stream::knows(mailbox_index who) const noexcept {
    if (is_empty())
        return false;
    const port::lock_guard held(mutex_);
    const range of = find(who);
    return of.from < of.to;
}

bool event_stream::is_wanted(const event_type& type) const noexcept {
    if (is_empty())
        return false;
    const port::lock_guard held(mutex_);
    const std::uint32_t count = count_.load(std::memory_order_relaxed);
    for (std::uint32_t at = 0; at < count;) {
        range of{at, at};
        while (of.to < count && entries_[of.to].id == entries_[at].id)
            ++of.to;
        if (nearest(of, type) != nullptr)
            return true;
        at = of.to;
    }
    return false;
}

// ---- publishing

void event_stream::publish(const event_type& type, const void* e) noexcept {
    progress done;
    for (;;) {
        delivery batch[batch_size];
        const std::size_t size = next_batch(type, done, batch);
        const auto deliver = [&] {
            for (std::size_t i = 0; i < size; ++i)
                batch[i].deliver(batch[i].who, e);
        };
        if constexpr (port::has_interrupts) {
            deliver();
        } else {
            // CO-5: an event is no message from outside, on whatever thread it is published.
            const system_table::insider acts(size != 0 ? batch[0].who.system_number() : 0);
            deliver();
        }
        if (size < batch_size)
            return;
    }
}

std::size_t event_stream::next_batch(const event_type& type, progress& done,
                                     delivery (&batch)[batch_size]) const noexcept {
    const port::lock_guard held(mutex_);
    if (done.from == 0)
        done.end = last_id_ + 1;
    const std::uint32_t count = count_.load(std::memory_order_relaxed);
    entry* const end = entries_ + count;
    entry* at = std::lower_bound(entries_, end, done.from,
                                 [](const entry& e, std::uint64_t id) { return e.id < id; });
    std::size_t size = 0;
    while (at != end && at->id < done.end && size < batch_size) {
        entry* next = at;
        while (next != end && next->id == at->id)
            ++next;
        const range of{static_cast<std::uint32_t>(at - entries_),
                       static_cast<std::uint32_t>(next - entries_)};
        if (const event_channel* as = nearest(of, type); as != nullptr)
            batch[size++] = {at->who, as->deliver};
        done.from = at->id + 1;
        at = next;
    }
    return size;
}

const event_channel* event_stream::nearest(range of, const event_type& type) const noexcept {
    for (const event_channel& c : type.channels) {
        for (std::uint32_t i = of.from; i < of.to; ++i) {
            const entry& e = entries_[i];
            if (e.taken_out == nullptr && e.channel->message == c.type &&
                !is_taken_out(of, *e.channel, type))
                return &c;
        }
    }
    return nullptr;
}

// ---- the entries

bool event_stream::is_below(const event_type& a, const event_type& b) noexcept {
    return a.message != b.message && a.is_a(b);
}

bool event_stream::is_taken_out(range of, const event_type& channel,
                                const event_type& part) const noexcept {
    for (std::uint32_t i = of.from; i < of.to; ++i) {
        const entry& e = entries_[i];
        if (e.taken_out != nullptr && e.channel->message == channel.message &&
            part.is_a(*e.taken_out))
            return true;
    }
    return false;
}

event_stream::range event_stream::find(mailbox_index who) const noexcept {
    const std::uint32_t count = count_.load(std::memory_order_relaxed);
    std::uint32_t from = 0;
    while (from < count && entries_[from].who != who)
        ++from;
    std::uint32_t to = from;
    while (to < count && entries_[to].who == who)
        ++to;
    return {from, to};
}

bool event_stream::reserve(std::uint32_t wanted) noexcept {
    if (wanted <= capacity_)
        return true;
    const std::uint32_t larger = std::max({first_capacity, 2 * capacity_, wanted});
    void* place = memory_.allocate(larger * sizeof(entry), alignof(entry));
    if (place == nullptr)
        return false;
    auto* entries = ::new (place) entry[larger]{};
    if (entries_ != nullptr) {
        std::copy_n(entries_, count_.load(std::memory_order_relaxed), entries);
        memory_.release(entries_, capacity_ * sizeof(entry), alignof(entry));
    }
    entries_ = entries;
    capacity_ = larger;
    return true;
}

void event_stream::insert(std::uint32_t at, const entry& e) noexcept {
    const std::uint32_t count = count_.load(std::memory_order_relaxed);
    TACTUS_CHECK(1, count < capacity_);
    std::copy_backward(entries_ + at, entries_ + count, entries_ + count + 1);
    entries_[at] = e;
    count_.store(count + 1, std::memory_order_relaxed);
}

template <class Goes>
std::uint32_t event_stream::remove(range of, Goes&& goes) noexcept {
    if (of.from == of.to)
        return 0;
    const std::uint32_t count = count_.load(std::memory_order_relaxed);
    entry* const kept = std::remove_if(entries_ + of.from, entries_ + of.to, goes);
    const auto removed = static_cast<std::uint32_t>(entries_ + of.to - kept);
    std::copy(entries_ + of.to, entries_ + count, kept);
    count_.store(count - removed, std::memory_order_relaxed);
    return removed;
}

}  // namespace tactus::inline v0
