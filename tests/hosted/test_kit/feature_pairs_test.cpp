// SPDX-License-Identifier: Apache-2.0
//
// Goal: every pair of features keeps the rules that hold for all actors, in any order of events.
// Method: each feature adds actions and settings for one actor, the subject. The actions of two
// features are mixed in drawn orders in virtual time, beside a boss that supervises the subject, a
// peer that the subject watches and an observer that watches the subject. After each run
//   sent = handled + dead letters + unhandled;  constructed = destroyed, of messages and instances;
//   the end of each subject is notified once, and that of the peer once per watch;
//   no handler runs on an instance that failed, restarts or has ended; hooks run in their order;
//   a suspended actor, and one whose coroutine waits, handles no message; the world ends.
// A failing run prints its seed and its shortest script. TACTUS_PAIRS=stash+watch and
// TACTUS_SEED=7 run one of them, TACTUS_LONG=1 runs 1,000 orders of each instead of 50.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <tactus/actor/ask.hpp>
#include <tactus/actor/behavior.hpp>

#include "ordered_world.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using tactus_test::ordered_world;
using test::draw_script;
using test::drawn_orders;
using test::drawn_step;
using test::interlude;
using test::script;

namespace {

enum class verb : std::uint8_t {
    // handled by the subject
    note,
    become,
    unbecome,
    stash,  // from now on notes are stashed
    unstash,
    watch,
    watch_with,
    timer,
    idle,
    suspend,
    fail_restart,
    fail_resume,
    fail_stop,
    escalate,
    adapt,
    // done by the script
    wait,   // a message that a coroutine handles
    burst,  // eight notes
    ask,
    pill,
    kill,
    graceful_stop,
    stop_peer,
    fail_peer,
    end_world,
};
constexpr const char* verb_names[] = {
    "note",       "become",   "unbecome",      "stash",         "unstash",       "watch",
    "watch_with", "timer",    "idle",          "suspend",       "restart",       "resume",
    "stop",       "escalate", "adapt",         "wait",          "burst",         "ask",
    "pill",       "kill",     "graceful_stop", "stop the peer", "fail the peer", "end the world"};
static_assert(std::size(verb_names) == static_cast<std::size_t>(verb::end_world) + 1);

enum class feature : std::uint8_t {
    become,
    stash,
    drop_oldest,
    drop_newest,
    reject,
    dead_letter,
    block,
    priority,
    watch,
    watch_with,
    keyed_timer,
    receive_timeout,
    ask,
    coroutine,
    suspend,
    restart,
    backoff,
    escalation,
    poison_pill,
    kill,
    graceful_stop,
    deployment,
    adapter,
    functions,
    system_end,
};
struct feature_row {
    const char* name;
    std::vector<verb> actions;
};
const feature_row features[] = {
    {"become", {verb::become, verb::become, verb::unbecome}},
    {"stash", {verb::stash, verb::note, verb::note, verb::unstash}},
    {"drop_oldest", {verb::burst}},
    {"drop_newest", {verb::burst}},
    {"reject", {verb::burst}},
    {"dead_letter", {verb::burst}},
    {"block", {verb::burst}},
    {"priority", {verb::burst}},
    {"watch", {verb::watch, verb::stop_peer, verb::watch}},
    {"watch_with", {verb::watch_with, verb::stop_peer}},
    {"keyed_timer", {verb::timer, verb::timer}},
    {"receive_timeout", {verb::idle}},
    {"ask", {verb::ask, verb::ask}},
    {"coroutine", {verb::wait, verb::wait}},
    {"suspend", {verb::suspend, verb::suspend}},
    {"restart", {verb::fail_restart, verb::fail_resume, verb::fail_peer}},
    {"backoff", {verb::fail_restart, verb::fail_restart}},
    {"escalation", {verb::escalate, verb::fail_peer}},
    {"poison_pill", {verb::pill}},
    {"kill", {verb::kill}},
    {"graceful_stop", {verb::graceful_stop}},
    {"deployment", {verb::escalate, verb::burst}},
    {"adapter", {verb::adapt, verb::adapt}},
    {"functions", {verb::fail_stop}},
    {"system_end", {verb::end_world}},
};
constexpr std::size_t feature_count = static_cast<std::size_t>(feature::system_end) + 1;
static_assert(std::size(features) == feature_count);

enum class phase : std::uint8_t { made, running, failed, restarting, stopped };
constexpr const char* phase_names[] = {"made", "running", "failed", "restarting", "stopped"};

/// What one run has seen.
struct ledger {
    int sent = 0;
    int handled = 0;
    int lost = 0;  // dead letters and unhandled ones
    int messages = 0;
    int instances = 0;
    int asked = 0;
    int answered = 0;  // with a reply or an error
    int spawned = 0;
    int placed = 0;
    bool ends = false;  // the world was told to
    std::uint64_t now_ms = 0;
    std::optional<phase> at = {};  // of the subject's instance
    std::uint64_t held_until_ms = 0;
    bool waits = false;  // a coroutine does
    bool watches_peer = false;
    bool stashes = false;
    std::vector<any_ref> subjects;
    std::vector<any_ref> ended;  // as the observer was told
    any_ref peer;
    std::string broken;

