// SPDX-License-Identifier: Apache-2.0
//
// Telling cells, and the tree they form.
#include <tactus/actor/cell.hpp>

namespace tactus::inline v0 {

lifecycle::action cell::call_apply(lifecycle::event on) noexcept {
    return apply_here(on);
}

void cell::tell(actor_scheduler& system, slot& own, std::uint32_t set,
                std::uint32_t clear) noexcept {
    std::uint32_t seen = flags_.load(std::memory_order_relaxed);
    while (!flags_.compare_exchange_weak(seen, (seen & ~clear) | set | queued, told.acq_rel(),
                                         std::memory_order_relaxed)) {
    }
    if ((seen & queued) == 0)
        (void)system.send_system(system.slots().index_of(own), *this);
}

std::uint32_t cell::take_orders() noexcept {
    return flags_.fetch_and(~(queued | told_terminate | told_resume | told_reports | told_fail),
                            told.acq_rel());
}

void cell::report(actor_scheduler& system, slot& parent_slot, cell& parent, slot& own,
                  std::uint32_t what) noexcept {
    // Who reported already is still linked, and the parent reads its bits when it comes to it.
    if ((flags_.fetch_or(what | reported, linked_up.acq_rel()) & reported) != 0)
        return;
    const link me = system.slots().number_of(own);
    link head = parent.reports_.load(std::memory_order_relaxed);
    do {
        next_report.write(head);
    } while (!parent.reports_.compare_exchange_weak(head, me, linked_up.release(),
                                                    std::memory_order_relaxed));
    // Who found others there leaves it to the first of them, which has not told yet, or whose word
    // is on its way: after its last report the parent may end at any time, and its slot be taken.
    if (head == no_cell)
        parent.tell(system, parent_slot, told_reports);
}

bool cell::reverse_reports(registry& slots, link& reports, link& reversed,
                           std::uint32_t steps) noexcept {
    while (reports != no_cell && steps-- != 0) {
        cell& c = of(slots.at(reports));
        const link older = c.next_report.read();
        c.next_report.write(reversed);
        reversed = reports;
        reports = older;
    }
    return reports == no_cell;
}

mailbox_index life_of(const registry& slots, slot& place) noexcept {
    const mailbox_index now = slots.index_of(place);
    const bool odd = cell::of(place).is(cell::is_odd_life);
    if (now.generation != 0 && (now.generation % 2 != 0) == odd)
        return now;
    // 0 is what follows the last one.
    return now.with_generation(now.generation != 0 ? now.generation - 1 : registry::generation_max);
}

void link_child(registry& slots, cell& parent, slot& child) noexcept {
    const cell::link me = slots.number_of(child);
    cell& c = cell::of(child);
    c.next_sibling = cell::no_cell;
    if (parent.first_child == cell::no_cell) {
        parent.first_child = me;
        c.prev_sibling = me;
        return;
    }
    cell& first = cell::of(slots.at(parent.first_child));
    c.prev_sibling = first.prev_sibling;
    cell::of(slots.at(first.prev_sibling)).next_sibling = me;
    first.prev_sibling = me;
}

void unlink_last(registry& slots, cell& parent) noexcept {
    // Found from the front: this happens when a system ends.
    cell::link before = cell::no_cell;
    cell::link last = parent.first_child;
    cell& first = cell::of(slots.at(parent.first_child));
    const cell::link end = first.prev_sibling;
    while (last != end) {
        before = last;
        last = cell::of(slots.at(last)).next_sibling;
    }
    if (before == cell::no_cell) {
        parent.first_child = cell::no_cell;
        return;
    }
    cell::of(slots.at(before)).next_sibling = cell::no_cell;
    first.prev_sibling = before;
}

void unlink_child(registry& slots, cell& parent, slot& child) noexcept {
    const cell::link me = slots.number_of(child);
    cell& c = cell::of(child);
    const bool is_last = c.next_sibling == cell::no_cell;
    if (parent.first_child == me) {
        parent.first_child = c.next_sibling;
        if (!is_last)
            cell::of(slots.at(c.next_sibling)).prev_sibling = c.prev_sibling;
        return;
    }
    cell::of(slots.at(c.prev_sibling)).next_sibling = c.next_sibling;
    if (is_last)
        cell::of(slots.at(parent.first_child)).prev_sibling = c.prev_sibling;
    else
        cell::of(slots.at(c.next_sibling)).prev_sibling = c.prev_sibling;
}

}  // namespace tactus::inline v0
