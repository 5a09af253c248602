// SPDX-License-Identifier: Apache-2.0
//
// Goal: everything that a task can await gives its result, once, in every form of expression, with
// every compiler (AC-2, DF-21). Method: each awaitable in each form; the coroutines have no
// variables unless their form is one, since g++ 12 lays out the frames of these in a way of its
// own. What is owned is a text that needs the heap.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>

#include <tactus/actor/ask.hpp>
#include <tactus/actor/one_shot_signal.hpp>
#include <tactus/actor/retry.hpp>

#include "world_rig.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using namespace tactus_test;

namespace {

constexpr const char* long_text = "a text that is too long to be kept without the heap";

struct question {
    std::string text;
    actor_ref<std::string> reply_to;
};
struct order {
    std::string item;
    int count;
};
class peer : public actor<question, order, std::string> {
public:
    void on(const question& q) { q.reply_to.tell(q.text + long_text); }
    void on(const order& o) { EXPECT_EQ(o.item, long_text); }
    void on(const std::string& s) { EXPECT_EQ(s, long_text); }
};

class driver;
using form = task<> (*)(driver&);

/// Aligned beyond a pointer.
struct alignas(16) wide {
    std::string text = long_text;
    [[nodiscard]] bool is_aligned() const noexcept {
        return reinterpret_cast<std::uintptr_t>(this) % alignof(wide) == 0;
    }
};

class driver : public actor<form, std::string> {
public:
    explicit driver(actor_ref<question, order, std::string> whom) : to(whom) { happened.wake(); }
    task<> on(form f) { co_await f(*this); }
    void on(const std::string&) { ADD_FAILURE() << "every text is waited for"; }
    /// A text comes, and is waited for.
    template <class... Limits>
    [[nodiscard]] auto next(Limits... limits) {
        self().tell(std::string(long_text));
        return context().next<std::string>(limits...);
    }
    [[nodiscard]] auto ctx() const { return context(); }
    [[nodiscard]] any_ref fresh() { return context().spawn_anonymous<peer>(); }
    void count(bool good) { done += good ? 1U : 0U; }

