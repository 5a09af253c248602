// SPDX-License-Identifier: Apache-2.0
//
// Log recorder: a sink that keeps what was logged, for a test to look at.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include <tactus/actor/log.hpp>

namespace tactus::inline v0::test {

struct log_entry {
    log_level level;
    std::string text;
    friend bool operator==(const log_entry&, const log_entry&) = default;
};

/// Thread safety: any thread.
class log_recorder final : public log_sink {
public:
    void write(const log_record& record) noexcept override {
        const std::lock_guard held(mutex_);
        entries_.push_back({record.level, std::string(record.text)});
    }
    [[nodiscard]] std::vector<log_entry> entries() const {
        const std::lock_guard held(mutex_);
        return entries_;
    }
    void clear() {
        const std::lock_guard held(mutex_);
        entries_.clear();
    }

private:
    mutable std::mutex mutex_;
    std::vector<log_entry> entries_;
};

}  // namespace tactus::inline v0::test