    void breaks(const std::string& rule) {
        if (broken.empty())
            broken = rule;
    }
};
ledger now;
bool has[feature_count];
bool with(feature f) {
    return has[static_cast<std::size_t>(f)];
}

/// A message that is counted.
struct order {
    verb what;
    explicit order(verb v) : what(v) { ++now.messages; }
    order(const order& o) : what(o.what) { ++now.messages; }
    order& operator=(const order&) = delete;
    ~order() { --now.messages; }
};
struct waiting : order {
    using order::order;
};
struct question {
    actor_ref<int> reply_to;
};
struct tick {};
struct foreign {};  // comes through an adapter
struct peer_ended {};

void enter(const char* handler) {
    if (now.at && *now.at != phase::running)
        now.breaks(std::string(handler) + " handled by an instance that is " +
                   phase_names[static_cast<std::size_t>(*now.at)]);
    if (now.waits)
        now.breaks(std::string(handler) + " handled while a coroutine waits");
    if (now.now_ms < now.held_until_ms)
        now.breaks(std::string(handler) + " handled while suspended");
}
void told_of_peer(const char* how) {
    enter(how);
    if (!std::exchange(now.watches_peer, false))
        now.breaks(std::string(how) + " without a watch, or twice");
}
[[noreturn]] void throw_failure(const char* text) {
    now.at = phase::failed;
    throw std::runtime_error(text);
}

/// What an order does, for classes and functions alike.
template <class Context>
void obey(Context context, const order& o) {
    enter(verb_names[static_cast<std::size_t>(o.what)]);
    ++now.handled;
    switch (o.what) {
    case verb::stash:
        now.stashes = true;
        break;
    case verb::watch:
        now.watches_peer = true;
        context.watch(now.peer);
        break;
    case verb::watch_with:
        now.watches_peer = true;
        context.unwatch(now.peer);
        context.watch_with(now.peer, peer_ended{});
        break;
    case verb::timer:
        (void)context.start_timer_at_fixed_rate("tick", tick{}, duration::from_ms(3));
        break;
    case verb::idle:
        context.set_receive_timeout(duration::from_ms(4));
        break;
    case verb::suspend:
        if (context.suspend(suspend_reason::user_defined,
                            resume_condition::after(duration::from_ms(5))))
            now.held_until_ms = now.now_ms + 5;
        break;
    case verb::fail_restart:
        throw_failure("restart");
    case verb::fail_resume:
        throw_failure("resume");
    case verb::fail_stop:
        throw_failure("stop");
    case verb::escalate:
        throw_failure("escalate");
    default:
        break;
    }
}

/// A child of the subject: a restart waits for its end.
class leaf : public actor<> {
public:
    leaf() { ++now.instances; }
    leaf(const leaf&) = delete;
    leaf& operator=(const leaf&) = delete;
    ~leaf() { --now.instances; }
};

using subject_ref = actor_ref<order, waiting, question, tick, peer_ended>;

template <class Stash>
class subject : public actor<order, waiting, question, tick, peer_ended>, public Stash {
public:
    subject() {
        ++now.instances;
        if (now.at && *now.at != phase::stopped && *now.at != phase::restarting)
            now.breaks("a second instance beside one that is running");
        now.at = phase::made;
        now.held_until_ms = 0;  // a restart ends a suspension
    }
    subject(const subject&) = delete;
    subject& operator=(const subject&) = delete;
    ~subject() {
        --now.instances;
        if (now.at == phase::running)
            now.breaks("destroyed without a hook");
    }
    void pre_start() { begin("pre_start"); }
    void post_restart(const failure_cause& why) {
        if (why.text().empty())
            now.breaks("post_restart without a cause");
        begin("post_restart");
    }
    void pre_restart(const failure_cause&, failed_message) {
        this->context().stop_children();
        if (now.at != phase::running && now.at != phase::failed && now.at != phase::made)
            now.breaks("pre_restart out of order");
        now.at = phase::restarting;
        now.waits = false;
    }
    void post_stop() {
        // Also after pre_restart: a stop may come in the middle of a restart, as in Pekko.
        if (now.at == phase::stopped)
            now.breaks("post_stop out of order");
        now.at = phase::stopped;
    }

