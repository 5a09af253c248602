// SPDX-License-Identifier: Apache-2.0
//
// Handlers that are coroutines (AC-2): while one waits, user messages do, unless its actor is
// reentrant. The message lives as long as the coroutine.
#include <tactus/actor/actor_world.hpp>

#include <new>

namespace tactus::inline v0 {

cell_coroutines* actor_world::coroutines_of(turn& t, cell& c) noexcept {
    cell_extras* x = extras_of(c);
    if (x == nullptr)
        return nullptr;
    if (x->coroutines == nullptr) {
        if (void* block = memory_.allocate(sizeof(cell_coroutines), alignof(cell_coroutines)))
            x->coroutines =
                ::new (block) cell_coroutines(t.self(), memory_, *this, c, &resume_coroutine);
    }
    return x->coroutines;
}

cell_coroutines* actor_world::coroutines_for(turn& t, cell& c, coroutine_keep& keep) noexcept {
    cell_coroutines* own = coroutines_of(t, c);
    const auto batch = timers_ != nullptr ? timers_->current_batch(&t) : std::nullopt;
    if (own == nullptr || !batch)
        return own;
    void* block = memory_.allocate(sizeof(execution_batch), alignof(execution_batch));
    if (block == nullptr)
        return nullptr;
    keep.also = ::new (block) execution_batch(*batch);
    return own;
}

void actor_world::await_coroutine(cell& c) noexcept {
    // One begins while another waits when what is told does not come through the mailbox: what
    // watch_with was given, of which that had no room.
    cell_coroutines& own = *c.extras()->coroutines;
    if (own.awaited++ == 0) {
        c.set(cell::awaits);
        settle_hold(own);
    }
    note_wait(c);
}

void actor_world::settle_hold(cell_coroutines& own) noexcept {
    const bool holds = own.awaited != 0 && (own.receives == nullptr || !own.receives->is_waiting());
    if (own.awaited == 0 && own.receives != nullptr)
        own.receives->put_back(kernel_->slots().at(own.owner().slot_number()));
    if (holds == own.holds)
        return;
    own.holds = holds;
    (void)(holds ? kernel_->suspend(own.owner(), suspension::await)
                 : kernel_->resume(own.owner(), suspension::await));
}

bool actor_world::receive_special(turn& t, cell& c, envelope& e) noexcept {
    cell_coroutines* const own = c.extras()->coroutines;
    auto way = message_waits::way::handler;
    if (own != nullptr && own->receives != nullptr)
        way = own->receives->take(t, e);
    if (way == message_waits::way::aside)
        return true;
    note_activity(t, c, e);
    return way == message_waits::way::task;
}

void actor_world::settle_special(cell& c) noexcept {
    const cell_extras& x = *c.extras();
    const bool waits = x.coroutines != nullptr && x.coroutines->receives != nullptr &&
                       x.coroutines->receives->is_waiting();
    if (waits || x.becomes != nullptr || x.idle != nullptr)
        c.set(cell::special);
    else
        c.clear(cell::special);
}

void actor_world::fail_beside(turn& t, const failure& why) noexcept {
    cell& c = cell::of(t.place());
    const cell_extras* x = c.extras();
    if (x != nullptr && x->cause)
        c.tell(*kernel_, t.place(), cell::told_fail);  // it has said itself why
    else
        fail(t, why);
}

void actor_world::note_wait(cell& c) noexcept {
    c.set_wait(static_cast<std::uint32_t>(c.extras()->coroutines->waits_for()));
}

handled actor_world::resume_coroutine(turn& t, cell_coroutines& of,
                                      system_message& continuation) noexcept {
    const auto next = of.arrived(continuation);
    // AC-2, BT-1: the sender and the batch are those of the handler's message again, for as long as
    // it goes on.
    envelope_guard::scope during;
    const envelope_guard::scope* const outside = t.set_guarded(&during);
    const mailbox_index sender = t.sender();
    t.set_sender({});
    const coroutine_keep kept = coroutine_set::kept_by(next);
    if (const auto* message = static_cast<const envelope*>(kept.what))
        t.set_sender(message->sender.read());
    if (const auto* batch = static_cast<const execution_batch*>(kept.also))
        of.world.timers_->show_batch(*batch, during);
    const handled result = of.resume(next);
    t.set_sender(sender);
    t.set_guarded(outside);
    if (of.c.is(cell::awaits))
        note_wait(of.c);
    return result;
}

void actor_world::coroutine_ended(coroutine_set& of, const coroutine_keep& kept,
                                  coroutine_end how) noexcept {
    auto& own = static_cast<cell_coroutines&>(of);
    actor_scheduler& kernel = *own.world.kernel_;
    auto& message = *static_cast<envelope*>(kept.what);
    if (kept.also != nullptr)
        own.memory().release(kept.also, sizeof(execution_batch), alignof(execution_batch));
    // PK-SUP-2, C-PAT-6: as any other handler's.
    const bool failed = how == coroutine_end::failed;
    if (failed && !own.c.has_failed())
        own.c.extras()->failed_sender = message.sender.read();
    if (how != coroutine_end::destroyed)
        own.world.coroutine_handled(*turn::current(), own.c, message);
    if (!failed || !own.world.keeps_failed_message(*turn::current(), own.c, message))
        kernel.dispose_kept(message);
    if (own.c.is(cell::awaits) && of.ended_waited() && --own.awaited == 0) {
        own.c.clear(cell::awaits);
        own.world.settle_hold(own);
    }
}

void actor_world::destroy_coroutines(cell& c) noexcept {
    if (cell_extras* x = c.extras(); x != nullptr && x->coroutines != nullptr)
        x->coroutines->destroy_all();
}

}  // namespace tactus::inline v0
