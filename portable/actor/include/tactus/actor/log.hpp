// SPDX-License-Identifier: Apache-2.0
//
// Logging through one interface: a logger decides by its level what a sink is given (EV-4).
//
// A record is a view: the sink copies what it keeps. Where it comes from (path of the actor, its
// dispatcher, its thread) are fields, empty when there is none, and not a part of the text.
//
// A text worth building is worth asking for first:
//
//     if (log.passes(log_level::debug)) {
//         text_buffer<120> line;
//         log.write(log_level::debug, line.add("took ").add(count).view());
//     }
//
// Thread safety: everything from any thread, as far as the sink and the clock allow that.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <tactus/port/port.hpp>
#include <tactus/time/clock.hpp>

namespace tactus::inline v0 {

/// As a setting: what is at most this passes. As a level of a record: how bad it is, never off.
enum class log_level : std::uint8_t { off, error, warning, info, debug };
inline constexpr std::size_t log_level_count = 5;
[[nodiscard]] const char* name_of(log_level level) noexcept;

/// Where a record comes from.
struct log_origin {
    std::string_view actor = {};  // path
    std::string_view dispatcher = {};
    std::string_view thread = {};
};

struct log_record {
    log_level level = log_level::info;
    std::string_view text = {};
    log_origin from = {};
    instant at = {};  // of the system's clock; its epoch where there is none
};

class log_sink {
public:
    /// On the thread that logs; must not block for long, and not log.
    virtual void write(const log_record& record) noexcept = 0;

protected:
    ~log_sink() = default;
};

class logger {
public:
    struct options {
        log_sink* sink = nullptr;     // null: nothing is ever logged
        const clock* time = nullptr;  // null: records have no time
        log_level level = log_level::info;
    };
    explicit logger(const options& o) noexcept : sink_(o.sink), time_(o.time) {
        set_level(o.level);
    }
    logger(const logger&) = delete;
    logger& operator=(const logger&) = delete;

    /// One comparison: who has a text to build asks first.
    [[nodiscard]] bool passes(log_level record) const noexcept {
        return record <= level() && record != log_level::off;
    }
    /// Gives the sink a record, when its level passes.
    void write(log_level record, std::string_view text, const log_origin& from = {}) noexcept {
        if (passes(record)) [[unlikely]]
            write_passed(record, text, from);
    }

    [[nodiscard]] log_level level() const noexcept {
        // Relaxed: a record beside a change is judged by either level.
        return level_.load(std::memory_order_relaxed);
    }
    void set_level(log_level l) noexcept {
        level_.store(sink_ == nullptr ? log_level::off : l, std::memory_order_relaxed);
    }

private:
    void write_passed(log_level record, std::string_view text, const log_origin& from) noexcept;

    // Constant after construction
    log_sink* const sink_;
    const clock* const time_;
    // Shared
    port::atomic<log_level> level_{log_level::off};
};

}  // namespace tactus::inline v0
