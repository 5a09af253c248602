// SPDX-License-Identifier: Apache-2.0
//
// Partial-order reduction: which decisions a race between two steps adds to the search.
#include "exhaustive.hpp"

namespace tactus::inline v0::port::model::detail {

void exhaustive::stepped(unsigned thread, const operation& done, location_table& locations,
                         std::span<const operation> pending) {
    if (!reduces_ || free_running_)
        return;
    if (sleep_ != 0) {
        thread_mask awake = 0;
        for_each(sleep_, [&](unsigned t) {
            if (affects(done, pending[t]))
                awake |= bit(t);
        });
        sleep_ = without(sleep_, awake);
    }

    vector_clock& own = pasts_[thread];
    for (const touch& t : done.touched)
        if ((t.ways & touch_woken) != 0)
            own.join(wakers_[thread]);  // who woke it made the step possible at all
    vector_clock whole = own;
    for (const touch& t : done.touched) {
        if (t.object == no_object)
            continue;
        const location& l = *locations[t.object];
        const unsigned after = ordered_after(t.ways & ~unsigned{touch_peek});
        for (std::size_t way = 0; way < touch_way_count; ++way)
            if ((after >> way & 1) != 0)
                whole.join(l.past[way]);
        if ((t.ways & touch_peek) != 0 && l.stores[done.peeked].event != 0)
            whole.join(events_[l.stores[done.peeked].event - 1].past);
    }
    if (step_decision_ >= fresh_) {  // X2
        for (const touch& t : done.touched) {
            if (t.object == no_object)
                continue;
            const location& l = *locations[t.object];
            unsigned with = races_with(t.ways);
            // Under a bound it matters to arrive at a mutex while it is held: that switch is free.
            if (bound_ && (t.ways & touch_write) != 0)
                with |= touch_unlock;
            for (std::size_t way = 0; way < touch_way_count; ++way) {
                if ((with >> way & 1) == 0)
                    continue;
                for_each(without(l.touchers[way], bit(thread)), [&](unsigned other) {
                    const std::uint32_t earlier = l.last[way][other] - 1;
                    if (!own.covers(other, events_[earlier].past.at(other)))
                        reverse(earlier, thread, whole);
                });
            }
        }
    }
    const std::uint32_t number = own.at(thread) + 1;
    own = whole;
    own.set(thread, number);
    events_.push_back({static_cast<std::uint8_t>(thread), step_decision_, own});
    for_each(done.woke, [&](unsigned t) { wakers_[t] = own; });
    for (const touch& t : done.touched) {
        if (t.object == no_object)
            continue;
        location& l = *locations[t.object];
        if (done.appended)
            l.stores.back().event = static_cast<std::uint32_t>(events_.size());
        for (std::size_t way = 0; way < touch_way_count; ++way) {
            if ((t.ways >> way & 1) == 0)
                continue;
            l.past[way].join(own);
            l.last[way][thread] = static_cast<std::uint32_t>(events_.size());
            l.touchers[way] |= bit(thread);
        }
    }
}

void exhaustive::want(decision& d, unsigned thread) noexcept {
    // A thread that could not run there may have been waiting for any of those that could.
    d.wanted |= (d.runnable & bit(thread)) != 0 ? bit(thread) : d.runnable;
}

void exhaustive::reverse(std::uint32_t earlier, unsigned thread, const vector_clock& past) {
    decision& there = decisions_[events_[earlier].decision];
    if (bound_) {
        for (decision* d : {&there, &decisions_[there.block]}) {
            // Trying the thread shows who else has to be tried; one that sleeps is not tried.
            if ((d->sleep & bit(thread)) != 0)
                d->wanted |= d->runnable;
            else
                want(*d, thread);
        }
        return;
    }
    const thread_mask first = initials(earlier, thread, past);
    if ((first & there.wanted) == 0)
        want(there, (first & bit(thread)) != 0 ? thread : lowest(first));
}

/// The threads that can come first in what follows `earlier` without depending on it, with the step
/// of `thread` that is under way at the end.
thread_mask exhaustive::initials(std::uint32_t earlier, unsigned thread,
                                 const vector_clock& past) const {
    const event& from = events_[earlier];
    const std::uint32_t number = from.past.at(from.thread);
    std::array<std::uint32_t, thread_count_max>
        first_of{};  // the number of a thread's first; 0: none
    thread_mask present = 0;
    thread_mask found = 0;
    const auto add = [&](unsigned t, const vector_clock& its_past, std::uint32_t its_number) {
        if ((present & bit(t)) != 0)
            return;
        bool preceded = false;
        for_each(present, [&](unsigned other) {
            preceded = preceded || its_past.covers(other, first_of[other]);
        });
        present |= bit(t);
        first_of[t] = its_number;
        if (!preceded)
            found |= bit(t);
    };
    for (std::size_t i = earlier + 1; i < events_.size(); ++i) {
        const event& e = events_[i];
        if (!e.past.covers(from.thread, number))
            add(e.thread, e.past, e.past.at(e.thread));
    }
    add(thread, past, past.at(thread) + 1);
    return found;
}

}  // namespace tactus::inline v0::port::model::detail
