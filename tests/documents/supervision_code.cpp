// SPDX-License-Identifier: Apache-2.0
//
// The code of docs/supervision.md and docs/watch.md, compiled and run.
#include <tactus/runtime/actor_system.hpp>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>

using namespace tactus;  // NOLINT: as the pages do
using namespace std::chrono_literals;

namespace {

// ---- supervision.md

struct print {
    std::string text;
};
bool has_paper(const std::string& text) {
    return text != "much";
}

std::atomic<int> printed = 0;
std::atomic<int> restarts = 0;

class printer : public actor<print> {
public:
    std::expected<void, failure> on(const print& p) {
        if (p.text.empty())
            throw std::invalid_argument("nothing to print");
        if (p.text == "ink")
            return std::unexpected(failure(7, "no ink"));
        if (!has_paper(p.text))
            context().fail(failure(8, "no paper"));  // and goes on to the end
        ++printed;
        return {};
    }
    void post_restart(const failure_cause& why) {
        ++restarts;
        std::printf("restarted after: %.*s\n", static_cast<int>(why.text().size()),
                    why.text().data());
    }
};

class office : public actor<print> {
public:
    void pre_start() { printer_ = *context().try_spawn<printer>("printer", {}); }
    void on(const print& p) { printer_.tell(p); }
    supervisor_strategy supervision() {
        return {.scope = supervision_scope::one_for_one,
                .max_restarts = 3U,
                .within = duration::from_s(10),
                .decider = [](const failure_cause& why) {
                    return why.is<std::bad_alloc>() ? directive::escalate : default_decider(why);
                }};
    }

private:
    actor_ref<print> printer_;
};

// Strategies with pauses; none of them fails here.
class careful_office : public actor<> {
public:
    supervisor_strategy supervision() {
        supervisor_strategy s = supervision_defaults();  // the default strategy
        s.scope = supervision_scope::all_for_one;
        return s;
    }
};
class patient_office : public actor<> {
public:
    supervisor_strategy supervision() {
        static constexpr restart_pacing patient{
            .restarts = 3, .min = duration::from_ms(100), .max = duration::from_s(10)};
        return {.pacing = &patient};
    }
};

class archive : public actor<print> {
public:
    void pre_start() {
        paper_ = *context().try_spawn<printer>("paper", {});
        film_ = *context().try_spawn<printer>("film", {});
    }
    void on(const print& p) {
        paper_.tell(p);
        film_.tell(p);
    }
    directive decide(any_ref child, const failure_cause& why) {
        if (child == film_.any())
            return directive::resume;  // a picture less
        return why.code() == 7 ? directive::stop : directive::restart;
    }

private:
    actor_ref<print> paper_;
    actor_ref<print> film_;
};

// ---- watch.md

std::atomic<int> left = 0;
std::atomic<int> seen_failing = 0;

class guest : public actor<int> {
public:
    std::expected<void, failure> on(int spent) {
        if (spent < 0)
            return std::unexpected(failure(spent, "no money"));
        context().stop();
        return {};
    }
};

struct arrived {
    actor_ref<int> who;
};

class host : public actor<arrived> {
public:
    void on(const arrived& a) {
        context().watch(a.who);
        ++guests_;
    }
    void on(const terminated& t) {
        context().unwatch(t.who);  // not needed: it comes once
        if (--guests_ == 0)
            left = 1;
    }

private:
    int guests_ = 0;
};

struct room_free {
    int number;
};

class hotel : public actor<arrived, room_free> {
public:
    void on(const arrived& a) { context().watch_with(a.who, room_free{++rooms_}); }
    void on(const room_free& r) { left += r.number; }

private:
    int rooms_ = 0;
};

class bar : public actor<int> {
public:
    void pre_start() {
        guest_ = *context().try_spawn<guest>("guest", {});
        context().watch(guest_);
    }
    void on(int spent) { guest_.tell(spent); }
    void on(const child_failed& f) { seen_failing = f.why->code(); }
    void on(const terminated&) { seen_failing = 1; }
    supervisor_strategy supervision() { return {.decider = &stopping_decider}; }

private:
    actor_ref<int> guest_;
};

bool is_there(actor_system& system, any_ref who) {
    const auto answer = system.ask<actor_identity>(
        who, [](auto me) { return identify{.id = 1, .reply_to = me}; }, 1s);
    return answer && answer->who == who;
}

template <class Condition>
bool soon(Condition condition) {
    for (int i = 0; i < 5'000 && !condition(); ++i)
        std::this_thread::sleep_for(1ms);
    return condition();
}

bool supervises() {
    actor_system system{"press"};
    system.spawn<careful_office>("careful");
    system.spawn<patient_office>("patient");
    const auto o = system.spawn<office>("office");
    for (const char* text : {"a", "", "ink", "much", "b"})
        o.tell(print{text});
    if (!soon([] { return printed == 3 && restarts == 3; }))
        return false;
    o.tell(print{""});  // the fourth within ten seconds: it is stopped
    const auto a = system.spawn<archive>("archive");
    a.tell(print{""});
    a.tell(print{"c"});
    return soon([] { return printed == 5 && restarts == 4; }) && system.exit_code() == 0;
}

bool watches() {
    actor_system system{"inn"};
    const auto first = system.spawn<guest>("first");
    const auto second = system.spawn<guest>("second");
    const bool there = is_there(system, first);
    system.spawn<host>("host").tell(arrived{first});
    first.tell(1);
    if (!there || !soon([] { return left == 1; }) || is_there(system, first))
        return false;
    system.spawn<hotel>("hotel").tell(arrived{second});
    second.tell(1);
    system.spawn<bar>("bar").tell(-3);
    return soon([] { return left == 2 && seen_failing == -3; });
}

}  // namespace

int main() {
    const bool good = supervises() && watches();
    std::puts(good ? "the pages' code works" : "the pages' code does not work");
    return good ? 0 : 1;
}
