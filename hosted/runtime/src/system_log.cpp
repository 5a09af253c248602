// SPDX-License-Identifier: Apache-2.0
//
// Opening it, under a lock that writers share.
#include "system_log.hpp"

#include <cstdio>
#include <mutex>
#include <new>
#include <utility>

namespace tactus::inline v0::runtime {

void system_log::write(const log_record& record) noexcept {
    for (;;) {
        {
            const std::shared_lock held(mutex_);
            if (is_ == state::open)
                to_->write(record);
            if (is_ == state::plain)
                write_plain(record);
            if (is_ != state::unopened)
                return;
        }
        const std::unique_lock held(mutex_);
        if (is_ != state::unopened)
            continue;
        is_ = state::plain;
        try {
            if (auto made = spdlog_sink::create({})) {
                to_ = std::move(*made);
                is_ = state::open;
            }
        } catch (const std::bad_alloc&) {
            continue;  // not even for what is wrong
        }
    }
}

/// Without a thread for it a line is written by who has it.
void system_log::write_plain(const log_record& r) noexcept {
    std::fprintf(stderr, "%s %.*s %.*s\n", name_of(r.level), static_cast<int>(r.from.actor.size()),
                 r.from.actor.data(), static_cast<int>(r.text.size()), r.text.data());
}

void system_log::end() noexcept {
    const std::unique_lock held(mutex_);
    to_.reset();
    is_ = state::ended;
}

}  // namespace tactus::inline v0::runtime
