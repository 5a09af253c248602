// SPDX-License-Identifier: Apache-2.0
//
// The hosted default for logs: spdlog, asynchronous (EV-4).
//
// The thread that logs copies the record into a queue of limited size; one thread writes it to
// standard error or to a file. A record is one line: time of day, level, the fields that are there
// and the text, whose line ends and control characters are shown as such.
//
//     2026-11-20 10:00:00.250 warning actor=/user/a dispatcher=files thread=shop-files-1 the text
//
// When the queue is full, the oldest record in it is dropped: whoever handles messages never waits
// for a disk. How many records were lost is counted, and is the last line. To wait instead is a
// choice for programs that must not lose a line. Lines go to the disk at once from the level
// warning on, all others as soon as the queue is empty.
//
// Before the process ends by force, an actor_system waits until the queue is written; see
// actor_system::options::flush_on_terminate.
//
// Thread safety: write and lost from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <string>

#include <tactus/actor/log.hpp>

namespace tactus::inline v0::runtime {

class spdlog_sink final : public log_sink {
public:
    enum class when_full : std::uint8_t { drop_oldest, wait };

    struct options {
        std::string file = {};               // appended to; empty: standard error
        std::size_t queue_capacity = 4'096;  // records; about 400 bytes each, at once
        when_full full = when_full::drop_oldest;
    };
    /// Starts its thread, named `tactus-log`. An error is a line for people: the file cannot be
    /// opened, the queue has no room, there is no thread.
    [[nodiscard]] static std::expected<std::unique_ptr<spdlog_sink>, std::string> create(
        const options& o);
    /// Writes what is in the queue. Requires: nobody writes any more.
    ~spdlog_sink();
    spdlog_sink(const spdlog_sink&) = delete;
    spdlog_sink& operator=(const spdlog_sink&) = delete;

    /// A record that does not say its thread gets this one's name.
    void write(const log_record& record) noexcept override;
    /// Records that were dropped, or could not be written.
    [[nodiscard]] std::uint64_t lost() const noexcept;

private:
    struct parts;
    explicit spdlog_sink(std::unique_ptr<parts> made) noexcept;

    std::unique_ptr<parts> parts_;
};

}  // namespace tactus::inline v0::runtime
