// SPDX-License-Identifier: Apache-2.0
//
// Scheduling: threads arrive, one is picked, and an execution ends.
#include "execution.hpp"

#include <exception>

namespace tactus::inline v0::port::model::detail {

constinit bool running = false;
constinit execution* current_execution = nullptr;

namespace {

std::uint32_t last_serial = 0;  // of all executions of the process: a handle means one of them

constexpr unsigned timeouts_max = 2;  // while others can run; when nobody can, time passes anyway

}  // namespace

execution::execution(const options& how, director& by, const std::function<void()>& body)
    : how_(how), director_(by), body_(body) {}

void execution::begin() {
    serial_ = ++last_serial;
    for (unsigned t = 0; t < thread_count_; ++t) {
        model_thread& old = threads_[t];
        model_thread fresh;
        fresh.exit_calls = std::move(old.exit_calls);
        fresh.instances = std::move(old.instances);
        fresh.memory = std::move(old.memory);
        fresh.exit_calls.clear();
        fresh.instances.clear();
        fresh.memory.clear();
        old = std::move(fresh);
    }
    thread_count_ = 0;
    current_ = 0;
    previous_ = no_thread;
    steps_ = 0;
    ended_ = false;
    discarded_ = false;
    constant_initialising_ = false;
    kind_ = failure::none;
    message_.clear();
    pending_failure_.reset();
    location_count_ = 0;
    saved_.clear();
    allocations_.clear();
    poisoned_.clear();
    promises_.clear();
    trace_.clear();
    taken_.clear();
    director_.begin();
    threads_object_ = add_location({}, location_kind::threads, false);
}

void execution::run() {
    begin();
    const auto call_body = [](void* self) { static_cast<execution*>(self)->body_(); };
    threads_[0].state = status::alive;
    threads_[0].run = call_body;
    threads_[0].with = this;
    threads_[0].clock.set(0, 1);
    threads_[0].spurious_left = how_.spurious_wakeups ? 1 : 0;
    threads_[0].timeouts_left = timeouts_max;
    pending_[0] = {};
    thread_count_ = 1;
    strands_[0].prepare(thread_main, this);
    current_execution = this;
    running = true;
    caller_.leave(strands_[0]);  // comes back when the execution has ended
    running = false;
    current_execution = nullptr;
    for (unsigned t = 0; t < thread_count_; ++t)
        if (threads_[t].state != status::finished)
            strands_[t].drop();
    put_back();
}

void execution::thread_main(void* with) {
    auto& self = *static_cast<execution*>(with);
    std::string escaped;
    try {
        const model_thread& me = self.me();
        me.run(me.with);
    } catch (const std::exception& e) {
        escaped = std::string("an exception left the thread: ") + e.what();
    } catch (...) {
        escaped = "an exception left the thread";
    }
    if (!escaped.empty())
        self.fail(failure::assertion, self.here(where::current()) + ": " + escaped);
    self.finish_thread();
}

/// Returns when the strand is switched to for a thread of another execution.
void execution::finish_thread() {
    while (!me().exit_calls.empty()) {
        const exit_call last = me().exit_calls.back();
        me().exit_calls.pop_back();
        last.call(last.with);
    }
    show(op::finish, no_object, 0, {});
    me().state = status::finished;
    const unsigned self = current_;
    const unsigned next = pick();
    if (next == no_thread) {
        running = false;
        strands_[self].leave(caller_);
        return;
    }
    current_ = next;
    strands_[self].leave(strands_[next]);
}

void execution::arrive(const operation& o) {
    pending_[current_] = o;
    pass_on();
}

/// Returns when the thread that calls is the one that goes on.
void execution::pass_on() {
    const unsigned self = current_;
    const unsigned next = pick();
    if (next == no_thread)
        stop();
    if (next == self)
        return;
    current_ = next;
    strands_[self].leave(strands_[next]);
}

/// Ends the execution where it is.
void execution::stop() {
    ended_ = true;
    running = false;
    strands_[current_].leave(caller_);
    __builtin_unreachable();  // N2: the strand was dropped
}

void execution::fail(failure kind, std::string message) {
    if (!promises_.empty() && !discarded_) {
        // Only real when what was read comes true: the others go on until it does.
        if (!pending_failure_)
            pending_failure_.emplace(kind, std::move(message));
        me().state = status::stuck;
        pass_on();
        __builtin_unreachable();
    }
    if (!discarded_) {
        kind_ = kind;
        message_ = std::move(message);
    }
    stop();
}

bool execution::enabled(unsigned thread, idle_sleepers sleepers) const {
    const model_thread& t = threads_[thread];
    if (t.state != status::alive)
        return false;
    const operation& o = pending_[thread];
    const bool for_no_reason = t.spurious_left > 0;
    switch (o.kind) {
    case op::lock:
        return locations_[o.touched[0].object]->owner == no_thread;
    case op::relock:
        return locations_[o.touched[0].object]->owner == no_thread && (t.woken || for_no_reason);
    case op::sleep_over:
        return t.woken || for_no_reason ||
               (t.timed && (t.timeouts_left > 0 || sleepers == idle_sleepers::may_time_out));
    case op::join:
        return threads_[t.joins].state == status::finished;
    default:
        return true;
    }
}

thread_mask execution::all_enabled() const {
    thread_mask found = 0;
    for (const idle_sleepers s : {idle_sleepers::stay, idle_sleepers::may_time_out}) {
        for (unsigned t = 0; t < thread_count_; ++t)
            if (enabled(t, s))
                found |= bit(t);
        if (found != 0)
            break;
    }
    return found;
}

unsigned execution::pick() {
    const thread_mask able = all_enabled();
    if (able == 0) {
        bool all_finished = true;
        for (unsigned t = 0; t < thread_count_; ++t)
            all_finished = all_finished && threads_[t].state == status::finished;
        if (!promises_.empty())
            discarded_ = true;
        if (discarded_)
            return no_thread;
        if (all_finished) {
            check_leaks();
        } else {
            kind_ = failure::deadlock;
            message_ = deadlock_text();
        }
        return no_thread;
    }
    if (++steps_ > how_.step_limit) {
        kind_ = failure::livelock;
        message_ = "no end after " + std::to_string(how_.step_limit) + " steps";
        if (!promises_.empty())
            discarded_ = true;
        if (discarded_)
            kind_ = failure::none;
        return no_thread;
    }
    thread_mask runnable = 0;
    for_each(able, [&](unsigned t) {
        if ((threads_[t].before & able) == 0)
            runnable |= bit(t);
    });
    if (runnable == 0) {
        for_each(able, [&](unsigned t) { threads_[t].before = 0; });
        runnable = able;
    }
    const bool free_switch =
        previous_ == no_thread || (runnable & bit(previous_)) == 0 || threads_[previous_].gave_way;
    const unsigned chosen = director_.next_thread({runnable, previous_, free_switch, pending_});
    if (director_.diverged() && kind_ == failure::none) {
        kind_ = failure::misuse;
        message_ = "the body behaves differently under the same decisions";
        return no_thread;
    }
    taken_.push_back({false, chosen});
    for (unsigned t = 0; t < thread_count_; ++t) {
        model_thread& other = threads_[t];
        other.before = without(other.before, bit(chosen));
        other.stepped |= bit(chosen);
        other.always_enabled &= able;
    }
    threads_[chosen].gave_way = false;
    previous_ = chosen;
    return chosen;
}

unsigned execution::choose(unsigned count) {
    if (count <= 1)
        return 0;
    const unsigned chosen = director_.choose(count);
    if (director_.diverged())
        fail(failure::misuse, "the body behaves differently under the same decisions");
    taken_.push_back({true, chosen});
    return chosen;
}

/// The current thread did what it had arrived for.
void execution::step(const operation& done, std::uint64_t value, bool old, bool future) {
    director_.stepped(current_, done, locations_, pending_);
    trace_.push_back({done.kind, static_cast<std::uint8_t>(current_), done.memory_order, old,
                      future, done.touched[0].object, value, nullptr, done.at});
    if (done.kind != op::not_exchanged && done.kind != op::compare)
        me().failed_weakly = no_object;
    me().clock.tick(current_);
    if (pending_failure_ && promises_.empty()) {
        kind_ = pending_failure_->first;
        message_ = std::move(pending_failure_->second);
        stop();
    }
}

void execution::give_way(where at) {
    arrive({op::give_way, order::relaxed, at, {}});
    step({op::give_way, order::relaxed, at, {}}, 0);
    note_idle(false);
    model_thread& self = me();
    const thread_mask starved = without(without(self.always_enabled, self.stepped), bit(current_));
    self.starving = starved != 0 ? self.starving + 1 : 0;
    if (self.starving >= how_.patience)
        self.before |= starved;
    self.always_enabled = all_enabled();
    self.stepped = 0;
    self.gave_way = true;
}

unsigned execution::start_thread(void (*call)(void*), void* with, where at) {
    const operation o{op::create, order::relaxed, at, {{{threads_object_, touch_write}, {}}}};
    arrive(o);
    if (thread_count_ == thread_count_max)
        fail(failure::misuse, here(at) + " makes more threads than there may be");
    const unsigned made = thread_count_++;
    step(o, made);
    model_thread& t = threads_[made];
    t.state = status::alive;
    t.run = call;
    t.with = with;
    t.clock = me().clock;
    t.clock.set(current_, now() - 1);  // the creation itself, and nothing after it
    t.clock.set(made, 1);
    t.spurious_left = how_.spurious_wakeups ? 1 : 0;
    t.timeouts_left = timeouts_max;
    pending_[made] = {op::start, order::relaxed, at, {}};
    director_.thread_made(current_, made);
    strands_[made].prepare(
        [](void* self) {
            static_cast<execution*>(self)->step({}, 0);
            thread_main(self);
        },
        this);
    return made;
}

void execution::join_thread(unsigned thread, where at) {
    if (thread >= thread_count_)
        fail(failure::misuse, here(at) + " joins no thread");
    me().joins = thread;
    arrive({op::join, order::relaxed, at, {}});
    me().clock.join(threads_[thread].clock);
    director_.thread_joined(current_, thread);
    step({op::join, order::relaxed, at, {}}, thread);
}

void execution::at_thread_exit(void (*call)(void*) noexcept, void* with) {
    me().exit_calls.push_back({call, with});
}

instance execution::thread_instance(const void* tag, std::size_t size, std::size_t alignment) {
    for (const auto& [known, memory] : me().instances)
        if (known == tag)
            return {memory, false};
    void* memory = me().memory.take(size, alignment);
    me().instances.emplace_back(tag, memory);
    constant_initialising_ = true;
    return {memory, true};
}

unsigned execution::test_choice(unsigned count, where at) {
    const unsigned chosen = choose(count);
    show(op::chosen, no_object, chosen, at);
    remember(op::chosen, 0, chosen);
    return chosen;
}

}  // namespace tactus::inline v0::port::model::detail
