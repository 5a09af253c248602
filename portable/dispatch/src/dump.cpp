// SPDX-License-Identifier: Apache-2.0
//
// What is looked at for a dump, once, and the two ways to write it.
#include <tactus/dispatch/dump.hpp>

#include "numerals.hpp"

namespace tactus::inline v0 {
namespace {

constexpr lane lanes[] = {lane::cancel, lane::timed, lane::ready};

struct dispatcher_view {
    explicit dispatcher_view(dispatcher& d) noexcept : at(d) {
        for (std::size_t i = 0; i < std::size(lanes); ++i)
            queued[i] = d.order().queued_count(lanes[i]);
        for (std::uint32_t i = 0; i < d.worker_count(); ++i)
            running += d.worker_at(i).running() != nullptr ? 1 : 0;
        sleeping = d.order().idle().sleeping_count();
        searching = d.order().idle().searching_count();
        parked = d.parked();
    }
    dispatcher& at;
    std::uint32_t queued[std::size(lanes)];
    std::uint32_t running = 0;
    std::uint32_t sleeping;
    std::uint32_t searching;
    std::uint32_t parked;
};

/// An actor, seen from outside; `exists` is false when it ended while it was looked at.
struct actor_view {
    actor_view(actor_scheduler& system, slot& s, actor_notes* notes) noexcept
        : ref(system.slots().index_of(s)),
          state(s.state().state()),
          user_len(s.user_length()),
          system_len(s.system_length()),
          dispatcher_number(s.dispatcher_number()) {
        if (s.state().suspended() && state != mailbox_state::closing)
            note(system, s);
        runs_on(system, s);
        if (notes != nullptr) {
            path = notes->path_of(ref, path_room_);
            waits_for = notes->waits_for(s);
        }
        exists = ref.valid() && state != mailbox_state::closed && s.generation() == ref.generation;
    }

    mailbox_index ref;
    mailbox_state state;
    std::uint32_t user_len;
    std::uint32_t system_len;
    std::uint32_t dispatcher_number;
    std::optional<std::uint32_t> worker_number;
    std::optional<held_reason> held;
    std::optional<std::uint64_t> since_ms;
    std::string_view path;       // empty: nobody knows
    std::string_view waits_for;  // empty: for messages
    bool exists = false;

private:
    char path_room_[192];

    void note(actor_scheduler& system, slot& s) noexcept {
        // Supervision decides over who awaits, too.
        const bool supervised = s.state().suspend_count(suspension::supervision) != 0;
        const std::uint32_t noted =
            s.held_note(supervised ? suspension::supervision : suspension::await);
        held = static_cast<held_reason>(noted & ((1U << slot::held_why_bits) - 1));
        if (!system.measures().has_time())
            return;
        // Of the time 29 bits are kept: right for what has lasted less than 49 days.
        const auto now =
            static_cast<std::uint64_t>(system.measures().now_ns()) / slot::held_unit_ns;
        constexpr std::uint64_t kept = ~std::uint32_t{0} >> slot::held_why_bits;
        const std::uint64_t since = now - ((now - (noted >> slot::held_why_bits)) & kept);
        since_ms = since * (slot::held_unit_ns / 1'000'000);
    }
    void runs_on(actor_scheduler& system, slot& s) noexcept {
        // Who waits in a lane does not run, even if a worker has not looked up since it did.
        const std::uint32_t ticket = s.ticket().load(std::memory_order_relaxed);
        if (!s.state().scheduled() || (ticket & ticket::phase_mask) != ticket::apart)
            return;
        dispatcher* d = system.dispatcher_at(dispatcher_number);
        for (std::uint32_t i = 0; d != nullptr && i < d->worker_count(); ++i) {
            if (d->worker_at(i).running() == &s)
                worker_number = i;
        }
    }
};

/// Calls for each actor there is, up to a number; how many there are.
template <class Visit>
std::uint32_t for_each_actor(actor_scheduler& system, const dump_options& o,
                             Visit&& visit) noexcept {
    std::uint32_t count = 0;
    for (std::uint32_t i = 0; i < system.slots().constructed_count(); ++i) {
        slot& s = system.slots().at(i);
        if (s.state().closed())
            continue;
        if (count >= o.actors_max) {
            ++count;
            continue;
        }
        const actor_view a(system, s, o.notes);
        if (!a.exists)
            continue;
        ++count;
        visit(a);
    }
    return count;
}

/// system:slot:generation
class index_text {
public:
    explicit index_text(mailbox_index i) noexcept {
        add(numeral(i.system_number()));
        add(":");
        add(numeral(i.slot_number()));
        add(":");
        add(numeral(i.generation));
    }
    operator std::string_view() const noexcept { return {text_, size_}; }  // NOLINT: it is one

private:
    void add(std::string_view piece) noexcept {
        for (const char c : piece)
            text_[size_++] = c;
    }
    char text_[2 + 1 + 8 + 1 + 10];
    std::size_t size_ = 0;
};

class text_dump {
public:
    text_dump(actor_scheduler& system, text_sink& to) noexcept : system_(system), to_(to) {}

