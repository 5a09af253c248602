// SPDX-License-Identifier: Apache-2.0
//
// One handler for the program, under a lock: probes of several threads may fail at once.
#include <tactus/test_kit/failure_handler.hpp>

#include <mutex>
#include <utility>

namespace tactus::inline v0::test {
namespace {

std::mutex mutex;
failure_handler& handler() {
    static failure_handler one;
    return one;
}

}  // namespace

failure_handler set_failure_handler(failure_handler to) {
    const std::lock_guard held(mutex);
    return std::exchange(handler(), std::move(to));
}

void fail(const std::string& what, const std::source_location& where) {
    const std::string text =
        std::string(where.file_name()) + ":" + std::to_string(where.line()) + ": " + what;
    failure_handler call;
    {
        const std::lock_guard held(mutex);
        call = handler();
    }
    if (call)
        call(text, where);
    throw assertion_failed(text);
}

}  // namespace tactus::inline v0::test
