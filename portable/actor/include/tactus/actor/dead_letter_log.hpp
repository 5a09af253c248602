// SPDX-License-Identifier: Apache-2.0
//
// Dead-letter log: lines about messages nobody handled, a few at a time (EV-2, PK-DL-3).
//
// Dead letters, dropped and unhandled messages are counted together. The line of the `max`th says
// that no more follow; then it is quiet for a while, and the first one after that says how many
// were not logged, and the count starts again. What is marked dead_letter_suppression does not
// count, nor does anything while a system is shutting down, unless asked for.
//
//     state      on            then       line
//     all        below         all        [n]
//     counting   below         counting   [n]
//     counting   last          quiet      [n], no more in the next 5 min
//     counting   last_of_all   silent     [n], no more
//     quiet      early         quiet      none
//     quiet      late          counting   [n], of which m were not logged; n is 0 then
//     silent     early         silent     none
//
// Lines have the level info. Counting goes on when the logger does not let them pass.
//
// Thread safety: any thread. Lines of several threads may change places.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

#include <tactus/actor/log.hpp>
#include <tactus/mailbox/message_type.hpp>
#include <tactus/port/port.hpp>
#include <tactus/time/clock.hpp>

namespace tactus::inline v0 {

/// How a message came to be handled by nobody.
enum class lost_kind : std::uint8_t { dead_letter, dropped, unhandled_message };
inline constexpr std::size_t lost_kind_count = 3;
[[nodiscard]] const char* name_of(lost_kind kind) noexcept;

/// A message that was lost, as far as a line says it.
struct lost_message {
    lost_kind kind = lost_kind::dead_letter;
    const message_type* type = nullptr;        // of the innermost message
    const message_type* wrapped_in = nullptr;  // what carried it; null: nothing (PK-DL-7)
    std::string_view sender = {};              // path; empty: none
    std::string_view recipient = {};           // path
    std::string_view cause = {};               // empty: not said
};

class dead_letter_log {
public:
    static constexpr std::uint32_t unlimited = std::numeric_limits<std::uint32_t>::max();
    /// Of a line; the count comes first, and the end of names that are too long is left out.
    static constexpr std::size_t line_size_max = port::cache_line < 8 ? 160 : 512;

    struct options {
        logger* to = nullptr;         // required (check dead_letter_log:1); outlives this
        const clock* time = nullptr;  // null: quiet for good, once it is
        std::uint32_t max = 10;       // 0: nothing is logged
        duration suspend = duration::from_s(5 * 60);  // duration::max(): for good
        bool quiet_during_shutdown = true;
    };
    explicit dead_letter_log(const options& o) noexcept;
    dead_letter_log(const dead_letter_log&) = delete;
    dead_letter_log& operator=(const dead_letter_log&) = delete;

    /// Requires: the message has a type (check dead_letter_log:2).
    void note(const lost_message& m) noexcept {
        note(m, [](lost_message&) {});
    }
    /// As note; `name` fills in sender and recipient when there is a line to write, which most of
    /// many letters have not. Called on this thread, at most once.
    template <class Name>
    void note(lost_message m, Name&& name) noexcept {
        const verdict v = count(m);
        if (v.written == line::none || !options_.to->passes(log_level::info))
            return;
        name(m);
        write(v, m);
    }
    /// A shutdown that will end the system has begun (PK-DL-6). One that will not is none for this.
    void begin_shutdown() noexcept;

private:
    enum class state : std::uint8_t { all, counting, quiet, silent };
    enum class event : std::uint8_t {
        below,        // the limit is not reached, or there is none
        last,         // it is, for a time
        last_of_all,  // it is, for good
        early,        // within the quiet time
        late,         // after it
    };
    enum class line : std::uint8_t { none, plain, no_more_for, no_more, of_which };
    struct row {
        state from;
        event on;
        state to;
        line written;
    };
    static const row rows[];
    /// What is to be written, with the numbers for it.
    struct verdict {
        line written = line::none;
        std::uint64_t count = 0;
        std::uint64_t not_logged = 0;
    };
    [[nodiscard]] event judge() const noexcept;
    [[nodiscard]] verdict count(const lost_message& m) noexcept;
    [[nodiscard]] verdict count_one() noexcept;
    void write(const verdict& v, const lost_message& m) noexcept;
    [[nodiscard]] instant now() const noexcept {
        return options_.time != nullptr ? options_.time->now() : instant::epoch();
    }

    const options options_;
    port::mutex mutex_;
    // Under the mutex
    state state_;
    bool shutting_down_ = false;
    std::uint64_t count_ = 0;
    instant quiet_until_;
};

}  // namespace tactus::inline v0