    void run(const dump_options& o) noexcept {
        say("system ", system_.system_number());
        to_.write(" ");
        to_.write(name_of(system_.phase()));
        to_.write("\n");
        write(system_.driven_by());
        for (std::uint32_t d = 0; system_.dispatcher_at(d) != nullptr; ++d)
            write(dispatcher_view(*system_.dispatcher_at(d)));
        const std::uint32_t count =
            for_each_actor(system_, o, [this](const actor_view& a) { write(a); });
        if (count > o.actors_max)
            say("and ", count - o.actors_max, " more actors\n");
    }

private:
    void say(std::string_view before, std::uint64_t n, std::string_view after = {}) noexcept {
        to_.write(before);
        to_.write(numeral(n));
        to_.write(after);
    }
    void write(const driver_view& v) noexcept {
        if (*v.name == '\0')
            return;
        to_.write("driver ");
        to_.write(v.name);
        to_.write(" (");
        to_.write(v.kind);
        say("): resolution ", static_cast<std::uint64_t>(v.resolution.ns()), " ns");
        say(", since ", v.since.ns() / 1'000'000, " ms");
        say(", restarts ", v.restarts, "\n");
    }
    void write(const dispatcher_view& v) noexcept {
        say("dispatcher ", v.at.number(), ": queued");
        for (std::size_t i = 0; i < std::size(lanes); ++i) {
            to_.write(" ");
            to_.write(name_of(lanes[i]));
            say(" ", v.queued[i]);
        }
        say("; workers ", v.at.worker_count());
        say(", running ", v.running);
        say(", sleeping ", v.sleeping);
        say(", searching ", v.searching);
        say(", parked ", v.parked, "\n");
        for (std::uint32_t i = 0; i < v.at.worker_count(); ++i) {
            const slot* s = v.at.worker_at(i).running();
            say("  worker ", i, ": ");
            if (const worker_supply* from = v.at.supply()) {
                to_.write(from->state_name(i));
                to_.write(", runs ");
            }
            to_.write(s != nullptr ? std::string_view(index_text(system_.slots().index_of(*s)))
                                   : "none");
            to_.write("\n");
        }
    }
    void write(const actor_view& a) noexcept {
        to_.write("actor ");
        to_.write(index_text(a.ref));
        to_.write(" ");
        to_.write(name_of(a.state));
        say(", user_len ", a.user_len);
        say(", system_len ", a.system_len);
        say(", dispatcher ", a.dispatcher_number);
        if (a.worker_number)
            say(", worker ", *a.worker_number);
        if (a.held) {
            to_.write(", suspended by ");
            to_.write(name_of(*a.held));
            if (a.since_ms)
                say(" since ", *a.since_ms, " ms");
        }
        if (!a.waits_for.empty()) {
            to_.write(", waits for ");
            to_.write(a.waits_for);
        }
        if (!a.path.empty()) {
            to_.write(", ");
            to_.write(a.path);
        }
        to_.write("\n");
    }