    actor_ref<question, order, std::string> to;
    order named{long_text, 1};
    std::string text = long_text;
    bool yes = true;
    one_shot_signal happened;
    cancel_context wanted;
    static inline unsigned done = 0;
    static inline unsigned times = 0;
};

bool good(bool b) {
    return b;
}
bool good(sent s) {
    return s == sent::accepted;
}
bool good(const std::string& s) {
    return s.ends_with(long_text);
}
bool good(const wide& w) {
    return w.is_aligned() && w.text == long_text;
}
template <class T, class E>
bool good(const std::expected<T, E>& r) {
    if constexpr (std::is_same_v<T, std::string>)
        return r && good(*r);
    else
        return r.has_value();
}

task<std::string> text_of(std::string s) {
    co_return s;
}
task<std::string> later_text(driver& d, std::string s) {
    if (co_await d.ctx().delay(duration::from_ms(1)))
        co_return s;
    co_return "late";
}
task<wide> wide_one() {
    co_return wide();
}
task<bool> same(bool b) {
    co_return b;
}

// Every form, of an expression E that is a co_await.
#define TACTUS_FORMS(name, E)                                                                   \
    struct name {                                                                               \
        static task<> statement(driver& d) {                                                    \
            (void)E;                                                                            \
            d.count(true);                                                                      \
        }                                                                                       \
        static task<> condition(driver& d) {                                                    \
            if (good(E))                                                                        \
                d.count(true);                                                                  \
        }                                                                                       \
        static task<> refused(driver& d) {                                                      \
            if (!good(E))                                                                       \
                co_return;                                                                      \
            d.count(true);                                                                      \
        }                                                                                       \
        static task<> chain(driver& d) {                                                        \
            if (!good(E))                                                                       \
                d.count(false);                                                                 \
            else if (good(E))                                                                   \
                d.count(true);                                                                  \
        }                                                                                       \
        static task<> within(driver& d) {                                                       \
            if (d.yes) {                                                                        \
                if (good(E))                                                                    \
                    d.count(true);                                                              \
            }                                                                                   \
        }                                                                                       \
        static task<> loop(driver& d) {                                                         \
            while (good(E)) {                                                                   \
                if (++driver::times == 2) {                                                     \
                    d.count(true);                                                              \
                    co_return;                                                                  \
                }                                                                               \
            }                                                                                   \
        }                                                                                       \
        static task<> tail(driver& d) {                                                         \
            do {                                                                                \
                ++driver::times;                                                                \
            } while (good(E) && driver::times < 2);                                             \
            d.count(true);                                                                      \
        }                                                                                       \
        static task<> counted(driver& d) {                                                      \
            for (; good(E) && ++driver::times < 2;) {                                           \
            }                                                                                   \
            d.count(true);                                                                      \
        }                                                                                       \
        static task<> choice(driver& d) {                                                       \
            switch (good(E) ? 1 : 2) {                                                          \
            case 1:                                                                             \
                d.count(true);                                                                  \
                break;                                                                          \
            default:                                                                            \
                break;                                                                          \
            }                                                                                   \
        }                                                                                       \
        static task<> initialiser(driver& d) {                                                  \
            const auto result = E;                                                              \
            d.count(good(result));                                                              \
        }                                                                                       \
        static task<> reference(driver& d) {                                                    \
            const auto& result = E;                                                             \
            d.count(good(result));                                                              \
        }                                                                                       \
        static task<> in_condition(driver& d) {                                                 \
            if (const auto result = E; good(result))                                            \
                d.count(true);                                                                  \
        }                                                                                       \
        static task<> argument(driver& d) {                                                     \
            d.count(good(E));                                                                   \
        }                                                                                       \
        static task<> both(driver& d) {                                                         \
            d.count(good(E) && good(E));                                                        \
        }                                                                                       \
        static task<> nested(driver& d) {                                                       \
            d.count(co_await same(good(E)));                                                    \
        }                                                                                       \
        static task<bool> returned([[maybe_unused]] driver& d) {                                \
            co_return good(E);                                                                  \
        }                                                                                       \
        static task<> of_another(driver& d) {                                                   \
            if (co_await returned(d))                                                           \
                d.count(true);                                                                  \
        }                                                                                       \
        static task<> tried(driver& d) {                                                        \
            try {                                                                               \
                if (good(E))                                                                    \
                    d.count(true);                                                              \
            } catch (...) {                                                                     \
                d.count(false);                                                                 \
            }                                                                                   \
        }                                                                                       \
        static constexpr form all[] = {statement,  condition,    refused,  chain,  within,      \
                                       loop,       tail,         counted,  choice, initialiser, \
                                       reference,  in_condition, argument, both,   nested,      \
                                       of_another, tried};                                      \
    }

constexpr duration ms(int n) {
    return duration::from_ms(n);
}

TACTUS_FORMS(delays, co_await d.ctx().delay(ms(1)));
TACTUS_FORMS(next_texts, co_await d.next());
TACTUS_FORMS(limited_texts, co_await d.next(duration::from_s(1)));
TACTUS_FORMS(cancellable_texts, co_await d.next(d.wanted.token()));
TACTUS_FORMS(limited_cancellable_texts, co_await d.next(duration::from_s(1), d.wanted.token()));
TACTUS_FORMS(cancellable_delays, co_await d.ctx().delay(ms(1), d.wanted.token()));
TACTUS_FORMS(offers_of_a_temporary, co_await d.ctx().offer(d.to, std::string(long_text)));
TACTUS_FORMS(offers_of_a_copy, co_await d.ctx().offer(d.to, d.named));
TACTUS_FORMS(limited_offers, co_await d.ctx().offer(d.to, d.named, ms(1), d.wanted.token()));
TACTUS_FORMS(bare_offers, co_await offer_awaiter(d.to.any().index(), d.named));
TACTUS_FORMS(questions, co_await d.ctx().ask<std::string>(
                            d.to, [](auto me) { return question{"", me}; }, ms(9)));
TACTUS_FORMS(
    questions_about_this,
    co_await ask<std::string>(d.to, [&d](auto me) { return question{d.text, me}; }, ms(9)));
TACTUS_FORMS(resolutions, co_await d.ctx().resolve(d.ctx().select("/user/peer"), ms(9)));
TACTUS_FORMS(graceful_ends, co_await d.ctx().graceful_stop(d.fresh(), ms(9)));
TACTUS_FORMS(signals, co_await d.happened.wait(d.wanted.token()));
TACTUS_FORMS(tasks, co_await text_of(long_text));
TACTUS_FORMS(tasks_that_wait, co_await later_text(d, std::string(long_text)));
TACTUS_FORMS(wide_tasks, co_await wide_one());
TACTUS_FORMS(retries, co_await retry({.retries = 1}, [&d] {
                 return d.ctx().ask<std::string>(
                     d.to, [](auto me) { return question{"", me}; }, ms(9));
             }));

template <class Forms>
void drive() {
    unsigned at = 0;
    for (const form f : Forms::all) {
        driver::done = 0;
        driver::times = 0;
        world_rig rig;
        const auto to = rig.spawn<peer>("peer");
        const auto d = rig.spawn<driver>("driver", to);
        d.tell(f);
        rig.run();
        rig.pass(30);
        EXPECT_EQ(driver::done, 1u) << "form " << at;
        EXPECT_EQ(rig.said.decision_count, 0u) << "form " << at;
        rig.end();
        ++at;
    }
}

// g++ 12 copies the operands.
task<> conditional_wait(driver& d) {
    d.count(good(co_await (d.yes ? d.ctx().delay(ms(1)) : d.ctx().delay(ms(2)))));
}
task<> conditional_task(driver& d) {
    d.count(good(co_await (d.yes ? text_of(long_text) : text_of("none"))));
}

}  // namespace

