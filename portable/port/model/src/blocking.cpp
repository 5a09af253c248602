// SPDX-License-Identifier: Apache-2.0
//
// Mutexes, conditions and sleeping on a word.
//
// A wait is two operations: going to sleep, together with giving up the mutex or looking at the
// word, and coming back. The second is possible when the thread was woken, when its sleep may time
// out, or for no reason when the options allow that; so timeouts come at every moment. Time also
// passes when nobody else can run: a sleep with a limit is never part of a deadlock.
#include "execution.hpp"

namespace tactus::inline v0::port::model::detail {

void execution::take_mutex(location& l) {
    l.owner = current_;
    me().clock.join(l.released);
}

void execution::free_mutex(location& l, where at) {
    if (l.owner != current_)
        fail(failure::misuse, here(at) + " unlocks a mutex that it does not hold");
    l.owner = no_thread;
    l.released.join(me().clock);
}

void execution::lock(handle& mutex, where at) {
    const std::uint32_t object = find(mutex, location_kind::mutex);
    const operation o{op::lock, order::acquire, at, {{{object, touch_write}, {}}}};
    arrive(o);
    take_mutex(*locations_[find(mutex, location_kind::mutex)]);
    step(o, 0);
}

bool execution::try_lock(handle& mutex, where at) {
    const std::uint32_t object = find(mutex, location_kind::mutex);
    const operation o{op::try_lock, order::acquire, at, {{{object, touch_read | touch_write}, {}}}};
    arrive(o);
    location& l = *locations_[find(mutex, location_kind::mutex)];
    const bool taken = l.owner == no_thread;
    if (taken)
        take_mutex(l);
    note_idle(!taken);
    step(o, taken ? 1 : 0);
    remember(op::try_lock, l.identity, taken ? 1 : 0);
    return taken;
}

void execution::unlock(handle& mutex, where at) {
    const std::uint32_t object = find(mutex, location_kind::mutex);
    const operation o{op::unlock, order::release, at, {{{object, touch_unlock}, {}}}};
    arrive(o);
    free_mutex(*locations_[find(mutex, location_kind::mutex)], at);
    step(o, 0);
}

void execution::wait(handle& condition, handle& mutex, where at) {
    const std::uint32_t queue = find(condition, location_kind::condition);
    const std::uint32_t held = find(mutex, location_kind::mutex);
    const operation asleep{
        op::wait, order::release, at, {{{queue, touch_queue}, {held, touch_unlock}}}};
    arrive(asleep);
    free_mutex(*locations_[held], at);
    locations_[queue]->sleepers |= bit(current_);
    me().woken = false;
    me().asleep_on = queue;
    step(asleep, 0);

    operation back{op::relock, order::acquire, at, {{{held, touch_write}, {queue, touch_queue}}}};
    arrive(back);
    if (me().woken) {
        back.touched[1].ways = touch_woken;
    } else {
        --me().spurious_left;
        locations_[queue]->sleepers = without(locations_[queue]->sleepers, bit(current_));
    }
    me().asleep_on = no_object;
    take_mutex(*locations_[held]);
    step(back, me().woken ? 1 : 0);
    remember(op::relock, 0, me().woken ? 1 : 0);
}

/// Wakes one of the sleepers, each in some execution, or all.
void execution::wake(location& l, bool all) {
    if (l.sleepers == 0)
        return;
    thread_mask woken = l.sleepers;
    if (!all) {
        unsigned skip = choose(static_cast<unsigned>(__builtin_popcount(l.sleepers)));
        for_each(l.sleepers, [&](unsigned t) {
            if (skip-- == 0)
                woken = bit(t);
        });
    }
    for_each(woken, [&](unsigned t) { threads_[t].woken = true; });
    l.sleepers = without(l.sleepers, woken);
}

void execution::notify(handle& condition, bool all, where at) {
    const std::uint32_t object = find(condition, location_kind::condition);
    operation o{op::notify, order::relaxed, at, {{{object, touch_queue}, {}}}};
    arrive(o);
    location& l = *locations_[find(condition, location_kind::condition)];
    const thread_mask before = l.sleepers;
    wake(l, all);
    o.woke = without(before, l.sleepers);
    step(o, o.woke);
}

bool execution::wait_on(const cell& word, std::uint32_t expected, std::int64_t timeout_ns,
                        where at) {
    const std::uint32_t object = find(word, location_kind::atomic);
    const operation look{op::look, order::relaxed, at, {{{object, touch_read | touch_queue}, {}}}};
    arrive(look);
    location& l = *locations_[find(word, location_kind::atomic)];
    check_usable(l, at);
    l.use(current_, now(), at);
    check_promises(object, nullptr);
    const std::uint64_t value = read_store(l, l.newest(), order::relaxed);
    const bool sleeps = value == expected;
    if (sleeps) {
        l.sleepers |= bit(current_);
        me().woken = false;
        me().timed = timeout_ns >= 0;
        me().asleep_on = object;
    }
    note_idle(!sleeps);
    step(look, value);
    remember(op::look, l.identity, value);
    if (!sleeps)
        return true;

    operation back{op::sleep_over, order::relaxed, at, {{{object, touch_queue}, {}}}};
    arrive(back);
    model_thread& self = me();
    bool in_time = true;
    if (self.woken) {
        back.touched[0].ways = touch_woken;
    } else {
        l.sleepers = without(l.sleepers, bit(current_));
        in_time = self.spurious_left > 0 && (!self.timed || choose(2) == 1);
        unsigned& left = in_time ? self.spurious_left : self.timeouts_left;
        left -= left > 0 ? 1 : 0;
    }
    self.asleep_on = no_object;
    step(back, self.woken ? 1 : in_time ? 2 : 0);
    remember(op::sleep_over, l.identity, in_time ? 1 : 0);
    return in_time;
}

void execution::wake_one(const cell& word, where at) {
    const std::uint32_t object = find(word, location_kind::atomic);
    operation o{op::wake, order::relaxed, at, {{{object, touch_queue}, {}}}};
    arrive(o);
    location& l = *locations_[find(word, location_kind::atomic)];
    const thread_mask before = l.sleepers;
    wake(l, false);
    o.woke = without(before, l.sleepers);
    step(o, o.woke);
}

}  // namespace tactus::inline v0::port::model::detail