    std::expected<void, failure> on(const order& o) {
        if constexpr (requires { this->context().stash(); }) {
            if (o.what == verb::note && now.stashes) {
                enter("stash");
                if (const auto done = this->context().stash(); !done)
                    throw_failure("restart");
                return {};
            }
            if (o.what == verb::unstash) {
                now.stashes = false;
                this->context().unstash_all();
            }
        }
        if (o.what == verb::become)
            put_above();
        if (o.what == verb::adapt)
            this->context()
                .template message_adapter<foreign>([](const foreign&) { return tick{}; })
                .tell(foreign{});
        obey(this->context(), o);
        return {};
    }
    task<> on(const waiting& w) {
        enter(verb_names[static_cast<std::size_t>(w.what)]);
        ++now.handled;
        struct ended {
            ~ended() { now.waits = false; }
        } at_end;
        now.waits = true;
        (void)co_await this->context().delay(duration::from_ms(4));
    }
    void on(const question& q) {
        enter("ask");
        q.reply_to.tell(1);
    }
    void on(tick) { enter("timer"); }
    void on(const peer_ended&) { told_of_peer("watch_with"); }
    void on(const terminated&) { told_of_peer("terminated"); }
    void on(const receive_timeout&) { enter("receive_timeout"); }

private:
    void begin(const char* hook) {
        if (now.at != phase::made)
            now.breaks(std::string(hook) + " out of order");
        now.at = phase::running;
        now.stashes = false;
        (void)this->context().template spawn_anonymous<leaf>();
    }
    void put_above() {
        this->context().become(behavior<order, waiting, question, tick, peer_ended>(
                                   [](auto& ctx, const order& o) {
                                       if (o.what == verb::unbecome)
                                           ctx.unbecome();
                                       obey(ctx, o);
                                   },
                                   [](auto&, const waiting&) { return unhandled; },
                                   [](auto&, const question& q) { q.reply_to.tell(2); },
                                   [](auto&, const tick&) { enter("timer"); },
                                   [](auto&, const peer_ended&) { told_of_peer("watch_with"); }),
                               become_mode::stack);
    }
};
struct no_stash {};

behavior<order, waiting, question, tick, peer_ended> as_functions() {
    return behavior<order, waiting, question, tick, peer_ended>(
        [](auto& ctx, const order& o) { obey(ctx, o); },
        [](auto&, const waiting&) { return unhandled; },
        [](auto&, const question& q) { q.reply_to.tell(3); },
        [](auto&, const tick&) { enter("timer"); },
        [](auto&, const peer_ended&) { told_of_peer("watch_with"); },
        [](auto&, const terminated&) { told_of_peer("terminated"); },
        [](auto&, const receive_timeout&) { enter("receive_timeout"); },
        [](auto&, const pre_restart_signal&) {
            now.at.reset();
            now.held_until_ms = 0;
        });
}

class peer : public actor<order> {
public:
    peer() { ++now.instances; }
    peer(const peer&) = delete;
    peer& operator=(const peer&) = delete;
    ~peer() { --now.instances; }
    void pre_start() { now.peer = context().self(); }
    void on(const order&) {
        ++now.handled;
        throw std::runtime_error("restart");
    }
};

/// Watches every subject from outside.
class observer : public actor<any_ref> {
public:
    void on(const any_ref& who) { context().watch(who); }
    void on(const terminated& m) {
        if (std::ranges::find(now.ended, m.who) != now.ended.end())
            now.breaks("the observer was told twice of one end");
        now.ended.push_back(m.who);
    }
};
/// Asks, and ends the subject gracefully.
class asker : public actor<verb> {
public:
    static constexpr bool reentrant = true;
    task<> on(verb v) {
        const any_ref to = now.subjects.empty() ? any_ref{} : now.subjects.back();
        if (v == verb::ask) {
            ++now.asked;
            const subject_ref who(to);
            (void)co_await context().ask<int>(
                who, [](actor_ref<int> me) { return question{me}; }, duration::from_ms(6));
            ++now.answered;
        } else {
            (void)co_await context().graceful_stop(to, duration::from_ms(20));
        }
    }
};

struct by_verb final : message_order {
    [[nodiscard]] answer before(envelope& a, envelope& b) noexcept override {
        return rank(a) < rank(b) ? answer::yes : answer::no;
    }
    static int rank(envelope& e) {
        const order* o = e.get_if<order>();
        return o == nullptr ? 0 : static_cast<int>(o->what) + 1;
    }
};
by_verb ranks;

mailbox_options mailbox_now() {
    mailbox_options m;
    if (with(feature::stash))
        m.kind = mailbox_kind::deque;
    else if (with(feature::priority))
        m.kind = mailbox_kind::stable_priority;
    for (const auto& [f, how] : {std::pair{feature::drop_oldest, overflow::drop_oldest},
                                 std::pair{feature::drop_newest, overflow::drop_newest},
                                 std::pair{feature::reject, overflow::reject},
                                 std::pair{feature::dead_letter, overflow::dead_letter},
                                 std::pair{feature::block, overflow::block}}) {
        if (with(f)) {
            m.capacity = 3;
            m.when_full = how;
        }
    }
    return m;
}

class boss : public actor<> {
public:
    explicit boss(any_ref told) : told_(told) {}
    void pre_start() {
        (void)context().spawn<peer>("peer");
        const spawn_options how =
            with(feature::deployment)
                ? spawn_options{}
                : spawn_options{.mailbox = mailbox_now(),
                                .order = with(feature::priority) ? &ranks : nullptr};
        any_ref made;
        if (with(feature::functions))
            made = context().try_spawn(as_functions(), "subject", how).value().any();
        else if (with(feature::stash))
            made = context().try_spawn<subject<with_stash<2>>>("subject", how).value().any();
        else
            made = context().try_spawn<subject<no_stash>>("subject", how).value().any();
        ++now.spawned;
        now.at.reset();
        now.waits = now.watches_peer = now.stashes = false;
        now.held_until_ms = 0;
        now.subjects.push_back(made);
        told_.tell(made);
    }
    supervisor_strategy supervision() {
        supervisor_strategy s{.decider = [](const failure_cause& why) {
            if (why.text() == "resume")
                return directive::resume;
            if (why.text() == "stop")
                return directive::stop;
            if (why.text() == "escalate")
                return directive::escalate;
            return default_decider(why);
        }};
        if (with(feature::backoff))
            s.backoff = {
                .min = duration::from_ms(2), .max = duration::from_ms(8), .random_factor = 0};
        if (with(feature::restart))
            s.scope = supervision_scope::all_for_one;
        return s;
    }

private:
    actor_ref<any_ref> told_;
};

struct observed final : world_events {
    void supervised(const decision& d) noexcept override {
        if (now.subjects.empty() || d.child != now.subjects.back())
            return;
        if (d.what == directive::resume)
            now.at = phase::running;
    }
    void dead_letter(any_ref, envelope& e, dead_letter_cause) noexcept override { lose(e); }
    void unhandled(any_ref, envelope& e) noexcept override { lose(e); }
    void message_lost(any_ref, const message_type& t, dead_letter_cause) noexcept override {
        now.lost += &t == &message_type_of<order> || &t == &message_type_of<waiting> ? 1 : 0;
    }
    std::expected<void, spawn_error> place(any_ref, std::string_view name,
                                           spawn_options& how) noexcept override {
        if (name == "subject" && with(feature::deployment)) {
            ++now.placed;
            how.mailbox = mailbox_now();
            how.order = with(feature::priority) ? &ranks : nullptr;
        }
        return {};
    }
    static void lose(envelope& e) noexcept {
        now.lost += e.get_if<order>() != nullptr || e.get_if<waiting>() != nullptr ? 1 : 0;
    }
};

class run_of {
public:
    run_of()
        : world_({.guardian_strategy = {.decider =
                                            [](const failure_cause& why) {
                                                return why.text() == "escalate"
                                                           ? directive::restart
                                                           : default_decider(why);
                                            }},
                  .events = &events_,
                  .places = true}) {
        now = {};
        observer_ = spawn<observer>("observer");
        asker_ = spawn<asker>("asker");
        (void)spawn<boss>("boss", observer_);
        go({.steps = interlude::all_steps});
    }

