// SPDX-License-Identifier: Apache-2.0
//
// The two ways to write a snapshot. The order is the same in both.
#include <tactus/scheduler/scheduler_dump.hpp>

#include <tactus/dispatch/text_buffer.hpp>

#include <array>

namespace tactus::inline v0 {
namespace {

/// A line, put together and written when it is complete.
class line {
public:
    explicit line(text_sink& to) noexcept : to_(to) {}
    ~line() {
        to_.write(text_.view());
        to_.write("\n");
    }
    line(const line&) = delete;
    line& operator=(const line&) = delete;

    template <class... Parts>
    line& add(Parts... parts) noexcept {
        (text_.add(parts), ...);
        return *this;
    }
    /// A number that may be missing.
    template <class Number>
    line& add_or(std::string_view before, const std::optional<Number>& n,
                 std::string_view none) noexcept {
        text_.add(before);
        n ? text_.add(*n) : text_.add(none);
        return *this;
    }

private:
    text_sink& to_;
    text_buffer<160> text_;
};

template <class Number>
void put(json_writer& to, std::string_view key, const std::optional<Number>& n) noexcept {
    to.key(key);
    n ? to.value(*n) : to.null();
}

void put(json_writer& to, std::string_view key, const char* text) noexcept {
    to.key(key).value(std::string_view(text));
}

struct mode_name {
    const char* name;
    bool is_there;
};
/// SC-7: beside one_shot.
std::array<mode_name, 3> modes_of(const scheduler_snapshot& s) noexcept {
    return {{{"fixed_rate", s.fixed_rate},
             {"fixed_delay", s.fixed_delay},
             {"manual_clock", s.manual_clock}}};
}

}  // namespace

scheduler_dump::scheduler_dump(text_sink& to, dump_format format, const scheduler_snapshot& of,
                               std::uint32_t jobs_max) noexcept
    : to_(to), json_(to), format_(format), jobs_max_(jobs_max) {
    format == dump_format::json ? begin_json(of) : begin_text(of);
}

void scheduler_dump::job(const job_view& j) noexcept {
    if (jobs_++ < jobs_max_)
        format_ == dump_format::json ? json(j) : text(j);
}

void scheduler_dump::end() noexcept {
    if (format_ == dump_format::json) {
        json_.end_array();
        json_.key("job_count").value(jobs_);
        json_.end_object();
    } else if (jobs_ > jobs_max_) {
        line(to_).add("and ", jobs_ - jobs_max_, " more jobs");
    }
}

void scheduler_dump::begin_text(const scheduler_snapshot& of) noexcept {
    {
        line l(to_);
        l.add("scheduler ", of.is_closed ? "closed" : "open", ", state ", of.state);
        if (of.cause != backpressure_cause::none)
            l.add(" by ", name_of(of.cause));
    }
    line(to_).add("driver ", of.driver.name, " (", of.driver.kind, "): resolution ",
                  of.driver.resolution, ", since ", of.driver.since - instant::epoch(),
                  ", restarts ", of.driver.restarts);
    {
        line l(to_);
        l.add("modes one_shot");
        for (const mode_name& m : modes_of(of))
            l.add(m.is_there ? " " : "", m.is_there ? m.name : "");
    }
    {
        line l(to_);
        l.add("wheel: tick ", of.now, ", slots");
        for (const std::uint32_t n : of.occupied_slots)
            l.add(" ", n);
        l.add(", overflow ", of.overflow_size).add_or(" of ", of.overflow_capacity, "any");
    }
    line(to_)
        .add("timers: active ", of.active)
        .add_or(", quota ", of.quota, "none")
        .add_or(", adaptive quota ", of.adaptive_quota, "none")
        .add(", pending commands ", of.pending_commands);
    line(to_).add("diagnostics: subscribers ", of.diagnostic_counts.subscribers, ", dropped ",
                  of.diagnostic_counts.dropped);
    for (const diagnostics::subscriber& s : of.subscribers)
        line(to_).add("  subscriber ", s.number, ": waiting ", s.waiting, " of ", s.capacity,
                      ", dropped ", s.dropped);
}

void scheduler_dump::text(const job_view& j) noexcept {
    line l(to_);
    l.add("job ", j.id, " ", name_of(j.mode), ", backlog ", j.backlog)
        .add_or(", last fire ", j.last_fire, "none")
        .add_or(", next ", j.next, "none");
    if (j.metadata != 0)
        l.add(", metadata ", j.metadata);
}

void scheduler_dump::begin_json(const scheduler_snapshot& of) noexcept {
    json_.begin_object();
    json_.key("closed").value(of.is_closed);
    put(json_, "state", of.state);
    put(json_, "cause", name_of(of.cause));
    json_.key("driver").begin_object();
    put(json_, "name", of.driver.name);
    put(json_, "kind", of.driver.kind);
    json_.key("resolution_ns").value(static_cast<std::uint64_t>(of.driver.resolution.ns()));
    json_.key("since_ns").value(of.driver.since.ns());
    json_.key("restarts").value(of.driver.restarts);
    json_.end_object();
    json_.key("modes").begin_array();
    json_.value(std::string_view("one_shot"));
    for (const mode_name& m : modes_of(of)) {
        if (m.is_there)
            json_.value(std::string_view(m.name));
    }
    json_.end_array();
    json_.key("tick").value(of.now);
    json_.key("slots").begin_array();
    for (const std::uint32_t n : of.occupied_slots)
        json_.value(n);
    json_.end_array();
    json_.key("overflow").begin_object();
    json_.key("size").value(of.overflow_size);
    put(json_, "capacity", of.overflow_capacity);
    json_.end_object();
    json_.key("active").value(of.active);
    put(json_, "quota", of.quota);
    put(json_, "adaptive_quota", of.adaptive_quota);
    json_.key("pending_commands").value(of.pending_commands);
    json_.key("diagnostics").begin_object();
    json_.key("subscribers").begin_array();
    for (const diagnostics::subscriber& s : of.subscribers) {
        json_.begin_object();
        json_.key("subscriber").value(s.number);
        json_.key("waiting").value(s.waiting);
        json_.key("capacity").value(s.capacity);
        json_.key("dropped").value(s.dropped);
        json_.end_object();
    }
    json_.end_array();
    json_.key("subscriber_count").value(of.diagnostic_counts.subscribers);
    json_.key("dropped").value(of.diagnostic_counts.dropped);
    json_.end_object();
    json_.key("jobs").begin_array();
}

void scheduler_dump::json(const job_view& j) noexcept {
    json_.begin_object();
    json_.key("job").value(j.id);
    put(json_, "mode", name_of(j.mode));
    json_.key("backlog").value(j.backlog);
    put(json_, "last_fire", j.last_fire);
    put(json_, "next", j.next);
    if (j.metadata != 0)
        json_.key("metadata").value(j.metadata);
    json_.end_object();
}

}  // namespace tactus::inline v0
