// SPDX-License-Identifier: Apache-2.0
//
// Giving messages to the tasks that wait for them, and setting the others aside.
//
// A program in which no task waits for a message has none of this: the actor tree reaches it
// through the virtual functions of message_waits only.
#include <tactus/actor/next_message.hpp>

#include <tactus/actor/actor_world.hpp>
#include <tactus/actor/signals.hpp>
#include <tactus/dispatch/turn.hpp>

#include <new>
#include <utility>

namespace tactus::inline v0 {

const char* name_of(next_error why) noexcept {
    static constexpr const char* names[next_error_count] = {"timeout", "invalid_timeout",
                                                            "no_timer"};
    return names[static_cast<std::size_t>(why)];
}

namespace detail {

/// The waits of one actor, and what was set aside.
class message_receiver final : public message_waits {
public:
    explicit message_receiver(cell_coroutines& of) noexcept : of_(of) {}

    [[nodiscard]] static message_receiver& of(cell_coroutines& own) noexcept {
        return static_cast<message_receiver&>(*own.receives);
    }

    [[nodiscard]] bool is_waiting() noexcept override { return !waits_.empty(); }

    [[nodiscard]] way take(turn& t, envelope& e) noexcept override {
        if (message_wait* const w = waits_for(*e.type.read())) {
            t.keep();
            w->before_ = aside_.size();
            w->give(e);
            return way::task;
        }
        if (of_.awaited == 0 || passes(e))
            return way::handler;
        t.keep();
        if (!e.owed() && is_full()) {
            kernel().measures().dead_letter(t.self(), e, dead_letter_cause::mailbox_full);
            kernel().dispose_kept(e);
        } else {
            set_aside(e);
        }
        return way::aside;
    }

    /// In the actor's turn, when no handler holds the mailbox.
    void put_back(slot& place) noexcept override {
        if (ended_)
            return;
        envelope_list newest_first;
        while (envelope* e = aside_.pop())
            (void)newest_first.push_front(*e);
        while (envelope* e = newest_first.pop())
            place.put_back(*e);
        owed_aside_ = 0;
    }

    void end(memory_source& memory) noexcept override {
        ended_ = true;
        of_.destroy_all();
        while (envelope* e = aside_.pop())
            kernel().dispose_kept(*e);
        of_.receives = nullptr;
        this->~message_receiver();
        memory.release(this, sizeof(message_receiver), alignof(message_receiver));
    }

    void add(message_wait& w) noexcept {
        message_wait* const first = waits_for(w.type());
        (first != nullptr ? first->later_ : waits_).push_back(w);
        changed();
    }
    void remove(message_wait& w) noexcept {
        if (message_wait* const next = w.later_.pop_front()) {
            next->later_.splice_back(w.later_);
            waits_.push_back(*next);
        }
        w.unlink();
        changed();
    }
    /// The earliest message of the type among those set aside; null: there is none.
    [[nodiscard]] envelope* take_aside(const message_type& type) noexcept {
        envelope* const e = aside_.take_first(
            [&](const envelope& each) { return same_message(*each.type.read(), type); });
        if (e != nullptr && e->owed())
            --owed_aside_;
        return e;
    }
    /// Returns a message that the task did not take to its place in the order.
    void put_aside(envelope& e, std::uint32_t before) noexcept {
        envelope_list all;
        while (all.size() < before && aside_.size() != 0)
            (void)all.push(*aside_.pop());
        (void)all.push(e);
        while (envelope* later = aside_.pop())
            (void)all.push(*later);
        owed_aside_ = 0;
        while (envelope* next = all.pop())
            set_aside(*next);
        changed();
    }
    [[nodiscard]] actor_scheduler& kernel() const noexcept { return of_.world.kernel(); }

private:
    ~message_receiver() = default;