    void act(const drawn_step<verb>& s) {
        perform(s.what);
        go(s.then);
    }
    void finish() {
        for (int i = 0; i < 60; ++i)
            go({.steps = interlude::all_steps, .ms = 1});
        look_at_watches();
        if (!world_.end())
            now.breaks("the world does not end");
        if (now.sent != now.handled + now.lost)
            now.breaks("sent " + std::to_string(now.sent) + ", handled " +
                       std::to_string(now.handled) + ", lost " + std::to_string(now.lost));
        if (now.messages != 0)
            now.breaks(std::to_string(now.messages) + " messages were not destroyed");
        if (now.instances != 0)
            now.breaks(std::to_string(now.instances) + " instances were not destroyed");
        if (with(feature::deployment) && now.placed != now.spawned)
            now.breaks("spawned " + std::to_string(now.spawned) + " subjects, placed " +
                       std::to_string(now.placed));
    }

private:
    template <class A, class... Args>
    any_ref spawn(std::string_view name, Args... args) {
        return tactus::detail::spawn_by<A>(
                   world_.actors(),
                   [&](const actor_world::spawn_request& r) {
                       return world_.actors().spawn_top(r);
                   },
                   name, {}, std::move(args)...)
            .value()
            .any();
    }
    void go(interlude p) {
        // Time passes a millisecond at a time, so that handlers know it.
        const std::uint32_t ms = std::exchange(p.ms, 0);
        now.now_ms = world_.now_ms();
        world_.run(p);
        for (std::uint32_t i = 0; i < ms; ++i) {
            now.now_ms = world_.now_ms() + 1;
            world_.run({.ms = 1});
        }
    }
    template <class M>
    void send(verb v) {
        ++now.sent;
        now.subjects.back().tell(M(v));
    }
    void perform(verb v) {
        switch (v) {
        case verb::wait:
            send<waiting>(v);
            break;
        case verb::burst:
            for (int i = 0; i < 8; ++i)
                send<order>(verb::note);
            break;
        case verb::ask:
        case verb::graceful_stop:
            asker_.tell(v);
            break;
        case verb::pill:
            now.subjects.back().tell(poison_pill{});
            break;
        case verb::kill:
            now.subjects.back().tell(tactus::kill{});
            break;
        case verb::stop_peer:
            (void)world_.actors().stop(now.peer.index());
            break;
        case verb::fail_peer:
            ++now.sent;
            now.peer.tell(order(v));
            break;
        case verb::end_world:
            now.ends = true;
            world_.actors().terminate();
            break;
        default:
            send<order>(v);
        }
    }
    void look_at_watches() {
        if (now.ends)
            return;
        for (const any_ref& s : now.subjects) {
            const bool lives = world_.lives(s);
            const bool told = std::ranges::find(now.ended, s) != now.ended.end();
            if (lives == told)
                now.breaks(lives ? "an end was told of a subject that lives"
                                 : "the end of a subject was not told");
        }
        if (world_.lives(now.subjects.back()) && !world_.lives(now.peer) && now.watches_peer)
            now.breaks("the end of the peer was not told");
        if (now.answered != now.asked)
            now.breaks("an ask has no outcome");
    }

