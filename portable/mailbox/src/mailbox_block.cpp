// SPDX-License-Identifier: Apache-2.0
//
// From the inbox to the queue of the kind, and credits back.
#include <tactus/mailbox/mailbox_block.hpp>

#include <new>

namespace tactus::inline v0 {

void mailbox_block::open(const mailbox_options& o, std::uint32_t generation,
                         message_order* order) noexcept {
    end_queue();
    options_ = o;
    generation_ = generation;
    owed_ = 0;
    warn_again();  // nobody has a reference to this life yet
    looks_always_ = false;
    evictable_ = evictable::none;
    bool by_order = false;
    void* place = storage_;
    switch (o.kind) {
    case mailbox_kind::fifo:
        queue_ = ::new (place) envelope_list();
        break;
    case mailbox_kind::deque:
        queue_ = ::new (place) envelope_deque(memory_);
        break;
    case mailbox_kind::priority:
    case mailbox_kind::stable_priority:
        TACTUS_CHECK(1, order != nullptr);
        queue_ = ::new (place) priority_queue(memory_, *order);
        by_order = true;
        looks_always_ = true;
        break;
    case mailbox_kind::control_aware:
        queue_ = ::new (place) control_queue();
        looks_always_ = true;
        break;
    }
    if (!o.is_bounded()) {
        warn_at_.store(0, std::memory_order_relaxed);
        return;
    }
    gate_.open(generation, o);
    if (o.when_full == overflow::drop_oldest) {
        evictable_ = evictable::all;
        if constexpr (port::has_interrupts) {
            if (by_order)
                evictable_ = evictable::but_some;
        } else if (by_order) {
            evictable_ = evictable::by_age;
            gate_.evict_by(by_priority().ages());
        }
    }
    // Together only where it does not make a small mailbox look full.
    together_ = std::clamp<std::uint32_t>(o.capacity / 8, 1, together_max);
    // len * 100 / capacity >= percent, without a division per message.
    const std::uint64_t needed = (std::uint64_t{o.capacity} * o.pressure_percent + 99) / 100;
    warn_at_.store(o.pressure_percent == 0 ? 0 : static_cast<std::uint32_t>(needed),
                   std::memory_order_relaxed);
}

void mailbox_block::end_queue() noexcept {
    if (queue_ != nullptr)
        queue_->~user_queue();
    queue_ = nullptr;
}

std::uint32_t mailbox_block::fetch(inbox& in) noexcept {
    switch (evictable_) {
    case evictable::none:
        break;
    case evictable::all:
        return queue_->size() + gate_.taken();
    case evictable::but_some:
        while (queue_->size() < taken_at_once_max && (!in.looks_empty() || gate_.has_aside())) {
            envelope* e = gate_.take(in);
            if (e == nullptr || queue_->push(*e))
                continue;
            (void)unplaced_.push(*e);
            break;
        }
        return queue_->size();
    case evictable::by_age:
        fetch_aged(in);
        return queue_->size();
    }
    envelope* e = in.take_all();
    while (e != nullptr) {
        envelope* after = e->next.read();
        if (!queue_->push(*e))
            (void)unplaced_.push(*e);
        e = after;
    }
    return queue_->size();
}

// At most as many as there may be: senders evict, and send more, meanwhile.
void mailbox_block::fetch_aged(inbox& in) noexcept {
    if constexpr (!port::has_interrupts) {
        priority_queue& queue = by_priority();
        for (std::uint32_t left = options_.capacity;
             left != 0 && queue.broken() == nullptr && (!in.looks_empty() || gate_.has_aside());
             --left) {
            priority_queue::aged as{.number = queue.next_number()};
            envelope* e = gate_.take(in, queue.ages(), as.number, as.place);
            if (e == nullptr)
                break;
            if (queue.push(*e, as.place))
                continue;
            if (claim(*e, as))
                (void)unplaced_.push(*e);
        }
        const auto drop = [&] {
            queue.take_if([&](envelope& e, const priority_queue::aged& as) {
                if (as.place == age_list::none || queue.ages().has(as.place, as.number))
                    return false;
                queue.ages().note_dropped();
                (void)evicted_.push(e);
                return true;
            });
        };
        if (queue.broken() == nullptr && gate_.drop_evicted(queue.ages(), queue.size(), drop))
            queue.restore();
    }
}

bool mailbox_block::claim(envelope& e, const priority_queue::aged& was) noexcept {
    if constexpr (!port::has_interrupts) {
        if (was.place == age_list::none || gate_.claim(by_priority().ages(), was.place, was.number))
            return true;
        (void)evicted_.push(e);
        return false;
    }
    return true;
}

envelope* mailbox_block::pop_aged() noexcept {
    priority_queue::aged was;
    while (envelope* e = by_priority().pop(was)) {
        if (claim(*e, was))
            return e;
    }
    return nullptr;
}

envelope* mailbox_block::next(inbox& in) noexcept {
    if (queue_->size() == 0 || (looks_always_ && (!in.looks_empty() || gate_.has_aside())))
        (void)fetch(in);
    if (queue_->broken() != nullptr) [[unlikely]]
        return nullptr;
    envelope* e = is_by_age() ? pop_aged() : queue_->pop();
    if (e == nullptr && evictable_ == evictable::all && (!in.looks_empty() || gate_.has_aside()))
        e = gate_.take(in);
    if (e == nullptr) {
        settle(in);
        return nullptr;
    }
    if (has_credit(*e)) {
        ++owed_;
        if (owed_ >= together_ || gate_.anybody_waits())
            leave(in);
    }
    return e;
}

void mailbox_block::mend(inbox& in, envelope_list& lost, envelope_list& first) noexcept {
    envelope_list signals;
    const auto give_up = [&](envelope& e) {
        owed_ += has_credit(e) ? 1U : 0U;
        (void)(e.owed() ? signals : lost).push(e);
    };
    if (is_by_age()) {
        priority_queue::aged was;
        while (envelope* e = by_priority().take_unreadable(was)) {
            if (claim(*e, was))
                give_up(*e);
        }
    }
    while (envelope* e = queue_->take_unreadable())
        give_up(*e);
    while (envelope* e = unplaced_.pop())
        give_up(*e);
    queue_->mend();
    // Behind what is older: where the newest messages were.
    std::uint32_t missing = signals.size();
    while (missing > 0) {
        envelope* newest = queue_->pop_back();
        if (newest == nullptr)
            break;
        if (newest->owed()) {
            (void)signals.push_front(*newest);
            continue;
        }
        owed_ += has_credit(*newest) ? 1U : 0U;
        (void)lost.push_front(*newest);
        --missing;
    }
    while (envelope* e = signals.pop()) {
        if (missing > 0 || !queue_->push(*e))
            (void)first.push_front(*e);
    }
    settle(in);
}

void mailbox_block::leave(inbox& in) noexcept {
    gate_.leave(owed_, in);
    owed_ = 0;
    if (warned() &&
        std::uint64_t{gate_.taken()} * 100 < std::uint64_t{options_.capacity} * calm_percent)
        warn_again();
}

std::optional<std::int64_t> mailbox_block::first_deadline(inbox& in) noexcept {
    (void)fetch(in);
    if (const envelope* e = queue_->peek(); e != nullptr)
        return e->deadline_if_any();
    return evictable_ == evictable::all ? gate_.first_deadline(in) : std::nullopt;
}

prepended mailbox_block::prepend(envelope_list& batch) noexcept {
    std::uint32_t count = batch.size();
    if (count == 0)
        return prepended::done;
    if (options_.kind != mailbox_kind::deque)
        return prepended::not_a_deque;
    auto& queue = static_cast<envelope_deque&>(*queue_);
    if (!queue.reserve(count))
        return prepended::no_memory;
    if (options_.is_bounded()) {
        for (envelope* e = batch.peek(); e != nullptr; e = e->next.read())
            count -= e->owed() ? 1U : 0U;
        // Credits that were kept count as free here: what is handled has left the mailbox.
        const std::uint32_t kept = std::min(owed_, count);
        if (kept < count && gate_.enter(generation_, count - kept) != mailbox_gate::entry::entered)
            return prepended::full;
        owed_ -= kept;
    }
    queue.prepend(batch);
    return prepended::done;
}

void mailbox_block::time_passed(instant now) noexcept {
    if (warned_at_ == instant::never())
        warned_at_ = now;
    else if (now - warned_at_ >= duration::from_s(1))
        warn_again();
}

mailbox_block::pressure mailbox_block::warn() noexcept {
    const std::uint32_t at = warn_at_.load(std::memory_order_relaxed);
    if (at == 0)
        return {};
    const std::uint32_t length = gate_.taken();
    // One sender makes the event: who writes the mark. Relaxed: it publishes nothing else.
    if (length < at || warned_.load(std::memory_order_relaxed) != 0 ||
        warned_.exchange(1, std::memory_order_relaxed) != 0)
        return {};
    const std::uint32_t capacity = gate_.capacity();
    const auto percent = std::uint64_t{length} * 100 / capacity;
    return {length, capacity, static_cast<std::uint32_t>(percent)};
}

}  // namespace tactus::inline v0
