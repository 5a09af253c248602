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

const actor_type& type_of_account() {
    return actor_type_of<account>();
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
