// SPDX-License-Identifier: Apache-2.0
//
// What a report says to people.
#include <tactus/runtime/drain.hpp>

namespace tactus::inline v0 {

const char* name_of(drain_report::outcome what) noexcept {
    static constexpr const char* names[drain_outcome_count] = {
        "drained", "forced", "terminated", "would_block_worker", "forked_child"};
    return names[static_cast<std::size_t>(what)];
}

bool drain_report::is_clean() const noexcept {
    return what == outcome::drained && (has_ended || in_shutdown) && shutdown.is_clean();
}

std::string drain_report::text() const {
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(took).count();
    std::string all = "drain: ";
    switch (what) {
    case outcome::would_block_worker:
        return all + "called on a worker or timer thread, which must not wait: nothing was started";
    case outcome::forked_child:
        return all + "called in a forked child, which has no actor system: nothing was started";
    case outcome::terminated:
        all += "the system was terminated by another call";
        break;
    case outcome::drained:
        all += "all messages were handled within " + std::to_string(ms) + " ms";
        break;
    case outcome::forced:
        all += "forced after " + std::to_string(ms) + " ms, " + std::to_string(busy_count) +
               " actors were busy, " + std::to_string(messages_lost) +
               " messages became dead letters";
        for (const busy_actor& a : busy) {
            all += "\n  " + a.path + (a.is_running ? " is in a handler, " : " has ") +
                   std::to_string(a.messages) + " messages waiting";
            all += a.waits_for.empty() ? "" : ", waits for " + a.waits_for;
        }
        if (busy_count > busy.size())
            all += "\n  and " + std::to_string(busy_count - busy.size()) + " more";
        break;
    }
    if (!has_ended && !in_shutdown)
        all += "\n  the system did not stop within its limit";
    if (!shutdown.is_clean())
        all += "\n" + shutdown.text();
    return all;
}

}  // namespace tactus::inline v0
