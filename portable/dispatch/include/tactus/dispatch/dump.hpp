// SPDX-License-Identifier: Apache-2.0
//
// Dump: what a system is doing, as text for people or as JSON (OH-4).
//
// Everything is looked at while it goes on, without a lock that a message takes: each number was
// right at some moment, but not all of them at the same. Never a message's contents.
//
//   user_len    of a bounded mailbox exact; else what its last run left, and one if more has come
//   system_len  sent and not handled yet, counted; on a device 0, or 1 for one or more
//   worker      who runs it now
//   since       when it was held back, in milliseconds of the system's clock, to within 8
//
// Text goes to a character sink in small pieces, so a device prints its dump over any port (OH-6).
//
// Thread safety: any thread; for as long as the system lives.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include <tactus/dispatch/actor_scheduler.hpp>
#include <tactus/dispatch/text_sink.hpp>

namespace tactus::inline v0 {

/// What the layer above knows of an actor. Any thread, while the actor lives on.
class actor_notes {
public:
    /// Its path, put into `room`; cut where that is too small.
    [[nodiscard]] virtual std::string_view path_of(mailbox_index who,
                                                   std::span<char> room) noexcept = 0;
    /// What it waits for, in a few words (EV-5); empty: for messages.
    [[nodiscard]] virtual std::string_view waits_for(slot& s) noexcept = 0;

protected:
    ~actor_notes() = default;
};

enum class dump_format : std::uint8_t { text, json };

struct dump_options {
    dump_format format = dump_format::text;
    std::uint32_t actors_max = 1'000;  // how many are listed; the others are counted
    actor_notes* notes = nullptr;      // paths, and what is waited for
};

/// The dispatchers of a system, their lanes and workers, and its actors.
void dump_dispatchers(actor_scheduler& system, text_sink& to, const dump_options& o = {}) noexcept;

/// JSON, piece by piece: commas, quotes and escapes.
class json_writer {
public:
    explicit json_writer(text_sink& to) noexcept : to_(to) {}

    json_writer& begin_object() noexcept { return open('{'); }
    json_writer& end_object() noexcept { return close('}'); }
    json_writer& begin_array() noexcept { return open('['); }
    json_writer& end_array() noexcept { return close(']'); }
    json_writer& key(std::string_view name) noexcept;
    json_writer& value(std::uint64_t n) noexcept;
    json_writer& value(std::uint32_t n) noexcept { return value(std::uint64_t{n}); }
    json_writer& value(std::string_view text) noexcept;
    json_writer& value(bool b) noexcept;
    json_writer& null() noexcept;

private:
    json_writer& open(char c) noexcept;
    json_writer& close(char c) noexcept;
    void separate() noexcept;
    void quoted(std::string_view text) noexcept;

    text_sink& to_;
    bool follows_ = false;  // something stands before, on this level
};

}  // namespace tactus::inline v0
