// SPDX-License-Identifier: Apache-2.0
//
// Two hash tables with chains over the same entries.
#include <tactus/actor/name_table.hpp>
#include <tactus/mailbox/message_type.hpp>

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>

namespace tactus::inline v0 {
namespace {

/// The last star takes one character more whenever the rest does not match.
bool matches(std::string_view name, std::string_view pattern) noexcept {
    std::size_t n = 0;
    std::size_t p = 0;
    std::size_t star = std::string_view::npos;
    std::size_t taken = 0;  // where what the star takes ends
    while (n < name.size()) {
        if (p < pattern.size() && pattern[p] == '*') {
            star = p++;
            taken = n;
        } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n])) {
            ++p;
            ++n;
        } else if (star != std::string_view::npos) {
            p = star + 1;
            n = ++taken;
        } else {
            return false;
        }
    }
    while (p < pattern.size() && pattern[p] == '*')
        ++p;
    return p == pattern.size();
}

std::uint64_t order_of(mailbox_index who) noexcept {
    return std::uint64_t{who.slot} << 32U | who.generation;
}

}  // namespace

std::uint32_t name_table::hash_of(mailbox_index parent, std::string_view name) noexcept {
    return detail::name_hash(name) ^ parent.slot * 0x9e37'79b1U;
}

name_table::~name_table() {
    for (std::size_t i = 0; i < buckets(); ++i) {
        while (names()[i] != nullptr)
            remove(&names()[i]);
    }
    while (forget_oldest()) {
    }
    free_buckets();
}

name_table::entry** name_table::place_of(mailbox_index parent, std::string_view name) noexcept {
    const std::uint32_t hash = hash_of(parent, name);
    entry** at = &names()[hash % buckets()];
    while (*at != nullptr && !((*at)->hash == hash && (*at)->parent == parent &&
                               std::string_view((*at)->text(), (*at)->size) == name))
        at = &(*at)->next_name;
    return at;
}

void name_table::remove(entry** at) noexcept {
    entry* e = *at;
    *at = e->next_name;
    on_host([](auto& more) { --more.count; });
    if (e->child.valid())
        unlink_child(*e);
    free(*e);
}

void name_table::unlink_child(entry& e) noexcept {
    entry** other = &children_of(e.child);
    while (*other != &e)
        other = &(*other)->next_child;
    *other = e.next_child;
}

void name_table::free(entry& e) noexcept {
    memory_.release(&e, sizeof(entry) + e.size, alignof(entry));
}

name_table::entry* name_table::entry_of(mailbox_index child) noexcept {
    entry* e = children_of(child);
    while (e != nullptr && e->child != child)
        e = e->next_child;
    return e;
}

void name_table::free_buckets() noexcept {
    on_host([&](auto& more) {
        const std::size_t bytes = more.buckets * sizeof(entry*);
        if (more.names != nullptr)
            memory_.release(more.names, bytes, alignof(entry*));
        if (more.children != nullptr)
            memory_.release(more.children, bytes, alignof(entry*));
    });
}

void name_table::grow() noexcept {
    on_host([&](auto& more) {
        const std::size_t before = more.buckets;
        const std::size_t wanted = before * 2;
        const std::size_t bytes = wanted * sizeof(entry*);
        void* const for_names = memory_.allocate(bytes, alignof(entry*));
        void* const for_children =
            for_names != nullptr ? memory_.allocate(bytes, alignof(entry*)) : nullptr;
        if (for_children == nullptr) {
            if (for_names != nullptr)
                memory_.release(for_names, bytes, alignof(entry*));
            return;  // the chains grow
        }
        auto** const new_names = static_cast<entry**>(for_names);
        auto** const new_children = static_cast<entry**>(for_children);
        std::uninitialized_fill_n(new_names, wanted, nullptr);
        std::uninitialized_fill_n(new_children, wanted, nullptr);
        entry** const old_names = names();
        entry** const old_children = children();
        entry** const own_names = more.names;
        entry** const own_children = more.children;
        more.names = new_names;
        more.children = new_children;
        more.buckets = wanted;
        for (std::size_t i = 0; i < before; ++i) {
            while (entry* e = old_names[i]) {
                old_names[i] = e->next_name;
                entry*& to = new_names[e->hash % wanted];
                e->next_name = to;
                to = e;
            }
            while (entry* e = old_children[i]) {
                old_children[i] = e->next_child;
                entry*& to = children_of(e->child);
                e->next_child = to;
                to = e;
            }
        }
        const std::size_t old_bytes = before * sizeof(entry*);
        if (own_names != nullptr) {
            memory_.release(own_names, old_bytes, alignof(entry*));
            memory_.release(own_children, old_bytes, alignof(entry*));
        }
    });
}

bool name_table::forget_oldest() noexcept {
    entry* oldest = nullptr;
    on_host([&](auto& more) {
        oldest = more.ended;
        if (oldest == nullptr)
            return;
        more.ended = oldest->next_name;
        --more.ended_count;
        unlink_child(*oldest);
        free(*oldest);
    });
    return oldest != nullptr;
}

