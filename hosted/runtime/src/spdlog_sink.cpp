// SPDX-License-Identifier: Apache-2.0
//
// The pool and the logger are our own: the registry of spdlog belongs to the program, which may use
// spdlog itself.
#include <tactus/runtime/spdlog_sink.hpp>

#include "log_flush.hpp"
#include "signals_blocked.hpp"

#include <tactus/port/port.hpp>

#include <exception>
#include <iterator>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <pthread.h>
#include <spdlog/async.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>

namespace tactus::inline v0::runtime {
namespace {

constexpr const char* pattern = "%Y-%m-%d %H:%M:%S.%e %l %v";

spdlog::level::level_enum level_of(log_level level) noexcept {
    switch (level) {
    case log_level::off:
        break;
    case log_level::error:
        return spdlog::level::err;
    case log_level::warning:
        return spdlog::level::warn;
    case log_level::info:
        return spdlog::level::info;
    case log_level::debug:
        return spdlog::level::debug;
    }
    return spdlog::level::off;
}

void append(fmt::memory_buffer& line, std::string_view text) {
    line.append(text.data(), text.data() + text.size());
}
void append_field(fmt::memory_buffer& line, std::string_view name, std::string_view value) {
    if (value.empty())
        return;
    append(line, name);
    append(line, value);
    append(line, " ");
}
/// One record is one line, whatever its text says.
void append_shown(fmt::memory_buffer& line, std::string_view text) {
    for (const char c : text) {
        const auto code = static_cast<unsigned char>(c);
        if (c == '\n')
            append(line, "\\n");
        else if ((code < 0x20 && c != '\t') || code == 0x7f)
            fmt::format_to(std::back_inserter(line), "\\x{:02x}", code);
        else
            line.push_back(c);
    }
}

}  // namespace

/// What the log's thread writes to: it flushes when nothing is left in the queue, and its account
/// knows that.
class accounted_sink final : public spdlog::sinks::sink {
public:
    accounted_sink(spdlog::sink_ptr to, log_account* account)
        : to_(std::move(to)), account_(account) {}
    /// Before anything is logged.
    void read_from(spdlog::details::thread_pool& pool) { pool_ = &pool; }

    void log(const spdlog::details::log_msg& m) override {
        try {
            to_->log(m);
        } catch (...) {
            written();
            throw;
        }
        written();
    }
    void flush() override { to_->flush(); }
    void set_pattern(const std::string& p) override { to_->set_pattern(p); }
    void set_formatter(std::unique_ptr<spdlog::formatter> f) override {
        to_->set_formatter(std::move(f));
    }

private:
    /// What the flush throws is the logger's to count.
    void written() {
        const auto is_empty = [this] { return pool_->queue_size() == 0; };
        const auto flush_it = [this] { to_->flush(); };
        if (account_ != nullptr)
            account_->written(is_empty, flush_it);
        else if (is_empty())
            flush_it();
    }

    spdlog::sink_ptr to_;
    log_account* account_;
    spdlog::details::thread_pool* pool_ = nullptr;
};

struct spdlog_sink::parts {
    explicit parts(const options& o)
        : back(o.file.empty() ? spdlog::sink_ptr(std::make_shared<spdlog::sinks::stderr_sink_mt>())
                              : std::make_shared<spdlog::sinks::basic_file_sink_mt>(o.file)),
          counted(std::make_shared<accounted_sink>(back, account.get())),
          pool(std::make_shared<spdlog::details::thread_pool>(o.queue_capacity, 1,
                                                              [of = account.get()] {
                                                                  pthread_setname_np(pthread_self(),
                                                                                     "tactus-log");
                                                                  if (of != nullptr)
                                                                      of->runs_here();
                                                              })),
          front(std::make_shared<spdlog::async_logger>(
              "tactus", counted, pool,
              o.full == when_full::wait ? spdlog::async_overflow_policy::block
                                        : spdlog::async_overflow_policy::overrun_oldest)) {
        counted->read_from(*pool);
        front->set_level(spdlog::level::trace);  // what comes here has passed
        front->set_pattern(pattern);
        front->flush_on(spdlog::level::warn);
        front->set_error_handler([this](const std::string&) { count_failed(); });
    }

    void count_failed() noexcept {
        failed.fetch_add(1, std::memory_order_relaxed);  // a count, and nothing else
    }

    struct release {
        void operator()(log_account* a) const noexcept { a->release(); }
    };
    port::atomic<std::uint32_t> failed{0};
    spdlog::sink_ptr back;
    // None: there are too many logs, and the process does not wait for this one before it ends.
    std::unique_ptr<log_account, release> account{log_account::claim()};
    std::shared_ptr<accounted_sink> counted;
    std::shared_ptr<spdlog::details::thread_pool> pool;
    std::shared_ptr<spdlog::async_logger> front;
};

spdlog_sink::spdlog_sink(std::unique_ptr<parts> made) noexcept : parts_(std::move(made)) {}

std::expected<std::unique_ptr<spdlog_sink>, std::string> spdlog_sink::create(const options& o) {
    try {
        const signals_blocked blocked;  // for the thread of the pool
        return std::unique_ptr<spdlog_sink>(new spdlog_sink(std::make_unique<parts>(o)));
    } catch (const std::exception& e) {
        return std::unexpected(std::string("no log can be written: ") + e.what());
    }
}

spdlog_sink::~spdlog_sink() {
    try {
        const std::uint64_t dropped = parts_->pool->overrun_counter();
        // Its end writes what is queued, and waits for that.
        parts_->pool.reset();
        const std::uint64_t all = dropped + parts_->failed.load(std::memory_order_relaxed);
        if (all != 0) {
            const std::string line = fmt::format("{} log records were lost", all);
            parts_->back->log(spdlog::details::log_msg("tactus", spdlog::level::warn, line));
        }
        parts_->back->flush();
    } catch (...) {
        return;  // the disk is full, or gone: there is nobody left to say so to
    }
}

void spdlog_sink::write(const log_record& r) noexcept {
    log_account* const account = parts_->account.get();
    if (account != nullptr && !account->begin()) {
        parts_->count_failed();
        return;
    }
    const struct ending {
        log_account* account;
        ~ending() {
            if (account != nullptr)
                account->end();
        }
    } then{account};
    try {
        char thread_name[16] = {};
        std::string_view thread = r.from.thread;
        if (thread.empty() &&
            pthread_getname_np(pthread_self(), thread_name, sizeof thread_name) == 0)
            thread = thread_name;
        fmt::memory_buffer line;
        append_field(line, "actor=", r.from.actor);
        append_field(line, "dispatcher=", r.from.dispatcher);
        append_field(line, "thread=", thread);
        append_shown(line, r.text);
        parts_->front->log(level_of(r.level), spdlog::string_view_t(line.data(), line.size()));
    } catch (...) {
        parts_->count_failed();
    }
}

std::uint64_t spdlog_sink::lost() const noexcept {
    return parts_->pool->overrun_counter() + parts_->failed.load(std::memory_order_relaxed);
}

}  // namespace tactus::inline v0::runtime
