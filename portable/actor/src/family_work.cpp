// SPDX-License-Identifier: Apache-2.0
//
// What is done about a whole family, in pieces (DF-45). In the turn of the actor it is about.
//
// A family may have a million members. Telling all of them to stop, to restart or to wait would
// keep a worker from everything else for seconds. So a run tells the first 256 of them
// (actor_world::options::family_piece); what is
// left is kept with the actor's extras, and each of its next runs does another piece. Other actors
// run in between, as their place in the lanes says.
//
// For the actor itself it is still the same turn, which is only interrupted (slot::begin_work):
// it handles no message and no order until all is done. So no child is spawned or unlinked between
// two pieces, and nothing else is decided: a child that ends or fails meanwhile, an order to stop
// and a signal wait in their order. What the turn itself still adds, after the first piece, waits
// too: the actor's own orders, the reports it has taken, and the question whether its children are
// gone (go_on_waiting).
//
// Without memory to keep what is left it is done at once.
#include <tactus/actor/actor_world.hpp>

#include <new>
#include <utility>

namespace tactus::inline v0 {

family_work::range actor_world::all_children(const self& s) noexcept {
    const family_lock held(*this, s.c);
    if (!has_children(s))
        return {};
    registry& slots = kernel_->slots();
    return {s.c.first_child, slots.number_of(last_child(slots, s.c))};
}

slot& actor_world::next_of(const self& s, family_work::range& of) noexcept {
    slot& child = kernel_->slots().at(of.at);
    if (of.at == of.last) {
        of.at = cell::no_cell;
    } else {
        const family_lock held(*this, s.c);
        of.at = cell::of(child).next_sibling;
    }
    return child;
}

family_work* actor_world::put_off(const self& s) noexcept {
    if constexpr (!in_pieces)
        return nullptr;
    cell_extras* x = extras_of(s.c);
    if (x == nullptr)
        return nullptr;
    pending_work*& work = x->more.work;
    if (work == nullptr) {
        void* block = memory_.allocate(sizeof(pending_work), alignof(pending_work));
        if (block == nullptr)
            return nullptr;
        work = ::new (block) pending_work;
    }
    if (!s.place.works) {
        (void)kernel_->suspend(s.index(), suspension::supervision);
        s.place.begin_work(*work);
    }
    return &work->rest;
}

void actor_world::walk(const self& s, family_work& w, std::uint32_t& count) noexcept {
    const auto tell_held = [&] {
        for (; !w.held.empty() && count != 0; --count)
            hold_child(next_of(s, w.held), w.on, w.except);
    };
    if (w.on)
        tell_held();
    restart_some(s, w.restart, count);
    // Later: a child that is let go and not told yet would handle messages with its old instance.
    tell_held();
    if (w.unwatches || !w.stop.empty()) {
        turn& t = *turn::current();
        for (; w.unwatches && count != 0; --count)
            w.unwatches = unwatch_newest(t, s);
        for (; !w.stop.empty() && count != 0; --count)
            forget_and_stop(t, s, next_of(s, w.stop));
    }
    w.untold = notify_some(w.untold, count);
}

void actor_world::begin_work(const self& s, family_work& now) noexcept {
    std::uint32_t count = piece_.size;
    walk(s, now, count);
    if (now.empty())
        return;
    if (family_work* rest = put_off(s)) {
        *rest = std::move(now);
        return;
    }
    count = all_of_it;
    walk(s, now, count);
}

void actor_world::hold_children(const self& s, bool on, mailbox_index except) noexcept {
    if constexpr (!in_pieces) {
        const family_lock held(*this, s.c);
        children_of all(kernel_->slots(), s.c);
        while (slot* child = all.next())
            hold_child(*child, on, except);
        return;
    }
    const family_work::range all = all_children(s);
    if (all.empty())
        return;
    work_in(s, [&](family_work& w) {
        w.held = all;  // once more those that were told otherwise
        w.on = on;
        w.except = except;
    });
}

void actor_world::stop_family(turn& t, const self& s) noexcept {
    if constexpr (!in_pieces)
        return stop_children(t);
    const family_work::range all = all_children(s);
    if (!all.empty())
        work_in(s, [&](family_work& w) { w.stop = all; });
}

void actor_world::unwatch_all(turn& t, const self& s) noexcept {
    if constexpr (!in_pieces) {
        while (unwatch_newest(t, s)) {
        }
        return;
    }
    work_in(s, [](family_work& w) {
        w.restart = {};  // it ends
        w.unwatches = true;
    });
}

void actor_world::restart_family(const self& s, family_work::restart_of& how) noexcept {
    if (!in_pieces || how.at == how.last) {  // the only one: at once
        std::uint32_t count = all_of_it;
        restart_some(s, how, count);
        return;
    }
    work_in(s, [&](family_work& w) { w.restart = std::move(how); });
}

watch_entry* actor_world::notify_some(watch_entry* first, std::uint32_t& count) noexcept {
    using watchers = keyed_list<watch_entry>;
    for (; first != nullptr && count != 0; --count)
        notify(*std::exchange(first, watchers::newer(*first)));
    return first;
}

void actor_world::notify_all(watch_entry* first) noexcept {
    std::uint32_t count = piece_.size;
    watch_entry* rest = notify_some(first, count);
    if constexpr (!in_pieces)
        return;
    // The root does the rest in its turns: it runs no code of users. When it has ended: see
    // system_dead_letter.
    if (rest != nullptr) {
        rest->kind = system_kind::death_watch_notification;
        (void)kernel_->send_system(root_, *rest);
    }
}

void actor_world::notify_for(const self& s, watch_entry& first) noexcept {
    work_in(s, [&](family_work& w) { w.untold = &first; });
}

handled actor_world::look_at_left(turn& t, const self& s, family_work& w,
                                  std::uint32_t count) noexcept {
    // Reversing takes a step of another kind: no child is told anything.
    if (!cell::reverse_reports(kernel_->slots(), w.latest, w.earliest, 16 * piece_.size))
        return handled::ok();
    return look_at_some(t, s, w.earliest, count);
}

handled actor_world::look_at_reports(turn& t, const self& s) noexcept {
    if constexpr (!in_pieces) {
        cell::link next = s.c.take_reports(kernel_->slots());
        return look_at_some(t, s, next, all_of_it);
    }
    family_work now;
    now.latest = s.c.take_latest_reports();
    handled result = look_at_left(t, s, now, piece_.size);
    while (!now.empty()) {
        if (family_work* rest = put_off(s)) {
            rest->latest = now.latest;
            rest->earliest = now.earliest;
            break;
        }
        const handled more = look_at_left(t, s, now, all_of_it);
        if (!more.is_ok())
            result = more;
    }
    return result;
}

handled actor_world::go_on_with_work(turn& t, const self& s) noexcept {
    family_work* w = work_left(s);
    if (w == nullptr)
        return handled::ok();
    std::uint32_t count = piece_.size;
    walk(s, *w, count);
    handled result;
    if (!w->walks() && count != 0)
        result = look_at_left(t, s, *w, count);
    if (result.is_ok() && !w->walks() && count != 0 && std::exchange(w->decides, false))
        result = decide_waiting(t, s);
    if (!result.is_ok())
        return result;
    // What the actor was told comes last.
    if (w->orders != 0) {
        const std::uint32_t told = std::exchange(w->orders, 0);
        if (w->empty())
            return follow_orders(t, s, told);
        w->orders = told;
    }
    if (!w->empty())
        return handled::ok();
    s.place.end_work();
    (void)kernel_->resume(s.index(), suspension::supervision);
    if (s.c.is_restarting() || s.c.is_ending())
        go_on_waiting(t, s);
    result = decide_waiting(t, s);
    return result.is_ok() ? tell_owed(t, s) : result;
}

}  // namespace tactus::inline v0
