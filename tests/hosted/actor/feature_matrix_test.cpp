// SPDX-License-Identifier: Apache-2.0
//
// Goal: features in pairs, over every directive and both mailboxes that a stash can have: no
// message and no instance is lost or ended twice, and what happens is what the rules say (SV-2,
// ST-1, TM-1, TM-2, DW-1, AC-2, AS-1).
//
// A cell of the matrix is a script, a directive and a mailbox. One actor has all features; a boss
// above it decides with the cell's directive. At the end of each cell
//   sent = handled + dead letters + given back,   made = ended of messages and of instances
// and the text of what happened is the one in the table. Escalation restarts the boss, which stops
// the actor and spawns a new one.
#include <tactus/actor/ask.hpp>

#include <gtest/gtest.h>

#include <iterator>
#include <stdexcept>
#include <string>

#include "world_rig.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using tactus_test::ms;
using tactus_test::world_rig;

namespace {

struct account {
    int sent;
    int handled;
    int dead;
    int given_back;  // to who asked
    int messages;    // alive
    int instances;   // alive
    int lives;
    std::string text;
};
account now;

enum class act : std::uint8_t {
    put,         // a number, which is put aside until it is opened
    open,        // what was put aside comes back
    fail,        // throws
    tick_every,  // a timer at a fixed rate of n ms
    idle,        // a receive timeout of n ms
    watch,       // the other actor
    wait,        // a coroutine of n ms
    ask,         // the other asks it, with a timeout of n ms
    // What the script does itself.
    pass,  // n ms
    end_other,
    stop,
    fail_sibling,  // the one spawned after it
};

/// Counts itself.
struct parcel {
    act what = act::put;
    int number = 0;
    actor_ref<int> reply_to = {};

    parcel(act w, int n, actor_ref<int> to = {}) : what(w), number(n), reply_to(to) {
        ++now.messages;
    }
    parcel(const parcel& p) : what(p.what), number(p.number), reply_to(p.reply_to) {
        ++now.messages;
    }
    parcel& operator=(const parcel&) = delete;
    ~parcel() { --now.messages; }
};
struct waiting : parcel {
    using parcel::parcel;
};
struct tick {};

void note(const std::string& what) {
    now.text += (now.text.empty() ? "" : " ") + what;
}

any_ref other;
actor_ref<parcel, waiting, tick> subject;
actor_ref<parcel, waiting, tick> sibling;
directive decided;
supervision_scope scope;
mailbox_options mailbox;
int sibling_count;

/// All features. Reentrant: a failure may come while a coroutine waits.
class everything : public actor<parcel, waiting, tick>, public with_stash<4> {
public:
    static constexpr bool reentrant = true;

    explicit everything(int number) : number_(number), life_(now.lives++) { ++now.instances; }
    everything(const everything&) = delete;
    everything& operator=(const everything&) = delete;
    ~everything() { --now.instances; }

