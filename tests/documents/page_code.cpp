// SPDX-License-Identifier: Apache-2.0
//
// The C++ that the pages of docs/ show in pieces, in the order of the pages, with what it needs
// around it. code_blocks.py sees that each piece on a page is here; this is compiled and run, so
// that no page shows what does not work. Pages that show a whole program show an example.
//
// usage: page_code      in a folder that may be written to
#include <chrono>
#include <cstdio>
#include <fstream>
#include <latch>
#include <semaphore>
#include <string>
#include <string_view>
#include <utility>

#include <tactus/actor/dead_letter_log.hpp>
#include <tactus/actor/dump_request.hpp>
#include <tactus/actor/event_stream.hpp>
#include <tactus/actor/load_samples.hpp>
#include <tactus/actor/log.hpp>
#include <tactus/actor/path_labels.hpp>
#include <tactus/config/settings.hpp>
#include <tactus/dispatch/dump.hpp>
#include <tactus/dispatch/text_buffer.hpp>
#include <tactus/dispatch/turn.hpp>
#include <tactus/runtime/actor_system.hpp>
#include <tactus/runtime/asio_executor.hpp>
#include <tactus/runtime/dispatchers.hpp>
#include <tactus/runtime/heap_memory.hpp>
#include <tactus/runtime/scheduler_memory.hpp>
#include <tactus/runtime/spdlog_sink.hpp>
#include <tactus/runtime/steady_clock.hpp>
#include <tactus/runtime/timer_memory.hpp>
#include <tactus/time/tick_source.hpp>
#include <tactus/time/timer_wheel.hpp>

using namespace tactus;  // NOLINT: as the pages do

