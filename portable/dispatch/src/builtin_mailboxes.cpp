// SPDX-License-Identifier: Apache-2.0
//
// The table of built-in mailboxes and the requirements they satisfy.
#include <tactus/dispatch/builtin_mailboxes.hpp>

#include <array>
#include <charconv>

namespace tactus::inline v0 {

namespace {

constexpr mailbox_options unbounded(mailbox_kind kind) {
    return {.kind = kind};
}
constexpr mailbox_options bounded(mailbox_kind kind, overflow when_full = overflow::dead_letter) {
    return {.kind = kind, .when_full = when_full, .capacity = mailbox_options::default_capacity};
}

constexpr auto mailboxes = std::to_array<builtin_mailbox>({
    {"unbounded", unbounded(mailbox_kind::fifo)},
    {"bounded", bounded(mailbox_kind::fifo)},
    {"bounded-blocking", bounded(mailbox_kind::fifo, overflow::block)},
    {"unbounded-deque", unbounded(mailbox_kind::deque)},
    {"bounded-deque", bounded(mailbox_kind::deque)},
    {"unbounded-control-aware", unbounded(mailbox_kind::control_aware)},
    {"bounded-control-aware", bounded(mailbox_kind::control_aware)},
});

constexpr auto requirements = [] {
    using enum capability;
    return std::to_array<builtin_requirement>({
        {capability::unbounded, "unbounded"},
        {capability::bounded, "bounded"},
        {blocking, "bounded-blocking"},
        {blocking | capability::bounded, "bounded-blocking"},
        {deque, "unbounded-deque"},
        {deque | capability::unbounded, "unbounded-deque"},
        {deque | capability::bounded, "bounded-deque"},
        {control_aware, "unbounded-control-aware"},
        {control_aware | capability::unbounded, "unbounded-control-aware"},
        {control_aware | capability::bounded, "bounded-control-aware"},
    });
}();

constexpr bool each_requirement_is_met() {
    for (const builtin_requirement& r : requirements) {
        bool met = false;
        for (const builtin_mailbox& m : mailboxes)
            met = met || (m.id == r.mailbox && m.options.capabilities().has(r.required));
        if (!met)
            return false;
    }
    return true;
}
static_assert(each_requirement_is_met());

}  // namespace

std::span<const builtin_mailbox> builtin_mailboxes() noexcept {
    return mailboxes;
}

std::span<const builtin_requirement> builtin_requirements() noexcept {
    return requirements;
}

bool is_reserved_mailbox(std::string_view id) noexcept {
    if (id.starts_with(bounded_capacity_prefix))
        return true;
    for (const builtin_mailbox& m : mailboxes) {
        if (m.id == id)
            return true;
    }
    return false;
}

std::optional<mailbox_options> builtin_mailbox_options(std::string_view id) noexcept {
    for (const builtin_mailbox& m : mailboxes) {
        if (m.id == id)
            return m.options;
    }
    if (!id.starts_with(bounded_capacity_prefix))
        return std::nullopt;
    id.remove_prefix(bounded_capacity_prefix.size());
    std::uint32_t capacity = 0;
    const auto [end, failed] = std::from_chars(id.data(), id.data() + id.size(), capacity);
    if (failed != std::errc{} || end != id.data() + id.size() ||
        capacity == mailbox_options::unbounded)
        return std::nullopt;
    return mailbox_options{.capacity = capacity, .push_timeout = duration::zero()};
}

}  // namespace tactus::inline v0