    observed events_;
    ordered_world world_;
    any_ref observer_;
    any_ref asker_;
};

std::string run_script(const script<verb>& steps) {
    {
        run_of run;
        for (const drawn_step<verb>& s : steps)
            run.act(s);
        run.finish();
    }
    return now.broken;
}

std::string text_of(const script<verb>& steps) {
    return test::to_text(steps,
                         [](verb what) { return verb_names[static_cast<std::size_t>(what)]; });
}

/// A queue has one kind, and a stash needs the one with two ends.
bool fit(feature a, feature b) {
    const auto is_bounded = [](feature f) {
        return f >= feature::drop_oldest && f <= feature::block;
    };
    const bool both_bounded = is_bounded(a) && is_bounded(b);
    const bool two_kinds = a == feature::stash && b == feature::priority;
    const bool no_stash = a == feature::stash && b == feature::functions;
    return !both_bounded && !two_kinds && !no_stash;
}

/// Some actions of other features, so that a pair also meets failures and full mailboxes.
std::vector<verb> with_others(std::vector<verb> actions, std::uint64_t seed) {
    constexpr verb others[] = {verb::fail_restart, verb::fail_resume, verb::suspend,
                               verb::watch,        verb::stop_peer,   verb::fail_peer,
                               verb::burst,        verb::escalate,    verb::wait};
    std::mt19937_64 draw(seed + 1'000);
    for (std::uint64_t count = draw() % 4; count != 0; --count)
        actions.push_back(others[draw() % std::size(others)]);
    return actions;
}

void run_pair(std::size_t a, std::size_t b) {
    const std::string name = std::string(features[a].name) + "+" + features[b].name;
    const char* chosen = std::getenv("TACTUS_PAIRS");
    if (chosen != nullptr && name != chosen)
        return;
    std::fill(std::begin(has), std::end(has), false);
    has[a] = has[b] = true;
    std::vector<verb> actions = features[a].actions;
    actions.insert(actions.end(), features[b].actions.begin(), features[b].actions.end());
    actions.insert(actions.end(), {verb::note, verb::note, verb::note});
    const bool is_long = std::getenv("TACTUS_LONG") != nullptr;
    const drawn_orders orders = drawn_orders{0, is_long ? 1'000U : 50U}.or_of_environment();
    for (std::uint64_t seed = orders.first_seed; seed < orders.first_seed + orders.count; ++seed) {
        const script<verb> steps = draw_script(with_others(actions, seed), seed);
        if (run_script(steps).empty())
            continue;
        const script<verb> shortest = test::shrink(steps, run_script);
        ADD_FAILURE() << run_script(shortest) << "\n  TACTUS_PAIRS=" << name
                      << " TACTUS_SEED=" << seed << "\n  " << text_of(shortest);
        return;
    }
}

class feature_pairs : public testing::TestWithParam<std::size_t> {};

}  // namespace

// DF-9 ... DF-12, DF-42: all pairs in which this feature is the first.
TEST_P(feature_pairs, keep_the_rules_in_every_order) {
    const std::size_t a = GetParam();
    for (std::size_t b = a; b < feature_count; ++b) {
        if (a == b || fit(static_cast<feature>(a), static_cast<feature>(b)))
            run_pair(a, b);
    }
}
INSTANTIATE_TEST_SUITE_P(all, feature_pairs, testing::Range(std::size_t{0}, feature_count),
                         [](const auto& of) { return std::string(features[of.param].name); });
