// SPDX-License-Identifier: Apache-2.0
//
// Waiting, and the texts of what did not come.
#include <tactus/test_kit/probe_core.hpp>

#include <algorithm>
#include <atomic>

namespace tactus::inline v0::test {
namespace {

class string_sink final : public text_sink {
public:
    void write(std::string_view piece) noexcept override { text += piece; }
    std::string text;
};

}  // namespace

std::string unique_name(std::string_view prefix) {
    static std::mutex mutex;
    static std::uint64_t last = 0;
    const std::lock_guard held(mutex);
    return std::string(prefix) + "-" + std::to_string(++last);
}

std::string probe_host::path_of(any_ref who) {
    if (!who)
        return "nobody";
    string_sink to;
    world().write_path(who.index(), to);
    return std::move(to.text);
}

probe_core::probe_core(probe_host& host, std::string name) : host_(host), name_(std::move(name)) {}

// ---- the actor's

void probe_core::deliver(std::unique_ptr<received_message> m) {
    pilot_function flies;
    {
        const std::lock_guard held(place_.mutex);
        flies = pilot_;
    }
    // Without the lock: what a pilot tells may come back here.
    if (flies && flies(m->sender(), *m) == pilot::leave) {
        const std::lock_guard held(place_.mutex);
        pilot_ = nullptr;
    }
    const std::lock_guard held(place_.mutex);
    if (ignore_ && ignore_(*m))
        return;
    queue_.push_back(std::move(m));
    place_.changed.notify_all();
}

void probe_core::ended(any_ref who) {
    const std::lock_guard held(place_.mutex);
    ended_.push_back(who);
    place_.changed.notify_all();
}

void probe_core::close(any_ref self) {
    std::deque<std::unique_ptr<received_message>> left;
    {
        const std::lock_guard held(place_.mutex);
        left.swap(queue_);
    }
    for (const auto& m : left)
        m->give_to(self);
}

supervisor_strategy probe_core::strategy() {
    const std::lock_guard held(place_.mutex);
    return strategy_;
}

// ---- the test's

bool probe_core::wait(duration max, const std::function<bool()>& ready,
                      const std::source_location& where) {
    if (worker::current() != nullptr)
        fail("an expectation would wait within an actor", where);
    return host_.wait(place_, host_.now() + max, ready, where);
}

std::unique_ptr<received_message> probe_core::next(duration max,
                                                   const std::source_location& where) {
    std::unique_ptr<received_message> m;
    const bool came = wait(
        max,
        [&] {
            if (queue_.empty())
                return false;
            m = std::move(queue_.front());
            queue_.pop_front();
            return true;
        },
        where);
    last_was_silence_ = !came;
    if (came)
        last_sender_ = m->sender();
    return m;
}

bool probe_core::has_messages() {
    const std::lock_guard held(place_.mutex);
    return !queue_.empty();
}

bool probe_core::knows_ended(any_ref who) {
    const std::lock_guard held(place_.mutex);
    return std::ranges::find(ended_, who) != ended_.end();
}

bool probe_core::await_end(any_ref who, duration max, const std::source_location& where) {
    watch(who);
    const bool came = wait(max, [&] { return std::erase(ended_, who) != 0; }, where);
    if (came)
        std::erase(watched_, who);
    last_was_silence_ = false;
    return came;
}

bool probe_core::await(duration max, const std::function<bool()>& done,
                       const std::source_location& where) {
    return wait(max, done, where);
}

void probe_core::note(const std::function<void()>& change) {
    const std::lock_guard held(place_.mutex);
    change();
    place_.changed.notify_all();
}

void probe_core::watch(any_ref who) {
    if (std::ranges::find(watched_, who) != watched_.end())
        return;
    watched_.push_back(who);
    order([who](actor_context c) { c.watch(who); });
}

void probe_core::unwatch(any_ref who) {
    std::erase(watched_, who);
    order([who](actor_context c) { c.unwatch(who); });
    const std::lock_guard held(place_.mutex);
    std::erase(ended_, who);
}

// ---- how long

duration probe_core::limit(std::optional<duration> said) const {
    if (said)
        return host_.times().dilated(*said);
    if (!end_)
        return host_.times().dilated(host_.times().expect);
    const duration rest = *end_ - host_.now();
    return rest > duration::zero() ? rest : duration::zero();
}

duration probe_core::quiet_limit(std::optional<duration> said) const {
    return host_.times().dilated(said.value_or(host_.times().no_message));
}

probe_core::window probe_core::open_window(duration min, duration max) {
    const window w{host_.now(), end_, min, host_.times().dilated(max)};
    const instant end = w.begin + w.max;
    end_ = end_ && *end_ < end ? *end_ : end;
    last_was_silence_ = false;
    return w;
}

void probe_core::close_window(const window& w, const std::source_location& where) {
    leave_window(w);
    const duration took = host_.now() - w.begin;
    if (took < w.min)
        fail("block took " + describe(took) + ", should at least have been " + describe(w.min),
             where);
    // Who waited for silence to the end is not late for it.
    if (took > w.max && !last_was_silence_)
        fail("block took " + describe(took) + ", exceeding " + describe(w.max), where);
}

// ---- texts

void probe_core::fail(const std::string& text, const std::source_location& where) const {
    test::fail(name_ + ": " + text + (hint_.empty() ? "" : "; hint: " + hint_) +
                   host_.take_recent_failures(),
               where);
}

void probe_core::fail_late(duration limit, instant since, const std::string& during,
                           const std::source_location& where) {
    fail(
        "timeout (" + describe(limit) + ") " + during + ", waited " + describe(host_.now() - since),
        where);
}

// ---- settings

void probe_core::set_pilot(pilot_function p) {
    const std::lock_guard held(place_.mutex);
    pilot_ = std::move(p);
}
void probe_core::set_ignore(ignore_function f) {
    const std::lock_guard held(place_.mutex);
    ignore_ = std::move(f);
}
void probe_core::set_strategy(const supervisor_strategy& s) {
    const std::lock_guard held(place_.mutex);
    strategy_ = s;
}

}  // namespace tactus::inline v0::test
