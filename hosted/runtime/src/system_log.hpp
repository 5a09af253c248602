// SPDX-License-Identifier: Apache-2.0
//
// The log of a system that was given none: spdlog to standard error, opened by the first line, so
// that a program that logs nothing has neither its thread nor its queue.
//
// Thread safety: any thread.
#pragma once

#include <memory>
#include <shared_mutex>

#include <tactus/runtime/spdlog_sink.hpp>

namespace tactus::inline v0::runtime {

class system_log final : public log_sink {
public:
    void write(const log_record& record) noexcept override;
    /// Writes what waits; lines that come later are lost. Before the process ends by force.
    void end() noexcept;

private:
    enum class state : std::uint8_t { unopened, open, plain, ended };
    void write_plain(const log_record& record) noexcept;

    std::shared_mutex mutex_;
    // Under it
    state is_ = state::unopened;
    std::unique_ptr<spdlog_sink> to_;
};

}  // namespace tactus::inline v0::runtime
