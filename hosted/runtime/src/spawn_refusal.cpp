// SPDX-License-Identifier: Apache-2.0
//
// The table of refusals, and which kind each is for the caller that spawns.
#include "spawn_refusal.hpp"

#include <tactus/dispatch/thrown_texts.hpp>

#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace tactus::inline v0::runtime {
namespace {

spawn_error::kind kind_of(resolve_error::kind what) noexcept {
    using kind = spawn_error::kind;
    switch (what) {
    case resolve_error::kind::unknown_dispatcher:
        return kind::unknown_dispatcher;
    case resolve_error::kind::unknown_mailbox:
        return kind::unknown_mailbox;
    case resolve_error::kind::alias_chain_too_deep:
        return kind::alias_chain_too_deep;
    case resolve_error::kind::requirement_mismatch:
    case resolve_error::kind::mailbox_capability_missing:
    case resolve_error::kind::requirement_unmapped:
        return kind::mailbox_unfit;
    case resolve_error::kind::capacity_zero:
        return kind::capacity_zero;
    default:
        return kind::refused;  // errors of adding, which a spawn does not see
    }
}

spawn_error::kind kind_of(dispatcher_error::kind what) noexcept {
    switch (what) {
    case dispatcher_error::kind::unknown_dispatcher:
        return spawn_error::kind::unknown_dispatcher;
    case dispatcher_error::kind::shutting_down:
        return spawn_error::kind::shutting_down;
    default:
        return spawn_error::kind::dispatcher_unavailable;
    }
}

spawn_error::kind kind_of(const place_error& why) noexcept {
    if (const auto* said = std::get_if<resolve_error>(&why))
        return kind_of(said->what());
    return kind_of(std::get<dispatcher_error>(why).what);
}

}  // namespace

struct spawn_refusal::kept {
    std::string text;
    std::optional<resolve_error> error;

    [[nodiscard]] bool is(const std::string& said, const resolve_error* by) const noexcept {
        if (text != said || error.has_value() != (by != nullptr))
            return false;
        return by == nullptr ||
               (error->what() == by->what() && error->requirement() == by->requirement());
    }
};

struct spawn_refusal::table {
    std::mutex mutex;
    std::vector<std::unique_ptr<const kept>> all;  // under the lock; entries are only added

    /// Null: there are too many.
    [[nodiscard]] const kept* keep(const place_error& why) {
        const auto* by = std::get_if<resolve_error>(&why);
        std::string text = text_of(why);
        const std::lock_guard held(mutex);
        for (const auto& one : all) {
            if (one->is(text, by))
                return one.get();
        }
        if (all.size() == count_max)
            return nullptr;
        auto made = std::make_unique<kept>(std::move(text), std::nullopt);
        if (by != nullptr)
            made->error = *by;
        return all.emplace_back(std::move(made)).get();
    }
    /// Never destroyed: threads may still spawn while static objects are.
    [[nodiscard]] static table& instance() {
        static auto* const only = new table;
        return *only;
    }
};

spawn_error spawn_refusal::of(const place_error& why) noexcept {
    spawn_error e{kind_of(why), "the resolver refuses it, and there is no memory to say why"};
    try {
        if (const kept* said = table::instance().keep(why)) {
            e.reason = said->text.c_str();
            e.resolver_error = said->error ? &*said->error : nullptr;
        } else {
            e.reason = thrown_texts::keep(text_of(why).c_str());
        }
    } catch (const std::bad_alloc&) {
        return e;
    }
    return e;
}

}  // namespace tactus::inline v0::runtime
