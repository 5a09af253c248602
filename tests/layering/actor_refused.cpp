// SPDX-License-Identifier: Apache-2.0
//
// Goal: what an actor or a message must not be is refused in a line that names the type (AC-12).
// CASE says which; without one it compiles.
#include <tactus/actor/actor.hpp>

#include <expected>

#define no_handler 1
#define private_handler 2
#define foreign_told 3
#define message_stays 4
#define message_throws 5
#define actor_throws 6
#define foreign_adapted 7
#define foreign_tried 8
#define foreign_answer 9
#define message_stays_any 10
#define reference_widened 11
#define behavior_without 12
#define foreign_awaited 13
#define foreign_single_timer 14
#define foreign_delay_timer 15
#define foreign_rate_timer 16
#define foreign_watch 17
#define periodic_stays 18
#define pre_restart_bare 19
#define pre_restart_private 20
#define post_restart_bare 21
#define supervision_private 22
#define supervision_of_another_type 23
#define decide_without_child 24
#define on_other_of_another_type 25
#define requires_mailbox_private 26
#define requires_mailbox_of_another_type 27
#define reentrant_private 28
#define reentrant_of_an_object 29
#define terminated_to_change 30
#define child_failed_to_move 31
#define receive_timeout_to_change 32
#define post_restart_of_a_base 33

#if !defined(CASE)
#define CASE 0
#endif

using namespace tactus;  // NOLINT: the whole vocabulary is used

struct deposit {
    int amount;
};
struct withdrawal {
    int amount;
};

struct coin {
    int value;
    operator deposit() const { return {value}; }  // NOLINT: converted, as with tell
};

struct piano {
    piano() = default;
#if CASE == periodic_stays
    piano(piano&&) = default;
    piano& operator=(piano&&) = default;
#endif
#if CASE == message_stays || CASE == message_stays_any
    piano(const piano&) = delete;
    piano& operator=(const piano&) = delete;
#endif
#if CASE == message_throws
    ~piano() noexcept(false) {}
#endif
};

class account : public actor<deposit, piano> {
public:
#if CASE != no_handler
#if CASE == private_handler
private:
#endif
    void on(const deposit& m) { balance_ += m.amount; }

public:
#endif
    void on(const piano&) {}
    task<> next_one() {
#if CASE == foreign_awaited
        (void)co_await context().next<withdrawal>();
#else
        (void)co_await context().next<deposit>();
#endif
    }
    void timers() {
        [[maybe_unused]] constexpr duration second = duration::from_s(1);
#if CASE == foreign_single_timer
        (void)context().start_single_timer("t", withdrawal{1}, second);
#elif CASE == foreign_delay_timer
        (void)context().start_timer_with_fixed_delay("t", withdrawal{1}, second);
#elif CASE == foreign_rate_timer
        (void)context().start_timer_at_fixed_rate("t", withdrawal{1}, second);
#elif CASE == foreign_watch
        context().watch_with(self(), withdrawal{1});
#elif CASE == periodic_stays
        (void)context().start_timer_at_fixed_rate("t", piano(), second);
#else
        const deposit d{1};
        (void)context().start_single_timer("t", d, second);
        (void)context().start_single_timer("t", coin{1}, second);
        (void)context().start_single_timer("t", poison_pill{}, second);
        (void)context().start_single_timer("t", tactus::kill{}, second);
        (void)context().start_single_timer("t", identify{}, second);
        (void)context().start_timer_with_fixed_delay("t", coin{1}, second);
        (void)context().start_timer_at_fixed_rate("t", d, second, second);
        context().watch_with(self(), coin{1});
        context().watch_with(self(), d);
#endif
    }
    void pre_start() {
#if CASE == foreign_adapted
        (void)context().message_adapter<int>([](int n) { return withdrawal{n}; });
#elif CASE == foreign_answer
        context().ask<int>(
            self(), [](actor_ref<int>) { return deposit{1}; }, duration::from_s(1),
            [](std::expected<int, ask_fault>) { return withdrawal{1}; });
#else
        (void)context().message_adapter<int>([](int n) { return deposit{n}; });
#endif
    }
#if CASE == actor_throws
    ~account() noexcept(false) {}
#endif

private:
    int balance_ = 0;
};

// AC-20: members with the names of hooks.
class guarded : public actor<deposit> {
public:
    void on(const deposit&) {}
#if CASE == pre_restart_bare
    void pre_restart() {}
#elif CASE == pre_restart_private
private:
    void pre_restart(const failure_cause&) {}

public:
#else
    void pre_restart(const failure_cause&, failed_message) {}
#endif
#if CASE == post_restart_bare
    void post_restart() {}
#else
    void post_restart(const failure_cause&) {}
#endif
#if CASE == supervision_private
private:
    supervisor_strategy supervision() { return {}; }

public:
#elif CASE == supervision_of_another_type
    int supervision() { return 1; }
#else
    supervisor_strategy supervision() { return {}; }
#endif
#if CASE == decide_without_child
    directive decide(const failure_cause&) { return directive::stop; }
#else
    directive decide(any_ref, const failure_cause&) { return directive::stop; }
#endif
#if CASE == on_other_of_another_type
    void on_other(const deposit&) {}
#else
    void on_other(envelope&) {}
#endif
#if CASE == requires_mailbox_private
private:
#endif
#if CASE == requires_mailbox_of_another_type
    using requires_mailbox = int;
#else
    using requires_mailbox = requirements<capability::bounded>;
#endif
#if CASE == reentrant_private
private:
#else
public:
#endif
#if CASE == reentrant_of_an_object
    bool reentrant = true;
#else
    static constexpr bool reentrant = true;
#endif

public:
#if CASE == terminated_to_change
    void on(terminated&) {}
#elif CASE != child_failed_to_move  // else it would take that
    void on(const terminated&) {}
#endif
#if CASE == child_failed_to_move
    void on(child_failed&&) {}
#else
    void on(child_failed) {}
#endif
#if CASE == receive_timeout_to_change
    void on(receive_timeout&) {}
#else
    void on(const receive_timeout&) {}
#endif
};

// Hooks of a base are its own, too; a class without any has none to fit.
template <class Base>
class derived : public Base {
#if CASE == post_restart_of_a_base
    void post_restart(const failure_cause&) {}
#endif
};
class plain final : public actor<deposit> {
public:
    void on(const deposit&) {}
};
// A final class cannot be looked into: what does not fit is not a hook, and not refused.
class sealed final : public actor<deposit> {
public:
    void on(const deposit&) {}
    void post_restart() {}
};

const actor_type* types[] = {&actor_type_of<account>(),
                             &actor_type_of<guarded>(),
                             &actor_type_of<derived<guarded>>(),
                             &actor_type_of<plain>(),
                             &actor_type_of<derived<derived<account>>>(),
                             &actor_type_of<sealed>()};
const actor_type** all_types() {
    return types;
}

void use(const actor_ref<deposit, piano>& ref) {
#if CASE == foreign_told
    ref.tell(withdrawal{1});
#elif CASE == foreign_tried
    (void)ref.try_tell(withdrawal{1});
#elif CASE == reference_widened
    const actor_ref<deposit, withdrawal> wider = ref;
    wider.tell(deposit{1});
#elif CASE == message_stays_any
    const piano p;
    ref.any().tell(p);
#else
    ref.tell(deposit{1});
#endif
#if CASE == behavior_without
    (void)behavior<deposit, withdrawal>([](auto&, const deposit&) {});
#else
    (void)behavior<deposit, withdrawal>([](auto&, const deposit&) {},
                                        [](auto&, const withdrawal&) {});
#endif
}
