// SPDX-License-Identifier: Apache-2.0
//
// What happens under the gate's lock: the line, and messages set aside.
#include <tactus/mailbox/mailbox_gate.hpp>

namespace tactus::inline v0 {

void mailbox_gate::open(std::uint32_t generation, const mailbox_options& o) noexcept {
    TACTUS_CHECK(1, o.capacity > 0 && o.capacity <= capacity_max && first_ == nullptr);
    const port::lock_guard held(mutex_);
    push_timeout_ = o.push_timeout;
    // Relaxed: who has a reference to this life has it from after the mailbox was opened.
    settings_.store(o.capacity | (static_cast<std::uint32_t>(o.when_full) << overflow_shift) |
                        (o.kind == mailbox_kind::control_aware ? keeps_control : 0),
                    std::memory_order_relaxed);
    word_.store(life_of(generation), std::memory_order_relaxed);
}

mailbox_gate::entry mailbox_gate::wait(std::uint32_t generation, gate_waiter& w) noexcept {
    const port::lock_guard held(mutex_);
    word seen = word_.load(std::memory_order_relaxed);
    for (;;) {
        if (!goes_on(seen, generation))
            return entry::ended;
        if ((seen & waiting) != 0)
            break;
        const bool full = count_in(seen) >= capacity();
        const word next = full ? seen | waiting : seen + 1;
        // Relaxed: the line is under the lock, and a credit given back is in the same word.
        if (!word_.swap(seen, next, std::memory_order_relaxed))
            continue;
        if (!full)
            return entry::entered;
        break;
    }
    w.limit = push_timeout_;
    append(w);
    return entry::full;
}

mailbox_gate::eviction mailbox_gate::evict(inbox& in, std::uint32_t generation) noexcept {
    const port::lock_guard held(mutex_);
    // The owner may have made room meanwhile, or ended the life.
    if (const entry now = enter(generation); now != entry::full)
        return {now, nullptr};
    // These are older than what is here.
    if (ages_.evict_oldest())
        return {entry::entered, nullptr};
    set_aside(in);
    // One that was meant for an earlier life and came late has no credit to hand on; nor has a
    // signal that the runtime owes.
    envelope* out =
        aside_.take_first([&](envelope& e) { return e.generation() == generation && !e.owed(); });
    note_aside();
    return {out != nullptr ? entry::entered : entry::full, out};
}

bool mailbox_gate::cancel(gate_waiter& w) noexcept {
    const port::lock_guard held(mutex_);
    if (!w.listed)
        return false;
    unlink(w);
    if (first_ == nullptr)
        end_waiting();  // T2; under the lock
    return true;
}

void mailbox_gate::serve(inbox& in) noexcept {
    gate_waiter* done = nullptr;
    gate_waiter** end = &done;
    {
        const port::lock_guard held(mutex_);
        while (first_ != nullptr && taken() < capacity()) {
            gate_waiter& w = *first_;
            unlink(w);
            // Relaxed: nobody else takes while the bit is set.
            word_.change([](word now) { return now + 1; }, std::memory_order_relaxed);
            (void)in.push(*w.carried);  // open: its owner is here, and looks again before it ends
            w.carried = nullptr;
            w.decided = gate_waiter::outcome::accepted;
            w.next = nullptr;
            *end = &w;
            end = &w.next;
        }
        if (first_ == nullptr)
            end_waiting();  // T2
    }
    tell(done);
}

void mailbox_gate::end_waiting() noexcept {
    word_.change([](word now) { return now & ~waiting; }, std::memory_order_relaxed);
}

void mailbox_gate::append(gate_waiter& w) noexcept {
    w.listed = true;
    w.decided = gate_waiter::outcome::waiting;
    w.next = nullptr;
    w.previous = last_;
    (last_ == nullptr ? first_ : last_->next) = &w;
    last_ = &w;
}

void mailbox_gate::unlink(gate_waiter& w) noexcept {
    (w.previous == nullptr ? first_ : w.previous->next) = w.next;
    (w.next == nullptr ? last_ : w.next->previous) = w.previous;
    w.listed = false;
}

void mailbox_gate::set_aside(inbox& in) noexcept {
    // Said before the inbox is emptied: who finds it empty must find this.
    aside_count_.store(1, std::memory_order_relaxed);
    const bool spares = spares_control();
    envelope* e = in.set_aside();
    while (e != nullptr) {
        envelope* after = e->next.read();
        (void)(spares && e->type.read()->is_control ? control_aside_ : aside_).push(*e);
        e = after;
    }
}

envelope* mailbox_gate::take(inbox& in) noexcept {
    const port::lock_guard held(mutex_);
    set_aside(in);
    envelope* e = pop_aside();
    note_aside();
    return e;
}

std::optional<std::int64_t> mailbox_gate::first_deadline(inbox& in) noexcept {
    const port::lock_guard held(mutex_);
    set_aside(in);
    const envelope* e = control_aside_.peek();
    if (e == nullptr)
        e = aside_.peek();
    note_aside();
    return e != nullptr ? e->deadline_if_any() : std::nullopt;
}

void mailbox_gate::evict_by(age_list& ages) noexcept {
    const port::lock_guard held(mutex_);
    ages_.list = &ages;
}

envelope* mailbox_gate::take(inbox& in, age_list& ages, std::uint64_t number,
                             std::uint32_t& place) noexcept {
    const port::lock_guard held(mutex_);
    set_aside(in);
    envelope* e = aside_.pop();
    note_aside();
    const bool has_credit = e != nullptr && !e->owed() &&
                            goes_on(word_.load(std::memory_order_relaxed), e->generation());
    place = has_credit ? ages.add(number) : age_list::none;
    return e;
}

bool mailbox_gate::claim(age_list& ages, std::uint32_t place, std::uint64_t number) noexcept {
    const port::lock_guard held(mutex_);
    if (ages.remove(place, number))
        return true;
    ages.note_dropped();
    return false;
}

gate_waiter* mailbox_gate::end_life() noexcept {
    const port::lock_guard held(mutex_);
    word_.store(count_mask, std::memory_order_relaxed);  // shut; credits are forgotten
    gate_waiter* line = first_;
    for (gate_waiter* w = line; w != nullptr; w = w->next) {
        w->listed = false;
        w->decided = gate_waiter::outcome::closed;
    }
    first_ = nullptr;
    last_ = nullptr;
    ages_ = {};
    return line;
}

void mailbox_gate::tell(gate_waiter* line) noexcept {
    // A waiter is gone as soon as it was told.
    while (line != nullptr) {
        gate_waiter& w = *line;
        line = w.next;
        w.served(w);
    }
}

}  // namespace tactus::inline v0
