// SPDX-License-Identifier: Apache-2.0
//
// Blocking section: says that a handler is about to block, and lends its place (EX-5).
//
//     void receive(turn& t, envelope& e) {
//         const runtime::blocking_section here;
//         read(file, ...);   // other actors of this dispatcher run meanwhile, on an extra thread
//     }
//
// Nests; outside of workers, and where a dispatcher has no threads of its own, it does nothing.
#pragma once

#include <tactus/dispatch/dispatcher.hpp>

namespace tactus::inline v0::runtime {

class [[nodiscard]] blocking_section {
public:
    blocking_section() noexcept
        : worker_(worker::current()),
          supply_(worker_ != nullptr ? worker_->home().supply() : nullptr) {
        if (supply_ != nullptr)
            supply_->blocking_begins(*worker_);
    }
    ~blocking_section() {
        if (supply_ != nullptr)
            supply_->blocking_ends(*worker_);
    }
    blocking_section(const blocking_section&) = delete;
    blocking_section& operator=(const blocking_section&) = delete;

private:
    worker* worker_;
    worker_supply* supply_;
};

}  // namespace tactus::inline v0::runtime
