// SPDX-License-Identifier: Apache-2.0
//
// Looking at all mailboxes, and saying who has work.
#include "rest_of_work.hpp"

#include <tactus/actor/cell.hpp>
#include <tactus/actor/coroutine_set.hpp>

#include <string>
#include <string_view>

namespace tactus::inline v0::runtime {
namespace {

class path_sink final : public text_sink {
public:
    void write(std::string_view piece) noexcept override {
        try {
            text += piece;
        } catch (const std::exception&) {
            return;  // cut there
        }
    }
    std::string text;
};

bool runs(actor_scheduler& kernel, const slot& s) noexcept {
    const dispatcher* d = kernel.dispatcher_at(s.dispatcher_number());
    for (std::uint32_t i = 0; d != nullptr && i < d->worker_count(); ++i) {
        if (d->worker_at(i).running() == &s)
            return s.state().scheduled();
    }
    return false;
}

}  // namespace

bool rest_of_work::has_work(slot& s) noexcept {
    if (s.state().closed())
        return false;
    if (s.state().scheduled() || s.has_user_messages())
        return true;
    const std::uint32_t flags = cell::of(s).flags();
    return (flags & cell::awaits) != 0 &&
           cell::waits_for(flags) != static_cast<std::uint32_t>(wait_kind::message);
}

bool rest_of_work::is_done() {
    const auto before = all_.runs_when_idle();
    if (!before)
        return false;
    registry& slots = world_.kernel().slots();
    for (std::uint32_t i = 0; i < slots.constructed_count(); ++i) {
        if (has_work(slots.at(i)))
            return false;
    }
    return all_.runs_when_idle() == before;
}

void rest_of_work::describe(drain_report& to) {
    actor_scheduler& kernel = world_.kernel();
    registry& slots = kernel.slots();
    for (std::uint32_t i = 0; i < slots.constructed_count(); ++i) {
        slot& s = slots.at(i);
        if (!has_work(s))
            continue;
        ++to.busy_count;
        if (to.busy.size() == drain_report::listed_max)
            continue;
        path_sink path;
        world_.write_path(slots.index_of(s), path);
        std::string waits(world_.waits_for(s));
        if (waits.empty() && s.state().suspended())
            waits = "the end of its suspension";
        to.busy.push_back(
            {std::move(path.text), s.user_length(), runs(kernel, s), std::move(waits)});
    }
}

}  // namespace tactus::inline v0::runtime