    actor_scheduler& system_;
    text_sink& to_;
};

class json_dump {
public:
    json_dump(actor_scheduler& system, text_sink& to) noexcept : system_(system), to_(to) {}

    void run(const dump_options& o) noexcept {
        to_.begin_object();
        to_.key("system").value(system_.system_number());
        to_.key("phase").value(std::string_view(name_of(system_.phase())));
        write(system_.driven_by());
        to_.key("dispatchers").begin_array();
        for (std::uint32_t d = 0; system_.dispatcher_at(d) != nullptr; ++d)
            write(dispatcher_view(*system_.dispatcher_at(d)));
        to_.end_array();
        to_.key("actors").begin_array();
        const std::uint32_t count =
            for_each_actor(system_, o, [this](const actor_view& a) { write(a); });
        to_.end_array();
        to_.key("actor_count").value(count);
        to_.end_object();
    }

private:
    void number(std::string_view name, std::uint64_t n) noexcept { to_.key(name).value(n); }
    void write(mailbox_index ref) noexcept {
        to_.begin_object();
        number("system", ref.system_number());
        number("slot", ref.slot_number());
        number("generation", ref.generation);
        to_.end_object();
    }
    void write(const driver_view& v) noexcept {
        if (*v.name == '\0')
            return;
        to_.key("driver").begin_object();
        to_.key("name").value(std::string_view(v.name));
        to_.key("kind").value(std::string_view(v.kind));
        number("resolution_ns", static_cast<std::uint64_t>(v.resolution.ns()));
        number("since_ns", v.since.ns());
        number("restarts", v.restarts);
        to_.end_object();
    }
    void write(const dispatcher_view& v) noexcept {
        to_.begin_object();
        number("dispatcher", v.at.number());
        to_.key("queued").begin_object();
        for (std::size_t i = 0; i < std::size(lanes); ++i)
            number(name_of(lanes[i]), v.queued[i]);
        to_.end_object();
        number("running", v.running);
        number("sleeping", v.sleeping);
        number("searching", v.searching);
        number("parked", v.parked);
        to_.key("workers").begin_array();
        for (std::uint32_t i = 0; i < v.at.worker_count(); ++i) {
            to_.begin_object();
            number("worker", i);
            if (const worker_supply* from = v.at.supply())
                to_.key("state").value(std::string_view(from->state_name(i)));
            to_.key("runs");
            if (const slot* s = v.at.worker_at(i).running())
                to_.value(index_text(system_.slots().index_of(*s)));
            else
                to_.null();
            to_.end_object();
        }
        to_.end_array();
        to_.end_object();
    }
    void write(const actor_view& a) noexcept {
        to_.begin_object();
        to_.key("actor").value(index_text(a.ref));
        to_.key("ref");
        write(a.ref);
        if (!a.path.empty())
            to_.key("path").value(a.path);
        number("user_len", a.user_len);
        number("system_len", a.system_len);
        to_.key("state").value(std::string_view(name_of(a.state)));
        number("dispatcher", a.dispatcher_number);
        to_.key("worker");
        if (a.worker_number)
            to_.value(std::uint64_t{*a.worker_number});
        else
            to_.null();
        to_.key("suspended");
        if (a.held) {
            to_.begin_object();
            to_.key("reason").value(std::string_view(name_of(*a.held)));
            to_.key("since");
            if (a.since_ms)
                to_.value(*a.since_ms);
            else
                to_.null();
            to_.end_object();
        } else {
            to_.null();
        }
        if (!a.waits_for.empty())
            to_.key("waits_for").value(a.waits_for);
        to_.end_object();
    }

    actor_scheduler& system_;
    json_writer to_;
};

}  // namespace

void dump_dispatchers(actor_scheduler& system, text_sink& to, const dump_options& o) noexcept {
    if (o.format == dump_format::json)
        json_dump(system, to).run(o);
    else
        text_dump(system, to).run(o);
}

}  // namespace tactus::inline v0
