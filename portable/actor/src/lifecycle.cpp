// SPDX-License-Identifier: Apache-2.0
//
// The table of lives as the program looks it up: a byte for a pair. That it has every pair once,
// and that the numbers of the states say what they should, is proven when this is compiled.
#include <tactus/actor/lifecycle.hpp>

#include <tactus/base/check.hpp>

namespace tactus::inline v0::lifecycle {
namespace {

TACTUS_CHECK_MODULE("lifecycle");

constexpr bool each_pair_once() {
    for (const auto& from : states) {
        for (const auto& on : events) {
            std::size_t found = 0;
            for (const row& r : rows)
                found += r.from == from.value && r.on == on.value ? 1 : 0;
            if (found != 1)
                return false;
        }
    }
    return rows.size() == states.size() * events.size();
}
static_assert(each_pair_once());

constexpr bool impossible_rows_change_nothing() {
    for (const row& r : rows) {
        if (r.owed == action::impossible && r.to != r.from)
            return false;
    }
    return true;
}
static_assert(impossible_rows_change_nothing());

constexpr bool restarts_are_failures() {
    for (const auto& s : states) {
        if (static_cast<std::size_t>(s.value) >= detail::codes ||
            (is_restarting(s.value) && (!is_failed(s.value) || is_ending(s.value))))
            return false;
    }
    return true;
}
static_assert(restarts_are_failures());

/// An instance comes by `created` alone, and goes by destroy_instance alone.
constexpr bool instances_are_accounted_for() {
    for (const row& r : rows) {
        const bool comes = !has_instance(r.from) && has_instance(r.to);
        const bool goes = has_instance(r.from) && !has_instance(r.to);
        if ((comes && r.on != event::created) || goes != (r.owed == action::destroy_instance))
            return false;
    }
    return true;
}
static_assert(instances_are_accounted_for());

template <class E, std::size_t N>
const char* name_in(const std::array<entry<E>, N>& all, E value) noexcept {
    for (const entry<E>& e : all) {
        if (e.value == value)
            return e.name;
    }
    return "?";
}

}  // namespace

void detail::fail_impossible_pair() noexcept {
    constexpr bool pair_is_possible = false;
    TACTUS_CHECK(1, pair_is_possible);
}

const char* name_of(state state) noexcept {
    return name_in(states, state);
}
const char* name_of(event event) noexcept {
    return name_in(events, event);
}
const char* name_of(action action) noexcept {
    return name_in(actions, action);
}

}  // namespace tactus::inline v0::lifecycle