// DF-21, AC-2
TEST(awaited_forms, DF_21_delays) {
    drive<delays>();
    drive<cancellable_delays>();
}
TEST(awaited_forms, DF_21_DF_63_next_messages) {
    drive<next_texts>();
    drive<limited_texts>();
    drive<cancellable_texts>();
    drive<limited_cancellable_texts>();
}
TEST(awaited_forms, DF_21_offers) {
    drive<offers_of_a_temporary>();
    drive<offers_of_a_copy>();
    drive<limited_offers>();
    drive<bare_offers>();
}
TEST(awaited_forms, DF_21_questions) {
    drive<questions>();
    drive<questions_about_this>();
}
TEST(awaited_forms, DF_21_resolutions_and_graceful_ends) {
    drive<resolutions>();
    drive<graceful_ends>();
}
TEST(awaited_forms, DF_21_signals) {
    drive<signals>();
}
TEST(awaited_forms, DF_21_tasks) {
    drive<tasks>();
    drive<tasks_that_wait>();
    drive<wide_tasks>();
}
TEST(awaited_forms, DF_21_retries) {
    drive<retries>();
}

// DF-21: an awaitable that the compiler has copied is found before it is used.
TEST(awaited_forms_death, DF_21_operands_of_a_conditional_expression) {
    for (const form f : {conditional_wait, conditional_task}) {
        const auto run = [f] {
            driver::done = 0;
            world_rig rig;
            const auto d = rig.spawn<driver>("driver", rig.spawn<peer>("peer"));
            d.tell(f);
            rig.run();
            rig.pass(3);
        };
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 13
        EXPECT_DEATH(run(), f == conditional_wait ? "task:5" : "task:6");
#else
        run();
        EXPECT_EQ(driver::done, 1u);
#endif
    }
}
