// SPDX-License-Identifier: Apache-2.0
//
// Selecting actors by their names.
//
// Lists of children belong to their parents' turns; who has which name is known to everybody. So a
// pattern is compared with names, a few at a time: nothing of others is called under their lock.
#include <tactus/actor/actor_selection.hpp>

#include <tactus/actor/actor_name.hpp>

#include <cstring>

namespace tactus::inline v0 {
namespace {

bool is_pattern(std::string_view part) noexcept {
    return part.find_first_of("*?") != std::string_view::npos;
}

/// Takes the first part off; empty: there is none.
std::string_view take_part(std::string_view& path) noexcept {
    while (path.starts_with('/'))
        path.remove_prefix(1);
    const std::string_view part = path.substr(0, path.find('/'));
    path.remove_prefix(part.size());
    return part;
}

/// Takes digits off the front; false: there are none.
bool take_number(std::string_view& text, std::uint32_t& number) noexcept {
    std::uint64_t n = 0;
    std::size_t size = 0;
    while (size < text.size() && text[size] >= '0' && text[size] <= '9' && n <= 0xffff'ffffU)
        n = n * 10 + static_cast<std::uint64_t>(text[size++] - '0');
    text.remove_prefix(size);
    number = static_cast<std::uint32_t>(n);
    return size != 0 && n <= 0xffff'ffffU;
}

}  // namespace

// ---- of the world

actor_selection actor_world::select(std::string_view path) noexcept {
    return {*this, root_, path};
}
actor_selection actor_world::select(mailbox_index anchor, std::string_view path) noexcept {
    return {*this, anchor, path};
}

bool actor_world::enter_root(std::string_view& path) const noexcept {
    if (!path.starts_with(path_scheme))
        return path.starts_with('/');
    const std::string_view rest = path.substr(path_scheme.size());
    if (!rest.starts_with(name_))
        return false;
    const std::string_view after = rest.substr(name_.size());
    if (!after.empty() && after.front() != '/')
        return false;
    path = after;
    return true;
}

mailbox_index actor_world::parent_of(mailbox_index who) noexcept {
    const mailbox_index named = who == root_ ? root_ : names_.parent_of(who);
    if (named.valid())
        return named;
    registry& slots = kernel_->slots();
    const slot* place = slots.find(who);
    const std::uint32_t above = place != nullptr ? place->tag.load(std::memory_order_relaxed) : 0;
    if (above == 0)
        return {};
    const mailbox_index found = slots.index_of(slots.at(above - 1));
    // Parents outlive their children: it is still the one if this is still that child.
    return slots.find(who) == place ? found : mailbox_index{};
}

mailbox_index actor_world::child_of(mailbox_index parent, std::string_view name) noexcept {
    if (!name.starts_with('$'))
        return names_.find(parent, name);
    // Without a name: by its reference.
    name.remove_prefix(1);
    std::uint32_t number = 0;
    std::uint32_t generation = 0;
    if (!take_number(name, number) || !name.starts_with('.'))
        return {};
    name.remove_prefix(1);
    if (!take_number(name, generation) || !name.empty() || number > mailbox_index::slot_mask)
        return {};
    const auto who = mailbox_index::make(kernel_->system_number(), number, generation);
    const mailbox_index above = parent_of(who);
    // C-ASK-6: who has no parent, as who waits for a reply, has its path below the root.
    const bool orphan = !above.valid() && parent == root_ && kernel_->slots().find(who) != nullptr;
    return orphan || above == parent ? who : mailbox_index{};
}

// ---- the selection

actor_selection::actor_selection(actor_world& world, mailbox_index anchor,
                                 std::string_view path) noexcept
    : world_(&world) {
    const bool from_root = world.enter_root(path);
    if (!from_root && path.starts_with(path_scheme))
        return;  // another system's: nobody here
    for (std::string_view part = take_part(path); !part.empty(); part = take_part(path)) {
        const std::size_t more = part.size() + (size_ != 0 ? 1 : 0);
        if (size_ + more > path_size_max) {
            size_ = 0;
            return;
        }
        if (size_ != 0)
            text_[size_++] = '/';
        std::memcpy(text_ + size_, part.data(), part.size());
        size_ += static_cast<std::uint32_t>(part.size());
    }
    anchor_ = from_root ? world.root_ : anchor;
}

any_ref actor_selection::resolve() const noexcept {
    mailbox_index first;
    walk(&first, [](void* to, mailbox_index who) {
        *static_cast<mailbox_index*>(to) = who;
        return false;
    });
    return any_ref(first);
}

void actor_selection::walk(void* to, visitor visit) const {
    if constexpr (!port::has_interrupts) {
        if (system_table::has_left())
            return;  // a forked child: names are under locks of the parent
    }
    if (anchor_.valid())
        (void)walk_from(anchor_, path(), to, visit);
}

bool actor_selection::walk_from(mailbox_index at, std::string_view rest, void* to,
                                visitor visit) const {
    for (;;) {
        const std::string_view part = take_part(rest);
        if (part.empty())
            return visit(to, at);
        if (is_pattern(part)) {
            mailbox_index some[name_table::batch];
            mailbox_index after;
            for (;;) {
                const std::size_t n = world_->names_.matching(at, part, after, some);
                for (std::size_t i = 0; i < n; ++i) {
                    if (!walk_from(some[i], rest, to, visit))
                        return false;
                }
                if (n < name_table::batch)
                    return true;
                after = some[n - 1];
            }
        }
        at = part == ".." ? world_->parent_of(at) : world_->child_of(at, part);
        if (!at.valid())
            return true;
    }
}

}  // namespace tactus::inline v0
