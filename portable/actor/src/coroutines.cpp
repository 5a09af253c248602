// SPDX-License-Identifier: Apache-2.0
//
// Handlers that are coroutines (AC-2): while one waits, user messages do, unless its actor is
// reentrant. The message lives as long as the coroutine.
#include <tactus/actor/actor_world.hpp>
#include <tactus/actor/ask_source.hpp>

#include <new>

namespace tactus::inline v0 {

const char* name_of(ask_fault what) noexcept {
    static constexpr const char* names[ask_fault_count] = {"timeout",         "target_terminated",
                                                           "invalid_timeout", "would_block_worker",
                                                           "refused",         "no_room"};
    return names[static_cast<std::size_t>(what)];
}

coroutine_set* actor_world::coroutines_of(turn& t, cell& c) noexcept {
    cell_extras* x = extras_of(c);
    if (x == nullptr)
        return nullptr;
    if (x->coroutines == nullptr) {
        if (void* block = memory_.allocate(sizeof(cell_coroutines), alignof(cell_coroutines)))
            x->coroutines = ::new (block) cell_coroutines(t.self(), memory_, *this, c);
    }
    return x->coroutines;
}

void actor_world::await_coroutine(turn& t, cell& c) noexcept {
    c.set(cell::awaits);
    note_wait(c);
    (void)kernel_->suspend(t.self(), suspension::await);
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

handled actor_world::resume_coroutine(cell& c, system_message& continuation) noexcept {
    const handled result = c.extras()->coroutines->resume(continuation);
    if (c.is(cell::awaits))
        note_wait(c);
    return result;
}

void actor_world::coroutine_ended(coroutine_set& of, void* what, coroutine_end) noexcept {
    auto& own = static_cast<cell_coroutines&>(of);
    actor_scheduler& kernel = *own.world.kernel_;
    kernel.dispose_kept(*static_cast<envelope*>(what));
    if (own.c.is(cell::awaits)) {
        own.c.clear(cell::awaits);
        (void)kernel.resume(of.owner(), suspension::await);
    }
}

void actor_world::destroy_coroutines(const self& s) noexcept {
    if (cell_extras* x = s.c.extras(); x != nullptr && x->coroutines != nullptr)
        x->coroutines->destroy_all();
}

}  // namespace tactus::inline v0