void name_table::forget_ended() noexcept {
    const port::lock_guard held(mutex_);
    while (forget_oldest()) {
    }
}

std::size_t name_table::longest_chain() noexcept {
    const port::lock_guard held(mutex_);
    std::size_t longest = 0;
    for (std::size_t i = 0; i < buckets(); ++i) {
        std::size_t by_name = 0;
        std::size_t by_child = 0;
        for (const entry* e = names()[i]; e != nullptr; e = e->next_name)
            ++by_name;
        for (const entry* e = children()[i]; e != nullptr; e = e->next_child)
            ++by_child;
        longest = std::max({longest, by_name, by_child});
    }
    return longest;
}

name_table::taken name_table::take(mailbox_index parent, std::string_view name) noexcept {
    const port::lock_guard held(mutex_);
    if (*place_of(parent, name) != nullptr)
        return taken::duplicate;
    void* block = memory_.allocate(sizeof(entry) + name.size(), alignof(entry));
    while (block == nullptr && forget_oldest())
        block = memory_.allocate(sizeof(entry) + name.size(), alignof(entry));
    if (block == nullptr)
        return taken::no_memory;
    on_host([&](auto& more) {
        if (++more.count > more.buckets && more.buckets < buckets_max)
            grow();
    });
    auto* const e = ::new (block) entry{nullptr,
                                        nullptr,
                                        parent,
                                        {},
                                        hash_of(parent, name),
                                        static_cast<std::uint16_t>(name.size()),
                                        0};
    std::memcpy(e->text(), name.data(), name.size());
    *place_of(parent, name) = e;
    return taken::done;
}

void name_table::bind(mailbox_index parent, std::string_view name, mailbox_index child) noexcept {
    const port::lock_guard held(mutex_);
    entry* e = *place_of(parent, name);
    e->child = child;
    entry*& bucket = children_of(child);
    e->next_child = bucket;
    bucket = e;
}

void name_table::drop(mailbox_index parent, std::string_view name) noexcept {
    const port::lock_guard held(mutex_);
    entry** at = place_of(parent, name);
    if (*at != nullptr)
        remove(at);
}

void name_table::release(mailbox_index child) noexcept {
    const port::lock_guard held(mutex_);
    entry* const e = entry_of(child);
    if (e == nullptr || e->has_ended != 0)
        return;
    entry** const at = place_of(e->parent, {e->text(), e->size});
    bool is_kept = false;
    on_host([&](auto& more) {
        if (more.ended_max == 0)
            return;
        is_kept = true;
        *at = e->next_name;
        --more.count;
        e->next_name = nullptr;
        e->has_ended = 1;
        (more.ended == nullptr ? more.ended : more.last_ended->next_name) = e;
        more.last_ended = e;
        if (++more.ended_count > more.ended_max)
            (void)forget_oldest();
    });
    if (!is_kept)
        remove(at);
}

mailbox_index name_table::find(mailbox_index parent, std::string_view name) noexcept {
    const port::lock_guard held(mutex_);
    const entry* e = *place_of(parent, name);
    return e != nullptr ? e->child : mailbox_index{};
}

std::size_t name_table::matching(mailbox_index parent, std::string_view pattern,
                                 mailbox_index after,
                                 std::span<mailbox_index, batch> found) noexcept {
    std::size_t count = 0;
    const port::lock_guard held(mutex_);
    for (std::size_t i = 0; i < buckets(); ++i) {
        for (entry* e = names()[i]; e != nullptr; e = e->next_name) {
            if (e->parent != parent || order_of(e->child) <= order_of(after) ||
                !matches({e->text(), e->size}, pattern))
                continue;
            // The first ones, in order: what comes later makes room.
            if (count == batch && order_of(found[count - 1]) < order_of(e->child))
                continue;
            std::size_t at = count < batch ? count++ : batch - 1;
            for (; at > 0 && order_of(e->child) < order_of(found[at - 1]); --at)
                found[at] = found[at - 1];
            found[at] = e->child;
        }
    }
    return count;
}

mailbox_index name_table::parent_of(mailbox_index child) noexcept {
    const port::lock_guard held(mutex_);
    const entry* e = entry_of(child);
    return e != nullptr && e->has_ended == 0 ? e->parent : mailbox_index{};
}

mailbox_index name_table::last_parent_of(mailbox_index child) noexcept {
    const port::lock_guard held(mutex_);
    const entry* e = entry_of(child);
    return e != nullptr ? e->parent : mailbox_index{};
}

std::size_t name_table::name_of(mailbox_index child, char* to, mailbox_index& parent) noexcept {
    const port::lock_guard held(mutex_);
    entry* e = entry_of(child);
    if (e == nullptr)
        return 0;
    std::memcpy(to, e->text(), e->size);
    parent = e->parent;
    return e->size;
}

}  // namespace tactus::inline v0