    std::expected<void, failure> on(const parcel& p) {
        if (p.what == act::put && !open_)
            return context().stash();
        ++now.handled;
        switch (p.what) {
        case act::put:
            note(std::to_string(p.number));
            break;
        case act::open:
            open_ = true;
            context().unstash_all();
            break;
        case act::fail:
            throw std::runtime_error("told to");
        case act::tick_every:
            EXPECT_TRUE(context().start_timer_at_fixed_rate("tick", tick{}, ms(p.number)));
            break;
        case act::idle:
            context().set_receive_timeout(ms(p.number));
            break;
        case act::watch:
            context().watch(other);
            break;
        case act::ask:
            p.reply_to.tell(life_);
            break;
        default:
            break;
        }
        return {};
    }
    task<> on(const waiting& p) {
        ++now.handled;
        struct end_note {
            ~end_note() { note("over"); }
        } noted;
        (void)co_await context().delay(ms(p.number));
        note("waited");
    }
    void on(tick) { note("t" + std::to_string(life_)); }
    void on(const receive_timeout&) { note("idle" + std::to_string(life_)); }
    void on(const terminated&) { note("terminated" + std::to_string(life_)); }
    void pre_start() { (number_ == 0 ? subject : sibling) = self(); }

private:
    int number_;
    int life_;
    bool open_ = false;
};

class boss : public actor<> {
public:
    void pre_start() {
        for (int i = 0; i < sibling_count; ++i)
            EXPECT_TRUE(context().try_spawn<everything>("", {.mailbox = mailbox}, i));
    }
    supervisor_strategy supervision() {
        return {.scope = scope, .decider = [](const failure_cause&) { return decided; }};
    }
};

/// Asks the subject; says what became of it.
class asker : public actor<int> {
public:
    task<> on(int timeout) {
        const auto said = co_await context().ask<int>(
            subject, [](actor_ref<int> me) { return parcel(act::ask, 0, me); }, ms(timeout));
        note(said ? "reply" + std::to_string(*said)
                  : "none" + std::to_string(static_cast<int>(said.error().what)));
        now.given_back += !said && said.error() == ask_fault::target_terminated ? 1 : 0;
    }
};

struct step {
    act what;
    int number = 0;
};
struct pair {
    const char* name;
    int siblings;
    supervision_scope scope;
    directive above;  // what the guardian decides about the boss, when that escalates
    step steps[10];
    int step_count;
    const char* expected[directive_count];  // resume, restart, stop, escalate
};

void run_cell(const pair& p, directive d, const mailbox_options& m, const char* expected) {
    SCOPED_TRACE(std::string(p.name) + ", " + name_of(d) + (m.is_bounded() ? ", bounded" : ""));
    now = {};
    decided = d;
    scope = p.scope;
    mailbox = m;
    sibling_count = p.siblings;
    subject = {};
    {
        static directive above;
        above = p.above;
        world_rig rig({.decider = [](const failure_cause&) { return above; }});
        rig.said.on_dead_letter = [](envelope& e) noexcept {
            now.dead += e.get_if<parcel>() != nullptr || e.get_if<waiting>() != nullptr ? 1 : 0;
        };
        other = rig.spawn<asker>("other");
        (void)rig.spawn<boss>("boss");
        rig.run();
        for (int i = 0; i < p.step_count; ++i) {
            const step& s = p.steps[i];
            switch (s.what) {
            case act::pass:
                rig.run();
                rig.pass(s.number);
                break;
            case act::end_other:
                (void)rig.world.stop(other.index());
                rig.run();
                break;
            case act::stop:
                (void)rig.world.stop(subject.index());
                break;
            case act::ask:
                ++now.sent;
                other.tell(s.number);
                break;
            case act::wait:
                ++now.sent;
                subject.tell(waiting(s.what, s.number));
                break;
            case act::fail_sibling:
                ++now.sent;
                sibling.tell(parcel(act::fail, 0));
                rig.run();
                break;
            default:
                ++now.sent;
                subject.tell(parcel(s.what, s.number));
                // What comes after a failure is for who is there then.
                if (s.what == act::fail)
                    rig.run();
                break;
            }
        }
        rig.run();
        EXPECT_EQ(now.text, expected);
        rig.end();
    }
    EXPECT_EQ(now.sent, now.handled + now.dead + now.given_back);
    EXPECT_EQ(now.messages, 0);
    EXPECT_EQ(now.instances, 0);
}

using enum act;
constexpr auto one = supervision_scope::one_for_one;
constexpr auto all = supervision_scope::all_for_one;

constexpr auto again = directive::restart;
constexpr auto go_on = directive::resume;
constexpr auto give_up = directive::stop;

// What happens if the boss says: resume, restart, stop, escalate.
constexpr pair pairs[] = {
    {"stash x failure",
     1,
     one,
     again,
     {{put, 1}, {put, 2}, {fail}, {open}, {put, 3}},
     5,
     {"1 2 3", "1 2 3", "", "3"}},
    {"stash x stop",
     1,
     one,
     again,
     {{put, 1}, {put, 2}, {stop}, {open}, {put, 3}},
     5,
     {"", "", "", ""}},
    {"timers x failure",
     1,
     one,
     again,
     {{tick_every, 5}, {pass, 12}, {fail}, {pass, 12}},
     4,
     {"t0 t0 t0 t0", "t0 t0", "t0 t0", "t0 t0"}},
    {"timers x stash",
     1,
     one,
     again,
     {{tick_every, 5}, {put, 1}, {fail}, {pass, 12}, {open}},
     5,
     {"t0 t0 1", "1", "", ""}},
    {"receive timeout x stash",
     1,
     one,
     again,
     {{idle, 5}, {put, 1}, {pass, 7}, {fail}, {pass, 7}, {open}, {pass, 3}},
     7,
     {"idle0 idle0 1", "idle0 idle1 1", "idle0", "idle0"}},
    {"watch x failure",
     1,
     one,
     again,
     {{watch}, {fail}, {end_other}},
     3,
     {"terminated0", "terminated1", "", ""}},
    {"ask x failure",
     1,
     one,
     again,
     {{fail}, {ask, 5}, {pass, 10}},
     3,
     {"reply0", "reply1", "none1", "reply1"}},
    {"ask x stop",
     1,
     one,
     again,
     {{stop}, {ask, 5}, {pass, 10}},
     3,
     {"none1", "none1", "none1", "none1"}},
    {"coroutine x failure",
     1,
     one,
     again,
     {{wait, 10}, {pass, 3}, {fail}, {pass, 20}},
     4,
     {"waited over", "over", "over", "over"}},
    {"coroutine x stop",
     1,
     one,
     again,
     {{wait, 10}, {pass, 3}, {stop}, {pass, 20}},
     4,
     {"over", "over", "over", "over"}},
    {"coroutine x stash",
     1,
     one,
     again,
     {{wait, 10}, {put, 1}, {pass, 3}, {fail}, {open}, {pass, 20}},
     6,
     {"1 waited over", "over 1", "over", "over"}},
    {"coroutine x suspension",
     3,
     all,
     go_on,
     {{wait, 10}, {pass, 3}, {fail_sibling}, {pass, 20}},
     4,
     {"waited over", "over", "over", "waited over"}},
    {"all for one x escalation, restart",
     3,
     all,
     again,
     {{put, 1}, {fail_sibling}, {open}, {put, 2}},
     4,
     {"1 2", "1 2", "", "2"}},
    {"all for one x escalation, resume",
     3,
     all,
     go_on,
     {{put, 1}, {fail_sibling}, {open}, {put, 2}},
     4,
     {"1 2", "1 2", "", "1 2"}},
    {"all for one x escalation, stop",
     3,
     all,
     give_up,
     {{put, 1}, {fail_sibling}, {open}, {put, 2}},
     4,
     {"1 2", "1 2", "", ""}},
};

// The fifth number does not fit the stash, which is a failure; what comes back beyond the three of
// the mailbox is lost, the oldest first.
constexpr pair full[] = {
    {"bounded x stash",
     1,
     one,
     again,
     {{put, 1},
      {put, 2},
      {put, 3},
      {pass, 0},
      {put, 4},
      {put, 5},
      {pass, 0},
      {open},
      {pass, 0},
      {put, 6}},
     10,
     {"2 3 4 6", "2 3 4 6", "", "6"}},
    {"bounded x burst",
     1,
     one,
     again,
     {{open}, {pass, 0}, {put, 1}, {put, 2}, {put, 3}, {put, 4}, {put, 5}, {pass, 0}, {fail}},
     9,
     {"1 2 3", "1 2 3", "1 2 3", "1 2 3"}},
};

constexpr directive directives[] = {directive::resume, directive::restart, directive::stop,
                                    directive::escalate};

}  // namespace

// SV-2, ST-1, TM-1, TM-2, DW-1, AC-2, AS-1
TEST(feature_matrix, SV_2_pairs_of_features_over_directives_and_mailboxes) {
    for (const pair& p : pairs) {
        for (const directive d : directives) {
            for (const mailbox_options& m : {mailbox_options{}, mailbox_options{.capacity = 20}})
                run_cell(p, d, m, p.expected[static_cast<std::size_t>(d)]);
        }
    }
}

// ST-2, MB-4: a bounded mailbox that is full, and a stash that is.
TEST(feature_matrix, ST_2_bounded_mailboxes_that_are_full) {
    for (const pair& p : full) {
        for (const directive d : directives)
            run_cell(p, d, {.capacity = 3}, p.expected[static_cast<std::size_t>(d)]);
    }
}
