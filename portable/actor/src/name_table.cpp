// SPDX-License-Identifier: Apache-2.0
//
// Two hash tables with chains over the same entries.
#include <tactus/actor/name_table.hpp>
#include <tactus/mailbox/message_type.hpp>

#include <cstring>
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
    for (entry*& bucket : names_) {
        while (bucket != nullptr)
            remove(&bucket);
    }
}

name_table::entry** name_table::place_of(mailbox_index parent, std::string_view name) noexcept {
    const std::uint32_t hash = hash_of(parent, name);
    entry** at = &names_[hash % bucket_count];
    while (*at != nullptr && !((*at)->hash == hash && (*at)->parent == parent &&
                               std::string_view((*at)->text(), (*at)->size) == name))
        at = &(*at)->next_name;
    return at;
}

void name_table::remove(entry** at) noexcept {
    entry* e = *at;
    *at = e->next_name;
    if (e->child.valid()) {
        entry** other = &children_[bucket_of(e->child)];
        while (*other != e)
            other = &(*other)->next_child;
        *other = e->next_child;
    }
    memory_.release(e, sizeof(entry) + e->size, alignof(entry));
}

name_table::taken name_table::take(mailbox_index parent, std::string_view name) noexcept {
    const port::lock_guard held(mutex_);
    entry** at = place_of(parent, name);
    if (*at != nullptr)
        return taken::duplicate;
    void* block = memory_.allocate(sizeof(entry) + name.size(), alignof(entry));
    if (block == nullptr)
        return taken::no_memory;
    *at = ::new (block) entry{nullptr,
                              nullptr,
                              parent,
                              {},
                              hash_of(parent, name),
                              static_cast<std::uint32_t>(name.size())};
    std::memcpy((*at)->text(), name.data(), name.size());
    return taken::done;
}

void name_table::bind(mailbox_index parent, std::string_view name, mailbox_index child) noexcept {
    const port::lock_guard held(mutex_);
    entry* e = *place_of(parent, name);
    e->child = child;
    entry** bucket = &children_[bucket_of(child)];
    e->next_child = *bucket;
    *bucket = e;
}

void name_table::drop(mailbox_index parent, std::string_view name) noexcept {
    const port::lock_guard held(mutex_);
    entry** at = place_of(parent, name);
    if (*at != nullptr)
        remove(at);
}

void name_table::release(mailbox_index child) noexcept {
    const port::lock_guard held(mutex_);
    for (entry* e = children_[bucket_of(child)]; e != nullptr; e = e->next_child) {
        if (e->child == child) {
            remove(place_of(e->parent, {e->text(), e->size}));
            return;
        }
    }
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
    for (entry* e : names_) {
        for (; e != nullptr; e = e->next_name) {
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
    const entry* e = children_[bucket_of(child)];
    while (e != nullptr && e->child != child)
        e = e->next_child;
    return e != nullptr ? e->parent : mailbox_index{};
}

std::size_t name_table::name_of(mailbox_index child, char* to, mailbox_index& parent) noexcept {
    const port::lock_guard held(mutex_);
    for (entry* e = children_[bucket_of(child)]; e != nullptr; e = e->next_child) {
        if (e->child == child) {
            std::memcpy(to, e->text(), e->size);
            parent = e->parent;
            return e->size;
        }
    }
    return 0;
}

}  // namespace tactus::inline v0
