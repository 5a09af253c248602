// SPDX-License-Identifier: Apache-2.0
//
// What the resolver's table holds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <tactus/dispatch/builtin_mailboxes.hpp>
#include <tactus/dispatch/resolver.hpp>

namespace tactus::inline v0 {

// Its memory follows it.
struct alignas(std::max_align_t) resolver::chunk {
    chunk* next;
    std::size_t size;  // with this head
};

struct resolver::node {
    node(category c, std::string_view n) noexcept : what(c), name(n) {}

    node* next = nullptr;  // in its bucket
    std::uint32_t hash = 0;
    category what;
    std::string_view name;
};

struct resolver::dispatcher_node : node {
    dispatcher_node(std::string_view id, std::uint32_t number, const dispatcher_config& config,
                    std::optional<std::uint32_t> throughput) noexcept
        : node(category::dispatcher, id), entry(id, number, config, throughput) {}

    dispatcher_entry entry;
    dispatcher_node* previous = nullptr;  // the one added before
};

struct resolver::mailbox_node : node {
    mailbox_node(std::string_view id, const mailbox_options& o) noexcept
        : node(category::mailbox, id), options(o) {}

    mailbox_options options;
    bool handed_out = false;  // R2
};

// An alias (its target), a deployment (dispatcher, mailbox), a requirement (mailbox).
struct resolver::reference_node : node {
    reference_node(category c, std::string_view n, std::string_view a, std::string_view b) noexcept
        : node(c, n), first(a), second(b) {}

    std::string_view first;
    std::string_view second;
};

struct resolver::found_mailbox {
    std::string_view id;
    mailbox_options options;
    mailbox_node* entry = nullptr;  // none of the built-in ones and of those given in props
    chosen_by by = chosen_by::fallback;
};

/// One resolve(): what is asked, and what has been found so far.
struct resolver::inquiry {
    const placement& choice;
    const reference_node* deployed;  // null: nothing for this path
    capability_set actor_requires;
    const dispatcher_entry& dispatcher;
};

template <class Node>
Node* resolver::find_as(category c, std::string_view name) const noexcept {
    return static_cast<Node*>(find(c, name));
}

/// A requirement as a key of the table. What every mailbox has is left out, so that asking for it
/// makes no difference.
class requirement_name {
public:
    explicit requirement_name(capability_set required) noexcept {
        required = required.without(capability::mpsc);
        for (std::size_t i = 0; i < capability_count; ++i) {
            if (required.has(static_cast<capability>(1u << i)))
                text_[size_++] = static_cast<char>('0' + i);
        }
    }
    [[nodiscard]] std::string_view text() const noexcept { return {text_, size_}; }

private:
    char text_[capability_count] = {};
    std::size_t size_ = 0;
};

}  // namespace tactus::inline v0