    void changed() noexcept {
        of_.world.settle_special(of_.c);
        of_.world.settle_hold(of_);
    }
    /// The earliest.
    [[nodiscard]] message_wait* waits_for(const message_type& type) noexcept {
        for (message_wait& w : waits_) {
            if (same_message(w.type(), type))
                return &w;
        }
        return nullptr;
    }
    /// Messages that are not set aside: those that end the actor, and those that an adapter makes
    /// an awaited message of.
    [[nodiscard]] bool passes(envelope& e) noexcept {
        if (e.get_if<poison_pill>() != nullptr || e.get_if<kill>() != nullptr)
            return true;
        const cell_extras& x = *of_.c.extras();
        for (instance_function* f = x.adapters; f != nullptr; f = f->next) {
            if (same_message(static_cast<message_adapter*>(f)->takes, *e.type.read()))
                return true;  // what it makes is looked at again
        }
        if (const terminated* m = e.get_if<terminated>(); m != nullptr) {
            const watch_record* r = x.watching.find(m->who.index());
            return r != nullptr && r->with != nullptr && waits_for(r->with->type()) != nullptr;
        }
        if (const timer_due* m = e.get_if<timer_due>(); m != nullptr) {
            for (const actor_timer* timer = x.timers; timer != nullptr; timer = timer->next) {
                if (timer->handle == m->which)
                    return timer->sends() != nullptr && waits_for(*timer->sends()) != nullptr;
            }
        }
        return false;
    }
    void set_aside(envelope& e) noexcept {
        (void)aside_.push(e);
        if (e.owed())
            ++owed_aside_;
    }
    /// A bounded mailbox bounds what was taken out of it as well, but no signals that are owed.
    [[nodiscard]] bool is_full() noexcept {
        const slot& place = kernel().slots().at(of_.owner().slot_number());
        return place.kind() != nullptr && place.kind()->options().is_bounded() &&
               aside_.size() - owed_aside_ >= place.kind()->options().capacity;
    }

    cell_coroutines& of_;
    intrusive_list<message_wait> waits_;  // the earliest of each type
    envelope_list aside_;
    std::uint32_t owed_aside_ = 0;  // of these, signals that take no room
    bool ended_ = false;
};

bool message_wait::prepare() noexcept {
    turn& t = *turn::current();
    actor_world& world = actor_world::of(t.system());
    cell_coroutines& own = *cell::of(t.place()).extras()->coroutines;
    if (own.receives == nullptr) {
        void* block = world.memory().allocate(sizeof(message_receiver), alignof(message_receiver));
        if (block == nullptr)
            return false;
        own.receives = ::new (block) message_receiver(own);
    }
    return true;
}

bool message_wait::start() noexcept {
    of_ = cell::of(turn::current()->place()).extras()->coroutines;
    if (limit_ <= duration::zero()) {
        refused_ = next_error::invalid_timeout;
        return false;
    }
    message_receiver& receiver = message_receiver::of(*of_);
    given_ = receiver.take_aside(type_);
    if (given_ != nullptr) {
        of_->world.note_activity(*turn::current(), of_->c, *given_);
        return false;
    }
    if (limit_ != duration::max()) {
        scheduler* const timers = of_->world.timers();
        auto made = timers != nullptr
                        ? timers->schedule_wake(limit_, to_wake_)
                        : std::unexpected(scheduler_error{.code = scheduler_errc::closed});
        if (!made) {
            refused_ = next_error::no_timer;
            return false;
        }
        timer_ = *made;
    }
    receiver.add(*this);
    return true;
}

// A scheduler that was closed first calls nobody, either.
bool message_wait::timer_is_gone() noexcept {
    scheduler& timers = *of_->world.timers();
    return timers.cancel(*timer_) || timers.state_of(*timer_) == job_state::cancelled;
}

bool message_wait::give_up() noexcept {
    if (answered_ || (timer_ && !timer_is_gone()))
        return false;
    message_receiver::of(*of_).remove(*this);
    return true;
}

void message_wait::give(envelope& e) noexcept {
    given_ = &e;
    answered_ = true;
    message_receiver::of(*of_).remove(*this);
    // A timer that cannot be cancelled calls the waker, and the task finds the message then.
    if (!timer_ || timer_is_gone())
        to_wake_.wake();
}

void message_wait::leave() noexcept {
    if (of_ == nullptr || of_->receives == nullptr)
        return;  // it never began, or was refused
    message_receiver& receiver = message_receiver::of(*of_);
    if (envelope* const e = std::exchange(given_, nullptr))
        receiver.put_aside(*e, before_);
    else if (linked())
        receiver.remove(*this);
}

std::expected<envelope*, next_error> message_wait::end() noexcept {
    if (refused_)
        return std::unexpected(*refused_);
    if (given_ != nullptr)
        return given_;
    message_receiver::of(*of_).remove(*this);
    return std::unexpected(of_->world.timers()->was_closed(*timer_) ? next_error::no_timer
                                                                    : next_error::timeout);
}

void message_wait::dispose(bool lost) noexcept {
    actor_scheduler& kernel = of_->world.kernel();
    envelope& e = *std::exchange(given_, nullptr);
    if (lost)
        kernel.measures().dead_letter(of_->owner(), e, dead_letter_cause::construction_failed);
    kernel.dispose_kept(e);
}

}  // namespace detail
}  // namespace tactus::inline v0