namespace {

// ---- dispatchers.md

bool choose() {
    const auto choice = spawn_choice()
                            .with_dispatcher("app.database")
                            .with_capacity(100)
                            .with_overflow(overflow::drop_oldest);
    return choice.where().dispatcher == "app.database";
}

class thermostat : public tactus::actor<int> {
public:
    using requires_mailbox =
        tactus::requirements<tactus::capability::bounded, tactus::capability::control_aware>;
    void on(int) {}
};

class reads : public actor<int> {
public:
    void on(int) {}
};

bool spawn_by_id(actor_system& system) {
    using reader = reads;
    auto report = system.try_spawn<reader>(
        "report", {.mailbox = {.capacity = 500}, .dispatcher_id = "app.database"});
    auto inbox = system.try_spawn<reader>("inbox", {.mailbox_id = "bounded-deque"});
    return report && inbox;
}
bool spawn_by_id() {
    actor_system::options o;
    o.names = [](resolver& r) -> std::expected<void, std::string> {
        if (!r.add_dispatcher("app.database", {.executor = executor_kind::thread_pool}))
            return std::unexpected("app.database");
        return {};
    };
    actor_system system("shop", o);
    return spawn_by_id(system) && system.try_spawn<thermostat>("thermostat", {});
}

int configure() {
    const auto read = config::read_settings("app.toml");
    if (!read) {
        std::fprintf(stderr, "%s\n", read.error().message().c_str());
        return 1;
    }
    runtime::heap_memory memory;
    resolver names({.memory = &memory, .rules = read->rules()});
    const auto filled = config::fill(*read, names);
    return filled ? 0 : 1;
}

std::binary_semaphore was_read(0);
struct reader {
    void receive(turn&, envelope&) { was_read.release(); }
};

// ---- events.md

struct disk_trouble {
    int disk;
};
struct disk_full : disk_trouble {
    using event_bases = tactus::bases<disk_trouble>;
};

int told_disk = 0;
struct disk_watcher {
    void receive(turn&, envelope& e) {
        if (const disk_trouble* t = e.get_if<disk_trouble>())
            told_disk = t->disk;
        was_read.release();
    }
};

bool subscribe(actor_scheduler& system) {
    runtime::heap_memory memory;
    const mailbox_index who = *system.spawn<disk_watcher>({});
    // clang-format off: the page has the comments below each other
    event_stream stream(memory);  // subscriptions live in a memory_source
    auto changed = stream.subscribe<disk_trouble>(who);  // expected<bool, event_error>
    stream.publish(disk_full{{7}});                      // told as disk_trouble
    changed = stream.unsubscribe<disk_full>(who);        // the rest of disk_trouble still comes
    stream.unsubscribe(who);                             // from everything
    // clang-format on
    was_read.acquire();
    return changed == true && told_disk == 7 && stream.is_empty();
}

int complain(const std::string& why) {
    std::fprintf(stderr, "%s\n", why.c_str());
    return 1;
}

int write_log(int disk) {
    runtime::steady_clock clock;
    auto sink = runtime::spdlog_sink::create({.file = "shop.log"});  // no file: standard error
    if (!sink)
        return complain(sink.error());
    logger log({.sink = sink->get(), .time = &clock, .level = log_level::debug});
    if (log.passes(log_level::debug)) {
        text_buffer<120> line;
        log.write(log_level::debug, line.add("disk ").add(disk).add(" after ").add(5_ms).view(),
                  {.actor = "/user/printer", .dispatcher = "files"});
    }
    dead_letter_log letters({.to = &log, .time = &clock, .max = 10, .suspend = 5_min});
    letters.note({.kind = lost_kind::dropped,
                  .type = &message_type_of<disk_full>,
                  .recipient = "/user/printer",
                  .cause = "mailbox_full"});
    return 0;
}

bool log_lines() {
    std::remove("shop.log");
    if (write_log(7) != 0)
        return false;
    std::ifstream in("shop.log");
    std::string first;
    std::string second;
    return std::getline(in, first) && std::getline(in, second) &&
           first.find(" debug actor=/user/printer dispatcher=files ") != std::string::npos &&
           first.ends_with("disk 7 after 5 ms") && second.ends_with("was dropped (mailbox_full)");
}

bool with_a_crash_reporter() {
    // The program has a crash reporter.
    actor_system system("shop", {.flush_on_fatal_signals = false});
    return true;
}

// ---- mailboxes.md

struct repair {
    int urgency;
};
/// Orders repairs by urgency; other messages, such as signals, keep their order of arrival.
struct by_urgency {
    bool before(envelope& a, envelope& b) const {
        const repair* const x = a.get_if<repair>();
        const repair* const y = b.get_if<repair>();
        return x != nullptr && y != nullptr && x->urgency > y->urgency;
    }
};

class mechanic : public actor<repair> {
public:
    mechanic(std::latch* begin, std::latch* all) : begin_(begin), all_(all) {}
    void on(repair r) {
        begin_->wait();  // until all have come
        in_order_ = in_order_ && r.urgency <= last_;
        last_ = r.urgency;
        if (in_order_)
            all_->count_down();
    }

private:
    std::latch* begin_;
    std::latch* all_;
    int last_ = 1'000;
    bool in_order_ = true;
};

bool repair_by_urgency() {
    std::latch begin(1);
    std::latch all(4);
    by_urgency urgency;
    message_order_of<by_urgency> order(urgency);  // both outlive the actor
    actor_system system("shop");
    const auto workshop = *system.try_spawn<mechanic>(
        "workshop", {.mailbox = {.kind = mailbox_kind::priority}, .order = &order}, &begin, &all);
    for (const int urgency_of : {100, 1, 5, 9})
        workshop.tell(repair{urgency_of});
    begin.count_down();
    all.wait();
    return true;
}

// ---- observability.md

struct count_of_metrics final : metrics_sink {
    void counter(const metric_info&, std::string_view, std::uint64_t) noexcept override { ++all; }
    void gauge(const metric_info&, std::string_view, std::uint64_t) noexcept override { ++all; }
    void histogram(const metric_info&, std::string_view, const histogram_sums&) noexcept override {
        ++all;
    }
    int all = 0;
};
struct dump_text final : text_sink {
    void write(std::string_view part) noexcept override { all += part; }
    std::string all;
};

bool observe(actor_scheduler& system) {
    dump_text to;
    dump_dispatchers(system, to, {.format = dump_format::json});  // or text; `to` takes characters
    return to.all.starts_with('{');
}

/// Reads one dump and one sample.
class dump_reader : public actor<dump_reply, mailbox_sample> {
public:
    explicit dump_reader(std::latch* both) : both_(both) {}
    void on(dump_reply&& r) { note(dumped_, !r.is_cut()); }
    void on(const mailbox_sample& s) { note(sampled_, s.capacity == 0); }

private:
    void note(bool& done, bool good) {
        if (good && !std::exchange(done, true))
            both_->count_down();
    }
    std::latch* both_;
    bool dumped_ = false;
    bool sampled_ = false;
};

bool observe_actors() {
    std::latch both(2);
    actor_system system("shop");
    const auto reader = system.spawn<dump_reader>("reader", &both);
    const any_ref watcher = reader;
    system.world().system_guardian().tell(dump_request{.reply_to = reader});
    const auto subscribed = system.world().subscribe<mailbox_sample>(watcher);
    both.wait();
    count_of_metrics sink;
    // clang-format off: the page has the comments below each other
    actor_scheduler& kernel = system.world().kernel();
    kernel.set_metrics_sink(&sink);  // from now on; nullptr removes it
    kernel.collect_metrics();        // hands the sums to the sink, on this thread, under no lock
    // clang-format on
    if (sink.all == 0)
        return false;
    constexpr std::string_view chosen[] = {"/user/orders", "/user/payment/**"};
    path_labels labels(system.world(), chosen);
    system.world().kernel().set_metrics_sink(&sink, &labels);
    const bool collected = system.world().kernel().collect_metrics() && sink.all > 0;
    system.world().kernel().set_metrics_sink(nullptr);
    return collected && subscribed && *subscribed;
}

bool run_dispatchers() {
    runtime::scheduler_memory memory;
    runtime::steady_clock time;
    const dispatcher_config first{.workers = 2};
    actor_scheduler system(memory.fill(runtime::dispatchers::fill({.time = &time}, first)));
    runtime::dispatchers all(system, {.system_name = "shop"},
                             {.id = default_dispatcher_id, .config = first});
    auto files =
        all.add({.id = "files", .config = {.executor = executor_kind::thread_pool, .workers = 8}});
    auto who = system.spawn<reader>({.dispatcher = files->number()});
    actor_scheduler::tell(*who, 1);
    was_read.acquire();
    return subscribe(system) && observe(system) && all.shut_down(std::chrono::seconds(10));
}

bool run_on_asio() {
    boost::asio::io_context io;
    runtime::asio_executor on(io);
    runtime::heap_memory heap;
    resolver names({.memory = &heap});
    runtime::scheduler_memory memory;
    runtime::steady_clock time;
    const dispatcher_config first{.workers = 1};
    actor_scheduler system(memory.fill(runtime::dispatchers::fill({.time = &time}, first)));
    runtime::dispatchers all(system, {.names = &names, .default_executor = &on},
                             {.id = internal_dispatcher_id, .config = first});
    auto where = all.find(default_dispatcher_id);  // runs when the program calls io.run()
    actor_scheduler::tell(*system.spawn<reader>({.dispatcher = where->number()}), 1);
    io.run();
    return was_read.try_acquire();
}

// ---- time.md

std::uint64_t run_ticks = 0;
void run(std::uint64_t ticks) {
    run_ticks += ticks;
}

bool pull_ticks() {
    tactus::tick_source source({.catch_up_window = 32});
    auto lease = source.acquire();
    source.notify_tick(3);  // somewhere else
    while (const auto event = lease.try_pull()) {
        tactus::tick_chunks chunks(event->ticks, 1024);
        while (const auto n = chunks.next())
            run(n);
    }
    return run_ticks == 3;
}

int report(timer_error) {
    return 1;
}
void use(std::uint64_t) {}

int use_wheel() {
    constexpr std::uint64_t payload = 7;
    // clang-format off: the page has the comments below each other
    tactus::runtime::timer_memory memory;                       // grows as needed
    tactus::runtime::steady_clock clock;
    auto made = tactus::timer_wheel::create(memory.options({.start = clock.now()}));
    if (!made)
        return report(made.error());
    tactus::timer_wheel& wheel = *made;

    auto timer = wheel.insert(clock.now(), 30_ms, payload);     // expected<timer_handle, ...>
    auto moved = wheel.reschedule(*timer, clock.now(), 50_ms);  // expected<void, ...>
    bool stopped = wheel.cancel(*timer);                        // true, and false ever after
    auto next = wheel.next_deadline();                          // when to call advance again
    wheel.advance(clock.now(), [](const tactus::expired_timer& t) { use(t.payload); });
    // clang-format on
    return moved && stopped && !next ? 0 : 1;
}

}  // namespace

int main() {
    std::ofstream("app.toml") << "[dispatchers.\"app.database\"]\nworkers = 4\n";
    const bool good = choose() && spawn_by_id() && configure() == 0 && run_dispatchers() &&
                      observe_actors() && run_on_asio() && log_lines() && with_a_crash_reporter() &&
                      repair_by_urgency() && pull_ticks() && use_wheel() == 0;
    std::puts(good ? "the pages' code works" : "the pages' code does not work");
    return good ? 0 : 1;
}
